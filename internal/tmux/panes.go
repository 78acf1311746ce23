package tmux

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Pane is one pane at one moment. The texts in it are raw: what shows them
// makes them visible first.
type Pane struct {
	ID         string // %3
	PID        int    // the process tmux started in it
	TTY        string
	Session    string // $0
	SessionIs  string // the session's name
	Window     string // @1
	Index      int    // the window's number in its session
	WindowName string
	Command    string // what runs in the foreground
	Path       string
	Dead       bool // its process ended, the pane stays
	Active     bool // the active pane of its window
	InMode     bool // copy mode or another that eats keys
}

// sep parts the fields of a row. tmux writes control characters in names
// itself as something else, so none of the fields can hold it; the path comes
// last all the same, because a path may hold anything.
const sep = "\t"

var paneFields = strings.Join([]string{
	"#{pane_id}", "#{pane_pid}", "#{pane_tty}", "#{session_id}", "#{window_id}", "#{window_index}", "#{pane_dead}",
	"#{pane_active}", "#{pane_in_mode}", "#{session_name}", "#{window_name}", "#{pane_current_command}",
	"#{pane_current_path}",
}, sep)

// Panes lists all panes of the server.
func (s *Server) Panes(ctx context.Context) ([]Pane, error) {
	out, err := s.runCommand(ctx, "list-panes", "-a", "-F", paneFields)
	if err != nil {
		return nil, err
	}
	var panes []Pane
	seen := map[string]bool{} // a window linked into two sessions is listed twice
	for _, row := range strings.Split(out, "\n") {
		if p, ok := parsePane(row); ok && !seen[p.ID] {
			seen[p.ID] = true
			panes = append(panes, p)
		}
	}
	return panes, nil
}

func parsePane(row string) (Pane, bool) {
	f := strings.SplitN(row, sep, 13)
	if len(f) != 13 || !validID(f[0], '%') {
		return Pane{}, false
	}
	p := Pane{ID: f[0], TTY: f[2], Session: f[3], Window: f[4], SessionIs: f[9], WindowName: f[10], Command: f[11],
		Path: f[12]}
	p.PID, _ = strconv.Atoi(f[1])
	p.Index, _ = strconv.Atoi(f[5])
	p.Dead, p.Active, p.InMode = f[6] == "1", f[7] == "1", f[8] != "0" && f[8] != ""
	return p, true
}

// validID keeps a pane or window from an environment or a record from being anything but an id:
// tmux would take other text as a pattern.
func validID(id string, kind byte) bool {
	if len(id) < 2 || len(id) > 12 || id[0] != kind {
		return false
	}
	for _, c := range id[1:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// Pane returns one pane; an error says that it is not there any more.
func (s *Server) Pane(ctx context.Context, id string) (Pane, error) {
	if !validID(id, '%') {
		return Pane{}, fmt.Errorf("%q is not a tmux pane; they look like %%3", id)
	}
	panes, err := s.Panes(ctx)
	if err != nil {
		return Pane{}, err
	}
	for _, p := range panes {
		if p.ID == id {
			return p, nil
		}
	}
	return Pane{}, fmt.Errorf("pane %s is closed", id)
}

// Hint holds what is known about a process whose pane is sought.
type Hint struct {
	PID  int
	TTY  string // its controlling terminal, "" when unknown
	Pane string // TMUX_PANE of its environment, to be checked
}

// PaneOf finds the pane a process is in. What the environment says is only used if the pane's own
// processes agree: its terminal is the process's, or its first process is above it. "" means that
// it is in none.
func (s *Server) PaneOf(ctx context.Context, table proc.Table, hint Hint) (Pane, bool, error) {
	panes, err := s.Panes(ctx)
	if err != nil {
		return Pane{}, false, err
	}
	p, ok := Find(panes, table, hint)
	return p, ok, nil
}

// Find is PaneOf for panes that are listed already.
func Find(panes []Pane, table proc.Table, hint Hint) (Pane, bool) {
	chain := proc.Ancestry(table, hint.PID, 64)
	tty := hint.TTY
	if tty == "" && len(chain) > 0 {
		tty = chain[0].TTY
	}
	belongs := func(p Pane) bool {
		if p.Dead {
			return false
		}
		if tty != "" {
			// On a terminal, that terminal decides: what runs below a pane may
			// have opened one of its own (ssh, script, another tmux).
			return p.TTY == tty
		}
		return p.PID > 1 && slices.ContainsFunc(chain, func(q proc.Process) bool { return q.PID == p.PID })
	}
	var found []Pane
	for _, p := range panes {
		if belongs(p) {
			if p.ID == hint.Pane {
				return p, true
			}
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		// A terminal below a pane (script, a pty of a wrapper): still there.
		for _, p := range panes {
			if !p.Dead && p.PID > 1 && slices.ContainsFunc(chain, func(q proc.Process) bool { return q.PID == p.PID }) {
				return p, true
			}
		}
		return Pane{}, false
	}
	return found[0], true
}

// AtShell reports whether a pane waits at a shell's prompt, as far as that can
// be known: its first process is an interactive shell, nothing else has the
// terminal, and no mode eats the keys. A half-typed line cannot be seen.
func AtShell(table proc.Table, p Pane) bool {
	if p.Dead || p.InMode || p.PID <= 1 {
		return false
	}
	process, err := table.Lookup(p.PID)
	if err != nil || process.PGID == 0 || process.Foreground != process.PGID {
		return false
	}
	args, err := table.Args(p.PID)
	if err != nil || len(args) == 0 {
		return false
	}
	name := strings.TrimPrefix(filepath.Base(args[0]), "-")
	if program, err := table.Program(p.PID); err == nil {
		name = filepath.Base(program)
	}
	return slices.Contains(shells, name) && isInteractive(args[1:])
}

var shells = []string{"sh", "bash", "zsh", "fish", "dash", "ksh", "mksh", "ash", "busybox", "tcsh", "csh", "nu",
	"elvish", "xonsh", "pwsh"}

// isInteractive reports whether a shell is at a prompt: with a script or a -c it runs that
// and isn't.
func isInteractive(args []string) bool {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--rcfile" || a == "--init-file" || a == "-o" || a == "-O" || a == "+O" || a == "--init-command" ||
			a == "-C":
			i++
		case strings.HasPrefix(a, "--"):
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+"):
			if strings.Contains(a, "c") {
				return false
			}
		case i == 0 && (a == "sh" || a == "ash"): // busybox sh
		default:
			return false
		}
	}
	return true
}

// PaneTitle returns the title that the program in a pane gave its terminal.
func (s *Server) PaneTitle(ctx context.Context, id string) (string, error) {
	if !validID(id, '%') {
		return "", fmt.Errorf("%s is not a tmux pane; they look like %%3", id)
	}
	return s.readValue(ctx, "display-message", "-p", "-t", id, "#{pane_title}")
}
