package sessions

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// Of the programs at terminals, only an agent that reports nothing before its first prompt,
// runs a session and has hookmux's hooks is listed.
func TestOpenAgentsAreFound(t *testing.T) {
	home := t.TempDir()
	hooks := filepath.Join(home, ".codex", "hooks.json")
	if err := os.MkdirAll(filepath.Dir(hooks), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hooks, []byte(`{"hooks":{"Stop":[{"hooks":[{"command":"hookmux-hook codex Stop"}]}]}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	at := func(pid int, tty string, args ...string) proctest.Node {
		lives := home
		if pid == 17 {
			lives = "/home/of/another/daemon"
		}
		return proctest.Node{PID: pid, Name: filepath.Base(args[0]), Args: args, Env: []string{"HOME=" + lives}, TTY: tty, Group: true, Foreground: pid,
			User: max(os.Getuid(), 0)}
	}
	table := proctest.New(
		at(10, "/dev/pts/1", "codex"),
		at(11, "/dev/pts/2", "codex", "exec", "hi"),
		at(12, "/dev/pts/3", "codex", "login"),
		at(13, "/dev/pts/4", "vim", "codex"),
		at(14, "/dev/pts/5", "opencode"), // without hooks
		at(15, "/dev/pts/6", "claude"),   // reports by itself that it's open
		at(16, "/dev/pts/7", "node", "/usr/lib/node_modules/@openai/codex/bin/codex.js", "-a", "never"),
		at(17, "/dev/pts/8", "codex", "-c", "hooks.Stop=hookmux-hook"),
	)
	all := newTracker(func(*event.Event) (*state.TerminalReport, error) { return nil, nil })
	all.setSwitches(&switches{})
	deps := services.Deps{Dirs: paths.Dirs{Home: home, Runtime: home}, Catalogue: agent.Builtin(),
		Processes: ownTable{table}, Log: slog.New(slog.DiscardHandler)}
	finder := newOpenFinder(deps, all, newPaneFinder(context.Background(), deps, all, nil))
	finder.list = func() []int { return []int{10, 11, 12, 13, 14, 15, 16, 17} }
	find := func() map[string]state.Status {
		finder.looked = time.Time{}
		finder.find(context.Background())
		found := map[string]state.Status{}
		for _, one := range all.sessions.Snapshot() {
			found[one.Place.TTY] = one.Status
		}
		return found
	}
	if got := find(); len(got) != 2 || got["/dev/pts/1"] != state.Idle || got["/dev/pts/7"] != state.Idle {
		t.Fatalf("found %v, want the idle ones at /dev/pts/1 and /dev/pts/7", got)
	}
	// Its session reports, from a process below the one that was found.
	all.applyEvent(&event.Event{Agent: "codex", Session: "s1", Kind: event.TurnStart, Native: "UserPromptSubmit",
		Time: time.Now(), Where: event.Place{PID: 99, Start: 5, TTY: "/dev/pts/7"}}, 0)
	if got := find(); len(got) != 2 || got["/dev/pts/7"] != state.Running {
		t.Errorf("found %v, want the session at /dev/pts/7 in its place", got)
	}
	for _, c := range all.sessions.ProcessGone(10, mustLookup(t, table, 10).Start, time.Now()) {
		if !c.Gone {
			t.Errorf("%v, want it gone and not ended: it never was a session", c)
		}
	}
	if n := all.sessions.Len(); n != 1 {
		t.Errorf("%d sessions, want the one that reported", n)
	}
}

// ownTable shows every process as this user's.
type ownTable struct{ proc.Table }

func (t ownTable) Lookup(pid int) (proc.Process, error) {
	p, err := t.Table.Lookup(pid)
	p.EUID, p.StartTime = os.Getuid(), time.Now().Add(time.Minute)
	return p, err
}

func mustLookup(t *testing.T, table proc.Table, pid int) proc.Process {
	t.Helper()
	p, err := table.Lookup(pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
