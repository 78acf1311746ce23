package state

import (
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// LeaveAfter is how long a session without a sign of life and without a
// living process is kept.
const LeaveAfter = time.Hour

// CutOffAfter is how long a session is kept that was cut off, unless the user takes it
// off the list.
const CutOffAfter = 24 * time.Hour

// LeavesAt returns when the session is taken off the list if nothing is heard of it.
func (s *Session) LeavesAt() time.Time {
	if s.CutOff {
		return s.LastEvent.Add(CutOffAfter)
	}
	return s.LastEvent.Add(LeaveAfter)
}

// DoubtAfter is how long a turn may be silent before it is doubted, where no
// process can be watched.
const DoubtAfter = 15 * time.Minute

// ProcessGone records that a process ended: the sessions in it are over. start is the
// process's start tick, so that a reused number does no harm.
func (b *Sessions) ProcessGone(pid int, start uint64, at time.Time) []Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Change
	for key := range b.index.processes[processID{pid, start}] {
		old := b.sessions[key]
		if old.Unprompted {
			out = append(out, b.dropUnprompted(old))
			continue
		}
		next := old.copySession()
		c := Change{Key: key}
		open := next.Turn.Open()
		if open && (next.Background > 0 || next.Machine.MaybeFinished) {
			next.closeTurn(at, next.Turn.resultFromTools())
			next.Machine.setBase(statusAfter(next.Turn.Result), at)
		}
		next.endSession(at, "the process is gone", true)
		if open {
			c.TurnEnded, c.Turn = true, next.Turn
		}
		b.commitChange(old, next, &c)
		out = append(out, c)
	}
	return out
}

// endsTogether is how long after it wrote that a turn was stopped an agent may report
// that it ended.
const endsTogether = 3 * time.Second

// Interrupted records that you stopped the turn, as the transcript shows and no hook
// reports. at is when the agent wrote it; a turn that began later isn't meant. The turn was
// stopped even if the agent reported its end as if all had gone well.
func (b *Sessions) Interrupted(key Key, at time.Time) Change {
	return b.updateSession(key, func(s *Session, c *Change) {
		if t := s.Turn; t != nil && !t.Open() && (t.Result == OK || t.Result == APIError && t.Error == "") &&
			s.Machine.Base == statusAfter(t.Result) && !at.Before(t.Started) && !at.After(t.Ended) &&
			t.Ended.Sub(at) < endsTogether {
			t.Result, t.ExitCode = Interrupted, 1
			s.Machine.setBase(statusAfter(Interrupted), t.Ended)
			return
		}
		if !s.Turn.Open() || at.Before(s.Turn.Started) {
			c.Stale = NoTurnToInterrupt
			return
		}
		s.finishTurn(&input{ev: &event.Event{}, at: at}, c, Interrupted)
	})
}

// endedAbout reports whether a turn is over and ended about then.
func (t *Turn) endedAbout(at time.Time) bool {
	return t != nil && !t.Open() && !at.Before(t.Started) && t.Ended.Sub(at).Abs() < endsTogether
}

// TurnFinished records that the transcript shows the end of a turn that no hook reported.
// result may be empty: then the turn's tools decide. turn is the id of the turn, if the
// agent has ids.
func (b *Sessions) TurnFinished(key Key, turn string, result Result, message string, at time.Time) Change {
	return b.updateSession(key, func(s *Session, c *Change) {
		other := turn != "" && s.Turn != nil && s.Turn.ID != "" && turn != s.Turn.ID
		if t := s.Turn; result == APIError && !t.Open() && !other && t.endedAbout(at) {
			// The agent reported the end as well, and not what went wrong.
			t.Result, t.ExitCode = APIError, 1
			if t.Error == "" {
				t.Error = Fold(message, maxSummary)
			}
			s.Machine.setBase(statusAfter(APIError), t.Ended)
			return
		}
		if !s.Turn.Open() || at.Before(s.Turn.Started) || other || s.Background > 0 {
			c.Stale = NoSuchTurn
			return
		}
		s.finishTurn(&input{ev: &event.Event{Message: message}, at: at}, c, result)
	})
}

// CallFor returns a call as the transcript describes it.
func CallFor(tool *event.Tool) Call {
	return Call{ID: tool.CallID, Tool: tool.Name, Digest: inputDigest(tool)}
}

// TerminalGone records that the terminal that showed a session is gone, though the process
// behind it may keep running. A turn continues, too, unless it asks there, where no one can
// answer.
func (b *Sessions) TerminalGone(key Key, at time.Time) Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.sessions[key]
	switch {
	case old == nil || !old.Live():
		return Change{Key: key}
	case old.Unprompted:
		return b.dropUnprompted(old)
	case old.Turn.Open() && (len(old.Asks) == 0 || len(old.Requests) > 0):
		return Change{Key: key}
	}
	next := old.copySession()
	c := Change{Key: key}
	open := next.Turn.Open()
	next.endSession(at, "its terminal is gone", true)
	if open {
		c.TurnEnded, c.Turn = true, next.Turn
	}
	b.commitChange(old, next, &c)
	return c
}

// ToolFailed records a failed call that only the transcript shows. One that is already
// known by its call id isn't counted again, and neither is one that was denied. A turn that
// ended well then ended with errors.
func (b *Sessions) ToolFailed(key Key, call Call, f Failure) Change {
	return b.updateSession(key, func(s *Session, _ *Change) {
		t := s.Turn
		f.Turn, f.Text, f.Tool = s.TurnCount, Fold(f.Text, maxSummary), Fold(f.Tool, maxLabel)
		if t == nil || f.At.Before(t.Started) || failureKnown(s.Errors, f) {
			return
		}
		if s.Machine.wasDenied(&call) {
			return // to the agent a refusal is an error as well
		}
		f.Early = f.Call != "" && s.Machine.callOpen(f.Call)
		s.Errors = appendBounded(s.Errors, f, MaxErrors)
		t.Errors++
		t.callEnded(f.Call, true)
		s.Machine.recomputeResult(t)
	})
}

// CallDenied records a call that was denied at the agent's own prompt, as the transcript
// shows. If its end was taken for a failure before, it no longer is.
func (b *Sessions) CallDenied(key Key, call Call, at time.Time) Change {
	return b.updateSession(key, func(s *Session, c *Change) {
		t := s.Turn
		if t == nil || call.ID == "" || at.Before(t.Started) || s.Machine.wasDenied(&call) {
			c.Stale = NothingNew
			return
		}
		s.Machine.denyCall(s.Turn, call)
		if failed := len(s.Errors); failed > 0 {
			s.Errors = removeWhere(s.Errors, func(f *Failure) bool {
				return f.Call == call.ID &&
					f.Turn == s.TurnCount
			})
			t.Errors = max(0, t.Errors-(failed-len(s.Errors)))
		}
		t.callEnded(call.ID, false)
		s.Machine.recomputeResult(t)
	})
}

// CallStopped undoes a [Sessions.CallDenied]: the call was running, and you stopped it.
func (b *Sessions) CallStopped(key Key, call Call) Change {
	return b.updateSession(key, func(s *Session, c *Change) {
		if s.Turn == nil || !s.Machine.wasDenied(&call) {
			c.Stale = NothingNew
			return
		}
		s.Machine.Denied = removeWhere(s.Machine.Denied, func(old *Call) bool { return old.ID == call.ID })
		s.Turn.Denied--
	})
}

// ReviewerSeen records who decides about permission requests from now on, as the transcript
// shows.
func (b *Sessions) ReviewerSeen(key Key, reviewer event.Reviewer) Change {
	return b.updateSession(key, func(s *Session, _ *Change) { s.Reviewer = reviewer })
}

// SetSummary gives the last turn its summary from the transcript, where its
// end brought none.
func (b *Sessions) SetSummary(key Key, message string) Change {
	return b.updateSession(key, func(s *Session, _ *Change) {
		if s.Turn != nil && s.Turn.Summary == "" {
			s.Turn.Summary = SummaryLine(message)
			s.Machine.recomputeResult(s.Turn)
		}
	})
}

// Answered records that you answered a call's question, or that its result appeared, as the
// transcript shows. An empty call means whatever is asked.
func (b *Sessions) Answered(key Key, call string, at time.Time) Change {
	return b.updateSession(key, func(s *Session, _ *Change) {
		s.Asks = removeWhere(s.Asks, func(a *Ask) bool { return (call == "" || a.Call == call) && !at.Before(a.At) })
		if len(s.Asks) == 0 && s.Turn.Open() {
			s.Machine.setBase(Running, at)
		}
	})
}

// AskAnswered records that you answered one question in the agent's own terminal: the
// command it was about runs.
func (b *Sessions) AskAnswered(key Key, number int, at time.Time) Change {
	return b.updateSession(key, func(s *Session, c *Change) {
		before := len(s.Asks)
		s.Asks = removeWhere(s.Asks, func(a *Ask) bool { return a.N == number && !s.isInInbox(a) })
		if len(s.Asks) == before {
			c.Stale = NoSuchQuestion
			return
		}
		if len(s.Asks)+len(s.Requests) == 0 && s.Turn.Open() {
			s.Machine.setBase(Running, at)
		}
	})
}

// Unfollow says that nothing will be heard any more of what an agent's sessions
// do: what was going on in them is unknown from now on.
func (b *Sessions) Unfollow(name string, at time.Time) []Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Change
	concerned := b.selectSessions(func(s *Session) bool {
		return s.Key.Agent == name && s.Live() && (s.Status == Running || s.Waits())
	})
	for _, old := range concerned {
		next, c := old.copySession(), Change{Key: old.Key}
		next.markUnsure(at)
		b.commitChange(old, next, &c)
		out = append(out, c)
	}
	return out
}

// Resumed records that a process resumes a session: it lives, there, and waits for its next
// prompt. Some agents report nothing before that prompt. cwd and title are used if the
// session isn't known.
func (b *Sessions) Resumed(key Key, at time.Time, where event.Place, cwd, title string) Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.sessions[key]
	c := Change{Key: key}
	next := &Session{
		Key: key, StartedAt: at, Cwd: cwd, Machine: MachineState{Base: Idle, BaseSince: at},
		Title: Title{Own: Fold(title, maxSummary), Source: agent.TitlePrompt},
	}
	if old != nil {
		next = old.copySession()
		next.sessionStarted(&input{ev: &event.Event{Where: where}, at: at}, &c)
	}
	next.Place = where
	if at.After(next.LastEvent) {
		next.LastEvent = at
	}
	b.commitChange(old, next, &c)
	return c
}

// ApplyDecision records what hookmux answered to an event that was applied before: a denied
// prompt begins no turn, an answered question no longer waits, and a turn that was kept
// going isn't over.
func (b *Sessions) ApplyDecision(ev *event.Event, d event.Decision, at time.Time, rules Rules) Change {
	n := input{ev: ev, at: at, rules: rules}
	b.mu.RLock()
	key, why := b.findSession(&n)
	b.mu.RUnlock()
	settled := d.Verdict == event.Deny || d.Verdict == event.Allow || d.Verdict == event.Modify && d.Allowed
	keeps := ev.Kind.TakesKeepGoing() && (d.KeepGoing || d.Verdict == event.Deny)
	if why != No || rules.Off || !settled && !keeps {
		return Change{Key: key}
	}
	return b.updateSession(key, func(s *Session, c *Change) {
		if d.Verdict == event.Deny && ev.Tool != nil && n.actor == "" && s.Turn.Open() &&
			(ev.Kind == event.ToolBefore || ev.Kind == event.PermissionRequest) {
			s.Machine.denyCall(s.Turn, Call{ID: ev.Tool.CallID, Tool: ev.Tool.Name, Digest: inputDigest(ev.Tool)})
		}
		switch {
		case !s.Live():
		case ev.Kind == event.PermissionRequest || ev.Kind == event.UserQuestion || ev.Kind == event.UserPlan:
			s.dropAsk(s.askPutBy(&n), &n)
		case ev.Kind == event.ToolBefore && d.Verdict == event.Deny && ev.Tool != nil:
			// It will not run, and most agents report no end of it.
			call := Call{ID: ev.Tool.CallID, Tool: ev.Tool.Name, Digest: inputDigest(ev.Tool), Actor: n.actor}
			s.Machine.Calls = removeWhere(s.Machine.Calls, func(old *Call) bool { return old.sameCall(&call) })
			s.Asks = removeWhere(s.Asks, func(a *Ask) bool { return a.Actor == n.actor && a.isAbout(&call) })
		case n.actor != "":
		case ev.Kind == event.TurnStart && d.Verdict == event.Deny:
			if s.Turn.Open() && (n.turnID() == "" || n.turnID() == s.Turn.ID) {
				// The prompt was refused, so no turn began.
				s.closeTurn(at, Interrupted)
				s.Machine.setBase(Idle, at)
				c.TurnEnded, c.Turn = true, s.Turn
			}
		case ev.Kind == event.TurnEnd && keeps:
			if s.Turn != nil && !s.Turn.Open() {
				s.reopenTurn(at)
				c.TurnStarted = true
			}
		}
	})
}

// Tick lets time pass: a turn that was silent for long and whose process can't be watched
// becomes uncertain, and sessions without a sign of life for [LeaveAfter] are forgotten
// unless alive says that their process lives. alive may be nil.
func (b *Sessions) Tick(now time.Time, alive func(*Session) Liveness) []Change {
	type due struct {
		s    *Session
		life Liveness
	}
	b.mu.RLock()
	silent := b.selectSessions(func(s *Session) bool { return now.Sub(s.LastEvent) >= DoubtAfter })
	b.mu.RUnlock()
	old := make([]due, 0, len(silent))
	for _, s := range silent { // without the lock: alive may ask the system
		d := due{s: s}
		if alive != nil && d.s.Live() {
			d.life = alive(d.s)
		}
		doubtful := d.s.Live() && d.s.Turn.Open() && d.s.Machine.Base == Running && !d.s.Waits()
		leaves := !now.Before(d.s.LeavesAt()) || d.s.Live() && d.life == Gone
		if d.life != Alive && (leaves || doubtful) {
			old = append(old, d)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []Change
	for _, d := range old {
		is := b.sessions[d.s.Key]
		if is == nil || !is.LastEvent.Equal(d.s.LastEvent) || processOf(is) != processOf(d.s) {
			continue // something happened meanwhile
		}
		d.s = is
		switch {
		case !now.Before(d.s.LeavesAt()) && len(d.s.Requests) == 0:
			b.dropSession(d.s.Key)
			out = append(out, Change{Key: d.s.Key, From: d.s.Status, To: NeverRan, Gone: true})
		case !d.s.Live():
		case d.life == Gone:
			next, c := d.s.copySession(), Change{Key: d.s.Key}
			next.endSession(now, "the process is gone", true)
			b.commitChange(d.s, next, &c)
			out = append(out, c)
		case d.s.Turn.Open() && d.s.Machine.Base == Running && !d.s.Waits():
			next, c := d.s.copySession(), Change{Key: d.s.Key}
			next.markUnsure(now)
			b.commitChange(d.s, next, &c)
			out = append(out, c)
		}
	}
	return out
}
