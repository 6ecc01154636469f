// Package server is `gauze serve`: it connects the store, authentication, the workers and the HTTP
// handlers, listens, and stops.
package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/parallel"
	"github.com/gauze-dp/gauze/release/signature"
	"github.com/gauze-dp/gauze/server/api"
	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/pages"
	"github.com/gauze-dp/gauze/server/rows"
	"github.com/gauze-dp/gauze/server/service"
	"github.com/gauze-dp/gauze/server/store"
)

// A Server is ready to listen.
type Server struct {
	config  Config
	now     func() time.Time
	log     *slog.Logger
	store   *store.Store
	workers *Workers
	handler http.Handler
	healthy healthy
}

// Limits on requests. Guesses.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 30 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = 2 * time.Minute
	mostHeader    = 16 << 10
	plansAtOnce   = 4
	burst         = 4 // of PerSecond
)

// New opens the database and connects the parts. Fits that had been running have failed, and their
// cost stays spent.
func New(ctx context.Context, c Config, now func() time.Time, log *slog.Logger) (*Server, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	places, err := rows.NewPlaces(c.Data, c.Connections, c.Database, c.Key, c.SigningKey, c.TLSKey, c.OIDC.Secret)
	if err != nil {
		return nil, err
	}
	st, err := store.Open(ctx, c.Database, c.Key, now)
	if err != nil {
		return nil, err
	}
	if err := st.Alone(ctx, c.Database); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	cut, err := st.Recover(ctx, c.Workers)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	if cut > 0 {
		log.Warn("fits had been cut off: they have failed, and their cost stays spent", "fits", cut)
	}
	public, err := signing(st, c.SigningKey)
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	run := func(ctx context.Context, d store.Dataset, request json.RawMessage, day time.Time) store.Outcome {
		return places.Fit(ctx, st.Ledger().Fingerprint, d, request, day)
	}
	s := &Server{config: c, now: now, log: log, store: st, workers: NewWorkers(st, run, now, log, c.Workers)}
	limits := service.Limits{Workers: c.Workers, Rate: store.Rate{Least: c.SlotLeast, PerCell: c.SlotPerCell}, Horizon: c.Horizon,
		Waiting: c.Waiting, Memory: c.Memory, Places: places, Plans: make(chan struct{}, plansAtOnce),
		Requests: &auth.Limit{PerSecond: c.PerSecond, Burst: int(burst*c.PerSecond) + 1, Now: now}}
	a := &api.API{
		Service: &service.Service{Store: st, Now: now, Wake: s.workers.Wake, Stop: s.workers.Stop, Limits: limits},
		Keeper:  auth.New(st, now), Log: log, SigningKeys: public,
	}
	var signIn *auth.Provider
	if c.OIDC.Issuer != "" {
		if signIn, err = auth.NewProvider(ctx, c.OIDC, now); err != nil {
			return nil, errors.Join(err, st.Close())
		}
		a.Keeper.Other = func(ctx context.Context, token string) (store.Person, error) { return signIn.Person(ctx, token, "") }
	}
	s.handler = s.mux(a, signIn)
	return s, nil
}

// signing makes the store sign releases with the key of a file, and returns the public keys beside
// it.
func signing(st *store.Store, file string) (public []byte, err error) {
	if file == "" {
		return nil, nil
	}
	key, public, err := signature.Own(file, "gauze-serve")
	if err != nil {
		return nil, &privacy.FieldError{Field: "signing-key", Wanted: "a private key of this server's own", Got: strings.TrimPrefix(err.Error(), "signature: "),
			Fix: "name a file that is not there, and a key is made"}
	}
	st.Sign = func(text string) (string, error) {
		signed, err := signature.Sign(key, []byte(text))
		return string(signed), err
	}
	return public, nil
}

// mux returns the handler of everything that is served.
func (s *Server) mux(a *api.API, signIn *auth.Provider) http.Handler {
	mux, m := http.NewServeMux(), newMetrics()
	a.Register(mux)
	shown := &pages.Pages{Service: a.Service, Keeper: a.Keeper, Log: s.log, Secure: s.secure()}
	if signIn != nil {
		shown.Elsewhere = auth.SignInStart
		signIn.Register(mux, s.secure(), func(w http.ResponseWriter, r *http.Request, p store.Person) error {
			cookie, err := a.Keeper.BeginFor(r.Context(), p)
			if err == nil {
				shown.Begin(w, cookie)
			}
			return err
		})
	}
	shown.Register(mux)
	for _, base := range []string{"", api.Base} {
		mux.HandleFunc("GET "+base+"/healthz", s.health)
		mux.HandleFunc("GET "+base+"/metrics", func(w http.ResponseWriter, r *http.Request) { s.metrics(w, r, m, a) })
	}
	return secured(api.Logged(mux, s.log, s.now, m.seen), s.config.TLSCert != "")
}

// secure reports whether browsers reach the server by TLS, whoever terminates it.
func (s *Server) secure() bool { return s.config.TLSCert != "" || s.config.BehindProxy }

// Handler returns the server's handler, for tests and for programs that listen in another way.
func (s *Server) Handler() http.Handler { return s.handler }

// secured sets the headers that every answer has.
func secured(next http.Handler, overTLS bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		if overTLS {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

// healthPause is how long an answer of health counts, so that requests cannot make the server write
// to disk more often.
const healthPause = time.Second

// healthy is the last answer of health.
type healthy struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// health answers whether the database answers and can be written to, as every fit has to.
func (s *Server) health(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	s.healthy.mu.Lock()
	defer s.healthy.mu.Unlock()
	if now := s.now(); now.Sub(s.healthy.at) >= healthPause {
		ctx, done := context.WithTimeout(context.WithoutCancel(r.Context()), readTimeout) // a client that went away must not make it fail
		s.healthy.at, s.healthy.err = now, s.store.Ping(ctx)
		done()
	}
	if s.healthy.err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		w.Write([]byte(`{"status": "the database does not answer, or cannot be written to"}` + "\n"))
		return
	}
	w.Write([]byte(`{"status": "ok"}` + "\n"))
}

// Run listens, and reports the address; it serves and works until ctx ends, and then closes the
// database. Fits that run then have the time of grace to end.
func (s *Server) Run(ctx context.Context, listening func(address string)) error {
	defer s.store.Close()
	listener, err := net.Listen("tcp", s.config.Listen)
	if err != nil {
		return err
	}
	listening(listener.Addr().String())
	web := &http.Server{Handler: s.handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: mostHeader, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	compute, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	ended := make(chan struct{}, s.config.Workers)
	var fault, lost error
	parallel.Run(3+s.config.Workers, func(i int) {
		defer stop() // when one ends, all end
		switch i {
		case 0:
			if fault = s.serve(web, listener); errors.Is(fault, http.ErrServerClosed) {
				fault = nil
			}
		case 1:
			<-ctx.Done()
			s.shutdown(web, ended)
			kill()
		case 2:
			lost = s.store.Watch(ctx, s.config.Database)
		default:
			defer func() { ended <- struct{}{} }()
			s.workers.Work(ctx, compute, i-3)
		}
	})
	if lost != nil {
		lost = fmt.Errorf("the server has lost its database: %w", lost)
	}
	return errors.Join(fault, lost)
}

func (s *Server) serve(web *http.Server, listener net.Listener) error {
	if s.config.TLSCert == "" {
		return web.Serve(listener)
	}
	web.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	return web.ServeTLS(listener, s.config.TLSCert, s.config.TLSKey)
}

// shutdown lets requests and fits end, for as long as grace is.
func (s *Server) shutdown(web *http.Server, ended <-chan struct{}) {
	grace, done := context.WithTimeout(context.Background(), s.config.Grace)
	defer done()
	if err := web.Shutdown(grace); err != nil {
		web.Close()
	}
	for range s.config.Workers {
		select {
		case <-ended:
		case <-grace.Done():
			return
		}
	}
}
