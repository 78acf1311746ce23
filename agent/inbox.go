package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Inbox says how you can answer an agent's requests from somewhere else: at which events,
// with which choices, and how long the agent may be kept waiting. An agent without one is
// never kept waiting.
type Inbox struct {
	Wait  WaitKind `yaml:"wait"`
	Brief Duration `yaml:"brief"` // how long [WaitBrief] is while nobody is known to look
	// Watched is how long [WaitBrief] is while someone could answer: a live view, a popup or
	// a paired device is open, or notifications are on.
	Watched Duration `yaml:"watched"`

	// Window names the first sign that the user answered in the agent's own
	// window while a request waits here.
	Prompt PromptSign `yaml:"prompt"`
	// State is the file of [PromptState].
	State *StateFile `yaml:"state"`

	// Promptless says that the agent has no prompt of its own, so that no
	// opinion lets the call run. Approving is then saying nothing.
	Promptless bool `yaml:"promptless"`

	// Free says how an agent is started so that it never asks, though it sends its
	// permission events all the same: then there is nothing to ask you about.
	Free *Free `yaml:"free"`

	// Repeats says that a call about which the user was asked in the agent's
	// own prompt comes a second time, with its number, once they said yes.
	Repeats bool `yaml:"repeats"`

	// Number is where in the payload an agent puts its own number of a request,
	// and Answered where an event puts the number of the request that was
	// answered at its own prompt, by native name. Dots descend.
	Number   string            `yaml:"number"`
	Answered map[string]string `yaml:"answered"`

	// Dialog is the agent's own question whether a command may run, where keys can
	// answer it in tmux.
	Dialog *Dialog `yaml:"dialog"`

	// Points are the events at which you can be asked, by native name.
	Points map[string]*InboxPoint `yaml:"points"`
}

// Free is how an agent is started so that it never asks: with one of its flags, or with a
// variable that says yes.
type Free struct {
	Flags []string `yaml:"flags"`
	Env   string   `yaml:"env"`
}

// IsYes reports whether a variable's value is a yes.
func (f *Free) IsYes(value string) bool {
	return slices.Contains([]string{"true", "1", "yes", "on", "y"}, strings.ToLower(strings.TrimSpace(value)))
}

// InboxPoint lists what you may choose at one event, for each kind of request that can come
// there. A kind without choices isn't asked about.
type InboxPoint struct {
	Permission []event.Choice   `yaml:"permission"`
	Question   []event.Choice   `yaml:"question"`
	Plan       []event.PlanMode `yaml:"plan"`
	// Unattended says what is different if no one sits at the agent: "never", it settles
	// requests by itself before an answer could come, so that you aren't asked; "only", a yes
	// works only there, because the agent asks no one afterwards and no answer lets the call
	// run.
	Unattended string `yaml:"unattended"`
	// Sole says that no other event reports a question or a plan: what the agent asks by
	// itself is asked here, and not only if you chose to be asked before calls.
	Sole bool `yaml:"sole"`
	// Hidden says that here, unlike elsewhere, the agent shows its own dialog only after the
	// hook returned: no one can answer there meanwhile, and keeping the agent waiting keeps
	// you from it.
	Hidden bool `yaml:"hidden"`
}

// How a point can differ if no one sits at the agent.
const (
	UnattendedNever = "never"
	UnattendedOnly  = "only"
)

// For returns the point as it applies to an event; nil if you aren't asked.
func (p *InboxPoint) For(ev *event.Event) *InboxPoint {
	alone := ev.Attended == event.AttendedNo
	switch {
	case p == nil || p.Unattended == "" || p.Unattended == UnattendedOnly && alone ||
		p.Unattended == UnattendedNever && !alone:
		return p
	case p.Unattended == UnattendedNever:
		return nil
	}
	less := *p
	less.Permission = slices.DeleteFunc(slices.Clone(p.Permission),
		func(c event.Choice) bool { return c != event.ChooseDeny })
	return &less
}

// WaitKind says how long an agent may be kept waiting for you.
type WaitKind string

// The ways to wait.
const (
	WaitFull     WaitKind = "full"     // as long as the setting inbox.wait says
	WaitDeadline WaitKind = "deadline" // up to the hook's time limit: the agent's own dialog stays usable
	// a moment, unless inbox.wait.<agent> says more: the agent shows its own dialog only after the hook returned
	WaitBrief WaitKind = "brief"
)

// Window is how an answer at the agent's own prompt shows while a request
// waits.
type PromptSign string

// The signs.
const (
	PromptState  PromptSign = "state"  // a file in which the agent keeps what it is at tells first; see [StateFile]
	PromptEvent  PromptSign = "event"  // its next event tells
	PromptHidden PromptSign = "hidden" // there is no window to answer in before the hook returned
)

// StateFile is a small JSON file that an agent rewrites whenever it begins or
// ceases to wait for its person.
type StateFile struct {
	// Path is relative to the folder of the transcript; {pid} is replaced by the agent's
	// process id.
	Path    string `yaml:"path"`
	Session string `yaml:"session"` // the key of the session id
	Status  string `yaml:"status"`  // the key of what the agent is at
	Waiting string `yaml:"waiting"` // its value while the agent waits for the user
	Idle    string `yaml:"idle"`    // its value while no turn goes on; empty: not known
}

// At returns what you may choose at an event; nil if nothing.
func (f *Inbox) At(native string) *InboxPoint {
	if f == nil {
		return nil
	}
	return f.Points[native]
}

// NumberOf returns the agent's own number of the request an event puts, "" for none.
func (f *Inbox) NumberOf(ev *event.Event) string {
	if f == nil || f.Number == "" || f.Points[ev.Native] == nil {
		return ""
	}
	return numberAt(ev.Raw, f.Number)
}

// AnsweredBy returns the number of the request that an event says was answered in
// the agent's own prompt, "" for none.
func (f *Inbox) AnsweredBy(ev *event.Event) string {
	if f == nil || f.Answered[ev.Native] == "" {
		return ""
	}
	return numberAt(ev.Raw, f.Answered[ev.Native])
}

func numberAt(payload []byte, path string) string {
	value := jsontext.Get(payload, strings.Split(path, ".")...)
	if s, ok := jsontext.String(value); ok {
		return s
	}
	return string(value)
}

// WaitAt returns how the agent may be kept waiting at an event.
func (f *Inbox) WaitAt(native string) WaitKind {
	switch p := f.At(native); {
	case f == nil || f.Wait == "", p != nil && p.Hidden && f.Wait == WaitDeadline:
		return WaitFull
	}
	return f.Wait
}

// PromptAt returns how an answer at the agent's own prompt shows while a request of
// an event waits.
func (f *Inbox) PromptAt(native string) PromptSign {
	if p := f.At(native); f == nil || p != nil && p.Hidden {
		return PromptHidden
	}
	return f.Prompt
}

// Wait holds the user's settings about how long agents wait.
type Wait struct {
	Setting time.Duration // inbox.wait
	Chosen  bool          // for this very agent: it counts instead of a moment
	// Watched says that someone could answer here.
	Watched bool
	// Away says that the user is not at the agent's own prompt, so that hiding
	// its dialog costs nothing.
	Away bool
}

// WaitFor returns how long a request of an event may wait: left is the time left until the
// hook's timeout.
func (f *Inbox) WaitFor(native string, left time.Duration, wait Wait) time.Duration {
	way := f.WaitAt(native)
	switch {
	case way == WaitDeadline || wait.Away:
		return left
	case way == WaitBrief && !wait.Chosen && wait.Watched:
		return min(left, time.Duration(f.Watched))
	case way == WaitBrief && !wait.Chosen:
		return min(left, time.Duration(f.Brief))
	}
	return min(left, wait.Setting)
}

// BriefWait describes how long an agent with a brief wait waits; it is "" for other agents.
func (a *Agent) BriefWait() string {
	if a.Inbox == nil || a.Inbox.Wait != WaitBrief {
		return ""
	}
	return fmt.Sprintf("%s hides its own prompt while it waits for your answer in hookmux: up to %.0f s while "+
		"`hookmux up` is open or notifications are on, otherwise %.0f s",
		a.Title, time.Duration(a.Inbox.Watched).Seconds(), time.Duration(a.Inbox.Brief).Seconds())
}

// inbox checks what you may answer.
func (c *checker) inbox(agent string, f *Inbox, events []*EventSpec) {
	bad := func(path, format string, args ...any) {
		c.at("$.inbox"+path, "%s: inbox: %s", agent, fmt.Sprintf(format, args...))
	}
	switch f.Wait {
	case WaitFull, WaitDeadline:
	case WaitBrief:
		if f.Brief <= 0 || f.Watched < f.Brief {
			bad(".brief", "say how long brief is, and watched, which is no shorter")
		}
	default:
		bad(".wait", "wait %q is none of %s, %s, %s", f.Wait, WaitFull, WaitDeadline, WaitBrief)
	}
	if !slices.Contains([]PromptSign{PromptState, PromptEvent, PromptHidden}, f.Prompt) {
		bad(".prompt", "prompt %q is none of %s, %s, %s", f.Prompt, PromptState, PromptEvent, PromptHidden)
	}
	if s := f.State; (f.Prompt == PromptState) != (s != nil) ||
		s != nil && (s.Path == "" || s.Session == "" || s.Status == "" || s.Waiting == "") {
		bad(".state", "prompt: state needs a state with path, session, status and waiting, and nothing else has one")
	}
	if f.Free != nil && len(f.Free.Flags) == 0 && f.Free.Env == "" {
		bad(".free", "say by which flags or variable the agent is told to ask nobody")
	}
	if f.Dialog != nil {
		for _, problem := range f.Dialog.problems() {
			bad(".dialog", "%s", problem)
		}
	}
	for name := range f.Answered {
		if f.Number == "" {
			bad(".answered", "%s answers a number, and number does not say where requests have theirs", name)
		}
		if !slices.ContainsFunc(events, func(e *EventSpec) bool { return e != nil && e.Name == name }) {
			bad(".answered", "there is no event %s", name)
		}
	}
	for name, p := range f.Points {
		at := slices.IndexFunc(events, func(e *EventSpec) bool { return e != nil && e.Name == name })
		if at < 0 {
			bad(".points", "there is no event %s", name)
			continue
		}
		if p == nil {
			bad(".points."+name, "%s offers nothing", name)
			continue
		}
		for _, problem := range p.problems(events[at], f.Promptless) {
			bad(".points."+name, "%s: %s", name, problem)
		}
	}
}

// problems lists what is offered that the event cannot carry.
func (p *InboxPoint) problems(e *EventSpec, promptless bool) []string {
	var out []string
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for kind, list := range map[string][]event.Choice{"permission": p.Permission, "question": p.Question} {
		for _, choice := range list {
			switch {
			case !choice.Known() || choice == event.ChoosePlan, kind == "permission" && choice == event.ChooseAnswer,
				kind == "question" && choice != event.ChooseAnswer && choice != event.ChooseDeny:
				note("%q is not a choice for a %s", choice, kind)
			case choice == event.ChooseDeny:
				if e.Carries.Deny == nil {
					note("deny is offered and not carried")
				}
			case e.Carries.Allow == nil && !promptless && p.Unattended != UnattendedOnly && kind == "permission":
				note("%s is offered, and an approval is not carried", choice)
			}
		}
		if len(list) > 0 && kind == "permission" && slices.Contains(list, event.ChooseAlways) &&
			!slices.Contains(list, event.ChooseOnce) {
			note("always without once")
		}
	}
	for _, mode := range p.Plan {
		if !mode.Known() {
			note("%q is no answer to a plan; use one of %s", mode, strings.Join(planWords(), ", "))
		}
	}
	if !slices.Contains([]string{"", UnattendedNever, UnattendedOnly}, p.Unattended) {
		note("unattended %q is none of %s, %s", p.Unattended, UnattendedNever, UnattendedOnly)
	}
	if len(p.Permission)+len(p.Question)+len(p.Plan) == 0 {
		note("it offers nothing")
	}
	return out
}

func planWords() []string {
	var words []string
	for _, m := range event.PlanModes() {
		words = append(words, string(m))
	}
	return words
}

// Proven reports whether an approval and a deny at an event were tried on the real agent. By
// default you're asked only where they were.
func (e *EventSpec) Proven() bool {
	for _, c := range []*Capability{e.Carries.Allow, e.Carries.Deny, e.Carries.Input} {
		if c != nil && ProofKindOf(c.Proof) == Tested {
			return true
		}
	}
	return false
}
