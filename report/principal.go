package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report/overall"
)

// PrincipalOptions changes what Principal shows.
type PrincipalOptions struct {
	Correlation bool // of standardised columns
	JSON        bool // instead of a table
}

// principalNumbers are the components of one model as JSON.
type principalNumbers struct {
	By         map[string]string      `json:"by,omitempty"`
	Columns    []string               `json:"columns"`
	Components []principalDescription `json:"components"`
	NoRelease  *release.Reason        `json:"no_release,omitempty"`
}

type principalDescription struct {
	Variance   estimated   `json:"variance"`
	Share      estimated   `json:"share"`
	Cumulative estimated   `json:"cumulative"`
	Loadings   []estimated `json:"loadings"`
}

// Principal writes the principal components of r, or those of each of its groups: variances, their
// shares, and loadings, with the noise if it is known. It fails as HTML does, and for a model
// without any spread.
func Principal(w io.Writer, r *release.Release, o PrincipalOptions) error {
	if r == nil || r.Groups == nil {
		return principalOf(w, r, o)
	}
	var all []*principalNumbers
	for i := range r.Groups {
		g := &r.Groups[i]
		n := &principalNumbers{By: g.By, NoRelease: g.NoRelease}
		if !o.JSON {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "group %s\n", clean(g.Name(r.Certificate.By)))
		}
		switch own := r.Of(i); {
		case g.NoRelease != nil && !o.JSON:
			fmt.Fprintf(w, "no release: %s\n", clean(g.NoRelease.Reason))
		case g.NoRelease != nil:
		case !o.JSON:
			if err := principalOf(w, own, o); err != nil {
				return err
			}
		default:
			found, err := components(own, o)
			if err != nil {
				return err
			}
			n.Columns, n.Components = own.Model.Columns, described(found)
		}
		all = append(all, n)
	}
	if !o.JSON {
		return nil
	}
	return json.NewEncoder(w).Encode(map[string]any{"groups": all})
}

func components(r *release.Release, o PrincipalOptions) ([]overall.Direction, error) {
	if err := check(r); err != nil {
		return nil, err
	}
	return overall.Principal(r, o.Correlation)
}

// principalOf writes the principal components of one model.
func principalOf(w io.Writer, r *release.Release, o PrincipalOptions) error {
	found, err := components(r, o)
	if err != nil {
		return err
	}
	if o.JSON {
		return json.NewEncoder(w).Encode(principalNumbers{Columns: r.Model.Columns, Components: described(found)})
	}
	b := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(b, "component\tvariance\t± noise\tshare\t± noise\tcumulative\t± noise\t\n")
	for i, c := range found {
		fmt.Fprintf(b, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", i+1, number(c.Variance.Value, 4), principalNoise(c.Variance, 1), percent(c.Share.Value), principalNoise(c.Share, 100),
			percent(c.Cumulative.Value), principalNoise(c.Cumulative, 100))
	}
	for from := 0; from < len(found); from += beside {
		block := found[from:min(from+beside, len(found))]
		fmt.Fprint(b, "\nloadings ± noise\t")
		for i := range block {
			fmt.Fprintf(b, "%d\t", from+i+1)
		}
		for j := range r.Model.Columns {
			fmt.Fprintf(b, "\n%s\t", shorten(columnName(r.Column(j).Called(), j), nameCells))
			for _, c := range block {
				fmt.Fprintf(b, "%s\t", strings.TrimSpace(withMinus(fmt.Sprintf("%.2f", c.Loadings[j].Value))+" "+offBy(c.Loadings[j].Noise)))
			}
		}
		fmt.Fprint(b, "\n")
	}
	return b.Flush()
}

func principalNoise(f overall.Figure, times float64) string {
	if math.IsNaN(f.Noise) {
		return "–"
	}
	return number(times*f.Noise, 2)
}

// offBy returns the noise of a loading as text; noise of 1 or more makes it meaningless.
func offBy(noise float64) string {
	switch {
	case math.IsNaN(noise):
		return ""
	case noise >= 1:
		return "± 1"
	}
	return "± " + number(noise, 2)
}

func described(found []overall.Direction) (out []principalDescription) {
	of := func(f overall.Figure) estimated { return estimated{Value: finite(f.Value), Noise: finite(f.Noise)} }
	for _, c := range found {
		d := principalDescription{Variance: of(c.Variance), Share: of(c.Share), Cumulative: of(c.Cumulative)}
		for _, f := range c.Loadings {
			d.Loadings = append(d.Loadings, of(f))
		}
		out = append(out, d)
	}
	return out
}
