package testbed

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

// Terminal is an agent in a tmux server of its own: no other sessions are seen or touched, and the
// server ends with the run.
type Terminal struct {
	TestBed *TestBed
	tmux    string
	socket  string
	PID     int // of the agent
}

// NewTerminal returns a terminal whose tmux server listens below the test bed's folder.
func NewTerminal(st *TestBed, tmux, name string) *Terminal {
	return &Terminal{TestBed: st, tmux: tmux, socket: filepath.Join(st.Base, name)}
}

// AtTerminal starts the agent interactively, lets person act, and ends both.
func (st *TestBed) AtTerminal(ctx context.Context, args []string, person func(context.Context, *Terminal) error) error {
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		return CannotRun("needs a terminal, and tmux is not installed")
	}
	ctx, cancel := context.WithTimeout(ctx, st.Patience)
	defer cancel()
	st.terminals++ // a server that is just ending would answer at the same address
	t := NewTerminal(st, tmux, "tmux"+strconv.Itoa(st.terminals))
	argv, err := st.windowCommand(st.AgentCommand())
	if err != nil {
		return err
	}
	argv = append(argv, args...)
	// The program replaces the shell, so that the pane's process is the agent.
	start := "cd " + shellquote.Word(st.Project) + " && exec env -i " + st.tmuxVariables() + shellquote.Line(
		append(append([]string(nil), st.Env...), argv...),
	) + "\n"
	script := filepath.Join(st.Base, "start.sh")
	if err := os.WriteFile(script, []byte(start), 0o600); err != nil {
		return err
	}
	conf := filepath.Join(st.Base, "tmux.conf")
	if err := os.WriteFile(conf, []byte("set -g remain-on-exit on\nset -g status off\nset -s escape-time 0\n"),
		0o600); err != nil {
		return err
	}
	if _, err := t.RunTmux(ctx, "-f", conf, "new-session", "-d", "-x", strconv.Itoa(cmp.Or(st.Columns, 160)),
		"-y", strconv.Itoa(cmp.Or(st.Lines, 50)),
		"/bin/sh "+shellquote.Word(script)); err != nil {
		return err
	}
	defer t.StopAll()
	out, err := t.RunTmux(ctx, "display-message", "-p", "#{pane_pid}")
	if err != nil {
		return err
	}
	t.PID, _ = strconv.Atoi(strings.TrimSpace(out))
	t.passWelcome(ctx)
	err = person(ctx, t)
	t.KeepScreen()
	return err
}

// passWelcome dismisses screens that appear before the prompt. The first event shows that there is
// none left.
func (t *Terminal) passWelcome(ctx context.Context) {
	if len(t.TestBed.Driver.Welcome) == 0 {
		return
	}
	for range 100 {
		screen := strings.Join(strings.Fields(t.CaptureScreen(ctx)), " ")
		for _, w := range t.TestBed.Driver.Welcome {
			if strings.Contains(screen, w.Text) {
				t.KeepScreen()
				PauseFor(ctx, 400*time.Millisecond) // a screen that was just drawn takes no keys yet
				for _, key := range w.Keys {
					if t.PressKeys(ctx, key) != nil || !PauseFor(ctx, 200*time.Millisecond) {
						return
					}
				}
			}
		}
		if len(t.TestBed.Watcher.AllSeen()) > 0 || !PauseFor(ctx, 100*time.Millisecond) {
			return
		}
	}
}

func (t *Terminal) RunTmux(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, t.tmux, append([]string{"-S", t.socket}, args...)...)
	// Not the caller's: TMUX would make it look like a child of another tmux.
	cmd.Env = []string{
		"PATH=" + t.TestBed.LookupEnv("PATH"),
		"HOME=" + t.TestBed.Home,
		"TERM=xterm-256color",
		"LANG=C.UTF-8",
		"SHELL=/bin/sh",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// CaptureScreen returns what the user sees now.
func (t *Terminal) CaptureScreen(ctx context.Context) string {
	out, err := t.RunTmux(ctx, "capture-pane", "-p", "-J")
	if err != nil {
		return ""
	}
	return out
}

// KeepScreen remembers the screen.
func (t *Terminal) KeepScreen() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s := t.CaptureScreen(ctx)
	if s != "" {
		t.TestBed.Evidence.Screens = append(t.TestBed.Evidence.Screens, s)
	}
	return s
}

// AwaitText waits until the screen shows a text.
func (t *Terminal) AwaitText(ctx context.Context, text string) bool {
	return t.AwaitUnless(ctx, text, func() bool { return false })
}

// AwaitUnless gives up when it is over.
func (t *Terminal) AwaitUnless(ctx context.Context, text string, over func() bool) bool {
	for {
		late := over()
		if strings.Contains(strings.Join(strings.Fields(t.CaptureScreen(ctx)), " "), text) {
			t.KeepScreen()
			return true
		}
		if late || !PauseFor(ctx, 100*time.Millisecond) {
			t.KeepScreen()
			return false
		}
	}
}

// AwaitStillness waits until the screen no longer changes.
func (t *Terminal) AwaitStillness(ctx context.Context) {
	for last, same := "", 0; same < 4; {
		now := t.CaptureScreen(ctx)
		if now == last {
			same++
		} else {
			last, same = now, 0
		}
		if !PauseFor(ctx, 150*time.Millisecond) {
			break
		}
	}
	t.KeepScreen()
}

func (t *Terminal) PressKeys(ctx context.Context, keys ...string) error {
	_, err := t.RunTmux(ctx, append([]string{"send-keys"}, keys...)...)
	return err
}

// TypeLine types a line and sends it off.
func (t *Terminal) TypeLine(ctx context.Context, line string) error {
	if _, err := t.RunTmux(ctx, "send-keys", "-l", line); err != nil {
		return err
	}
	t.AwaitStillness(ctx) // menus open while typing
	return t.PressKeys(ctx, "Enter")
}

func (t *Terminal) HasEnded(ctx context.Context) bool {
	out, err := t.RunTmux(ctx, "display-message", "-p", "#{pane_dead}")
	return err != nil || strings.TrimSpace(out) == "1"
}

// StopAll stops the agent, then the server, which was started for it alone.
func (t *Terminal) StopAll() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if t.PID > 1 && !t.HasEnded(ctx) {
		if p, err := os.FindProcess(t.PID); err == nil {
			terminateProcess(p)
			for range 30 {
				if t.HasEnded(ctx) || !PauseFor(ctx, 100*time.Millisecond) {
					break
				}
			}
		}
	}
	_, _ = t.RunTmux(ctx, "kill-server") // it may be gone with its only session
}

// tmuxVariables lets an agent know its pane, if a run is about that.
func (st *TestBed) tmuxVariables() string {
	switch {
	case !st.InPane:
		return ""
	case st.Breakage != nil && st.Breakage.Pane != "":
		return `TMUX="/nowhere,1,0" TMUX_PANE=` + shellquote.Word(st.Breakage.Pane) + " "
	}
	return `TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" `
}
