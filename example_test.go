package gauze_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/source"
)

// fit is what follows on an input, wherever its rows are from.
func fit(in *gauze.Input, err error) error {
	if err != nil {
		return err
	}
	defer in.Close()
	table, err := in.Load(privacy.ReplaceOne, nil)
	if err != nil {
		return err
	}
	request := in.Request()
	request.Relation, request.Budget, request.Components = privacy.ReplaceOne, privacy.Budget{Epsilon: 1, Delta: 1e-6}, 1
	result, err := gauze.Fit(context.Background(), table, request)
	if err != nil || result.NoRelease != nil {
		return fmt.Errorf("no release: %v, %v", err, result)
	}
	fmt.Printf("a model of %q, epsilon = %g\n", result.Release.Model.Columns, result.Release.Certificate.Epsilon)
	return nil
}

// person makes one up.
func person() []float64 { return []float64{50 + 10*rand.NormFloat64(), 25 + 4*rand.NormFloat64()} }

func ExampleFromRows() {
	var rows [][]float64
	for range 20_000 {
		rows = append(rows, person())
	}
	if err := fit(gauze.FromRows(rows, gauze.Named("age", "bmi")...)); err != nil {
		fmt.Println(err)
	}
	// Output: a model of ["age" "bmi"], epsilon = 1
}

func ExampleFromSeq() {
	people := func(yield func([]float64) bool) {
		for range 20_000 {
			if !yield(person()) {
				return
			}
		}
	}
	least := 0.0
	if err := fit(gauze.FromSeq(people, source.Column{Name: "age", AtLeast: &least, Label: "Age", UnitOfMeasure: "years"}, source.Column{Name: "bmi"})); err != nil {
		fmt.Println(err)
	}
	// Output: a model of ["age" "bmi"], epsilon = 1
}

func ExampleFromSQL() {
	db, err := sql.Open("sqlite", "clinic.db") // any driver will do
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	rows, err := db.Query("SELECT patient, age, bmi FROM visits")
	if err != nil {
		fmt.Println(err)
		return
	}
	// What is protected is a patient with all of their visits.
	schema := &source.Schema{Columns: gauze.Named("age", "bmi"), Unit: "patient"}
	if err := fit(gauze.FromSQL(rows, schema)); err != nil {
		fmt.Println(err)
	}
}

// lines is a reader of lines such as "age=50 bmi=25".
type lines struct {
	text *bufio.Scanner
	pick []int
}

func (l *lines) Header() []string        { return []string{"age", "bmi"} }
func (l *lines) Select(columns, _ []int) { l.pick = columns }
func (l *lines) Close() error            { return nil }
func (l *lines) Next(values []float64, kinds []source.Kind, _ []string) error {
	if !l.text.Scan() {
		if err := l.text.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	var cells [2]float64
	_, err := fmt.Sscanf(l.text.Text(), "age=%g bmi=%g", &cells[0], &cells[1])
	for i, j := range l.pick {
		if values[i], kinds[i] = source.Cell(cells[j]); err != nil {
			kinds[i] = source.NotNumber
		}
	}
	return nil
}

func ExampleFromReader() {
	var text strings.Builder
	for range 20_000 {
		p := person()
		fmt.Fprintf(&text, "age=%g bmi=%g\n", p[0], p[1])
	}
	reader := &lines{text: bufio.NewScanner(strings.NewReader(text.String()))}
	if err := fit(gauze.FromReader(reader, &source.Schema{Columns: gauze.Named("bmi")})); err != nil {
		fmt.Println(err)
	}
	// Output: a model of ["bmi"], epsilon = 1
}
