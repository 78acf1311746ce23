package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
)

// policyName is the policy in its object store.
const policyName = "policy"

// policy is the newest one. The object store replaces it as a whole.
type policy struct {
	store jetstream.ObjectStore

	mu     sync.Mutex
	now    *protocol.SignedPolicy
	number int64
}

func (h *exchange) openPolicy(ctx context.Context) (err error) {
	h.policy.store, err = h.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: h.names.policy, MaxBytes: 64 << 20,
		Replicas: h.server.replicas()})
	if err != nil {
		return err
	}
	b, err := h.policy.store.GetBytes(ctx, policyName)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the fleet's policy: %w", err)
	}
	var stored protocol.SignedPolicy
	if err := json.Unmarshal(b, &stored); err != nil {
		return fmt.Errorf("the fleet's policy: %w", err)
	}
	_, p, err := stored.Read(h.server.roster.fleet)
	if err != nil {
		return fmt.Errorf("the stored policy: %w", err)
	}
	h.policy.now, h.policy.number = &stored, p.Version
	return nil
}

// newest returns the version of the newest policy.
func (p *policy) newest() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.number
}

// newerThan returns the newest policy, if it's newer than what a member has.
func (p *policy) newerThan(have int64) *protocol.SignedPolicy {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.number <= have {
		return nil
	}
	return p.now
}

// maxSkip is how many versions a push may skip.
const maxSkip = 1000

// pushPolicy stores an operator's policy, and notifies members that there is one.
func (h *exchange) pushPolicy(ctx context.Context, record *member, signed *protocol.SignedPolicy) error {
	if record.Role != protocol.RoleOperator {
		return errOperatorsOnly
	}
	if signed == nil {
		return errors.New("a push without a policy")
	}
	who, p, err := signed.Read(h.server.roster.fleet)
	if err != nil {
		return err
	}
	if who.ID != record.ID {
		return fmt.Errorf("the policy is signed by %s, not by %s", who.Name, record.Name)
	}
	h.policy.mu.Lock()
	defer h.policy.mu.Unlock()
	// A server that was restored from a backup doesn't know everything members had: a few versions
	// may be skipped, but not so many that none are left.
	if p.Version <= h.policy.number || p.Version > h.policy.number+maxSkip {
		return fmt.Errorf("the policy has the version %d, and the next one is %d: another one was pushed meanwhile, or it's an old one",
			p.Version, h.policy.number+1)
	}
	b, err := json.Marshal(signed)
	if err != nil {
		return err
	}
	if _, err := h.policy.store.PutBytes(ctx, policyName, b); err != nil {
		return mistake("the policy can't be stored: %w", err)
	}
	h.policy.now, h.policy.number = signed, p.Version
	h.server.log.Info("policy", "version", p.Version, "files", len(p.Files), "by", record.Name, "user", p.User)
	h.sayAttended(h.attended.Load(), p.Version)
	return nil
}
