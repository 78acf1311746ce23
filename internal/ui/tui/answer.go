package tui

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	ruleoffers "github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// decision is something that only you may do, sent to the daemon. pin is empty at first; it
// is asked for if the daemon wants one.
type decision func(ctx context.Context, pin string) (said string, err error)

// terminalCall runs a decision while the terminal is the daemon's: it may ask for a
// code there.
type terminalCall struct {
	ctx    context.Context
	run    decision
	answer string
}

// Run is called by Bubble Tea once the terminal is free.
func (c *terminalCall) Run() (err error) {
	c.answer, err = c.run(c.ctx, "")
	return err
}

// SetStdin, SetStdout and SetStderr do nothing: the daemon opens the terminal itself.
func (c *terminalCall) SetStdin(io.Reader)  {}
func (c *terminalCall) SetStdout(io.Writer) {}
func (c *terminalCall) SetStderr(io.Writer) {}

func (c *terminalCall) outcome(err error) outcomeMsg {
	if err != nil {
		return outcomeMsg{text: errorText(err), returned: true}
	}
	return outcomeMsg{text: c.answer, returned: true}
}

type (
	askAtTerminalMsg struct{ call *terminalCall }
	askPINMsg        struct {
		why string
		run decision
	}
)

// silenceTime is how long the daemon may take to say who is asking: after a longer
// silence nothing is decided.
const silenceTime = 3 * time.Second

// decide sends a decision. If the daemon wants to ask the user something at their terminal
// first, the view leaves the screen to it for that time.
func (m *Model) decide(run decision) tea.Cmd { return m.send(run, false) }

// decideAtTerminal sends a decision that removes protection: the daemon then always asks at
// the terminal.
func (m *Model) decideAtTerminal(run decision) tea.Cmd { return m.send(run, true) }

func (m *Model) send(run decision, weakens bool) tea.Cmd {
	if !m.startDeciding() {
		return nil
	}
	return func() tea.Msg {
		var terminal wire.TerminalView
		ctx, cancel := context.WithTimeout(m.ctx, silenceTime)
		defer cancel()
		switch err := m.opts.Daemon.Call(ctx, wire.MethodWhoami, nil, &terminal); {
		case err != nil && ctx.Err() != nil:
			return outcomeMsg{text: silentText}
		case err != nil:
			return outcomeMsg{text: errorText(err)}
		}
		if terminal.Outcome == wire.TerminalCode || terminal.Outcome == wire.TerminalPIN ||
			weakens && terminal.Outcome == wire.TerminalAllowed {
			return askAtTerminalMsg{&terminalCall{ctx: m.ctx, run: run}}
		}
		said, err := run(m.ctx, "")
		switch {
		case client.NeedsPIN(err):
			return askPINMsg{errorText(err), run}
		case err != nil:
			return outcomeMsg{text: errorText(err)}
		}
		return outcomeMsg{text: said}
	}
}

// startDeciding reports whether a decision can be sent now: a dialog may have been
// open for long.
func (m *Model) startDeciding() bool {
	switch {
	case m.problem != "":
		m.status = silentText
		return false
	case m.busy:
		m.status = "An answer is on its way."
		return false
	}
	m.busy, m.status = true, "Sending …"
	return true
}

// reply answers a request.
func (m *Model) reply(reply client.InboxReply) tea.Cmd {
	now := m.board.findRequest(reply.ID)
	switch {
	case now == nil || !now.Answerable():
		m.status = tooLateText
		return nil
	case now.SHA256 != reply.SHA256:
		m.status = "It changed in the meantime; nothing was answered."
		return nil
	}
	m.noteReply(reply.ID)
	send := func(ctx context.Context, pin string) (string, error) {
		reply.PIN = pin
		result, err := m.opts.Daemon.Reply(ctx, reply)
		if err != nil {
			return "", err
		}
		return outcomeText(now, result), nil
	}
	if reply.Choice == "always" { // it reaches further than this request
		return m.decideAtTerminal(send)
	}
	return m.decide(send)
}

// noteReply has the cursor go on to the next request once this one is answered.
func (m *Model) noteReply(id string) { m.replied, m.moved = id, false }

// askPIN asks for the PIN and sends the decision again with it.
func (m *Model) askPIN(ask askPINMsg) tea.Cmd {
	if m.mode != modeList { // what is typed for something else is no PIN
		m.status = "Nothing was decided: your PIN is needed. Press the key again."
		return nil
	}
	m.status = ask.why
	m.startTyping("PIN", "", "", "send", func(m *Model, pin string) tea.Cmd {
		return m.decide(func(ctx context.Context, _ string) (string, error) { return ask.run(ctx, pin) })
	})
	m.typing.input.secret = true
	return nil
}

// approve says yes to the selected request: once, or to its plan.
func (m *Model) approve(choice string) tea.Cmd {
	item := m.pendingRequest()
	if item == nil || !slices.Contains(item.Choices, choice) {
		return nil
	}
	if why := m.whyNotYet(true); why != "" {
		m.status = why
		return nil
	}
	if item.Risk == riskHigh && m.wasArmed != item.SHA256 {
		m.armed, m.armedAt = item.SHA256, m.keyAt
		m.status = styleFailed.Bold(true).Render(upperFirst(termsafe.Line(effectOf(item), 60)) + ". Press " + m.pressed.key + " again to approve.")
		return nil
	}
	return m.reply(replyFor(item, choice))
}

// replyFor returns the answer for a choice.
func replyFor(item *wire.InboxRequest, choice string) client.InboxReply {
	reply := client.InboxReply{ID: item.ID, Choice: choice, SHA256: item.SHA256}
	switch choice {
	case "accept", "auto", "manual", "reject":
		reply.Choice, reply.Plan = "plan", choice
	case "always":
		reply.Rule = item.Rule
	}
	return reply
}

// approveAlways shows the rule before it is saved.
func approveAlways(m *Model) tea.Cmd {
	item := m.pendingRequest()
	if item == nil || !slices.Contains(item.Choices, "always") {
		return nil
	}
	if item.Rule == "" {
		m.status = "No permission can be saved for this call: " + termsafe.Line(item.NoRule, 0)
		return nil
	}
	if why := m.whyNotYet(true); why != "" {
		m.status = why
		return nil
	}
	m.openConfirm("A", "save and approve", confirmText{
		title:    "Always allow",
		question: "From now on, allow this without asking you:",
		about:    []string{termsafe.Line(item.Rule, 0)},
		hints:    []string{"`hookmux permissions` lists what you saved; `permissions remove` takes one back."},
	},
		func(m *Model) tea.Cmd { return m.reply(replyFor(item, "always")) })
	return nil
}

// offersOwnRule reports whether the agent offers a rule of its own for the selected request.
func offersOwnRule(m *Model) bool {
	return offers("always")(m) && len(m.pendingRequest().Suggestions) > 0
}

// approveByOwnRule has the agent save a rule that it offers. If it offers several, the
// request numbers them.
func approveByOwnRule(m *Model) tea.Cmd {
	item := m.pendingRequest()
	if why := m.whyNotYet(true); why != "" {
		m.status = why
		return nil
	}
	if len(item.Suggestions) == 1 {
		confirmOwnRule(m, item, 1)
		return nil
	}
	m.startTyping("The agent's own rule", fmt.Sprintf("Which of the rules it offers, 1 to %d?", len(item.Suggestions)), "", "choose",
		func(m *Model, text string) tea.Cmd {
			number, err := strconv.Atoi(text)
			if err != nil || number < 1 || number > len(item.Suggestions) {
				m.status = "It offers no such rule; nothing was answered."
				return nil
			}
			confirmOwnRule(m, item, number)
			return nil
		})
	return nil
}

// confirmOwnRule shows what the agent would save.
func confirmOwnRule(m *Model, item *wire.InboxRequest, number int) {
	m.openConfirm("S", "save and approve", confirmText{
		title:    "The agent's own rule",
		question: termsafe.Line(item.Agent, 20) + " offers to save this as its own rule and not to ask again:",
		about:    []string{termsafe.Line(ruleoffers.OfferInWords(item.Suggestions[number-1]), 0)},
		hints:    []string{"Press S again to have it saved and approve, or Esc."},
	},
		func(m *Model) tea.Cmd {
			reply := replyFor(item, "always")
			reply.Suggestion = number
			return m.reply(reply)
		})
}

// denyRequest says no, with a message for the model.
func denyRequest(m *Model) tea.Cmd {
	item := m.pendingRequest()
	if item == nil {
		return nil
	}
	plan := slices.Contains(item.Choices, "reject")
	if !plan && !slices.Contains(item.Choices, "deny") {
		return nil
	}
	if why := m.whyNotYet(false); why != "" {
		m.status = why
		return nil
	}
	does, label := "deny", "Why? The agent reads it. Enter alone gives no reason."
	if plan {
		does, label = "send back", "What should be different? Enter alone sends it back without a comment."
	}
	title := upperFirst(does) + " · " + termsafe.Line(item.Agent, 20) + " · " + termsafe.Line(m.selectedRow().title(), 200)
	m.startTyping(title, label, "", does, func(m *Model, words string) tea.Cmd {
		if plan {
			reply := replyFor(item, "reject")
			reply.Feedback = words
			return m.reply(reply)
		}
		reply := replyFor(item, "deny")
		reply.Reason = words
		return m.reply(reply)
	})
	return nil
}

// skipRequest leaves the request to the agent's own prompt.
func skipRequest(m *Model) tea.Cmd {
	item := m.pendingRequest()
	if item == nil {
		return nil
	}
	if why := m.whyNotYet(false); why != "" {
		m.status = why
		return nil
	}
	m.noteReply(item.ID)
	return m.decide(func(ctx context.Context, _ string) (string, error) {
		result, err := m.opts.Daemon.Skip(ctx, item.ID)
		if err != nil {
			return "", err
		}
		return outcomeText(item, result), nil
	})
}

// answerQuestions opens the form of the selected request.
func answerQuestions(m *Model) tea.Cmd {
	item := m.pendingRequest()
	if item == nil || !slices.Contains(item.Choices, "answer") {
		return nil
	}
	if why := m.whyNotYet(true); why != "" {
		m.status = why
		return nil
	}
	questions := item.Questions
	if len(questions) == 0 {
		questions = []event.Inquiry{{Text: "Your answer", Free: true}}
	}
	m.mode, m.form = modeForm, newForm(item, item.Agent+" · "+m.selectedRow().title(), questions, m.opts.Now())
	return nil
}

// pendingRequest returns the selected request, if it can be answered here.
func (m *Model) pendingRequest() *wire.InboxRequest {
	// A sidebar doesn't show requests in full, so none is answered there.
	if r := m.selectedRow(); r != nil && r.request != nil && r.request.Answerable() && !m.opts.Sidebar {
		return r.request
	}
	return nil
}

// answerByDigit answers the selected question with an option, by its digit.
func answerByDigit(m *Model) tea.Cmd {
	item := m.pendingRequest()
	n := strings.Index(optionKeys, m.pressed.key)
	if n >= len(item.Questions[0].Options) {
		m.status = fmt.Sprintf("There are only %d options.", len(item.Questions[0].Options))
		return nil
	}
	if why := m.whyNotYet(true); why != "" {
		m.status = why
		return nil
	}
	f := newForm(item, "", item.Questions, m.opts.Now())
	f.choose(n)
	return m.reply(f.reply())
}

const tooLateText = "Too late: it doesn't wait any more."

// subjectOf names a request in a few words.
func subjectOf(item *wire.InboxRequest) string {
	return termsafe.Line(requestAbout(item), 60) + " (" + termsafe.Line(item.Agent, 20) + ")"
}

// outcomeText says in a line what became of an answer to a request.
func outcomeText(item *wire.InboxRequest, result client.InboxResult) string {
	lines, delivered := text.Style{}.ReplyLines(&result)
	if item != nil && len(lines) > 0 {
		said := strings.TrimPrefix(lines[0], result.ID+": ")
		if d := result.Decided; delivered && d != nil {
			said = text.DecidedWord(d)
			if words := text.DecidedWords(d); words != "" {
				said += " (" + words + ")"
			}
		}
		mark := ""
		if d := result.Decided; delivered && d != nil {
			if mark = "✓ "; d.Choice == "deny" || d.Plan == "reject" {
				mark = "✗ "
			}
		}
		lines[0] = mark + upperFirst(said) + " · " + termsafe.Line(item.Agent, 20) + " · " + termsafe.Line(strings.TrimPrefix(requestAbout(item), "$ "), 200)
	}
	return strings.Join(lines, " · ")
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func endedText(item *wire.InboxRequest) string {
	return subjectOf(item) + ": " + termsafe.Line(text.Style{}.Ended(item), 0)
}

func errorText(err error) string { return termsafe.Line(err.Error(), 0) }
