package pages

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/server/api"
	"github.com/gauze-dp/gauze/server/service"
)

func releases(p *Pages, v *visit) (*answer, error) {
	all, err := p.listed(v, true, "/releases")
	return &answer{page: "releases.html", title: "Releases", data: all}, err
}

func report(p *Pages, v *visit) (*answer, error) {
	var page bytes.Buffer
	if err := p.Service.Report(v.Context(), v.Person, v.PathValue("id"), &page); err != nil {
		return nil, err
	}
	h := v.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", api.ReportPolicy)
	v.w.Write(page.Bytes())
	return nil, nil
}

func download(p *Pages, v *visit) (*answer, error) {
	body, err := p.Service.Release(v.Context(), v.Person, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	f, err := p.Service.Fit(v.Context(), v.Person, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	h := v.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/json")
	h.Set("Content-Disposition", `attachment; filename="`+f.Dataset+"-"+f.ID[:8]+`.json"`) // names of data sets need no quoting
	v.w.Write([]byte(body))
	return nil, nil
}

// A comparing is the page that compares two releases.
type comparing struct {
	Form     *form
	Releases []fitView
	A, B     *release.Release
	Result   *model.Comparison
}

// compareRows gives the total variation a standard error of at most 0.0016, as in gauze compare.
const compareRows = 100_000

// mostCompared is the number of releases that can be chosen from, the newest. A guess.
const mostCompared = 200

func compare(p *Pages, v *visit) (*answer, error) {
	all, err := p.Service.Fits(v.Context(), v.Person, 0, mostCompared, true)
	if err != nil {
		return nil, err
	}
	out := comparing{}
	a, b := &field{Name: "a", Label: "A", Kind: "select"}, &field{Name: "b", Label: "B", Kind: "select"}
	for i, f := range all.Fits {
		view := p.viewOf(f)
		out.Releases = append(out.Releases, view)
		label := strings.Join([]string{f.Dataset, f.ID[:8], f.Due[:min(16, len(f.Due))]}, " · ")
		a.Options = append(a.Options, option{f.ID, label, i == 1})
		b.Options = append(b.Options, option{f.ID, label, i == 0})
	}
	if v.FormValue("a") != "" && v.FormValue("b") != "" {
		err = p.compared(v, &out)
	}
	page := &answer{page: "compare.html", title: "Compare two releases"}
	if err != nil {
		out.Form = filled(v.Form, problemOf(err), a, b)
		page.data, page.form = out, out.Form
		return refused(page, err)
	}
	out.Form = filled(v.Form, nil, a, b)
	page.data = out
	return page, nil
}

// compared compares two releases: it draws rows from the released models, and costs nothing.
func (p *Pages) compared(v *visit, out *comparing) (err error) {
	select {
	case p.compares <- struct{}{}:
		defer func() { <-p.compares }()
	default:
		return service.Busy("as many releases are being compared as the server can compare at a time", time.Second)
	}
	for name, into := range map[string]**release.Release{"a": &out.A, "b": &out.B} {
		body, err := p.Service.Release(v.Context(), v.Person, v.FormValue(name))
		if err != nil {
			return err
		}
		if *into, err = release.Read(strings.NewReader(body)); err != nil {
			return err
		}
	}
	if out.A.Model == nil || out.B.Model == nil {
		return &privacy.FieldError{Field: "a", Wanted: "releases of one model each", Got: "one of groups, or a profile of columns", Mend: "choose others; of groups download both: gauze compare reads a group's model"}
	}
	result, err := model.Compare(v.Context(), out.A.Model, out.B.Model, compareRows, rand.New(rand.NewPCG(1, 2)))
	if err != nil && v.Context().Err() == nil { // it knows only released values
		return &privacy.FieldError{Field: "b", Wanted: "a release that can be compared with A", Got: err.Error(), Mend: "compare models of the same columns"}
	}
	out.Result = &result
	return err
}

// events returns the page of the log, for a custodian.
func events(p *Pages, v *visit) (*answer, error) {
	before, err := strconv.ParseInt(v.FormValue("before"), 10, 64)
	if err != nil || before < 0 {
		before = 0
	}
	all, err := p.Service.Events(v.Context(), v.Person, before, mostListed)
	out := listing[ledger.Event]{Lines: all}
	if len(all) == mostListed {
		out.Next = fmt.Sprintf("/log?before=%d", all[mostListed-1].Seq)
	}
	return &answer{page: "log.html", title: "Log", data: out}, err
}
