// Package member makes this machine part of a fleet: its events go to the fleet's server, its
// sessions and requests show up on the machines of operators and readers, and answers of
// operators come in.
//
//   - member.go    the service: joining, leaving, what commands ask
//   - connect.go   the connection, and the membership on disk
//   - run.go       what runs while this machine is in a fleet
//   - outgoing.go  events, from the journal's outbox
//   - state.go     what the fleet sees of this machine
//   - answers.go   answers of operators to requests of this machine
//   - usage.go     what agents used here
//   - policy.go    rules and guards that operators push
//   - others.go    the other machines, as sources of [fleet.Hosts]
//   - serve.go     keeps hookmux-fleet running if this machine serves the fleet
//
// Contract: without a fleet nothing of this runs. An answer to an agent never waits for anything
// here. While the fleet is away everything here works as it does without one; events wait in the
// journal's outbox, up to a limit, and none arrives twice.
package member

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/fleet"
	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Outbox is the journal, with what is yet to be sent.
type Outbox interface {
	// FilterOf and EntryOf translate questions and answers about a journal.
	FilterOf(q wire.QueryParams) (journal.Filter, error)
	EntryOf(s *journal.Stored) wire.Entry
	OutboxPage(ctx context.Context, limit int) (list []journal.Queued, missing int, err error)
	TrimOutbox(seq int64) error
	OutboxSize(ctx context.Context) (rows, last int64, err error)
}

// Requests is the part of approvals that the fleet needs.
type Requests interface {
	// WaitingRedacted returns everything here that waits for the user, without secrets.
	WaitingRedacted() []wire.InboxRequest
	// FollowChanges calls each after every change of what waits, until ctx ends.
	FollowChanges(ctx context.Context, each func())
	ReplySigned(p wire.InboxReplyParams, device string, signed ledger.Signature) (wire.InboxReplyResult, *wire.Error)
	// Watch notes that someone who may answer looks at the requests.
	Watch() (left func())
}

// Daemon is the part of the daemon that it also needs.
type Daemon interface {
	// Call runs a method in the daemon's own name.
	Call(ctx context.Context, method string, params json.RawMessage) (any, *wire.Error)
	// RecordFleet records what happened to this machine's membership.
	RecordFleet(what string, details any)
}

// Remotes has copies of what hosts over ssh journalled.
type Remotes interface {
	// Copies reports whether there is a host of this name; "": any.
	Copies(host string) bool
	// ReadCopies reads events of a host, or with "" of all of them.
	ReadCopies(ctx context.Context, host string, f journal.Filter) (rows []journal.Stored, more bool, bad *wire.Error)
}

// Hosts shows other machines.
type Hosts interface {
	Add(ctx context.Context, s fleet.Source) error
	Remove(name string)
}

// Options configures a service.
type Options struct {
	services.Deps
	Context  context.Context // ends when the daemon does
	Version  string
	User     func() string // who uses this machine
	Outbox   Outbox
	Requests Requests
	Daemon   Daemon
	Hosts    Hosts
	Remotes  Remotes // nil: none
	Policies Policies
	Sessions func() []wire.Session // of this machine
	// Content reports whether texts leave this machine, redacted.
	Content func() bool
}

// membershipFile is in the state folder, sealed.
const membershipFile = "fleet.json"

// Service is this machine's membership, if it has one.
type Service struct {
	Options
	joined atomic.Bool // there is a fleet: what is stored goes into the outbox

	mu      sync.Mutex // one joins or leaves at a time
	begun   bool       // Run was called
	running atomic.Pointer[run]
	started atomic.Pointer[child] // the hookmux-fleet that was started last
}

// New reads whether this machine is in a fleet; nothing runs yet.
func New(o Options) *Service {
	s := &Service{Options: o}
	m, err := s.load()
	if err != nil {
		o.Problems.Raise("fleet", "this machine isn't in its fleet any more: "+err.Error(),
			"`hookmux fleet leave`, then join again with a new code")
	}
	s.joined.Store(m != nil)
	return s
}

// load reads the membership; nil: none.
func (s *Service) load() (*membership, error) {
	var m membership
	if err := sealed.Load(s.Dirs.State, membershipFile, &m); err != nil || m.Fleet == "" {
		return nil, err
	}
	return &m, nil
}

func (s *Service) store(m *membership) error {
	return sealed.Store(s.Dirs.State, membershipFile, m)
}

// Joined reports whether this machine is in a fleet, so that what is stored goes to it.
func (s *Service) Joined() bool { return s.joined.Load() }

// Poke is called when something was stored.
func (s *Service) Poke() {
	if r := s.running.Load(); r != nil {
		poke(r.stored)
	}
}

// SessionsChanged is called when sessions here have changed.
func (s *Service) SessionsChanged() {
	if r := s.running.Load(); r != nil {
		poke(r.moved)
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run begins to take part, if this machine is in a fleet. It doesn't block.
func (s *Service) Run() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun = true
	if m, err := s.load(); err == nil && m != nil {
		s.reportMissing(m)
		s.start(m)
	}
}

// start runs a membership. The caller holds mu.
func (s *Service) start(m *membership) {
	r := newRun(s, m)
	s.running.Store(r)
	s.joined.Store(true)
	ctx, stop := context.WithCancel(s.Context)
	r.stop = stop
	// An agent that waited for the previous daemon asks again immediately, before there is a
	// connection: an operator may be looking.
	r.attended(true)
	s.Background.Go(func() { r.run(ctx) })
}

// stop ends what runs. The caller holds mu.
func (s *Service) stop() {
	if r := s.running.Swap(nil); r != nil {
		r.end()
	}
}

// Methods returns what commands ask.
func (s *Service) Methods() map[string]services.Method {
	return map[string]services.Method{wire.MethodFleetStatus: {Run: s.statusMethod}}
}

// LongMethods wait for the fleet's server.
func (s *Service) LongMethods() map[string]services.LongMethod {
	return map[string]services.LongMethod{
		wire.MethodFleetInit: s.initMethod, wire.MethodFleetJoin: s.joinMethod, wire.MethodFleetLeave: s.leaveMethod,
		wire.MethodFleetInvite: s.inviteMethod, wire.MethodFleetRemove: s.removeMethod, wire.MethodFleetList: s.listMethod,
		wire.MethodFleetLog: s.logMethod, wire.MethodFleetPush: s.pushMethod, wire.MethodFleetPolicy: s.policyMethod,
	}
}

// Checks returns checks whether this machine is in a fleet, for the methods that need one or
// none.
func (s *Service) Checks() map[string]services.Check {
	none := func(json.RawMessage) *wire.Error { return s.checkNone() }
	in := func(json.RawMessage) *wire.Error {
		if m, err := s.load(); err == nil && m == nil {
			return errNoFleet
		}
		return nil
	}
	return map[string]services.Check{
		wire.MethodFleetInit: none, wire.MethodFleetJoin: none, wire.MethodFleetInvite: in, wire.MethodFleetRemove: in,
		wire.MethodFleetLeave: in, wire.MethodFleetPush: in,
	}
}

var errNoFleet = wire.Errorf(wire.CodeConflict, "%s", wire.NoFleet)

func (s *Service) checkNone() *wire.Error {
	switch m, err := s.load(); {
	case err != nil:
		return wire.Errorf(wire.CodeConflict, "%v; `hookmux fleet leave` first", err)
	case m != nil:
		return wire.Errorf(wire.CodeConflict, "this machine is in a fleet already; `hookmux fleet leave` first")
	}
	return nil
}

func (s *Service) joinMethod(ctx context.Context, params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.FleetJoinParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if _, err := protocol.ReadCode(p.Code); err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if bad := s.checkNone(); bad != nil {
		return nil, bad
	}
	m, err := join(ctx, p.Code, p.Name)
	if err != nil {
		return nil, wire.Errorf(wire.CodeConflict, "%v", err)
	}
	if err := s.store(m); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "this machine joined, but that couldn't be written down: %v", err)
	}
	s.start(m)
	record, _ := m.Record.ReadRecord(m.Fleet) // checked when it joined
	s.Daemon.RecordFleet("joined", record)
	s.running.Load().waitSettled(ctx)
	return s.status(ctx), nil
}

func (s *Service) leaveMethod(ctx context.Context, params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.FleetLeaveParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := s.load()
	switch {
	case err == nil && m == nil:
		return nil, errNoFleet
	case m != nil && m.serves() && !p.End:
		return nil, wire.Errorf(wire.CodeConflict, "this machine serves the fleet: `hookmux fleet leave --delete-fleet` "+
			"ends the fleet for every machine and deletes its journal")
	}
	left := wire.FleetLeft{}
	if m != nil {
		record, _ := m.Record.ReadRecord(m.Fleet)
		left.Name = record.Name
		if r := s.running.Load(); r != nil {
			asking, cancel := context.WithTimeout(ctx, 3*time.Second)
			_, err := r.ask(asking, protocol.Ask{What: protocol.AskRemove, Member: record.ID})
			cancel()
			if left.Told = err == nil; err != nil {
				left.Why = err.Error()
			}
		}
	}
	s.joined.Store(false)
	s.stop()
	if rows, _, err := s.Outbox.OutboxSize(ctx); err == nil {
		left.Unsent = int(rows)
	}
	s.emptyOutbox()
	if m != nil && m.serves() {
		if left.Kept, err = s.endServer(ctx, m); err != nil {
			return nil, wire.Errorf(wire.CodeInternal, "the fleet's server can't be ended: %v", err)
		}
		left.Told = true
	}
	if err := os.Remove(filepath.Join(s.Dirs.State, membershipFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, wire.Errorf(wire.CodeInternal, "this machine left, but comes back when the daemon restarts: %v", err)
	}
	if err := s.Policies.DropPolicy(); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "this machine left, but the fleet's policy is still in force: %v", err)
	}
	s.Problems.ClearExcept("fleet", nil)
	s.Daemon.RecordFleet("left", left)
	return left, nil
}

// emptyOutbox removes everything from the outbox: it's for no fleet, or for another one.
func (s *Service) emptyOutbox() {
	if err := s.Outbox.TrimOutbox(math.MaxInt64); err != nil {
		s.Log.Error("what waits for the fleet isn't deleted", "error", err)
	}
}

// askServer asks the fleet's server, if this machine is in a fleet.
func (s *Service) askServer(ctx context.Context, ask protocol.Ask) (protocol.Told, *wire.Error) {
	r := s.running.Load()
	if r == nil {
		return protocol.Told{}, errNoFleet
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	r.waitSettled(ctx)
	told, err := r.ask(ctx, ask)
	if err != nil {
		return told, wire.Errorf(wire.CodeConflict, "%v", err)
	}
	return told, nil
}

func (s *Service) inviteMethod(ctx context.Context, params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.FleetInviteParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if p.Role == "" {
		p.Role = protocol.RoleMember
	}
	told, bad := s.askServer(ctx, protocol.Ask{What: protocol.AskInvite, Role: p.Role})
	if bad != nil {
		return nil, bad
	}
	s.Daemon.RecordFleet("invited", p)
	return wire.FleetCode{Code: told.Code, Role: p.Role, Until: time.Now().Add(protocol.CodeLasts)}, nil
}

func (s *Service) removeMethod(ctx context.Context, params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.FleetMemberParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if r := s.running.Load(); r != nil && (p.Member == r.record.ID || p.Member == r.record.Name) {
		return nil, wire.Errorf(wire.CodeParams, "that's this machine: `hookmux fleet leave`")
	}
	if _, bad := s.askServer(ctx, protocol.Ask{What: protocol.AskRemove, Member: p.Member}); bad != nil {
		return nil, bad
	}
	s.Daemon.RecordFleet("removed", p)
	return p, nil
}

func (s *Service) listMethod(ctx context.Context, params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	told, bad := s.askServer(ctx, protocol.Ask{What: protocol.AskList})
	if bad != nil {
		return nil, bad
	}
	list := []wire.FleetMember{}
	for _, m := range told.Members {
		list = append(list, wire.FleetMember{ID: m.ID, Name: m.Name, Role: m.Role, Joined: m.Joined, By: m.By, Online: m.Online,
			Seen: m.Seen, Version: m.Version, Backlog: m.Backlog, Refused: m.Refused, Why: m.Why})
	}
	return list, nil
}

func (s *Service) logMethod(ctx context.Context, params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.FleetLogParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if p.Text != "" {
		return nil, wire.Errorf(wire.CodeParams, "the fleet's log can't be searched for words; leave out --text or --host")
	}
	filter, err := s.Outbox.FilterOf(p.QueryParams)
	if err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	rows, more, bad := s.readLog(ctx, p.Host, filter)
	if bad != nil {
		return nil, bad
	}
	page := wire.QueryResult{Entries: []wire.Entry{}}
	for i := range rows {
		page.Entries = append(page.Entries, s.Outbox.EntryOf(&rows[i]))
	}
	if n := len(page.Entries); more && n > 0 {
		page.Next = page.Entries[n-1].Cursor
	}
	if p.Newest { // asked for the last ones, listed in the order they happened
		slices.Reverse(page.Entries)
	}
	return page, nil
}

// readLog reads the events of a host over ssh from their copy here, and all others from the
// fleet's journal.
func (s *Service) readLog(ctx context.Context, host string, f journal.Filter) (rows []journal.Stored, more bool,
	bad *wire.Error) {
	if s.Remotes != nil && (s.Remotes.Copies(host) || host == "" && !s.Joined() && s.Remotes.Copies("")) {
		return s.Remotes.ReadCopies(ctx, host, f)
	}
	told, bad := s.askServer(ctx, protocol.Ask{What: protocol.AskLog, Member: host, Filter: &f})
	for i := range told.Events {
		rows = append(rows, told.Events[i].Stored())
	}
	return rows, told.More, bad
}

func (s *Service) statusMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	return s.status(s.Context), nil
}

func (s *Service) status(ctx context.Context) wire.FleetStatus {
	r := s.running.Load()
	if r == nil {
		return wire.FleetStatus{}
	}
	status := r.status()
	status.Content = "none"
	if s.Content() {
		status.Content = "redacted"
	}
	status.Most = maxBacklog
	status.Backlog, _, _ = s.Outbox.OutboxSize(ctx) // 0 if the journal can't be read, which is reported elsewhere
	return status
}
