package budget

import (
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/bounded"
)

// Lifts remembers what you allowed: a budget that you lifted, and asks that you said yes to. It
// is safe for concurrent use; its zero value is ready.
type Lifts struct {
	mu     sync.Mutex
	lifted map[string]lift                 // by the budget's text
	asked  bounded.Map[string, askedAbout] // by event
	agreed bounded.Map[agreement, int]     // the step that was agreed to
}

// lift lasts as long as what it was for: a day, or a session.
type lift struct {
	day      string
	sessions map[string]bool // that used it; nil: none yet
}

type agreement struct{ budget, session, about string }

type askedAbout struct {
	agreement
	step int
}

// maxAsked limits how many asks are remembered.
const maxAsked = 1024

// Lift makes a budget stop nothing once: for the rest of the day, or for the session that meets
// it next.
func (l *Lifts) Lift(b *Budget, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lifted == nil {
		l.lifted = map[string]lift{}
	}
	l.lifted[b.text] = lift{day: now.Local().Format(time.DateOnly)}
}

// IsLifted reports whether a budget stops nothing today.
func (l *Lifts) IsLifted(b *Budget, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.liftOf(b, now)
	return ok
}

func (l *Lifts) liftOf(b *Budget, now time.Time) (lift, bool) {
	one, ok := l.lifted[b.text]
	if ok && one.day != now.Local().Format(time.DateOnly) {
		delete(l.lifted, b.text)
		return lift{}, false
	}
	return one, ok
}

// Passes reports whether you let a finding pass before. dry leaves no trace.
func (l *Lifts) Passes(f *Finding, ev *event.Event, now time.Time, dry bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	session := ev.Agent + "\x00" + ev.Session
	if one, ok := l.liftOf(f.Budget, now); ok {
		if f.Budget.Period != Session || one.sessions == nil || one.sessions[session] {
			if one.sessions == nil && !dry {
				one.sessions = map[string]bool{session: true}
				l.lifted[f.Budget.text] = one
			}
			return true
		}
	}
	if f.Verdict == event.Deny {
		return false
	}
	key := agreement{f.Budget.text, session, f.About}
	if step, ok := l.agreed.Get(key); ok && step >= f.Step {
		return true
	}
	if !dry {
		l.asked.Put(ev.ID, askedAbout{key, f.Step}, maxAsked)
	}
	return false
}

// NoteDecision is called with the decision on an event. A yes holds until the budget is used
// up by another step.
func (l *Lifts) NoteDecision(ev *event.Event, d event.Decision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	about, ok := l.asked.Get(ev.ID)
	if !ok {
		return
	}
	l.asked.Delete(ev.ID)
	if d.Verdict == event.Allow {
		l.agreed.Put(about.agreement, about.step, maxAsked)
	}
}
