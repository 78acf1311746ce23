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

	ruleoffers "github.com/hookmux/hookmux/agent/offers"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// decision is something only a person may do, sent to the daemon. pin is empty at
// first; it is asked for where the daemon wants one.
type decision func(ctx context.Context, pin string) (said string, err error)

// terminalCall runs a decision while the terminal is the daemon's: it may ask for a
// code there.
type terminalCall struct {
	ctx    context.Context
	run    decision
	answer string
}

// Run is told by Bubble Tea once the terminal is free.
func (c *terminalCall) Run() (err error) {
	c.answer, err = c.run(c.ctx, "")
	return err
}

// SetStdin, SetStdout and SetStderr are of no use: the daemon opens the terminal itself.
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

// decide sends a decision. Where the daemon wants to ask the person something at
// their terminal first, the view leaves the screen to it for that time.
func (m *Model) decide(run decision) tea.Cmd { return m.send(run, false) }

// decideAtTerminal sends a decision that takes protection away: the daemon asks every
// person at their terminal then.
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
		m.status = "an answer is on its way"
		return false
	}
	m.busy, m.status = true, "sending …"
	return true
}

// reply answers a request.
func (m *Model) reply(reply client.InboxReply) tea.Cmd {
	switch now := m.board.findRequest(reply.ID); {
	case now == nil || isWindow(now):
		m.status = "too late: it no longer waits"
		return nil
	case now.SHA256 != reply.SHA256:
		m.status = "it changed meanwhile; nothing was answered"
		return nil
	}
	m.replied = reply.ID
	send := func(ctx context.Context, pin string) (string, error) {
		reply.PIN = pin
		result, err := m.opts.Daemon.Reply(ctx, reply)
		if err != nil {
			return "", err
		}
		return outcomeText(result), nil
	}
	if reply.Choice == "always" { // it reaches further than this request
		return m.decideAtTerminal(send)
	}
	return m.decide(send)
}

// askPIN asks for the PIN and sends the decision again with it.
func (m *Model) askPIN(ask askPINMsg) tea.Cmd {
	if m.mode != modeList { // what is typed for something else is no PIN
		m.status = "nothing was decided: the PIN is wanted; press the key again"
		return nil
	}
	m.status = ask.why
	m.startTyping("PIN", "", func(m *Model, pin string) tea.Cmd {
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
	return m.reply(replyFor(item, choice))
}

// replyFor is the answer that a choice stands for.
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
		m.status = "there is no rule for this: " + termsafe.Line(item.NoRule, 0)
		return nil
	}
	if why := m.whyNotYet(true); why != "" {
		m.status = why
		return nil
	}
	m.openConfirm("A", confirmText{
		question: "From now on this is allowed without asking:",
		about:    []string{termsafe.Line(item.Rule, 0)},
		hints: []string{"`hookmux permissions` lists saved rules, `permissions remove` removes one.",
			"A saves it and approves · Esc leaves it"},
	},
		func(m *Model) tea.Cmd { return m.reply(replyFor(item, "always")) })
	return nil
}

// offersOwnRule reports whether the agent offers a rule of its own for the selected request.
func offersOwnRule(m *Model) bool {
	return offers("always")(m) && len(m.pendingRequest().Suggestions) > 0
}

// approveByOwnRule has the agent save a rule that it offers. Where it offers several,
// the request numbers them.
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
	m.startTyping(fmt.Sprintf("Which of its own rules, 1 to %d", len(item.Suggestions)), "",
		func(m *Model, text string) tea.Cmd {
			number, err := strconv.Atoi(text)
			if err != nil || number < 1 || number > len(item.Suggestions) {
				m.status = "it offers no such rule; nothing was answered"
				return nil
			}
			confirmOwnRule(m, item, number)
			return nil
		})
	return nil
}

// confirmOwnRule shows what the agent would save.
func confirmOwnRule(m *Model, item *wire.InboxRequest, number int) {
	m.openConfirm("S", confirmText{
		question: termsafe.Line(item.Agent, 20) + " offers to keep this as its own rule, and not to ask again:",
		about:    []string{termsafe.Line(ruleoffers.InWords(item.Suggestions[number-1]), 0)},
		hints:    []string{"S has the agent keep it, and approves · Esc leaves it"},
	},
		func(m *Model) tea.Cmd {
			reply := replyFor(item, "always")
			reply.Suggestion = number
			return m.reply(reply)
		})
}

// denyRequest says no, with words for the model.
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
	label := "Deny " + termsafe.Line(item.ID, 12) + ". Reason for the model (Enter: none)"
	if plan {
		label = "Reject the plan. What should be different (Enter: nothing)"
	}
	m.startTyping(label, "", func(m *Model, words string) tea.Cmd {
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

// releaseRequest leaves the request to the agent's own prompt.
func releaseRequest(m *Model) tea.Cmd {
	item := m.pendingRequest()
	if item == nil {
		return nil
	}
	if why := m.whyNotYet(false); why != "" {
		m.status = why
		return nil
	}
	return m.decide(func(ctx context.Context, _ string) (string, error) {
		result, err := m.opts.Daemon.Release(ctx, item.ID)
		if err != nil {
			return "", err
		}
		return outcomeText(result), nil
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
	m.mode, m.form = modeForm, newForm(item, item.Agent+" · "+m.selectedRow().title(), questions)
	return nil
}

// pendingRequest is the selected request, where it can be answered here.
func (m *Model) pendingRequest() *wire.InboxRequest {
	if r := m.selectedRow(); r != nil && r.request != nil && !isWindow(r.request) {
		return r.request
	}
	return nil
}

// outcomeText says in a line what became of an answer.
func outcomeText(result client.InboxResult) string {
	lines, _ := text.Style{}.ReplyLines(&result)
	return strings.Join(lines, " · ")
}

func endedText(item *wire.InboxRequest) string {
	if isWindow(item) {
		return termsafe.Line(item.Agent+": you answered it in its own terminal", 0)
	}
	return termsafe.Line(item.ID+": "+text.Style{}.Ended(item), 0)
}

func errorText(err error) string { return termsafe.Line(err.Error(), 0) }
