package verify

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/isolate"
)

// built are the programs of a release.
var built = programs.Shared{Options: programs.Options{Released: true, Names: []string{"hookmux", "hookmux-hook", "hookmux-lab"}}}

// builtBin returns where both programs are.
func builtBin(t testing.TB) string { t.Helper(); return built.Folder(t) }

func TestMain(m *testing.M) {
	if os.Getenv(mcpVariable) != "" {
		serveMCP()
		return
	}
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// TestRealChecks runs every check on every agent that was asked for.
func TestRealChecks(t *testing.T) {
	for _, name := range drivers.Names() {
		t.Run(name, func(t *testing.T) {
			in := agentstest.Require(t, name)
			t.Parallel()
			var told []string
			r, err := Run(context.Background(), Options{
				Targets: []Target{{name, in}}, Bin: builtBin(t), Isolation: isolate.BehindProxies,
				Patience: 4 * time.Minute, Progress: func(l string) { t.Log(l); told = append(told, l) },
				Keep: os.Getenv("HOOKMUX_VERIFY_KEEP") != "", Record: os.Getenv("HOOKMUX_VERIFY_RECORD"),
			})
			if err != nil {
				t.Fatal(err)
			}
			a := r.Agents[0]
			if a.Problem != "" {
				t.Fatalf(`a.Problem = %q, want ""`, a.Problem)
			}
			if !strings.HasPrefix(told[0], "testing "+a.Agent+", in ") {
				t.Errorf("the first line is %q, want whom it asks, before the first turn ends", told[0])
			}
			for _, row := range a.Rows {
				t.Logf("%s %-32s %s", row.Mark, row.ID(), row.Why)
				if row.Mark == checks.Fails {
					t.Errorf("%s: row.Why = %s, row.Hint = %s; want row.Mark other than checks.Fails",
						row.ID(), row.Why, row.Hint)
				}
			}
			if a.Headless > checks.MaxHeadless {
				t.Errorf("%d headless launches, at most %d", a.Headless, checks.MaxHeadless)
			}
			// The bar is for two quiet cores; a busy machine proves nothing about it.
			if took := time.Duration(a.TookHeadless); took > 2*time.Minute {
				t.Logf("%.0f s headless, 120 s are meant on two quiet cores", took.Seconds())
			}
			t.Logf("%s %s: %d ✓ %d ✗ %d –, %d launches (%d headless), %.1f s (%.1f s headless), kept %s", a.Title,
				a.Version, a.Count(checks.Holds), a.Count(checks.Fails), a.Count(checks.Unsure),
				a.Launches, a.Headless, time.Duration(a.Took).Seconds(), time.Duration(a.TookHeadless).Seconds(),
				r.Kept)
		})
	}
}
