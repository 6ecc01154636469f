package engine

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// A Key says which run a result is of. Two runs of one key and the same parameters differ by
// nothing but the noise.
type Key struct {
	Experiment string `json:"experiment"`
	Cell       string `json:"cell"` // name of a point of the experiment's grid
	Method     string `json:"method"`
	N          int    `json:"n"`
	Seed       uint64 `json:"seed"`
}

// An Outcome is what a run ended in.
type Outcome struct {
	Success bool    `json:"success"`
	Values  Values  `json:"values"`
	Why     string  `json:"why,omitempty"` // there is no model
	Seconds float64 `json:"seconds"`       // of the fit alone
	// Note is what -v prints beside the values.
	Note string `json:"note,omitempty"`
}

// A Result is one line of a results file.
type Result struct {
	Key
	Params any `json:"params,omitempty"` // what the name of the cell stands for
	// Commit is the version of the code that made the run.
	Commit string `json:"commit,omitempty"`
	Outcome
}

// Values are named measurements. In JSON they have five digits, infinities are strings, and NaN is
// left out.
type Values map[string]float64

// MarshalJSON writes the values in the order of their names.
func (v Values) MarshalJSON() ([]byte, error) {
	out := map[string]any{}
	for name, x := range v {
		switch {
		case math.IsNaN(x):
		case math.IsInf(x, 0):
			out[name] = fmt.Sprint(x)
		default:
			out[name] = json.Number(strconv.FormatFloat(x, 'g', 5, 64))
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Values) UnmarshalJSON(text []byte) error {
	var in map[string]any
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	*v = Values{}
	for name, x := range in {
		switch x := x.(type) {
		case float64:
			(*v)[name] = x
		case string:
			f, err := strconv.ParseFloat(x, 64)
			if err != nil {
				return err
			}
			(*v)[name] = f
		default:
			return fmt.Errorf("engine: value %s: wanted a number, got %T", name, x)
		}
	}
	return nil
}

// A store keeps results in a file of JSON lines. It may be used by several goroutines. The nil
// store keeps nothing.
type store struct {
	mu   sync.Mutex
	file *os.File
	done map[entry]Result
}

// An entry tells results apart that differ in parameters which no name tells, like the budget.
type entry struct {
	Key
	params string
}

// entryOf writes the parameters as JSON with the fields of all objects in order, whether they come
// from a struct or from a file.
func entryOf(k Key, params any) (entry, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return entry{}, err
	}
	var loose any
	if err := json.Unmarshal(text, &loose); err != nil {
		return entry{}, err
	}
	text, err = json.Marshal(loose)
	return entry{k, string(text)}, err
}

// errNotEmpty says that a results file holds results already and resume was not asked for: results
// of two versions of a method must not be mixed by accident.
var errNotEmpty = errors.New("the results file is not empty: resume it, or remove it")

// openStore opens or makes the file of that name, and its folder; without a name it is nil. With
// resume the results in it are not measured again; a last line that was cut off by an interruption
// is dropped. The caller closes the store.
func openStore(name string, resume bool) (*store, error) {
	if name == "" {
		return nil, nil
	}
	s := &store{done: map[entry]Result{}}
	whole, err := s.read(name)
	if err != nil {
		return nil, err
	}
	if len(s.done) > 0 && !resume {
		return nil, fmt.Errorf("%s: %w", name, errNotEmpty)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, err
	}
	s.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := s.file.Truncate(whole); err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	if _, err := s.file.Seek(whole, 0); err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

// read reads all whole lines and returns where they end.
func (s *store) read(name string) (whole int64, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return whole, nil // a line without end is one that was cut off
		}
		var r Result
		if err := json.Unmarshal(line, &r); err != nil {
			return 0, fmt.Errorf("%s: after byte %d: %w", name, whole, err)
		}
		e, err := entryOf(r.Key, r.Params)
		if err != nil {
			return 0, err
		}
		s.done[e] = r
		whole += int64(len(line))
	}
}

// Lookup returns the result of a run, if it is there.
func (s *store) Lookup(k Key, params any) (r Result, ok bool, err error) {
	if s == nil {
		return Result{}, false, nil
	}
	e, err := entryOf(k, params)
	if err != nil {
		return Result{}, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok = s.done[e]
	return r, ok, nil
}

// Append adds a result and writes its line.
func (s *store) Append(r Result) error {
	if s == nil {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	e, err := entryOf(r.Key, r.Params)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[e] = r
	_, err = s.file.Write(append(line, '\n'))
	return err
}

// Close closes the file.
func (s *store) Close() error {
	if s == nil {
		return nil
	}
	return s.file.Close()
}
