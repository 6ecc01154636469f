package source

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gauze-dp/gauze/internal/words"
)

// said is what a table's reading ends in: "" if it goes on.
func said(t testing.TB, text string, schema *Schema) (fault, report string) {
	t.Helper()
	table, err := opened("stdin", strings.NewReader(text), schema)
	if err == nil {
		var got told
		if err = table.Read(&got); err == nil {
			return "", table.Report().Text()
		}
	}
	if !errors.As(err, new(*Error)) {
		t.Fatal(err)
	}
	return err.Error(), ""
}

// A table whose rows have persons that nobody named is refused, and both ways out are named, be the
// identifier fitted or not; one whose identifiers are of rows is not, nor one whose unit is stated.
func TestRepeats(t *testing.T) {
	const wide = "%s,weight\n1,70.5\n2,80\n1,71\n3,65\n4,90\n"
	for name, refused := range map[string]bool{
		"patient_id": true, "Patient ID": true, "patientId": true, "PATIENTID": true, "subject": true, "SUBJID": true, "MRN": true, "Patienten-Nr": true, "Fallnummer": true, "Hausnummer": false, "id": true, "participant-no": true, "pid": true,
		"age": false, "humid": false, "grid": false, "children": false, "visits": false, "patient_age": false, "year": false, "user_rating": false, "index": false,
		"ward_id": false, // four values are a category's
	} {
		for _, columns := range []string{"weight", "weight," + name, ""} {
			schema := &Schema{Infer: true}
			if columns != "" {
				schema, _ = ParseColumns(columns)
			}
			got, report := said(t, fmt.Sprintf(wide, name), schema)
			if (got != "") != refused || refused && !(strings.Contains(got, "--unit "+words.Quoted(name)) && strings.Contains(got, "--unit none") && strings.Contains(got, fmt.Sprintf("%q repeats", name))) {
				t.Errorf("%s of %q: got %q", columns, name, got)
			}
			if strings.Contains(report, "repeats: if it names persons") != (name == "ward_id") {
				t.Errorf("%s of %q: said %q", columns, name, report)
			}
		}
		stated := Named([]string{"weight"})
		for _, unit := range []string{NoUnit, name} {
			stated.Unit = unit
			if got, _ := said(t, fmt.Sprintf(wide, name), stated); got != "" {
				t.Errorf("%q with the unit %s: got %q", name, unit, got)
			}
		}
	}
	for _, text := range []string{"visit_id,x\n1,2\n2,3\n3,4\n", "id,x\na,2\n,3\n,4\nNA,1\nNA,2\n", "study_id,x\n7,1\n7,2\n7,3\n", "patient,x\n0,1\n1,2\n0,3\n", "encounterId,x\n1,1\n1,2\n2,3\n"} {
		if got, _ := said(t, text, Named([]string{"x"})); got != "" {
			t.Errorf("%q: got %q", text, got)
		}
	}
	if got, _ := said(t, "none,x\n1,2\n", &Schema{Unit: NoUnit, Columns: []Column{{Name: "x"}}}); !strings.Contains(got, "rename the column") {
		t.Errorf("a column called none: got %q", got)
	}
}

// A person whose rows lie far apart is found too, and one that only comes back behind the rows that
// are looked at.
func TestRepeatsFarApart(t *testing.T) {
	var b strings.Builder
	b.WriteString("patient,x\n")
	for i := range 3 * lookAheadRows {
		fmt.Fprintf(&b, "p%d,%d\n", i, i%17)
	}
	if got, _ := said(t, b.String(), Named([]string{"x"})); got != "" {
		t.Errorf("no one comes back: got %q", got)
	}
	b.WriteString("p5,1\n")
	if got, _ := said(t, b.String(), Named([]string{"x"})); !strings.Contains(got, `"patient" repeats`) {
		t.Errorf("got %q", got)
	}
}

// tables are made-up ones without persons that repeat, of the columns that are most like
// identifiers without being one: no name tells anything.
func tables(rng *rand.Rand) map[string]func(i int) []float64 {
	n, whole := rng.NormFloat64, math.Round
	walk, day := 0., 0.
	codes := make([]float64, 40)
	for i := range codes {
		codes[i] = n()
	}
	return map[string]func(int) []float64{
		"ages":             func(int) []float64 { a := whole(45 + 15*n()); return []float64{a, 100 + .5*a + 15*n(), n()} },
		"ages, sorted":     func(i int) []float64 { a := whole(20 + float64(i)/50); return []float64{a, 100 + .5*a + 15*n()} },
		"Likert":           func(int) []float64 { l := whole(3 + n()); return []float64{l, whole(l + n()), 2*l + n()} },
		"counts":           func(int) []float64 { c := math.Floor(rng.ExpFloat64() * 20); return []float64{c, c + 5*n()} },
		"years":            func(int) []float64 { y := whole(2000 + 10*n()); return []float64{y, (y - 2000) / 5 * n()} },
		"days of a series": func(i int) []float64 { walk += n() / 10; return []float64{float64(i / 24), walk + n()} },
		"dates": func(int) []float64 {
			return []float64{20200000 + 100*float64(1+rng.IntN(12)) + float64(1+rng.IntN(28)), n()}
		},
		"trend by day": func(i int) []float64 {
			d := float64(i / 20)
			return []float64{d, math.Sin(d/10) + n()/20}
		},
		"two units":       func(int) []float64 { h := whole(170 + 9*n()); return []float64{h, h/2.54 + n()/100} },
		"a square":        func(int) []float64 { h := whole(50 * n()); return []float64{h, h * h} },
		"income, rounded": func(int) []float64 { v := whole(math.Exp(n()+3)) * 100; return []float64{v, math.Log(v+1) + n()/2} },
		"tenths":          func(int) []float64 { v := whole(36.6*10 + 5*n()); return []float64{v, v + 3*n(), whole(v + n())} },
		"heavy tails":     func(int) []float64 { v := whole(20 / (rng.Float64() + .001)); return []float64{v, v * n(), n() / n()} },
		"mixture":         func(int) []float64 { k := float64(rng.IntN(3)); return []float64{whole(100*k + 9*n()), 50*k*k + n()} },
		"many labels of a few": func(int) []float64 {
			k := rng.IntN(15)
			return []float64{float64(k), codes[k] + n()/10}
		},
		"hours":       func(int) []float64 { h := float64(rng.IntN(24)); return []float64{h, math.Cos(h/24*2*math.Pi) + n()/3} },
		"codes alone": func(int) []float64 { k := rng.IntN(40); return []float64{float64(k), n(), n()} },
		"weak codes":  func(int) []float64 { k := rng.IntN(40); return []float64{float64(k), codes[k]/4 + n(), n()} },
		"row numbers": func(i int) []float64 { return []float64{float64(i), n()} },
		"pairs of rows": func(i int) []float64 {
			if i%2 == 0 {
				day = n()
			}
			return []float64{float64(i), day + n()/10}
		},
		"all equal": func(int) []float64 { return []float64{7, n()} },
		"missing":   func(i int) []float64 { return []float64{math.NaN(), whole(9 * n()), n()} },
	}
}

// patients are made-up tables of persons with several rows, whose column of them is the first.
func patients(rng *rand.Rand) map[string]func(i int) []float64 {
	effects := map[float64]float64{}
	of := func(person float64) float64 {
		if _, ok := effects[person]; !ok {
			effects[person] = rng.NormFloat64()
		}
		return effects[person]
	}
	n := rng.NormFloat64
	return map[string]func(int) []float64{
		"six visits each":      func(i int) []float64 { p := float64(i / 6); return []float64{p, 50 + 10*of(p) + 7*n(), n()} },
		"two visits each":      func(i int) []float64 { p := float64(i/2) + 1e6; return []float64{p, n(), of(p) + .8*n()} },
		"visits in any order":  func(int) []float64 { p := float64(rng.IntN(500)); return []float64{p, math.Round(10*of(p) + 8*n())} },
		"large numbers":        func(i int) []float64 { p := float64(i/4*7919%100003) + 1e8; return []float64{p, of(p) + n()} },
		"constants of persons": func(i int) []float64 { p := float64(i / 3); return []float64{p, math.Round(170 + 9*of(p)), n()} },
		"thirty of them":       func(int) []float64 { p := float64(rng.IntN(30)); return []float64{p, of(p) + .7*n()} },
	}
}

// Whole numbers that tell persons apart are found without a name; ages, answers, counts, dates and
// the like are not taken for them. Fixed seeds: what is measured is a rule of thumb.
func TestLabelColumn(t *testing.T) {
	const seeds = 10
	made := func(row func(int) []float64, n int) (rows []float64, d int) {
		for i := range n {
			values := row(i)
			rows, d = append(rows, values...), len(values)
		}
		return rows, d
	}
	alarms, found, of := 0, 0, 0
	for seed := range uint64(seeds) {
		for _, n := range []int{500, 3000} {
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			others, persons := tables(rng), patients(rng)
			for _, name := range slices.Sorted(maps.Keys(others)) {
				row := others[name]
				if j := labelColumn(made(row, n)); j >= 0 {
					alarms++
					t.Logf("%s, %d rows: column %d", name, n, j)
				}
				of++
			}
			for _, name := range slices.Sorted(maps.Keys(persons)) {
				row := persons[name]
				if j := labelColumn(made(row, n)); j == 0 {
					found++
				} else {
					t.Logf("%s, %d rows: missed, %d", name, n, j)
				}
			}
		}
	}
	if all := 2 * seeds * len(patients(rand.New(rand.NewPCG(1, 1)))); alarms > of/100 || found < all*9/10 {
		t.Errorf("%d false alarms of %d, %d found of %d", alarms, of, found, all)
	}
}
