package tty

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// Window is the window that an agent runs in.
type Window struct {
	Kind   string // kitty, wezterm, zellij, iterm2
	ID     string // what the terminal calls it
	Server string // kitty's address, wezterm's socket, zellij's session
	TTY    string
	PID    int // of the agent
}

func (w *Window) String() string { return w.Kind + " " + w.ID }

// patience limits one command.
const patience = 5 * time.Second

// Terminals brings windows forward. Which window an agent is in is known from its
// environment, which may be inherited or stale, so the terminal is asked first whether the
// agent really is there, as far as it can answer.
type Terminals struct {
	Processes proc.Table
	// Script is osascript; "" if there is none.
	Script string
}

// System has the terminals of this machine.
func System() *Terminals {
	d := &Terminals{Processes: proc.System()}
	if runtime.GOOS == "darwin" {
		d.Script = "/usr/bin/osascript"
	}
	return d
}

var focusers = map[string]func(*Terminals, context.Context, *Window) error{
	"kitty": (*Terminals).focusKitty, "wezterm": (*Terminals).focusWezterm, "zellij": (*Terminals).focusZellij,
	"iterm2": (*Terminals).focusITerm,
}

// Focus brings a window forward. The error says where it is.
func (d *Terminals) Focus(ctx context.Context, w Window) error {
	focus := focusers[w.Kind]
	if focus == nil {
		return fmt.Errorf("it sits in %s, which takes no commands", &w)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := focus(d, ctx, &w); err != nil {
		return fmt.Errorf("it sits in %s; %w", &w, err)
	}
	return nil
}

// errMoved says that the terminal has another program there.
var errMoved = errors.New("another program sits there by now")

// kittyWindows lists kitty's windows.
type kittyWindows []struct {
	Tabs []struct {
		Windows []struct {
			ID  int `json:"id"`
			PID int `json:"pid"`
		} `json:"windows"`
	} `json:"tabs"`
}

func (d *Terminals) focusKitty(ctx context.Context, w *Window) error {
	if !strings.HasPrefix(w.Server, "unix:") {
		return errors.New("`allow_remote_control socket-only` and `listen_on unix:@kitty` in kitty.conf let hookmux " +
			"go there")
	}
	program, err := findProgram("kitty", "/Applications/kitty.app/Contents/MacOS/kitty")
	if err != nil {
		return err
	}
	listed, err := run(ctx, nil, program, "@", "--to", w.Server, "ls")
	if err != nil {
		return err
	}
	var list kittyWindows
	if err := json.Unmarshal(listed, &list); err != nil {
		return errors.New("kitty lists its windows in another way than is known")
	}
	for _, outer := range list {
		for _, tab := range outer.Tabs {
			for _, one := range tab.Windows {
				if fmt.Sprint(one.ID) == w.ID && d.isBelow(w.PID, one.PID) {
					_, err := run(ctx, nil, program, "@", "--to", w.Server, "focus-window", "--match", "id:"+w.ID)
					return err
				}
			}
		}
	}
	return errMoved
}

// isBelow reports whether a process is another one or runs below it.
func (d *Terminals) isBelow(pid, other int) bool {
	for _, p := range proc.Ancestry(d.Processes, pid, 64) {
		if p.PID == other {
			return true
		}
	}
	return false
}

func (d *Terminals) focusWezterm(ctx context.Context, w *Window) error {
	program, err := findProgram("wezterm", "/Applications/WezTerm.app/Contents/MacOS/wezterm")
	if err != nil {
		return err
	}
	var env []string
	if w.Server != "" {
		env = []string{"WEZTERM_UNIX_SOCKET=" + w.Server}
	}
	listed, err := run(ctx, env, program, "cli", "--no-auto-start", "list", "--format", "json")
	if err != nil {
		return err
	}
	var panes []struct {
		ID  int    `json:"pane_id"`
		TTY string `json:"tty_name"`
	}
	if err := json.Unmarshal(listed, &panes); err != nil {
		return errors.New("wezterm lists its panes in another way than is known")
	}
	for _, one := range panes {
		if fmt.Sprint(one.ID) == w.ID && one.TTY == w.TTY {
			_, err := run(ctx, env, program, "cli", "--no-auto-start", "activate-pane", "--pane-id", w.ID)
			return err
		}
	}
	return errMoved
}

func (d *Terminals) focusZellij(ctx context.Context, w *Window) error {
	if w.Server == "" {
		return errors.New("the name of its zellij session is not known")
	}
	program, err := findProgram("zellij")
	if err != nil {
		return err
	}
	_, err = run(ctx, nil, program, "--session", w.Server, "action", "focus-pane-id", "terminal_"+w.ID)
	return err
}

// itermScript selects the session at a terminal; no part of it is made of other texts.
const itermScript = `on run argv
	tell application "iTerm2"
		repeat with w in windows
			repeat with t in tabs of w
				repeat with s in sessions of t
					if tty of s is item 1 of argv then
						select w
						tell t to select
						tell s to select
						activate
						return
					end if
				end repeat
			end repeat
		end repeat
	end tell
	error "no session of iTerm2 has this terminal"
end run`

func (d *Terminals) focusITerm(ctx context.Context, w *Window) error {
	if d.Script == "" || w.TTY == "" {
		return errors.New("iTerm2 is on another machine")
	}
	_, err := run(ctx, nil, d.Script, "-e", itermScript, "--", w.TTY)
	return err
}

// findProgram finds a program on PATH, else at one of its usual places.
func findProgram(name string, places ...string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, place := range places {
		if info, err := os.Stat(place); err == nil && info.Mode().IsRegular() {
			return place, nil
		}
	}
	return "", fmt.Errorf("%s is not on PATH", name)
}

// run runs a program and returns what it prints; an error contains the first line of what it
// complains about.
func run(ctx context.Context, env []string, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second
	cmd.Env = append(os.Environ(), env...)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		said, _, _ := strings.Cut(strings.TrimSpace(problem.String()), "\n")
		if said == "" {
			said = err.Error()
		}
		return nil, fmt.Errorf("%s: %s", filepath.Base(program), termsafe.Line(said, 200))
	}
	return out.Bytes(), nil
}
