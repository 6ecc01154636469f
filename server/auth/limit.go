package auth

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Limit bounds the requests of each person: so many per second in the long run, and so many at
// once.
type Limit struct {
	PerSecond float64
	Burst     int
	Now       func() time.Time // Required.

	mu   sync.Mutex
	each map[string]*rate.Limiter
}

// mostKnown is the number of people that are remembered; then all are forgotten, rather than
// refused. A guess.
const mostKnown = 100_000

// Wait returns how long somebody has to wait; 0 if a request is allowed now, which is then counted.
func (l *Limit) Wait(who string) time.Duration {
	now := l.Now()
	one := l.of(who).ReserveN(now, 1)
	if !one.OK() {
		return time.Second
	}
	wait := one.DelayFrom(now)
	if wait > 0 {
		one.CancelAt(now)
	}
	return wait
}

// Left reports whether Wait would allow a request now.
func (l *Limit) Left(who string) bool { return l.of(who).TokensAt(l.Now()) >= 1 }

func (l *Limit) of(who string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.each) >= mostKnown || l.each == nil {
		l.each = map[string]*rate.Limiter{}
	}
	if l.each[who] == nil {
		l.each[who] = rate.NewLimiter(rate.Limit(l.PerSecond), l.Burst)
	}
	return l.each[who]
}
