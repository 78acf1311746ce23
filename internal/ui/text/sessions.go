package text

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// status returns a session's status as a sign and a word.
func (s Style) status(one *wire.Session) string {
	if one.Ended != nil && !one.CutOff {
		return s.dim("- ended")
	}
	switch one.Status {
	case wire.StatusWaiting:
		return s.yellow("▲ waiting")
	case wire.StatusRunning:
		return s.cyan("● running")
	case wire.StatusDone:
		return s.green("✓ done")
	case wire.StatusFailed:
		return s.red("✗ failed")
	case wire.StatusUnknown:
		return s.dim("? unknown")
	}
	return "○ idle"
}

// AgentWithMode returns a session's agent, marked if it runs calls without asking.
func AgentWithMode(one *wire.Session) string {
	name := termsafe.Line(one.Agent, 12)
	if one.Unasked == "" || one.Ended != nil {
		return name
	}
	return name + " (" + termsafe.Line(one.Unasked, 10) + ")"
}

// Doing returns what a session does now, or how its last turn went.
func Doing(one *wire.Session) string {
	t := one.Turn
	switch {
	case one.HostLost != nil:
		return "lost " + ago(time.Since(*one.HostLost))
	case one.Ended != nil && one.EndReason != "" && (t == nil || t.Summary == ""):
		return endWords(one.EndReason)
	case len(one.Asks) > 0:
		if one.HostReadOnly {
			return "answer it there: " + strings.Join(one.Asks, "; ")
		}
		return strings.Join(one.Asks, "; ")
	case t == nil:
		return ""
	case t.Ended == nil:
		if one.Subagents > 0 && one.Tool == "" {
			return fmt.Sprintf("%d %s running", one.Subagents, plural(one.Subagents, "subagent", "subagents"))
		}
		return one.Tool
	}
	summary := withoutMarkup(t.Summary)
	if result := Result(t); result != "" && summary != "" {
		return result + " · " + summary
	} else if result != "" {
		return result
	}
	return summary
}

// endWords says why a session ended. Agents have their own codes for the usual reasons.
func endWords(reason string) string {
	switch reason {
	case "prompt_input_exit", "exit", "quit":
		return "you quit"
	case "other":
		return "no reason given"
	case "clear":
		return "cleared"
	case "logout":
		return "logged out"
	}
	return strings.ReplaceAll(reason, "_", " ")
}

// Result says how a turn went; empty if there is nothing to say or it goes on.
func Result(t *wire.Turn) string {
	switch t.Result {
	case wire.ResultToolErrors, wire.ResultOK:
		if counts := callCounts(t); counts != "" {
			return counts
		}
		if t.Result == wire.ResultToolErrors {
			return "a call failed" // more was not said
		}
	case wire.ResultAPIError:
		if t.Error != "" {
			return "model error: " + withoutMarkup(t.Error)
		}
		return "model error"
	case wire.ResultInterrupted:
		return "interrupted"
	}
	return ""
}

// callCounts says how many calls of a turn failed and were denied.
func callCounts(t *wire.Turn) string {
	var parts []string
	if t.Errors > 0 {
		parts = append(parts, fmt.Sprintf("%d %s failed", t.Errors, plural(t.Errors, "call", "calls")))
	}
	if t.CallsDenied > 0 {
		parts = append(parts, fmt.Sprintf("%d denied", t.CallsDenied))
	}
	return strings.Join(parts, ", ")
}

// placeOf returns the spot a session sits in.
func placeOf(one *wire.Session) string {
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

// Sessions writes a line for each session. width is the terminal's: less important columns
// are dropped first, the activity never. 0 is no terminal: nothing is cut.
func (s Style) Sessions(w io.Writer, list []wire.Session, now time.Time, width int) {
	if len(list) == 0 {
		return
	}
	ids := uniqueShortIDs(list, false)
	table := newSessionTable()
	several := slices.ContainsFunc(list, func(one wire.Session) bool { return one.Host != "" })
	for i := range list {
		one := &list[i]
		title := one.Title
		if title == "" && one.Cwd != "" {
			title = filepath.Base(one.Cwd)
		}
		span := one.Since
		if one.Turn != nil && one.Turn.Ended == nil && one.WaitingSince == nil {
			span = one.Turn.Started
		}
		host, id := "", ids[i]
		if several {
			host = ThisMachine
		}
		if one.Host != "" {
			host, id = one.Host, strings.TrimPrefix(id, wire.OnHost(one.Host, ""))
			if one.HostReadOnly {
				host += " (read-only)"
			}
		}
		most, activity := maxTitle, 120
		if width <= 0 { // a program reads it: nothing is cut
			most, activity = 0, 0
		}
		table.addRow(s.status(one), termsafe.Line(host, 48), AgentWithMode(one), termsafe.Line(id, 40),
			termsafe.Line(title, most), ago(now.Sub(span)), termsafe.Line(placeOf(one), 20),
			termsafe.Line(tail(one.Cwd), 24), one.Usage.Cell(), termsafe.Line(Doing(one), activity))
	}
	table.dropEmpty(columnUsed)
	table.dropEmpty(columnHost)
	table.fitWidth(width, uniqueShortIDs(list, true))
	table.writeTo(w, s)
}

// ThisMachine replaces the host name for what is on this machine.
const ThisMachine = "here"

// maxTitle is the longest title a table shows.
const maxTitle = 60

// sessionColumn is a column of the table of sessions.
type sessionColumn struct {
	head  string
	cells []string
	width int
	gone  bool
}

type sessionTable struct{ columns []*sessionColumn }

// The columns, in their order.
const (
	columnStatus = iota
	columnHost
	columnAgent
	columnID
	columnTitle
	columnAge
	columnPane
	columnDir
	columnUsed
	columnActivity
)

func newSessionTable() *sessionTable {
	t := &sessionTable{}
	for _, head := range []string{"STATUS", "HOST", "AGENT", "ID", "TITLE", "AGE", "PANE", "DIR", "COST", "ACTIVITY"} {
		t.columns = append(t.columns, &sessionColumn{head: head, width: len(head)})
	}
	return t
}

func (t *sessionTable) addRow(cells ...string) {
	for i, cell := range cells {
		c := t.columns[i]
		c.cells = append(c.cells, cell)
		c.width = max(c.width, termsafe.Width(plain(cell)))
	}
}

// dropEmpty leaves a column out that has nothing to say.
func (t *sessionTable) dropEmpty(column int) {
	c := t.columns[column]
	c.gone = !slices.ContainsFunc(c.cells, func(cell string) bool { return cell != "" })
}

// totalWidth returns how wide the longest line is.
func (t *sessionTable) totalWidth() int {
	total := 0
	for _, c := range t.columns {
		if !c.gone && c.width > 0 {
			total += c.width + columnGap
		}
	}
	return total - columnGap
}

const columnGap = 2

// fitWidth makes columns narrower, or leaves them out, until a line fits: first all except the
// cost of what was used, the folder, then the pane and all but a piece of the title. IDs become
// shorter, and are left out last: other commands take them. TITLE and ACTIVITY share what's
// left.
func (t *sessionTable) fitWidth(width int, shortIDs []string) {
	if width <= 0 {
		return
	}
	shrink := func(column, to int) func() {
		return func() {
			c := t.columns[column]
			c.width = max(min(c.width, to), min(c.width, t.columns[column].width-(t.totalWidth()-width)))
		}
	}
	natural := map[int]int{columnActivity: t.columns[columnActivity].width, columnTitle: t.columns[columnTitle].width}
	defer func() { // what became free is used
		for _, column := range []int{columnTitle, columnActivity} {
			c := t.columns[column]
			c.width += max(0, min(width-t.totalWidth(), natural[column]-c.width))
		}
	}()
	drop := func(column int) func() { return func() { t.columns[column].gone = true } }
	brief := func(column int) func() {
		return func() {
			c := t.columns[column]
			c.width = len(c.head)
			for i := range c.cells {
				c.cells[i], _, _ = strings.Cut(c.cells[i], ",")
				c.width = max(c.width, termsafe.Width(c.cells[i]))
			}
		}
	}
	shortID := func() {
		c := t.columns[columnID]
		c.width = len(c.head)
		for i := range c.cells {
			if !strings.Contains(shortIDs[i], "/") { // behind a host's name
				c.cells[i] = shortIDs[i]
			}
			c.width = max(c.width, termsafe.Width(c.cells[i]))
		}
	}
	for _, step := range []func(){
		shrink(columnActivity, 48), shrink(columnTitle, 32), shrink(columnActivity, 32), shortID, brief(columnUsed),
		drop(columnDir), shrink(columnTitle, 28), drop(columnUsed), drop(columnPane), shrink(columnActivity, 20),
		shrink(columnTitle, 22), shrink(columnActivity, 16), shrink(columnTitle, 18), drop(columnAge), shrink(columnTitle, 12), drop(columnID),
		shrink(columnTitle, 6), shrink(columnActivity, 8),
	} {
		if t.totalWidth() <= width {
			return
		}
		step()
	}
}

func (t *sessionTable) writeTo(w io.Writer, s Style) {
	for row := -1; row < len(t.columns[0].cells); row++ {
		var b strings.Builder
		for _, c := range t.columns {
			if c.gone {
				continue
			}
			cell := s.dim(c.head)
			if row >= 0 {
				cell = c.cells[row]
			}
			if termsafe.Width(plain(cell)) > c.width {
				cell = termsafe.Line(plain(cell), c.width)
			}
			b.WriteString(cell + strings.Repeat(" ", c.width-termsafe.Width(plain(cell))+columnGap))
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}

// VisibleWidth returns how many columns a line takes on a terminal, without its colours.
func VisibleWidth(line string) int { return termsafe.Width(plain(line)) }

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

// uniqueShortIDs returns the beginnings of IDs, longer if two in the list begin alike. The
// brief ones end at the first dash of a UUID if that's enough.
func uniqueShortIDs(list []wire.Session, brief bool) []string {
	out := make([]string, len(list))
	for i := range list {
		id := list[i].ID
		n := len(wire.ShortID(id))
		if brief && isUUID(id) {
			n = uuidStart
		}
		for j := range list {
			for j != i && list[j].ID != id && n < len(id) && strings.HasPrefix(list[j].ID, id[:n]) {
				n++
			}
		}
		out[i] = id[:n]
	}
	return out
}

// uuidStart is how long a UUID is before its first dash.
const uuidStart = 8

func isUUID(id string) bool { return len(id) == 36 && id[uuidStart] == '-' }

// deciderText says who decides about a session's permission requests, if that isn't the user.
func deciderText(one *wire.Session) string {
	if one.Reviewer != event.ReviewerAgent || one.Agent == "" {
		return ""
	}
	return strings.ToUpper(one.Agent[:1]) + one.Agent[1:] + "'s own reviewer decides; you're not asked"
}

// modeText returns the session's permission mode. Agents report it with their events: a
// change since then isn't known before the next prompt.
func modeText(one *wire.Session) string {
	if one.Mode == "" || one.Ended != nil || one.Turn != nil && one.Turn.Ended == nil {
		return termsafe.Line(one.Mode, 60)
	}
	return termsafe.Line(one.Mode, 60) + " (as last reported)"
}

// Session writes everything about one session.
func (s Style) Session(w io.Writer, d *wire.SessionDetail, now time.Time, quoted string) {
	title := d.Title
	if title == "" {
		title = "(no title)"
	}
	fmt.Fprintf(w, "%s  %s\n", s.bold(termsafe.Line(title, 200)), s.status(&d.Session))
	s.SessionFacts(w, d, now, quoted)
}

// SessionFacts is Session without its title and status.
func (s Style) SessionFacts(w io.Writer, d *wire.SessionDetail, now time.Time, quoted string) {
	s.SessionAbout(w, d, now, false)
	one := &d.Session
	if t := one.Turn; t != nil && t.Summary != "" {
		fmt.Fprintf(w, "\n%s\n  %s\n", s.dim("final message"), termsafe.Line(withoutMarkup(t.Summary), 0))
	}
	fmt.Fprintf(w, "\n%s\n", s.dim("resume"))
	switch {
	case quoted != "":
		fmt.Fprintf(w, "  %s\n", termsafe.Line(quoted, 0))
	case d.NoResume != "":
		fmt.Fprintf(w, "  %s\n", termsafe.Line(d.NoResume, 0))
	default:
		fmt.Fprintf(w, "  hookmux resume %s\n", shellquote.Argument(termsafe.Line(wire.ShortID(one.ID), 0)))
	}
}

// SessionAbout is SessionFacts without the final message and how to resume it. A live view shows
// what the session does elsewhere, and a single turn as well.
func (s Style) SessionAbout(w io.Writer, d *wire.SessionDetail, now time.Time, live bool) {
	one := &d.Session
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s %s\n", s.dim(pad(name, 11)), value)
		}
	}
	if !live {
		line("session", termsafe.Line(one.ID, 0))
	}
	line("agent", termsafe.Line(strings.TrimSpace(one.Agent+" "+one.Version), 60))
	line("model", termsafe.Line(one.Model, 60))
	line("used", UsedInWords(one.Usage))
	line("mode", modeText(one))
	line("approvals", termsafe.Line(deciderText(one), 120))
	line("folder", termsafe.Line(one.Cwd, 0))
	line("pane", termsafe.Line(placeOf(one), 60))
	if !one.StartedAt.IsZero() {
		line("started", Moment(one.StartedAt, now)+" ("+ago(now.Sub(one.StartedAt))+" ago)")
	}
	if one.Ended != nil {
		line("ended", Moment(*one.Ended, now)+" "+termsafe.Line(endWords(one.EndReason), 100))
	}
	if live {
		line("session", termsafe.Line(one.ID, 0))
	} else {
		most := 200
		if s.Width <= 0 { // a program reads it: nothing is cut
			most = 0
		}
		for _, ask := range one.Asks {
			line("waiting for", termsafe.Line(ask, most))
		}
		if !slices.Contains(one.Asks, one.Tool) {
			line("activity", termsafe.Line(one.Tool, 120))
		}
	}
	turns := d.Earlier
	if one.Turn != nil {
		turns = append(turns[:len(turns):len(turns)], *one.Turn)
	}
	if len(turns) > 1 || len(turns) == 1 && !live {
		fmt.Fprintf(w, "\n%s\n", s.dim(fmt.Sprintf("turns (%d)", one.Turns)))
		for i := range turns {
			s.turn(w, &turns[i], now)
		}
	}
	if len(d.Errors) > 0 {
		fmt.Fprintf(w, "\n%s\n", s.dim("failed calls"))
		for _, e := range d.Errors {
			fmt.Fprintf(w, "  %s  %s  %s\n", Moment(e.Time, now), termsafe.Line(e.Tool, 80),
				s.red(failureWords(e.Text, e.Exit)))
		}
	}
	if len(d.Helpers) > 0 {
		fmt.Fprintf(w, "\n%s\n", s.dim("subagents"))
		for _, h := range d.Helpers {
			state := "running"
			if h.Ended != nil {
				state = ago(h.Ended.Sub(h.Started))
			}
			fmt.Fprintf(w, "  %s  %s  %d %s  %s\n", termsafe.Line(h.Type, 30), state, h.Tools,
				plural(h.Tools, "call", "calls"), termsafe.Line(withoutMarkup(h.Summary), 100))
		}
	}
	if len(d.Files) > 0 {
		fmt.Fprintf(w, "\n%s\n", s.dim("files written"))
		for _, f := range d.Files {
			fmt.Fprintf(w, "  %s\n", termsafe.Line(f, 0))
		}
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
	case t.Result == wire.ResultInterrupted:
		mark = s.yellow("–")
	case t.ExitCode != 0:
		mark = s.red("✗")
	}
	parts := []string{Moment(t.Started, now), ago(end.Sub(t.Started))}
	if t.Tools > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", t.Tools, plural(t.Tools, "call", "calls")))
	}
	if r := Result(t); r != "" {
		parts = append(parts, termsafe.Line(r, 80))
	}
	if t.Summary != "" {
		parts = append(parts, termsafe.Line(withoutMarkup(t.Summary), 100))
	}
	fmt.Fprintf(w, "  %s %s\n", mark, strings.Join(parts, "  "))
}

// failureWords says how a call failed. Some agents say the exit code themselves.
func failureWords(said string, exit int) string {
	words := termsafe.Line(withoutMarkup(said), 140)
	if exit == 0 {
		return words
	}
	words = strings.TrimSpace(strings.TrimPrefix(words, fmt.Sprintf("Exit code %d", exit)))
	return strings.TrimSpace(fmt.Sprintf("exit %d  %s", exit, words))
}
