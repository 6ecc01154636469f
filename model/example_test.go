package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/gauze-dp/gauze/model"
)

func ExampleCompare() {
	read := func(text string) *model.Mixture {
		m := new(model.Mixture)
		if err := json.Unmarshal([]byte(text), m); err != nil {
			fmt.Println(err)
		}
		return m
	}
	a := read(`{"kind":"gaussian-mixture","weights":[1],"means":[[0]],"covariances":[[[1]]]}`)
	b := read(`{"kind":"gaussian-mixture","weights":[1],"means":[[2]],"covariances":[[[1]]]}`)
	c, err := model.Compare(context.Background(), a, b, 100000, rand.New(rand.NewPCG(1, 2)))
	fmt.Printf("TV %.2f, Hellinger %.4f, KL %.1f nats, matching %v %v\n", c.TV, c.Hellinger, c.KLAB, c.Matching, err)
	// Output: TV 0.68, Hellinger 0.6273, KL 2.0 nats, matching [[0 0]] <nil>
}
