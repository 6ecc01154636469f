package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/gauze-dp/gauze/internal/fill"
	"github.com/gauze-dp/gauze/release"
)

// A NoRelease is a fit that ended without a model. All of it may be published.
type NoRelease struct {
	Reason, Advice string              // Reason is required.
	Certificate    release.Certificate // What was requested, and what was measured.
}

// HTMLNoRelease writes a page like HTML's for a fit that ended without a model: the reason, the
// advice, and what was spent. It fails if there is no reason, or if w fails.
func HTMLNoRelease(w io.Writer, n NoRelease, o Options) error {
	if n.Reason == "" {
		return errors.New("report: NoRelease.Reason: wanted why there is no model, got none; take that of the fit's result")
	}
	r := &release.Release{Certificate: n.Certificate}
	p := &page{Back: o.Back, Title: clean(cmp.Or(o.Title, "No release")), Style: fill.Raw(styleSource), Release: r, Facts: facts(r), Reason: clean(n.Reason), Advice: clean(n.Advice)}
	if err := pages().Execute(w, "norelease.html", p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}
