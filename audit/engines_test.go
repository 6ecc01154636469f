package audit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/gauze-dp/gauze"
	"github.com/gauze-dp/gauze/kernel"
	"github.com/gauze-dp/gauze/kernel/kerneltest"
	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/kernel/sharded"
)

// A store is a room in memory that workers find: every chunk is a shard.
type store struct {
	all   [][]float64
	texts sync.Map
}

func (s *store) Chunk(n int) []float64 {
	s.all = append(s.all, make([]float64, 0, n))
	return s.all[len(s.all)-1]
}

func (*store) Leave([]float64) {}
func (*store) Key() string     { return "drawn" }
func (*store) Err() error      { return nil }

func (s *store) Place(chunk []float64) (shard, at int, ok bool) {
	for i, c := range s.all {
		if &c[:1][0] == &chunk[0] {
			return i, 0, true
		}
	}
	return 0, 0, false
}

func (s *store) Rows(shard, at, n int) ([]float64, func(), error) {
	return s.all[shard][at : at+n], func() {}, nil
}

func (s *store) Write(name string, text []byte) error { s.texts.Store(name, text); return nil }
func (s *store) Remove(name string) error             { s.texts.Delete(name); return nil }

func (s *store) Read(name string) ([]byte, error) {
	if text, ok := s.texts.Load(name); ok {
		return text.([]byte), nil
	}
	return nil, errors.New("no such text")
}

func (s *store) Names(prefix string) (names []string, err error) {
	s.texts.Range(func(name, _ any) bool {
		if strings.HasPrefix(name.(string), prefix) {
			names = append(names, name.(string))
		}
		return true
	})
	return names, nil
}

// TestWorkers: the audit of fits whose rows workers read: nothing that a replay could find, and no
// bound above a claim.
//
// False-alarm rate: 1e-6 for each of four audits, and far less as so few runs can prove little.
func TestWorkers(t *testing.T) {
	for method, relation := range map[string]privacy.Relation{"gaussian": privacy.ReplaceOne, "general": privacy.AddRemoveOne,
		"univariate": privacy.AddRemoveOne, "axis-aligned": privacy.ReplaceOne} {
		fit := gauze.Request{Method: method, Relation: relation, Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6}, Columns: gauze.Named("x1")}
		audited, stores, asked := frontDoor(fit, 0, nil), sync.Map{}, sync.Map{}
		audited.table = func(rows [][]float64, d int, r privacy.Relation, script *kerneltest.Script) *kernel.Table {
			own := &store{}
			script.Room = own
			table := kerneltest.Observed(rows, d, r, script)
			stores.Store(table, own)
			return table
		}
		audited.run = func(ctx context.Context, _ [][]float64, table *kernel.Table) (*gauze.Result, error) {
			s, _ := stores.Load(table)
			own := fit
			own.Engine = sharded.New(s.(*store), schedule(func(ctx context.Context, items []string) error {
				asked.Store(table, true)
				return sharded.Here{Store: s.(*store)}.Run(ctx, items)
			}))
			return gauze.Fit(ctx, table, own)
		}
		report, err := run(t.Context(), Request{Fit: fit, Rows: 9000, Columns: 1, Runs: 2, scouts: 1, few: 2}, audited)
		if err != nil {
			t.Errorf("%s: %v", method, err)
			continue
		}
		fits := 0
		stores.Range(func(table, _ any) bool {
			if _, ok := asked.Load(table); !ok {
				t.Errorf("%s: no worker was asked", method)
			}
			fits++
			return true
		})
		if !report.Passed() || report.Whole == nil || fits < 4 {
			t.Errorf("%s, %v, %d fits: %s", method, relation, fits, report)
		}
	}
}

type schedule func(ctx context.Context, items []string) error

func (s schedule) Run(ctx context.Context, items []string) error { return s(ctx, items) }
