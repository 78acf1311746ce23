package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/agent/dialect"
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/jsonscan"
)

// Encode writes a decision in the words of the agent that sent the event. It
// returns the answer and the decision as it went out: what the agent cannot
// carry was replaced by its safe neighbour and is named in Degraded. A
// decision that says nothing gives the event's neutral answer.
func (c *Catalogue) Encode(ev *event.Event, d event.Decision) (neutral.Answer, event.Decision) {
	a := c.entry(ev.Agent)
	spec, _ := a.Event(ev.Native)
	if spec == nil {
		spec = &EventSpec{Name: ev.Native, Kind: ev.Kind}
	}
	carries := spec.carriesFor(ev)
	d = inPlainWords(d, ev, a.compiled.dialect.Takes[spec.Answer], carries)
	d = settle(d, ev, carries)
	d = unapproved(d, spec)
	input, d := a.changedInput(ev, d)
	d = event.Degrade(d, carries)
	if d.Input == nil {
		input = nil
	}
	d, stdout := plainText(d, spec, carries)
	if d.ExitCode != 0 {
		note(&d, fmt.Sprintf("exit code %d not passed on: the agent is answered in words", d.ExitCode))
		d.ExitCode = 0
	}
	if stdout != "" {
		return neutral.Answer{Stdout: stdout}, d
	}
	if d.Verdict == event.Deny && spec.Deny != nil {
		return neutral.Answer(*spec.Deny), d
	}
	if encode := a.compiled.dialect.Encode; encode != nil && spec.Answer != "" && speaks(&d) {
		answer, sent := encode(dialect.Call{Event: ev, Native: spec.Name, Shape: spec.Answer, Decision: d, Input: input})
		if answer != (neutral.Answer{}) {
			return answer, sent
		}
		d = sent
	}
	return spec.neutralAnswer(), d
}

func (e *EventSpec) neutralAnswer() neutral.Answer {
	if e.Neutral != nil {
		return neutral.Answer(*e.Neutral)
	}
	return neutral.Answer{}
}

// speaks reports whether anything is left to say.
func speaks(d *event.Decision) bool {
	return d.Verdict != event.None || d.Input != nil || d.Output != nil || d.Context != "" || d.Notice != "" || d.KeepGoing || d.Extra != nil
}

// settle brings the parts of a decision in line with each other and with the
// kind of event before anything is taken away.
func settle(d event.Decision, ev *event.Event, carries event.Carries) event.Decision {
	switch {
	case d.Input == nil && d.Verdict == event.Modify:
		d.Verdict = event.None
		if d.Allowed {
			d.Verdict = event.Allow
		}
		d.Allowed = false
	case d.Input != nil && d.Verdict == event.Allow:
		d.Verdict, d.Allowed = event.Modify, true
	case d.Input != nil && d.Verdict == event.None:
		d.Verdict, d.Allowed = event.Modify, false // an approval stands only beside modify
	}
	if ev.Kind.TakesKeepGoing() && d.Verdict == event.Deny && !carries.Deny {
		// To refuse an end is to keep the agent going.
		d.Verdict, d.KeepGoing = event.None, true
	}
	if d.KeepGoing && carries.Keep && !carries.Context && d.Context != "" {
		// The reason is the only thing an agent hears here.
		if d.Reason != "" {
			d.Reason += "\n"
		}
		d.Reason, d.Context = d.Reason+d.Context, ""
	}
	return d
}

// inPlainWords keeps of a person's answer what the agent has no form for: as
// words where words do, and else as a note of what was left behind.
func inPlainWords(d event.Decision, ev *event.Event, takes dialect.Takes, carries event.Carries) event.Decision {
	a := d.Answer
	if a == nil || d.Verdict == event.Deny {
		return d
	}
	said := a.Note
	if a.Feedback != "" && takes&dialect.TakesFeedback == 0 {
		said = strings.TrimSpace(said + "\n" + a.Feedback)
	}
	if said != "" {
		d.Context = strings.TrimSpace(d.Context + "\n" + said)
	}
	if a.Choice == event.ChooseAnswer && takes&dialect.TakesAnswers == 0 {
		if words := dialect.InWords(ev, &d); words != "" && carries.Deny {
			// The tool that asks does not run, and the model reads why.
			note(&d, "answer → refusal that holds it: the agent has no other form for answers here")
			d.Verdict, d.Reason, d.Input, d.Allowed, d.Answer = event.Deny, words, nil, false, nil
			return d
		}
	}
	if len(a.Suggestion) > 0 && takes&dialect.TakesSuggestion == 0 {
		note(&d, "standing approval → this call only: the agent takes none here")
	}
	if (a.Plan == event.PlanAuto || a.Plan == event.PlanManual) && takes&dialect.TakesPlanMode == 0 {
		note(&d, "plan mode dropped: the agent goes on in the mode it chooses")
	}
	if a.Choice == event.ChooseBypass {
		note(&d, "bypass → this call only: the agent's mode cannot be switched here")
	}
	return d
}

// unapproved refuses a changed call where sending the change would approve it
// and nobody did.
func unapproved(d event.Decision, spec *EventSpec) event.Decision {
	if c := spec.Carries.Input; d.Verdict == event.Modify && !d.Allowed && c != nil && c.NeedsAllow {
		note(&d, "changed input → deny: here a change can only be sent as an approval, which nobody gave")
		if d.Reason == "" {
			d.Reason = "a hook wants this call changed, and nobody approved it; change it and try again"
		}
		d.Verdict, d.Input = event.Deny, nil
	}
	return d
}

// changedInput is the whole input to send for a change, in the form this tool
// takes it. A change that cannot be expressed becomes a refusal.
func (a *Agent) changedInput(ev *event.Event, d event.Decision) (json.RawMessage, event.Decision) {
	if d.Input == nil || d.Verdict == event.Deny {
		return nil, d
	}
	refuse := func(why string) (json.RawMessage, event.Decision) {
		note(&d, "changed input → deny: "+why)
		if d.Reason == "" {
			d.Reason = "a hook wants this call changed, which cannot be done here; change it and try again"
		}
		d.Verdict, d.Input, d.Allowed = event.Deny, nil, false
		return nil, d
	}
	if ev.Tool == nil {
		return refuse("there is no call to change")
	}
	full := event.MergeObjects(ev.Tool.Input, d.Input)
	if !jsonscan.IsObject(full) || !jsonscan.Valid(full) {
		return refuse("the changed input is not an object")
	}
	change := a.Tool(ev.Tool.Name).Change
	if len(change) == 0 {
		return full, d
	}
	if change[0] == "-" {
		return refuse("the input of " + ev.Tool.Name + " cannot be changed")
	}
	out := []byte{'{'}
	for i, key := range change {
		value := jsonscan.Get(full, key)
		if value == nil {
			return refuse("the changed input has no " + key)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(event.AppendString(out, key), ':')
		out = append(out, value...)
	}
	return append(out, '}'), d
}

// plainText deals with text a handler wants printed as it is. Where the agent
// gives plain text to the model and nothing else is said, it goes out as is;
// beside other words it joins the context; elsewhere it is dropped, because
// stray text can undo an answer.
func plainText(d event.Decision, spec *EventSpec, carries event.Carries) (event.Decision, string) {
	if d.Stdout == "" {
		return d, ""
	}
	text := d.Stdout
	switch {
	case spec.PlainStdout && !speaks(&d) && !strings.HasPrefix(strings.TrimSpace(text), "{"):
		return d, text // an object would be read as an answer
	case carries.Context:
		if d.Context != "" {
			d.Context += "\n"
		}
		d.Context += text
	default:
		note(&d, "printed text dropped: the agent takes none here")
	}
	d.Stdout = ""
	return d, ""
}

func note(d *event.Decision, what string) {
	d.Degraded = append(d.Degraded[:len(d.Degraded):len(d.Degraded)], what)
}
