package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// decided is a request that was answered before, as the journal has it.
type decided struct {
	ID      string    `json:"id"`
	Request string    `json:"request"`
	Agent   string    `json:"agent"`
	Session string    `json:"session"`
	Cwd     string    `json:"cwd"`
	Kind    string    `json:"kind"`
	Tool    string    `json:"tool"`
	Verdict string    `json:"verdict"`
	Reason  string    `json:"reason"`
	By      string    `json:"by"`
	Shown   string    `json:"shown"` // without secrets
	At      time.Time `json:"at"`

	body *body // wrapped
}

// inWords says what was answered.
func (d *decided) inWords() string {
	switch {
	case d.Kind == "question" && d.Verdict == "allow":
		return "answered"
	case d.Verdict == "allow":
		return "approved"
	case d.Verdict == "deny":
		return "denied"
	}
	return termsafe.Line(d.Verdict, 20)
}

func (d *decided) head(now time.Time, width int) []string {
	line := d.inWords() + " " + text.Moment(d.At, now)
	if d.By != "" {
		line += " by " + text.Who(d.By)
	}
	if d.Reason != "" {
		line += ": " + termsafe.Line(d.Reason, 0)
	}
	return append(indentWrapped("", line, width), "")
}

func (d *decided) bodyFor(width int) *body {
	if d.body == nil || d.body.width != width {
		d.body = &body{width: width}
		d.body.addCard(d.Shown, d.Kind == "plan")
	}
	return d.body
}

// historyLength is how many answers are shown.
const historyLength = 100

// toggleHistory shows what was answered and who ended, or folds it away.
func toggleHistory(m *Model) tea.Cmd {
	m.withHistory = !m.withHistory
	if !m.withHistory {
		m.status = "History is hidden."
		return nil
	}
	m.status = "History is shown: what was answered, and which sessions ended."
	return m.readHistory
}

func (m *Model) readHistory() tea.Msg {
	list, err := readDecided(m.ctx, m.opts.Daemon)
	return historyMsg{list, err}
}

// historyPause is how long after an answer the history is read again: the journal has it
// by then.
const historyPause = 500 * time.Millisecond

// historyDueMsg says that the history is to be read again.
type historyDueMsg struct{}

// refreshHistory plans to read the history again when something was answered.
func (m *Model) refreshHistory(msg tea.Msg) tea.Cmd {
	if !m.withHistory || m.historyDue || !endsRequest(msg) {
		return nil
	}
	m.historyDue = true
	return m.tick(historyPause, func(time.Time) tea.Msg { return historyDueMsg{} })
}

// endsRequest reports whether a message says that a request doesn't wait any more.
func endsRequest(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case daemonMsg:
		return slices.ContainsFunc(msg, endsRequest)
	case noteMsg:
		return msg.Item != nil && msg.Method != wire.NoteInboxReceived && msg.Method != wire.NoteInboxPrompt
	}
	return false
}

func readDecided(ctx context.Context, daemon Daemon) ([]*decided, error) {
	var list []*decided
	params := wire.QueryParams{Filter: wire.Filter{Agents: []string{wire.OwnAgent}, Kinds: []string{wire.OwnDecision}},
		Newest: true, Limit: historyLength}
	err := daemon.Query(ctx, params, func(entry client.Entry) bool {
		var ev event.Event
		one := &decided{}
		if json.Unmarshal(entry.Event, &ev) != nil || json.Unmarshal(ev.Raw, one) != nil || one.Request == "" {
			return true // not of this version
		}
		if one.ID == "" {
			one.ID = ev.ID
		}
		if one.At.IsZero() {
			one.At = ev.Time
		}
		list = append(list, one)
		return len(list) < historyLength
	})
	return list, err
}

// timelineLength is how many events of a session are shown.
const timelineLength = 80

// timeline is what a session did lately.
type timeline struct {
	steps  []string // turns, calls and decisions, drawn, oldest first
	label  string   // of the call that came last; "" where something else did
	asking bool     // the last step asks what nobody answered yet
	// What a guard stopped last, and its rule; "" for nothing.
	stopped, rule string
}

// readTimeline reads the last events of a session.
func readTimeline(ctx context.Context, daemon Daemon, session string) (timeline, error) {
	var t timeline
	err := daemon.Query(ctx, wire.QueryParams{Filter: wire.Filter{Session: session}, Newest: true, Limit: timelineLength},
		func(entry client.Entry) bool {
			t.add(&entry)
			return true
		})
	return t, err
}

// add adds one event with what came of it.
func (t *timeline) add(entry *client.Entry) {
	var ev event.Event
	if json.Unmarshal(entry.Event, &ev) != nil {
		return // not of this version
	}
	outcome, d := "", event.Decision{}
	if o := entry.Outcome; o != nil {
		outcome = text.Style{Color: true}.Outcome(o, false)
		if json.Unmarshal(o.Decision, &d) == nil && d.Rule != "" && d.Verdict == event.Deny {
			t.stopped, t.rule = text.Label(&ev), d.Rule
		}
	}
	if line := timelineLine(&ev, outcome, &d); line != "" {
		// What a call asks is said once, not for the call and for its question.
		same := ev.Kind == event.PermissionRequest && t.label != "" && t.label == text.Label(&ev)
		if t.label = ""; ev.Kind == event.ToolBefore {
			t.label = text.Label(&ev)
		}
		if same && len(t.steps) > 0 {
			t.steps = t.steps[:len(t.steps)-1]
		}
		t.asking = ev.Kind == event.PermissionRequest && outcome == ""
		t.steps = append(t.steps, "  "+styleFaint.Render(ev.Time.Local().Format("15:04:05"))+" "+line)
	}
}

func timelineLine(ev *event.Event, outcome string, d *event.Decision) string {
	label := termsafe.Line(text.Label(ev), 240)
	switch ev.Kind {
	case event.TurnStart:
		return styleBold.Render("▸ "+label) + outcome
	case event.TurnEnd:
		return styleDone.Render("✓ ") + termsafe.Line(cmp.Or(ev.Message, "turn finished"), 240) + outcome
	case event.ToolBefore:
		if said := answerText(ev, label, d); said != "" {
			return said
		}
		return "  " + label + outcome
	case event.PermissionRequest:
		if said := answerText(ev, label, d); said != "" {
			return said
		}
		return styleWaiting.Render("▲ ") + label + outcome
	case event.ToolAfter:
		if ev.Tool != nil && ev.Tool.Failed {
			return "  " + styleFailed.Render("✗ "+termsafe.Line(strings.TrimSpace(label+" "+ev.Error), 240))
		}
	case event.SessionStart:
		return styleFaint.Render("session started")
	case event.SessionEnd:
		return styleFaint.Render("session ended")
	case event.SubagentStart:
		return styleFaint.Render(strings.TrimSpace("subagent started " + label))
	case event.SubagentEnd:
		return styleFaint.Render(strings.TrimSpace("subagent finished " + label))
	}
	return ""
}

// answerText says what you answered; "" where you didn't, or where the agent couldn't carry
// the answer and the outcome says more.
func answerText(ev *event.Event, label string, d *event.Decision) string {
	if d.By != event.ByUser || len(d.Degraded) > 0 {
		return ""
	}
	yes, no := styleDone.Render("✓ "), styleFailed.Render("✗ ")
	reason := ""
	if d.Reason != "" {
		reason = ": " + termsafe.Line(d.Reason, 160)
	}
	answer := d.Answer
	if answer == nil {
		answer = &event.Answer{}
	}
	isPlan := answer.Plan != "" || ev.Plan != ""
	switch {
	case d.Verdict == event.Deny && isPlan:
		return no + "you sent the plan back" + reason
	case d.Verdict == event.Deny:
		return no + "you denied " + label + reason
	case d.Verdict != event.Allow && d.Verdict != event.Modify:
		return ""
	case isPlan:
		return yes + "you approved the plan"
	case len(answer.Answers) > 0:
		var words []string
		for _, a := range answer.Answers {
			words = append(words, a.Words())
		}
		return yes + "you answered: " + termsafe.Line(strings.Join(words, "; "), 200)
	}
	return yes + "you approved " + label
}
