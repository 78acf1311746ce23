package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/wire"
)

// fleetOf is a server with members, as whoever has their keys sees it.
type fleetOf struct {
	t      *testing.T
	server *Server
	stop   func() // ends the server
}

// peer is a member's connection, which does what it likes.
type peer struct {
	t    *testing.T
	id   string
	key  nkeys.KeyPair
	conn *nats.Conn
	errs chan error
}

const patience = 15 * time.Second

func newFleet(t *testing.T) *fleetOf { t.Helper(); return newFleetWith(t, Options{}) }

func newFleetWith(t *testing.T, o Options) *fleetOf {
	t.Helper()
	f, err := tryFleet(t, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func tryFleet(t *testing.T, o Options) (f *fleetOf, err error) {
	t.Helper()
	f = &fleetOf{t: t}
	if o.Listen = "127.0.0.1:0"; o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if f.server, err = Open(o); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { _ = f.server.Run(ctx); close(ended) }()
	f.stop = func() { cancel(); <-ended }
	t.Cleanup(f.stop)
	return f, nil
}

func (f *fleetOf) options() []nats.Option {
	return []nats.Option{nats.Secure(&tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}), nats.Timeout(patience)}
}

func (f *fleetOf) url() string { return "tls://" + f.server.Addr() }

// member lets a member in and connects as it.
func (f *fleetOf) member(name, role string) *peer {
	f.t.Helper()
	key, err := nkeys.CreateUser()
	if err != nil {
		f.t.Fatal(err)
	}
	public, _ := key.PublicKey()
	m, err := f.server.roster.add(public, name, role, "", time.Now())
	if err == nil {
		err = f.server.exchange.admit(m)
	}
	if err == nil {
		err = f.server.exchange.conn.Flush() // what it asks at once is heard
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return f.connect(m.ID, key)
}

// connect connects as a member.
func (f *fleetOf) connect(id string, key nkeys.KeyPair) *peer {
	f.t.Helper()
	public, err := key.PublicKey()
	if err != nil {
		f.t.Fatal(err)
	}
	p := &peer{t: f.t, id: id, key: key, errs: make(chan error, 64)}
	p.conn, err = nats.Connect(f.url(), append(f.options(), nats.Nkey(public, key.Sign), nats.CustomInboxPrefix(protocol.Inbox(id)),
		nats.MaxReconnects(3), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			select {
			case p.errs <- err:
			default:
			}
		}))...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(p.conn.Close)
	return p
}

// send sends as the member and returns the answer.
func (p *peer) send(what string, data []byte) protocol.Told {
	p.t.Helper()
	msg, err := p.conn.Request(protocol.UpSubject(p.id, what), data, patience)
	if err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
	var told protocol.Told
	if err := json.Unmarshal(msg.Data, &told); err != nil {
		p.t.Fatal(err)
	}
	return told
}

func (p *peer) ask(a protocol.Ask) protocol.Told {
	p.t.Helper()
	if a.Version == 0 {
		a.Versions = protocol.Spoken
	}
	b, _ := json.Marshal(a)
	return p.send(protocol.UpAsk, b)
}

func anEvent(id string) protocol.Event {
	return protocol.Event{ID: id, Time: time.Now(), Agent: "claude", Kind: "turn.start", Native: "UserPromptSubmit",
		Body: json.RawMessage(`{"prompt":"x"}`)}
}

func batchOf(events ...protocol.Event) []byte {
	b, _ := json.Marshal(protocol.Batch{Events: events})
	return b
}

// wantStored waits until exactly these ids of a member are in the central journal.
func (f *fleetOf) wantStored(member string, ids ...string) {
	f.t.Helper()
	var got []string
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		got = got[:0]
		for one, err := range f.server.exchange.central.Query(f.t.Context(), journal.Filter{ID: member + protocol.IDMark}) {
			if err != nil {
				f.t.Fatal(err)
			}
			got = append(got, strings.TrimPrefix(one.ID, member+protocol.IDMark))
		}
		if fmt.Sprint(got) == fmt.Sprint(ids) {
			return
		}
		if time.Now().After(end) {
			f.t.Fatalf("the central journal has %v of %s, want %v", got, member, ids)
		}
	}
}

// wantViolation waits until the server refused what the member did.
func (p *peer) wantViolation(what string) {
	p.t.Helper()
	_ = p.conn.Flush()
	select {
	case err := <-p.errs:
		if !errors.Is(err, nats.ErrPermissionViolation) {
			p.t.Errorf("%s: error %v, want a permission violation", what, err)
		}
	case <-time.After(patience):
		p.t.Errorf("%s: nothing was refused", what)
	}
}

// sendRaw connects as a member without a client, announces a message of some size and
// returns the server's last word.
func (f *fleetOf) sendRaw(p *peer, subject string, size int) string {
	f.t.Helper()
	plain, err := net.Dial("tcp", f.server.Addr())
	if err != nil {
		f.t.Fatal(err)
	}
	defer plain.Close()
	_ = plain.SetDeadline(time.Now().Add(patience))
	line, err := bufio.NewReaderSize(oneByOne{plain}, 16).ReadString('\n')
	var info struct{ Nonce string }
	if err == nil {
		err = json.Unmarshal([]byte(strings.TrimPrefix(line, "INFO ")), &info)
	}
	if err != nil {
		f.t.Fatalf("%v: %s", err, line)
	}
	secure := tls.Client(plain, &tls.Config{InsecureSkipVerify: true})
	signature, _ := p.key.Sign([]byte(info.Nonce))
	public, _ := p.key.PublicKey()
	_, err = fmt.Fprintf(secure, "CONNECT {\"verbose\":false,\"protocol\":1,\"nkey\":%q,\"sig\":%q}\r\nPUB %s %d\r\n", public,
		base64.RawURLEncoding.EncodeToString(signature), subject, size)
	if err != nil {
		f.t.Fatal(err)
	}
	said, _ := io.ReadAll(secure) // until the server hangs up
	return string(said)
}

// oneByOne reads no further than it is asked.
type oneByOne struct{ io.Reader }

func (r oneByOne) Read(b []byte) (int, error) { return r.Reader.Read(b[:min(len(b), 1)]) }

// wantNamed waits until the fleet's list says why a member was refused, and that more often
// than before.
func (f *fleetOf) wantNamed(boss *peer, name string, before int64, why string) (refused int64) {
	f.t.Helper()
	var last string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		for _, m := range boss.ask(protocol.Ask{What: protocol.AskList}).Members {
			if m.Name == name {
				if last = m.Why; m.Refused > before && strings.Contains(m.Why, why) {
					return m.Refused
				}
			}
		}
	}
	f.t.Errorf("the list says %q of %s, want %q", last, name, why)
	return before
}

// wantTraces waits until the server has a member's record and state everywhere, or nowhere.
func (f *fleetOf) wantTraces(id string, want bool) {
	f.t.Helper()
	h := f.server.exchange
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		_, err := h.hosts.Get(f.t.Context(), id)
		onDisk, errDisk := os.ReadFile(filepath.Join(f.server.o.Dir, rosterFile))
		if errDisk != nil {
			f.t.Fatal(errDisk)
		}
		h.mu.Lock()
		heard := h.members[id] != nil
		h.mu.Unlock()
		got := map[string]bool{"a state in the bucket": err == nil, "a record on disk": strings.Contains(string(onDisk), id), "a place among those it hears": heard}
		wrong := 0
		for _, there := range got {
			if there != want {
				wrong++
			}
		}
		if wrong == 0 {
			return
		}
		if time.Now().After(end) {
			f.t.Fatalf("the server has %v of the member, want all of it %v", got, want)
		}
	}
}

// A server that was started again knows which policy is the newest, and takes no old one.
func TestOldPoliciesAfterARestart(t *testing.T) {
	dir := t.TempDir()
	f := newFleetWith(t, Options{Dir: dir})
	boss, good := f.member("boss", protocol.RoleOperator), f.member("good", protocol.RoleMember)
	var policies []*protocol.SignedPolicy
	for version := int64(1); version <= 3; version++ {
		signed, err := protocol.SignPolicy(boss.key, f.server.roster.get(boss.id).Signed, &protocol.Policy{Fleet: f.server.Fleet(),
			Version: version, From: boss.id, Pushed: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		policies = append(policies, &signed)
	}
	push := func(version int) string {
		t.Helper()
		return boss.ask(protocol.Ask{What: protocol.AskPush, Policy: policies[version-1]}).Error
	}
	for version := 1; version <= 2; version++ {
		if refused := push(version); refused != "" {
			t.Fatalf("policy %d: %s", version, refused)
		}
	}
	f.stop()
	f = newFleetWith(t, Options{Dir: dir})
	boss, good = f.connect(boss.id, boss.key), f.connect(good.id, good.key)
	for version := 1; version <= 2; version++ {
		if refused := push(version); refused == "" {
			t.Errorf("after a restart the old policy %d is taken", version)
		}
	}
	f.wantNamed(boss, "boss", 1, "an old one")
	if told := good.ask(protocol.Ask{What: protocol.AskPolicy}); told.Newest != 2 || told.Policy == nil || told.Policy.Text != policies[1].Text {
		t.Errorf("a member is told %+v, want policy 2", told)
	}
	if refused := push(3); refused != "" {
		t.Errorf("the next policy: %s", refused)
	}
}

// A member with a mind of its own is refused and named; the others don't notice.
func TestHostileMember(t *testing.T) {
	f := newFleet(t)
	good, evil, boss := f.member("good", protocol.RoleMember), f.member("evil", protocol.RoleMember),
		f.member("boss", protocol.RoleOperator)
	names := f.server.exchange.names

	t.Run("it takes nobody's id", func(t *testing.T) {
		if told := evil.send(protocol.UpEvents, batchOf(anEvent("e1"))); told.Error != "" {
			t.Fatal(told.Error)
		}
		if told := good.send(protocol.UpEvents, batchOf(anEvent("e1"), anEvent("e2"))); told.Error != "" {
			t.Fatal(told.Error)
		}
		f.wantStored(evil.id, "e1")
		f.wantStored(good.id, "e1", "e2")
	})
	t.Run("it speaks for nobody else", func(t *testing.T) {
		for _, subject := range []string{protocol.UpSubject(good.id, protocol.UpEvents), protocol.UpSubject(good.id, protocol.UpState),
			protocol.UpSubject(good.id, protocol.UpAsk), protocol.LiveSubject(good.id), protocol.AnswerSubject(good.id),
			protocol.AttendedSubject, protocol.ResultSubject(good.id, boss.id, "a"), protocol.Inbox(boss.id) + ".a.b", names.stored + good.id, "$KV." + names.hosts + "." + good.id, "$JS.API.STREAM.DELETE." + names.events,
			"$JS.API.INFO", protocol.JoinSubject, "$SYS.REQ.SERVER.PING"} {
			_ = evil.conn.Publish(subject, batchOf(anEvent("forged")))
			evil.wantViolation(subject)
		}
		f.wantNamed(boss, "evil", 13, "Publish Violation")
	})
	t.Run("it hears nobody else", func(t *testing.T) {
		for _, subject := range []string{">", "fleet.>", protocol.UpSubject("*", "*"), protocol.LiveSubject("*"), names.stored + "*",
			protocol.AnswerSubject(good.id), protocol.ResultSubject("*", boss.id, "*"), protocol.Inbox(good.id) + ".>", "$KV.>", "_INBOX.>", "$SYS.>"} {
			_, _ = evil.conn.SubscribeSync(subject)
			evil.wantViolation(subject)
		}
		f.wantNamed(boss, "evil", 24, "Subscription Violation")
	})
	t.Run("answers go to its own subjects only", func(t *testing.T) {
		hears, err := good.conn.SubscribeSync(protocol.AnswerSubject(good.id))
		if err != nil {
			t.Fatal(err)
		}
		_ = good.conn.Flush()
		ask, _ := json.Marshal(protocol.Ask{What: protocol.AskList, Versions: protocol.Spoken})
		for _, reply := range []string{protocol.AnswerSubject(good.id), "$JS.API.STREAM.DELETE." + names.events,
			"$JS.API.STREAM.PURGE." + names.events, names.stored + good.id} {
			for what, data := range map[string][]byte{protocol.UpAsk: ask, protocol.UpEvents: batchOf(anEvent("e3")), protocol.UpState: []byte("{")} {
				_ = evil.conn.PublishRequest(protocol.UpSubject(evil.id, what), reply, data)
			}
		}
		evil.ask(protocol.Ask{What: protocol.AskList}) // behind the others
		f.wantStored(evil.id, "e1", "e3")
		if _, err := f.server.exchange.js.Stream(t.Context(), names.events); err != nil {
			t.Errorf("the stream of events: %v", err)
		}
		if msg, err := hears.NextMsg(200 * time.Millisecond); err == nil {
			t.Errorf("another member heard %s", msg.Data)
		}
		f.wantStored(good.id, "e1", "e2")
	})
	t.Run("what can't be read is refused", func(t *testing.T) {
		long := anEvent("long")
		long.Cwd = strings.Repeat("x", 4<<10+1)
		unnamed, spaced, timeless := anEvent(""), anEvent("a b"), anEvent("t")
		timeless.Time = time.Time{}
		null, late := anEvent("n"), anEvent("l")
		later := anEvent("later")
		later.Time = time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -12*3600)) // in UTC there's no JSON for it
		null.Tool, late.Outcome = "a\x00b", &protocol.Outcome{}
		for what, data := range map[string][]byte{
			"not JSON": []byte("{"), "no events": []byte(`{}`), "no id": batchOf(unnamed), "an id with a space": batchOf(spaced),
			"a long field": batchOf(long), "no time": batchOf(timeless), "a null character": batchOf(null), "the end of time": batchOf(later), "an outcome without a time": batchOf(late),
			"a good one and a bad one": batchOf(anEvent("ok"), unnamed),
		} {
			if told := evil.send(protocol.UpEvents, data); told.Error == "" {
				t.Errorf("%s: it's taken", what)
			}
		}
		f.wantStored(evil.id, "e1", "e3")
	})
	t.Run("it decides nothing", func(t *testing.T) {
		for _, a := range []protocol.Ask{{What: protocol.AskInvite, Role: protocol.RoleOperator}, {What: protocol.AskHosts},
			{What: protocol.AskLog}, {What: protocol.AskRemove, Member: "good"}, {What: "shutdown"},
			{What: protocol.AskList, Versions: protocol.Versions{Version: protocol.Version + 1}}} {
			if told := evil.ask(a); told.Error == "" {
				t.Errorf("%+v: it's answered with %+v", a, told)
			}
		}
	})
	t.Run("it pushes no policy, and old ones don't come back", func(t *testing.T) {
		push := func(by, signer *peer, version int64, change func(*protocol.SignedPolicy)) string {
			p := protocol.Policy{Fleet: f.server.Fleet(), Version: version, From: signer.id, Pushed: time.Now()}
			signed, err := protocol.SignPolicy(signer.key, f.server.roster.get(signer.id).Signed, &p)
			if err != nil {
				t.Fatal(err)
			}
			if change != nil {
				change(&signed)
			}
			return by.ask(protocol.Ask{What: protocol.AskPush, Policy: &signed}).Error
		}
		bossRecord, chief := f.server.roster.get(boss.id).Signed, f.member("chief", protocol.RoleOperator)
		for what, refused := range map[string]string{
			"a member's own":             push(evil, evil, 1, nil),
			"an operator's, by a member": push(evil, boss, 1, nil),
			"another operator's":         push(boss, chief, 1, nil),
			"in an operator's name":      push(boss, evil, 1, func(s *protocol.SignedPolicy) { s.Record = bossRecord }),
			"a changed one": push(boss, boss, 1, func(s *protocol.SignedPolicy) {
				s.Text = strings.Replace(s.Text, `"version":1`, `"version":2`, 1)
			}),
			"one that leaves too many out": push(boss, boss, maxSkip+1, nil),
		} {
			if refused == "" {
				t.Errorf("%s: it's taken", what)
			}
		}
		for version := int64(1); version <= 2; version++ {
			if refused := push(boss, boss, version, nil); refused != "" {
				t.Fatalf("version %d: %s", version, refused)
			}
		}
		for version := int64(1); version <= 2; version++ {
			if refused := push(boss, boss, version, nil); refused == "" {
				t.Errorf("the old policy %d is taken", version)
			}
		}
		if told := good.ask(protocol.Ask{What: protocol.AskPolicy, Have: 1}); told.Newest != 2 || told.Policy == nil {
			t.Errorf("a member that has policy 1 is told %+v, want policy 2", told)
		}
		if told := good.ask(protocol.Ask{What: protocol.AskPolicy, Have: 2}); told.Policy != nil {
			t.Error("a member that has the newest policy is sent it again")
		}
	})
	t.Run("it speaks by one daemon", func(t *testing.T) {
		state := func(instance string) []byte {
			b, _ := json.Marshal(protocol.State{Instance: instance, Sessions: nil})
			return b
		}
		if told := evil.send(protocol.UpState, state("")); !told.Again {
			t.Errorf("a state without a hello: %+v, want that it says hello", told)
		}
		evil.ask(protocol.Ask{What: protocol.AskHello, Instance: "one"})
		if told := evil.send(protocol.UpState, state("one")); told.Error != "" {
			t.Error(told.Error)
		}
		evil.ask(protocol.Ask{What: protocol.AskHello, Instance: "two"})
		if told := evil.send(protocol.UpState, state("one")); !told.Again {
			t.Errorf("the state of a daemon before: %+v, want it refused", told)
		}
	})
	t.Run("an operator can't have it delete what is stored", func(t *testing.T) {
		hears, err := evil.conn.SubscribeSync(protocol.AnswerSubject(evil.id))
		if err != nil || evil.conn.Flush() != nil {
			t.Fatal(err)
		}
		for _, subject := range []string{"$JS.API.STREAM.PURGE." + names.events, protocol.UpSubject(good.id, protocol.UpEvents),
			protocol.LiveSubject(good.id)} {
			_ = boss.conn.PublishRequest(protocol.AnswerSubject(evil.id), subject, []byte("{}"))
			msg, err := hears.NextMsg(patience)
			if err != nil {
				t.Fatal(err)
			}
			_ = msg.Respond([]byte("{}"))
			evil.wantViolation(subject)
		}
	})
	t.Run("it says nothing in another member's name, not even to who asked it", func(t *testing.T) {
		hears, err := evil.conn.SubscribeSync(protocol.AnswerSubject(evil.id))
		if err != nil || evil.conn.Flush() != nil {
			t.Fatal(err)
		}
		defer func() { _ = hears.Unsubscribe() }()
		go func() {
			msg, err := hears.NextMsg(patience)
			if err != nil {
				return
			}
			// It knows where the operator hears now, and what may come next.
			_ = evil.conn.Publish(protocol.ResultSubject(good.id, boss.id, msg.Reply[strings.LastIndexByte(msg.Reply, '.')+1:]), []byte("forged"))
			_ = msg.Respond([]byte("its own"))
		}()
		said, err := protocol.SendAnswer(t.Context(), boss.conn, evil.id, boss.id, []byte("{}"))
		if err != nil || string(said) != "its own" {
			t.Errorf("the operator hears %q, %v; want what the member itself said", said, err)
		}
		evil.wantViolation("the result of another member")
		if _, err := protocol.SendAnswer(t.Context(), boss.conn, "m000000000000", boss.id, []byte("{}")); !errors.Is(err, nats.ErrNoResponders) {
			t.Errorf("an answer for nobody: error %v, want at once that nobody hears it", err)
		}
	})
	t.Run("it knows of nobody else", func(t *testing.T) {
		for _, one := range evil.ask(protocol.Ask{What: protocol.AskList}).Members {
			if one.Name == "good" {
				t.Errorf("it's told of another member: %+v", one)
			}
		}
	})
	t.Run("large states are a flood, too", func(t *testing.T) {
		evil.ask(protocol.Ask{What: protocol.AskHello, Instance: "large"})
		state, _ := json.Marshal(protocol.State{Instance: "large", User: strings.Repeat("x", protocol.MaxMessage/2)})
		taken := 0
		for taken < 60 && evil.send(protocol.UpState, state).Error == "" {
			taken++
		}
		if taken < 10 || taken > 50 {
			t.Errorf("%d states of %d bytes are taken one after the other, want between 10 and 50", taken, len(state))
		}
	})
	t.Run("a flood is its own", func(t *testing.T) {
		data := batchOf(anEvent("flood"))
		for range 20_000 {
			if evil.conn.Publish(protocol.UpSubject(evil.id, protocol.UpAsk), data) != nil {
				break
			}
		}
		began := time.Now()
		for i := range 50 {
			if told := good.send(protocol.UpEvents, batchOf(anEvent(fmt.Sprintf("g%02d", i)))); told.Error != "" {
				t.Fatalf("another member is told %q while one floods", told.Error)
			}
		}
		t.Logf("50 messages of another member took %s meanwhile", time.Since(began))
		var member protocol.Member
		for end := time.Now().Add(patience); member.Refused == 0 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			for _, m := range boss.ask(protocol.Ask{What: protocol.AskList}).Members {
				if m.Name == "evil" {
					member = m
				} else if m.Refused > 0 && m.Name != "boss" { // who pushed old policies above
					t.Errorf("%s is blamed: %s", m.Name, m.Why)
				}
			}
		}
		if member.Refused == 0 || member.Why == "" {
			t.Errorf("the list doesn't name it: %+v", member)
		}
	})
	t.Run("what is too long ends its connection", func(t *testing.T) {
		if answer := f.sendRaw(evil, protocol.UpSubject(evil.id, protocol.UpEvents), protocol.MaxMessage+1); !strings.Contains(
			answer, "Maximum Payload") {
			t.Errorf("the server says %q, want that it's too long", answer)
		}
		f.wantNamed(boss, "evil", 1, "maximum payload exceeded")
		for end := time.Now().Add(patience); !evil.conn.IsConnected(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) { // a member has one connection: the raw one ended it
				t.Fatal("it doesn't come back")
			}
		}
	})
	t.Run("once removed it's out at once", func(t *testing.T) {
		f.wantTraces(evil.id, true)
		if told := boss.ask(protocol.Ask{What: protocol.AskRemove, Member: "evil"}); told.Error != "" {
			t.Fatal(told.Error)
		}
		for end := time.Now().Add(patience); evil.conn.IsConnected(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("it's still connected")
			}
		}
		public, _ := evil.key.PublicKey()
		if _, err := nats.Connect(f.url(), append(f.options(), nats.Nkey(public, evil.key.Sign))...); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("it connects again: error %v", err)
		}
		f.wantTraces(evil.id, false)
	})
	if told := good.send(protocol.UpEvents, batchOf(anEvent("last"))); told.Error != "" {
		t.Errorf("another member afterwards: %s", told.Error)
	}
}

// A flood that stays below every limit, for long: each message is taken, and once the journal
// is full, the one who sent them loses its own and is named.
func TestSlowFlood(t *testing.T) {
	f := newFleetWith(t, Options{MaxBytes: 4 << 20})
	good, other, evil, boss := f.member("good", protocol.RoleMember), f.member("other", protocol.RoleMember),
		f.member("evil", protocol.RoleMember), f.member("boss", protocol.RoleOperator)
	var kept []string
	for i := range 30 {
		for _, one := range []*peer{good, other} {
			if told := one.send(protocol.UpEvents, batchOf(anEvent(fmt.Sprintf("e%02d", i)))); told.Error != "" {
				t.Fatal(told.Error)
			}
		}
		kept = append(kept, fmt.Sprintf("e%02d", i))
		large := make([]protocol.Event, 20)
		for j := range large {
			large[j] = anEvent(fmt.Sprintf("f%02d-%02d", i, j))
			large[j].Body = json.RawMessage(`{"prompt":"` + strings.Repeat("x", 10_000) + `"}`)
		}
		if told := evil.send(protocol.UpEvents, batchOf(large...)); told.Error != "" {
			t.Fatalf("message %d of the slow flood: %s", i, told.Error)
		}
	}
	f.wantStored(good.id, kept...)
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		n := 0
		for range f.server.exchange.central.Query(t.Context(), journal.Filter{ID: evil.id + protocol.IDMark}) {
			n++
		}
		if n == 600 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d of the flood's 600 events are stored", n)
		}
	}
	f.server.exchange.retainOnce()
	f.wantStored(good.id, kept...)
	f.wantStored(other.id, kept...)
	n := 0
	for range f.server.exchange.central.Query(t.Context(), journal.Filter{ID: evil.id + protocol.IDMark}) {
		n++
	}
	if n < 200 || n > 450 {
		t.Errorf("%d of the flood's 600 events are left, want about as many as fit", n)
	}
	f.wantNamed(boss, "evil", 0, "more than its part")
	for _, m := range boss.ask(protocol.Ask{What: protocol.AskList}).Members {
		if m.Name != "evil" && m.Refused > 0 {
			t.Errorf("%s is blamed: %s", m.Name, m.Why)
		}
	}
}

// Nobody gets a name that commands take for something else.
func TestReservedNames(t *testing.T) {
	f := newFleet(t)
	for _, name := range []string{"here", "all"} {
		if got := f.server.roster.get(f.member(name, protocol.RoleMember).id).Name; got == name {
			t.Errorf("a machine is called %s", got)
		}
	}
}

// A member can't outlive its removal by connecting just then.
func TestRemovalEndsConnectionsThatBegin(t *testing.T) {
	f := newFleet(t)
	for range 20 {
		one := f.member("one", protocol.RoleOperator)
		public, _ := one.key.PublicKey()
		var connecting sync.WaitGroup
		conns := make([]*nats.Conn, 8)
		for i := range conns {
			connecting.Go(func() {
				conns[i], _ = nats.Connect(f.url(), append(f.options(), nats.Nkey(public, one.key.Sign), nats.NoReconnect())...) // or it's refused
			})
		}
		_ = f.server.roster.remove(one.id)
		f.server.exchange.dismiss(one.id)
		connecting.Wait()
		for _, conn := range conns {
			if conn == nil {
				continue
			}
			for end := time.Now().Add(patience); conn.IsConnected() && conn.FlushTimeout(time.Second) == nil; {
				if time.Now().After(end) {
					t.Fatal("a removed member is still connected")
				}
			}
			conn.Close()
		}
	}
}

// Whoever has no key, or another one's, gets nowhere.
func TestStrangersStayOut(t *testing.T) {
	f := newFleet(t)
	f.member("boss", protocol.RoleOperator)
	stranger, _ := nkeys.CreateUser()
	public, _ := stranger.PublicKey()
	member := f.server.roster.all()[0].Key
	for what, option := range map[string]nats.Option{
		"no name":                 nats.Name("x"),
		"a key of its own":        nats.Nkey(public, stranger.Sign),
		"a member's name":         nats.Nkey(member, stranger.Sign),
		"the exchange's name":     nats.UserInfo(exchangeUser, "guess"),
		"a wrong code":            nats.UserInfo(protocol.JoinUser, "guess"),
		"the exchange and no key": nats.UserInfo(exchangeUser, ""),
	} {
		if conn, err := nats.Connect(f.url(), append(f.options(), option)...); err == nil {
			conn.Close()
			t.Errorf("%s: it's let in", what)
		}
	}
	plain := strings.Replace(f.url(), "tls://", "nats://", 1)
	if conn, err := nats.Connect(plain, nats.UserInfo(protocol.JoinUser, "x")); err == nil {
		conn.Close()
		t.Error("a connection without TLS is let in")
	}
	// A code opens joining and nothing else.
	secret, err := f.server.roster.invite(protocol.RoleMember, "boss", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 8)
	conn, err := nats.Connect(f.url(), append(f.options(), nats.UserInfo(protocol.JoinUser, secret),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { errs <- err }))...)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p := &peer{t: t, conn: conn, errs: errs}
	_ = conn.Publish(protocol.UpSubject(f.server.roster.all()[0].ID, protocol.UpAsk), nil)
	p.wantViolation("another's subject")
	_, _ = conn.SubscribeSync(">")
	p.wantViolation("everything")
}

// A machine that doesn't renew its state is lost to those who see it, with all it asked.
func TestLostMachine(t *testing.T) {
	f := newFleetWith(t, Options{StateTTL: time.Second})
	one, reader := f.member("one", protocol.RoleMember), f.member("reader", protocol.RoleReader)
	live, err := reader.conn.SubscribeSync(protocol.LiveSubject("*"))
	if err != nil {
		t.Fatal(err)
	}
	_ = reader.conn.Flush()
	one.ask(protocol.Ask{What: protocol.AskHello, Instance: "i"})
	state, _ := json.Marshal(protocol.State{Instance: "i"})
	if told := one.send(protocol.UpState, state); told.Error != "" {
		t.Fatal(told.Error)
	}
	next := func() (h protocol.Host) {
		t.Helper()
		msg, err := live.NextMsg(patience)
		if err == nil {
			err = json.Unmarshal(msg.Data, &h)
		}
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if h := next(); h.Name != "one" || h.Lost || h.State == nil {
		t.Errorf("the reader hears %+v, want that one is there", h)
	}
	if h := next(); !h.Lost || h.State != nil {
		t.Errorf("the reader hears %+v, want that one is lost", h)
	}
	if told := one.send(protocol.UpState, state); told.Error != "" {
		t.Errorf("it comes back: %s", told.Error)
	}
	if h := next(); h.Lost {
		t.Errorf("the reader hears %+v, want that one is back", h)
	}
}

// Members whose clocks are an hour off take part like all others.
func TestClocksMayBeWrong(t *testing.T) {
	f := newFleetWith(t, Options{StateTTL: time.Minute})
	boss := f.member("boss", protocol.RoleOperator)
	for name, off := range map[string]time.Duration{"early": time.Hour, "late": -time.Hour} {
		one := f.member(name, protocol.RoleMember)
		one.ask(protocol.Ask{What: protocol.AskHello, Instance: "i"})
		state, _ := json.Marshal(protocol.State{Instance: "i", Sessions: []wire.Session{{ID: "s", Agent: "claude", LastEvent: time.Now().Add(off)}}})
		if told := one.send(protocol.UpState, state); told.Error != "" {
			t.Errorf("%s: its state: %s", name, told.Error)
		}
		e := anEvent("e")
		e.Time = time.Now().Add(off)
		if told := one.send(protocol.UpEvents, batchOf(e)); told.Error != "" {
			t.Errorf("%s: its event: %s", name, told.Error)
		}
		f.wantStored(one.id, "e")
		for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
			members := boss.ask(protocol.Ask{What: protocol.AskList}).Members
			at := slices.IndexFunc(members, func(m protocol.Member) bool { return m.ID == one.id })
			if at >= 0 && members[at].Online && time.Since(members[at].Seen).Abs() < time.Minute {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%s: the list says %+v, want it connected and seen now", name, members[at])
			}
		}
	}
}

// The server hears every member of a large fleet.
func TestManyMembersAreHeard(t *testing.T) {
	f := newFleet(t)
	for i := range 100 {
		one := f.member(fmt.Sprintf("m%d", i), protocol.RoleMember)
		if told := one.ask(protocol.Ask{What: protocol.AskHello, Instance: "i"}); told.Error != "" {
			t.Fatalf("member %d: %s", i, told.Error)
		}
	}
}
