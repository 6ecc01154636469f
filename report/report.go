package report

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/gauze-dp/gauze/internal/fill"
	"github.com/gauze-dp/gauze/release"
)

// Options changes what HTML shows. The zero value suits most uses.
type Options struct {
	Title      string // Default: "Gauze release".
	File       string // The name of the release's file in example commands. Default: "release.json".
	MaxColumns int    // The largest number of columns whose densities are drawn. Default: 60.
	MaxPairs   int    // The largest number of pairs that are drawn of more than five columns. Default: 10.
	Back       string // The address of a page that the page leads back to. Default: none.
}

//go:embed *.html
var pageFiles embed.FS

// pages are HTML's templates and their parts, by the names of their files: parsed when one is
// needed, which most runs of a program never do.
var pages = sync.OnceValue(func() *fill.Set { return fill.HTML(pageFiles, "*.html", said) })

//go:embed style.css
var styleSource string

// HTML writes r as one self-contained page: pictures and tables of the model, and the certificate
// in words and in full.
//
// It loads nothing, runs no script, and reads well on a phone, in the dark and printed. A release
// whose certificate promises nothing (a simulation, or a bare model) says so at the top. The same
// release gives the same bytes. It fails if r has no model or one that is not valid, if the
// certificate holds a number that JSON cannot, or if w fails.
func HTML(w io.Writer, r *release.Release, o Options) error {
	if isProfile(r) {
		return htmlProfile(w, r, o)
	}
	if r != nil && r.Groups != nil {
		return htmlGroups(w, r, o)
	}
	if err := check(r); err != nil {
		return err
	}
	p, parts := newPage(r, o), partsOf(r)
	p.drawMarginals(r, parts, cmp.Or(o.MaxColumns, 60))
	p.drawPairs(r, parts, cmp.Or(o.MaxPairs, 10))
	var err error
	if p.Certificate, err = indented(r.Certificate); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := pages().Execute(w, "page.html", p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// check returns an error if there is nothing to show.
func check(r *release.Release) error {
	if r == nil || r.Model == nil {
		return errors.New("report: release.model: wanted a mixture, got none; read the release with release.Read")
	}
	if err := r.Model.Validate(); err != nil {
		return fmt.Errorf("report: release.model: %w", err)
	}
	return nil
}
