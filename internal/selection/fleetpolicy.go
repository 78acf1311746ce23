package selection

import (
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/fleetpolicy"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/wire"
)

// fleetPolicy knows which policy of the fleet counts, and the newest hook call that was
// decided under it.
type fleetPolicy struct {
	inForce atomic.Pointer[policyInForce]
	contact atomic.Pointer[wire.PolicyContact]
}

type policyInForce struct {
	version int64
	since   time.Time
}

// noteRead notes the version that views are made of from now on.
func (f *fleetPolicy) noteRead(version int64) {
	if now := f.inForce.Load(); now == nil || now.version != version {
		f.inForce.Store(&policyInForce{version, time.Now()})
	}
}

// contactEvery is how often a contact under the same policy is noted again.
const contactEvery = 10 * time.Second

// NoteContact notes that an agent's call was decided by what counts.
func (r *Service) NoteContact(ev *event.Event) {
	now := r.policy.inForce.Load()
	if now == nil || now.version == 0 || ev.Agent == wire.OwnAgent {
		return
	}
	at := time.Now()
	if at.Sub(now.since) < LoadAgain {
		return // it may have been decided by what was read before
	}
	if last := r.policy.contact.Load(); last != nil && last.Version == now.version && at.Sub(last.At) < contactEvery {
		return
	}
	r.policy.contact.Store(&wire.PolicyContact{Version: now.version, Agent: ev.Agent, Event: ev.Native, At: at})
}

// PolicyContact returns the newest hook call that was decided under the fleet's policy of a
// version; nil: there was none.
func (r *Service) PolicyContact(version int64) *wire.PolicyContact {
	if last := r.policy.contact.Load(); last != nil && last.Version == version {
		return last
	}
	return nil
}

// CheckPolicy refuses a policy that loosens something, or can't be read.
func (r *Service) CheckPolicy(list []fleetpolicy.File) error {
	if err := fleetpolicy.CheckFiles(list); err != nil {
		return err
	}
	if text := (&fleetpolicy.Policy{Files: list}).Settings(); text != nil {
		return config.CheckPolicy(text)
	}
	return nil
}

// TakePolicy puts a policy of the fleet in force, in place of the one before.
func (r *Service) TakePolicy(p *fleetpolicy.Policy) error {
	if err := fleetpolicy.Store(r.Dirs.State, p); err != nil {
		return err
	}
	r.reread()
	return nil
}

// DropPolicy takes the fleet's policy away: this machine left.
func (r *Service) DropPolicy() error { return fleetpolicy.Remove(r.Dirs.State, r.reread) }

// Policy returns the fleet's policy as it is stored; nil: there is none.
func (r *Service) Policy() (*fleetpolicy.Policy, error) { return fleetpolicy.Load(r.Dirs.State) }

// reread reads what counts everywhere again, at once.
func (r *Service) reread() {
	r.Forget()
	r.viewOf(places{})
}
