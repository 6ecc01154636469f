package gauze

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/estimate"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/release"
)

// A node is a JSON value whose objects keep the order of their keys, and may have a key twice.
type node struct {
	kind   byte     // '{', '[' or 0
	keys   []string // of an object
	below  []*node
	scalar string // as it stands in the file
}

func parse(d *json.Decoder) (*node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, nested := token.(json.Delim)
	if !nested {
		text, err := json.Marshal(token)
		return &node{scalar: string(text)}, err
	}
	n := &node{kind: byte(open)}
	for d.More() {
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			n.keys = append(n.keys, key.(string))
		}
		below, err := parse(d)
		if err != nil {
			return nil, err
		}
		n.below = append(n.below, below)
	}
	_, err = d.Token()
	return n, err
}

func (n *node) write(b *bytes.Buffer) {
	if n.kind == 0 {
		b.WriteString(n.scalar)
		return
	}
	b.WriteByte(n.kind)
	for i, below := range n.below {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.kind == '{' {
			fmt.Fprintf(b, "%q:", n.keys[i])
		}
		below.write(b)
	}
	b.WriteByte(n.kind + 2) // ']' and '}' stand two places behind
}

// A mutation is one change of one field: how, of what, and what takes it back.
type mutation struct {
	how, where string
	make, undo func()
	silent     bool // a key of 0, false or null is left out, which reads the same, or a unit of 1
}

// is reports that the exception is one of this change.
func (m mutation) is(e exception) bool {
	how, _ := path.Match(e.how, m.how)
	where, _ := path.Match(strings.ReplaceAll(e.where, "[*]", "\\[\\]"), m.where)
	return how && where
}

// mutations are all changes of a value and of what is below it. Of the lines of a plan that measure
// the same with the same law only the first is changed, as the others differ in their numbers
// alone.
func (n *node) mutations(where string) (all []mutation) {
	switch n.kind {
	case 0:
		return n.changes(where)
	case '[':
		seen := map[string]bool{}
		for _, below := range n.below {
			if kind := below.text("query") + below.text("law") + strings.Join(below.keys, " "); where != "certificate.plan" || !seen[kind] {
				seen[kind] = true
				all = append(all, below.mutations(where+"[]")...)
			}
		}
		old := n.below
		restore := func() { n.below = old }
		if len(old) > 0 {
			all = append(all, mutation{"shortened", where, func() { n.below = old[:len(old)-1] }, restore, false})
		}
		if len(old) > 1 {
			swapped := slices.Clone(old)
			swapped[0], swapped[len(old)-1] = swapped[len(old)-1], swapped[0]
			all = append(all, mutation{"reordered", where, func() { n.below = swapped }, restore, false})
		}
		return all
	}
	keys, below := n.keys, n.below
	restore := func() { n.keys, n.below = keys, below }
	for i, key := range keys {
		at := strings.TrimPrefix(where+"."+key, ".")
		all = append(all, below[i].mutations(at)...)
		all = append(all,
			mutation{"dropped", at, func() {
				n.keys, n.below = slices.Delete(slices.Clone(keys), i, i+1), slices.Delete(slices.Clone(below), i, i+1)
			}, restore, slices.Contains([]string{"0", "false", "null"}, below[i].scalar) || key == "unit" && below[i].scalar == "1"},
			mutation{"twice", at, func() { n.keys, n.below = append(slices.Clone(keys), key), append(slices.Clone(below), below[i]) }, restore, false})
		if loud := strings.ToUpper(key); loud != key {
			all = append(all, mutation{"in capitals", at, func() { n.keys = slices.Clone(keys); n.keys[i] = loud }, restore, false})
		}
	}
	return all
}

// text is what stands behind a key of an object.
func (n *node) text(key string) string {
	if i := slices.Index(n.keys, key); i >= 0 {
		return n.below[i].scalar
	}
	return ""
}

// changes are those of a number, a string or a boolean.
func (n *node) changes(where string) (all []mutation) {
	old := n.scalar
	add := func(how, text string) {
		if text != old && text != "-0" {
			all = append(all, mutation{how, where, func() { n.scalar = text }, func() { n.scalar = old }, how == "zero" && old == "1" && strings.HasSuffix(where, ".unit")})
		}
	}
	var text string
	if x, err := strconv.ParseFloat(old, 64); err == nil {
		for how, factor := range map[string]float64{"halved": .5, "doubled": 2, "zero": 0, "sign": -1} {
			add(how, strconv.FormatFloat(x*factor, 'g', -1, 64))
		}
	} else if json.Unmarshal([]byte(old), &text) == nil && old != "null" {
		add("emptied", `""`)
		add("changed", strconv.Quote(text+"x"))
	} else if old == "true" || old == "false" {
		add("flipped", strconv.FormatBool(old == "false"))
	}
	return all
}

// An exception is changes that no reader can see, and why: patterns of path.Match of how and where,
// in which * is any text and stands for the brackets of arrays.
type exception struct{ how, where, why string }

const (
	learned  = "what was learned: a release of another model under the same promise is as consistent"
	told     = "what a fit was told of the data: the promise does not rest on it"
	spoken   = "words for people, which nothing follows from"
	larger   = "a budget larger than what was spent was asked: the promise is weaker, and what was spent is recomputed"
	public   = "a public number that no measurement depends on: whoever knows it sees it"
	ordered  = "the order in which a sum is written does not change it"
	restated = "an order of a Rényi curve, all of which follow from its mask or its pure loss"
	enough   = "it says whether there are several: how many does not change the sensitivity"
	trusted  = "only the signature vouches for it"
)

var unseen = []exception{
	{"*", "model.means*", learned}, {"*", "model.covariances*", learned}, {"*", "model.constraint", learned},
	{"*", "model.covariance_type", learned}, {"*", "diagnostics*", learned}, {"*", "columns*", told}, {"*", "certificate.facts*", told}, {"*", "certificate.learner*", told},
	{"*", "certificate.asked.components", "one component was asked for, and the plan for an open number is the same"}, {"*", "identity*", spoken}, {"*", "certificate.version", spoken},
	{"doubled", "certificate.epsilon", larger}, {"*", "certificate.rows", public}, {"reordered", "certificate.plan", ordered},
	{"dropped", "certificate.plan[*].renyi.*", restated}, {"*", "certificate.plan[*].shape.parts", enough},
	{"*", "certificate.plan[*].shape.numbers", "as long as the loss of the roundings of so many numbers is below the tolerance"},
	{"*", "certificate.simulated", trusted},
	{"*", "certificate.plan[*].shape.by", "under add-or-remove-one, where a row comes or goes and is replaced by none"},
}

// mutated counts the changes of a release that verify finds, that the list above knows, and returns
// the others. Those on the list, which fail nothing, are tried only where GAUZE_LONG is set.
func mutated(t *testing.T, r *release.Release) (found, listed int, missed map[string]int) {
	t.Helper()
	var b bytes.Buffer
	if err := release.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	root, err := parse(func() *json.Decoder { d := json.NewDecoder(&b); d.UseNumber(); return d }())
	if err != nil {
		t.Fatal(err)
	}
	missed = map[string]int{}
	genuine := len(Verify(r).Warnings)
	for _, m := range root.mutations("") {
		known := m.silent || slices.ContainsFunc(unseen, m.is)
		if known && os.Getenv("GAUZE_LONG") == "" {
			listed++
			continue
		}
		m.make()
		b.Reset()
		root.write(&b)
		m.undo()
		read, err := release.Read(&b)
		if err != nil || read.Bare() {
			found++
			continue
		}
		v := Verify(read)
		if v.Faults != nil || len(v.Warnings) > genuine {
			found++
			continue
		}
		if known {
			listed++
		} else {
			missed[m.where+": "+m.how]++
		}
	}
	return found, listed, missed
}

// releaseOf is a release of a method, of a table that suits it; nil where the noise would not have
// it.
func releaseOf(t *testing.T, method string, relation privacy.Relation) *release.Release {
	t.Helper()
	rng, b, n := rand.New(rand.NewPCG(1, 2)), kernel.NewBuilder(1), map[string]int{"heavy-tailed:paper": 60_000, "black-box:paper": 12_000}[method]
	for range max(n, 4000) {
		b.Append([]float64{3 + rng.NormFloat64()})
	}
	r := Request{Relation: relation, Budget: privacy.Budget{Epsilon: 20, Delta: 1e-3}, Columns: Named("x"), Method: method, Components: 1, Force: true,
		Facts: estimate.Facts{KnowsMean: true, MeanWithin: 100, Eigenvalues: [2]float64{.5, 2}, Moments: 4, LeastWeight: .2}}
	switch method {
	case "black-box:paper", "heavy-tailed:paper":
		r.Budget.Epsilon = 1000
	case "gaussian:ppe-line":
		r.KnownCovariance = [][]float64{{1}}
		r.Facts = estimate.Facts{}
	}
	result, err := Fit(t.Context(), b.Protect(relation), r)
	if err != nil {
		t.Logf("%s: %v", method, err)
		return nil
	}
	if result.Release == nil {
		t.Logf("%s: %v", method, result.NoRelease)
		return nil
	}
	return result.Release
}

// slow are methods that take seconds, and measure as those of one column do that stand beside them.
var slow = []string{"axis-aligned:aal21", "general:aal21", "general:amn24"}

// TestEveryChangeIsSeen changes every field of a release of every method, in every way, one at a
// time: verify finds each change, or it is on the list of those that nobody can see, with the
// reason. And whatever any method has measured can be recomputed.
func TestEveryChangeIsSeen(t *testing.T) {
	long := os.Getenv("GAUZE_LONG") != ""
	missed, released, all, known := map[string]int{}, 0, 0, 0
	for i, m := range Methods().All() {
		if !long && slices.Contains(slow, m.Name()) {
			continue
		}
		for j, relation := range []privacy.Relation{privacy.ReplaceOne, privacy.AddRemoveOne} {
			if !long && (i+j)%2 == 1 { // one relation each
				continue
			}
			r := releaseOf(t, m.Name(), relation)
			if r == nil {
				continue
			}
			if !r.Certificate.Recomputable() {
				t.Errorf("%s: a sensitivity cannot be recomputed", m.Name())
			}
			found, listed, left := mutated(t, r)
			t.Logf("%s, %v: %d changes found, %d listed", m.Name(), relation, found, listed)
			for what, n := range left {
				missed[what] += n
			}
			released, all, known = released+1, all+found, known+listed
		}
	}
	t.Logf("%d releases: %d changes found, %d listed", released, all, known)
	for _, what := range slices.Sorted(maps.Keys(missed)) {
		t.Errorf("not found: %s (%d)", what, missed[what])
	}
	if released < 15 {
		t.Errorf("%d methods released something: the test sees too little", released)
	}
}
