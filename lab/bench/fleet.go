//go:build unix

package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// fleetServer is a real hookmux-fleet in a folder, with members whose keys we have.
type fleetServer struct {
	cmd     *exec.Cmd
	key     nkeys.KeyPair
	fleet   string
	address struct {
		Listen string `json:"listen"`
		Pin    []byte `json:"pin"`
	}
	members []*fleetMember
}

type fleetMember struct {
	key    nkeys.KeyPair
	seed   []byte
	public string
	id     string
	signed protocol.Signed
	conn   *nats.Conn
}

// startFleet starts a server with members of a role each.
func (b *bench) startFleet(ctx context.Context, name string, roles ...string) (*fleetServer, error) {
	if err := b.build(ctx, "hookmux-fleet", "./cmd/hookmux-fleet"); err != nil {
		return nil, err
	}
	dir := filepath.Join(b.temp, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f := &fleetServer{}
	var err error
	if f.key, err = nkeys.CreateAccount(); err != nil {
		return nil, err
	}
	seed, _ := f.key.Seed()
	f.fleet, _ = f.key.PublicKey()
	var roster []protocol.Signed
	for i, role := range roles {
		m := &fleetMember{}
		if m.key, err = nkeys.CreateUser(); err != nil {
			return nil, err
		}
		m.seed, _ = m.key.Seed()
		m.public, _ = m.key.PublicKey()
		m.id = protocol.MemberID(m.public)
		if m.signed, err = protocol.Sign(f.key, protocol.Record{Fleet: f.fleet, ID: m.id, Name: fmt.Sprint(role, "-", i), Role: role,
			Key: m.public, Joined: time.Now()}); err != nil {
			return nil, err
		}
		f.members = append(f.members, m)
		roster = append(roster, m.signed)
	}
	text, err := json.Marshal(roster)
	if err != nil {
		return nil, err
	}
	for file, content := range map[string][]byte{"fleet.key": seed, "roster.json": text} {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			return nil, err
		}
	}
	f.cmd = exec.CommandContext(ctx, filepath.Join(b.tools, "hookmux-fleet"), "serve", "--dir", dir, "--listen", "127.0.0.1:0")
	f.cmd.Stderr = os.Stderr
	if err := f.cmd.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(dir, "server.json"))
		if err == nil && json.Unmarshal(text, &f.address) == nil {
			return f, nil
		}
		if time.Now().After(end) {
			return nil, errors.Join(errors.New("hookmux-fleet isn't ready after a minute"), f.stop())
		}
	}
}

func (f *fleetServer) stop() error {
	for _, m := range f.members {
		if m.conn != nil {
			m.conn.Close()
		}
	}
	_ = f.cmd.Process.Signal(syscall.SIGTERM)
	return f.cmd.Wait()
}

// connect connects as a member. On a busy machine the server's first ping may come before
// the client expects it; then it tries again, as members do.
func (f *fleetServer) connect(m *fleetMember) (err error) {
	for range 5 {
		if err = f.connectOnce(m); err == nil {
			return nil
		}
	}
	return err
}

func (f *fleetServer) connectOnce(m *fleetMember) (err error) {
	m.conn, err = nats.Connect("tls://"+f.address.Listen, nats.Secure(&tls.Config{InsecureSkipVerify: true}), nats.Nkey(m.public, m.key.Sign),
		nats.CustomInboxPrefix(protocol.Inbox(m.id)), nats.Timeout(time.Minute), nats.ReconnectBufSize(-1))
	return err
}

func (m *fleetMember) send(what string, value any) (told protocol.Told, err error) {
	text, err := json.Marshal(value)
	if err != nil {
		return told, err
	}
	msg, err := m.conn.Request(protocol.UpSubject(m.id, what), text, time.Minute)
	if err == nil {
		err = json.Unmarshal(msg.Data, &told)
	}
	if err == nil && told.Error != "" {
		err = errors.New(told.Error)
	}
	return told, err
}

// startMember starts a daemon that is a member.
func (b *bench) startMember(ctx context.Context, name string, f *fleetServer, m *fleetMember) (*place, error) {
	p, err := b.newPlace(name, nil)
	if err != nil {
		return nil, err
	}
	if err := sealed.Store(p.dirs.State, "fleet.json", map[string]any{"servers": []string{f.address.Listen}, "pin": f.address.Pin,
		"fleet": f.fleet, "seed": m.seed, "record": m.signed}); err != nil {
		return nil, err
	}
	if p.daemon, err = daemontest.StartDaemon(ctx, p.Home, filepath.Join(b.bin, "hookmux"), "daemon"); err != nil {
		return nil, err
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		online, err := f.online(m)
		if online {
			return p, nil
		}
		if time.Now().After(end) {
			return nil, errors.Join(errors.New("the member isn't connected after a minute"), err, p.stop())
		}
	}
}

// online reports whether the server is connected to a member, as the last member sees it.
func (f *fleetServer) online(m *fleetMember) (bool, error) {
	watcher := f.members[len(f.members)-1]
	if watcher.conn == nil {
		if err := f.connect(watcher); err != nil {
			return false, err
		}
	}
	told, err := watcher.send(protocol.UpAsk, protocol.Ask{What: protocol.AskList, Versions: protocol.Spoken})
	for _, one := range told.Members {
		if one.ID == m.id && one.Online {
			return true, nil
		}
	}
	return false, err
}

// inFleet measures what a fleet costs: members, answers, and the server.
func (b *bench) inFleet(ctx context.Context) error {
	for _, part := range b.fleetParts() {
		if err := part.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) fleetParts() []part {
	return []part{{"fleet/calls", b.memberCalls}, {"fleet/answers", b.fleetAnswers}, {"fleet/events", b.fleetEvents},
		{"fleet/members", b.manyMembers}}
}

func (b *bench) memberCalls(ctx context.Context) error {
	f, err := b.startFleet(ctx, "fleet-calls", protocol.RoleMember, protocol.RoleReader)
	if err != nil {
		return err
	}
	defer func() { _ = f.stop() }()
	alone, err := b.startDaemon(ctx, "alone", nil)
	if err != nil {
		return err
	}
	defer alone.stop()
	member, err := b.startMember(ctx, "member", f, f.members[0])
	if err != nil {
		return err
	}
	defer member.stop()
	payload, err := b.stretched("PreToolUse.Bash", "tool_input", "description")
	if err != nil {
		return err
	}
	results, err := interleave(ctx, b.rounds, []contender{{"alone", alone.hook(b, "PreToolUse", payload).run},
		{"member", member.hook(b, "PreToolUse", payload).run}})
	if err != nil {
		return err
	}
	b.table.atMost("fleet: a hook call on a member ÷ without a fleet", median(ratios(wallTimes(results[1]), wallTimes(results[0]))), 1.03, "×")
	return nil
}

const fleetAnswers = 400

// fleetAnswers has an operator answer a member's requests, and compares that with a
// request between the same two machines that does nothing.
func (b *bench) fleetAnswers(ctx context.Context) error {
	f, err := b.startFleet(ctx, "fleet-answers", protocol.RoleMember, protocol.RoleOperator, protocol.RoleOperator)
	if err != nil {
		return err
	}
	defer func() { _ = f.stop() }()
	member, err := b.startMember(ctx, "asking", f, f.members[0])
	if err != nil {
		return err
	}
	defer member.stop()
	boss, echo := f.members[1], f.members[2]
	if err := f.connect(boss); err != nil { // startMember connected the other one
		return err
	}
	requests := make(chan wire.InboxRequest, 64)
	seen := map[string]bool{}
	if _, err := boss.conn.Subscribe(protocol.LiveSubject(f.members[0].id), func(msg *nats.Msg) {
		var h protocol.Host
		if json.Unmarshal(msg.Data, &h) == nil && h.State != nil {
			for _, r := range h.State.Requests {
				if !seen[r.ID] && r.Status == wire.InboxPending {
					seen[r.ID] = true
					requests <- r
				}
			}
		}
	}); err != nil {
		return err
	}
	if _, err := boss.send(protocol.UpAsk, protocol.Ask{What: protocol.AskHello, Versions: protocol.Spoken, Instance: "b"}); err != nil {
		return err
	}
	state := protocol.State{Instance: "b", Attends: true, Sessions: []wire.Session{}, Requests: []wire.InboxRequest{}}
	if _, err := boss.send(protocol.UpState, state); err != nil {
		return err
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if info, err := member.client.Info(ctx); err == nil && info.Inbox.CanAnyoneAnswer {
			break
		}
		if time.Now().After(end) {
			return errors.New("the member doesn't know that an operator looks")
		}
	}
	if _, err := echo.conn.Subscribe(protocol.AnswerSubject(echo.id), func(msg *nats.Msg) { _ = msg.Respond(msg.Data) }); err != nil {
		return err
	}
	hears, err := boss.conn.SubscribeSync(protocol.ResultSubject(echo.id, boss.id, "*"))
	if err != nil {
		return err
	}
	_ = echo.conn.Flush()
	_ = boss.conn.Flush()
	var bare, answers []float64
	for i := range fleetAnswers {
		if i%50 == 0 { // it holds for 30 s
			if _, err := boss.send(protocol.UpState, state); err != nil {
				return err
			}
		}
		took, size, err := f.oneAnswer(member, boss, requests, i)
		if err != nil {
			return err
		}
		answers = append(answers, took.Seconds()*1e6)
		began := time.Now()
		err = boss.conn.PublishRequest(protocol.AnswerSubject(echo.id), protocol.ResultSubject(echo.id, boss.id, fmt.Sprint(i)), make([]byte, size))
		if err == nil {
			_, err = hears.NextMsg(time.Minute)
		}
		if err != nil {
			return err
		}
		bare = append(bare, time.Since(began).Seconds()*1e6)
	}
	b.table.note("fleet: bare NATS request, p50", percentile(bare, 50), "µs")
	b.table.note("fleet: bare NATS request, p99", percentile(bare, 99), "µs")
	b.table.note("fleet: answer through the fleet, p50", percentile(answers, 50), "µs")
	b.table.note("fleet: answer through the fleet, p99", percentile(answers, 99), "µs")
	b.table.atMost("fleet: answer ÷ bare NATS request, p99", percentile(answers, 99)/percentile(bare, 99), 5, "×")
	return nil
}

// oneAnswer has the member's agent ask and the operator answer, and measures from the operator's
// message until the operator receives the result.
func (f *fleetServer) oneAnswer(p *place, boss *fleetMember, requests <-chan wire.InboxRequest, n int) (time.Duration, int, error) {
	conn, err := net.Dial("unix", p.dirs.Socket())
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	payload, _ := json.Marshal(map[string]any{"session_id": fmt.Sprint("s", n), "cwd": p.dir, "hook_event_name": "PermissionRequest",
		"permission_mode": "default", "tool_name": "Bash", "tool_input": map[string]string{"command": fmt.Sprint("make target-", n)}})
	r := frame.Request{ID: frame.NewID(), Agent: "claude", Event: "PermissionRequest", Cwd: p.dir, Deadline: time.Hour, Payload: payload}
	if _, err := conn.Write(frame.AppendRequest(nil, &r)); err != nil {
		return 0, 0, err
	}
	var asked wire.InboxRequest
	select {
	case asked = <-requests:
	case <-time.After(time.Minute):
		return 0, 0, errors.New("the operator doesn't hear of a request")
	}
	signed, err := protocol.SignAnswer(boss.key, boss.signed, &protocol.Answer{Fleet: f.fleet, Member: f.members[0].id, From: boss.id,
		User: "bench", Reply: wire.InboxReplyParams{ID: asked.ID, Choice: "once", SHA256: asked.SHA256}})
	if err != nil {
		return 0, 0, err
	}
	text, _ := json.Marshal(signed)
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	said, err := protocol.SendAnswer(ctx, boss.conn, f.members[0].id, boss.id, text)
	took := time.Since(began)
	if err != nil {
		return 0, 0, err
	}
	var result protocol.AnswerResult
	if json.Unmarshal(said, &result) != nil || result.Result == nil || result.Result.Outcome != wire.ReplyDelivered {
		return 0, 0, fmt.Errorf("the answer came to %s", said)
	}
	_, err = frame.ReadReply(bufio.NewReader(conn), frame.Standard)
	return took, len(text), err
}

const (
	fleetSenders     = 8
	fleetBatches     = 60
	eventsInOneBatch = 250
)

// fleetEvents measures from the first event until the server has all in its journal.
func (b *bench) fleetEvents(ctx context.Context) error {
	roles := []string{protocol.RoleReader}
	for range fleetSenders {
		roles = append(roles, protocol.RoleMember)
	}
	f, err := b.startFleet(ctx, "fleet-events", roles...)
	if err != nil {
		return err
	}
	defer func() { _ = f.stop() }()
	for _, m := range f.members {
		if err := f.connect(m); err != nil {
			return err
		}
	}
	const total = fleetSenders * fleetBatches * eventsInOneBatch
	began := time.Now()
	var sending sync.WaitGroup
	var wrong atomic.Pointer[error]
	for _, m := range f.members[1:] {
		sending.Go(func() {
			for n := range fleetBatches {
				var batch protocol.Batch
				for i := range eventsInOneBatch {
					batch.Events = append(batch.Events, protocol.Event{ID: fmt.Sprintf("e%d-%d", n, i), Time: time.Now(), Agent: "claude",
						Kind: "tool.before", Native: "PreToolUse", Tool: "Bash", Session: "s", Cwd: "/tmp", Body: fleetBody})
				}
				for tries := 0; ; tries++ {
					_, err := m.send(protocol.UpEvents, batch)
					if err == nil {
						break
					}
					if tries > 1000 {
						wrong.Store(&err)
						return
					}
					time.Sleep(10 * time.Millisecond) // its own limit, while the journal is written
				}
			}
		})
	}
	sending.Wait()
	if err := wrong.Load(); err != nil {
		return *err
	}
	b.table.note("fleet: events acknowledged a second", total/time.Since(began).Seconds(), "")
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		told, err := f.members[0].send(protocol.UpAsk, protocol.Ask{What: protocol.AskList, Versions: protocol.Spoken})
		if err != nil {
			return err
		}
		stored := int64(0)
		for _, m := range told.Members {
			stored += m.Events
		}
		if stored == total {
			break
		}
		if time.Now().After(end) {
			return fmt.Errorf("the central journal has %d of %d events", stored, total)
		}
	}
	b.table.atLeast("fleet: events a second into the central journal", total/time.Since(began).Seconds(), 20_000, "")
	return nil
}

// manyMembers measures the server's memory, and what it sends and receives, with members that have
// three sessions each and renew their states.
func (b *bench) manyMembers(ctx context.Context) error {
	for _, n := range []int{10, 100, 2000} {
		if err := b.membersCost(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) membersCost(ctx context.Context, n int) error {
	roles := []string{protocol.RoleOperator}
	for range n {
		roles = append(roles, protocol.RoleMember)
	}
	f, err := b.startFleet(ctx, fmt.Sprint("fleet-", n), roles...)
	if err != nil {
		return err
	}
	defer func() { _ = f.stop() }()
	var heard, heardBytes atomic.Int64
	if err := f.connect(f.members[0]); err != nil {
		return err
	}
	if _, err := f.members[0].conn.Subscribe(protocol.LiveSubject("*"), func(msg *nats.Msg) {
		heard.Add(1)
		heardBytes.Add(int64(len(msg.Data)))
	}); err != nil {
		return err
	}
	began := time.Now()
	if err := f.inParallel(f.members[1:], f.connect); err != nil {
		return err
	}
	b.table.note(fmt.Sprintf("fleet: %d members connect", n), time.Since(began).Seconds(), "s")
	renew := func(m *fleetMember) error {
		s := protocol.State{Instance: "i", Version: "1.0.0", User: "u", Content: true, Requests: []wire.InboxRequest{}}
		for i := range 3 {
			s.Sessions = append(s.Sessions, wire.Session{ID: fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i)}))[:36], Agent: "claude",
				Status: wire.StatusRunning, Title: "fix the tests of the parser and its callers", Cwd: "/home/user/src/project",
				LastEvent: time.Now()})
		}
		_, err := m.send(protocol.UpState, s)
		return err
	}
	if err := f.inParallel(f.members[1:], func(m *fleetMember) error {
		_, err := m.send(protocol.UpAsk, protocol.Ask{What: protocol.AskHello, Versions: protocol.Spoken, Instance: "i"})
		return err
	}); err != nil {
		return err
	}
	most := int64(0)
	const renewals, batches, inBatch = 3, 4, 5
	events := func(m *fleetMember) error {
		var batch protocol.Batch
		for i := range inBatch {
			batch.Events = append(batch.Events, protocol.Event{ID: fmt.Sprintf("e%d-%d", time.Now().UnixNano(), i), Time: time.Now(),
				Agent: "claude", Kind: "tool.before", Native: "PreToolUse", Tool: "Bash", Session: "s", Cwd: "/tmp", Body: fleetBody})
		}
		for tries := 0; ; tries++ {
			_, err := m.send(protocol.UpEvents, batch)
			if err == nil || tries > 1000 {
				return err
			}
			time.Sleep(10 * time.Millisecond) // the server's own limit, while the journal is written
		}
	}
	for _, part := range []struct {
		what  string
		times int
		do    func(*fleetMember) error
	}{{"a renewed state", renewals, renew}, {fmt.Sprintf("%d events", inBatch), batches, events}} {
		before := f.traffic()
		cpuBefore, _, _ := usage(f.cmd.Process.Pid)
		for range part.times {
			if err := f.inParallel(f.members[1:], part.do); err != nil {
				return err
			}
			if _, resident, err := usage(f.cmd.Process.Pid); err == nil {
				most = max(most, resident)
			}
		}
		cpuAfter, _, _ := usage(f.cmd.Process.Pid)
		after, each := f.traffic(), float64(part.times*n)
		name := func(what string) string { return fmt.Sprintf("fleet: %s of %s, %d members", what, part.what, n) }
		b.table.note(name("messages"), float64(after.InMsgs+after.OutMsgs-before.InMsgs-before.OutMsgs)/each, "")
		b.table.note(name("bytes"), float64(after.InBytes+after.OutBytes-before.InBytes-before.OutBytes)/each, "")
		b.table.note(name("server's cpu"), (cpuAfter-cpuBefore).Seconds()*1e6/each, "µs")
	}
	b.table.note(fmt.Sprintf("fleet: messages to an operator for a renewed state, %d members", n), float64(heard.Load())/float64(renewals*n), "")
	b.table.note(fmt.Sprintf("fleet: bytes to an operator for a renewed state, %d members", n), float64(heardBytes.Load())/float64(renewals*n), "")
	name := fmt.Sprintf("fleet: server's memory, %d members", n)
	if n == 2000 {
		b.table.atMost(name, float64(most)/1e6, 1000, "MB")
	} else {
		b.table.note(name, float64(most)/1e6, "MB")
	}
	return nil
}

// fleetBody returns the body of one event.
var fleetBody = json.RawMessage(`{"tool_input":{"command":"` + strings.Repeat("go test ./... ", 40) + `"}}`)

// traffic sums what all members but the first sent and received.
func (f *fleetServer) traffic() (sum nats.Statistics) {
	for _, m := range f.members[1:] {
		s := m.conn.Stats()
		sum.InMsgs, sum.OutMsgs = sum.InMsgs+s.InMsgs, sum.OutMsgs+s.OutMsgs
		sum.InBytes, sum.OutBytes = sum.InBytes+s.InBytes, sum.OutBytes+s.OutBytes
	}
	return sum
}

// inParallel does something for many members, sixteen at a time.
func (f *fleetServer) inParallel(list []*fleetMember, do func(*fleetMember) error) error {
	var wrong atomic.Pointer[error]
	var running sync.WaitGroup
	next := make(chan *fleetMember)
	for range 16 {
		running.Go(func() {
			for m := range next {
				if err := do(m); err != nil {
					wrong.Store(&err)
				}
			}
		})
	}
	for _, m := range list {
		next <- m
	}
	close(next)
	running.Wait()
	if err := wrong.Load(); err != nil {
		return *err
	}
	return nil
}
