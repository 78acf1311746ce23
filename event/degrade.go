package event

// Carries says what an agent can carry back at one event. It is the
// capability row of the catalogue, proven or documented there.
type Carries struct {
	Allow   bool // an explicit yes skips the agent's own prompt
	Deny    bool
	Ask     bool // the agent's own prompt can be forced
	Input   bool // the call's input can be changed
	Output  bool // the result the model sees can be changed
	Context bool
	Keep    bool // an end can be turned into going on
	Notice  bool // a line for the user
}

// Degrade replaces what c can't carry by the nearest safe decision, and notes
// each step in Degraded. Here ask becomes deny; asking you in the inbox comes
// before this.
func Degrade(d Decision, c Carries) Decision {
	note := func(what Part, to Replacement) { d.NoteDegraded(Degradation{What: what, To: to, Why: NotCarried}) }
	d = d.Normalized()
	if d.Input != nil && d.Verdict != Deny && !c.Input {
		note(PartInput, ToDeny)
		if d.Allowed {
			d.Reason = "" // it says why the changed call is fine
		}
		d.deny("a hook wants this call changed, which this agent cannot do; change it and try again")
	}
	if d.Verdict == Ask && !c.Ask {
		note(PartAsk, ToDeny)
		d.deny("a hook wants the user to approve this")
	}
	if !c.Allow && (d.Verdict == Allow || d.Allowed) {
		note(PartAllow, ToNone)
		d.Allowed = false
		if d.Verdict == Allow {
			d.Verdict = None
		}
	}
	if d.Verdict == Deny {
		d.Input, d.Reason = nil, OneLine(d.Reason)
		if !c.Deny {
			note(PartDeny, ToNone)
			d.Verdict = None
		}
	}
	if d.Answer != nil && !d.Answer.fits(d.Verdict, d.Allowed) {
		d.Answer = nil // it went with the verdict it stood beside
	}
	if d.Output != nil && !c.Output {
		note(PartOutput, Dropped)
		d.Output = nil
	}
	if d.Context != "" && !c.Context {
		note(PartContext, Dropped)
		d.Context = ""
	}
	if d.KeepGoing && !c.Keep {
		note(PartKeepGoing, Dropped)
		d.KeepGoing = false
	}
	if d.Notice != "" && !c.Notice {
		d.Notice = "" // shown by hookmux itself; no loss
	}
	return d
}

// deny turns d into a deny; why is used if there is no reason yet.
func (d *Decision) deny(why string) {
	if d.Reason == "" {
		d.Reason = why
	}
	d.Verdict, d.Input, d.Allowed = Deny, nil, false
}
