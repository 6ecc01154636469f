package scale

import (
	"context"
	"fmt"
	"time"

	"github.com/gauze-dp/gauze/experiments/engine"
)

// Engines with a job server of their own, in Java.
var servers = map[string]string{"flink": "Flink", "spark": "Spark"}

// What is asked of Flink, beside flinkBar.
const (
	flinkProcessorBar = 1.25  // times the local engine's processor time, on the side of Go
	flinkMemoryBar    = 1.5e9 // bytes of the job server
)

// serverScans makes the page of scans by an engine with a job server.
func serverScans(name string) func(context.Context, engine.Options) error {
	return func(ctx context.Context, o engine.Options) error {
		began := time.Now()
		all, err := scanAll(ctx, o, name)
		if err != nil {
			return err
		}
		return publish(o, serverPage(o, all, name, time.Since(began)), name)
	}
}

// serverPage says what they cost.
func serverPage(o engine.Options, all []scan, name string, took time.Duration) *engine.Page {
	p := &engine.Page{}
	p.Title("What a scan costs by " + servers[name])
	scanHeader(p, o, name)
	p.Text(fmt.Sprintf("It took %v on %g cores. Scans, rows and shards are those of [one scan](scan.md). *local* is the engine of `gauze fit --memory 0`, *%s* workers that %s starts in the same process, by LOOPBACK, in a pipeline for each scan: "+
		"`TestEngines` of beam/ starts its job server, once for all scans of a table, with the flags that stand there, and is alone with it in a network. Processor time and memory are those of the process that asks and works; the job server's, which runs on the same cores, stand apart. "+
		"Memory is the most since the scan began.",
		took.Round(time.Second), cores, name, servers[name]))
	t := engine.Table{Head: []string{"rows", "files of a shard", "by", "ns of processor a row", "s on the clock", "memory, MB", "processor, of local's", "s on the clock beyond local's", "job server: processor, s", "memory, MB"}}
	for _, own := range tablesOf(all) {
		t.Add(append(costs(own, by[0]), "", "", "", "")...)
		t.Add(append(costs(own, name), against(own, name, processorTime, times), against(own, name, wallTime, func(own, local float64) float64 { return own - local }),
			spread(of(own, name, func(s scan) float64 { return s.ServerProcessor })), spread(of(own, name, func(s scan) float64 { return s.ServerMemory / 1e6 })))...)
	}
	p.Table(t)
	p.Text("Medians, with the least and the most of the turns in brackets; ratios and differences are of two scans of the same turn.")
	if name == "flink" {
		p.Text(fmt.Sprintf("What is asked of it: no more than %g times local's processor time, %g s beyond local's time on the clock, and %g GB for the job server.", flinkProcessorBar, float64(flinkBar), flinkMemoryBar/1e9))
	}
	return p
}
