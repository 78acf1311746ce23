// Package text formats events, decisions and the daemon's state as lines for a terminal.
// Everything that came from an agent is made visible first: control, bidi and zero-width
// characters never reach the screen as such.
package text

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// Style chooses colours and knows the terminal; the zero Style has neither.
type Style struct {
	Color bool
	Width int // of the terminal; 0 without one
}

func (s Style) paint(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s Style) dim(t string) string    { return s.paint("2", t) }
func (s Style) bold(t string) string   { return s.paint("1", t) }
func (s Style) red(t string) string    { return s.paint("31", t) }
func (s Style) green(t string) string  { return s.paint("32", t) }
func (s Style) yellow(t string) string { return s.paint("33", t) }
func (s Style) cyan(t string) string   { return s.paint("36", t) }

// Entry returns one event on one line, with its outcome.
func (s Style) Entry(entry *wire.Entry) string {
	var ev event.Event
	if err := json.Unmarshal(entry.Event, &ev); err != nil {
		return s.red("unreadable event: " + termsafe.Line(err.Error(), 120))
	}
	return s.Event(&ev, entry.Outcome)
}

// Event returns one event on one line.
func (s Style) Event(ev *event.Event, outcome *wire.Outcome) string {
	var b strings.Builder
	b.WriteString(s.lineStart(ev.Time, ev.Agent))
	b.WriteString(pad(termsafe.Line(kindWord(ev), kindWidth), kindWidth))
	session := ""
	if ev.Session != "" {
		session = "[" + s.sessionID(ev.Session) + "]"
	}
	if label := Label(ev); label != "" && label != kindWord(ev) {
		b.WriteString(" " + termsafe.Line(label, s.labelWidth(VisibleWidth(b.String())+1+len(session)+1)))
	}
	if session != "" {
		b.WriteString(" " + s.dim(session))
	}
	if ev.Subagent != nil {
		b.WriteString(" " + s.dim(strings.TrimSpace("subagent "+termsafe.Line(ev.Subagent.Type, 24))))
	}
	if failed := failure(ev); failed != "" {
		b.WriteString(" " + s.red(failed))
	}
	for _, mark := range marks(ev) {
		b.WriteString(" " + s.yellow(mark))
	}
	if outcome != nil {
		came := s.Outcome(outcome, false)
		if s.Width > 0 && came != "" && termsafe.Width(plain(b.String()+came)) > s.Width {
			came = "\n" + strings.Repeat(" ", len(s.timeFormat())+1) + strings.TrimPrefix(came, " ")
		}
		b.WriteString(came)
	}
	return b.String()
}

// The columns of a line: when, the agent, what happened. What it's about follows.
const (
	agentWidth, kindWidth = 11, 18
	labelLeast            = 15
	wideLine              = 100 // from which a line has room for its date
)

// narrow reports whether a line has no room for its date; Day writes it above.
func (s Style) narrow() bool { return s.Width > 0 && s.Width < wideLine }

func (s Style) timeFormat() string {
	if s.narrow() {
		return time.TimeOnly
	}
	return "Jan 02 15:04:05"
}

// lineStart returns the columns in front of what happened.
func (s Style) lineStart(at time.Time, agent string) string {
	width := agentWidth
	if s.narrow() {
		width = 8
	}
	return s.dim(at.Local().Format(s.timeFormat())) + " " +
		s.paint(agentColour(agent), pad(termsafe.Line(agent, agentWidth), width)) + " "
}

// Day returns a heading for the first line of another day, for lines without a date of their
// own. day is the one that was written last, and begins as today.
func (s Style) Day(at time.Time, day *string) string {
	this := at.Local().Format("Mon Jan 02")
	if !s.narrow() || at.IsZero() || this == *day {
		return ""
	}
	*day = this
	return s.dim(this)
}

// sessionID returns the beginning of a session's ID.
func (s Style) sessionID(id string) string {
	if s.narrow() && isUUID(id) {
		return id[:uuidStart]
	}
	return termsafe.Line(wire.ShortID(id), 24)
}

// labelWidth returns how much of a label fits on a line next to other columns; 0 without a
// terminal: all of it.
func (s Style) labelWidth(others int) int {
	if s.Width == 0 {
		return 0
	}
	return max(labelLeast, s.Width-others)
}

// kindWords are the readable names of the kinds of events.
var kindWords = map[event.Kind]string{
	event.SessionStart: "session started", event.SessionEnd: "session ended", event.SessionTitle: "new title",
	event.TurnStart: "prompt", event.TurnEnd: "turn done",
	event.ToolBefore: "tool call", event.ToolAfter: "tool done",
	event.PermissionRequest: "permission request", event.PermissionResolved: "permission answer",
	event.SubagentStart: "subagent started", event.SubagentEnd: "subagent done",
	event.CompactBefore: "compacting", event.CompactAfter: "compacted",
	event.UserAttention: "needs attention", event.UserQuestion: "question", event.UserPlan: "plan",
	event.ModelBefore: "model request", event.ModelAfter: "model response",
	event.FileChanged: "file changed",
}

// kindWord says what happened, or the agent's own word for what has no kind.
func kindWord(ev *event.Event) string {
	if word, ok := kindWords[ev.Kind]; ok {
		return word
	}
	if ev.Kind == event.Other && ev.Native != "" {
		return ev.Native
	}
	return string(ev.Kind)
}

// AgentColour returns the agent's own colour, one of the terminal's sixteen, without those
// that show how something went.
func AgentColour(name string) uint8 {
	colours := []uint8{14, 4, 6, 5, 12, 13}
	sum := 0
	for _, b := range []byte(name) {
		sum = (sum*32 + int(b)) % len(colours)
	}
	return colours[sum]
}

func agentColour(name string) string {
	n := int(AgentColour(name))
	if n >= 8 { // the bright ones
		return strconv.Itoa(90 + n - 8)
	}
	return strconv.Itoa(30 + n)
}

// failure says that a call went wrong, with its message.
func failure(ev *event.Event) string {
	if ev.Tool == nil || !ev.Tool.Failed {
		return ""
	}
	if why := withoutMarkup(ev.Error); why != "" {
		return "✗ failed: " + termsafe.Line(why, 100)
	}
	return "✗ failed"
}

func marks(ev *event.Event) []string {
	var list []string
	if ev.Nested {
		list = append(list, "(inside a hook)")
	}
	if ev.Truncated {
		list = append(list, "(cut)")
	}
	if ev.Malformed != "" {
		list = append(list, "(malformed: "+termsafe.Line(ev.Malformed, 60)+")")
	}
	return list
}

// Who says who decided: you, a guard, a rule, a permission, or a hook by its ID.
func Who(by string) string {
	guard, isGuard := hook.GuardName(by)
	permission, isPermission := event.PermissionOf(by)
	switch {
	case by == event.ByUser:
		return "you"
	case strings.HasPrefix(by, "rule:"):
		return "rule " + termsafe.Line(by[len("rule:"):], 40)
	case guard == "rules":
		return "a rule"
	case guard == "rules.log":
		return "a rule in log mode"
	case guard == "budget":
		return "a budget"
	case isGuard:
		return "guard " + termsafe.Line(guard, 40)
	case isPermission:
		return "permission " + termsafe.Line(permission, 40)
	}
	return termsafe.Line(by, 40)
}

// hookOrGuard names what ran at an event.
func hookOrGuard(id string) string {
	if who := Who(id); who != termsafe.Line(id, 40) {
		return who
	}
	return "hook " + termsafe.Line(id, 40)
}

// Outcome returns the outcome of an event: appended to its line, or as a line of its own that
// says which event is meant.
func (s Style) Outcome(o *wire.Outcome, alone bool) string {
	var d event.Decision
	var parts []string
	if len(o.Decision) > 0 {
		if err := json.Unmarshal(o.Decision, &d); err != nil {
			parts = append(parts, s.red("unreadable decision: "+termsafe.Line(err.Error(), 120)))
		}
	}
	switch d.Verdict {
	case event.Deny:
		parts = append(parts, s.red("deny"))
	case event.Ask:
		parts = append(parts, s.yellow("ask"))
	case event.Modify:
		what := "changed"
		if d.Allowed {
			what = "changed and allowed"
		}
		parts = append(parts, s.yellow(what))
	case event.Allow:
		parts = append(parts, s.green("allow"))
	}
	if d.By != "" && d.Verdict != event.None {
		parts = append(parts, "by "+Who(d.By))
	}
	if d.Reason != "" && (d.Verdict == event.Deny || d.Verdict == event.Ask || d.KeepGoing) {
		parts = append(parts, termsafe.Line(event.ShortDenial(d.Reason), 160))
	}
	if d.KeepGoing {
		parts = append(parts, "kept going")
	}
	if d.Context != "" {
		parts = append(parts, "context added")
	}
	if d.Output != nil {
		parts = append(parts, "result changed")
	}
	for _, x := range d.Degraded {
		parts = append(parts, s.yellow("degraded: "+termsafe.Line(x.String(), 100)))
	}
	if alone && o.Amends {
		parts = nil // the rest was shown before
	}
	for _, step := range o.Steps {
		if step.Would != nil {
			parts = append(parts, s.yellow(Who(step.Hook)+" "+WouldHave(step.Would)))
		}
		if step.Error != "" && step.Would == nil {
			parts = append(parts, s.red(hookOrGuard(step.Hook)+" failed: "+
				termsafe.Line(step.Error, 120)))
		}
	}
	if o.Duplicate != "" {
		parts = append(parts, s.dim("reported twice"))
	}
	if o.Neutral != "" {
		parts = append(parts, s.yellow("neutral: "+termsafe.Line(CodeText(o.Neutral), 60)))
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, " · ")
	if !alone {
		return " " + s.dim("→") + " " + text
	}
	what := termsafe.Line(strings.TrimSpace(o.Native+" "+o.Tool), 60)
	decided := o.Time.Add(time.Duration(o.TookUS) * time.Microsecond)
	return s.lineStart(decided, o.Agent) + pad("→ "+what, kindWidth) + " " + text + " " + s.dim(fmt.Sprintf("(%s)", formatMicros(o.TookUS)))
}

// WouldHave says what a hook in log mode would have done.
func WouldHave(w *wire.Would) string {
	what := map[wire.WouldCode]string{
		wire.WouldDeny: "denied", wire.WouldAsk: "asked", wire.WouldChange: "changed the call",
		wire.WouldAllow: "allowed", wire.WouldGoOn: "kept the agent going", wire.WouldResult: "changed the result",
		wire.WouldContext: "added context", wire.WouldOther: "told the agent something",
	}[w.Code]
	if w.Reason == "" {
		return "would have " + what
	}
	return "would have " + what + ": " + termsafe.Line(event.ShortDenial(w.Reason), 160)
}

func formatMicros(us int64) string {
	return time.Duration(us * int64(time.Microsecond)).Round(100 * time.Microsecond).String()
}

// Label says in a few words what an event is about.
func Label(ev *event.Event) string {
	if ev.Agent == wire.OwnAgent && ev.Native == wire.OwnRefused {
		if label := refusedLabel(ev); label != "" {
			return label
		}
	}
	if ev.Agent == wire.OwnAgent && ev.Native == wire.OwnDecision {
		if label := answerLabel(ev); label != "" {
			return label
		}
	}
	if ev.Agent == wire.OwnAgent && ev.Native == wire.OwnHook {
		if label := actionLabel(ev); label != "" {
			return label
		}
	}
	if ev.Agent == wire.OwnAgent && ev.Native == wire.OwnMissing {
		var said struct{ Note string }
		if json.Unmarshal(ev.Raw, &said) == nil && said.Note != "" {
			return said.Note
		}
	}
	if t := ev.Tool; t != nil {
		switch {
		case len(t.Commands) > 0:
			return t.Name + ": " + strings.Join(t.Commands, " ; ")
		case len(t.Paths()) > 0:
			return t.Name + " " + tail(t.Paths()[0]) + more(len(t.Paths()))
		case t.URL != "":
			return t.Name + " " + t.URL
		}
		return t.Name
	}
	for _, text := range []string{ev.Prompt, ev.Error, ev.Message, ev.Title} {
		if text != "" {
			return text
		}
	}
	if ev.Detail != "" {
		return ev.Detail
	}
	if ev.Kind == event.Other {
		return ev.Native
	}
	return ""
}

// answerLabel says what you answered, and to whom.
func answerLabel(ev *event.Event) string {
	var said struct{ Request, Agent, Session, Tool, Kind, Verdict, Reason string }
	if json.Unmarshal(ev.Raw, &said) != nil || said.Verdict == "" {
		return ""
	}
	what := map[string]string{"allow": "you approved", "deny": "you denied"}[said.Verdict]
	if said.Kind == "question" && said.Verdict == "allow" {
		what = "you answered"
	}
	label := fmt.Sprintf("%s %s, %s", cmp.Or(what, "you decided "+said.Verdict+" for"), said.Request, strings.TrimSpace(said.Agent+" "+said.Tool))
	if said.Session != "" {
		label += " [" + wire.ShortID(said.Session) + "]"
	}
	if said.Reason != "" {
		label += ": " + said.Reason
	}
	return label
}

// refusedLabel says what was denied because it's for you to do.
func refusedLabel(ev *event.Event) string {
	var said struct{ Method, Reason string }
	if json.Unmarshal(ev.Raw, &said) != nil || said.Method == "" {
		return ""
	}
	why := strings.TrimPrefix(strings.TrimPrefix(said.Reason, "refused: "), "only you can do this, and ")
	why, _, _ = strings.Cut(why, "; ")
	command, ok := methodCommands[said.Method]
	if !ok {
		command = strings.ReplaceAll(said.Method, ".", " ")
	}
	return command + ": " + why
}

// methodCommands are the commands that call methods of other names.
var methodCommands = map[string]string{
	wire.MethodOff: "off", wire.MethodOn: "on", wire.MethodInstall: "install", wire.MethodUninstall: "uninstall",
	wire.MethodDoctor: "doctor --fix", wire.MethodTmux: "tmux install", wire.MethodExplainRun: "why --run",
	wire.MethodAllow: "guard exception", wire.MethodAccept: "config accept", wire.MethodAcceptFirst: "config accept",
	wire.MethodAcceptFile: "config accept", wire.MethodAcceptRestore: "config accept --restore",
	wire.MethodAcceptFollow: "config accept --follow", wire.MethodTerminalAdd: "whoami add",
	wire.MethodTerminalRemove: "whoami remove", wire.MethodInboxReply: "answer", wire.MethodInboxSkip: "skip",
	wire.MethodAway: "away", wire.MethodBack: "away --end", wire.MethodPIN: "config set approvals.pin",
	wire.MethodPackAdd: "rules add", wire.MethodPackDrop: "rules remove", wire.MethodSessionSend: "send",
}

// actionLabel says what a hook in TypeScript did to files, processes and
// addresses.
func actionLabel(ev *event.Event) string {
	var said struct {
		Hook, Action, Detail, Error string
		Times                       int
	}
	if json.Unmarshal(ev.Raw, &said) != nil || said.Action == "" {
		return ""
	}
	label := strings.TrimSpace(said.Hook + " " + said.Action + " " + said.Detail)
	if said.Times > 1 {
		label += fmt.Sprintf(" (%d times)", said.Times)
	}
	if said.Error != "" {
		label += ": " + said.Error
	}
	return label
}

// tail keeps the last two parts of a path, by which you recognise a file.
func tail(path string) string {
	if path == "" {
		return ""
	}
	dir, file := filepath.Split(filepath.Clean(path))
	return filepath.Join(filepath.Base(filepath.Clean(dir)), file)
}

func more(n int) string {
	if n > 1 {
		return fmt.Sprintf(" and %d more", n-1)
	}
	return ""
}

func pad(s string, width int) string {
	if n := termsafe.Width(s); n < width {
		return s + strings.Repeat(" ", width-n)
	}
	return s
}
