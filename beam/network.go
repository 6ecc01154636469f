package main

import (
	"fmt"
	"net"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"

	"github.com/gauze-dp/gauze/source"
)

// enclosed returns an error if another machine could reach Prism, in this process, from the
// network: it listens on all interfaces whatever its settings, authenticates nobody, and a job can
// name a command to run.
func enclosed(interfaces []net.Interface) error {
	for _, i := range interfaces {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			return &source.Error{Field: "network", Wanted: "none but the loopback, because whoever reaches Prism has commands run here", Got: fmt.Sprintf("%q", i.Name),
				Hint: "start it in a network of its own: unshare --map-root-user --net sh -c 'ip link set lo up; gauze-beam fit ..'; or, where a firewall closes all ports and nobody else has an account, with --trust-network"}
		}
	}
	return nil
}

// checkNetwork refuses to start Prism where others could reach it.
func (w *workers) checkNetwork() error {
	if w.trustNetwork || runner() != prism || *jobopts.Endpoint != "" {
		return nil
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		return err
	}
	return enclosed(interfaces)
}
