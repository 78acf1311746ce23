package polkit

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/playedbus"
)

const owner = ":1.7"

// played is a system bus with somebody on it who answers for polkit.
type played struct {
	bus *playedbus.Bus

	uid     uint32                                 // who answers for polkit
	asleep  bool                                   // polkit must be started first
	absent  bool                                   // and cannot be
	details bool                                   // takes details
	answer  func(end <-chan struct{}) (any, error) // of CheckAuthorization
	replies map[string]any                         // other answers than usual, by method

	mu        sync.Mutex
	asked     []*dbus.Message
	cancelled []string
	end       chan struct{} // closed by a cancellation
}

func says(authorized, challenge bool, details map[string]string) func(<-chan struct{}) (any, error) {
	if details == nil {
		details = map[string]string{}
	}
	return func(<-chan struct{}) (any, error) { return answer{authorized, challenge, details}, nil }
}

func fails(err error) func(<-chan struct{}) (any, error) {
	return func(<-chan struct{}) (any, error) { return nil, err }
}

func busError(name, text string) error { return dbus.Error{Name: name, Body: []any{text}} }

// start plays it and gives the authority that speaks to it.
func (p *played) start(t *testing.T) *Authority {
	p.end = make(chan struct{})
	p.bus = playedbus.Start(t, owner, p.reply)
	uid := os.Getuid() // this test plays the system's accounts
	return &Authority{socket: p.bus.Socket, busUIDs: []int{uid}, uids: []int{996}, wait: await.Patience}
}

func (p *played) reply(member string, m *dbus.Message) ([]any, error) {
	if other, ok := p.replies[member]; ok {
		return []any{other}, nil
	}
	switch member {
	case "Hello":
		return []any{":1.42"}, nil
	case "GetNameOwner":
		if p.isAsleep() {
			return nil, busError(noOwner, "nobody")
		}
		return []any{owner}, nil
	case "StartServiceByName":
		if p.absent {
			return nil, busError(busName+".Error.ServiceUnknown", "no such service")
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asleep = false
		return []any{uint32(1)}, nil
	case "GetConnectionUnixUser":
		return []any{p.uid}, nil
	case "CheckAuthorization":
		p.mu.Lock()
		p.asked = append(p.asked, m)
		p.mu.Unlock()
		if details, _ := m.Body[2].(map[string]string); len(details) > 0 && !p.details {
			return nil, busError(notPermitted, "Only trusted callers can pass details")
		}
		said, err := p.answer(p.end)
		return []any{said}, err
	case "CancelCheckAuthorization":
		p.mu.Lock()
		defer p.mu.Unlock()
		ticket, _ := m.Body[0].(string)
		if p.cancelled = append(p.cancelled, ticket); len(p.cancelled) == 1 {
			close(p.end)
		}
		return nil, nil
	}
	return nil, busError(busName+".Error.UnknownMethod", member)
}

func (p *played) isAsleep() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asleep || p.absent
}

func (p *played) questions() []*dbus.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

var person = Process{PID: 4711, Start: 12345, UID: 1000}

func TestOnlyAnAuthorizationApproves(t *testing.T) {
	gone := errors.New("no answer at all")
	for name, c := range map[string]struct {
		polkit *played
		want   string // in the error; "" approves
	}{
		"authorized":                {&played{uid: 996, answer: says(true, false, nil)}, ""},
		"authorized after a start":  {&played{uid: 996, asleep: true, answer: says(true, false, nil)}, ""},
		"authorized, takes details": {&played{uid: 996, details: true, answer: says(true, false, nil)}, ""},
		"denied":                    {&played{uid: 996, answer: says(false, false, nil)}, "did not authorize"},
		"challenge":                 {&played{uid: 996, answer: says(false, true, nil)}, "no authentication agent"},
		"authorized and challenge":  {&played{uid: 996, answer: says(true, true, nil)}, "no authentication agent"},
		"dismissed": {&played{uid: 996, answer: says(false, true, map[string]string{wasDismissed: "true"})},
			"was dismissed"},
		"cancelled": {&played{uid: 996, answer: fails(busError(cancelled, "closed"))}, "was closed"},
		"unknown action": {&played{uid: 996, answer: fails(busError(failed, "Action is not registered"))},
			"packaging/polkit/org.hookmux.approve.policy"},
		"not permitted": {&played{uid: 996, answer: fails(busError(notPermitted, "not you"))}, "not you"},
		"left the bus":  {&played{uid: 996, answer: fails(busError(busName+".Error.NoReply", "gone"))}, "no answer"},
		"absent":        {&played{uid: 996, absent: true}, "install and start it"},
		"another user":  {&played{uid: 1000, answer: says(true, false, nil)}, "a program of user 1000"},
		"words for an answer": {&played{uid: 996, answer: func(<-chan struct{}) (any, error) { return "yes", nil }},
			"no answer"},
		"a yes and no more": {&played{uid: 996, answer: func(<-chan struct{}) (any, error) { return true, nil }},
			"no answer"},
		"words for a user": {&played{replies: map[string]any{"GetConnectionUnixUser": "root"},
			answer: says(true, false, nil)}, "cannot be asked"},
		"the bus hangs up": {&played{uid: 996, answer: fails(gone)}, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			authority := c.polkit.start(t)
			if name == "the bus hangs up" {
				c.polkit.answer = func(<-chan struct{}) (any, error) { c.polkit.bus.HangUp(); return nil, gone }
			}
			err := authority.Check(context.Background(), person, "make")
			if c.want == "" {
				if err != nil {
					t.Errorf("error %v, want none", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// Polkit is asked about the process that answers, and may ask the
// person.
func TestQuestion(t *testing.T) {
	p := played{uid: 996, answer: says(true, false, nil)}
	if err := p.start(t).Check(context.Background(), person, "claude: make"); err != nil {
		t.Fatal(err)
	}
	asked := p.questions()
	if len(asked) != 2 {
		t.Fatalf("polkit was asked %d times, want twice: with details, then without", len(asked))
	}
	for i, m := range asked {
		if got := m.Headers[dbus.FieldDestination].Value(); got != owner {
			t.Errorf("question %d went to %v, want the owner %s that was looked at", i, got, owner)
		}
		var who subject
		var action, ticket string
		var details map[string]string
		var flags uint32
		if err := dbus.Store(m.Body, &who, &action, &details, &flags, &ticket); err != nil {
			t.Fatal(err)
		}
		pid, start, uid := who.Details["pid"].Value(), who.Details["start-time"].Value(), who.Details["uid"].Value()
		if who.Kind != "unix-process" || pid != uint32(4711) || start != uint64(12345) || uid != int32(1000) {
			t.Errorf("question %d is about %s %v, want the process 4711 of user 1000", i, who.Kind, who.Details)
		}
		if action != "org.hookmux.approve" || flags != 1 || ticket == "" {
			t.Errorf("question %d: action %q, flags %d, ticket %q, want org.hookmux.approve, 1 and some", i, action,
				flags, ticket)
		}
		if want := []string{"claude: make", ""}[i]; details["request"] != want {
			t.Errorf("question %d: details %v, want the request %q", i, details, want)
		}
	}
}

// The dialog goes when the time is over or the request
// ended, and a yes after that counts for nothing.
func TestSlowAnswerIsTakenBack(t *testing.T) {
	for _, name := range []string{"the request ends", "the time is over"} {
		t.Run(name, func(t *testing.T) {
			p := played{uid: 996, details: true}
			ctx, end := context.WithCancelCause(context.Background())
			defer end(nil)
			authority := p.start(t)
			want := "the request ended"
			if name == "the time is over" {
				authority.wait, want = 50*time.Millisecond, "no password within"
			}
			p.answer = func(taken <-chan struct{}) (any, error) {
				if name == "the request ends" {
					end(errors.New("the request ended"))
				}
				<-taken
				return answer{true, false, map[string]string{}}, nil // too late
			}
			err := authority.Check(ctx, person, "make")
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
			ticket, _ := p.questions()[0].Body[4].(string)
			p.mu.Lock()
			defer p.mu.Unlock()
			if len(p.cancelled) != 1 || p.cancelled[0] != ticket {
				t.Errorf("taken back: %q, want the one question %q", p.cancelled, ticket)
			}
		})
	}
}

// Who listens at the bus's place must be the system.
func TestBusOfAnotherUser(t *testing.T) {
	p := played{uid: 996, answer: says(true, false, nil)}
	authority := p.start(t)
	authority.busUIDs = []int{os.Getuid() + 1}
	err := authority.Check(context.Background(), person, "make")
	if err == nil || !strings.Contains(err.Error(), "and not to the system") {
		t.Errorf("error %v, want one that says whose bus it is", err)
	}
	if n := len(p.questions()); n != 0 {
		t.Errorf("polkit was asked %d times, want never", n)
	}
}

// An agent that starts the daemon, or the program that
// answers, chooses the environment, and may run a bus of its own.
func TestBusIsAtAFixedPlace(t *testing.T) {
	p := played{uid: 0, details: true, answer: says(true, false, nil)}
	p.start(t)
	for _, name := range []string{"DBUS_SYSTEM_BUS_ADDRESS", "DBUS_SESSION_BUS_ADDRESS", "DBUS_STARTER_ADDRESS"} {
		t.Setenv(name, "unix:path="+p.bus.Socket)
	}
	system := System()
	if want := "/run/dbus/system_bus_socket"; system.socket != want {
		t.Errorf("the bus is at %s, want %s", system.socket, want)
	}
	for _, list := range [][]int{system.busUIDs, system.uids} {
		for _, uid := range list {
			if uid >= 1000 {
				t.Errorf("user %d is believed, want accounts of the system only", uid)
			}
		}
	}
	// Whatever this machine has there: it is not asked about a process of nobody.
	system.wait = connectTime
	if err := system.Check(context.Background(), Process{PID: os.Getpid(), Start: 1, UID: 65533}, "make"); err == nil {
		t.Error("a process that is not there was authorized")
	}
	if n := len(p.questions()); n != 0 {
		t.Errorf("the bus of the environment was asked %d times, want never", n)
	}
}

func TestNobodyToAskAbout(t *testing.T) {
	p := played{uid: 996, answer: says(true, false, nil)}
	authority := p.start(t)
	for name, who := range map[string]Process{
		"root":         {PID: 4711, Start: 12345, UID: 0},
		"no process":   {PID: 0, Start: 12345, UID: 1000},
		"no beginning": {PID: 4711, UID: 1000},
	} {
		if err := authority.Check(context.Background(), who, "make"); err == nil {
			t.Errorf("%s: no error, want one", name)
		}
	}
	if n := len(p.questions()); n != 0 {
		t.Errorf("polkit was asked %d times, want never", n)
	}
}

// A bus that greets nobody holds nobody up for long.
func TestSilentBus(t *testing.T) {
	p := played{replies: map[string]any{}}
	authority := p.start(t)
	authority.wait = 50 * time.Millisecond
	p.bus = playedbus.Start(t, owner, func(string, *dbus.Message) ([]any, error) {
		return nil, errors.New("silence")
	})
	authority.socket = p.bus.Socket
	if err := authority.Check(context.Background(), person, "make"); err == nil {
		t.Error("a silent bus approved")
	}
	authority.socket += "-not-there"
	if err := authority.Check(context.Background(), person, "make"); err == nil {
		t.Error("a missing bus approved")
	}
}

// Of all that bus and polkit can say, one thing approves.
func TestNoFailureApproves(t *testing.T) {
	p := played{}
	authority := p.start(t)
	rapid.Check(t, func(r *rapid.T) {
		authorized, challenge := rapid.Bool().Draw(r, "authorized"), rapid.Bool().Draw(r, "challenge")
		details := rapid.MapOfN(rapid.SampledFrom([]string{wasDismissed, "polkit.result", "x"}),
			rapid.SampledFrom([]string{"true", "", "auth_self"}), 0, 2).Draw(r, "details")
		broken := rapid.SampledFrom([]string{"", "", "", failed, cancelled, notPermitted,
			busName + ".Error.NoReply"}).Draw(r, "error")
		p.mu.Lock()
		p.uid = uint32(rapid.SampledFrom([]int{0, 996, 996, 996, 1000}).Draw(r, "uid"))
		p.details = rapid.Bool().Draw(r, "takes details")
		p.absent = rapid.IntRange(0, 5).Draw(r, "absent") == 0
		p.asleep = rapid.Bool().Draw(r, "asleep")
		p.mu.Unlock()
		p.answer = says(authorized, challenge, details)
		if broken != "" {
			p.answer = fails(busError(broken, "x"))
		}
		want := authorized && !challenge && broken == "" && p.uid == 996 && !p.absent
		err := authority.Check(context.Background(), person, "make")
		if want != (err == nil) {
			r.Errorf("error %v, want approved: %v", err, want)
		}
	})
}
