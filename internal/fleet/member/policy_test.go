package member

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/fleet"
	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/policy/fleetpolicy"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// keptPolicies keeps what was taken, as selection does.
type keptPolicies struct{ now *fleetpolicy.Policy }

func (k *keptPolicies) CheckPolicy([]fleetpolicy.File) error { return nil }

func (k *keptPolicies) TakePolicy(p *fleetpolicy.Policy) error {
	k.now = p
	return nil
}

func (k *keptPolicies) DropPolicy() error                               { k.now = nil; return nil }
func (k *keptPolicies) Policy() (*fleetpolicy.Policy, error)            { return k.now, nil }
func (k *keptPolicies) PolicyContact(version int64) *wire.PolicyContact { return nil }

// oneName is a list of machines where a name may be taken.
type oneName struct{ taken bool }

func (o *oneName) Add(context.Context, fleet.Source) error {
	if o.taken {
		return errors.New("there is a host build already")
	}
	return nil
}

func (*oneName) Remove(string) {}

// A machine that can't be shown, because another one here has its name, is a problem until it can
// be, or leaves.
func TestMachinesWithATakenName(t *testing.T) {
	hosts := &oneName{}
	s := &Service{Options: Options{Hosts: hosts, Deps: services.Deps{Problems: services.NewProblems(nil)}}}
	r := newRun(s, &membership{})
	for what, end := range map[string]func(*protocol.Host){
		"the name is free": func(*protocol.Host) { hosts.taken = false },
		"it left":          func(h *protocol.Host) { h.Gone = true },
	} {
		hosts.taken = true
		host := protocol.Host{Member: "m1", Name: "build", Lost: true}
		r.others.note(t.Context(), host)
		if problems := s.Problems.All(); len(problems) != 1 || !strings.Contains(problems[0].What, "there is a host build") {
			t.Errorf("the problems are %+v, want one that names build", problems)
		}
		end(&host)
		r.others.note(t.Context(), host)
		if problems := s.Problems.All(); len(problems) > 0 {
			t.Errorf("%s: the problems are still %+v", what, problems)
		}
		r.others.clear()
	}
}

// silentDaemon writes nothing down.
type silentDaemon struct{ Daemon }

func (silentDaemon) RecordFleet(string, any) {}

// A server that was taken over, or went back to a backup, can't bring an old policy back, though
// an operator signed it once: not while a newer one is in force, nor after its file was
// deleted, nor after a restart.
func TestOldAndForgedPoliciesStayOut(t *testing.T) {
	ours, _ := nkeys.CreateAccount()
	public, _ := ours.PublicKey()
	record := func(role string) (nkeys.KeyPair, protocol.Signed) {
		key, _ := nkeys.CreateUser()
		public2, _ := key.PublicKey()
		signed, err := protocol.Sign(ours, protocol.Record{Fleet: public, ID: protocol.MemberID(public2), Name: role, Role: role, Key: public2})
		if err != nil {
			t.Fatal(err)
		}
		return key, signed
	}
	boss, bossRecord := record(protocol.RoleOperator)
	plain, plainRecord := record(protocol.RoleMember)
	policy := func(key nkeys.KeyPair, by protocol.Signed, of string, version int64) *protocol.SignedPolicy {
		var who protocol.Record
		if err := json.Unmarshal([]byte(by.Text), &who); err != nil {
			t.Fatal(err)
		}
		signed, err := protocol.SignPolicy(key, by, &protocol.Policy{Fleet: of, Version: version, From: who.ID, Pushed: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		return &signed
	}
	kept := &keptPolicies{}
	s := &Service{Options: Options{Policies: kept, Daemon: silentDaemon{}, Deps: services.Deps{Dirs: paths.Dirs{State: t.TempDir()},
		Log: slog.New(slog.DiscardHandler), Problems: services.NewProblems(nil)}}}
	m := &membership{Fleet: public}
	r, server := runWithServer(t, s, m)
	var told protocol.Told
	if _, err := server.Subscribe(protocol.UpSubject(r.id(), protocol.UpAsk), func(msg *nats.Msg) {
		b, _ := json.Marshal(told)
		_ = msg.Respond(b)
	}); err != nil || server.Flush() != nil {
		t.Fatal(err)
	}
	send := func(p *protocol.SignedPolicy) {
		t.Helper()
		told = protocol.Told{Versions: protocol.Spoken, Newest: 99, Policy: p}
		if !r.fetchPolicy(t.Context()) {
			t.Fatal("the server's answer is lost")
		}
	}
	wantRefused := func(what, why string) {
		t.Helper()
		problems := s.Problems.All()
		if len(problems) != 1 || !strings.Contains(problems[0].What, why) {
			t.Errorf("%s: the problems are %+v, want one that says %q", what, problems, why)
		}
		if one := r.memberPolicy(); one == nil || !strings.Contains(one.Why, why) {
			t.Errorf("%s: the fleet hears %+v, want that it's refused because %q", what, one, why)
		}
	}
	old := policy(boss, bossRecord, public, 1)
	send(old)
	send(policy(boss, bossRecord, public, 2))
	if kept.now == nil || kept.now.Version != 2 || len(s.Problems.All()) > 0 {
		t.Fatalf("policy %+v is in force with the problems %+v, want policy 2", kept.now, s.Problems.All())
	}
	changed := policy(boss, bossRecord, public, 3)
	changed.Text = strings.Replace(changed.Text, `"version":3`, `"version":4`, 1)
	inItsName := policy(plain, plainRecord, public, 3)
	inItsName.Record = bossRecord
	other, _ := nkeys.CreateAccount()
	otherFleet, _ := other.PublicKey()
	promoted, _ := protocol.Sign(plain, protocol.Record{Fleet: public, ID: protocol.MemberID(otherFleet), Role: protocol.RoleOperator})
	for what, c := range map[string]struct {
		policy *protocol.SignedPolicy
		why    string
	}{
		"an old one":                        {old, "the old policy 1"},
		"a member's":                        {policy(plain, plainRecord, public, 3), "isn't an operator"},
		"a member's in the operator's name": {inItsName, "didn't sign"},
		"one that was changed":              {changed, "didn't sign"},
		"one of another fleet":              {policy(boss, bossRecord, otherFleet, 3), "isn't one of this fleet"},
		"one by whom the fleet didn't name": {policy(plain, promoted, public, 3), "isn't from a member"},
	} {
		send(c.policy)
		wantRefused(what, c.why)
		if kept.now == nil || kept.now.Version != 2 {
			t.Fatalf("%s: policy %+v is in force, want still policy 2", what, kept.now)
		}
	}
	// Its file is gone: the old one stays out however often it comes, the same one comes back.
	kept.now = nil
	for range 2 {
		send(old)
		wantRefused("an old one in place of a lost one", "the old policy 1")
	}
	restarted, err := s.load()
	if err != nil || restarted == nil {
		t.Fatalf("the membership can't be read: %+v, %v", restarted, err)
	}
	again := newRun(s, restarted)
	again.record = r.record
	again.conn.Store(r.conn.Load())
	r = again
	send(old)
	wantRefused("an old one after a restart", "the old policy 1")
	if kept.now != nil {
		t.Fatalf("policy %+v is in force, want none", kept.now)
	}
	send(policy(boss, bossRecord, public, 2))
	if kept.now == nil || kept.now.Version != 2 || len(s.Problems.All()) > 0 {
		t.Errorf("policy %+v is in force with the problems %+v, want the lost one again", kept.now, s.Problems.All())
	}
}
