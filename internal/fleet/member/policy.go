package member

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/fleetpolicy"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Policies is the part of selection that the fleet needs.
type Policies interface {
	CheckPolicy(list []fleetpolicy.File) error
	TakePolicy(p *fleetpolicy.Policy) error
	DropPolicy() error
	Policy() (*fleetpolicy.Policy, error)
	PolicyContact(version int64) *wire.PolicyContact
}

// keepPolicy fetches the fleet's policy whenever there's a newer one, and when the one in
// force was deleted or damaged here.
func (r *run) keepPolicy(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.newer:
		}
		for attempt := 0; r.ready.Load() && ctx.Err() == nil; attempt++ {
			if r.fetchPolicy(ctx) {
				break
			}
			services.Pause(retryDelay(attempt), ctx.Done())
		}
		poke(r.changed) // the fleet is notified what is in force here
	}
}

// reportMissing reports a policy that was deleted or damaged while no daemon ran.
func (s *Service) reportMissing(m *membership) {
	if m.Policy == 0 {
		return
	}
	if stored, err := s.Policies.Policy(); err != nil || stored == nil {
		s.Problems.Set("fleet-policy", "the fleet's policy isn't in force here: its file was deleted or changed",
			"the fleet sends it again once this machine is connected: `hookmux fleet status`")
	}
}

// noteNewest is called with the version of the fleet's newest policy.
func (r *run) noteNewest(version int64) {
	r.mu.Lock()
	refused := r.refused
	r.mu.Unlock()
	stored, err := r.service.Policies.Policy()
	if version > 0 && version != refused && (err != nil || stored == nil || stored.Version < version) {
		poke(r.newer)
	}
}

// fetchPolicy puts the fleet's newest policy in force, and reports whether the server said which
// one that is.
func (r *run) fetchPolicy(ctx context.Context) bool {
	have := int64(0)
	if stored, err := r.service.Policies.Policy(); err == nil && stored != nil {
		have = stored.Version
		r.notePolicy(have, "")
	}
	asking, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	told, err := r.ask(asking, protocol.Ask{What: protocol.AskPolicy, Have: have})
	if err != nil {
		return false
	}
	why := ""
	switch {
	case told.Policy != nil:
		if have, err = r.takePolicy(told.Policy, have); err != nil {
			why = err.Error()
			r.mu.Lock()
			r.refused = told.Newest // the next connection tries it again
			r.mu.Unlock()
		}
	case told.Newest < have:
		why = fmt.Sprintf("the fleet has an older policy, %d, than this machine", told.Newest)
	}
	r.notePolicy(have, why)
	if why != "" {
		r.service.Problems.Set("fleet-policy", "the fleet's newest policy isn't in force here: "+why, "hookmux fleet policy status")
	} else {
		r.service.Problems.Clear("fleet-policy")
	}
	return true
}

// takePolicy checks a policy and puts it in force; until then, and if anything is wrong with
// it, the previous one applies. It returns the version in force.
func (r *run) takePolicy(signed *protocol.SignedPolicy, have int64) (int64, error) {
	who, p, err := signed.Read(r.membership.Fleet)
	if err != nil {
		return have, err
	}
	r.mu.Lock()
	known := max(have, r.highest)
	r.mu.Unlock()
	if p.Version < known {
		return have, fmt.Errorf("it's the old policy %d, and this machine had %d", p.Version, known)
	}
	files := filesOf(p.Files)
	if err := r.service.Policies.CheckPolicy(files); err != nil {
		return have, err
	}
	kept := &fleetpolicy.Policy{Version: p.Version, By: termsafe.Line(p.User, 60) + " on " + who.Name, Pushed: p.Pushed, Files: files}
	if err := r.service.Policies.TakePolicy(kept); err != nil {
		return have, err
	}
	r.mu.Lock()
	r.highest = p.Version
	r.mu.Unlock()
	remembered := *r.membership
	remembered.Policy = p.Version
	if err := r.service.store(&remembered); err != nil {
		r.service.Log.Warn("the version of the policy can't be written down", "error", err)
	}
	r.service.Daemon.RecordFleet("policy", map[string]any{"version": p.Version, "by": kept.By, "member": who.ID})
	return p.Version, nil
}

func filesOf(list []wire.PolicyFile) []fleetpolicy.File {
	files := make([]fleetpolicy.File, len(list))
	for i, f := range list {
		files[i] = fleetpolicy.File(f)
	}
	return files
}

func (r *run) notePolicy(version int64, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.policy != version {
		r.policy, r.policySince = version, time.Now()
	}
	r.unfit = why
}

// memberPolicy returns what this machine reports about its policy; nil: it has none.
func (r *run) memberPolicy() *wire.MemberPolicy {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.policy == 0 && r.unfit == "" {
		return nil
	}
	return &wire.MemberPolicy{Version: r.policy, Since: r.policySince, Why: r.unfit, Contact: r.service.Policies.PolicyContact(r.policy)}
}

func (s *Service) pushMethod(ctx context.Context, params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.FleetPushParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	r := s.running.Load()
	switch {
	case r == nil:
		return nil, errNoFleet
	case r.record.Role != protocol.RoleOperator:
		return nil, wire.Errorf(wire.CodeRefused, "only operators can push a policy, and this machine is a %s", r.record.Role)
	}
	if err := s.Policies.CheckPolicy(filesOf(p.Files)); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	told, bad := s.askServer(ctx, protocol.Ask{What: protocol.AskPolicy})
	if bad != nil {
		return nil, bad
	}
	pair, err := nkeys.FromSeed(r.membership.Seed)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	r.mu.Lock()
	next := max(told.Newest, r.highest) + 1
	r.mu.Unlock()
	signed, err := protocol.SignPolicy(pair, r.membership.Record, &protocol.Policy{Fleet: r.membership.Fleet, Version: next,
		From: r.id(), User: s.User(), Pushed: time.Now().UTC().Truncate(time.Second), Files: p.Files})
	if err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	if _, bad := s.askServer(ctx, protocol.Ask{What: protocol.AskPush, Policy: &signed}); bad != nil {
		return nil, bad
	}
	s.Daemon.RecordFleet("pushed", map[string]any{"version": next, "files": len(p.Files)})
	poke(r.newer)
	return s.policyMethod(ctx, nil, proc.Cred{})
}

func (s *Service) policyMethod(ctx context.Context, params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	told, bad := s.askServer(ctx, protocol.Ask{What: protocol.AskPolicy})
	if bad != nil {
		return nil, bad
	}
	all := wire.FleetPolicy{Version: told.Newest, Files: []string{}, Members: []wire.FleetMemberPolicy{}}
	if told.Policy != nil {
		who, p, err := told.Policy.Read(s.running.Load().membership.Fleet)
		if err != nil {
			return nil, wire.Errorf(wire.CodeConflict, "%v", err)
		}
		all.By, all.Pushed = p.User+" on "+who.Name, p.Pushed
		for _, f := range p.Files {
			all.Files = append(all.Files, f.Name)
		}
	}
	list, bad := s.askServer(ctx, protocol.Ask{What: protocol.AskList})
	if bad != nil {
		return nil, bad
	}
	for _, m := range list.Members {
		one := wire.FleetMemberPolicy{Name: m.Name, ID: m.ID, Online: m.Online}
		if m.Policy != nil {
			one.MemberPolicy = *m.Policy
		}
		all.Members = append(all.Members, one)
	}
	return all, nil
}
