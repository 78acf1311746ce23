package terminal

import (
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/authoritytest"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

// paper is a screen whose person answers each question by a function of what
// was shown so far.
type paper struct {
	shown  string
	answer func(shown string) string
	keys   []byte
}

func (p *paper) Print(text string) error { p.shown += text; return nil }

func (p *paper) ShowCode(code string) (string, error) { return codeWords(code), nil }

func (p *paper) Close()       {}
func (p *paper) Flush() error { p.keys = nil; return nil }
func (p *paper) ReadKey(context.Context) (byte, error) {
	if len(p.keys) == 0 {
		p.keys = []byte(p.answer(p.shown))
	}
	if len(p.keys) == 0 {
		return 0, errNoAnswer
	}
	key := p.keys[0]
	p.keys = p.keys[1:]
	return key, nil
}

var shownCodes = regexp.MustCompile(`Type (\w{4}) to confirm`)

func lastCode(shown string) string {
	all := shownCodes.FindAllStringSubmatch(shown, -1)
	return all[len(all)-1][1]
}

// The Enter that a hand adds answers no later question.
func TestEnterAfterACode(t *testing.T) {
	on := &paper{answer: func(s string) string { return lastCode(s) + "\r" }}
	if err := askCode(context.Background(), on, authority.Action{}, ""); err != nil {
		t.Fatal(err)
	}
	takeEnter(context.Background(), on)
	if len(on.keys) != 0 {
		t.Errorf("after the code %q was left for the next question, want nothing", on.keys)
	}
}

func TestAskCode(t *testing.T) {
	wrong := func(string) string { return "0000" }
	for _, c := range []struct {
		name   string
		answer func(string) string
		want   error
	}{
		{"the code", lastCode, nil},
		{"in capitals", func(s string) string { return strings.ToUpper(lastCode(s)) }, nil},
		{"with a correction", func(s string) string { return "x\x7f" + lastCode(s) }, nil},
		{"wrong, then right", func(s string) string {
			if strings.Count(s, "Type ") < 3 {
				return "0000"
			}
			return lastCode(s)
		}, nil},
		{"wrong", wrong, errWrong},
		{"Escape", func(string) string { return "\x1b" }, errCancelled},
		{"Ctrl-C", func(s string) string { return lastCode(s)[:2] + "\x03" }, errCancelled},
		{"nothing", func(string) string { return "" }, errNoAnswer},
	} {
		on := &paper{answer: c.answer}
		err := askCode(context.Background(), on, authority.Action{Text: "do \x1b[2Jit"}, "of a test")
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if strings.Contains(on.shown, "\x1b") || !strings.Contains(on.shown, "why: of a test") {
			t.Errorf("%s shows %q; want no \"\\x1b\" in on.shown and \"why: of a test\" in on.shown", c.name, on.shown)
		}
	}
	seen := map[string]bool{}
	for range 200 {
		code, err := newCode()
		if err != nil || len(code) != codeLength || strings.Trim(code, codeLetters) != "" {
			t.Fatalf(`code %q, %v; want no error, len(code) == codeLength and strings.Trim(code, `+
				`codeLetters) == ""`, code, err)
		}
		seen[code] = true
	}
	if len(seen) < 190 {
		t.Errorf("200 codes, %d different ones", len(seen))
	}
}

func TestAskPIN(t *testing.T) {
	check := func(pin string) error {
		if pin != "2468" {
			return errors.New("the PIN is wrong")
		}
		return nil
	}
	for keys, right := range map[string]bool{"2468\r": true, "24\x7f468\r": true, "1111\r": false, "\x1b": false} {
		on := &paper{answer: func(string) string { return keys }}
		err := askPIN(context.Background(), on, authority.Action{}, "", check)
		if (err == nil) != right {
			t.Errorf("%q: error %v, want (err == nil) = %v", keys, err, right)
		}
		if strings.Contains(on.shown, "2468") {
			t.Errorf("the PIN is shown: %q", on.shown)
		}
	}
}

// pinOf is a PIN that is set or not.
type pinOf string

func (p pinOf) Set() bool { return p != "" }
func (p pinOf) Check(pin string) error {
	if pin != string(p) {
		return errors.New("the PIN is wrong")
	}
	return nil
}

// personAsked answers as told, and may change the world meanwhile.
type personAsked struct {
	err       error
	pin       string
	meanwhile func()
}

func (p *personAsked) AskCode(context.Context, *authority.Verdict, authority.Action) error {
	if p.meanwhile != nil {
		p.meanwhile()
	}
	return p.err
}

func (p *personAsked) AskPIN(_ context.Context, _ *authority.Verdict, _ authority.Action,
	check func(string) error) error {
	return check(p.pin)
}

func TestKeeper(t *testing.T) {
	const me, user = 77, 4242
	trusted := proctest.New(proctest.Node{PID: 13, Name: "bash", User: user, Session: true, TTY: "/dev/pts/0",
		Below: []proctest.Node{
			{PID: me, Name: "hookmux", Group: true}}})
	web := proctest.New(proctest.Node{PID: 9, Name: "node", User: user, Session: true, Below: []proctest.Node{
		{PID: 13, Name: "bash", Session: true, TTY: "/dev/pts/0",
			Below: []proctest.Node{{PID: me, Name: "hookmux", Group: true}}}}})
	agent := proctest.New(proctest.Node{PID: 13, Name: "acme", User: user, Session: true, TTY: "/dev/pts/0",
		Below: []proctest.Node{
			{PID: me, Name: "hookmux", Group: true}}})
	weakens, plain := authority.Action{Weakens: true}, authority.Action{}
	for _, c := range []struct {
		name   string
		table  *proctest.Table
		action authority.Action
		person personAsked
		pin    pinOf
		ok     bool
	}{
		{"a plain answer is not asked for", trusted, plain, personAsked{err: errWrong}, "", true},
		{"weakening, confirmed", trusted, weakens, personAsked{}, "", true},
		{"weakening, not confirmed", trusted, weakens, personAsked{err: errWrong}, "", false},
		{"a terminal of which nothing is known, no PIN", web, plain, personAsked{pin: ""}, "", false},
		{"the same with the PIN", web, plain, personAsked{pin: "2468"}, "2468", true},
		{"the same with another PIN", web, plain, personAsked{pin: "1111"}, "2468", false},
		{"an agent is asked nothing", agent, weakens, personAsked{}, "", false},
	} {
		source := &switching{Machine: authoritytest.Machine{Table: c.table}}
		evaluator := &authority.Evaluator{Rules: authority.Rules{
			UID: user, Agents: authority.AgentMarks{{Agent: "acme",
				Programs: []string{"acme"}}}, Sound: source.Sound, Hookmux: source.Hookmux,
		}, Table: c.table, Source: source}
		k := &Keeper{Evaluator: evaluator, Asker: &c.person, PIN: c.pin}
		v := k.Decide(context.Background(), proc.Cred{UID: user, PID: me}, c.action)
		if v.OK != c.ok || !v.OK && !strings.HasPrefix(v.Reason(), "refused: ") {
			t.Errorf(`%s: v.OK = %v, v.Reason = %s; want v.OK = %v and not !v.OK && !strings.HasPrefix(v.Reason, `+
				`"refused: ")`, c.name, v.OK, v.Reason(), c.ok)
		}
	}
	// Who asks is looked at again after the code.
	source := &switching{Machine: authoritytest.Machine{Table: trusted}}
	evaluator := &authority.Evaluator{Rules: authority.Rules{UID: user, Sound: source.Sound, Hookmux: source.Hookmux}, Table: trusted, Source: source}
	k := &Keeper{Evaluator: evaluator, Asker: &personAsked{meanwhile: func() { source.Table = web }}}
	if v := k.Decide(context.Background(), proc.Cred{UID: user, PID: me}, weakens); v.OK {
		t.Errorf("another terminal was confirmed: %+v", v)
	}
}

// switching is a machine that changes.
type switching struct{ authoritytest.Machine }

func TestParseUtmp(t *testing.T) {
	own := map[netip.Addr]bool{netip.MustParseAddr("192.0.2.1"): true}
	for arch, at := range map[string][2]int{"amd64": {384, 348}, "arm64": {400, 360}} {
		record := func(kind uint16, pid uint32, line, host string, address netip.Addr) []byte {
			b := make([]byte, at[0])
			binary.NativeEndian.PutUint16(b, kind)
			binary.NativeEndian.PutUint32(b[4:], pid)
			copy(b[8:40], line)
			copy(b[76:332], host)
			if address.IsValid() {
				copy(b[at[1]:], address.AsSlice())
			}
			return b
		}
		var file []byte
		file = append(file, record(7, 12, "pts/1", "far.example", netip.MustParseAddr("198.51.100.7"))...)
		file = append(file, record(7, 13, "pts/2", "me", netip.MustParseAddr("192.0.2.1"))...)
		file = append(file, record(7, 14, "pts/3", "::1", netip.MustParseAddr("::1"))...)
		file = append(file, record(7, 15, "pts/4", "a-name", netip.Addr{})...)
		file = append(file, record(8, 16, "pts/5", "", netip.Addr{})...)
		file = append(file, 1, 2, 3)
		got := parseUtmp(file, own, arch)
		want := []authority.Login{
			{TTY: "/dev/pts/1", PID: 12, Remote: "198.51.100.7"}, {TTY: "/dev/pts/2", PID: 13,
				Remote: "192.0.2.1", Local: true},
			{TTY: "/dev/pts/3", PID: 14, Remote: "::1", Local: true}, {TTY: "/dev/pts/4", PID: 15,
				Remote: "a-name", Local: true},
		}
		if len(got) != len(want) {
			t.Fatalf("%s: got %+v, want %v of them", arch, got, len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %+v, want %+v", arch, got[i], want[i])
			}
		}
	}
}

func TestParseTmux(t *testing.T) {
	got := parseTmux([]byte("pane %1 /dev/pts/2 0\nclient 14 1700000000 %1 /dev/pts/1\nclient x y z " +
		"/dev/pts/1\nnonsense\n"))
	if len(got.Panes) != 1 || got.Panes[0] != (authority.TmuxPane{ID: "%1", TTY: "/dev/pts/2"}) {
		t.Errorf(`panes %+v; want len(got.Panes) == 1 and got.Panes[0] == (authority.TmuxPane{ID: "%%1", `+
			`TTY: "/dev/pts/2"})`, got.Panes)
	}
	want := authority.TmuxClient{PID: 14, Active: time.Unix(1700000000, 0), Pane: "%1", Name: "/dev/pts/1"}
	if len(got.Clients) != 1 || got.Clients[0] != want {
		t.Errorf("clients %+v, want %+v", got.Clients, want)
	}
	// Panes of which one passes queries on, and a tmux that doesn't know the option and always does.
	for _, panes := range []string{"pane %1 /dev/pts/2 0\npane %2 /dev/pts/3 all\n", "pane %1 /dev/pts/2 \n"} {
		got := parseTmux([]byte(panes + "client 14 1700000000 %1 /dev/pts/1\n"))
		if len(got.Clients) != 1 || !got.Clients[0].Asked {
			t.Errorf("%q: clients %+v, want one whose terminal can be asked", panes, got.Clients)
		}
	}
}
