package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/agent/dialect"
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// Encode writes a decision in the format of the agent that sent the event. It returns the
// answer and the decision as it was sent: what the agent can't carry is replaced by the
// nearest safe decision and named in Degraded. An empty decision gives the event's neutral
// answer.
func (c *Catalogue) Encode(ev *event.Event, d event.Decision) (neutral.Answer, event.Decision) {
	a := c.answering(ev.Agent, ev.Native)
	spec, _ := a.Event(ev.Native)
	if spec == nil {
		spec = &EventSpec{Name: ev.Native, Kind: ev.Kind}
	}
	carries := spec.carriesFor(ev)
	d = inPlainWords(d, ev, a.compiled.dialect.Takes[spec.Answer], carries)
	d = normalizeDecision(d, ev, carries)
	d = unapproved(d, spec)
	input, d := a.changedInput(ev, d)
	d = event.Degrade(d, carries)
	if d.Input == nil {
		input = nil
	}
	d, stdout := plainText(d, spec, carries)
	if d.ExitCode != 0 {
		d.NoteDegraded(event.Degradation{
			What: event.PartExitCode, To: event.NotPassedOn, Why: event.NotCarried, Detail: strconv.Itoa(d.ExitCode),
		})
		d.ExitCode = 0
	}
	if stdout != "" {
		return neutral.Answer{Stdout: stdout}, d
	}
	if d.Verdict == event.Deny && spec.Deny != nil {
		return neutral.Answer(*spec.Deny), d
	}
	if encode := a.compiled.dialect.Encode; encode != nil && spec.Answer != "" && hasContent(&d) {
		answer, sent := encode(dialect.Call{Event: ev, Native: spec.Name, Shape: spec.Answer, Decision: d,
			Input: input})
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

// hasContent reports whether the decision says anything.
func hasContent(d *event.Decision) bool {
	return d.Verdict != event.None || d.Input != nil || d.Output != nil || d.Context != "" || d.Notice != "" ||
		d.KeepGoing || d.Extra != nil
}

// normalizeDecision makes the parts of a decision agree with each other and with the
// kind of event, before anything is removed.
func normalizeDecision(d event.Decision, ev *event.Event, carries event.Carries) event.Decision {
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
		// The reason is the only thing an agent gets here.
		if d.Reason != "" {
			d.Reason += "\n"
		}
		d.Reason, d.Context = d.Reason+d.Context, ""
	}
	return d
}

// inPlainWords turns the parts of your answer that the agent has no form for into plain
// text, or into a note of what got lost.
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
			d.NoteDegraded(event.Degradation{What: event.PartAnswer, To: event.ToRefusal, Why: event.NotCarried})
			d.Verdict, d.Reason, d.Input, d.Allowed, d.Answer = event.Deny, words, nil, false, nil
			return d
		}
	}
	if len(a.Suggestion) > 0 && takes&dialect.TakesSuggestion == 0 {
		d.NoteDegraded(event.Degradation{What: event.PartStandingRule, To: event.ToThisCall, Why: event.NotCarried})
	}
	if (a.Plan == event.PlanAuto || a.Plan == event.PlanManual) && takes&dialect.TakesPlanMode == 0 {
		d.NoteDegraded(event.Degradation{What: event.PartPlanMode, To: event.Dropped, Why: event.NotCarried})
	}
	if a.Choice == event.ChooseBypass {
		d.NoteDegraded(event.Degradation{What: event.PartBypass, To: event.ToThisCall, Why: event.NotCarried})
	}
	return d
}

// unapproved denies a changed call if sending the change would approve it and it wasn't
// approved.
func unapproved(d event.Decision, spec *EventSpec) event.Decision {
	if c := spec.Carries.Input; d.Verdict == event.Modify && !d.Allowed && c != nil && c.NeedsAllow {
		d.NoteDegraded(event.Degradation{What: event.PartInput, To: event.ToDeny, Why: event.NeedsApproval})
		if d.Reason == "" {
			d.Reason = "a hook wants this call changed, and nobody approved it; change it and try again"
		}
		d.Verdict, d.Input = event.Deny, nil
	}
	return d
}

// changedInput returns the whole input to send for a change, in the form this tool
// takes it. A change that cannot be expressed becomes a refusal.
func (a *Agent) changedInput(ev *event.Event, d event.Decision) (json.RawMessage, event.Decision) {
	if d.Input == nil || d.Verdict == event.Deny {
		return nil, d
	}
	refuse := func(why event.Cause, detail string) (json.RawMessage, event.Decision) {
		d.NoteDegraded(event.Degradation{What: event.PartInput, To: event.ToDeny, Why: why, Detail: detail})
		if d.Reason == "" {
			d.Reason = "a hook wants this call changed, which cannot be done here; change it and try again"
		}
		d.Verdict, d.Input, d.Allowed = event.Deny, nil, false
		return nil, d
	}
	if ev.Tool == nil {
		return refuse(event.NoCall, "")
	}
	full := event.MergeObjects(ev.Tool.Input, d.Input)
	if !jsontext.IsObject(full) || !jsontext.Valid(full) {
		return refuse(event.NotAnObject, "")
	}
	change := a.Tool(ev.Tool.Name).Change
	if len(change) == 0 {
		return full, d
	}
	if change[0] == "-" {
		return refuse(event.ToolFixed, ev.Tool.Name)
	}
	lost, kept := changedKeys(ev.Tool.Input, d.Input, change)
	if len(lost) > 0 && len(kept) == 0 {
		return refuse(event.KeyNotTaken, strings.Join(lost, ", "))
	}
	if len(lost) > 0 {
		d.NoteDegraded(event.Degradation{What: event.PartInputKeys, Why: event.KeyNotTaken,
			Detail: strings.Join(lost, ", ")})
	}
	out := []byte{'{'}
	for i, key := range change {
		value := jsontext.Get(full, key)
		if value == nil {
			return refuse(event.KeyMissing, key)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(event.AppendString(out, key), ':')
		out = append(out, value...)
	}
	return append(out, '}'), d
}

// changedKeys returns the keys of a changed input that differ from the call's own, those
// of which the agent takes no change and those of which it does.
func changedKeys(old, changed []byte, takes []string) (lost, kept []string) {
	_ = jsontext.Object(changed, func(key, value []byte) bool {
		name := string(key)
		switch {
		case bytes.Equal(bytes.TrimSpace(jsontext.Get(old, name)), bytes.TrimSpace(value)):
		case slices.Contains(takes, name):
			kept = append(kept, name)
		default:
			lost = append(lost, name)
		}
		return true
	})
	return lost, kept
}

// plainText handles text that a handler wants printed unchanged. If the agent passes plain
// text to the model and nothing else is sent, it's printed; together with other members it
// joins the context; elsewhere it's dropped, because stray text can undo an answer.
func plainText(d event.Decision, spec *EventSpec, carries event.Carries) (event.Decision, string) {
	if d.Stdout == "" {
		return d, ""
	}
	text := d.Stdout
	switch {
	case spec.PlainStdout && !hasContent(&d) && !strings.HasPrefix(strings.TrimSpace(text), "{"):
		return d, text // an object would be read as an answer
	case carries.Context:
		if d.Context != "" {
			d.Context += "\n"
		}
		d.Context += text
	default:
		d.NoteDegraded(event.Degradation{What: event.PartStdout, To: event.Dropped, Why: event.NotCarried})
	}
	d.Stdout = ""
	return d, ""
}
