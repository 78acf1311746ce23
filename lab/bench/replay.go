//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const replayedEvents = 40_000

// replay measures `hookmux rules replay` with 100 rules over a journal, from the
// start of the program to its end, against `hookmux log` that prints the same calls.
func (b *bench) replay(ctx context.Context) error {
	rules := filepath.Join(b.temp, "rules.yaml")
	if err := os.WriteFile(rules, []byte(replayedRules()), 0o600); err != nil {
		return err
	}
	p, err := b.startDaemon(ctx, "replay", nil)
	if err != nil {
		return err
	}
	defer p.stop()
	l, err := b.newLoad(ctx, p)
	if err != nil {
		return err
	}
	if _, err := l.run(toDaemon(p), until{calls: replayedEvents}); err != nil {
		return err
	}
	if err := p.drained(ctx); err != nil {
		return err
	}
	// Time is that of processors: the machine may be busy. The program and the daemon
	// that reads for it work side by side.
	run := func(args ...string) (out []byte, program, daemon time.Duration, err error) {
		cmd := exec.CommandContext(ctx, filepath.Join(b.bin, "hookmux"), args...)
		cmd.Env, cmd.Dir = p.Env, p.dir
		before, _, err := usage(p.pid())
		if err != nil {
			return nil, 0, 0, err
		}
		if out, err = cmd.Output(); err != nil {
			return nil, 0, 0, err
		}
		after, _, err := usage(p.pid())
		return out, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), after - before, err
	}
	var rates, against []float64
	for range 3 {
		out, program, daemon, err := run("rules", "replay", "--rules", rules, "--json")
		if err != nil {
			return fmt.Errorf("rules replay: %w", err)
		}
		var report struct{ Scanned int }
		if err := json.Unmarshal(out, &report); err != nil || report.Scanned == 0 {
			return fmt.Errorf("rules replay printed %.200q: %w", out, err)
		}
		printed, plain, plainDaemon, err := run("log", "--since", "1d", "--json", "--kind", "tool.before", "--kind",
			"tool.permission.request")
		if err != nil {
			return fmt.Errorf("log: %w", err)
		}
		if n := bytes.Count(printed, []byte("\n")); n != report.Scanned {
			return fmt.Errorf("log printed %d calls, and replay looked at %d", n, report.Scanned)
		}
		rates = append(rates, float64(report.Scanned)/max(program, daemon).Seconds())
		against = append(against, (program+daemon).Seconds()/(plain+plainDaemon).Seconds())
	}
	b.table.atLeast("replay: calls each second under 100 rules", median(rates), 10_000, "")
	b.table.atMost("replay: rules replay ÷ log of the same calls", median(against), 1.5, "×")
	return nil
}

// replayedRules returns 100 rules of the kinds that users write.
func replayedRules() string {
	var text strings.Builder
	text.WriteString("version: 1\nrules:\n")
	for i := range 100 {
		match, hit := fmt.Sprintf("{program: tool%d}", i), fmt.Sprintf("tool%d x", i)
		switch i % 5 {
		case 1:
			match, hit = fmt.Sprintf("{path: secret%d/, access: read}", i), fmt.Sprintf("cat secret%d/a", i)
		case 2:
			match, hit = fmt.Sprintf("{host: host%d.test}", i), fmt.Sprintf("curl https://host%d.test/", i)
		case 3:
			match, hit = fmt.Sprintf("{program: git, subcommand: push, args: branch%d}", i),
				fmt.Sprintf("git push origin branch%d", i)
		}
		fmt.Fprintf(&text, "  - {id: r%d, why: w, match: %s, decide: deny, examples: {hit: ['%s']}}\n", i, match, hit)
	}
	return text.String()
}
