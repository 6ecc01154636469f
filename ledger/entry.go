package ledger

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// The kinds of entries.
const (
	kindGrant    = "grant"
	kindWithdraw = "withdraw" // the unspent budget
	kindReserve  = "reserve"
	kindSettle   = "settle"      // the exact cost replaces the foreseen one
	kindReturn   = "return"      // nothing was measured
	kindReleased = "released"    // ended with a release
	kindNone     = "no-release"  // ended without one
	kindFailed   = "interrupted" // ended by a fault or a signal after it had begun to measure
	kindNote     = "note"        // somebody did something; no account changes
)

// Terms are the parts of a fit's request that its account needs. All of it is public.
type Terms struct {
	Relation string  `json:"relation"`
	Unit     string  `json:"unit,omitempty"` // the column of persons, "" where a row is one
	Epsilon  float64 `json:"epsilon,omitempty"`
	Delta    float64 `json:"delta,omitempty"`
	Rho      float64 `json:"rho,omitempty"`
	Method   string  `json:"method,omitempty"`
}

// An entry is a line of the ledger. Its canonical bytes are its JSON, fields in this order.
type entry struct {
	Seq     int64  `json:"seq"` // 1, 2, ..
	Kind    string `json:"kind"`
	Dataset string `json:"dataset"`
	Time    string `json:"time"` // UTC, to the second
	// Of is the number of the entry that reserved the cost which this one is about; 0 for grants
	// and reservations, which start something.
	Of    int64   `json:"of,omitempty"`
	Grant *Amount `json:"grant,omitempty"`
	Terms *Terms  `json:"terms,omitempty"`
	Cost  *Cost   `json:"cost,omitempty"`
	// Source is a fingerprint of the input before a row is read, Content one of all of it; "" where
	// there is none.
	Source  string `json:"source,omitempty"`
	Content string `json:"content,omitempty"`
	Note    *Note  `json:"note,omitempty"`
	After   state  `json:"after"`
}

// A line is an entry as it is stored: its canonical bytes, their hash chained to the hash of the
// line before, and a code of that hash under the ledger's key.
type line struct {
	seq           int64
	dataset, of   string
	body          string
	hash, mac     string
	source, print string // copied from the entry, for look-ups
}

// origin returns the hash that the first entry follows.
func origin(id string) string { return digest("gauze/ledger/v1", id) }

// digest returns the SHA-256 of its arguments, each behind its length.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// code returns the HMAC of its arguments, each behind its length.
func code(key []byte, parts ...string) string {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// seal returns the line of an entry that follows the hash prev.
func (e entry) seal(key []byte, prev string) (line, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return line{}, fmt.Errorf("ledger: entry %d: %w", e.Seq, err)
	}
	l := line{seq: e.Seq, dataset: e.Dataset, of: fmt.Sprint(e.Of), body: string(body), source: e.Source, print: e.Content}
	l.hash = digest("entry", prev, l.body)
	l.mac = code(key, "entry", l.hash)
	return l, nil
}

// open reads a line's entry, and checks all of the line against its body, against the hash before
// it, where that is known, and against the key, where there is one.
func (l line) open(key []byte, prev string) (entry, error) {
	var e entry
	bad := func(what string) (entry, error) {
		return e, &BrokenError{Seq: l.seq, What: what}
	}
	in := json.NewDecoder(bytes.NewReader([]byte(l.body)))
	in.DisallowUnknownFields()
	if err := in.Decode(&e); err != nil {
		return bad("cannot be read")
	}
	again, err := e.seal(key, prev)
	switch {
	case err != nil || again.body != l.body:
		return bad("is not written as this program writes entries")
	case again.seq != l.seq || again.dataset != l.dataset || again.of != l.of || again.source != l.source || again.print != l.print:
		return bad("was renumbered or renamed")
	case prev != "" && again.hash != l.hash:
		return bad("was altered, or does not follow the entry before it")
	case key != nil && !hmac.Equal([]byte(code(key, "entry", l.hash)), []byte(l.mac)):
		return bad("was not written with this ledger's key")
	}
	return e, nil
}

// A head holds the number of a ledger's entries and the hash of the last, with its code.
type head struct {
	id    string // drawn when the ledger was made
	count int64
	hash  string
	mac   string
}

func (h head) sealed(key []byte) head {
	h.mac = code(key, "head", h.id, fmt.Sprint(h.count), h.hash)
	return h
}

func (h head) check(key []byte) error {
	if !hmac.Equal([]byte(h.sealed(key).mac), []byte(h.mac)) {
		return &BrokenError{What: "the head, which says how many entries there are, was not written with this ledger's key"}
	}
	return nil
}

// A BrokenError reports that a ledger is not as it was written.
type BrokenError struct {
	Seq  int64 // of the entry, 0 for the whole
	What string
}

func (e *BrokenError) Error() string {
	if e.Seq == 0 {
		return "ledger: " + e.What
	}
	return fmt.Sprintf("ledger: entry %d %s", e.Seq, e.What)
}

// A RefusedError reports that too little is left of an account. Nothing was spent.
type RefusedError struct {
	Dataset, Why string
	Left         Amount // the most that one more fit may ask; zero for nothing
	Hint         string // what can be done, if the reader is no custodian; "" otherwise
}

// Error returns the text for the custodian.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("ledger: data set %q: %s%s", e.Dataset, e.Why, e.May())
}

// May returns the most that one more fit may ask, in words; "" if that is nothing.
func (e *RefusedError) May() string {
	if e.Left.Epsilon == 0 {
		return ""
	}
	return fmt.Sprintf("; one more fit may ask for epsilon = %s at delta = %.4g", roundedDown(e.Left.Epsilon), e.Left.Delta)
}

// roundedDown returns the text of a number of at most x, so that what it says can be asked.
func roundedDown(x float64) string {
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return fmt.Sprintf("%.3g", math.Floor(x/unit)*unit)
}

// stamp returns a time in the form that entries have.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
