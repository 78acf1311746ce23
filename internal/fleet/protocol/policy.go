package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/wire"
)

// Policy is the rules and guards for every member. Versions only grow, so that an old one can't
// come back.
type Policy struct {
	Fleet   string            `json:"fleet"`
	Version int64             `json:"version"`
	From    string            `json:"from"` // the operator's id
	User    string            `json:"user"` // who pushed it there
	Pushed  time.Time         `json:"pushed"`
	Files   []wire.PolicyFile `json:"files"`
}

// MaxPolicy is how long the text of a policy may be.
const MaxPolicy = 320 << 10

// SignedPolicy is sent to members: the text of a [Policy], the signature of the operator's key
// over it, and who that is.
type SignedPolicy struct {
	Text      string `json:"text"`
	Signature []byte `json:"signature"`
	Record    Signed `json:"record"`
}

// policyMessage returns what is signed: no other signed text begins like it.
func policyMessage(text string) []byte { return []byte("hookmux-fleet-policy-1\n" + text) }

// SignPolicy returns a policy in the form in which it is sent.
func SignPolicy(key nkeys.KeyPair, record Signed, p *Policy) (SignedPolicy, error) {
	text, err := json.Marshal(p)
	if err == nil && len(text) > MaxPolicy {
		err = fmt.Errorf("the policy is larger than %d KiB", MaxPolicy>>10)
	}
	if err != nil {
		return SignedPolicy{}, err
	}
	signature, err := key.Sign(policyMessage(string(text)))
	return SignedPolicy{Text: string(text), Signature: signature, Record: record}, err
}

// Read checks who signed a policy, and reads it.
func (s *SignedPolicy) Read(fleet string) (r Record, p Policy, err error) {
	if len(s.Text) > MaxPolicy {
		return r, p, fmt.Errorf("the policy is larger than %d KiB", MaxPolicy>>10)
	}
	if r, err = s.Record.ReadRecord(fleet); err != nil {
		return r, p, fmt.Errorf("the policy isn't from a member of this fleet: %w", err)
	}
	key, err := nkeys.FromPublicKey(r.Key)
	if err != nil || key.Verify(policyMessage(s.Text), s.Signature) != nil {
		return r, p, fmt.Errorf("%s didn't sign the policy: %w", r.Name, ErrSignature)
	}
	switch {
	case json.Unmarshal([]byte(s.Text), &p) != nil:
		return r, p, errors.New("the policy can't be read")
	case p.Fleet != fleet || p.From != r.ID || p.Version < 1:
		return r, p, fmt.Errorf("the policy isn't one of this fleet: %w", ErrSignature)
	case r.Role != RoleOperator:
		return r, p, fmt.Errorf("%s isn't an operator of the fleet and can't push a policy", r.Name)
	}
	return r, p, nil
}
