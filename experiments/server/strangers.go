package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// strangers are programs that open the database beside the server, and a custodian who wants it as
// an input: on POSIX the server would lose its locks by reading it, and a program that copies it
// would then remove the log that the server writes to.
type strangers struct {
	f                         *field
	sqlite3                   string // the program, "" where there is none
	inputs                    []string
	copies, asked, taken, odd atomic.Int64
	restored, forgotten       int
	next                      atomic.Int64
}

// strangers puts links to the database into the custodian's folder.
func (f *field) strangers() (*strangers, error) {
	s := &strangers{f: f}
	s.sqlite3, _ = exec.LookPath("sqlite3")
	for i, end := range []string{"", "-wal", "-shm", ".lock", ".key"} {
		to, link := f.database+end, filepath.Join(f.folder, "data", "kim", fmt.Sprint("link", i))
		if err := errors.Join(os.Symlink(to, link+"s"), os.Link(to, link+"h")); err != nil {
			return nil, err
		}
		for _, path := range []string{to, link + "s", link + "h"} {
			s.inputs = append(s.inputs, path, "sqlite:"+path+"?query=select 1 as a")
		}
	}
	return s, nil
}

// programs returns the commands that copy.
func (s *strangers) programs() string {
	said := "by `gauze serve backup` and `restore`"
	if s.sqlite3 != "" {
		said += ", and by `.backup` and `.recover` of sqlite3"
	}
	return said
}

// work copies, and asks for the database, until the round ends. Copying goes on after the server is
// killed, as another program's would.
func (s *strangers) work(ctx context.Context, all *sync.WaitGroup) {
	all.Go(func() {
		for ctx.Err() == nil {
			s.copy()
		}
	})
	all.Go(func() {
		for ctx.Err() == nil {
			input := s.inputs[int(s.next.Add(1))%len(s.inputs)]
			a := s.f.send(ctx, "kim", "POST", api+"/datasets", fmt.Sprintf(`{"name": "x%d", "input": %q, "columns": ["a"]}`, s.next.Load(), input))
			if a.err != nil {
				continue
			}
			s.asked.Add(1)
			if a.status == 201 {
				s.taken.Add(1)
			}
		}
	})
}

// copy copies the database once, by one program after the other.
func (s *strangers) copy() {
	n := s.copies.Add(1)
	out := filepath.Join(s.f.folder, fmt.Sprint("copy", n))
	defer os.Remove(out)
	var err error
	switch {
	case n%3 == 1 && s.sqlite3 != "":
		err = exec.Command(s.sqlite3, s.f.database, ".timeout 10000", ".backup "+out).Run()
	case n%3 == 2 && s.sqlite3 != "":
		exec.Command(s.sqlite3, s.f.database, ".timeout 10000", ".recover").Run() // of 3.40 it ends with an error of its own
	default:
		back := out + ".back"
		err = exec.Command(s.f.program, "serve", "backup", "--database", s.f.database, "--out", out).Run()
		if err == nil {
			err = exec.Command(s.f.program, "serve", "restore", "--database", back, "--ledger-key", s.f.database+".key", "--from", out).Run()
		}
		left, _ := filepath.Glob(back + "*")
		for _, name := range left {
			os.Remove(name)
		}
		s.restored++
	}
	if err != nil {
		s.odd.Add(1)
	}
}

// counts holds the fits of the ledger after a kill against those that analysts were told of.
func (s *strangers) counts(all []account, told int) {
	for _, b := range all {
		if b.Dataset+b.Name == "people" {
			s.forgotten += max(0, told-b.Fits)
		}
	}
}

// claims says what became of it.
func (s *strangers) claims(c *engine.Table) {
	c.Add("copies by other programs, of them restored and verified elsewhere, failed", fmt.Sprintf("%d, %d, %d", s.copies.Load(), s.restored, s.odd.Load()), s.copies.Load() > 0 && s.odd.Load() == 0)
	c.Add("the database, its log, lock or key asked for as an input; taken", fmt.Sprintf("%d; %d", s.asked.Load(), s.taken.Load()), s.asked.Load() > 0 && s.taken.Load() == 0)
	c.Add("fits that analysts were told of and that the ledger had forgotten after a kill", s.forgotten, s.forgotten == 0)
}
