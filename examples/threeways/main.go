// Command threeways fits the same people three times: from memory, from an iterator and from a
// database. It is a module of its own, as yours would be.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"math/rand/v2"
	"slices"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/source"
	_ "modernc.org/sqlite"
)

func fit(in *gauze.Input, err error) string {
	check(err)
	defer in.Close()
	table, err := in.Load(privacy.ReplaceOne, nil)
	check(err)
	request := in.Request()
	request.Relation, request.Budget = privacy.ReplaceOne, privacy.Budget{Epsilon: 1, Delta: 1e-6}
	request.Components = 1
	result, err := gauze.Fit(context.Background(), table, request)
	check(err)
	if result.NoRelease != nil {
		return result.NoRelease.Reason
	}
	return fmt.Sprint(result.Release.Model.Columns, result.Release.Certificate.Spent.Epsilon <= 1)
}

func main() {
	db, err := sql.Open("sqlite", ":memory:")
	check(err)
	db.SetMaxOpenConns(1) // a database in memory is one connection's
	_, err = db.Exec("CREATE TABLE people (age REAL, bmi REAL)")
	check(err)
	var people [][]float64
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 { // made up
		p := []float64{50 + 10*rng.NormFloat64(), 25 + 4*rng.NormFloat64()}
		people = append(people, p)
		_, err = db.Exec("INSERT INTO people VALUES (?, ?)", p[0], p[1])
		check(err)
	}
	fmt.Println("memory:", fit(gauze.FromRows(people, gauze.Named("age", "bmi")...)))
	fmt.Println("iterator:", fit(gauze.FromSeq(slices.Values(people), gauze.Named("age", "bmi")...)))
	rows, err := db.Query("SELECT age, bmi FROM people")
	check(err)
	fmt.Println("database:", fit(gauze.FromSQL(rows, &source.Schema{Columns: gauze.Named("age", "bmi")})))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
