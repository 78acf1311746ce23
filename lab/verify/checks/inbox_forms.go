package checks

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/mcp"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Forms of MCP servers (elicitation): a tool asks the user while it runs. The server is scripted
// and reports to the model what it received.

// The forms of the run, in order.
const (
	formFilled  = "form-filled"
	formRefused = "form-refused"
	bareTaken   = mcp.Bare + "taken"
	linkRefused = mcp.Link + "refused"
	formNobody  = "form-nobody"
)

var formPattern = lazyregexp.New(mcp.Message("((?:form|bare|link)-[a-z]+)"))

func noForms(a *agent.Agent, d drivers.Driver) string {
	switch {
	case d.Forms == nil || d.Words.MCP == nil:
		return "it is not known to report forms of MCP servers"
	case a.Inbox == nil:
		return "its requests cannot be answered from elsewhere"
	}
	return ""
}

// formCalls returns the calls that put forms to the user.
func formCalls(st *testbed.TestBed, tags ...string) []model.ToolCall {
	var calls []model.ToolCall
	for _, tag := range tags {
		calls = append(calls, st.Driver.Words.MCP(model.MCP{Server: drivers.FormServer, Tool: mcp.Tool,
			Input: map[string]any{mcp.Argument: tag}}))
	}
	return calls
}

func runForms(ctx context.Context, st *testbed.TestBed) error {
	server, err := mcp.Start()
	if err != nil {
		return err
	}
	defer server.Close()
	tags := []string{formFilled, formRefused, bareTaken, linkRefused, formNobody}
	st.SetScript(append(testbed.CallSteps(formCalls(st, tags...)...), model.Step{Say: testbed.LastWords}))
	if err := st.StartDaemonWithHooks(nil); err != nil {
		return err
	}
	p, err := AttachPerson(ctx, st) // before the agent: it may ask at once
	if err != nil {
		return err
	}
	defer p.Detach()
	return st.AtTerminal(ctx, st.Driver.Forms.Args(testbed.MarkedPrompt("Ask me"), server.URL),
		func(_ context.Context, t *testbed.Terminal) error {
			for i, tag := range tags {
				limit := st.Patience / 4
				if i == 0 {
					limit = st.Patience
				}
				if !p.WasAsked(tag, limit) {
					t.KeepScreen()
					return nil // the checks say what is missing
				}
				switch tag {
				case formFilled:
					p.SendReply(tag, wire.InboxReplyParams{Choice: string(event.ChooseAnswer),
						Answers: []event.QuestionAnswer{
							{ID: "count", Text: "3"}, {ID: "colour", Options: []string{"blue"}},
							{ID: "sure", Options: []string{"no"}},
						}})
				case bareTaken:
					p.SendReply(tag, wire.InboxReplyParams{Choice: string(event.ChooseAnswer),
						Answers: []event.QuestionAnswer{{Options: []string{"accept"}}}})
				case formRefused, linkRefused:
					p.SendReply(tag, wire.InboxReplyParams{Choice: string(event.ChooseDeny),
						Reason: testbed.WordFor(testbed.WordReason, tag)})
				case formNobody:
					p.measureOwnPrompt(t, tag, st.Driver.Forms.Prompts)
				}
			}
			return nil
		})
}

func evaluateInboxForm(p *Proof, _ Subject) Result {
	e := p.Of("forms")
	content, _ := json.Marshal(map[string]any{"colour": "blue", "count": 3, "sure": false})
	for _, form := range []struct{ tag, want string }{
		{formFilled, "accept " + string(content)}, {formRefused, "decline"}, {bareTaken, "accept {}"},
		{linkRefused, "decline"}, {formNobody, ""},
	} {
		if r := checkAnswered(e, form.tag); r != nil {
			return *r
		}
		if form.want != "" && !e.Saw(mcp.AnswerPrefix(form.tag)+form.want) {
			return FailsBecause("", "of %s the server should have heard %q, and heard %q", form.tag, form.want,
				toldOfForm(e, form.tag))
		}
	}
	if link := e.Inbox.Asked[linkRefused]; !strings.Contains(link.Shown, mcp.Address) ||
		slices.Contains(link.Choices, string(event.ChooseAnswer)) {
		return FailsBecause("A fault of hookmux", "an address that the user should open is not shown, or can be "+
			"answered like a form")
	}
	if r := prompted(e); r.Mark != Holds {
		return r
	}
	return HoldsBecause("the server heard the fields in their types, and the refusals of a form and of an address; " +
		"with nobody there the agent's own form came up")
}

// toldOfForm returns what the model was sent about a form.
func toldOfForm(e *testbed.Evidence, tag string) string {
	for _, m := range e.Told {
		if at := strings.Index(m.Text, mcp.AnswerPrefix(tag)); at >= 0 && m.Role != model.RoleAssistant {
			return testbed.ClipText(m.Text[at:])
		}
	}
	return "nothing"
}

// runForm has a hook deny a form; it is the question of agents that report no other.
func runForm(ctx context.Context, st *testbed.TestBed, settle func(context.Context, *testbed.Terminal) error) error {
	server, err := mcp.Start()
	if err != nil {
		return err
	}
	defer server.Close()
	st.SetScript(append(testbed.CallSteps(formCalls(st, formRefused)...), model.Step{Say: testbed.LastWords}))
	return st.AtTerminal(ctx, st.Driver.Forms.Args(testbed.MarkedPrompt("Ask me"), server.URL), settle)
}
