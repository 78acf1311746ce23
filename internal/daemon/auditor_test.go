package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/audit"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// audited counts the records about an event in a trail that fits.
func (w *daemonFixture) audited(id string) (n int, last audit.Record) {
	w.T.Helper()
	report, err := audit.Verify(w.Dirs, func(r *audit.Record, _ string) {
		if r.Event != nil && r.Event.ID == id {
			n++
			last = *r
		}
	})
	if err != nil || report.Problem != nil || len(report.Gaps) > 0 {
		w.T.Fatalf("the trail: %+v, error %v; want one that fits and has no gap", report, err)
	}
	return n, last
}

// A call that the next daemon is asked about again, after the first was killed before or
// after it had written the trail, is in the trail once.
func TestAuditHasACallOnceAfterACrash(t *testing.T) {
	for name, written := range map[string]bool{"killed before the trail": false, "killed after the trail": true} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			w.set("guard.destructive", "block")
			w.SetProcesses(daemontest.BelowAgent("claude"))
			call := frame.Request{ID: frame.NewID(), Agent: "claude", Event: "PreToolUse", Cwd: w.Base, Deadline: daemontest.Patience,
				Payload: []byte(`{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf ~"}}`)}
			w.MustDeny(call, "")
			w.Eventually("the decision is in the trail", func() bool {
				n, _ := w.audited(call.ID)
				return n == 1
			})
			files := w.files()
			if !written {
				for path := range files {
					if strings.HasPrefix(path, filepath.Join(w.Dirs.State, "audit")) {
						delete(files, path)
					}
				}
			}
			w.crash(files)
			if !written {
				must(t, os.Remove(filepath.Join(w.Dirs.Data, "audit.once")))
			}
			w.Up()
			w.SetProcesses(daemontest.BelowAgent("claude"))
			w.MustDeny(call, "")
			w.Down()
			n, last := w.audited(call.ID)
			if n != 1 || last.Verdict != "deny" || !strings.HasPrefix(last.By, "guard.destructive") || last.Event.Tool != "Bash" ||
				last.Event.Session != "s1" || len(last.Event.SHA256) != 64 {
				t.Errorf("%d records, the last %+v of %+v; want one, with who decided what about which event", n, last, last.Event)
			}
		})
	}
}

// Attempts to decide without authority are in the trail.
func TestAuditHasRefusedAttempts(t *testing.T) {
	w := open(t)
	w.SetProcesses(daemontest.BelowAgent("claude"))
	_ = w.Call(wire.MethodTrust, wire.TrustParams{Cwd: w.Base}, nil)
	w.Down()
	found := false
	_, err := audit.Verify(w.Dirs, func(r *audit.Record, _ string) {
		found = found || r.Type == audit.TypeNote && r.Event.Native == wire.OwnRefused && strings.Contains(string(r.Note), wire.MethodTrust)
	})
	if err != nil || !found {
		t.Errorf("the attempt is in the trail: %v, error %v; want it there", found, err)
	}
}
