package server

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gauze-dp/gauze/server/api"
	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/server/store"
)

// metrics count requests by route. They count nothing of a data set, and nothing of the process
// either: its memory and its time depend on the rows that fits read.
type metrics struct {
	mu       sync.Mutex
	requests map[[2]string]int // by route and status
	took     map[string]*times // by route
}

// times counts how long answers took.
type times struct {
	within [len(bounds)]int // up to each bound
	count  int
	sum    float64 // seconds
}

// bounds are the times, in seconds, up to which answers are counted.
var bounds = [...]float64{.001, .002, .004, .008, .016, .032, .064, .128, .256, .512, 1.024, 2.048, 4.096, 8.192}

func newMetrics() *metrics { return &metrics{requests: map[[2]string]int{}, took: map[string]*times{}} }

// seen counts an answer.
func (m *metrics) seen(route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[[2]string{route, strconv.Itoa(status)}]++
	t := m.took[route]
	if t == nil {
		t = &times{}
		m.took[route] = t
	}
	for i, bound := range bounds {
		if took.Seconds() <= bound {
			t.within[i]++
		}
	}
	t.count++
	t.sum += took.Seconds()
}

// labels escapes the values of labels.
var labels = strings.NewReplacer("\\", `\\`, "\"", `\"`, "\n", `\n`)

// write writes the counts in Prometheus' text format.
func (m *metrics) write(w io.Writer) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var b bytes.Buffer
	b.WriteString("# HELP gauze_request_seconds How long answers took.\n# TYPE gauze_request_seconds histogram\n")
	for _, route := range slices.Sorted(maps.Keys(m.took)) {
		t, name := m.took[route], labels.Replace(route)
		for i, bound := range bounds {
			fmt.Fprintf(&b, "gauze_request_seconds_bucket{route=\"%s\",le=\"%v\"} %d\n", name, bound, t.within[i])
		}
		fmt.Fprintf(&b, "gauze_request_seconds_bucket{route=\"%s\",le=\"+Inf\"} %d\n", name, t.count)
		fmt.Fprintf(&b, "gauze_request_seconds_sum{route=\"%s\"} %v\ngauze_request_seconds_count{route=\"%s\"} %d\n", name, t.sum, name, t.count)
	}
	b.WriteString("# HELP gauze_requests_total Requests by route and status.\n# TYPE gauze_requests_total counter\n")
	for _, of := range slices.SortedFunc(maps.Keys(m.requests), func(x, y [2]string) int { return slices.Compare(x[:], y[:]) }) {
		fmt.Fprintf(&b, "gauze_requests_total{route=\"%s\",status=\"%s\"} %d\n", labels.Replace(of[0]), of[1], m.requests[of])
	}
	_, err := w.Write(b.Bytes())
	return err
}

// metrics answers requests from the networks allowed, and from custodians.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request, m *metrics, a *api.API) {
	if !s.near(r) {
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if t, err := a.Keeper.Token(r.Context(), token); err != nil || t.Role != store.Custodian {
			api.WriteProblem(w, service.Forbidden(store.Custodian))
			return
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_ = m.write(w) // who asked has left
}

// near reports whether a request comes from a network that may ask for metrics. Behind a proxy all
// addresses are the proxy's, so it reports false.
func (s *Server) near(r *http.Request) bool {
	if s.config.BehindProxy || r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != "" {
		return false
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	for _, network := range s.config.MetricsFrom {
		if network.Contains(address.Unmap()) {
			return true
		}
	}
	return false
}
