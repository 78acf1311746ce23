// Package policy says whether you must decide about an event, what you may choose, and
// whether a saved permission answers for you.
//
// Contract: everything here is pure. What an agent can be answered with is the
// catalogue's data; your choices are in the settings; nothing here knows an agent, a
// clock or a disk. The caller keeps the order: guards and hooks first, then permissions,
// then you.
package policy

import (
	"slices"
	"strings"
	"unicode"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// Kind names what you're asked for.
type Kind string

// The kinds of requests.
const (
	Permission Kind = "permission"
	Question   Kind = "question"
	Plan       Kind = "plan"
)

// Level is how much of an agent's doing becomes a request.
type Level string

// The levels, from loose to tight. Read-only tools never are one, unless the
// agent itself asks about them.
const (
	Off         Level = "off"        // nothing; the agent's own prompts alone
	Permissions Level = "permission" // what the agent itself would ask a person
	// also every call with side effects, where an approval spares the agent's own prompt
	SideEffects Level = "side-effects"
	All         Level = "all" // also where an agent can only be vetoed
)

// Levels lists them, from loose to tight.
func Levels() []Level { return []Level{Off, Permissions, SideEffects, All} }

// Case is one event with what is known about it.
type Case struct {
	Event    *event.Event // with the input as hooks changed it
	Spec     *agent.EventSpec
	Inbox    *agent.Inbox
	Carries  event.Carries
	Level    Level
	Chosen   bool           // the user set the level; else only proven points count
	Free     bool           // the agent was told to ask nobody, and puts its permission events all the same
	Decision event.Decision // what hooks and guards said
}

// Need is what you must be asked.
type Need struct {
	Kind    Kind
	Choices []event.Choice   // of a permission or a question
	Plans   []event.PlanMode // of a plan
	Asked   string           // the hook that wants a person to look, "" when the agent asks
	Why     string           // its reason
	// BlockOnly says that a yes cannot be carried: the user may only refuse, or
	// leave the agent to its own rules.
	BlockOnly bool
	// Unseen says that what a yes would mean can't be shown: the input isn't whole, or
	// a plan has no text.
	Unseen bool
	// Decider decides instead of you. A saved permission still applies; beyond that,
	// no one is asked.
	Decider Decider
}

// Decider decides about a request instead of you.
type Decider string

// Who decides.
const (
	UserDecides  Decider = ""
	AgentDecides Decider = "agent" // the agent's own reviewer, which never hands over to a person
)

// NeedFor returns what you must be asked, if anything.
func NeedFor(c Case) (Need, bool) {
	ev := c.Event
	if c.Level == Off || c.Inbox == nil || c.Spec == nil || ev.Nested || c.Decision.Verdict == event.Deny {
		return Need{}, false
	}
	if ev.Malformed != "" {
		return Need{}, false // nothing could be shown
	}
	if c.Decision.Verdict == event.Ask {
		return hookAsks(c)
	}
	if c.Decision.Verdict == event.Allow || c.Decision.Allowed {
		return Need{}, false // a hook approved it already
	}
	need, ok := agentAsks(c)
	if !ok || !c.Chosen && !c.Spec.Proven() {
		return Need{}, false
	}
	need.KeepToShown(ev)
	return need, len(need.Choices)+len(need.Plans) > 0
}

// agentAsks returns what the agent itself asks for, or what the user chose to be asked
// about before it runs.
func agentAsks(c Case) (Need, bool) {
	point := c.Inbox.At(c.Event.Native).For(c.Event)
	if point == nil {
		return Need{}, false
	}
	kind, ok := KindOf(c.Event)
	if !ok || c.Free && kind == Permission && c.Event.Kind == event.PermissionRequest {
		return Need{}, false
	}
	need := Need{Kind: kind}
	if c.Event.ReviewedByAgent() {
		need.Decider = AgentDecides
	}
	switch kind {
	case Question:
		need.Choices = slices.Clone(point.Question)
		if !canAnswer(c.Event.Questions) {
			need.Choices = slices.DeleteFunc(need.Choices, func(c event.Choice) bool { return c == event.ChooseAnswer })
		}
	case Plan:
		need.Plans = slices.Clone(point.Plan)
	default:
		need.Choices = slices.Clone(point.Permission)
		need.BlockOnly = !slices.Contains(need.Choices, event.ChooseOnce)
	}
	if c.Event.Kind != event.ToolBefore {
		return need, true
	}
	if kind == Permission && !SideEffecting(c.Event.Tool) {
		return Need{}, false
	}
	want := SideEffects
	switch {
	case need.BlockOnly:
		want = All
	case kind != Permission && point.Sole:
		want = Permissions
	}
	return need, levelRank(c.Level) >= levelRank(want)
}

// canAnswer reports whether every question that must be answered can be.
func canAnswer(list []event.Inquiry) bool {
	return len(list) > 0 && !slices.ContainsFunc(list,
		func(q event.Inquiry) bool { return !q.Optional && !q.Answerable() })
}

// hookAsks returns what a hook or guard wants you to look at. You can be asked wherever the
// agent takes a deny: a yes is then an approval if the agent has one, otherwise no
// objection.
func hookAsks(c Case) (Need, bool) {
	if !c.Event.Kind.Guarded() || !c.Carries.Deny {
		return Need{}, false
	}
	need := Need{Kind: Permission, Choices: []event.Choice{event.ChooseOnce, event.ChooseDeny}}
	if point := c.Inbox.At(c.Event.Native).For(c.Event); point != nil &&
		slices.Contains(point.Permission, event.ChooseOnce) {
		need.Choices = point.Permission
	}
	need = need.AskedBy(c.Decision.By, c.Decision.Reason)
	need.KeepToShown(c.Event)
	return need, true
}

// AskedBy is the need when a hook asks about the call. A blanket yes would
// answer what the hook did not ask.
func (n Need) AskedBy(hook, why string) Need {
	n.Asked, n.Why = hook, why
	n.Choices = slices.DeleteFunc(slices.Clone(n.Choices), func(c event.Choice) bool {
		return c == event.ChooseAll || c == event.ChooseBypass
	})
	return n
}

// KeepToShown leaves only the refusal where you can't be shown what a yes would mean: the
// agent cut the input off, or sent a plan without its text.
func (n *Need) KeepToShown(ev *event.Event) {
	if kind, _ := KindOf(ev); !ev.Truncated && (kind != Plan || hasWords(ev.Plan)) {
		return
	}
	n.Unseen = true
	n.Plans = slices.DeleteFunc(slices.Clone(n.Plans), func(m event.PlanMode) bool { return m != event.PlanReject })
	n.Choices = slices.DeleteFunc(slices.Clone(n.Choices), func(c event.Choice) bool { return c != event.ChooseDeny })
}

// hasWords reports whether a text says anything: blanks, lines and invisible characters
// aren't a plan.
func hasWords(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !termsafe.Dangerous(r)
	})
}

// KindOf returns what an event would ask you for, if anything.
func KindOf(ev *event.Event) (Kind, bool) {
	switch ev.Kind {
	case event.UserQuestion:
		return Question, true
	case event.UserPlan:
		return Plan, true
	case event.PermissionRequest, event.ToolBefore:
		if ev.Tool == nil {
			return "", false
		}
		switch ev.Tool.Kind {
		case event.Question:
			return Question, len(ev.Questions) > 0
		case event.Plan:
			return Plan, true
		}
		return Permission, true
	}
	return "", false
}

// SideEffecting reports whether a call can change something. Only tools known to read are
// exempt; MCP servers' tools and unknown ones are treated as if they changed something.
func SideEffecting(t *event.Tool) bool {
	if t == nil {
		return false
	}
	switch t.Kind {
	case event.FileRead, event.Search:
		return len(t.Writes) > 0 || len(t.Commands) > 0
	case event.Task: // what the helper does is asked about when it does it
		return false
	}
	return true
}

func levelRank(l Level) int { return slices.Index(Levels(), l) }

// Offers reports whether a choice is available.
func (n *Need) Offers(choice event.Choice) bool { return slices.Contains(n.Choices, choice) }
