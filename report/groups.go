package report

import (
	"cmp"
	"fmt"
	"html/template"
	"io"

	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report/overall"
)

// A groupPage is the content of groups.html and groups.txt.
type groupPage struct {
	page
	Groups []groupPart
}

// A groupPart is one group in the comparison of groups.
type groupPart struct {
	*page
	Rows  float64
	Whole []cell
}

// ColumnNames returns the columns of all groups' models.
func (p groupPage) ColumnNames() (names []string) {
	for _, c := range p.Release.Numbers() {
		names = append(names, columnName(c.Heading(), 0))
	}
	return names
}

// Wide returns the number of the table's columns after the first.
func (p groupPage) Wide() int { return 2 + len(p.Release.Numbers()) }

// htmlGroups writes a release of groups: a comparison, then each group.
func htmlGroups(w io.Writer, r *release.Release, o Options) error {
	p, err := newGroupPage(r, o)
	if err != nil {
		return err
	}
	if p.Certificate, err = indented(r.Certificate); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := pages().ExecuteTemplate(w, "groups.html", p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// newGroupPage returns the page's content, without the full certificate.
func newGroupPage(r *release.Release, o Options) (*groupPage, error) {
	p := &groupPage{page: page{Back: o.Back, Title: clean(cmp.Or(o.Title, r.Title(), "Gauze release")), Style: template.CSS(styleSource), Release: r, Facts: facts(r)}}
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
			for _, c := range overall.Of(own).Columns {
				part.Whole = append(part.Whole, cellOf(c.Mean.Value, c.SD.Value))
			}
		} else {
			part.Reason, part.Advice = clean(g.NoRelease.Reason), clean(g.NoRelease.Advice)
		}
		part.Title, part.Anchor = clean(g.Name(r.Certificate.By)), fmt.Sprintf("group-%d-", i+1)
		p.Groups = append(p.Groups, part)
	}
	return p, nil
}
