package soak

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority/authoritytest"
	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/testbed"
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

// popupTest is a person's terminal attached to a tmux in which real agents run.
type popupTest struct {
	*testing.T
	ctx    context.Context
	run    *run
	tmux   string
	person *testbed.Terminal
}

// newPopupTest starts up to so many of the agents that were asked for.
func newPopupTest(t *testing.T, most int) *popupTest {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	var targets []Target
	for _, name := range []string{"claude", "codex", "opencode", "gemini"} {
		if len(targets) < most {
			t.Run("install "+name, func(t *testing.T) {
				targets = append(targets, Target{name, agentstest.Require(t, name)})
			})
		}
	}
	if len(targets) < min(most, 2) {
		t.Skip("it takes claude, codex, opencode and gemini, two of them at least")
	}
	bin := sandbox.TempDir(t)
	if err := programs.Build(bin, programs.Options{Released: true}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	t.Cleanup(cancel)
	srv, err := model.Start(model.Options{Delay: 400 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	r := &run{options: Options{Agents: targets, Bin: bin}, terminal: func(st *testbed.TestBed) {
		st.Facts, st.Asker = authoritytest.Machine{Table: viewAtTerminal{st.ProcessTable()}}, &authoritytest.Agrees{}
	}}
	t.Cleanup(r.clearUp)
	if err := r.layOut(srv); err != nil {
		t.Fatal(err)
	}
	r.term = testbed.NewTerminal(r.testBed, tmux, "tmux")
	t.Cleanup(r.stopAgents)
	if err := r.startAgents(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.awaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	p := &popupTest{t, ctx, r, tmux, testbed.NewTerminal(r.testBed, tmux, "person")}
	t.Cleanup(func() { _, _ = p.person.RunTmux(context.Background(), "kill-server") }) // it may be gone already
	return p
}

func (p *popupTest) screen() string {
	out, err := p.person.RunTmux(p.ctx, "capture-pane", "-p", "-t", "main")
	if err != nil {
		p.Fatal(err)
	}
	return out
}

func (p *popupTest) press(key string) {
	p.Helper()
	if _, err := p.person.RunTmux(p.ctx, "send-keys", "-t", "main", key); err != nil {
		p.Fatal(err)
	}
}

func (p *popupTest) eventually(what string, holds func() bool) {
	p.Helper()
	for end := time.Now().Add(90 * time.Second); !holds(); {
		if time.Now().After(end) || !testbed.PauseFor(p.ctx, 100*time.Millisecond) {
			p.Fatalf("never: %s; the user sees\n%s", what, p.screen())
		}
	}
}

func (p *popupTest) prompt(to *agentPane, kind string) {
	p.Helper()
	if _, err := p.run.term.RunTmux(p.ctx, "send-keys", "-t", to.pane, "-l", "Do it "+model.Mark(kind)); err != nil {
		p.Fatal(err)
	}
	if !testbed.PauseFor(p.ctx, 700*time.Millisecond) || p.run.press(p.ctx, to, "Enter") != nil {
		p.Fatal("the prompt cannot be typed")
	}
}

// Two real agents in one tmux. The key that `tmux install` binds
// opens the live view in a popup, which shows both at work; one asks, a key in the
// popup approves it, and its tool runs.
func TestRealViewInPopup(t *testing.T) {
	p := newPopupTest(t, 2)
	p.openPopup()
	one, other := p.run.panes[0], p.run.panes[1]
	p.prompt(one, turnSlow)
	p.prompt(other, turnSlow)
	p.eventually("both run", func() bool { return strings.Contains(p.screen(), "● 2 running") })
	p.eventually("both are done", func() bool { return strings.Contains(p.screen(), "✓ 2 done") })
	p.prompt(one, turnAsk)
	p.eventually("the first asks", func() bool {
		return strings.Contains(p.screen(), "▲ 1 waiting") && strings.Contains(p.screen(), "touch ran-ask")
	})
	if one.st.LeftItsFile("ask") {
		t.Fatal("the tool ran before anybody said yes")
	}
	p.press("Tab")
	pressed := time.Time{}
	p.eventually("the tool runs after the key", func() bool {
		if time.Since(pressed) > 2*time.Second { // the first may come too early
			pressed = time.Now()
			p.press("a")
		}
		return one.st.LeftItsFile("ask")
	})
	p.eventually("the view shows that it is done", func() bool { return strings.Contains(p.screen(), "✓ 2 done") })
	t.Logf("%s was approved in the popup:\n%s", one.name, p.screen())
}

// Nobody looks while every agent asks. Five seconds later a person opens the popup for the
// first time, and approves what it shows: the tools run.
func TestRealLateAnswers(t *testing.T) {
	p := newPopupTest(t, 4)
	for _, one := range p.run.panes {
		p.prompt(one, turnAsk)
		for end := time.Now().Add(time.Minute); !p.waits(one); {
			if time.Now().After(end) || !testbed.PauseFor(p.ctx, 100*time.Millisecond) {
				t.Fatalf("%s never asks:\n%s", one.name, p.run.capture(p.ctx, one.pane))
			}
		}
	}
	testbed.PauseFor(p.ctx, 5*time.Second)
	for _, one := range p.run.panes {
		if one.st.LeftItsFile("ask") {
			t.Fatalf("the tool of %s ran before anybody said yes", one.name)
		}
	}
	p.openPopup()
	p.eventually("all of them wait", func() bool {
		return strings.Contains(p.screen(), fmt.Sprintf("▲ %d waiting", len(p.run.panes)))
	})
	answered := func() (n int) {
		for _, one := range p.run.panes {
			if one.st.LeftItsFile("ask") {
				n++
			}
		}
		return n
	}
	for n := range p.run.panes {
		pressed := time.Time{}
		p.eventually(fmt.Sprintf("%d tools ran", n+1), func() bool {
			if time.Since(pressed) > 4*time.Second && strings.Contains(p.screen(), "touch ran-ask") {
				pressed = time.Now()
				p.press("a")
			}
			return answered() > n
		})
	}
	p.eventually("all are done", func() bool {
		return strings.Contains(p.screen(), fmt.Sprintf("✓ %d done", len(p.run.panes)))
	})
	t.Logf("%d agents were answered late in the popup:\n%s", len(p.run.panes), p.screen())
}

// waits reports whether hookmux says that an agent waits for its person.
func (p *popupTest) waits(one *agentPane) bool {
	var list []wire.Session
	if err := p.run.testBed.Daemon.CallMethod(wire.MethodSessions, wire.SessionsParams{Agents: []string{one.name}},
		&list); err != nil {
		p.Fatal(err)
	}
	return slices.ContainsFunc(list, func(s wire.Session) bool { return s.Status == wire.StatusWaiting })
}

// openPopup attaches a person's terminal to the agents' tmux, installs hookmux's keys
// there, and presses the one of the live view.
func (p *popupTest) openPopup() {
	p.Helper()
	r, ctx, person := p.run, p.ctx, p.person
	must := func(out string, err error) string {
		p.Helper()
		if err != nil {
			p.Fatal(err)
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
		p.Fatalf("hookmux tmux install: %v: %s", err, out)
	}
	must(person.RunTmux(ctx, "-f", "/dev/null", "-u", "new-session", "-d", "-x", "140", "-y", "45", "-s", "main",
		"exec "+p.tmux+" -u -S "+socket+" attach-session"))
	for end := time.Now().Add(20 * time.Second); must(r.term.RunTmux(ctx, "list-clients")) == ""; {
		if time.Now().After(end) || !testbed.PauseFor(ctx, 100*time.Millisecond) {
			p.Fatal("no client is attached to the agents' tmux")
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
			p.Fatalf("the popup does not open; the user sees\n%s",
				must(person.RunTmux(ctx, "capture-pane", "-p", "-t", "main")))
		}
	}
}
