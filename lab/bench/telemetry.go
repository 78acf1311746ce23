//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/hookmux/hookmux/internal/selection/config"
)

// telemetry measures what a collector adds to a decision: one that takes everything, and
// one that's gone.
func (b *bench) telemetry(ctx context.Context) error {
	payload, err := b.stretched("PreToolUse.Bash", "tool_input", "description")
	if err != nil {
		return err
	}
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	gone.Close()
	there, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	collector := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the sender may be gone
	})}
	go collector.Serve(there) // ends with Close
	defer collector.Close()
	daemons := []struct{ name, endpoint string }{
		{"off", ""}, {"sent", "http://" + there.Addr().String()}, {"collector gone", "http://" + gone.Addr().String()},
	}
	var contenders []contender
	for i, d := range daemons {
		settings, err := json.Marshal(map[string]string{config.TelemetryEndpoint: d.endpoint})
		if err != nil {
			return err
		}
		p, err := b.startDaemon(ctx, fmt.Sprint("telemetry-", i), map[string]string{"config/hookmux/config.json": string(settings)})
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		defer p.stop()
		contenders = append(contenders, contender{d.name, p.hook(b, "PreToolUse", payload).run})
	}
	results, err := interleave(ctx, b.rounds, contenders)
	if err != nil {
		return err
	}
	off := wallTimes(results[0])
	b.table.note("telemetry: off", median(off), "µs")
	for i, d := range daemons[1:] {
		b.table.atMost("telemetry: "+d.name+" ÷ off", median(ratios(wallTimes(results[i+1]), off)), 1.03, "×")
	}
	return nil
}
