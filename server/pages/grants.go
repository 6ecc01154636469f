package pages

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/gauze-dp/gauze/ledger"
	"github.com/gauze-dp/gauze/server/service"
)

// A previewed shows a grant before it is given: what an analyst, and all together, have now and
// would have then.
type previewed struct {
	Analyst, Epsilon, Delta        string // as they were sent
	Own, OwnThen, Whole, WholeThen ledger.Amount
}

func grant(p *Pages, v *visit) (*answer, error) {
	name, r := v.PathValue("name"), reader{Values: v.PostForm}
	g := service.Grant{Analyst: r.text("analyst"), Epsilon: r.number("epsilon"), Delta: r.number("delta"), Preview: r.Get("do") == "preview"}
	err := r.err()
	var then *service.Dataset
	if err == nil {
		then, err = p.Service.Grant(v.Context(), v.Person, name, g)
	}
	if err == nil && !g.Preview {
		return &answer{to: "/datasets/" + url.PathEscape(name) + "?granted=yes"}, nil
	}
	now, missing := p.Service.Dataset(v.Context(), v.Person, name)
	if missing != nil {
		return nil, missing
	}
	if err != nil {
		return refused(ofDataset(now, v.PostForm, problemOf(err), ""), err)
	}
	a := ofDataset(now, v.PostForm, nil, "")
	a.status = http.StatusOK
	view := a.data.(datasetView)
	view.Would = &previewed{g.Analyst, r.text("epsilon"), r.text("delta"), ofAnalyst(now, g.Analyst), ofAnalyst(then, g.Analyst), now.Granted, then.Granted}
	a.data = view
	return a, nil
}

// ofAnalyst returns what an analyst was granted of a data set.
func ofAnalyst(d *service.Dataset, name string) ledger.Amount {
	if i := slices.IndexFunc(d.Kept.Analysts, func(s service.Share) bool { return s.Analyst == name }); i >= 0 {
		return d.Kept.Analysts[i].Granted
	}
	return ledger.Amount{}
}

func withdraw(p *Pages, v *visit) (*answer, error) {
	name := v.PathValue("name")
	_, err := p.Service.Withdraw(v.Context(), v.Person, name, service.Withdrawal{Analyst: v.PostForm.Get("analyst")})
	if err == nil {
		return &answer{to: "/datasets/" + url.PathEscape(name) + "?withdrawn=yes"}, nil
	}
	if d, fault := p.Service.Dataset(v.Context(), v.Person, name); fault == nil {
		return refused(ofDataset(d, nil, problemOf(err), ""), err)
	}
	return nil, err
}

// problemOf returns the problem of an error, for a form's fields.
func problemOf(err error) *service.Problem {
	fault, _ := service.ProblemOf(err)
	return fault
}
