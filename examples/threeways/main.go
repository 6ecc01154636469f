// Command threeways fits the same people three times: from memory, from an iterator and from a
// database. It is a module of its own, as yours would be. What Gauze asks for is in this file's two
// functions, and nothing of it elsewhere: people.go makes the people up.
package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/source"
)

func main() {
	people, columns := madeUp(20_000), gauze.Named("age", "bmi")
	rows := must(stored(people).Query("SELECT age, bmi FROM people"))
	fmt.Println("memory:", fit(gauze.FromRows(people, columns...)))
	fmt.Println("iterator:", fit(gauze.FromSeq(slices.Values(people), columns...)))
	fmt.Println("database:", fit(gauze.FromSQL(rows, &source.Schema{Columns: columns})))
}

func fit(in *gauze.Input, err error) string {
	defer must(in, err).Close()
	request := in.Fill(gauze.Request{Relation: privacy.ReplaceOne, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Components: 1})
	result := must(gauze.Fit(context.Background(), must(in.Load(request.Relation, nil)), request))
	if result.NoRelease != nil {
		return result.NoRelease.Reason
	}
	return fmt.Sprint(result.Release.Model.Columns, result.Release.Certificate.Spent.Epsilon <= 1)
}
