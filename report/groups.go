package report

import (
	"cmp"
	"fmt"
	"io"

	"github.com/gauze-dp/gauze/internal/fill"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report/overall"
)

// A groupPage is the content of groups.html and groups.txt.
type groupPage struct {
	page
	Groups      []groupPart
	ColumnNames []string // of all groups' models
	Wide        int      // columns of the comparison after the first
}

// A groupPart is one group in the comparison of groups.
type groupPart struct {
	*page
	Rows  float64
	Whole []cell
}

// htmlGroups writes a release of groups: a comparison, then each group.
func htmlGroups(w io.Writer, r *release.Release, o Options) error {
	p, err := newGroupPage(r, o)
	if err != nil {
		return err
	}
	if p.Certificate, err = indented(r.Certificate); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := pages().Execute(w, "groups.html", p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// newGroupPage returns the page's content, without the full certificate.
func newGroupPage(r *release.Release, o Options) (*groupPage, error) {
	p := &groupPage{page: page{Back: o.Back, Title: clean(cmp.Or(o.Title, r.Title(), "Gauze release")), Style: fill.Raw(styleSource), Release: r, Facts: facts(r)}, Wide: 2 + len(r.Numbers())}
	for _, c := range r.Numbers() {
		p.ColumnNames = append(p.ColumnNames, columnName(tabled(c), 0))
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		part := groupPart{page: &page{}, Rows: g.Rows}
		if own := r.Of(i); g.Model != nil {
			if err := check(own); err != nil {
				return nil, err
			}
			part.page = newPage(own, o)
			part.drawMarginals(own, partsOf(own), cmp.Or(o.MaxColumns, 60))
			part.drawPairs(own, partsOf(own), cmp.Or(o.MaxPairs, 10))
			for j, c := range overall.Of(own).Columns {
				part.Whole = append(part.Whole, cellOf(own.Column(j), c.Mean.Value, c.SD.Value))
			}
		} else {
			part.Reason, part.Advice = clean(g.NoRelease.Reason), clean(g.NoRelease.Advice)
		}
		part.Title, part.Anchor = clean(g.Name(r.Certificate.By)), fmt.Sprintf("group-%d-", i+1)
		p.Groups = append(p.Groups, part)
	}
	return p, nil
}
