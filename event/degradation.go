package event

import "slices"

// Degradation is one part of a decision that did not reach the agent as it was
// meant, with what the agent got in its place.
//
// A decision is written as JSON with each degradation as one sentence (see
// [Degradation.String]). One that was read back from there holds that sentence
// in Text alone.
type Degradation struct {
	What   Part
	To     Replacement // Dropped when nothing took its place
	Why    Cause
	Detail string // what Why speaks of: a tool, a key, an exit code; "" for most
	Text   string // the whole sentence of one that was read from JSON
}

// Part is a part of a decision that can be lost.
type Part string

// The parts of a decision that an agent may not be able to take.
const (
	PartInput        Part = "changed input"
	PartInputKeys    Part = "part of the changed input"
	PartAsk          Part = "ask"
	PartAskedChange  Part = "ask with changed input"
	PartAllow        Part = "allow"
	PartDeny         Part = "deny"
	PartOutput       Part = "changed result"
	PartContext      Part = "context"
	PartKeepGoing    Part = "keep-going"
	PartStdout       Part = "printed text"
	PartExitCode     Part = "exit code"
	PartAnswer       Part = "answer"
	PartStandingRule Part = "standing approval"
	PartPlanMode     Part = "plan mode"
	PartBypass       Part = "bypass"
)

// Replacement says what an agent gets in place of a lost part.
type Replacement string

// The replacements.
const (
	Dropped     Replacement = ""
	ToDeny      Replacement = "deny"
	ToNone      Replacement = "none"
	ToRefusal   Replacement = "refusal that holds it"
	ToThisCall  Replacement = "this call only"
	NotPassedOn Replacement = "not passed on"
)

// Cause is a code for why a part was lost. A handler may use a text of its own: a
// cause that isn't listed here is shown as it is.
type Cause string

// The causes. NotCarried is the most common: the agent has no form for the part
// at this event.
const (
	NotCarried       Cause = "not-carried"
	NotTakenTogether Cause = "not-taken-together" // two parts at once were never seen to count
	NotTriedBeside   Cause = "not-tried-beside"   // Detail is what it would stand beside
	NeedsApproval    Cause = "needs-approval"     // a change is sent as an approval, and nobody approved
	NeedsAnswers     Cause = "needs-answers"      // a question was approved without answers
	FormNotFilled    Cause = "form-not-filled"    // the answers do not fit the form of an MCP server
	NoCall           Cause = "no-call"            // there is no tool call to change
	NotAnObject      Cause = "not-an-object"      // the changed input is no JSON object
	ToolFixed        Cause = "tool-fixed"         // Detail is the tool whose input cannot be changed
	KeyMissing       Cause = "key-missing"        // Detail is the key the changed input lacks
	KeyNotTaken      Cause = "key-not-taken"      // Detail is the keys of which the agent takes no change
	TooManyRounds    Cause = "too-many-rounds"    // Detail is how often the turn was kept going
)

// notCarried says for each part why an agent that has no form for it loses it.
var notCarried = map[Part]string{
	PartInput:        "the agent cannot take a changed input here",
	PartAsk:          "the agent cannot be made to ask here",
	PartAllow:        "the agent does not take an approval here",
	PartDeny:         "nothing can be stopped at this event",
	PartOutput:       "the agent keeps its own",
	PartKeepGoing:    "the agent cannot be kept going here",
	PartExitCode:     "the agent is answered in words",
	PartAnswer:       "the agent has no other form for answers here",
	PartPlanMode:     "the agent goes on in the mode it chooses",
	PartBypass:       "the agent's mode cannot be switched here",
	PartContext:      "the agent takes none here",
	PartStdout:       "the agent takes none here",
	PartStandingRule: "the agent takes none here",
}

// Reason returns a sentence that says why the part was lost.
func (g Degradation) Reason() string {
	switch g.Why {
	case NotCarried:
		return notCarried[g.What]
	case NotTakenTogether:
		return "not known to be taken together"
	case NotTriedBeside:
		return "not tried beside " + g.Detail
	case NeedsApproval:
		return "here a change can only be sent as an approval, which nobody gave"
	case NeedsAnswers:
		return "an approval does not answer a question; its answers must come along"
	case FormNotFilled:
		return "the form is not filled with what it takes"
	case NoCall:
		return "there is no call to change"
	case NotAnObject:
		return "the changed input is not an object"
	case KeyNotTaken:
		return "the agent takes no change of " + g.Detail
	case ToolFixed:
		return "the input of " + g.Detail + " cannot be changed"
	case KeyMissing:
		return "the changed input has no " + g.Detail
	case TooManyRounds:
		return "this turn was kept going " + g.Detail + " times already"
	}
	return string(g.Why)
}

// String returns the degradation as one sentence: what was lost, what took its
// place, and why.
func (g Degradation) String() string {
	if g.Text != "" || g == (Degradation{}) {
		return g.Text
	}
	what := string(g.What)
	if g.What == PartExitCode && g.Detail != "" {
		what += " " + g.Detail
	}
	switch g.To {
	case Dropped:
		what += " dropped"
	case NotPassedOn:
		what += " not passed on"
	default:
		what += " → " + string(g.To)
	}
	return what + ": " + g.Reason()
}

// MarshalText gives the sentence.
func (g Degradation) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText takes a sentence as it is.
func (g *Degradation) UnmarshalText(b []byte) error {
	*g = Degradation{Text: string(b)}
	return nil
}

// NoteDegraded adds to what the agent could not carry. It leaves a list that
// another decision shares alone.
func (d *Decision) NoteDegraded(g Degradation) { d.Degraded = append(slices.Clip(d.Degraded), g) }

// DegradedText returns what the agent could not carry, one sentence each; nil for
// nothing.
func (d *Decision) DegradedText() []string {
	var list []string
	for _, g := range d.Degraded {
		list = append(list, g.String())
	}
	return list
}
