package text

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// StatusReport is everything `hookmux status` shows.
type StatusReport struct {
	Info     *wire.Info // nil while no daemon runs
	NoDaemon string     // why none runs
	Agents   []HookedAgent
	Problems []wire.Problem
	Notes    []string // worth knowing, and nothing wrong
	All      bool     // also paths, and agents that aren't here
}

// HookedAgent is an agent that was found on this machine.
type HookedAgent struct {
	Name   string
	Hooked string // "hooked", "not hooked", "no longer hooked", or what's the matter
	Wrong  bool
}

// Status shows what's wrong first, then the agents, the inbox and the daemon.
func (s Style) Status(w io.Writer, r *StatusReport, now time.Time) {
	s.verdict(w, r)
	s.statusAgents(w, r, now)
	if info := r.Info; info != nil {
		s.statusModes(w, info, now)
		s.statusDaemon(w, info, r.All)
	} else {
		s.statusRow(w, "daemon", r.NoDaemon)
	}
	for _, note := range r.Notes {
		s.statusRow(w, "note", termsafe.Line(note, 400))
	}
}

// verdict says what's wrong and how to fix it, or that all is good.
func (s Style) verdict(w io.Writer, r *StatusReport) {
	var bare []string
	for _, a := range r.Agents {
		if a.Hooked == notHooked {
			bare = append(bare, a.Name)
		}
	}
	hooked := len(r.Agents) > len(bare) || len(r.Agents) == 0 && r.Info != nil && // `hookmux run`, or another program
		slices.ContainsFunc(r.Info.Agents, func(a wire.AgentInfo) bool { return a.Last != nil })
	switch n := len(r.Problems); {
	case n > 0:
		fmt.Fprintln(w, s.red(fmt.Sprintf("%d %s", n, plural(n, "problem", "problems"))))
		for i := range r.Problems {
			fmt.Fprintln(w, "     "+s.Problem(&r.Problems[i]))
		}
	case r.Info != nil && r.Info.Off != nil:
		fmt.Fprintln(w, s.red("hookmux is off: nothing is blocked; `hookmux on` turns it on again"))
	case !hooked:
		fmt.Fprintln(w, s.yellow("no agent is hooked yet; run `hookmux setup`"))
	case len(bare) > 0:
		fmt.Fprintln(w, s.yellow(Wrap(fmt.Sprintf("all good, but not hooked yet: %s; run `hookmux install`",
			strings.Join(bare, ", ")), s.Width, 0)))
	default:
		fmt.Fprintln(w, s.green("all good"))
	}
	fmt.Fprintln(w)
}

// notHooked is the text for an agent without hookmux's hooks.
const notHooked = "not hooked"

// NewHookedAgent says in a word how an agent is hooked. running is how many of its hooks
// run; wrong says why not all of them do.
func NewHookedAgent(name string, hooked bool, running int, wrong string) HookedAgent {
	a := HookedAgent{Name: name, Hooked: notHooked, Wrong: wrong != ""}
	switch {
	case wrong != "" && !hooked:
		a.Hooked = "no longer hooked"
	case wrong != "" && running == 0:
		a.Hooked = "hooked, but no hooks run"
	case wrong != "":
		a.Hooked = "hooked, but not all hooks run"
	case hooked:
		a.Hooked = "hooked"
	}
	return a
}

const statusLabel = 9

// statusRow writes a label with a text that wraps next to it.
func (s Style) statusRow(w io.Writer, label, text string) {
	fmt.Fprintln(w, s.bold(pad(label, statusLabel))+Wrap(text, s.Width, statusLabel))
}

// statusAgents lists the agents that are here, or that reported something.
func (s Style) statusAgents(w io.Writer, r *StatusReport, now time.Time) {
	agents := map[string]*wire.AgentInfo{}
	var absent []string
	list := slices.Clone(r.Agents)
	if r.Info != nil {
		for i := range r.Info.Agents {
			a := &r.Info.Agents[i]
			agents[a.Name] = a
			if slices.ContainsFunc(r.Agents, func(h HookedAgent) bool { return h.Name == a.Name }) {
				continue
			}
			if a.Last == nil {
				absent = append(absent, termsafe.Line(a.Name, 24))
				continue
			}
			list = append(list, HookedAgent{Name: a.Name}) // `hookmux run`, or another program
		}
	}
	width := 0
	for i := range list {
		width = max(width, termsafe.Width(termsafe.Line(list[i].Name, 24)))
	}
	label := "agents"
	for i := range list {
		var parts []string
		if list[i].Hooked != "" {
			parts = append(parts, list[i].Hooked)
		}
		if a := agents[list[i].Name]; a != nil {
			switch {
			case a.Last != nil:
				parts = append(parts, fmt.Sprintf("%d %s", a.Events, plural(int(a.Events), "event", "events")),
					"last "+ago(now.Sub(*a.Last))+" ago")
			case list[i].Hooked != notHooked:
				parts = append(parts, "no events yet")
			}
			if r.All && a.Version != "" {
				parts = append(parts, "version "+termsafe.Line(a.Version, 24))
			}
			if r.All && a.Program != "" {
				parts = append(parts, termsafe.Line(a.Program, 120))
			}
		}
		line := pad(termsafe.Line(list[i].Name, 24), width) + "  " + strings.Join(parts, ", ")
		if list[i].Wrong {
			fmt.Fprintln(w, s.bold(pad(label, statusLabel))+s.red(Wrap(line, s.Width, statusLabel)))
		} else {
			s.statusRow(w, label, line)
		}
		label = ""
	}
	if len(list) == 0 {
		s.statusRow(w, label, "none found on this machine")
	}
	if r.All && len(absent) > 0 {
		s.statusRow(w, "", "not here: "+strings.Join(absent, ", "))
	}
}

// statusModes says what's waiting, and what's off, paused or only logs.
func (s Style) statusModes(w io.Writer, info *wire.Info, now time.Time) {
	if o := info.Off; o != nil {
		until := "until `hookmux on`"
		if o.Until != nil {
			until = "until " + Moment(*o.Until, now)
		}
		fmt.Fprintln(w, s.yellow(pad("off", statusLabel)+Wrap("all hooks, guards and rules are off "+until, s.Width,
			statusLabel)))
	}
	if f := info.Inbox; f.Waiting > 0 || f.Prompts > 0 || f.Away {
		var parts []string
		if f.Waiting > 0 || f.Prompts == 0 {
			parts = append(parts, fmt.Sprintf("%d %s waiting", f.Waiting, plural(f.Waiting, "request", "requests")))
		}
		if f.Prompts > 0 {
			parts = append(parts, fmt.Sprintf("%d waiting at %s", f.Prompts, plural(f.Prompts, "its agent's own prompt",
				"their agents' own prompts")))
		}
		line := strings.Join(parts, ", ")
		if f.Away {
			line += "; you're away"
		}
		fmt.Fprintln(w, s.yellow(pad("inbox", statusLabel)+line))
	}
	for _, p := range info.Pauses {
		fmt.Fprintln(w, s.yellow(pad("paused", statusLabel)+Wrap(termsafe.Line(p.Name, 60)+" only logs for "+
			ago(p.Until.Sub(now))+" more, until "+Moment(p.Until, now), s.Width, statusLabel)))
	}
	for i, m := range info.LogOnly {
		label := ""
		if i == 0 {
			label = "log mode"
		}
		line := Who(m.Hook)
		name, isGuard := hook.GuardName(m.Hook)
		switch {
		case m.Would > 0 && isGuard:
			line += fmt.Sprintf(" would have blocked %d %s since %s; `hookmux guard on %s` blocks them", m.Would,
				plural(int(m.Would), "call", "calls"), Moment(info.Started, now), termsafe.Line(name, 40))
		case m.Would > 0:
			line += fmt.Sprintf(" would have matched %d %s", m.Would, plural(int(m.Would), "call", "calls"))
		default:
			line += " only logs"
		}
		s.statusRow(w, label, line)
	}
}

// statusDaemon says how the daemon does.
func (s Style) statusDaemon(w io.Writer, info *wire.Info, all bool) {
	s.statusRow(w, "daemon", fmt.Sprintf("running, pid %d, version %s, up %s", info.PID, termsafe.Line(info.Version, 40),
		ago(time.Duration(info.Uptime*float64(time.Second)))))
	c := info.Counts
	line := fmt.Sprintf("%d %s, %d decided, %d denied", c.Events, plural(int(c.Events), "event", "events"),
		c.Decided, c.Denied)
	if c.Undrained > 0 {
		line += fmt.Sprintf(", %d not yet in the journal", c.Undrained)
	}
	s.statusRow(w, "", line+", journal "+size(c.Journal))
	if t := info.Telemetry; t != nil {
		s.statusRow(w, "", fmt.Sprintf("telemetry to %s: %d sent, %d waiting, %d dropped", termsafe.Line(t.Endpoint, 200), t.Sent,
			t.Queued, t.Dropped))
	}
	if all {
		s.statusRow(w, "", "socket "+termsafe.Line(info.Socket, 200))
		s.statusRow(w, "", "settings "+termsafe.Line(info.Config, 200)+", state "+termsafe.Line(info.State, 200))
	}
	if info.Root {
		fmt.Fprintln(w, s.yellow(pad("root", statusLabel)+Wrap("hookmux runs as root: agents that also run as root can "+
			"approve their own requests", s.Width, statusLabel)))
	}
}

// Problem returns one thing that's wrong, with what to do. All lines but the first are
// indented to line up with "     ✗ ".
func (s Style) Problem(p *wire.Problem) string {
	what := termsafe.Line(p.What, 400)
	if p.Count > 1 {
		what += fmt.Sprintf(" (%d times)", p.Count)
	}
	line := Wrap(what, s.Width, 7)
	if p.Fix != "" {
		line += s.dim("\n       → " + Wrap(termsafe.Line(p.Fix, 400), s.Width, 9))
	}
	return s.red("✗") + " " + line
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Ago returns a span of time as lists show it: 2m5s.
func Ago(d time.Duration) string { return ago(d) }

func ago(d time.Duration) string {
	switch {
	case d < time.Second:
		return "<1s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 10*time.Minute:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 10*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	case d < 10*24*time.Hour:
		return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
	}
	return fmt.Sprintf("%dd", int(d.Hours())/24)
}

func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// Count writes a number of things: "1 event", "12,000 events".
func Count(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return Thousands(n) + " " + what
}

// Thousands writes a number with commas.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Moment returns a point in time as short as it is clear: with the date only if it isn't
// today.
func Moment(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}
