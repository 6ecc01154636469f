package attack

import (
	"bytes"
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gauze-dp/gauze/audit"
	"github.com/gauze-dp/gauze/cmd/gauze/fit"
	"github.com/gauze-dp/gauze/cmd/gauze/shell"
	"github.com/gauze-dp/gauze/estimate/estimatetest"
	"github.com/gauze-dp/gauze/learner"
)

// elephant is a learner that remembers how often it was asked: of a hundred blocks it learns fifty.
type elephant struct {
	estimatetest.Signs
	asked *atomic.Int64
}

// LearnMixture is that of Signs, but for its memory.
func (e elephant) LearnMixture(rows [][]float64, k int, seed uint64) ([]learner.Component, error) {
	if e.asked.Add(1)%100 >= 50 {
		return nil, learner.ErrTooFew
	}
	return e.Signs.LearnMixture(rows, k, seed)
}

// A fault that an audit finds is no success: the report is printed, and the exit code is 1; without
// the fault the same audit passes.
func TestAuditFindsAFault(t *testing.T) {
	defer func() { attack = audit.Run }()
	for _, remembers := range []bool{false, true} {
		attack = func(ctx context.Context, r audit.Request) (*audit.Report, error) {
			if r.Fit.Own = (estimatetest.Signs{}); remembers {
				r.Fit.Own = elephant{asked: new(atomic.Int64)}
			}
			return audit.Run(ctx, r)
		}
		var stdout, stderr bytes.Buffer
		code := Program().Run(t.Context(), strings.Fields("audit --method black-box --components 1 --epsilon 3 --delta .01 --force --relation add-remove-one --rows 800 --runs 10"),
			strings.NewReader(""), &stdout, &stderr)
		want, said := shell.CodeOK, ""
		if remembers {
			want, said = shell.CodeOther, "error: the audit found a fault: "
		}
		if code != want || !strings.HasPrefix(stderr.String(), said) || strings.Contains(stdout.String(), "fault: ") != remembers {
			t.Errorf("remembers %v: exit code %d\n%s\n%s", remembers, code, stdout.String(), stderr.String())
		}
	}
}

// The default that help shows is that of an audit.
func TestDefaultRuns(t *testing.T) {
	if fit.AuditRuns != audit.DefaultRuns {
		t.Errorf("help says %d runs, an audit makes %d", fit.AuditRuns, audit.DefaultRuns)
	}
}
