package scenarios

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// built are both programs.
var built = programs.Shared{Options: programs.Options{Released: true}}

func TestMain(m *testing.M) {
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

// TestRealScenarios runs scenarios with real agents: what hookmux says about status,
// result and title is what a person would say. HOOKMUX_RECORD_SESSIONS names a folder
// that the recordings are written to.
func TestRealScenarios(t *testing.T) {
	agentstest.Repeats(t, "the status rows of TestRealChecks")
	for _, name := range []string{"claude", "codex", "opencode", "gemini", "grok", "pi"} {
		t.Run(name, func(t *testing.T) {
			in := agentstest.Require(t, name)
			driver, _ := drivers.Find(name)
			for _, s := range All() {
				t.Run(s.Name, func(t *testing.T) {
					srv, err := model.Start(model.Options{Delay: drivers.TableOf(name).ModelDelay})
					if err != nil {
						t.Fatal(err)
					}
					defer srv.Close()
					st, err := testbed.New(&testbed.Setting{
						Driver: driver, In: in, Bin: built.Folder(t), Model: srv, Patience: 8 * agentstest.Timeout,
						Serial: func() string { return "s" },
					}, "scenario")
					if err != nil {
						t.Fatal(err)
					}
					defer func() {
						st.ClearUp()
						st.StopDaemon()
						testbed.RemoveAll(st.Base)
					}()
					if s.Cannot != nil {
						if why := s.Cannot(st); why != "" {
							t.Skip(why)
						}
					}
					out, err := s.Execute(context.Background(), st)
					if err != nil {
						t.Fatal(err)
					}
					if dir := os.Getenv("HOOKMUX_RECORD_SESSIONS"); dir != "" && len(out.Problems) == 0 {
						file := filepath.Join(dir, name+"-"+s.Name+".txt")
						if err := os.WriteFile(file, out.Recording.Format(), 0o644); err != nil {
							t.Error(err)
						}
					}
					if len(out.Problems) > 0 {
						t.Errorf("it was not played: %s", strings.Join(out.Problems, "\n"))
					}
					if len(out.Wrong) > 0 {
						t.Errorf(`%s: strings.Join(out.Wrong, "; ") = %s, want no out.Wrong`,
							s.About, strings.Join(out.Wrong, "; "))
						if n := len(out.Screens); n > 0 {
							t.Logf("the last screen:\n%s", out.Screens[n-1])
						}
					}
				})
			}
		})
	}
}
