//go:build unix

package install

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// killVariable makes the test binary install or uninstall and end itself with
// SIGKILL at its nth change of the disk: VERB:N:FOLDER.
const killVariable = "HOOKMUX_TEST_KILL"

// beKilled is the process that is killed; it returns when there was no nth
// change.
func beKilled(order string) error {
	parts := strings.SplitN(order, ":", 3)
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return err
	}
	base := parts[2]
	vars := map[string]string{"HOME": filepath.Join(base, "home"), "PATH": filepath.Join(base, "bin") +
		":/usr/bin:/bin"}
	getenv := func(name string) string { return vars[name] }
	dirs, err := paths.Find(getenv)
	if err != nil {
		return err
	}
	h := &Host{Dirs: dirs, Project: filepath.Join(base, "project"), Getenv: getenv,
		Hook: filepath.Join(base, "bin", hookentry.HookName), Version: "1.2.3", Known: killedAgents()}
	userfile.AtStep = func() {
		if n--; n < 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	return carryKilled(h, parts[0])
}

func carryKilled(h *Host, verb string) error {
	_, err := h.ApplyPlan(func() (*Plan, error) {
		if verb == "uninstall" {
			return h.Uninstall(killedAgents())
		}
		return h.Install(Options{Agents: killedAgents(), Scope: User, Trust: true,
			Events: []string{"tool.before", "turn.end"}})
	}, nil, &Disk{})
	return err
}

// killedAgents are entries that must be trusted, and a plugin with what lies
// beside it; the other ways are made of the same changes.
func killedAgents() []*agent.Agent {
	var out []*agent.Agent
	for _, name := range []string{"codex", "opencode"} {
		if a, ok := agent.Builtin().Agent(name); ok {
			out = append(out, a)
		}
	}
	return out
}

// kill runs it and reports whether it was killed.
func kill(t *testing.T, verb string, n int, base string) bool {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{fmt.Sprintf("%s=%s:%d:%s", killVariable, verb, n, base)}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if state, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || state.Signal() != syscall.SIGKILL {
		t.Fatalf("%s, change %d: %v\n%s; want ok and state.Signal() == syscall.SIGKILL", verb, n, err, out)
	}
	return true
}

// TestKilledAtAnyChange really kills an installation, and then a removal, at
// every single change of the disk: each file is the old one or the new one, the
// next command goes through, and nothing stays behind.
func TestKilledAtAnyChange(t *testing.T) {
	t.Parallel()
	prepared := func() (*Host, string) {
		base := t.TempDir()
		h := hostAt(t, base)
		h.Known = killedAgents()
		write(t, filepath.Join(h.Dirs.Home, ".codex/hooks.json"), "{ \"hooks\": {\"Stop\": []} }")
		write(t, filepath.Join(h.Dirs.Home, ".codex/config.toml"), "model = \"x\" # mine\n")
		return h, base
	}
	contents := func(h *Host, base string) map[string]string {
		out := map[string]string{}
		for rel, what := range picture(t, h.Dirs.Home) {
			if !strings.HasPrefix(rel, ".local/") && !strings.HasPrefix(what, "folder ") {
				out[rel] = strings.ReplaceAll(what, base, "BASE")
			}
		}
		// Hashes of trust cover the path, which differs in each home.
		for rel, what := range out {
			if strings.HasSuffix(rel, "config.toml") {
				lines := strings.Split(what, "\n")
				for i, line := range lines {
					if name, _, ok := strings.Cut(line, "sha256:"); ok {
						lines[i] = name
					}
				}
				out[rel] = strings.Join(lines, "\n")
			}
		}
		return out
	}
	carry := func(h *Host, verb string) {
		t.Helper()
		if err := carryKilled(h, verb); err != nil {
			t.Fatal(err)
		}
	}
	h, base := prepared()
	before := contents(h, base)
	carry(h, "install")
	after := contents(h, base)
	if len(after) <= len(before) {
		t.Fatalf("nothing was installed: %v", after)
	}
	for _, verb := range []string{"install", "uninstall"} {
		for n, killed := 0, true; killed; n++ {
			h, base := prepared()
			untouched := picture(t, h.Dirs.Home)
			if verb == "uninstall" {
				carry(h, "install")
			}
			killed = kill(t, verb, n, base)
			for rel, what := range contents(h, base) {
				temp := strings.HasPrefix(filepath.Base(rel), ".") && strings.HasSuffix(rel, ".tmp")
				if was, is := before[rel], after[rel]; what != was && what != is && !temp {
					t.Fatalf("%s killed at %d: %s is neither old nor new:\n%s", verb, n, rel, what)
				}
			}
			if n%2 == 0 {
				carry(h, "install")
				if d := cmp.Diff(after, contents(h, base)); d != "" {
					t.Fatalf("%s killed at %d, then installed: %s", verb, n, d)
				}
			}
			carry(h, "uninstall")
			end := picture(t, h.Dirs.Home)
			for rel := range end {
				// Killed before the manifest was written, the link stays;
				// the lock always does.
				if rel == ".local/state/hookmux/install.lock" ||
					strings.HasPrefix(rel, ".local/share/hookmux") && !strings.HasSuffix(rel, ".new") {
					delete(end, rel)
				}
			}
			if d := cmp.Diff(untouched, end); d != "" {
				t.Fatalf(`%s killed at %d: %s, want ""`, verb, n, d)
			}
		}
	}
}
