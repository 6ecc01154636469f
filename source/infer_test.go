package source

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// beside writes a table of n rows: a column of cells given by f, and a column of numbers.
func beside(name string, n int, f func(i int) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s,x\n", name)
	for i := range n {
		fmt.Fprintf(&b, "%s,%d\n", f(i), (i*37)%101)
	}
	return b.String()
}

func TestInference(t *testing.T) {
	number := func(i int) string { return fmt.Sprint(i + 5) }
	every := func(n int, cell string) func(int) string {
		return func(i int) string {
			if i%n == 0 {
				return cell
			}
			return fmt.Sprint((i * 7) % 13)
		}
	}
	for _, c := range []struct {
		name, text string
		want       []string
		why        string
	}{
		{"one text cell in 20 is tolerated", beside("a", 100, every(20, "refused")), []string{"a", "x"}, ""},
		{"one in 19 is not", beside("a", 190, every(19, "refused")), []string{"x"}, "10 of its first 190 cells that are there are no numbers: name it, with --unreadable missing"},
		{"gaps do not count", beside("a", 100, every(2, "NA")), []string{"a", "x"}, ""},
		{"nor do infinities", beside("a", 100, every(2, "inf")), []string{"a", "x"}, ""},
		{"all gaps", beside("a", 50, func(int) string { return "" }), []string{"x"}, "no numbers"},
		{"all infinite", beside("a", 50, func(int) string { return "inf" }), []string{"x"}, "no numbers"},
		{"row identifier", beside("ID", 50, number), []string{"x"}, "a row identifier"},
		{"patient", beside("Patient_ID", 50, number), []string{"x"}, "a row identifier"},
		{"not every name in id", beside("humid", 50, number), []string{"humid", "x"}, ""},
		{"index", beside("index", 50, number), []string{"x"}, "a row identifier"},
		{"identifier out of sequence", beside("id", 50, func(i int) string { return fmt.Sprint(i % 49) }), []string{"id", "x"}, ""},
		{"identifier with a repeat", beside("id", 50, func(i int) string { return fmt.Sprint(i - i/49) }), []string{"id", "x"}, ""},
		{"identifier with a gap in it", beside("id", 50, every(7, "")), []string{"id", "x"}, ""},
		{"identifier that is not whole", beside("id", 50, func(i int) string { return fmt.Sprint(float64(i) + 0.5) }), []string{"id", "x"}, ""},
		{"another name in sequence", beside("year", 50, number), []string{"year", "x"}, ""},
		{"label", beside("label", 50, number), []string{"label", "x"}, ""},
		{"dates", beside("d", 50, func(i int) string { return fmt.Sprintf("2020-01-%02d", i%30+1) }), []string{"x"}, "dates: declare it with :date"},
		{"dates, day first", beside("d", 50, func(i int) string { return fmt.Sprintf("%d.1.2020", i%30+1) }), []string{"x"}, "dates: declare it with :date"},
		{"answers", beside("d", 50, func(i int) string { return []string{"ja", "nein"}[i%2] }), []string{"x"}, "yes and no: declare it with :yes-no"},
		{"decimal commas", beside("d", 50, func(i int) string { return fmt.Sprintf("\"%d,5\"", i) }), []string{"x"}, `numbers with --csv "decimal=,"`},
		{"texts", beside("d", 50, func(i int) string { return []string{"\"1,5\"", "Miller"}[i%2] }), []string{"x"}, "text: 0 of its first 50"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table, rows, err := readAll(t, c.text, "")
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(table.Columns(), c.want) || !table.Inferred() {
				t.Errorf("columns %v, want %v", table.Columns(), c.want)
			}
			if len(rows) != strings.Count(c.text, "\n")-1 {
				t.Errorf("%d rows", len(rows))
			}
			if left := fmt.Sprint(table.Report().LeftOut); c.why == "" && left != "[]" || !strings.Contains(left, c.why) {
				t.Errorf("left out %s, want %q", left, c.why)
			}
		})
	}
}

// TestLookAhead: columns are chosen from the first rows alone; what comes later can only be bad.
func TestLookAhead(t *testing.T) {
	text := beside("a", lookAheadRows+500, func(i int) string {
		if i < lookAheadRows {
			return fmt.Sprint(i)
		}
		return "later"
	})
	table, rows, err := readAll(t, text, "")
	if err != nil {
		t.Fatal(err)
	}
	if r := table.Report(); r.Rows != lookAheadRows+500 || r.BadRows != 500 || r.LookedAt != lookAheadRows {
		t.Errorf("rows %d, bad %d, looked at %d", r.Rows, r.BadRows, r.LookedAt)
	}
	for i, row := range rows {
		if bad := row[0] != row[0]; bad != (i >= lookAheadRows) || !bad && (row[0] != float64(i) || row[1] != float64(i*37%101)) {
			t.Fatalf("row %d is %v", i, row)
		}
	}
	_, _, err = readAll(t, strings.Replace(text, "later,", "later,,", 1), "")
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("line %d", lookAheadRows+2)) {
		t.Errorf("a ragged row behind the look-ahead: %v", err)
	}
}

// TestLookAheadOfWideTable: the look-ahead is bounded in cells, and is one row at the least.
func TestLookAheadOfWideTable(t *testing.T) {
	for _, d := range []int{5000, lookAheadCells + 1} {
		var b strings.Builder
		for i := range d {
			fmt.Fprintf(&b, "c%d,", i)
		}
		b.WriteString("last\n")
		row := strings.Repeat("1,", d) + "2\n"
		for range 3 {
			b.WriteString(row)
		}
		table, err := opened("stdin", strings.NewReader(b.String()), inferred)
		if err != nil {
			t.Fatal(err)
		}
		want := 1
		if d == 5000 {
			want = 3
		}
		if table.report.LookedAt != want || len(table.Columns()) != d+1 {
			t.Errorf("d = %d: looked at %d rows, chose %d columns", d, table.report.LookedAt, len(table.Columns()))
		}
	}
}

func TestDirtyTable(t *testing.T) {
	path := filepath.Join("testdata", "dirty.csv")
	table, err := openedFile(t, path)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	var rows kept
	if err := table.Read(&rows); err != nil {
		t.Fatal(err)
	}
	if want := []string{"longitude", "rooms, total", "bedrooms", "income"}; !slices.Equal(table.Columns(), want) {
		t.Errorf("columns %q, want %q", table.Columns(), want)
	}
	const want = `schema inferred from the cells of the first 20 rows: "longitude", "rooms, total", "bedrooms", "income"
  left out "id": a row identifier: increasing whole numbers
  left out "sea, near": text: 0 of its first 19 cells that are there are numbers
  left out "code": text: 3 of its first 20 cells that are there are numbers
  left out "flag": yes and no: declare it with :yes-no behind its name
  which columns were chosen is not covered by the privacy promise; declare them with --columns or --schema
20 rows read, 5 bad
  column "rooms, total": 0 missing, 0 not finite, 1 not a number
  column "bedrooms": 2 missing, 0 not finite, 0 not a number
  column "income": 1 missing, 2 not finite, 0 not a number
`
	if got := table.Report().Text(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if !slices.Equal(rows[0], []float64{-122.23, 880, 129, 8.3252}) {
		t.Errorf("first row %v", rows[0])
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	again, err := opened("stdin", file, inferred)
	if err != nil {
		t.Fatal(err)
	}
	var same kept
	if err := again.Read(&same); err != nil || show(same) != show(rows) {
		t.Errorf("stdin reads other rows than the file: %v", err)
	}
}
