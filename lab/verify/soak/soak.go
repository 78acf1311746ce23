// Package soak lets several real agents of one user run for minutes in one tmux server and
// compares, again and again, what their screens show with what hookmux says: a dialog is visible
// exactly when `ps`, `inbox` and the marks in tmux say that the session waits for the user.
//
// Each agent has a simulated user who types prompts, answers dialogs at the agent's own prompt or
// through hookmux, presses Esc, or lets a request wait. What they do comes from a seeded generator,
// so that the same seed produces the same choices.
package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/looks"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Options of a run.
type Options struct {
	Agents []Target
	Bin    string // folder of hookmux and hookmux-hook
	For    time.Duration
	Seed   int64
	// Period is how often the screens are captured.
	Period time.Duration
	// Film is a folder that every sample is written to; empty: none is.
	Film string
}

// Target is an agent to run.
type Target struct {
	Name string
	In   realagents.Installed
}

// agentPane is one agent in its pane, with the user in front of it.
type agentPane struct {
	name    string
	st      *testbed.TestBed
	dialogs *looks.Dialogs
	pane    string // tmux's id of it
	random  *rand.Rand

	mu            sync.Mutex
	personActions []string // what the user did last, newest last
	turns         map[string]int
}

// run is a soak under way.
type run struct {
	options Options
	testBed *testbed.TestBed // the first agent's, which has the daemon
	term    *testbed.Terminal
	client  *client.Client
	panes   []*agentPane
	// terminal simulates the user's trusted terminal, before the daemon starts; nil: this machine.
	terminal func(*testbed.TestBed)

	mu       sync.Mutex
	followed bool // the inbox is being followed, so that requests wait
}

// Run runs the agents for the given time and reports what was seen.
func Run(ctx context.Context, o Options) (*Report, error) {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		return nil, errors.New("tmux is not installed")
	}
	srv, err := model.Start(model.Options{Delay: 400 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	defer srv.Close()
	r := &run{options: o}
	defer r.clearUp()
	if err := r.layOut(srv); err != nil {
		return nil, err
	}
	r.client = &client.Client{Socket: r.testBed.Dirs.Socket(), Timeout: 10 * time.Second}
	r.term = testbed.NewTerminal(r.testBed, tmux, "tmux")
	defer r.stopAgents()
	if err := r.startAgents(ctx); err != nil {
		return nil, err
	}
	if err := r.awaitReady(ctx); err != nil {
		return nil, err
	}
	return r.drivePersons(ctx), nil
}

// layOut creates one home for all agents, with a daemon.
func (r *run) layOut(srv *model.Server) error {
	for i, target := range r.options.Agents {
		driver, ok := drivers.Find(target.Name)
		how := looks.Of(target.Name)
		if !ok || how == nil || !how.AsksQuestions() {
			return fmt.Errorf("%s: nobody knows what its dialogs look like", target.Name)
		}
		st, err := testbed.New(&testbed.Setting{
			Driver: driver, In: target.In, Bin: r.options.Bin, Model: srv, Patience: r.options.For + time.Hour,
			Serial: func() string { return "soak" }, SharedWith: r.testBed,
		}, "soak")
		if err != nil {
			return err
		}
		if i == 0 {
			r.testBed = st
			if err := drivers.WriteJSON(filepath.Join(st.Dirs.Config, "config.json"),
				map[string]string{config.TmuxFollow: "on"}); err != nil {
				return err
			}
			if r.terminal != nil {
				r.terminal(st)
			}
			if err := st.StartDaemon(nil); err != nil {
				return err
			}
		}
		if err := st.InstallHooks(); err != nil {
			return err
		}
		st.Env = append(st.Env, driver.StrictEnv...)
		srv.SetScenario(st.Run, scenarioOf(st, how))
		r.panes = append(r.panes, &agentPane{
			name: target.Name, st: st, dialogs: how, turns: map[string]int{},
			random: rand.New(rand.NewSource(r.options.Seed + int64(i))),
		})
	}
	return nil
}

// startAgents opens a window for each.
func (r *run) startAgents(ctx context.Context) error {
	conf := filepath.Join(r.testBed.Base, "tmux.conf")
	if err := os.WriteFile(conf, []byte("set -g remain-on-exit on\nset -s escape-time 0\n"), 0o600); err != nil {
		return err
	}
	for i, p := range r.panes {
		argv := slices.Concat(p.st.AgentCommand().Argv, p.dialogs.Args)
		line := "cd " + shellquote.Word(p.st.Project) + ` && exec env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" ` +
			shellquote.Line(append(append([]string(nil), p.st.Env...), argv...)) + "\n"
		script := filepath.Join(r.testBed.Base, "start-"+p.name+".sh")
		if err := os.WriteFile(script, []byte(line), 0o600); err != nil {
			return err
		}
		args := []string{"new-window", "-P", "-F", "#{pane_id}", "/bin/sh " + shellquote.Word(script)}
		if i == 0 {
			args = []string{
				"-f", conf, "new-session", "-d", "-x", "140", "-y", "50", "-P", "-F", "#{pane_id}",
				"/bin/sh " + shellquote.Word(script),
			}
		}
		out, err := r.term.RunTmux(ctx, args...)
		if err != nil {
			return err
		}
		p.pane = strings.TrimSpace(out)
	}
	return nil
}

// awaitReady waits until every agent shows its prompt.
func (r *run) awaitReady(ctx context.Context) error {
	for _, p := range r.panes {
		// Other screens may come up after the first look at the prompt.
		steady := 0
		for end := time.Now().Add(2 * time.Minute); steady < 10 && time.Now().Before(end); {
			screen := r.capture(ctx, p.pane)
			steady++
			if r.passWelcome(ctx, p, looks.Squeeze(screen)) || !p.dialogs.IsReady(screen) {
				steady = 0
			}
			if !testbed.PauseFor(ctx, 200*time.Millisecond) {
				return ctx.Err()
			}
		}
		if steady < 10 {
			return fmt.Errorf("%s does not show its prompt:\n%s", p.name, r.capture(ctx, p.pane))
		}
	}
	return nil
}

// passWelcome dismisses a screen that appears before the prompt, and reports whether there was one.
func (r *run) passWelcome(ctx context.Context, p *agentPane, screen string) bool {
	for _, w := range p.st.Driver.Welcome {
		if !strings.Contains(screen, w.Text) {
			continue
		}
		testbed.PauseFor(ctx, time.Second) // a screen that was just drawn takes no keys yet
		r.pressSlowly(ctx, p, w.Keys)
		return true
	}
	return false
}

func (r *run) capture(ctx context.Context, pane string) string {
	out, err := r.term.RunTmux(ctx, "capture-pane", "-p", "-J", "-t", pane)
	if err != nil {
		return ""
	}
	return out
}

func (r *run) press(ctx context.Context, p *agentPane, keys ...string) error {
	_, err := r.term.RunTmux(ctx, append([]string{"send-keys", "-t", p.pane}, keys...)...)
	return err
}

// drivePersons lets every simulated user act and watches until the time is over.
func (r *run) drivePersons(ctx context.Context) *Report {
	acting, stop := context.WithTimeout(ctx, r.options.For)
	defer stop()
	var group sync.WaitGroup
	for _, p := range r.panes {
		group.Go(func() { r.drivePerson(acting, p) })
	}
	group.Go(func() { r.toggleInbox(acting) })
	watched := r.watchScreens(acting)
	group.Wait()
	return r.makeReport(watched)
}

// toggleInbox has the inbox followed for a while, then not followed for a while, and so on.
func (r *run) toggleInbox(ctx context.Context) {
	random := rand.New(rand.NewSource(r.options.Seed - 1))
	for on := true; ; on = !on {
		r.testBed.Daemon.CountSink(on)
		r.mu.Lock()
		r.followed = on
		r.mu.Unlock()
		if !testbed.PauseFor(ctx, time.Duration(20+random.Intn(40))*time.Second) {
			if on {
				r.testBed.Daemon.CountSink(false)
			}
			return
		}
	}
}

// stopAgents ends the tmux server that was started for this run, and its agents.
func (r *run) stopAgents() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	_, _ = r.term.RunTmux(ctx, "kill-server") // it may be gone already
}

func (r *run) clearUp() {
	for _, p := range r.panes {
		p.st.ClearUp()
		realagents.Sweep(p.name, p.st.Home)
	}
	if r.testBed != nil {
		r.testBed.StopDaemon()
		testbed.RemoveAll(r.testBed.Base)
	}
}
