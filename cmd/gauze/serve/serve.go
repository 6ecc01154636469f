// Package serve is `gauze serve`: its flags, its configuration, and its subcommands.
package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/server"
	"github.com/gauze-dp/gauze/server/auth"
	"github.com/gauze-dp/gauze/server/store"
)

// A Command is `gauze serve`.
type Command struct {
	set         *pflag.FlagSet
	config      string
	server      server.Config
	metricsFrom []string
	role, name  string
	expires     time.Duration
	out, from   string
}

// Register adds the command's flags.
func (c *Command) Register(flags *pflag.FlagSet) {
	c.set = flags
	s := &c.server
	flags.StringVar(&c.config, "config", "", "file with the values of flags, as JSON: {\"listen\": \"127.0.0.1:8080\", ..}; flags that are given count more")
	flags.StringVar(&s.Listen, "listen", "127.0.0.1:8080", "address and port")
	flags.StringVar(&s.Database, "database", "gauze.db", "where all is kept, with the ledger: a SQLite file, made if it is not there, or postgres://..")
	flags.StringVar(&s.Key, "ledger-key", "", "file with the ledger's key, made if it is not there (default: the database's name and .key; for postgres://.. gauze/ledger.key among your settings)")
	flags.StringVar(&s.SigningKey, "signing-key", "", "file with the key that releases are signed with, made if it is not there (default: the database's name and .signing-key; for postgres://.. signing.key beside the ledger's key)")
	flags.StringVar(&s.TLSCert, "tls-cert", "", "file with the certificate of TLS, with those that it rests on")
	flags.StringVar(&s.TLSKey, "tls-key", "", "file with its key")
	flags.BoolVar(&s.BehindProxy, "behind-proxy", false, "a proxy ends TLS and nobody else reaches this address: listen beyond loopback without TLS")
	flags.StringSliceVar(&c.metricsFrom, "metrics-from", []string{"127.0.0.0/8", "::1/128"}, "networks that may ask for /metrics; elsewhere it takes a custodian's token")
	flags.StringSliceVar(&s.Data, "data", nil, "folders of inputs: FOLDER, in which each custodian has one of their name, or CUSTODIAN=FOLDER (default: a folder data beside the database)")
	flags.StringArrayVar(&s.Connections, "connection", nil, "database of inputs: CUSTODIAN/NAME=postgres://.., which this custodian names as connection:NAME?table=T; better in --config, since it may hold a password")
	flags.IntVar(&s.Workers, "workers", 2, "fits at the same time")
	flags.DurationVar(&s.SlotLeast, "slot", 2*time.Second, "least time from a fit's start until what it ended in shows")
	flags.DurationVar(&s.SlotPerCell, "slot-per-cell", 4*time.Microsecond, "what each number of a table adds to that")
	flags.DurationVar(&s.Horizon, "horizon", time.Hour, "how far ahead fits are taken; then 429")
	flags.IntVar(&s.Waiting, "waiting", 20, "fits of one analyst that wait or run at most; then 429")
	flags.Int64Var(&s.Memory, "memory", 2<<30, "bytes that a fit may take: larger data sets are refused")
	flags.Float64Var(&s.PerSecond, "per-second", 50, "requests of one person, in the long run; then 429")
	flags.DurationVar(&s.Grace, "grace", 30*time.Second, "how long fits may go on when the server is told to stop; then they have failed, and their cost stays spent")
	o := &s.OIDC
	flags.StringVar(&o.Issuer, "oidc-issuer", "", "URL of an issuer of OpenID Connect, where people may sign in too")
	flags.StringVar(&o.Client, "oidc-client", "", "the server's name there")
	flags.StringVar(&o.Secret, "oidc-secret", "", "file with its secret there")
	flags.StringVar(&o.Address, "oidc-address", "", "URL by which browsers reach the server")
	flags.StringVar(&o.Claim, "oidc-claim", "groups", "claim that says who has which role")
	flags.StringSliceVar(&o.Custodians, "oidc-custodians", nil, "values of the claim that make somebody a custodian")
	flags.StringSliceVar(&o.Analysts, "oidc-analysts", nil, "values of the claim that make somebody an analyst")
	flags.StringVar(&c.role, "role", "", "of token add: custodian or analyst")
	flags.StringVar(&c.name, "name", "", "of token add: whose it is; of token revoke: whose tokens, or the id of one")
	flags.StringVar(&c.out, "out", "", "of backup, and of token add: a new file, which only you can read")
	flags.StringVar(&c.from, "from", "", "of restore: a backup, to be put in the place of --database, which must not be there")
	flags.DurationVar(&c.expires, "expires", 0, "of token add: after how long, for instance 2160h (default: never)")
}

// Run serves, or does what the words say.
func (c *Command) Run(ctx context.Context, words []string, out, notes io.Writer, asJSON bool, now func() time.Time) error {
	if err := c.configure(); err != nil {
		return err
	}
	switch strings.Join(words, " ") {
	case "":
		return c.serve(ctx, notes, now)
	case "token add", "token list", "token revoke":
		return c.tokens(ctx, words[1], out, notes, asJSON, now)
	case "backup":
		if err := server.WriteBackup(ctx, c.server.Database, c.server.Key, c.out, now); err != nil {
			return err
		}
		_, err := fmt.Fprintf(notes, "written to %s; keep a copy of the key, %s, apart from it\n", c.out, c.server.Key)
		return err
	case "restore":
		head, err := server.RestoreBackup(ctx, c.from, c.server.Database, c.server.Key, now)
		if err == nil {
			_, err = fmt.Fprintf(notes, "restored, its ledger is intact up to %d:%s, and does not know what was spent after that\n", head.Entries, head.Hash)
		}
		return err
	}
	return &privacy.FieldError{Field: "serve", Wanted: "nothing, token add, token list, token revoke, backup or restore", Got: fmt.Sprintf("%q", strings.Join(words, " ")), Fix: "gauze serve --help says what each does"}
}

// configure reads the file of values, and finds the key.
func (c *Command) configure() error {
	if c.config != "" {
		if err := c.readConfig(); err != nil {
			return err
		}
	}
	c.server.MetricsFrom = nil
	for _, text := range c.metricsFrom {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return &privacy.FieldError{Field: "--metrics-from", Wanted: "networks", Got: text, Fix: "for instance 10.0.0.0/8"}
		}
		c.server.MetricsFrom = append(c.server.MetricsFrom, network)
	}
	return c.keys()
}

// keys finds the key files that are not named: beside the database, or among the settings.
func (c *Command) keys() error {
	own, place := &c.server, c.server.Database
	if !strings.HasPrefix(place, "postgres://") && !strings.HasPrefix(place, "postgresql://") {
		own.Key, own.SigningKey = cmp.Or(own.Key, place+".key"), cmp.Or(own.SigningKey, place+".signing-key")
		return nil
	}
	if own.Key == "" {
		folder, err := os.UserConfigDir()
		if err != nil {
			return &privacy.FieldError{Field: "ledger key", Wanted: "a file", Got: "no place for settings", Fix: "name the file with --ledger-key"}
		}
		own.Key = filepath.Join(folder, "gauze", "ledger.key")
		if err := os.MkdirAll(filepath.Dir(own.Key), 0o700); err != nil {
			return err
		}
	}
	own.SigningKey = cmp.Or(own.SigningKey, filepath.Join(filepath.Dir(own.Key), "signing.key"))
	return nil
}

// readConfig sets the flags that a file has values for, except those that are given.
func (c *Command) readConfig() error {
	fault := func(wanted, got string) error {
		return &privacy.FieldError{Field: "--config", Wanted: wanted, Got: got, Fix: `for instance {"listen": "127.0.0.1:8080", "workers": 2}: names are those of the flags`}
	}
	text, err := os.ReadFile(c.config)
	if err != nil {
		return fault("a file that can be read", err.Error())
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return fault("a JSON object", err.Error())
	}
	for name, raw := range values {
		flag := c.set.Lookup(name)
		if flag == nil || name == "config" || name == "json" {
			return fault("names of flags of gauze serve", fmt.Sprintf("%q", name))
		}
		if flag.Changed {
			continue
		}
		var list []string
		many, isList := flag.Value.(pflag.SliceValue)
		err := json.Unmarshal(raw, &list)
		if isList && err == nil {
			err = many.Replace(list)
		} else {
			err = flag.Value.Set(strings.Trim(string(raw), `"`))
		}
		if value := string(raw); err != nil {
			return fault("a value of "+name, value)
		}
	}
	return nil
}

// serve serves until ctx ends.
func (c *Command) serve(ctx context.Context, notes io.Writer, now func() time.Time) error {
	log := slog.New(slog.NewJSONHandler(notes, nil))
	s, err := server.New(ctx, c.server, now, log)
	if err != nil {
		return err
	}
	scheme := "http"
	if c.server.TLSCert != "" {
		scheme = "https"
	}
	return s.Run(ctx, func(address string) {
		log.Info("listening", "url", scheme+"://"+address, "database", kindOf(c.server.Database))
	})
}

// kindOf names a database without its password.
func kindOf(place string) string {
	if scheme, _, ok := strings.Cut(place, "://"); ok {
		return scheme
	}
	return place
}

// tokens makes, lists or revokes tokens.
func (c *Command) tokens(ctx context.Context, action string, out, notes io.Writer, asJSON bool, now func() time.Time) error {
	s, err := store.Open(ctx, c.server.Database, c.server.Key, now)
	if err != nil {
		return err
	}
	defer s.Close()
	const who = "the command line"
	switch action {
	case "revoke":
		return c.revoke(ctx, s, who, notes)
	case "list":
		return list(ctx, s, out, asJSON)
	}
	file, err := c.tokenFile()
	if err != nil {
		return err
	}
	token, err := auth.New(s, now).Add(ctx, who, store.Person{Name: c.name, Role: store.Role(c.role)}, c.expires)
	if err != nil {
		if file != nil { // nothing is in it
			err = errors.Join(err, file.Close(), os.Remove(c.out))
		}
		return err
	}
	if file != nil {
		_, err = fmt.Fprintln(file, token)
		if err = errors.Join(err, file.Close()); err == nil {
			fmt.Fprintf(notes, "written to %s, which only you can read; only its hash is kept beside\n", c.out)
		}
		return err
	}
	if asJSON {
		return json.NewEncoder(out).Encode(map[string]string{"token": token, "name": c.name, "role": c.role})
	}
	fmt.Fprintln(notes, "this is shown once, and only its hash is kept:")
	_, err = fmt.Fprintln(out, token)
	return err
}

// tokenFile creates the file of --out, readable by its owner only; nil for none. It is created
// before the token, which is then shown nowhere else.
func (c *Command) tokenFile() (*os.File, error) {
	if c.out == "" {
		return nil, nil
	}
	const onlyMine = 0o600
	file, err := os.OpenFile(c.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, onlyMine)
	if err != nil {
		return nil, &privacy.FieldError{Field: "--out", Wanted: "a new file in a folder that is there", Got: c.out, Fix: "name another, or remove it"}
	}
	return file, nil
}

// revoke ends the token with an id, or all tokens of a person.
func (c *Command) revoke(ctx context.Context, s *store.Store, who string, notes io.Writer) error {
	all, err := s.Tokens(ctx)
	if err != nil {
		return err
	}
	count := 0
	for _, t := range all {
		if !t.Revoked.IsZero() || t.ID != c.name && t.Name != c.name {
			continue
		}
		if err := s.Revoke(ctx, who, t.ID); err != nil {
			return err
		}
		count++
	}
	if count == 0 {
		return &privacy.FieldError{Field: "--name", Wanted: "a person with a token that is not revoked, or its id", Got: fmt.Sprintf("%q", c.name), Fix: "gauze serve token list shows them"}
	}
	_, err = fmt.Fprintf(notes, "revoked: %d\n", count)
	return err
}

// list prints the tokens.
func list(ctx context.Context, s *store.Store, out io.Writer, asJSON bool) error {
	all, err := s.Tokens(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		lines := []map[string]any{}
		for _, t := range all {
			lines = append(lines, map[string]any{"id": t.ID, "name": t.Name, "role": t.Role, "since": t.Since, "expires": t.Expires, "revoked": t.Revoked})
		}
		return json.NewEncoder(out).Encode(map[string]any{"tokens": lines})
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "id\tname\trole\tsince\texpires\trevoked")
	day := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.Format(time.DateOnly)
	}
	for _, t := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Name, t.Role, day(t.Since), day(t.Expires), day(t.Revoked))
	}
	return w.Flush()
}
