// Package hook defines hooks, which users write once for every agent: registrations, how
// they match an event, in which order they run, and how their opinions become
// one decision. What a handler does is behind the [Handler] interface; where
// registrations are stored is not known here.
package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/hookmux/hookmux/event"
)

// Role says what a hook may do.
type Role string

// The roles. A registration without one gets [Registration.RoleFor].
const (
	Guard   Role = "guard"   // may decide; fails closed
	Observe Role = "observe" // runs afterwards; a failure is reported
	Advise  Role = "advise"  // waited for; may add context, a result or keep-going, no verdict
)

// Format is the language a handler speaks.
type Format string

// The formats.
const (
	Unified Format = ""       // hookmux's own
	Claude  Format = "claude" // Claude Code's hook input and output, on every agent
)

// OnFailure says what a guard's failure means.
type OnFailure string

// What a failure can mean.
const (
	FailDefault OnFailure = ""
	FailDeny    OnFailure = "deny"
	FailAsk     OnFailure = "ask"
	FailIgnore  OnFailure = "ignore"
)

// Any matches every agent or every hook type.
const Any = "*"

// DefaultPriority is that of a registration which names none; lower runs
// earlier.
const DefaultPriority = 100

// Registration is one hook as a user writes it.
type Registration struct {
	ID        string    `json:"id"`
	Agent     string    `json:"agent"`    // catalogue name or "*"
	HookType  string    `json:"hookType"` // unified kind, native name or "*"
	Handler   string    `json:"handler"`  // builtin, command, script or typescript
	Target    string    `json:"target"`
	Role      Role      `json:"role,omitempty"`
	Priority  *int      `json:"priority,omitempty"`
	Enabled   *bool     `json:"enabled,omitempty"`
	Timeout   Duration  `json:"timeout,omitempty"`
	Match     *Match    `json:"match,omitempty"`
	Format    Format    `json:"format,omitempty"`
	OnFailure OnFailure `json:"onFailure,omitempty"`
	Locked    bool      `json:"locked,omitempty"`
	// LogOnly lets the hook evaluate without deciding: what it would have done is
	// recorded, and nothing changes for the agent.
	LogOnly bool `json:"log,omitempty"`
	// SkipAgents names agents this hook is not for although Agent is "*": an
	// imported Claude hook already runs on Claude itself.
	SkipAgents []string `json:"skipAgents,omitempty"`
}

// Match narrows a registration to some tool calls. Every field that is set
// must hold; within the event, one command or one path is enough.
type Match struct {
	Tool    string `json:"tool,omitempty"`    // tool kind
	Name    string `json:"name,omitempty"`    // glob over the agent's own tool name
	Command string `json:"command,omitempty"` // regular expression over a command
	Path    string `json:"path,omitempty"`    // glob over a path, relative to the cwd, absolute or from ~/
}

// Duration is a time span as written in JSON: 30 (seconds), "30s", "2m".
type Duration time.Duration

// maxSeconds is the longest span that a time.Duration can hold.
const maxSeconds = float64(math.MaxInt64 / int64(time.Second))

// MarshalJSON writes whole seconds as a number.
func (d Duration) MarshalJSON() ([]byte, error) {
	if s := time.Duration(d); s%time.Second == 0 {
		return json.Marshal(int64(s / time.Second))
	}
	return json.Marshal(time.Duration(d).String())
}

// UnmarshalJSON reads seconds or a Go duration.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var seconds float64
	if json.Unmarshal(b, &seconds) == nil {
		if math.Abs(seconds) > maxSeconds {
			return fmt.Errorf("timeout %g s is out of range; write seconds between 1 and %d", seconds,
				int(MaxTimeout.Seconds()))
		}
		*d = Duration(seconds * float64(time.Second))
		return nil
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return errors.New("timeout must be seconds or a text like \"30s\"")
	}
	span, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("timeout %q is not a time span; write 30 or \"30s\"", text)
	}
	*d = Duration(span)
	return nil
}

// RunsProgram reports whether the handler starts a program of its own.
func (r *Registration) RunsProgram() bool { return r.Handler == "command" || r.Handler == "script" }

// IsEnabled reports whether the hook runs; one that says nothing does.
func (r *Registration) IsEnabled() bool { return r.Enabled == nil || *r.Enabled }

// Order returns the priority, lower first.
func (r *Registration) Order() int {
	if r.Priority == nil {
		return DefaultPriority
	}
	return *r.Priority
}

// RoleFor returns the role at one kind of event: what the registration says, else
// guard for a command, script, TypeScript hook or backend where a tool is about to run, observe
// for a built-in, advise for the rest.
func (r *Registration) RoleFor(kind event.Kind) Role {
	if r.Role != "" {
		return r.Role
	}
	if r.Handler == "builtin" {
		return Observe
	}
	if kind.Guarded() {
		return Guard
	}
	return Advise
}

// FailureMeans returns what a failure of this hook as a guard means. Claude's own
// hooks fail open, so a hook in its format does, unless it says otherwise.
func (r *Registration) FailureMeans() OnFailure {
	if r.OnFailure != FailDefault {
		return r.OnFailure
	}
	if r.Format == Claude {
		return FailIgnore
	}
	return FailDeny
}

// MaxTimeout bounds a registration's own timeout: no agent waits longer.
const MaxTimeout = 24 * time.Hour

// Check says in one line what is wrong with a registration, nil if nothing is.
// knownAgent reports whether an agent is in the catalogue, knownType whether it has
// a native event of that name.
func (r *Registration) Check(knownAgent func(string) bool, knownType func(agent, native string) bool) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch {
	case r.ID == "":
		bad("id is missing")
	case strings.ContainsFunc(r.ID, func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsGraphic(c) }):
		bad("id %q holds blanks or control characters", r.ID)
	case strings.HasPrefix(r.ID, GuardPrefix):
		bad("id %q is kept for hookmux's own guards; choose another", r.ID)
	}
	if r.Agent == "" {
		bad("agent is missing; write an agent's name or \"*\"")
	} else if r.Agent != Any && knownAgent != nil && !knownAgent(r.Agent) {
		bad("agent %q is unknown; `hookmux status` lists the agents", r.Agent)
	}
	if r.HookType == "" {
		bad("hookType is missing; write a kind such as tool.before, an agent's own event name or \"*\"")
	} else if r.HookType != Any && !event.Kind(r.HookType).Known() && knownType != nil &&
		!knownType(r.Agent, r.HookType) {
		bad("hookType %q is neither a kind (tool.before, turn.end, …) nor an event of %s; "+
			"`hookmux hooks discover %s` lists them", r.HookType, agentWords(r.Agent), quoteName(r.Agent))
	}
	switch r.Handler {
	case "builtin", "command", "script", HandlerTypeScript:
	case "ahp":
		bad("the handler ahp is gone: hookmux no longer asks policy servers by the Agent Hooks Protocol; write a command hook that asks yours")
	default:
		bad("handler %q is none of builtin, command, script, typescript", r.Handler)
	}
	if strings.TrimSpace(r.Target) == "" {
		bad("target is missing: what should the handler run?")
	}
	if r.Role != "" && !r.Role.known() {
		errs = append(errs, errRole(r.Role))
	}
	switch r.Format {
	case Unified, Claude:
	default:
		bad("format %q is unknown; write \"claude\" or leave it out", r.Format)
	}
	if !r.OnFailure.known() {
		errs = append(errs, errOnFailure(r.OnFailure))
	}
	if t := time.Duration(r.Timeout); t < 0 || t > MaxTimeout {
		bad("timeout %s is out of range; write seconds between 1 and %d", t, int(MaxTimeout.Seconds()))
	}
	for _, skipped := range r.SkipAgents {
		if knownAgent != nil && !knownAgent(skipped) {
			bad("skipAgents: agent %q is unknown; `hookmux status` lists the agents", skipped)
		}
	}
	errs = append(errs, r.Match.checkMatch()...)
	if len(errs) == 0 {
		return nil
	}
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return errors.New(strings.Join(texts, "; "))
}

func (r Role) known() bool { return r == Guard || r == Observe || r == Advise }

func errRole(m Role) error { return fmt.Errorf("role %q is none of guard, observe, advise", m) }

func (f OnFailure) known() bool {
	return f == FailDefault || f == FailDeny || f == FailAsk || f == FailIgnore
}

func errOnFailure(f OnFailure) error {
	return fmt.Errorf("onFailure %q is none of deny, ask, ignore", f)
}

func agentWords(agent string) string {
	if agent == Any || agent == "" {
		return "any agent"
	}
	return agent
}

// quoteName returns an agent's name as it is typed in a shell.
func quoteName(agent string) string {
	if agent == Any {
		return "'*'"
	}
	return agent
}
