package text

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// Status shows the daemon's state.
func (s Style) Status(w io.Writer, info *wire.Info, now time.Time) {
	fmt.Fprintf(w, "%s  pid %d, version %s, up %s\n", s.bold("daemon"), info.PID, termsafe.Line(info.Version, 40),
		ago(time.Duration(info.Uptime*float64(time.Second))))
	fmt.Fprintf(w, "     socket %s\n", termsafe.Line(info.Socket, 200))
	fmt.Fprintf(w, "     settings %s, state %s\n", termsafe.Line(info.Config, 200), termsafe.Line(info.State, 200))
	c := info.Counts
	fmt.Fprintf(w, "     %d %s, %d decided, %d denied", c.Events, plural(int(c.Events), "event", "events"),
		c.Decided, c.Denied)
	if c.Waiting > 0 {
		fmt.Fprintf(w, ", %d waiting", c.Waiting)
	}
	if c.Undrained > 0 {
		fmt.Fprintf(w, ", %d not yet in the journal", c.Undrained)
	}
	fmt.Fprintf(w, ", journal %s\n", size(c.Journal))
	if info.Root {
		fmt.Fprintf(w, "%s\n", s.yellow("root hookmux runs as root: agents that run as root, too, can approve their "+
			"own requests"))
	}
	if o := info.Off; o != nil {
		until := "until `hookmux on`"
		if o.Until != nil {
			until = "until " + Moment(*o.Until, now)
		}
		fmt.Fprintf(w, "%s\n", s.yellow("off  everything is answered neutrally, "+until))
	}
	if f := info.Inbox; f.Waiting > 0 || f.Windows > 0 || f.Away {
		line := fmt.Sprintf("inbox %d %s for you", f.Waiting, plural(f.Waiting, "request waits", "requests wait"))
		if f.Windows > 0 {
			line += fmt.Sprintf(", %d in agents' own windows", f.Windows)
		}
		if f.Away {
			line += "; you are away"
		}
		fmt.Fprintln(w, s.yellow(line))
	}
	for _, n := range info.Pauses {
		fmt.Fprintf(w, "%s\n", s.yellow("pause  "+termsafe.Line(n.Name, 60)+" only logs for "+
			ago(n.Until.Sub(now))+" more, until "+Moment(n.Until, now)))
	}
	if len(info.LogOnly) > 0 {
		fmt.Fprintf(w, "%s\n", s.bold("log"))
	}
	for _, m := range info.LogOnly {
		line := pad(termsafe.Line(m.Hook, 40), 20) + " judges and changes nothing"
		name, isGuard := hook.GuardName(m.Hook)
		switch {
		case m.Would > 0 && isGuard:
			line += fmt.Sprintf("; would have stopped %d %s since %s; on: hookmux guard on %s", m.Would,
				plural(int(m.Would), "call", "calls"), Moment(info.Started, now), termsafe.Line(name, 40))
		case m.Would > 0:
			line += fmt.Sprintf("; would have had a say in %d %s", m.Would, plural(int(m.Would), "call", "calls"))
		}
		fmt.Fprintln(w, "     "+line)
	}
	fmt.Fprintf(w, "%s\n", s.bold("agents"))
	var absent []string
	for _, a := range info.Agents {
		line := pad(termsafe.Line(a.Name, 24), 10)
		switch {
		case a.Last != nil:
			line += fmt.Sprintf(" %d %s, last %s ago", a.Events, plural(int(a.Events), "event", "events"),
				ago(now.Sub(*a.Last)))
		case a.Program != "":
			line += " no event yet"
		default:
			absent = append(absent, termsafe.Line(a.Name, 24))
			continue
		}
		if a.Version != "" {
			line += ", version " + termsafe.Line(a.Version, 24)
		}
		if a.Program != "" {
			line += "  " + s.dim(termsafe.Line(a.Program, 120))
		}
		fmt.Fprintln(w, "     "+line)
	}
	if len(absent) > 0 {
		fmt.Fprintln(w, "     "+s.dim("not found on PATH: "+strings.Join(absent, ", ")))
	}
	if len(info.Problems) == 0 {
		fmt.Fprintln(w, s.green("nothing is wrong"))
		return
	}
	fmt.Fprintln(w, s.red(fmt.Sprintf("%d %s", len(info.Problems), plural(len(info.Problems), "problem", "problems"))))
	for i := range info.Problems {
		fmt.Fprintln(w, "     "+s.Problem(&info.Problems[i]))
	}
}

// Problem is one thing that is wrong, with what to do. Its lines but the first are
// indented to stand below "     ✗ ".
func (s Style) Problem(p *wire.Problem) string {
	line := Wrap(termsafe.Line(p.What, 400), s.Width, 7)
	if p.Count > 1 {
		line += s.dim(fmt.Sprintf(" (%d times)", p.Count))
	}
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

func ago(d time.Duration) string {
	switch {
	case d < time.Second:
		return "<1s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
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

// Moment is a point in time as short as it is clear: the date only when it is
// not today.
func Moment(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04")
}
