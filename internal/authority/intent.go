package authority

import (
	"time"
)

const (
	// accessStep is how far the kernel lets a terminal's access time lag
	// behind what was read from it.
	accessStep = 8 * time.Second
	// activitySlack allows for tmux's clock of whole seconds, and for the time
	// between a key and the command it starts.
	activitySlack = 2 * time.Second
	// sessionSlack is how long after a session began its own setup (chown,
	// mesg in a profile) may still touch the terminal.
	sessionSlack = 3 * time.Second
	// oneShot is how long a command may take that answers right away. One
	// that runs longer talks with the person, who then types shortly before
	// each answer.
	oneShot = 10 * time.Second
)

// judgeIntent is rules 4 to 6: did the person at this trusted terminal mean it?
func (r *Rules) judgeIntent(f *Facts, w *way, a Action) Verdict {
	v := Verdict{Terminal: w.place}
	doubt := func(cause Cause, why string) Verdict {
		v.Outcome, v.Cause, v.Why = NeedCode, cause, why
		return v
	}
	if cause, why := r.findOtherProgram(w, a); cause != NoCause {
		return doubt(cause, why)
	}
	if w.client != nil && !w.client.Shows {
		return doubt(OtherPane, "your tmux shows another pane than the one this was run in")
	}
	if !a.Tightens && !r.wasTyped(f, w) {
		return doubt(NotTyped, "nobody typed at "+w.place.TTY+" when this was run")
	}
	if a.Weakens {
		why := a.Why
		if why == "" {
			why = "this takes protection away"
		}
		return doubt(Weakens, why)
	}
	v.Outcome, v.Why = Allowed, "comes from "+w.place.TTY+", a "+w.place.Kind.String()
	return v
}

// findOtherProgram is rule 4: only shells and runners between the command and the
// shell that a person had before the request came up.
func (r *Rules) findOtherProgram(w *way, a Action) (Cause, string) {
	for n, h := range w.hops {
		for i, p := range h.stands {
			first, last := i == 0, i == len(h.stands)-1
			switch {
			case last && n == len(w.hops)-1 && !h.popup && !r.isShell(p) && !h.trusted:
				return NotShell, printableName(p.Name) + " is all that runs at " + p.TTY + ": no shell a person " +
					"typed into"
			case first || h.popup && last || p.PID == 1:
				// the command itself, a relay, what a popup was opened for, or
				// the first process of a container
			case !r.isRunner(p):
				return Between, printableName(p.Name) + " stands between your shell and this command"
			}
		}
		leader := h.leader()
		if !h.trusted && !h.popup && !a.Since.IsZero() && leader.StartTime.After(a.Since) {
			return YoungShell, "this terminal was opened after the request came up"
		}
	}
	return NoCause, ""
}

// wasTyped is rule 5: input was read at the trusted terminal when the command began, and
// through tmux the client that shows it was active then.
func (r *Rules) wasTyped(f *Facts, w *way) bool {
	first := w.hops[0]
	caller := first.stands[0]
	began := caller.StartTime
	if f.Now.Sub(began) > oneShot {
		began = f.Now
	} else {
		for _, p := range first.stands {
			if p.PGID == caller.PGID && p.StartTime.Before(began) {
				began = p.StartTime
			}
		}
	}
	if c := w.client; c != nil {
		if c.Active.Before(began.Add(-activitySlack)) {
			return false
		}
		// A popup takes all keys of its client: one after it opened was for it.
		if c.Popup && c.Active.Unix() <= first.leader().StartTime.Unix() {
			return false
		}
	}
	t, ok := f.terminal(w.place.TTY)
	if !ok {
		return false
	}
	if ours := !t.Noted.IsZero() && t.Change.Equal(t.Noted); ours {
		if t.Access.Unix() < t.Change.Unix() { // still where the daemon set it back to
			return false
		}
	} else if t.Change.After(w.place.Leader.StartTime.Add(sessionSlack)) || t.Access.Unix() <= t.Change.Unix() {
		return false // somebody touched it, or nothing was read since it was made
	}
	return !t.Access.Before(began.Add(-accessStep - activitySlack))
}
