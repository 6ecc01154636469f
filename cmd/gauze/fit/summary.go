package fit

import (
	"fmt"
	"strings"

	"github.com/gauze-dp/gauze/internal/words"
	"github.com/gauze-dp/gauze/model/flags"
	"github.com/gauze-dp/gauze/release"
	"github.com/gauze-dp/gauze/report"
)

// Summary says in a line what was released.
func Summary(r *release.Release) string {
	if r.Groups != nil {
		found := len(r.Groups)
		for _, g := range r.Groups {
			if g.NoRelease != nil {
				found--
			}
		}
		return fmt.Sprintf("%d of %s, by %s", found, words.Plural(len(r.Groups), "model"), strings.Join(r.Certificate.By, ", "))
	}
	if r.Model == nil {
		out := 0
		for i := range r.Profile {
			if r.Profile[i].HeldOut != "" {
				out++
			}
		}
		text := "a profile of " + words.Plural(len(r.Profile), "column")
		if out > 0 {
			text += fmt.Sprintf(", %d of them held out", out)
		}
		return text
	}
	groups, background := r.Model.Split()
	text := fmt.Sprintf("%s over %s, by the method %s", words.Plural(len(groups), "component"), words.Plural(r.Model.Dim(), "column"), r.Certificate.Method)
	if _, share := r.Model.WithoutBackground(); background != nil && share >= report.LeastBackground {
		text += fmt.Sprintf(" (and a background of %.2g%% of the rows)", 100*share)
	}
	return text
}

// Notes returns the lines that a terminal shows beside a release: its flags and notes, and for each
// of its groups the result.
func Notes(r *release.Release) []string {
	out := notes("", r)
	for i, g := range r.Groups {
		of := "group " + g.Name(r.Certificate.By) + ": "
		if g.NoRelease != nil {
			out = append(out, of+"no release: "+g.NoRelease.Reason+"; "+g.NoRelease.Advice)
			continue
		}
		out = append(append(out, of+Summary(r.Of(i))), notes(of, r.Of(i))...)
	}
	return out
}

// unsure: a confidence in the number of components below it is said.
const unsure = .9

func notes(of string, r *release.Release) (out []string) {
	for _, text := range append(flags.Texts(r.Diagnostics.Flags), componentFlags(r)...) {
		out = append(out, of+"flag: "+text)
	}
	if n := r.Diagnostics.Number; n != nil && n.Confidence < unsure {
		out = append(out, fmt.Sprintf("%snote: found %s, which is right in about %.0f of 100 such fits to clusters that lie apart; otherwise the number is most likely %d", of, words.Plural(n.Found, "component"), 100*n.Confidence, n.Or))
	}
	for i := range r.Profile {
		c := &r.Profile[i]
		if r.Model != nil { // beside a model table one is for the report; flags name what the model lacks
			break
		}
		if c.HeldOut != "" {
			out = append(out, fmt.Sprintf("%sheld out %q: %s", of, c.Name, c.HeldOut))
		}
		for _, text := range c.Notes {
			out = append(out, fmt.Sprintf("%snote: column %q: %s", of, c.Name, text))
		}
	}
	for _, text := range r.Diagnostics.Notes {
		out = append(out, of+"note: "+text)
	}
	return out
}

// componentFlags returns the flags of components, each with the components that have it.
func componentFlags(r *release.Release) (out []string) {
	of := map[string][]string{}
	if r.Model == nil {
		return nil
	}
	groups, _ := r.Model.Split()
	for _, i := range groups[:min(len(groups), len(r.Diagnostics.Components))] {
		for _, flag := range r.Diagnostics.Components[i].Flags {
			if of[flag.Text] == nil {
				out = append(out, flag.Text)
			}
			of[flag.Text] = append(of[flag.Text], fmt.Sprint(i+1))
		}
	}
	for at, flag := range out {
		out[at] = "component " + strings.Join(of[flag], ", ") + ": " + flag
	}
	return out
}
