package soak

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority/authoritytest"
	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/verify/agents/agentstest"
	"github.com/hookmux/hookmux/internal/verify/model"
	"github.com/hookmux/hookmux/internal/verify/testbed"
)

// viewAtTerminal shows the live view as the program of a person at a terminal of their
// own: nobody sits at the tmux of a test. Everybody else is who they are. What a
// real trusted terminal is, TestRealView in terminaltest asks.
type viewAtTerminal struct{ proc.Table }

func (t viewAtTerminal) Lookup(pid int) (proc.Process, error) {
	p, err := t.Table.Lookup(pid)
	if err == nil && p.Name == "hookmux" {
		p.PPID, p.SID, p.PGID, p.Foreground, p.TTY, p.Name = 0, pid, pid, pid, "/dev/pts/7", "bash"
	}
	return p, err
}

func (t viewAtTerminal) Program(pid int) (string, error) {
	if p, err := t.Table.Lookup(pid); err == nil && p.Name == "hookmux" {
		return "/usr/bin/bash", nil
	}
	return t.Table.Program(pid)
}

func (t viewAtTerminal) Environ(pid int) ([]string, error) {
	if p, err := t.Table.Lookup(pid); err == nil && p.Name == "hookmux" {
		return nil, nil
	}
	return t.Table.Environ(pid)
}

// Two real agents in one tmux. The key that `tmux install` binds
// opens the live view in a popup, which shows both at work; one asks, a key in the
// popup approves it, and its tool runs.
func TestRealViewInPopup(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	var targets []Target
	for _, name := range []string{"claude", "codex", "opencode", "gemini"} {
		if len(targets) < 2 {
			t.Run("install "+name, func(t *testing.T) {
				targets = append(targets, Target{name, agentstest.Require(t, name)})
			})
		}
	}
	if len(targets) < 2 {
		t.Skip("it takes two of claude, codex, opencode and gemini")
	}
	bin := sandbox.TempDir(t)
	if err := programs.Build(bin, programs.Options{Released: true}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	srv, err := model.Start(model.Options{Delay: 400 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	r := &run{options: Options{Agents: targets, Bin: bin}, terminal: func(st *testbed.TestBed) {
		st.Facts, st.Asker = authoritytest.Machine{Table: viewAtTerminal{st.ProcessTable()}}, &authoritytest.Agrees{}
	}}
	defer r.clearUp()
	if err := r.layOut(srv); err != nil {
		t.Fatal(err)
	}
	r.term = testbed.NewTerminal(r.testBed, tmux, "tmux")
	defer r.stopAgents()
	if err := r.startAgents(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.awaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	person := testbed.NewTerminal(r.testBed, tmux, "person")
	defer func() { _, _ = person.RunTmux(context.Background(), "kill-server") }() // it may be gone already
	r.openPopup(ctx, t, tmux, person)
	screen := func() string {
		out, err := person.RunTmux(ctx, "capture-pane", "-p", "-t", "main")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	eventually := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(90 * time.Second); !holds(); {
			if time.Now().After(end) || !testbed.PauseFor(ctx, 100*time.Millisecond) {
				t.Fatalf("never: %s; the person sees\n%s", what, screen())
			}
		}
	}
	prompt := func(p *agentPane, kind string) {
		t.Helper()
		if _, err := r.term.RunTmux(ctx, "send-keys", "-t", p.pane, "-l", "Do it "+model.Mark(kind)); err != nil {
			t.Fatal(err)
		}
		if !testbed.PauseFor(ctx, 700*time.Millisecond) || r.press(ctx, p, "Enter") != nil {
			t.Fatal("the prompt cannot be typed")
		}
	}
	one, other := r.panes[0], r.panes[1]
	prompt(one, turnSlow)
	prompt(other, turnSlow)
	eventually("both run", func() bool { return strings.Contains(screen(), "● 2 running") })
	eventually("both are done", func() bool { return strings.Contains(screen(), "✓ 2 done") })
	prompt(one, turnAsk)
	eventually("the first asks", func() bool {
		return strings.Contains(screen(), "▲ 1 waiting") && strings.Contains(screen(), "touch ran-ask")
	})
	if one.st.LeftItsFile("ask") {
		t.Fatal("the tool ran before anybody said yes")
	}
	if _, err := person.RunTmux(ctx, "send-keys", "-t", "main", "Tab"); err != nil {
		t.Fatal(err)
	}
	pressed := time.Time{}
	eventually("the tool runs after the key", func() bool {
		if time.Since(pressed) > 2*time.Second { // the first may come too early
			pressed = time.Now()
			if _, err := person.RunTmux(ctx, "send-keys", "-t", "main", "a"); err != nil {
				t.Fatal(err)
			}
		}
		return one.st.LeftItsFile("ask")
	})
	eventually("the view shows that it is done", func() bool { return strings.Contains(screen(), "✓ 2 done") })
	t.Logf("%s was approved in the popup:\n%s", one.name, screen())
}

// openPopup attaches a person's terminal to the agents' tmux, installs hookmux's keys
// there, and presses the one of the live view.
func (r *run) openPopup(ctx context.Context, t *testing.T, tmux string, person *testbed.Terminal) {
	t.Helper()
	must := func(out string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	socket := filepath.Join(r.testBed.Base, "tmux")
	for _, variable := range r.testBed.Env {
		name, value, _ := strings.Cut(variable, "=")
		must(r.term.RunTmux(ctx, "set-environment", "-g", name, value))
	}
	install := exec.CommandContext(ctx, filepath.Join(r.options.Bin, "hookmux"), "tmux", "install", "--yes")
	install.Env = append(append([]string(nil), r.testBed.Env...), "TMUX="+socket+",1,0")
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("hookmux tmux install: %v: %s", err, out)
	}
	must(person.RunTmux(ctx, "-f", "/dev/null", "-u", "new-session", "-d", "-x", "140", "-y", "45", "-s", "main",
		"exec "+tmux+" -u -S "+socket+" attach-session"))
	for end := time.Now().Add(20 * time.Second); must(r.term.RunTmux(ctx, "list-clients")) == ""; {
		if time.Now().After(end) || !testbed.PauseFor(ctx, 100*time.Millisecond) {
			t.Fatal("no client is attached to the agents' tmux")
		}
	}
	for end := time.Now().Add(30 * time.Second); ; {
		must(person.RunTmux(ctx, "send-keys", "-t", "main", "C-b", "A"))
		for range 30 {
			testbed.PauseFor(ctx, 100*time.Millisecond)
			if strings.Contains(must(person.RunTmux(ctx, "capture-pane", "-p", "-t", "main")), "? keys") {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("the popup does not open; the person sees\n%s",
				must(person.RunTmux(ctx, "capture-pane", "-p", "-t", "main")))
		}
	}
}
