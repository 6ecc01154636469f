package server

import (
	"strings"
	"testing"
	"time"
)

// TestMetricsText: what is counted is written in Prometheus' text format, always in one order.
func TestMetricsText(t *testing.T) {
	m := newMetrics()
	m.seen("GET /b", 200, 3*time.Millisecond)
	m.seen("GET /b", 404, time.Minute)
	m.seen("", 500, 0)
	m.seen("GET /\"\n\\", 200, 0)
	var b strings.Builder
	if err := m.write(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# TYPE gauze_request_seconds histogram\n", "# TYPE gauze_requests_total counter\n",
		`gauze_request_seconds_bucket{route="GET /b",le="0.002"} 0` + "\n", `gauze_request_seconds_bucket{route="GET /b",le="0.004"} 1` + "\n",
		`gauze_request_seconds_bucket{route="GET /b",le="+Inf"} 2` + "\n", `gauze_request_seconds_sum{route="GET /b"} 60.003` + "\n", `gauze_request_seconds_count{route="GET /b"} 2` + "\n",
		`gauze_requests_total{route="GET /b",status="404"} 1` + "\n", `gauze_requests_total{route="none",status="500"} 1` + "\n",
		`gauze_requests_total{route="GET /\"\n\\",status="200"} 1` + "\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	var again strings.Builder
	if err := m.write(&again); err != nil || again.String() != b.String() {
		t.Errorf("the second time:\n%s", again.String())
	}
}
