package source

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gauze-dp/gauze/internal/words"
)

// repeats watches a table without a unit for signs that a person has several rows: an identifier
// whose values repeat. It is an input error, for the custodian's terminal alone, and not part of
// the privacy promise: rules of thumb decide which tables it finds.
type repeats struct {
	suspects []*suspect // by their names
	first    []float64  // the values of the first rows, row-major
	table    *Table
}

// A suspect is a column with the name of an identifier. It is read as text, unless it is fitted.
type suspect struct {
	name   string
	label  int // its index among labels, -1 if it is fitted
	column int // .. then, its index among the columns
	few    int // this many different values may still be those of a category
	seen   map[string]bool
	again  bool // a value repeated
}

// fewCategories is the number of different values that a column such as ward_id may have before it
// counts as one of persons. A guess.
const fewCategories = 12

// watch finds the identifiers among the names of the header, and makes the reader return them.
func (t *Table) watch() *repeats {
	r := &repeats{table: t}
	fitted := t.schema.Names()
	for i, name := range t.reader.Header() {
		person, generic := identifies(name)
		if !person && !generic || slices.Contains(t.roles.labels, i) {
			continue
		}
		s := &suspect{name: name, label: -1, column: slices.Index(fitted, name), few: 1, seen: map[string]bool{}}
		switch words := nameWords(name); {
		case generic:
			s.few = fewCategories
		case len(words) == 1 && aloneWords[words[0]]: // "patient" may hold yes and no
			s.few = 2
		}
		if s.column < 0 {
			s.label = len(t.roles.labels)
			t.roles.labels = append(t.roles.labels, i)
		}
		r.suspects = append(r.suspects, s)
	}
	return r
}

// row looks at a row that was passed on, NaN in place of bad cells.
func (r *repeats) row(values []float64, labels []string) error {
	if r == nil {
		return nil
	}
	for _, s := range r.suspects {
		var value string
		if s.label >= 0 {
			value = r.table.roles.csv.personOf(labels[s.label])
		} else if v := values[s.column]; v-v == 0 {
			value = strconv.FormatFloat(v, 'g', -1, 64)
		}
		if value == "" {
			continue
		}
		if s.seen[value] {
			s.again = true
		} else if len(s.seen) < lookAheadRows {
			s.seen[value] = true
		}
		if s.again && len(s.seen) > s.few {
			return errRepeats(s.name, "by its name it tells persons apart", s.label < 0)
		}
	}
	if n := r.table.report.Rows; n > lookAheadRows || n*len(values) > max(lookAheadCells, len(values)) {
		return nil
	}
	r.first = append(r.first, values...)
	return nil
}

// seldom returns the columns with the name of an identifier that have too few different values to
// decide.
func (r *repeats) seldom() (names []string) {
	if r == nil {
		return nil
	}
	for _, s := range r.suspects {
		if s.again && len(s.seen) > 1 {
			names = append(names, s.name)
		}
	}
	return names
}

// values looks for an identifier among the values of the columns, whatever their names.
func (r *repeats) values() error {
	if r == nil {
		return nil
	}
	if j := labelColumn(r.first, len(r.table.columns)); j >= 0 {
		return errRepeats(r.table.columns[j].Name, "rows with one of its numbers are alike, as those of one person are", true)
	}
	return nil
}

// A severalRows is the *Error for a column that identifies persons with several rows.
type severalRows struct {
	fault  *Error
	column string
}

// Error returns the text of the *Error.
func (e *severalRows) Error() string { return e.fault.Error() }

// Unwrap returns the mistake in words.
func (e *severalRows) Unwrap() error { return e.fault }

// errRepeats returns the error, with both ways to fix it.
func errRepeats(name, why string, fitted bool) error {
	first := ""
	if fitted {
		first = ", taken out of the columns to fit,"
	}
	return &severalRows{column: name, fault: &Error{Field: "unit", Wanted: "the column that says whose a row is, or none",
		Got:  fmt.Sprintf("nothing, and %q repeats: %s, so only single rows would be protected", name, why),
		Hint: fmt.Sprintf(`--unit %s%s protects persons with all of their rows; --unit none says that every row is a person of its own; a schema says either as "unit"`, words.Quoted(name), first)}}
}

// Words of names. Those of aloneWords name a person without "id" after them.
var (
	aloneWords  = wordSet("patient subject participant respondent individual customer client user employee student pupil resident member proband donor animal")
	personWords = wordSet("patient subject subj subjid usubjid participant respondent resp individual person customer client user employee worker student pupil teacher " +
		"resident member proband donor animal mouse household hh family mother child case account citizen voter driver applicant borrower player panelist pt pat sub emp cust " +
		"patienten versicherten probanden teilnehmer kunden mitarbeiter haushalt fall schüler schueler studenten mitglieds personen personal " +
		"élève eleve étudiant etudiant salarié salarie assuré assure adhérent adherent")
	idWords    = wordSet("id no nr num nummer number code key identifier uid uuid guid")
	wholeNames = wordSet("id uid uuid guid pid rid iid eid mrn empi ssn nin nhs seqn subjid usubjid usubjid ptid idno hhid caseid respid identifier")
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// identifies reports whether a column's name is that of an identifier of persons, or of an
// identifier of anything: "patient_id", "PatientID", "subject", "MRN"; "ward_id".
func identifies(name string) (person, generic bool) {
	words := nameWords(name)
	if len(words) == 0 {
		return false, false
	}
	last, joined := words[len(words)-1], strings.Join(words, "")
	if len(words) == 1 {
		if aloneWords[joined] || wholeNames[joined] {
			return true, false
		}
		for w := range idWords { // "patientid"
			if stem, ok := strings.CutSuffix(joined, w); ok && personWords[stem] {
				return true, false
			}
		}
		return false, false
	}
	if idWords[last] && personWords[words[len(words)-2]] {
		return true, false
	}
	return false, last == "id" || last == "identifier" || last == "uuid"
}

// nameWords returns the words of a name in lower case: "Patient-ID", "patientId" and "patient id"
// have the same.
func nameWords(name string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words, word = append(words, strings.ToLower(string(word))), nil
		}
	}
	lower := false
	for _, c := range name {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			end()
			lower = false
			continue
		case unicode.IsUpper(c) && lower:
			end()
		}
		word, lower = append(word, c), unicode.IsLower(c)
	}
	end()
	return words
}

// When whole numbers count as labels of persons. Guesses, checked against the tables of
// repeats_test.go.
const (
	fewestLabels  = 20  // different numbers, at least
	leastOften    = 1.5 // rows of each, on average
	mostOfOne     = .2  // largest part of the rows that one of them may have
	othersLooked  = 32  // other columns that are compared with it, at most
	leastAlike    = .2  // variance between persons, as a part of all variance
	leastRough    = .5  // how far neighbouring numbers differ, 1 if they have no order
	sureDeviances = 6   // standard deviations of the measure of alikeness
)

// labelColumn returns the first column of d whose whole numbers are labels and not measurements, -1
// for none. Rows with the same label are alike in another column, as one person's rows are, and
// rows with neighbouring labels are not, as those with about the same age, count or date are.
func labelColumn(rows []float64, d int) int {
	if d < 2 {
		return -1
	}
	var others map[int][]float64 // found for the first candidate
	for j := range d {
		order, ends := labelsOf(rows, d, j)
		if distinct := len(ends); distinct < fewestLabels || float64(len(order)) < leastOften*float64(distinct) || largest(ends) > int(mostOfOne*float64(len(rows)/d)) {
			continue
		}
		if others == nil {
			others = map[int][]float64{}
			for i := 0; i < d && len(others) <= othersLooked; i++ {
				if ranks := ranksOf(rows, d, i); ranks != nil {
					others[i] = ranks
				}
			}
		}
		for i, ranks := range others {
			if i != j && alike(ranks, order, ends) {
				return j
			}
		}
	}
	return -1
}

// labelsOf sorts the rows by their whole numbers in column j, without those that lack one: order
// holds the rows, and ends the end of each number's rows. Nil if there is a number that is not
// whole.
func labelsOf(rows []float64, d, j int) (order, ends []int) {
	order = make([]int, 0, len(rows)/d)
	for i := range len(rows) / d {
		switch v := rows[i*d+j]; {
		case math.IsNaN(v):
		case v != math.Trunc(v):
			return nil, nil
		default:
			order = append(order, i)
		}
	}
	value := func(at int) float64 { return rows[order[at]*d+j] }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rows[a*d+j], rows[b*d+j]) })
	for i := range order {
		if i+1 == len(order) || value(i+1) != value(i) {
			ends = append(ends, i+1)
		}
	}
	return order, ends
}

// largest returns the size of the largest group.
func largest(ends []int) (most int) {
	from := 0
	for _, end := range ends {
		most, from = max(most, end-from), end
	}
	return most
}

// ranksOf returns the ranks of column j, equal ones the mean of theirs, NaN where a number is
// missing; nil if too few are different.
func ranksOf(rows []float64, d, j int) []float64 {
	n := len(rows) / d
	ranks, order := make([]float64, n), make([]int, 0, n)
	for i := range n {
		if ranks[i] = math.NaN(); !math.IsNaN(rows[i*d+j]) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(rows[a*d+j], rows[b*d+j]) })
	different := 0
	for from := 0; from < len(order); different++ {
		to := from + 1
		for to < len(order) && rows[order[to]*d+j] == rows[order[from]*d+j] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+to-1) / 2
		}
		from = to
	}
	if different < fewestLabels {
		return nil
	}
	return ranks
}

// alike reports whether ranks are alike within groups of rows and not between neighbouring groups.
// The mean of a group is compared with those of its two neighbours, which removes any trend in the
// order of the groups, and with the variance that its own rows imply.
func alike(ranks []float64, order, ends []int) bool {
	var means, errs []float64 // of groups of at least two rows: their means, and the variances of these
	within, from := 0., 0
	for _, end := range ends {
		sum, squares, n := 0., 0., 0.
		for _, i := range order[from:end] {
			if v := ranks[i]; !math.IsNaN(v) {
				sum, squares, n = sum+v, squares+v*v, n+1
			}
		}
		if from = end; n > 1 {
			spread := max(0, squares-sum*sum/n) / (n - 1)
			means, errs, within = append(means, sum/n), append(errs, spread/n), within+spread
		}
	}
	groups := len(means)
	if groups < fewestLabels {
		return false
	}
	within /= float64(groups)
	bent, chance := 0., 0.
	for g := 1; g < groups-1; g++ {
		s := means[g] - (means[g-1]+means[g+1])/2
		bent, chance = bent+s*s, chance+errs[g]+(errs[g-1]+errs[g+1])/4
	}
	bent, chance = bent/float64(groups-2), chance/float64(groups-2)
	const ofMid = 1.5 // variance of s, relative to that of a mean, if groups have no order
	between := (bent - chance) / ofMid
	return between >= leastAlike*(between+within) && bent >= leastRough*ofMid*variance(means) &&
		bent >= chance*(1+sureDeviances*math.Sqrt(4/float64(groups)))
}

func variance(values []float64) float64 {
	mean, squares := 0., 0.
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return squares / float64(len(values)-1)
}
