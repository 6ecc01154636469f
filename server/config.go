package server

import (
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/gauze-dp/gauze/kernel/privacy"
	"github.com/gauze-dp/gauze/server/auth"
)

// A Config says how a server runs.
type Config struct {
	Listen   string // address and port
	Database string // a SQLite file, or postgres://..
	Key      string // the file of the ledger's key
	// SigningKey is the file of the key that signs releases; it is created if missing. "" signs
	// nothing.
	SigningKey string
	// TLSCert and TLSKey are files; empty if the server does not terminate TLS.
	TLSCert, TLSKey string
	// BehindProxy says that a proxy terminates TLS and that clients reach the server only through
	// it. Then it may listen beyond loopback, and clients' addresses are the proxy's.
	BehindProxy bool
	// MetricsFrom are the networks that may ask for /metrics.
	MetricsFrom []netip.Prefix
	Data        []string // folders of inputs, as engine.NewPlaces reads them
	Connections []string // to databases of inputs, likewise
	Workers     int
	SlotLeast   time.Duration
	SlotPerCell time.Duration
	Horizon     time.Duration // how far ahead fits are accepted
	Waiting     int           // fits of an analyst that wait or run
	Memory      int64         // of each fit's table, bytes
	PerSecond   float64       // requests of a person
	Grace       time.Duration // time for running fits when the server is told to stop
	OIDC        auth.Config
}

// check returns an error for a configuration that would show tokens to a network, or that cannot
// work.
func (c *Config) check() error {
	fault := func(field, wanted, got, fix string) error {
		return &privacy.FieldError{Field: field, Wanted: wanted, Got: got, Fix: fix}
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return fault("listen", "ADDRESS:PORT", c.Listen, "for instance 127.0.0.1:8080")
	}
	address, err := netip.ParseAddr(host)
	loopback := host == "localhost" || err == nil && address.IsLoopback()
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return fault("tls-cert", "a certificate and a key, or neither", "one of them", "name --tls-cert and --tls-key")
	case !loopback && c.TLSCert == "" && !c.BehindProxy:
		return fault("listen", "an address of this machine alone, or TLS", c.Listen,
			"give --tls-cert and --tls-key; or say --behind-proxy if a proxy ends TLS and nobody else reaches this address: tokens would travel in the clear")
	case c.Workers < 1:
		return fault("workers", "at least 1", fmt.Sprint(c.Workers), "one for every two cores is a good start")
	case c.SlotLeast <= 0 || c.SlotPerCell < 0:
		return fault("slot", "a positive time", c.SlotLeast.String(), "2s is the default")
	case c.Horizon <= 0 || c.Waiting < 1 || c.PerSecond <= 0:
		return fault("limits", "positive horizon, waiting and per-second", "others", "leave them out")
	}
	return nil
}
