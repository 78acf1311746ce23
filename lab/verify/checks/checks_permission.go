package checks

import (
	"fmt"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Checks about requests that you answer from elsewhere.

// promptWithin is how soon an agent's own prompt must be there once a request
// was let go, and goneWithin how soon a request must be out of the inbox after
// the first sign that it was answered in the agent's own terminal. A machine
// that has too much to do may take longer without anybody's fault: then nothing
// is proven. What takes slack times as long is wrong on any machine.
const (
	promptWithin = time.Second
	goneWithin   = 500 * time.Millisecond
	slack        = 4
)

func inboxChecks() []Check {
	can := func(s Subject) bool { return s.Event == nil && s.Agent != nil && noInbox(s.Agent, s.Driver) == "" }
	asks := func(s Subject) bool { return can(s) && s.Driver.Questions != nil }
	byCommand := func(s Subject) bool { return can(s) && s.Agent.Install != nil && s.Agent.Install.Plugin == nil }
	return []Check{
		{
			ID: "inbox-approve", Proves: "what you approve in the inbox runs", Runs: []string{"inbox"},
			Applies: can, Evaluate: evaluateInboxYes, Breakage: silent, Sure: byCommand,
		}, {
			ID: "inbox-deny", Proves: "what you deny in the inbox doesn't run, and the model reads why",
			Runs: []string{"inbox"}, Applies: can, Evaluate: evaluateInboxNo, Breakage: allowForDeny, Sure: byCommand,
		}, {
			ID: "inbox-nobody", Proves: "without an answer, the agent's own prompt takes over", Runs: []string{"inbox"},
			Applies: can, Evaluate: evaluateInboxNobody, Breakage: allowAll, Sure: byCommand,
		}, {
			ID:      "inbox-later",
			Proves:  "a skipped call approved at the agent's own prompt runs, and isn't asked again",
			Runs:    []string{"inbox"},
			Applies: func(s Subject) bool { return can(s) && s.Agent.Inbox.Repeats }, Evaluate: evaluateInboxLater,
			Breakage: askTwice, Sure: byCommand,
		}, {
			ID: "inbox-window", Proves: "a request answered in the agent's own terminal leaves the inbox",
			Runs:    []string{"inbox"},
			Applies: func(s Subject) bool { return can(s) && showsWindow(s.Agent) }, Evaluate: evaluateInboxWindow,
			Breakage: blindWindow, Sure: byCommand,
		}, {
			ID: "inbox-question", Proves: "the model reads your answers to its questions", Runs: []string{"questions"},
			Applies: asks, Evaluate: evaluateInboxQuestion, Breakage: silent, Sure: byCommand,
		}, {
			ID:      "inbox-window-question",
			Proves:  "a question answered in the agent's own terminal leaves the inbox",
			Runs:    []string{"questions"},
			Applies: func(s Subject) bool { return asks(s) && showsWindow(s.Agent) }, Evaluate: evaluateInboxWindowQuestion,
			Breakage: blindQuestion, Sure: byCommand,
		}, {
			ID: "inbox-plan-mode", Proves: "an accepted plan runs in the mode you chose",
			Runs:     []string{"plans"},
			Applies:  func(s Subject) bool { return asks(s) && len(s.Driver.Questions.Modes) > 0 },
			Evaluate: evaluateInboxPlanModes, Breakage: forgetMode,
		}, {
			ID:     "inbox-form",
			Proves: "an MCP server's form can be filled in or declined in the inbox",
			Runs:   []string{"forms"},
			Applies: func(s Subject) bool {
				return s.Event == nil && s.Agent != nil && noForms(s.Agent,
					s.Driver) == ""
			}, Evaluate: evaluateInboxForm, Breakage: silent,
		}, {
			ID: "inbox-plan", Proves: "a plan can be sent back with feedback and accepted with a note",
			Runs:    []string{"questions"},
			Applies: func(s Subject) bool { return asks(s) && s.Driver.Questions.Plan != "" }, Evaluate: evaluateInboxPlan,
			Breakage: silent, Sure: byCommand,
		},
	}
}

// checkAnswered makes sure that a request came and the answer was delivered.
func checkAnswered(e *testbed.Evidence, tag string) *Result {
	var r Result
	switch item, ok := e.Inbox.Asked[tag]; {
	case !ok:
		r = FailsBecause("", "no request for %s reached the inbox", tag)
	case strings.Contains(joined(e.Inbox.Early), tag):
		r = FailsBecause("GUARDS DO NOT GUARD with this version of the agent", "%s ran before anybody answered", tag)
	case e.Inbox.Replies[tag] != string(queue.Delivered):
		r = FailsBecause("A fault of hookmux", "the answer to request %s was not delivered: %s", item.ID,
			e.Inbox.Replies[tag])
	default:
		return nil
	}
	return &r
}

func joined(list []string) string {
	all := ""
	for _, s := range list {
		all += s + " "
	}
	return all
}

func evaluateInboxYes(p *Proof, _ Subject) Result {
	e := p.Of("inbox")
	if r := checkAnswered(e, tagYes); r != nil {
		return *r
	}
	if !e.Ran(tagYes) {
		return FailsBecause("", "approved, and it did not run")
	}
	return HoldsBecause("waited, was approved from elsewhere and ran")
}

func evaluateInboxNo(p *Proof, _ Subject) Result {
	e := p.Of("inbox")
	if r := checkAnswered(e, tagNo); r != nil {
		return *r
	}
	if e.Ran(tagNo) {
		return FailsBecause("GUARDS DO NOT GUARD with this version of the agent", "refused, and it ran")
	}
	if !e.Saw(testbed.WordFor(testbed.WordReason, tagNo)) {
		return FailsBecause("", "it did not run, but the model never read why")
	}
	return HoldsBecause("did not run; the model read the reason")
}

func evaluateInboxNobody(p *Proof, _ Subject) Result {
	e := p.Of("inbox")
	if r := checkAnswered(e, tagNobody); r != nil {
		return *r
	}
	if e.Ran(tagNobody) {
		return FailsBecause("GUARDS DO NOT GUARD with this version of the agent", "nobody answered, and it ran")
	}
	return prompted(e)
}

// prompted evaluates whether the agent's own prompt took over in time.
func prompted(e *testbed.Evidence) Result {
	switch took := e.Inbox.Prompted; {
	case took < 0:
		return FailsBecause("", "the agent's own prompt did not come up")
	case took > slack*promptWithin:
		return FailsBecause("", "the agent's own prompt came up only after %.1f s", took.Seconds())
	case took > promptWithin:
		return UnsureBecause("the agent's own prompt came up after %.1f s; try it again when the machine has "+
			"less to do", took.Seconds())
	}
	return HoldsBecause("the agent's own prompt was there")
}

func evaluateInboxLater(p *Proof, _ Subject) Result {
	e := p.Of("inbox")
	if r := checkAnswered(e, tagLater); r != nil {
		return *r
	}
	switch {
	case e.Inbox.Times[tagLater] > 1:
		return FailsBecause("A fault of hookmux", "it was put to the user %d times", e.Inbox.Times[tagLater])
	case !e.Ran(tagLater):
		return FailsBecause("", "the user said yes in the window, and it did not run")
	}
	return HoldsBecause("approved in the window, ran, and came to the inbox once")
}

func evaluateInboxWindow(p *Proof, s Subject) Result {
	e := p.Of("inbox")
	return goneFromInbox(e, s, tagWindow, e.Ran(tagWindow))
}

func evaluateInboxWindowQuestion(p *Proof, s Subject) Result {
	e := p.Of("questions")
	return goneFromInbox(e, s, "question", e.Saw(fmt.Sprintf(s.Driver.Questions.Told, askedThree, "small")))
}

// goneFromInbox evaluates whether a request that was answered in the agent's own window left the inbox
// in time, and whether the agent took the answer.
func goneFromInbox(e *testbed.Evidence, s Subject, tag string, taken bool) Result {
	if _, ok := e.Inbox.Asked[tag]; !ok {
		return FailsBecause("", "no request for %s reached the inbox", tag)
	}
	switch {
	case e.Inbox.Sign < 0:
		return FailsBecause("", "the sign that the catalogue names (%s) did not come", s.Agent.Inbox.Prompt)
	case e.Inbox.Gone < 0:
		return FailsBecause("", "it was still in the inbox long after the sign (%s)", s.Agent.Inbox.Prompt)
	case e.Inbox.Gone > slack*goneWithin:
		return FailsBecause("", "it was gone only %.1f s after the sign (%s)", e.Inbox.Gone.Seconds(),
			s.Agent.Inbox.Prompt)
	case e.Inbox.Ended[tag].End != queue.AtPrompt.Code():
		return FailsBecause("A fault of hookmux", "it ended as: %s", e.Inbox.Ended[tag].End)
	case !taken:
		return FailsBecause("", "the user answered in the window, and the agent did not go by it")
	case e.Inbox.Gone > goneWithin:
		return UnsureBecause("gone %.1f s after the sign (%s); try it again when the machine has less to do",
			e.Inbox.Gone.Seconds(), s.Agent.Inbox.Prompt)
	}
	return HoldsBecause("gone at once after the sign (%s)", s.Agent.Inbox.Prompt)
}

func evaluateInboxQuestion(p *Proof, s Subject) Result {
	e := p.Of("questions")
	if r := checkAnswered(e, tagQuestions); r != nil {
		return *r
	}
	shapes := s.Driver.Questions.SecondAnswers()
	for q, a := range map[string]string{askedOne: "blue", askedTwo: strings.Join(shapes, ", ")} {
		if !e.Saw(fmt.Sprintf(s.Driver.Questions.Told, q, a)) {
			return FailsBecause("", "the model did not read %q as the answer to %q", a, q)
		}
	}
	if len(shapes) == 1 {
		return HoldsBecause("the model read both answers")
	}
	return HoldsBecause("the model read both answers, the one with two options whole")
}

func evaluateInboxPlan(p *Proof, _ Subject) Result {
	e := p.Of("questions")
	for _, tag := range []string{"plan-rejected", "plan"} {
		if r := checkAnswered(e, tag); r != nil {
			return *r
		}
	}
	switch {
	case !e.Saw(testbed.WordFor(testbed.WordReason, "plan")):
		return FailsBecause("", "the model never read why its plan was sent back")
	case !e.Saw("approved your plan"):
		return FailsBecause("", "the model never read that its plan was accepted")
	case !e.Saw(testbed.WordFor(testbed.WordContext, "plan")):
		return FailsBecause("", "the model never read the words beside the acceptance")
	}
	return HoldsBecause("sent back with words, then accepted with words; the model read both")
}

var (
	// allowAll answers every permission request.
	allowAll = testbed.Breakage{Name: "allow-all", What: "an encoder that permits everything",
		Out: `{ cat >/dev/null; case "$2" in PermissionRequest) echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}' ;; esac; }`}

	// askTwice does not know that the agent reports a call again.
	askTwice = testbed.Breakage{Name: "ask-twice", What: "an inbox that puts a call to the user again",
		Catalogue: "name: {agent}\ninbox:\n  wait: full\n  prompt: hidden\n  points:\n    PermissionRequest: " +
			"{permission: [once, deny]}\n"}

	// blindQuestion waits for the end of the turn: a question is over when it is
	// answered, so that its end would show it as well.
	blindQuestion = testbed.Breakage{Name: "blind-question",
		What:  "an inbox that sees neither the agent's prompt nor the ends of calls",
		First: `case "$2" in PostToolUse) cat >/dev/null; exit 0 ;; esac`,
		Catalogue: "name: {agent}\ninbox:\n  wait: deadline\n  prompt: event\n  points:\n    PermissionRequest: " +
			"{question: [answer, deny], plan: [accept, auto, reject]}\n"}

	// blindWindow waits for the end of the tool.
	blindWindow = testbed.Breakage{Name: "blind-window", What: "an inbox that does not look into the agent's terminal",
		Catalogue: "name: {agent}\ninbox:\n  wait: deadline\n  prompt: event\n  points:\n    PermissionRequest: " +
			"{permission: [once, deny]}\n"}
)
