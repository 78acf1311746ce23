package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/wire"
)

// urgency orders statuses for a window with several agents: the one you should look at first is
// shown.
var urgency = []string{wire.StatusWaiting, wire.StatusFailed, wire.StatusRunning, wire.StatusDone,
	wire.StatusUnknown, wire.StatusIdle}

// icons are one column wide each, so that the status line does not jump.
var icons = map[string]string{
	wire.StatusWaiting: "▲", wire.StatusFailed: "✗", wire.StatusRunning: "●", wire.StatusDone: "✓",
	wire.StatusUnknown: "?", wire.StatusIdle: "○",
}

// Icon returns the sign of a status; "" for any other word.
func Icon(status string) string { return icons[status] }

// Mark is shown at a pane about the session in it.
type Mark struct {
	Pane    string // "" for a session that is only counted
	Session string
	Agent   string
	Title   string
	Status  string // a word of wire.Session
	Used    Used
}

// Used holds how much a session used; "" for what isn't known.
type Used struct{ Cost, Tokens, ContextLeft string }

// The options of a pane. A window's have other names: a pane inherits the
// options of its window, and an active pane's would hide the window's.
var paneOptions = []string{"@hookmux_pane_icon", "@hookmux_pane_status", "@hookmux_pane_title", "@hookmux_pane_agent",
	"@hookmux_pane_session", "@hookmux_pane_cost", "@hookmux_pane_tokens", "@hookmux_pane_context"}

// The options of a window: the most urgent of its panes.
var windowOptions = []string{"@hookmux_icon", "@hookmux_status", "@hookmux_title"}

// The options of the server: how many wait, and a short count of all.
var serverOptions = []string{"@hookmux_waiting", "@hookmux_summary"}

func (m Mark) optionValues() []string {
	return []string{Icon(m.Status), m.Status, Data(m.Title, titleWidth), Data(m.Agent, titleWidth),
		Data(m.Session, titleWidth), Data(m.Used.Cost, titleWidth),
		Data(m.Used.Tokens, titleWidth), Data(m.Used.ContextLeft, titleWidth)}
}

// SetIcons writes marks into the options of their panes and windows, so that
// the user's status line can show #{@hookmux_icon} and the others. Panes and
// windows that carry marks but are not in the list lose them. Marks of panes
// that are gone are passed over.
func (s *Server) SetIcons(ctx context.Context, marks []Mark) error {
	panes, err := s.markedPanes(ctx)
	if err != nil {
		return err
	}
	byPane := map[string][]Mark{}
	var elsewhere []Mark
	for _, m := range marks {
		switch {
		case icons[m.Status] == "":
		case m.Pane == "":
			elsewhere = append(elsewhere, m)
		case validID(m.Pane, '%'):
			byPane[m.Pane] = append(byPane[m.Pane], m)
		}
	}
	var commands [][]string
	type windowMarks struct {
		marks []Mark
		now   []string
	}
	windows := map[string]*windowMarks{}
	var order []string
	var shown []Mark
	for _, p := range panes {
		w := windows[p.window]
		if w == nil {
			w = &windowMarks{now: p.windowNow}
			windows[p.window] = w
			order = append(order, p.window)
		}
		var want []string
		if here := byPane[p.id]; len(here) > 0 {
			m := firstMark(here)
			want = m.optionValues()
			w.marks = append(w.marks, m)
			shown = append(shown, here...)
		}
		commands = appendOptions(commands, "-p", p.id, paneOptions, p.paneNow, want)
	}
	for _, id := range order {
		w := windows[id]
		var want []string
		if len(w.marks) > 0 {
			m := firstMark(w.marks)
			want = []string{Icon(m.Status), m.Status, Data(m.Title, titleWidth)}
		}
		commands = appendOptions(commands, "-w", id, windowOptions, w.now, want)
	}
	if len(panes) > 0 {
		shown = append(shown, elsewhere...)
		waiting, summary := countMarks(shown)
		want := []string{waiting, summary}
		if len(shown) == 0 {
			want = nil
		}
		commands = appendOptions(commands, "-g", "", serverOptions, panes[0].serverNow, want)
	}
	return s.runEach(ctx, commands)
}

// runEach runs commands in one go; if one fails because its pane was closed meanwhile, the others are
// run one by one.
func (s *Server) runEach(ctx context.Context, commands [][]string) error {
	if len(commands) == 0 {
		return nil
	}
	err := s.runBatch(ctx, commands)
	if err == nil || ctx.Err() != nil || errors.Is(err, ErrNoServer) || errors.Is(err, ErrNoTmux) {
		return err
	}
	for _, c := range commands {
		if _, err := s.runCommand(ctx, c...); errors.Is(err, ErrNoServer) || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// markedPane is a pane with the marks it carries.
type markedPane struct {
	id, window                    string
	paneNow, windowNow, serverNow []string
}

func (s *Server) markedPanes(ctx context.Context) ([]markedPane, error) {
	fields := []string{"#{pane_id}", "#{window_id}"}
	all := slices.Concat(paneOptions, windowOptions, serverOptions)
	for _, option := range all {
		fields = append(fields, "#{"+option+"}")
	}
	out, err := s.runCommand(ctx, "list-panes", "-a", "-F", strings.Join(fields, sep))
	if err != nil {
		return nil, err
	}
	var panes []markedPane
	seen := map[string]bool{}
	for _, row := range strings.Split(out, "\n") {
		f := strings.Split(row, sep)
		if len(f) != len(fields) || seen[f[0]] {
			continue
		}
		seen[f[0]] = true
		p, w := 2+len(paneOptions), 2+len(paneOptions)+len(windowOptions)
		panes = append(panes, markedPane{id: f[0], window: f[1], paneNow: f[2:p], windowNow: f[p:w], serverNow: f[w:]})
	}
	return panes, nil
}

// appendOptions adds what is needed to get from now to want; want nil takes the
// options away. What is as wanted already costs nothing.
func appendOptions(commands [][]string, scope, target string, names, now, want []string) [][]string {
	for i, name := range names {
		to := ""
		if want != nil {
			to = want[i]
		}
		if now[i] == to {
			continue
		}
		c := []string{"set-option", scope}
		if to == "" {
			c = append(c, "-u")
		}
		if target != "" {
			c = append(c, "-t", target)
		}
		c = append(c, name)
		if to != "" {
			c = append(c, to)
		}
		commands = append(commands, c)
	}
	return commands
}

// firstMark returns the mark to look at first.
func firstMark(marks []Mark) Mark {
	return slices.MinFunc(marks, func(a, b Mark) int {
		return slices.Index(urgency, a.Status) - slices.Index(urgency, b.Status)
	})
}

// countMarks returns how many wait, and a short line about all: ▲1 ●2.
func countMarks(marks []Mark) (waiting, summary string) {
	n := map[string]int{}
	for _, m := range marks {
		n[m.Status]++
	}
	var parts []string
	for _, s := range urgency {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%s%d", Icon(s), n[s]))
		}
	}
	return fmt.Sprint(n[wire.StatusWaiting]), strings.Join(parts, " ")
}

// Clear removes every mark and every name of ours from the server.
func (s *Server) Clear(ctx context.Context) error {
	if err := s.SetIcons(ctx, nil); err != nil {
		return err
	}
	out, err := s.runCommand(ctx, "list-windows", "-a", "-F", "#{window_id}"+sep+"#{"+optName+"}")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, row := range strings.Split(out, "\n") {
		if id, name, ok := strings.Cut(row, sep); ok && name != "" && !seen[id] {
			seen[id] = true
			if err := s.RestoreName(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}
