// Package service defines what can be done on the server, and by whom. The JSON interface and the
// pages share it. Every function takes the person who asks.
//
// An analyst sees nothing here that depends on a row and was not paid for. Plans and fits are
// checked by public facts; a fit's cost stays reserved whatever its rows do; and its outcome shows
// on the schedule of server/store. Errors are constant sentences, or describe the request. Whatever
// depends on rows (whether an input could be read, how many rows it had where that is private, why
// a fit failed) is in fields that only the data set's custodian gets.
package service

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"sync"
	"time"

	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/rows"
	"github.com/gauze-dp/gauze/server/store"
)

// A Service carries out people's requests.
type Service struct {
	Store *store.Store
	Now   func() time.Time
	// Wake tells the workers that there may be a fit to begin, and Stop that a fit is no longer
	// wanted.
	Wake func()
	Stop func(id string)
	Limits

	mu      sync.Mutex
	planned map[[sha256.Size]byte]planned // by the digest of the request
}

// Limits protect the server from overload.
type Limits struct {
	Workers int // fits at the same time
	Rate    store.Rate
	Horizon time.Duration // how far ahead a fit may begin
	Waiting int           // fits of one analyst whose slots have not ended
	Memory  int64         // of a fit's table, bytes
	// Places are where inputs may be.
	Places *rows.Places
	// Plans bounds how many plans are made at the same time: beyond that, a request is told to try
	// again.
	Plans chan struct{}
	// Requests bounds how often an analyst sends requests.
	Requests *auth.Limit
}

var validID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// drawnID returns a name that nobody can guess.
func drawnID() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails: the program ends if it cannot
	return hex.EncodeToString(b)
}
