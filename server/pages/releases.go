package pages

import (
	"bytes"
	"cmp"
	crand "crypto/rand"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/model"
	"github.com/gauze-dp/gauze/model/synthetic"
	"github.com/gauze-dp/gauze/release"
	reports "github.com/gauze-dp/gauze/report"
	"github.com/gauze-dp/gauze/server/api"
	"github.com/gauze-dp/gauze/server/service"
)

func releases(p *Pages, v *visit) (*answer, error) {
	all, err := p.listed(v, true, "/releases")
	return &answer{page: "releases.html", title: "Releases", data: all}, err
}

func report(p *Pages, v *visit) (*answer, error) {
	var page bytes.Buffer
	if err := p.Service.Report(v.Context(), v.Person, v.PathValue("id"), "/releases", &page); err != nil {
		return nil, err
	}
	h := v.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", api.ReportPolicy)
	v.w.Write(page.Bytes())
	return nil, nil
}

// attach sends what was made of a release as a file with that end of its name.
func (p *Pages) attach(v *visit, end, kind string, body []byte) (*answer, error) {
	f, err := p.Service.Fit(v.Context(), v.Person, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	h := v.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", `attachment; filename="`+f.Dataset+"-"+f.ID[:8]+end+`"`) // names of data sets need no quoting
	v.w.Write(body)
	return nil, nil
}

func download(p *Pages, v *visit) (*answer, error) {
	body, err := p.Service.Release(v.Context(), v.Person, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return p.attach(v, ".json", "application/json", []byte(body))
}

func signature(p *Pages, v *visit) (*answer, error) {
	body, err := p.Service.Signature(v.Context(), v.Person, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return p.attach(v, ".json.sig", "text/plain; charset=utf-8", []byte(body))
}

// read reads a release that the person who asks may see.
func (p *Pages) read(v *visit) (*release.Release, error) {
	body, err := p.Service.Release(v.Context(), v.Person, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return release.Read(strings.NewReader(body))
}

// figures returns means, standard deviations, quantiles and correlations with their noise.
func figures(p *Pages, v *visit) (*answer, error) {
	r, err := p.read(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := reports.CSV(&b, r); err != nil {
		return nil, err
	}
	return p.attach(v, ".csv", "text/csv; charset=utf-8", b.Bytes())
}

// Synthetic rows at a time: where none are asked for, and at most in numbers. Guesses.
const fewRows, mostDrawn = 1000, 2_000_000

// syntheticRows draws rows from a release: it costs nothing.
func syntheticRows(p *Pages, v *visit) (*answer, error) {
	r, err := p.read(v)
	if err != nil {
		return nil, err
	}
	if r.Model == nil {
		return nil, &privacy.FieldError{Field: "rows", Wanted: "a release of one model", Got: "one of groups, or a profile of columns", Fix: "of groups download the release: gauze sample draws rows of it"}
	}
	asked := reader{Values: v.Form}
	if v.Form == nil {
		asked.Values = v.URL.Query()
	}
	rows := cmp.Or(asked.count("rows"), fewRows)
	if err := asked.err(); err != nil {
		return nil, err
	}
	if most := mostDrawn / r.Model.Dim(); rows > most {
		return nil, &privacy.FieldError{Field: "rows", Wanted: fmt.Sprintf("at most %d", most), Got: strconv.Itoa(rows), Fix: "download the release: gauze sample draws as many as you like"}
	}
	done, err := p.turn()
	if err != nil {
		return nil, err
	}
	defer done()
	var seed [16]byte
	crand.Read(seed[:]) // never fails: the program ends if it cannot
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(seed[:8]), binary.LittleEndian.Uint64(seed[8:])))
	var b bytes.Buffer
	if err := synthetic.Write(v.Context(), &b, []synthetic.Part{{Model: r.Model}}, nil, rows, rng); err != nil {
		return nil, err
	}
	return p.attach(v, "-rows.csv", "text/csv; charset=utf-8", b.Bytes())
}

// turn waits for no turn to compute from releases: it takes one, which done gives back, or fails.
func (p *Pages) turn() (done func(), err error) {
	select {
	case p.compares <- struct{}{}:
		return func() { <-p.compares }, nil
	default:
		return nil, service.Busy("the server compares and draws for as many people as it can at a time", time.Second)
	}
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
	done, err := p.turn()
	if err != nil {
		return err
	}
	defer done()
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
		return &privacy.FieldError{Field: "a", Wanted: "releases of one model each", Got: "one of groups, or a profile of columns", Fix: "choose others; of groups download both: gauze compare reads a group's model"}
	}
	result, err := model.Compare(v.Context(), out.A.Model, out.B.Model, compareRows, rand.New(rand.NewPCG(1, 2)))
	if err != nil && v.Context().Err() == nil { // it knows only released values
		return &privacy.FieldError{Field: "b", Wanted: "a release that can be compared with A", Got: err.Error(), Fix: "compare models of the same columns"}
	}
	out.Result = &result
	return err
}

// mostScanned is how many entries of the log a filter looks through for a page. A guess.
const mostScanned = 5000

// A logView is the page of the log.
type logView struct {
	listing[ledger.Event]
	Kind, On string // of the lines that are shown; "" for all
	Kinds    []option
}

// logKinds are the kinds of entries that can be chosen, as the log names them.
var logKinds = []string{"grant", "withdraw", "reserve", "settle", "return", "released", "no-release", "interrupted", "note", "other"}

// events returns the page of the log, for a custodian: all of it, or one kind or data set.
func events(p *Pages, v *visit) (*answer, error) {
	before, err := strconv.ParseInt(v.FormValue("before"), 10, 64)
	if err != nil || before < 0 {
		before = 0
	}
	out := logView{Kind: v.FormValue("kind"), On: strings.TrimSpace(v.FormValue("on"))}
	out.Kinds = choices(out.Kind, logKinds...)
	for scanned := 0; len(out.Lines) < mostListed && scanned < mostScanned; scanned += mostListed {
		all, err := p.Service.Events(v.Context(), v.Person, before, mostListed)
		if err != nil {
			return nil, err
		}
		for _, e := range all {
			if before = e.Seq; len(out.Lines) < mostListed && out.shows(e) {
				out.Lines = append(out.Lines, e)
			}
			if len(out.Lines) == mostListed {
				break
			}
		}
		if out.Next = ""; len(all) == mostListed || len(out.Lines) == mostListed {
			out.Next = "/log?" + url.Values{"before": {fmt.Sprint(before)}, "kind": {out.Kind}, "on": {out.On}}.Encode()
		}
		if len(all) < mostListed {
			break
		}
	}
	return &answer{page: "log.html", title: "Log", data: out}, nil
}

// shows reports that an entry is of the kind and the data set that are chosen.
func (l *logView) shows(e ledger.Event) bool {
	on := e.Account
	if e.Note != nil {
		on = e.Note.On
	}
	name, _, _ := strings.Cut(on, "/")
	return (l.Kind == "" || e.Kind == l.Kind) && (l.On == "" || name == l.On)
}
