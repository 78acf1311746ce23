package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/agent"
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

	Answer event.Answer `json:"answer"`

	body *body // wrapped
}

// inWords says what was answered.
func (d *decided) inWords() string {
	switch {
	case d.Kind == "question" && d.Verdict == "allow":
		return "answered"
	case d.Kind == "plan" && d.Verdict == "allow":
		return "accepted"
	case d.Kind == "plan" && d.Verdict == "deny":
		return "sent back"
	case d.Verdict == "allow":
		return "approved"
	case d.Verdict == "deny":
		return "denied"
	}
	return termsafe.Line(d.Verdict, 20)
}

// about says what a question was answered with, a plan's title, or the command.
func (d *decided) about() string {
	if words := answerWords(d.Answer.Answers); words != "" {
		return words
	}
	if d.Kind == "plan" {
		if title := planTitle(d.Shown); title != "" {
			return title
		}
	}
	return commandOf(d.Shown)
}

// answerWords returns the answers to an agent's questions.
func answerWords(answers []event.QuestionAnswer) string {
	var words []string
	for _, a := range answers {
		words = append(words, a.Words())
	}
	return termsafe.Line(strings.Join(words, "; "), 200)
}

func (d *decided) head(now time.Time, width int) []string {
	line := upperFirst(d.inWords()) + " " + text.Moment(d.At, now)
	switch {
	case strings.Contains(d.By, ", pid "): // at a terminal
		line += " by you"
	case d.By != "":
		line += " by " + text.Who(d.By)
	}
	if said := cmp.Or(d.Reason, answerWords(d.Answer.Answers)); said != "" {
		line += ": " + termsafe.Line(said, 0)
	}
	return append(indentWrapped("", line, width), "")
}

func (d *decided) bodyFor(m *Model, width int) *body {
	if d.body == nil || d.body.width != width {
		d.body = &body{width: width}
		d.body.addCard(m.readable(d.Shown, d.Agent), d.Kind)
	}
	return d.body
}

// historyLength is how many answers are shown.
const historyLength = 100

// toggleHistory shows what was answered and which sessions ended, or folds it away.
func toggleHistory(m *Model) tea.Cmd {
	m.withHistory = !m.withHistory
	if !m.withHistory {
		m.status = "History is hidden."
		return nil
	}
	m.historyOpened = true
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

// step is one of the things that a session did.
type step struct {
	at     time.Time
	line   string   // drawn
	prompt string   // of a turn's beginning
	call   string   // its id
	result []string // the beginning of what came of it, drawn
	cut    bool     // there is more
}

// maxResult is how many lines of a result are shown.
const maxResult = 8

// draw returns the step with at most most lines of its result.
func (s *step) draw(width, most int) []string {
	out := wrapStyled([]string{s.line}, width)
	n := min(most, len(s.result))
	for i, line := range s.result[:n] {
		if i == n-1 && (s.cut || n < len(s.result)) {
			line += styleFaint.Render(" …")
		}
		out = append(out, ansi.Truncate(resultIndent+line, max(width, 1), "…"))
	}
	return out
}

// resultIndent is the width of a step's time.
const resultIndent = "           "

// setResult keeps the beginning of a call's result: the change of a file, or what a command
// printed.
func (s *step) setResult(ev *event.Event) {
	whole := agent.Builtin().Decode(agent.Input{Agent: ev.Agent, Event: ev.Native, Payload: ev.Raw, Cwd: ev.Cwd})
	tool := whole.Tool
	if tool == nil {
		return
	}
	add := func(text, mark string, style lipgloss.Style) {
		for line := range strings.Lines(strings.Trim(text, "\r\n")) {
			if s.cut = len(s.result) == maxResult; s.cut {
				return
			}
			s.result = append(s.result, style.Render(mark+termsafe.Line(strings.TrimRight(line, "\r\n"), 200)))
		}
	}
	var input struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
	}
	if tool.Kind == event.FileEdit && json.Unmarshal(tool.CurrentInput(), &input) == nil && input.New != "" {
		before, gone, fresh, after := changedText(input.Old, input.New)
		add(before, "  ", styleFaint)
		add(gone, "- ", styleGone)
		add(fresh, "+ ", styleAdded)
		add(after, "  ", styleFaint)
		return
	}
	if tool.Kind == event.Shell {
		add(printed(tool.Output), "", styleFaint)
	}
}

// changedText splits an edit: the last line that stays before it, what is removed, what is added,
// and the first line that stays after it.
func changedText(old, now string) (before, gone, fresh, after string) {
	x, y := strings.Split(strings.Trim(old, "\n"), "\n"), strings.Split(strings.Trim(now, "\n"), "\n")
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		before, x, y = x[0], x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		after, x, y = x[len(x)-1], x[:len(x)-1], y[:len(y)-1]
	}
	return before, strings.Join(x, "\n"), strings.Join(y, "\n"), after
}

// printed returns the output of a command, as agents report it.
func printed(output json.RawMessage) string {
	var text string
	if json.Unmarshal(output, &text) == nil {
		return text
	}
	var parts struct{ Stdout, Output, Stderr string }
	if json.Unmarshal(output, &parts) != nil {
		return ""
	}
	return cmp.Or(parts.Stdout, parts.Output, parts.Stderr)
}

// about returns the steps without what the rest of the row says: its title, and the request.
func (t *timeline) about(r *row) []step {
	var list []step
	for i, one := range t.steps {
		if t.asking && r.request != nil && i == len(t.steps)-1 || one.prompt != "" && one.prompt == r.title() {
			continue
		}
		list = append(list, one)
	}
	slices.SortStableFunc(list, func(x, y step) int { return x.at.Compare(y.at) })
	return list
}

// timeline lists what a session did lately.
type timeline struct {
	steps  []step // turns, calls and decisions, oldest first
	label  string // of the last call; "" if something else came last
	asking bool   // the last step asks and wasn't answered yet
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

// add adds one event with its outcome.
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
	if n := len(t.steps); ev.Kind == event.ToolAfter && ev.Tool != nil && n > 0 && t.steps[n-1].call == ev.Tool.CallID {
		t.steps[n-1].setResult(&ev)
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
		at := ev.Time
		if d.By == event.ByUser && entry.Outcome != nil { // an answer comes long after its question
			at = at.Add(time.Duration(entry.Outcome.TookUS) * time.Microsecond)
		}
		one := step{at: at, line: styleFaint.Render(at.Local().Format("15:04:05")) + " " + line}
		if ev.Kind == event.TurnStart {
			one.prompt = termsafe.Line(ev.Prompt, 240)
		}
		if ev.Tool != nil {
			one.call = ev.Tool.CallID
		}
		t.steps = append(t.steps, one)
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
	case event.SessionEnd:
		return styleFaint.Render("session ended")
	case event.SubagentStart:
		return styleFaint.Render(strings.TrimSpace("subagent started " + label))
	case event.SubagentEnd:
		return styleFaint.Render(strings.TrimSpace("subagent finished " + label))
	}
	return ""
}

// answerText says what you answered; "" if you didn't, or if the agent couldn't carry the
// answer and the outcome says more.
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
		return yes + "you answered: " + answerWords(answer.Answers)
	}
	return yes + "you approved " + label
}
