package text

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// status is a session's status as a sign and a word.
func (s Style) status(one *wire.Session) string {
	if one.Ended != nil {
		return s.dim("- ended")
	}
	switch one.Status {
	case "needsInput":
		return s.yellow("▲ waits")
	case "running":
		return s.cyan("● runs")
	case "success":
		return s.green("✓ done")
	case "failed":
		return s.red("✗ failed")
	case "unsure":
		return s.dim("? unsure")
	case "neverRan":
		return s.dim("· new")
	}
	return "○ idle"
}

// doing is what a session does now, or how its last turn went.
func doing(one *wire.Session) string {
	t := one.Turn
	switch {
	case one.Ended != nil && one.EndReason != "" && (t == nil || t.Summary == ""):
		return one.EndReason
	case len(one.Asks) > 0:
		return strings.Join(one.Asks, "; ")
	case t == nil:
		return ""
	case t.Ended == nil:
		if one.Subagents > 0 && one.Tool == "" {
			return fmt.Sprintf("%d %s at work", one.Subagents, plural(one.Subagents, "subagent", "subagents"))
		}
		return one.Tool
	}
	if result := Result(t); result != "" && t.Summary != "" {
		return result + " · " + t.Summary
	} else if result != "" {
		return result
	}
	return t.Summary
}

// Result is how a turn went, in words; empty when it went well or goes on.
func Result(t *wire.Turn) string {
	switch t.Result {
	case "toolErrors":
		if t.Errors == 0 {
			return "a call failed" // more was not said
		}
		return fmt.Sprintf("%d %s failed", t.Errors, plural(t.Errors, "call", "calls"))
	case "apiError":
		if t.Error != "" {
			return "model error: " + t.Error
		}
		return "model error"
	case "interrupted":
		return "interrupted"
	}
	return ""
}

// where is the spot a session sits in.
func where(one *wire.Session) string {
	switch {
	case one.Mux == "tmux" || one.Pane == "unknown":
		return one.Pane
	case one.Pane != "" && one.Mux != "":
		return one.Mux + " " + one.Pane
	case one.TTY != "":
		return strings.TrimPrefix(one.TTY, "/dev/")
	}
	return ""
}

// Sessions is a line a session. width is the terminal's; 0 cuts only what is
// endless.
func (s Style) Sessions(w io.Writer, list []wire.Session, now time.Time, width int) {
	if len(list) == 0 {
		return
	}
	ids := prefixes(list)
	rows := [][]string{}
	for i := range list {
		one := &list[i]
		title := one.Title
		if title == "" {
			title = filepath.Base(one.Cwd)
		}
		span := one.Since
		if one.Turn != nil && one.Turn.Ended == nil && one.WaitingSince == nil {
			span = one.Turn.Started
		}
		rows = append(rows, []string{
			s.status(one), termsafe.Line(one.Agent, 12), termsafe.Line(ids[i], 40), termsafe.Line(title, 40),
			ago(now.Sub(span)), termsafe.Line(where(one), 20), termsafe.Line(tail(one.Cwd), 24), termsafe.Line(doing(one), 120),
		})
	}
	head := []string{"STATUS", "AGENT", "ID", "TITLE", "FOR", "WHERE", "IN", "NOW"}
	for i := range head {
		head[i] = s.dim(head[i])
	}
	rows = append([][]string{head}, rows...)
	s.columns(w, rows, width)
}

// columns lines cells up that may hold colours, and cuts lines at width.
func (s Style) columns(w io.Writer, rows [][]string, width int) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], termsafe.Width(plain(cell)))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		used := 0
		for i, cell := range row {
			n := termsafe.Width(plain(cell))
			if width > 0 && used+n > width {
				if room := width - used; room > 1 {
					b.WriteString(termsafe.Line(plain(cell), room))
				}
				break
			}
			b.WriteString(cell)
			used += n
			if i < len(row)-1 {
				gap := widths[i] - n + 2
				b.WriteString(strings.Repeat(" ", gap))
				used += gap
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// plain is a cell without our own colours.
func plain(cell string) string {
	for {
		from := strings.IndexByte(cell, 0x1b)
		if from < 0 {
			return cell
		}
		to := strings.IndexByte(cell[from:], 'm')
		if to < 0 {
			return cell
		}
		cell = cell[:from] + cell[from+to+1:]
	}
}

// prefixes are ids cut where they are still told apart.
func prefixes(list []wire.Session) []string {
	out := make([]string, len(list))
	for i := range list {
		id := list[i].ID
		n := min(8, len(id))
		for j := range list {
			for j != i && n < len(id) && strings.HasPrefix(list[j].ID, id[:n]) {
				n++
			}
		}
		out[i] = id[:n]
	}
	return out
}

// Session is everything about one session.
func (s Style) Session(w io.Writer, d *wire.SessionDetail, now time.Time, quoted string) {
	one := &d.Session
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s %s\n", s.dim(pad(name, 10)), value)
		}
	}
	title := one.Title
	if title == "" {
		title = "(no title)"
	}
	fmt.Fprintf(w, "%s  %s\n", s.bold(termsafe.Line(title, 200)), s.status(one))
	line("session", termsafe.Line(one.ID, 0))
	line("agent", termsafe.Line(strings.TrimSpace(one.Agent+" "+one.Version), 60))
	line("model", termsafe.Line(one.Model, 60))
	line("mode", termsafe.Line(one.Mode, 60))
	line("folder", termsafe.Line(one.Cwd, 0))
	line("place", termsafe.Line(where(one), 60))
	line("started", Moment(one.StartedAt, now)+" ("+ago(now.Sub(one.StartedAt))+" ago)")
	if one.Ended != nil {
		line("ended", Moment(*one.Ended, now)+" "+termsafe.Line(one.EndReason, 100))
	}
	for _, ask := range one.Asks {
		line("waits for", termsafe.Line(ask, 200))
	}
	line("now", termsafe.Line(one.Tool, 120))
	turns := d.Earlier
	if one.Turn != nil {
		turns = append(turns[:len(turns):len(turns)], *one.Turn)
	}
	if len(turns) > 0 {
		fmt.Fprintf(w, "\n%s\n", s.dim(fmt.Sprintf("turns (%d)", one.Turns)))
		for i := range turns {
			s.turn(w, &turns[i], now)
		}
	}
	if len(d.Errors) > 0 {
		fmt.Fprintf(w, "\n%s\n", s.dim("calls that failed"))
		for _, e := range d.Errors {
			text := termsafe.Line(e.Text, 140)
			if e.Exit != 0 {
				text = strings.TrimSpace(fmt.Sprintf("exit %d  %s", e.Exit, text))
			}
			fmt.Fprintf(w, "  %s  %s  %s\n", Moment(e.Time, now), termsafe.Line(e.Tool, 80), s.red(text))
		}
	}
	if len(d.Helpers) > 0 {
		fmt.Fprintf(w, "\n%s\n", s.dim("subagents"))
		for _, h := range d.Helpers {
			state := "at work"
			if h.Ended != nil {
				state = ago(h.Ended.Sub(h.Started))
			}
			fmt.Fprintf(w, "  %s  %s  %d %s  %s\n", termsafe.Line(h.Type, 30), state, h.Tools, plural(h.Tools, "call", "calls"), termsafe.Line(h.Summary, 100))
		}
	}
	if len(d.Files) > 0 {
		fmt.Fprintf(w, "\n%s\n", s.dim("files written"))
		for _, f := range d.Files {
			fmt.Fprintf(w, "  %s\n", termsafe.Line(f, 0))
		}
	}
	if t := one.Turn; t != nil && t.Summary != "" {
		fmt.Fprintf(w, "\n%s\n  %s\n", s.dim("last words"), termsafe.Line(t.Summary, 0))
	}
	fmt.Fprintf(w, "\n%s\n", s.dim("resume"))
	if quoted != "" {
		fmt.Fprintf(w, "  %s\n", termsafe.Line(quoted, 0))
	} else {
		fmt.Fprintf(w, "  %s\n", termsafe.Line(d.NoResume, 0))
	}
}

func (s Style) turn(w io.Writer, t *wire.Turn, now time.Time) {
	mark := s.green("✓")
	end := now
	if t.Ended != nil {
		end = *t.Ended
	}
	switch {
	case t.Ended == nil:
		mark = s.cyan("●")
	case t.ExitCode != 0:
		mark = s.red("✗")
	case t.Result == "interrupted":
		mark = s.yellow("–")
	}
	parts := []string{Moment(t.Started, now), ago(end.Sub(t.Started))}
	if t.Tools > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", t.Tools, plural(t.Tools, "call", "calls")))
	}
	if r := Result(t); r != "" {
		parts = append(parts, termsafe.Line(r, 80))
	}
	if t.Summary != "" {
		parts = append(parts, termsafe.Line(t.Summary, 100))
	}
	fmt.Fprintf(w, "  %s %s\n", mark, strings.Join(parts, "  "))
}
