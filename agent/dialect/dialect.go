// Package dialect holds what data cannot say about an agent's hooks: how a
// decision is written so that the agent honours it, and the few things about
// its payloads that a table of keys does not express. Each dialect is pure:
// bytes in, bytes out. The catalogue chooses the dialect by name and has
// already taken from a decision what the agent cannot carry.
package dialect

import (
	"encoding/json"
	"sort"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
)

// Dialect is one way of talking to hooks.
type Dialect struct {
	// Finish corrects what was decoded and returns the subagent; may be nil.
	Finish func(Decoded) *event.Subagent
	// Encode writes a decision that says something. It returns the decision
	// as it went out, with what had to be left behind noted in Degraded.
	Encode func(call Call) (neutral.Answer, event.Decision)
	// Shapes are the answer shapes Encode knows.
	Shapes []string
	// Takes says for a shape which parts of your answer Encode can write.
	Takes map[string]Takes
}

// Decoded is the part of an event that Finish may look at and correct. It is not the event itself:
// handing that to a function value would move every event to the heap.
type Decoded struct {
	Kind     event.Kind
	Session  string
	Subagent *event.Subagent
	Tool     *event.Tool
}

// Call is one decision to be written.
type Call struct {
	Event    *event.Event
	Native   string // the event's own name in the catalogue
	Shape    string // how this event is answered
	Decision event.Decision
	// Input is the whole changed input in the form this tool takes it; nil
	// when nothing changed.
	Input json.RawMessage
}

// The answer shapes. What each looks like is the dialect's business.
const (
	ShapeTool       = "tool"       // a tool is about to run
	ShapePermission = "permission" // a tool asks for permission
	ShapeBlock      = "block"      // refuse, or keep going, with a reason
	ShapeContext    = "context"    // only words for the model or the user
	ShapeQuestion   = "question"   // somebody asks the user something
	ShapeHalt       = "halt"       // the agent stops what it was about to do
	ShapeResult     = "result"     // a tool ran: what the model sees of it
	ShapePrompt     = "prompt"     // a prompt is about to be taken up
	ShapeNested     = "nested"     // a tool is about to run, answered the way Claude Code is
	ShapeWords      = "words"      // a tool ran: only words for the model count
	ShapeExit       = "exit"       // refuse by exit code, words as plain text
)

// table is the one place where dialects are registered.
var table = map[string]Dialect{
	"acp":         acp,
	"amp":         amp,
	"antigravity": antigravity,
	"claude":      claude,
	"cline":       cline,
	"codebuddy":   codebuddy,
	"codex":       codex,
	"copilot":     copilot,
	"crush":       crush,
	"cursor":      cursor,
	"droid":       droid,
	"gemini":      gemini,
	"grok":        grok,
	"hermes":      hermes,
	"kimi":        kimi,
	"openclaw":    openclaw,
	"opencode":    opencode,
	"openhands":   openhands,
	"pi":          pi,
	"qwen":        qwen,
	"generic":     generic,
}

// Lookup finds a dialect by the name the catalogue uses.
func Lookup(name string) (Dialect, bool) {
	d, ok := table[name]
	return d, ok
}

// Names lists the dialects an agent can be said to speak.
func Names() []string {
	var names []string
	for name := range table {
		if name != "generic" {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// keepDefault is sent to an agent that is kept going without a text: an empty reason would
// let it stop.
const keepDefault = "a hookmux hook asks you to go on"
