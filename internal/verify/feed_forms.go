package verify

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/verify/mcp"
	"github.com/hookmux/hookmux/internal/verify/model"
	"github.com/hookmux/hookmux/internal/wire"
)

// Forms of MCP servers (elicitation): a tool asks the person while it runs. The
// server is scripted and tells the model what it heard.

// Forms says how an agent is started with an MCP server.
type Forms struct {
	// Args are those of an interactive start in which the server called
	// [formServer] listens at an address and its tool has leave.
	Args func(prompt, url string) []string
	// Prompts is what the agent's own dialog for a form shows.
	Prompts string
}

const formServer = "forms"

// The forms of the act, in order.
const (
	formFilled  = "form-filled"
	formRefused = "form-refused"
	bareTaken   = mcp.Bare + "taken"
	linkRefused = mcp.Link + "refused"
	formNobody  = "form-nobody"
)

var formPattern = lazyregexp.New(mcp.Message("((?:form|bare|link)-[a-z]+)"))

func noForms(a *agent.Agent, d Driver) string {
	switch {
	case d.Forms == nil || d.Words.MCP == nil:
		return "it is not known to report forms of MCP servers"
	case a.Feed == nil:
		return "its requests cannot be answered from elsewhere"
	}
	return ""
}

// formCalls are the calls that put forms to the person.
func (st *Stage) formCalls(tags ...string) []model.ToolCall {
	var calls []model.ToolCall
	for _, tag := range tags {
		calls = append(calls, st.Driver.Words.MCP(model.MCP{Server: formServer, Tool: mcp.Tool, Input: map[string]any{mcp.Argument: tag}}))
	}
	return calls
}

func playForms(ctx context.Context, st *Stage) error {
	server, err := mcp.Start()
	if err != nil {
		return err
	}
	defer server.Close()
	tags := []string{formFilled, formRefused, bareTaken, linkRefused, formNobody}
	st.setScript(append(callSteps(st.formCalls(tags...)...), model.Step{Say: lastWords}))
	if err := st.startHubWithHooks(nil); err != nil {
		return err
	}
	p, err := st.attachPerson(ctx) // before the agent: it may ask at once
	if err != nil {
		return err
	}
	defer p.detach()
	return st.atTerminal(ctx, st.Driver.Forms.Args(markedPrompt("Ask me"), server.URL), func(ctx context.Context, t *terminal) error {
		for i, tag := range tags {
			limit := st.patience / 4
			if i == 0 {
				limit = st.patience
			}
			if !p.wasAsked(tag, limit) {
				t.keepScreen()
				return nil // the checks say what is missing
			}
			switch tag {
			case formFilled:
				p.sendReply(tag, wire.FeedReplyParams{Choice: string(event.ChooseAnswer), Answers: []event.QuestionAnswer{
					{ID: "count", Text: "3"}, {ID: "colour", Options: []string{"blue"}}, {ID: "sure", Options: []string{"no"}},
				}})
			case bareTaken:
				p.sendReply(tag, wire.FeedReplyParams{Choice: string(event.ChooseAnswer), Answers: []event.QuestionAnswer{{Options: []string{"accept"}}}})
			case formRefused, linkRefused:
				p.sendReply(tag, wire.FeedReplyParams{Choice: string(event.ChooseDeny), Reason: wordFor(wordReason, tag)})
			case formNobody:
				p.nobody(t, tag, st.Driver.Forms.Prompts)
			}
		}
		return nil
	})
}

func judgeFeedForm(p *Proof, _ Subject) Result {
	e := p.Of("forms")
	content, _ := json.Marshal(map[string]any{"colour": "blue", "count": 3, "sure": false})
	for _, form := range []struct{ tag, want string }{
		{formFilled, "accept " + string(content)}, {formRefused, "decline"}, {bareTaken, "accept {}"}, {linkRefused, "decline"}, {formNobody, ""},
	} {
		if r := answered(e, form.tag); r != nil {
			return *r
		}
		if form.want != "" && !e.Saw(mcp.Heard(form.tag)+form.want) {
			return fails("", "of %s the server should have heard %q, and heard %q", form.tag, form.want, toldOfForm(e, form.tag))
		}
	}
	if link := e.Feed.Asked[linkRefused]; !strings.Contains(link.Shown, mcp.Address) || slices.Contains(link.Choices, string(event.ChooseAnswer)) {
		return fails("A fault of hookmux", "an address that the person should open is not shown, or can be answered like a form")
	}
	if r := prompted(e); r.Mark != Holds {
		return r
	}
	return holds("the server heard the fields in their types, and the refusals of a form and of an address; with nobody there the agent's own form came up")
}

// toldOfForm is what the model was told of a form.
func toldOfForm(e *Evidence, tag string) string {
	for _, m := range e.Told {
		if at := strings.Index(m.Text, mcp.Heard(tag)); at >= 0 && m.Role != model.RoleAssistant {
			return clipText(m.Text[at:])
		}
	}
	return "nothing"
}

// playForm has a hook refuse a form; it is the question of agents that report
// no other.
func (st *Stage) playForm(ctx context.Context, settle func(context.Context, *terminal) error) error {
	server, err := mcp.Start()
	if err != nil {
		return err
	}
	defer server.Close()
	st.setScript(append(callSteps(st.formCalls(formRefused)...), model.Step{Say: lastWords}))
	return st.atTerminal(ctx, st.Driver.Forms.Args(markedPrompt("Ask me"), server.URL), settle)
}
