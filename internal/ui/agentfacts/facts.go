// Package agentfacts puts in order, for pages and commands, what is known about
// an agent: what the catalogue claims, beside what a real agent did in the last
// recorded verification.
package agentfacts

import (
	"slices"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/event"
)

// Facts is an agent and what was last seen of it; Seen is empty when nothing
// was recorded.
type Facts struct {
	Agent *agent.Agent
	Seen  recordings.Summary
}

// FactsOf returns what is known about an agent, with what comes with this hookmux of the
// last recorded verification.
func FactsOf(a *agent.Agent) (Facts, error) {
	seen, err := recordings.SummaryOf(a.Name)
	return Facts{Agent: a, Seen: seen}, err
}

// Evidence says how hookmux knows what it says about an agent.
type Evidence string

// The kinds of evidence.
const (
	Tested     Evidence = "tested"     // a real one was refused a call, or its events arrived and were understood
	Documented Evidence = "documented" // its vendor says so; no recorded run confirms it
	Untested   Evidence = "untested"   // neither
)

// BriefNotes returns what you must know about the agent: it comes first among the notes.
func (f Facts) BriefNotes() []string {
	const most = 3
	return f.Agent.Notes[:min(most, len(f.Agent.Notes))]
}

// Evidence returns the strongest evidence there is.
func (f Facts) Evidence() Evidence {
	claims := func(e *agent.EventSpec) bool { return len(e.Claims()) > 0 }
	switch {
	case f.Proven("deny") || f.eventsArrive():
		return Tested
	case slices.ContainsFunc(f.Agent.Events, claims):
		return Documented
	}
	return Untested
}

// Claims reports whether the catalogue claims an ability at some event. A
// refusal counts where it stops something.
func (f Facts) Claims(claim string) bool {
	return slices.ContainsFunc(f.Agent.Events, func(e *agent.EventSpec) bool {
		return slices.ContainsFunc(e.Claims(), func(c agent.Claim) bool {
			return c.Name == claim && (claim != "deny" || e.Kind.Guarded())
		})
	})
}

// Proven reports whether a real agent did what is claimed. A refusal and a changed
// input count where they stop or change something. A claim that rests on the vendor's
// word alone does not count: in verify a stand-in for the vendor's service did it, if
// anything.
func (f Facts) Proven(claim string) bool {
	for _, r := range f.Seen.Rows {
		if r.Claim != claim || r.Mark != "✓" {
			continue
		}
		e, ok := f.Agent.Event(r.Event)
		if ok && !byWordAlone(e, claim) && (claim != "deny" && claim != "input" || e.Kind.Guarded()) {
			return true
		}
	}
	return false
}

// byWordAlone reports whether the claim rests on what the vendor says.
func byWordAlone(e *agent.EventSpec, claim string) bool {
	return slices.ContainsFunc(e.Claims(), func(c agent.Claim) bool {
		return c.Name == claim && agent.ProofKindOf(c.Capability.Proof) == agent.Documented
	})
}

// eventsArrive reports whether events around tools came and were read.
func (f Facts) eventsArrive() bool {
	kinds := map[event.Kind]bool{}
	for _, r := range f.Seen.Rows {
		if e, ok := f.Agent.Event(r.Event); ok && r.Check == "decodes" && r.Mark == "✓" {
			kinds[e.Kind] = true
		}
	}
	return kinds[event.ToolBefore] && kinds[event.ToolAfter]
}

// RawOnly reports whether the agent ran a turn and its payloads were kept, without
// anything asked that the catalogue claims.
func (f Facts) RawOnly() bool {
	return !slices.ContainsFunc(f.Seen.Rows, func(r recordings.Row) bool {
		return r.Check != "turn" && r.Check != "payloads"
	})
}

// Verified reports whether claims were asked about, and not only a turn played.
func (f Facts) Verified() bool { return f.Seen.Version != "" && !f.RawOnly() }

// Count returns how many rows of the last recorded run have a mark.
func (f Facts) Count(mark string) int {
	n := 0
	for _, r := range f.Seen.Rows {
		if r.Mark == mark {
			n++
		}
	}
	return n
}

// Power says what hooks can do at an agent.
type Power string

// The powers, each of which holds the one before it.
const (
	PowerNone    Power = "nothing"           // it takes no hooks from hookmux
	PowerWatch   Power = "watch only"        // hooks see its calls
	PowerBlock   Power = "block only"        // hooks can also block a call
	PowerApprove Power = "approve and block" // hooks can also approve one, so you can answer from elsewhere
)

// ClaimedPower returns what hooks can do at the agent, as the catalogue claims.
func (f Facts) ClaimedPower() Power {
	approves := func(e *agent.EventSpec) bool { return e.Kind.Guarded() && e.Carries.Allow != nil }
	switch {
	case len(f.Agent.Events) == 0:
		return PowerNone
	case f.Claims("deny") && slices.ContainsFunc(f.Agent.Events, approves):
		return PowerApprove
	case f.Claims("deny"):
		return PowerBlock
	}
	return PowerWatch
}

// Ability is one thing that an agent may take from a hook.
type Ability struct {
	Claim string // as the catalogue calls it
	Verb  string // in a sentence: a hook can …
	Noun  string // in a table
}

// Abilities lists all there are, in the order in which they are shown.
func Abilities() []Ability {
	return []Ability{
		{"deny", "block a tool call", "block"}, {"allow", "approve it", "approve"},
		{"ask", "make the agent ask you", "ask"}, {"input", "change its input", "change input"},
		{"output", "change its result", "change result"}, {"context", "add context for the model", "add context"},
		{"keep", "continue the turn", "continue"}, {"notice", "show you a message", "show a message"},
	}
}

// Answer is one thing that an agent takes at one event, with how that is known.
type Answer struct {
	Event      string `json:"event"`
	Claim      string `json:"claim"`
	Noun       string `json:"-"`
	Proof      string `json:"proof"`
	Since      string `json:"since,omitempty"`
	Until      string `json:"until,omitempty"`
	NeedsAllow bool   `json:"needs_allow,omitempty"`
	NeedsUser  bool   `json:"needs_user,omitempty"`
	Mark       string `json:"mark,omitempty"` // what the last recorded verification saw
}

// Answers lists what the agent takes, by event in the catalogue's order.
func (f Facts) Answers() []Answer {
	nouns := map[string]string{}
	for _, a := range Abilities() {
		nouns[a.Claim] = a.Noun
	}
	var list []Answer
	for _, e := range f.Agent.Events {
		for _, claim := range e.Claims() {
			c := claim.Capability
			how := c.Proof
			if kind, run := agent.SplitProof(how); kind == agent.Tested && f.Agent.Tried != "" {
				how = "tested " + f.Agent.Tried + ": " + run
			}
			list = append(list, Answer{
				Event: e.Name, Claim: claim.Name, Noun: nouns[claim.Name], Proof: how, Since: c.Since, Until: c.Until,
				NeedsAllow: c.NeedsAllow, NeedsUser: c.NeedsUser, Mark: f.MarkOf(e.Name, claim.Name),
			})
		}
	}
	return list
}

// Words names an answer and the conditions it needs.
func (a Answer) Words() string {
	text := a.Noun
	if a.NeedsAllow {
		text += " (when it approves)"
	}
	if a.NeedsUser {
		text += " (when you're there)"
	}
	if a.Since != "" {
		text += " since " + a.Since
	}
	if a.Until != "" {
		text += " before " + a.Until
	}
	return text
}

// MarkOf returns the worst mark of what was seen about an event or a claim of it;
// empty when nothing was.
func (f Facts) MarkOf(event, claim string) string {
	worst := ""
	for _, r := range f.Seen.Rows {
		if r.Event != event || r.Claim != claim {
			continue
		}
		if worst == "" || r.Mark == "✗" || r.Mark == "–" && worst == "✓" {
			worst = r.Mark
		}
	}
	return worst
}

// TimeLimit is how long hooks of some events may take.
type TimeLimit struct {
	Default time.Duration // what the agent waits when its config says nothing; 0: not known
	Asked   time.Duration // what hookmux asks for
	Most    time.Duration // what the agent cuts to; 0: no limit is known
	Events  []string
}

// TimeLimits groups the events by their limits, the longest list first.
func (f Facts) TimeLimits() []TimeLimit {
	var list []TimeLimit
	for _, e := range f.Agent.Events {
		limit := TimeLimit{
			Default: f.Agent.Timeout(e.Name), Asked: f.Agent.InstallTimeout(e.Name), Most: time.Duration(e.MaxTimeout),
		}
		at := slices.IndexFunc(list, func(had TimeLimit) bool {
			return had.Default == limit.Default && had.Asked == limit.Asked && had.Most == limit.Most
		})
		if at < 0 {
			list, at = append(list, limit), len(list)
		}
		list[at].Events = append(list[at].Events, e.Name)
	}
	slices.SortStableFunc(list, func(a, b TimeLimit) int { return len(b.Events) - len(a.Events) })
	return list
}
