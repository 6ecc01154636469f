package pages

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"time"

	"github.com/gauze-dp/gauze/server/ask"
	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/server/store"
)

// A fitView is a fit as a page shows it, computed from what the service shows.
type fitView struct {
	*service.Fit
	Ask  ask.Ask
	Open bool // it waits or runs
	// Passed is the part of the time from its submission until it is due that has passed, in
	// percent.
	Passed float64
	Again  int // seconds until there is something new to see, 0 for never
	Plan   string
}

// leastAgain and mostAgain bound the seconds until the script asks again. Guesses.
const (
	leastAgain = 1
	mostAgain  = 10
)

func (p *Pages) viewOf(f *service.Fit) fitView {
	out := fitView{Fit: f, Open: f.State == store.Queued || f.State == store.Running, Passed: 100}
	if err := json.Unmarshal(f.Request, &out.Ask); err != nil {
		p.Log.Error("a request cannot be read", "fit", f.ID) // cannot happen: Marshal wrote it
	}
	out.Plan = "/plan?" + queryOf(out.Ask).Encode()
	begun, _ := time.Parse(time.RFC3339, f.Submitted)
	due, _ := time.Parse(time.RFC3339, f.Due)
	if whole := due.Sub(begun); out.Open && whole > 0 {
		left := due.Sub(p.Service.Now())
		out.Passed = math.Round(100 * min(1, max(0, 1-left.Seconds()/whole.Seconds())))
		out.Again = int(min(mostAgain, max(leastAgain, math.Ceil(left.Seconds()))))
	}
	return out
}

func (p *Pages) listed(v *visit, released bool, to string) (*listing[fitView], error) {
	before, err := strconv.ParseInt(v.FormValue("before"), 10, 64)
	if err != nil || before < 0 {
		before = 0
	}
	all, err := p.Service.Fits(v.Context(), v.Person, before, mostListed, released)
	if err != nil {
		return nil, err
	}
	out := &listing[fitView]{}
	for _, f := range all.Fits {
		out.Lines = append(out.Lines, p.viewOf(f))
	}
	if all.Next > 0 {
		out.Next = fmt.Sprintf("%s?before=%d", to, all.Next)
	}
	return out, nil
}

func fits(p *Pages, v *visit) (*answer, error) {
	all, err := p.listed(v, false, "/fits")
	return &answer{page: "fits.html", title: "Fits", data: all}, err
}

func fit(p *Pages, v *visit) (*answer, error) {
	f, err := p.Service.Fit(v.Context(), v.Person, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return &answer{page: "fit.html", title: "Fit " + f.ID[:8], data: p.viewOf(f)}, nil
}

func cancel(p *Pages, v *visit) (*answer, error) {
	f, err := p.Service.Cancel(v.Context(), v.Person, v.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return &answer{to: "/fits/" + url.PathEscape(f.ID)}, nil
}
