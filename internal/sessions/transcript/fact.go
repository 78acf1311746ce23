package transcript

import (
	"time"

	"github.com/hookmux/hookmux/event"
)

// Kind names the subject of a fact.
type Kind string

// The kinds of facts.
const (
	Title       Kind = "title"       // Source, Text
	Prompt      Kind = "prompt"      // Text: what a person asked
	Message     Kind = "message"     // Text: what the agent said
	TurnStarted Kind = "turnStarted" // Turn
	TurnEnded   Kind = "turnEnded"   // Turn; Failed with Text: the model could not be asked
	Interrupted Kind = "interrupted" // Turn: a person stopped it; Stopped
	CallBegan   Kind = "callBegan"   // Call, Tool, Input: the call is written down
	CallEnded   Kind = "callEnded"   // Call; Failed, Exit, Text: its result is written down; Denied, Stopped
	Decided     Kind = "decided"     // Call; Denied: a person answered its prompt
	Reviews     Kind = "reviews"     // Reviewer: who decides about permission requests from now on
)

// Fact is one thing a transcript says.
type Fact struct {
	Kind   Kind      `json:"kind"`
	At     time.Time `json:"at,omitzero"` // when the agent says it was; zero when it does not
	Turn   string    `json:"turn,omitempty"`
	Source string    `json:"source,omitempty"` // of a title: see agent.TitleSources
	Text   string    `json:"text,omitempty"`
	Call   string    `json:"call,omitempty"`
	Tool   string    `json:"tool,omitempty"`
	Input  []byte    `json:"input,omitempty"` // of a call, bounded
	Exit   int       `json:"exit,omitempty"`
	Failed bool      `json:"failed,omitempty"`
	Denied bool      `json:"denied,omitempty"`
	// Stopped says that you stopped a call. The row of a call doesn't show whether it was
	// running then or still waiting for permission; that of an interruption says it was
	// running.
	Stopped bool `json:"stopped,omitempty"`
	// Reviewer decides about permission requests.
	Reviewer event.Reviewer `json:"reviewer,omitempty"`
	// Early says that the fact is from the beginning of a record whose middle wasn't read: use
	// it for the first prompt, not as news.
	Early bool `json:"early,omitempty"`
	// First says that it was there when the record was first read: it happened before anything
	// followed the record.
	First bool `json:"first,omitempty"`
}
