package server

import (
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gauze-dp/gauze/server/api"
	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/server/store"
)

// metrics count requests by route. They count nothing of a data set, and nothing of the process
// either: its memory and its time depend on the rows that fits read.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	took     *prometheus.HistogramVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "gauze_requests_total", Help: "Requests by route and status."}, []string{"route", "status"}),
		took:     prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "gauze_request_seconds", Help: "How long answers took.", Buckets: prometheus.ExponentialBuckets(.001, 2, 14)}, []string{"route"}),
	}
	m.registry.MustRegister(m.requests, m.took)
	return m
}

// seen counts an answer.
func (m *metrics) seen(route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.took.WithLabelValues(route).Observe(took.Seconds())
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
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(w, r)
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
