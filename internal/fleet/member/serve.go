package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// serverFolder is hookmux-fleet's folder, in the state folder.
const serverFolder = "fleet-server"

// How long hookmux-fleet may take to start, and to end.
const (
	startWithin = 30 * time.Second
	endWithin   = 30 * time.Second
	eraseWithin = 15 * time.Second
	watchEvery  = 5 * time.Second
)

// child is a hookmux-fleet that this daemon started.
type child struct {
	over chan struct{} // closed at its end, err says how it ended
	err  error
	kill func() error
}

// endStarting ends a hookmux-fleet that was started and doesn't serve yet: nothing relies on
// it, and it would make its folder again.
func (s *Service) endStarting(ctx context.Context) {
	c := s.started.Load()
	if c == nil {
		return
	}
	select {
	case <-c.over:
	default:
		_ = c.kill() // it may be ending
	}
	select {
	case <-c.over:
	case <-ctx.Done():
	}
}

func (s *Service) serverDir() string { return filepath.Join(s.Dirs.State, serverFolder) }

// address is written by a running hookmux-fleet: server.Address.
type address struct {
	Listen string `json:"listen"`
	Pin    []byte `json:"pin"`
	Fleet  string `json:"fleet"`
	PID    int    `json:"pid"`
}

func (s *Service) initMethod(ctx context.Context, params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.FleetInitParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if _, _, err := net.SplitHostPort(p.Listen); err != nil || !filepath.IsAbs(p.Program) {
		return nil, wire.Errorf(wire.CodeParams, "a fleet needs an address to listen on, like 0.0.0.0:4670, and the path of hookmux-fleet")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if bad := s.checkNone(); bad != nil {
		return nil, bad
	}
	if _, err := os.Lstat(s.serverDir()); err == nil {
		return nil, wire.Errorf(wire.CodeConflict, "%s has a fleet already; move it away first", s.serverDir())
	}
	m := &membership{Program: p.Program, Listen: p.Listen, Advertise: p.Advertise, NATS: p.NATS, Creds: p.Creds, Postgres: p.Postgres}
	invitation, err := s.beginFleet(ctx, m, p.Name)
	if err != nil {
		_, _ = s.endServer(context.WithoutCancel(ctx), m) // what is left of it reports why it can't be removed
		return nil, wire.Errorf(wire.CodeConflict, "the fleet can't be served: %v", err)
	}
	if err := s.store(m); err != nil {
		_, _ = s.endServer(context.WithoutCancel(ctx), m)
		return nil, wire.Errorf(wire.CodeInternal, "the fleet can't be written down: %v", err)
	}
	s.start(m)
	r := s.running.Load()
	s.Daemon.RecordFleet("begun", r.record)
	r.waitSettled(ctx)
	return wire.FleetBegun{FleetStatus: s.status(ctx), Invitation: invitation}, nil
}

// beginFleet starts hookmux-fleet, becomes its first operator and invites a member.
func (s *Service) beginFleet(ctx context.Context, m *membership, name string) (code wire.FleetCode, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return code, err
	}
	if m.Seed, err = pair.Seed(); err != nil {
		return code, err
	}
	public, err := pair.PublicKey()
	if err != nil {
		return code, err
	}
	at, err := s.startServer(ctx, m, "--first", public, "--name", name)
	if err != nil {
		return code, err
	}
	m.Pin, m.Fleet, m.Listen = at.Pin, at.Fleet, at.Listen
	m.Servers = []string{reachable(at.Listen)}
	conn, err := connect(m)
	if err != nil {
		return code, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	ask := func(ask protocol.Ask) (told protocol.Told, err error) {
		ask.Versions = protocol.Spoken
		question, err := json.Marshal(ask)
		if err != nil {
			return told, err
		}
		for {
			asking, done := context.WithTimeout(ctx, dialWithin)
			msg, err := conn.RequestWithContext(asking, protocol.UpSubject(protocol.MemberID(public), protocol.UpAsk), question)
			done()
			switch {
			case err == nil && json.Unmarshal(msg.Data, &told) != nil:
				return told, errors.New("hookmux-fleet gave an answer that can't be read")
			case err == nil && told.Error != "":
				return told, errors.New(told.Error)
			case err == nil:
				return told, nil
			case ctx.Err() != nil:
				return told, explain(err, m.Servers)
			}
			services.Pause(50*time.Millisecond, ctx.Done()) // not connected yet
		}
	}
	told, err := ask(protocol.Ask{What: protocol.AskHello})
	if err == nil && told.Record == nil {
		err = errors.New("hookmux-fleet doesn't know its first operator")
	}
	if err != nil {
		return code, err
	}
	m.Record = *told.Record
	if _, err := m.Record.ReadRecord(m.Fleet); err != nil {
		return code, err
	}
	code.Role, code.Until = protocol.RoleMember, time.Now().Add(protocol.CodeLasts)
	told, err = ask(protocol.Ask{What: protocol.AskInvite, Role: code.Role})
	code.Code = told.Code
	return code, err
}

// reachable returns how this machine reaches an address that it listens on.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err != nil || host != "" && (ip == nil || !ip.IsUnspecified()) {
		return listen
	}
	return net.JoinHostPort("127.0.0.1", port)
}

// startServer starts hookmux-fleet, if it isn't running, and waits until it serves.
func (s *Service) startServer(ctx context.Context, m *membership, more ...string) (address, error) {
	dir := s.serverDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return address{}, err
	}
	log := filepath.Join(dir, "log")
	started, err := spawn(m.Program, append(m.serverArgs("serve", dir), more...), log, s.Dirs.Home)
	if err != nil {
		return address{}, err
	}
	s.started.Store(started)
	over := time.NewTimer(startWithin)
	defer over.Stop()
	for {
		if at, err := s.readAddress(); err == nil {
			return at, nil
		}
		select {
		case <-started.over:
			err := started.err
			if at, errAddress := s.readAddress(); errAddress == nil {
				return at, nil // another one runs
			}
			return address{}, fmt.Errorf("hookmux-fleet ended (%v): %s", err, lastLine(log))
		case <-over.C:
			return address{}, fmt.Errorf("hookmux-fleet isn't ready after %s: see %s", startWithin, log)
		case <-ctx.Done():
			return address{}, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// readAddress reads where hookmux-fleet serves, if it runs.
func (s *Service) readAddress() (at address, err error) {
	if !s.serverRuns() {
		return at, errors.New("hookmux-fleet doesn't run")
	}
	b, err := files.Read(filepath.Join(s.serverDir(), "server.json"), 1<<20)
	if err == nil {
		err = json.Unmarshal(b, &at)
	}
	return at, err
}

// serverRuns reports whether a hookmux-fleet has the folder's lock.
func (s *Service) serverRuns() bool {
	f, err := os.OpenFile(filepath.Join(s.serverDir(), "lock"), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // and the lock with it
	return files.TryLock(f) != nil
}

// keepServing starts hookmux-fleet again whenever it's gone: after a reboot, a crash, an
// upgrade.
func (r *run) keepServing(ctx context.Context) {
	s := r.service
	for {
		if !s.serverRuns() {
			if _, err := s.startServer(ctx, r.membership); err != nil && ctx.Err() == nil {
				s.Problems.Set("fleet-server", "the fleet isn't served: "+err.Error(), "see "+filepath.Join(s.serverDir(), "log"))
			} else if s.Problems.Any() {
				s.Problems.Clear("fleet-server")
			}
		}
		if services.Pause(watchEvery, ctx.Done()) {
			return
		}
	}
}

// endServer ends hookmux-fleet and removes everything of it. kept is what stays behind in your
// cluster or database, and why: either may be gone.
func (s *Service) endServer(ctx context.Context, m *membership) (kept []string, err error) {
	at, err := s.readAddress()
	serves := err == nil
	if serves {
		if err := terminate(at.PID); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, endWithin)
	defer cancel()
	if !serves {
		s.endStarting(ctx)
	}
	for s.serverRuns() {
		if services.Pause(20*time.Millisecond, ctx.Done()) {
			return nil, fmt.Errorf("hookmux-fleet doesn't stop; stop it yourself and remove %s", s.serverDir())
		}
	}
	if len(m.NATS) > 0 || m.Postgres != "" {
		kept = s.eraseElsewhere(ctx, m)
	}
	return kept, os.RemoveAll(s.serverDir())
}

// eraseElsewhere deletes what the fleet stored in your cluster and database, and returns
// what it couldn't delete.
func (s *Service) eraseElsewhere(ctx context.Context, m *membership) []string {
	args := append(m.serverArgs("erase", s.serverDir()), "--within", eraseWithin.String())
	cmd := exec.CommandContext(ctx, m.Program, args...)
	cmd.Env = programEnv(s.Dirs.Home)
	out, err := cmd.Output()
	if kept := strings.FieldsFunc(string(out), func(c rune) bool { return c == '\n' }); len(kept) > 0 {
		return kept
	}
	if err != nil {
		return []string{fmt.Sprintf("everything in your cluster and database: %v", err)}
	}
	return nil
}

// programEnv returns hookmux-fleet's environment: nothing from the environment of the user who
// runs the command gets there.
func programEnv(home string) []string {
	return []string{"HOME=" + home, "PATH=/usr/bin:/bin", "LANG=C.UTF-8"}
}

// lastLine returns the last line of output of a program that ended.
func lastLine(file string) string {
	b, err := files.Read(file, 16<<20)
	if err != nil {
		return "it said nothing"
	}
	return last(b)
}
