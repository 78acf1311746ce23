package soak

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
)

// TestRealSoak runs real agents in one tmux for HOOKMUX_SOAK_MINUTES minutes and
// compares their screens with what hookmux says. It is asked for by `make soak`.
func TestRealSoak(t *testing.T) {
	minutes, err := strconv.ParseFloat(os.Getenv("HOOKMUX_SOAK_MINUTES"), 64)
	if err != nil || minutes <= 0 {
		t.Skip("make soak asks for it: HOOKMUX_SOAK_MINUTES says how long")
	}
	seed, err := strconv.ParseInt(os.Getenv("HOOKMUX_SOAK_SEED"), 10, 64)
	if err != nil {
		seed = 1
	}
	var targets []Target
	for _, name := range []string{"claude", "codex", "opencode", "gemini"} {
		t.Run("install "+name, func(t *testing.T) {
			targets = append(targets, Target{name, agentstest.Require(t, name)})
		})
	}
	if len(targets) == 0 {
		t.Skip("no agent was asked for")
	}
	bin := sandbox.TempDir(t)
	if err := programs.Build(bin, programs.Options{Released: true}); err != nil {
		t.Fatal(err)
	}
	report, err := Run(context.Background(), Options{
		Agents: targets, Bin: bin, For: time.Duration(minutes * float64(time.Minute)), Seed: seed,
		Period: 500 * time.Millisecond, Film: os.Getenv("HOOKMUX_SOAK_FILM"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rounds, slowest %s, load %.1f per core, limit %s", report.Rounds, report.Slowest, report.Load,
		report.Limit)
	t.Logf("samples with a dialog: %v; turns: %v", report.Dialogs, report.Turns)
	for place, lag := range report.Worst {
		t.Logf("worst lag %-24s %s", place, lag.Round(10*time.Millisecond))
	}
	for _, target := range targets {
		if report.Dialogs[target.Name] == 0 {
			t.Errorf("%s never showed a dialog", target.Name)
		}
	}
	for _, e := range report.Errors {
		t.Errorf("could not look: %s", e)
	}
	for _, e := range report.Late {
		t.Logf("late, on a busy machine: %s", e)
	}
	for _, e := range report.Exceptions {
		t.Errorf("screen and hookmux disagree: %v", e)
	}
}
