package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/gauze-dp/gauze/internal/words"

	"github.com/gauze-dp/gauze/internal/fill"
	"github.com/gauze-dp/gauze/release"
)

// A profilePage is the content of profile.html: table one, of the whole or of each group.
type profilePage struct {
	page
	Parts []profilePart
}

// A profilePart is one table.
type profilePart struct {
	Title, Reason, Advice string
	Columns               []profileRow
}

// A profileRow is one column of the release.
type profileRow struct {
	Name, Missing, HeldOut string
	Mean, MeanNoise        string // "–" if the noise hides them
	SD, SDNoise            string
	Low, First, Median     string // the quantiles .01, .25 and .5
	Third, High            string // .75 and .99
	Rank                   string // the largest noise of their shares
	Grid, Atoms            string
	Beyond                 string
	Notes                  []string
	Picture                *picture
}

// isProfile reports whether the columns of a release were measured by themselves, without a model.
func isProfile(r *release.Release) bool {
	if r == nil || r.Model != nil {
		return false
	}
	for i := range r.Groups {
		if r.Groups[i].Profile != nil && r.Groups[i].Model == nil {
			return true
		}
	}
	return r.Profile != nil
}

// profileParts returns the tables of a release.
func profileParts(r *release.Release) (parts []profilePart) {
	if r.Groups == nil {
		return []profilePart{{Columns: profileRows(r, "p")}}
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		part := profilePart{Title: clean(g.Name(r.Certificate.By))}
		if g.NoRelease != nil {
			part.Reason, part.Advice = clean(g.NoRelease.Reason), clean(g.NoRelease.Advice)
		} else {
			part.Columns = profileRows(r.Of(i), fmt.Sprintf("g%d", i+1))
		}
		parts = append(parts, part)
	}
	return parts
}

// profileRows returns the lines of one table; anchor begins the names of its pictures.
func profileRows(r *release.Release, anchor string) (rows []profileRow) {
	for j := range r.Profile {
		c := &r.Profile[j]
		public := r.Named(c.Name)
		row := profileRow{Name: columnName(tabled(public), j), Missing: percent(1-c.Cells) + " ± " + percent(c.CellsNoise), HeldOut: clean(c.HeldOut)}
		for _, text := range c.Notes {
			row.Notes = append(row.Notes, clean(text))
		}
		if c.Values != nil {
			row.fillValues(public, c)
		} else if c.HeldOut == "" {
			row.fill(public, c)
		}
		if c.Histogram != nil || len(c.Quantiles) > 0 {
			row.Picture = profilePicture(c, fmt.Sprintf("%s-%d", anchor, j+1), row.Name)
		}
		rows = append(rows, row)
	}
	return rows
}

// mostListed is the number of a category's values that table one lists: all are in the release.
const mostListed = 8

// fillValues fills in the shares of the values of a column of categories.
func (row *profileRow) fillValues(public release.Column, c *release.ColumnProfile) {
	none := "–"
	row.Mean, row.MeanNoise, row.SD, row.SDNoise, row.Rank = none, none, none, none, none
	row.Low, row.First, row.Median, row.Third, row.High = none, none, none, none, none
	values := slices.SortedStableFunc(slices.Values(c.Values), func(v, w release.ValueShare) int { return cmp.Compare(w.Share, v.Share) })
	for i, v := range values {
		if i >= mostListed {
			row.Atoms += ", and " + words.Plural(len(values)-i, "other")
			break
		}
		if i > 0 {
			row.Atoms += ", "
		}
		row.Atoms += clean(valueCalled(public, v.Value)) + " (" + percent(v.Share) + " ± " + percent(v.Noise) + ")"
	}
}

// fill fills in the figures of a column.
func (row *profileRow) fill(public release.Column, c *release.ColumnProfile) {
	say := func(x *release.Noisy) (value, noise string) {
		if x == nil {
			return "–", "–"
		}
		return number(x.Value, 4), number(x.Noise, 2)
	}
	if row.Mean, row.MeanNoise = say(c.Mean); c.Mean != nil {
		row.Mean = written(public, c.Mean.Value, 4)
	}
	row.SD, row.SDNoise = say(c.SD)
	at := func(p float64) string {
		if x := c.Quantile(p); !math.IsNaN(x) {
			return written(public, x, 4)
		}
		return "–"
	}
	row.Low, row.First, row.Median, row.Third, row.High = at(.01), at(.25), at(.5), at(.75), at(.99)
	row.Rank = "–"
	if len(c.RankNoise) > 0 {
		row.Rank, row.Beyond = percent(slices.Max(slices.Collect(maps.Values(c.RankNoise)))), percent(c.Beyond)
	}
	if c.Grid > 0 {
		row.Grid = number(c.Grid, 4)
	}
	for i, a := range c.Atoms {
		if i > 0 {
			row.Atoms += ", "
		}
		row.Atoms += written(public, a.Value, 4) + " (" + percent(a.Share) + ")"
	}
}

// Sizes of the picture of a column.
const profileWidth, profileHeight, profileBar = 200.0, 36.0, 2.0

// profilePicture returns a small histogram from the first to the last percent, with bars for values
// that many cells have.
func profilePicture(c *release.ColumnProfile, id, name string) *picture {
	low, high := c.Quantile(.01), c.Quantile(.99)
	p := &picture{ID: id, Title: "Histogram of " + name, Desc: fmt.Sprintf("From %s to %s.", number(low, 4), number(high, 4)), Width: profileWidth, Height: profileHeight}
	if !(high > low) || math.IsInf(high-low, 0) {
		p.column(profileWidth/2-profileBar, profileWidth/2+profileBar, 1)
		return p
	}
	type drawn struct{ from, to, height float64 }
	var bars []drawn
	most := 0.0
	for _, b := range c.Histogram {
		from, to := (b.Low-low)/(high-low)*profileWidth, (b.High-low)/(high-low)*profileWidth
		if to < 0 || from > profileWidth {
			continue
		}
		if to-from < profileBar {
			from, to = (from+to)/2-profileBar/2, (from+to)/2+profileBar/2
		}
		d := drawn{math.Max(0, from), math.Min(to, profileWidth), b.Share / (to - from)}
		most = math.Max(most, d.height)
		bars = append(bars, d)
	}
	for _, d := range bars {
		p.column(d.from, d.to, d.height/most)
	}
	return p
}

// column draws one bar, of a part of the picture's height.
func (p *picture) column(from, to, part float64) {
	if !(part > 0) || !(to > from) {
		return
	}
	top := profileHeight * (1 - part)
	p.Marks = append(p.Marks, mark{Class: partClass(0), Path: fmt.Sprintf("M%.1f %.1fV%.1fH%.1fV%.1fZ", from, profileHeight, top, to, profileHeight)})
}

// htmlProfile writes the page of a profile.
func htmlProfile(w io.Writer, r *release.Release, o Options) error {
	p := &profilePage{page: page{Back: o.Back, Title: clean(cmp.Or(o.Title, r.Title(), "Table one")), File: shellWord(clean(cmp.Or(o.File, "release.json"))),
		Style: fill.Raw(styleSource), Release: r, Facts: facts(r)}, Parts: profileParts(r)}
	var err error
	if p.Certificate, err = indented(r.Certificate); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := pages().Execute(w, "profile.html", p); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// textProfile writes table one for a terminal.
func textProfile(w io.Writer, r *release.Release) error {
	b := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	of := &profilePage{page: page{Release: r, Facts: facts(r)}, Parts: profileParts(r)}
	if err := says().Execute(b, "profile.txt", of); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return b.Flush()
}
