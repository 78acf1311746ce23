package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/shell/quote"
	"github.com/hookmux/hookmux/internal/verify/model"
)

// terminal is an agent in a tmux server of its own: nobody else's sessions are
// seen or touched, and the server ends with the act.
type terminal struct {
	st     *Stage
	tmux   string
	socket string
	pid    int // of the agent
}

// atTerminal starts the agent interactively, lets a person act, and ends both.
func (st *Stage) atTerminal(ctx context.Context, args []string, person func(context.Context, *terminal) error) error {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		return unplayable("needs a terminal, and tmux is not installed")
	}
	ctx, cancel := context.WithTimeout(ctx, st.patience)
	defer cancel()
	st.terminals++ // a server that is just ending would answer at the same address
	t := &terminal{st: st, tmux: tmux, socket: filepath.Join(st.Base, "tmux"+strconv.Itoa(st.terminals))}
	argv, err := st.windowCommand(st.start())
	if err != nil {
		return err
	}
	argv = append(argv, args...)
	// The program replaces the shell, so that the pane's process is the agent.
	start := "cd " + quote.Word(st.Project) + " && exec env -i " + st.tmuxVariables() + quote.Line(append(append([]string(nil), st.Env...), argv...)) + "\n"
	script := filepath.Join(st.Base, "start.sh")
	if err := os.WriteFile(script, []byte(start), 0o600); err != nil {
		return err
	}
	conf := filepath.Join(st.Base, "tmux.conf")
	if err := os.WriteFile(conf, []byte("set -g remain-on-exit on\nset -g status off\nset -s escape-time 0\n"), 0o600); err != nil {
		return err
	}
	if _, err := t.runTmux(ctx, "-f", conf, "new-session", "-d", "-x", "160", "-y", "50", "/bin/sh "+quote.Word(script)); err != nil {
		return err
	}
	defer t.stopAll()
	out, err := t.runTmux(ctx, "display-message", "-p", "#{pane_pid}")
	if err != nil {
		return err
	}
	t.pid, _ = strconv.Atoi(strings.TrimSpace(out))
	t.passWelcome(ctx)
	err = person(ctx, t)
	t.keepScreen()
	return err
}

// passWelcome gets screens out of the way that stand before the prompt. The first
// event tells that there is none left.
func (t *terminal) passWelcome(ctx context.Context) {
	if len(t.st.Driver.Welcome) == 0 {
		return
	}
	for range 100 {
		screen := strings.Join(strings.Fields(t.captureScreen(ctx)), " ")
		for _, w := range t.st.Driver.Welcome {
			if strings.Contains(screen, w.Text) {
				t.keepScreen()
				pauseFor(ctx, 400*time.Millisecond) // a screen that was just drawn takes no keys yet
				for _, key := range w.Keys {
					if t.pressKeys(ctx, key) != nil || !pauseFor(ctx, 200*time.Millisecond) {
						return
					}
				}
			}
		}
		if len(t.st.watcher.allSeen()) > 0 || !pauseFor(ctx, 100*time.Millisecond) {
			return
		}
	}
}

func (t *terminal) runTmux(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, t.tmux, append([]string{"-S", t.socket}, args...)...)
	// Not the caller's: TMUX would make it somebody else's child.
	cmd.Env = []string{"PATH=" + t.st.lookupEnv("PATH"), "HOME=" + t.st.Home, "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/sh"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// captureScreen is what a person sees now.
func (t *terminal) captureScreen(ctx context.Context) string {
	out, err := t.runTmux(ctx, "capture-pane", "-p", "-J")
	if err != nil {
		return ""
	}
	return out
}

// keepScreen remembers the screen.
func (t *terminal) keepScreen() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s := t.captureScreen(ctx)
	if s != "" {
		t.st.evidence.Screens = append(t.st.evidence.Screens, s)
	}
	return s
}

// awaitText waits until the screen shows a text.
func (t *terminal) awaitText(ctx context.Context, text string) bool {
	return t.awaitUnless(ctx, text, func() bool { return false })
}

// awaitUnless gives up when it is over.
func (t *terminal) awaitUnless(ctx context.Context, text string, over func() bool) bool {
	for {
		late := over()
		if strings.Contains(strings.Join(strings.Fields(t.captureScreen(ctx)), " "), text) {
			t.keepScreen()
			return true
		}
		if late || !pauseFor(ctx, 100*time.Millisecond) {
			t.keepScreen()
			return false
		}
	}
}

// awaitStillness waits until the screen stands still.
func (t *terminal) awaitStillness(ctx context.Context) {
	for last, same := "", 0; same < 4; {
		now := t.captureScreen(ctx)
		if now == last {
			same++
		} else {
			last, same = now, 0
		}
		if !pauseFor(ctx, 150*time.Millisecond) {
			break
		}
	}
	t.keepScreen()
}

func (t *terminal) pressKeys(ctx context.Context, keys ...string) error {
	_, err := t.runTmux(ctx, append([]string{"send-keys"}, keys...)...)
	return err
}

// typeLine types a line and sends it off.
func (t *terminal) typeLine(ctx context.Context, line string) error {
	if _, err := t.runTmux(ctx, "send-keys", "-l", line); err != nil {
		return err
	}
	t.awaitStillness(ctx) // menus open while typing
	return t.pressKeys(ctx, "Enter")
}

func (t *terminal) hasEnded(ctx context.Context) bool {
	out, err := t.runTmux(ctx, "display-message", "-p", "#{pane_dead}")
	return err != nil || strings.TrimSpace(out) == "1"
}

// stopAll stops the agent, then the server, which was started for it alone.
func (t *terminal) stopAll() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if t.pid > 1 && !t.hasEnded(ctx) {
		if p, err := os.FindProcess(t.pid); err == nil {
			terminateProcess(p)
			for range 30 {
				if t.hasEnded(ctx) || !pauseFor(ctx, 100*time.Millisecond) {
					break
				}
			}
		}
	}
	_, _ = t.runTmux(ctx, "kill-server") // it may be gone with its only session
}

func pauseFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func noDialog(a *agent.Agent, d Driver) string {
	if d.TUI == nil {
		return "no interactive start that works offline is known" + reasonSuffix(d.NoTUI)
	}
	if !claimOf(a, event.ToolBefore).Ask && d.Compact == "" && !d.KeepAtTerminal {
		return "nothing that only shows interactively"
	}
	return ""
}

// playDialog: a hook has the person asked, the person says yes, has the
// conversation compacted, which a hook refuses, and leaves.
func playDialog(ctx context.Context, st *Stage) error {
	asks := st.claimFor(event.ToolBefore).Ask
	var calls []model.ToolCall
	if asks {
		calls = append(calls, st.taggedCall("ask"))
	}
	calls = append(calls, st.taggedCall("shown"))
	st.setScript(append(callSteps(calls...), model.Step{Say: lastWords}, model.Step{Say: "Went on."}))
	err := st.startHubWithHooks(func(ev *event.Event, n int) event.Decision {
		switch {
		case ev.Kind == event.ToolBefore && tagOf(ev) == "ask":
			return event.Decision{Verdict: event.Ask, Reason: wordFor(wordReason, "ask")}
		case ev.Kind == event.CompactBefore && st.claimFor(event.CompactBefore).Context:
			return event.Decision{Context: wordFor(wordContext, ev.Native)}
		case ev.Kind == event.CompactBefore && n == 0:
			return event.Decision{Verdict: event.Deny, Reason: wordFor(wordReason, "compact")}
		case ev.Kind == event.TurnEnd && st.Driver.KeepAtTerminal && n == 0:
			return event.Decision{KeepGoing: true, Reason: goOn(ev.Native, 1)}
		case ev.Kind == event.ToolBefore, ev.Kind == event.ToolAfter, ev.Kind == event.TurnStart, ev.Kind == event.TurnEnd, ev.Kind == event.SessionStart:
			return event.Decision{Notice: wordFor(wordNotice, ev.Native)}
		}
		return event.Decision{}
	})
	if err != nil {
		return err
	}
	return st.atTerminal(ctx, st.Driver.TUI(markedPrompt("Run it"), false), func(ctx context.Context, t *terminal) error {
		return st.playPerson(ctx, t, asks)
	})
}

func (st *Stage) playPerson(ctx context.Context, t *terminal, asks bool) error {
	within := func(d time.Duration) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }
	if asks {
		c, cancel := within(st.patience / 3)
		// A turn that ends all the same was not asked about: no need to wait.
		over := func() bool {
			return st.watcher.hasPassed(func(ev *event.Event) bool { return ev.Kind == event.TurnEnd && ev.Subagent == nil })
		}
		shown := t.awaitUnless(c, wordFor(wordReason, "ask"), over)
		cancel()
		switch {
		case !shown && !over():
			return nil // the check says what is missing
		case !shown:
			asks = false
		}
	}
	if asks {
		if _, err := os.Stat(filepath.Join(st.Project, "ran-ask")); err == nil {
			_ = os.WriteFile(filepath.Join(st.Project, "asked"), []byte("too early"), 0o600)
		}
		// Some agents notify a while after the question came up.
		if hasEvent(st, event.UserAttention) {
			c, cancel := within(12 * time.Second)
			st.watcher.waitForOne(c, func(ev *event.Event) bool { return ev.Kind == event.UserAttention })
			cancel()
		}
		if err := t.pressKeys(ctx, st.Driver.Accept); err != nil {
			return err
		}
	}
	c, cancel := within(st.patience * 2 / 3)
	ends := 1
	if st.Driver.KeepAtTerminal {
		ends = 2
	}
	ended := st.watcher.waitFor(c, ends, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd && ev.Subagent == nil })
	cancel()
	t.awaitStillness(ctx)
	if !ended && !st.watcher.hasPassed(func(ev *event.Event) bool { return ev.Kind == event.TurnEnd }) {
		return errors.New("the turn did not end at the terminal")
	}
	if st.Driver.Compact != "" {
		if err := st.compactTwice(ctx, t); err != nil {
			return err
		}
	}
	if st.Driver.Quit != "" {
		if err := t.typeLine(ctx, st.Driver.Quit); err != nil {
			return err
		}
		c, cancel := within(10 * time.Second)
		defer cancel()
		for !t.hasEnded(c) && pauseFor(c, 100*time.Millisecond) {
		}
	}
	return nil
}

// compactTwice: the first is refused where the agent takes a refusal.
func (st *Stage) compactTwice(ctx context.Context, t *terminal) error {
	times := 1
	if st.claimFor(event.CompactBefore).Deny {
		times = 2
	}
	for i := range times {
		if err := t.typeLine(ctx, st.Driver.Compact); err != nil {
			return err
		}
		kind := event.CompactBefore
		if i == times-1 && st.awaitsCompaction() {
			kind = event.CompactAfter
		}
		c, cancel := context.WithTimeout(ctx, 15*time.Second)
		st.watcher.waitForOne(c, func(ev *event.Event) bool { return ev.Kind == kind })
		cancel()
		t.awaitStillness(ctx)
	}
	return nil
}

// awaitsCompaction: the agent reports a compaction that was made.
func (st *Stage) awaitsCompaction() bool {
	for _, e := range st.Agent.Events {
		if e.Kind == event.CompactAfter {
			return st.Driver.Unseen[e.Name] == ""
		}
	}
	return false
}

func hasEvent(st *Stage, kind event.Kind) bool {
	for _, e := range st.Agent.Events {
		if e.Kind == kind {
			return true
		}
	}
	return false
}

// tmuxVariables lets an agent know its pane, where an act is about that.
func (st *Stage) tmuxVariables() string {
	switch {
	case !st.inPane:
		return ""
	case st.sabotage != nil && st.sabotage.Pane != "":
		return `TMUX="/nowhere,1,0" TMUX_PANE=` + quote.Word(st.sabotage.Pane) + " "
	}
	return `TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" `
}
