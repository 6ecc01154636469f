package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/source"
)

const (
	// greetings are as many as reach each of a few machines, likely, and greetingRounds how often
	// they are sent until all have come back. Guesses.
	greetings, greetingRounds = 16, 2
	// mostSaid are the characters of what a runner says that are repeated. A guess.
	mostSaid = 300
	// Names in the store, and of the work: what is sent, and what comes back.
	greetingName = "greeting"
	greetingItem = "greet."
	greetedName  = "greeted."
)

// isGreeting says that an item of work is one.
func isGreeting(item string) bool { return strings.HasPrefix(item, greetingItem) }

// greet finds what was sent, and says which program this is: the one work that is done for another
// build.
func greet(s store, item string) error {
	_, err := s.Read(greetingName)
	if err == nil {
		err = s.Write(greetedName+strings.TrimPrefix(item, greetingItem), []byte(build()))
	}
	if err != nil {
		return errElement
	}
	return nil
}

// elsewhere says that workers are not of this process: they may be of another program, or not see
// the store.
func elsewhere() bool {
	kind := strings.ToLower(*jobopts.EnvironmentType)
	return runner() != here && kind != "loopback" && (kind != "" || runner() != prism)
}

// greetAll finds out, before a row is read and anything is spent, whether workers elsewhere are of
// this program and see the store: of a sum that they refused nothing would be known but in the
// runner's logs, after it was paid for. What a runner says can be repeated now: it has seen no row.
func (w *workers) greetAll(ctx context.Context) error {
	if !elsewhere() {
		return nil
	}
	if err := w.store.Write(greetingName, nil); err != nil {
		return err
	}
	var said error
	answers, others := 0, 0
	for round := 0; round < greetingRounds && answers < greetings && others == 0 && ctx.Err() == nil; round++ {
		var items []string
		for i := range greetings {
			items = append(items, greetingItem+strconv.Itoa(i))
		}
		if err := parallel.Await(ctx, func() {
			defer func() { _ = recover() }()
			said = w.schedule(w.store).Run(ctx, items)
		}); err != nil {
			return err
		}
		answers, others = w.greeted()
	}
	if ctx.Err() != nil || answers == greetings && others == 0 {
		return ctx.Err()
	}
	got := fmt.Sprintf("%d, and %d of another build", answers, others)
	if said != nil {
		got += fmt.Sprintf("; the runner says: %.*q", mostSaid, said.Error())
	}
	return &source.Error{Field: "workers", Wanted: fmt.Sprintf("%d answers of this program, before any row is read", greetings), Got: got,
		Hint: "have all machines run this very file, as the user that fits, and see --shards under the same name"}
}

// greeted counts the answers of this program and those of others, and takes them back.
func (w *workers) greeted() (answers, others int) {
	for i := range greetings {
		name := greetedName + strconv.Itoa(i)
		text, err := w.store.Read(name)
		switch {
		case err != nil:
			continue
		case string(text) == build():
			answers++
		default:
			others++
		}
		_ = w.store.Remove(name)
	}
	return answers, others
}
