package main

import (
	"database/sql"
	"log"
	"math/rand/v2"

	_ "modernc.org/sqlite"
)

// madeUp returns n people, each with an age and a body mass index.
func madeUp(n int) (people [][]float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		people = append(people, []float64{50 + 10*rng.NormFloat64(), 25 + 4*rng.NormFloat64()})
	}
	return people
}

// stored returns a database in memory that holds them.
func stored(people [][]float64) *sql.DB {
	db := must(sql.Open("sqlite", ":memory:"))
	db.SetMaxOpenConns(1) // a database in memory is one connection's
	must(db.Exec("CREATE TABLE people (age REAL, bmi REAL)"))
	insert := must(db.Prepare("INSERT INTO people VALUES (?, ?)"))
	defer insert.Close()
	for _, p := range people {
		must(insert.Exec(p[0], p[1]))
	}
	return db
}

// must returns the value of a call that did not fail; the program ends if it did.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
