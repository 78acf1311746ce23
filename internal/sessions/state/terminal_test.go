package state

import (
	"fmt"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire"
)

const terminal = "0a1b2c3d-0000-4000-8000-000000000001"

// mux0 is sessions that are driven by mux0 lines.
type mux0 struct {
	t        *testing.T
	sessions *Sessions
	c        Change
}

func (m *mux0) line(format string, args ...any) *Session {
	m.t.Helper()
	raw := fmt.Sprintf(`{"terminalId":%q,`, terminal) + fmt.Sprintf(format, args...) + "}"
	said, err := wire.ParseMux0([]byte(raw))
	if err != nil {
		m.t.Fatalf("%s: error %v, want no error", raw, err)
	}
	m.c = m.sessions.ApplyTerminal(reportOf(&said), event.Place{}, Rules{})
	return m.c.Session
}

// reportOf returns a mux0 line as the machine takes it.
func reportOf(m *wire.Mux0Message) *TerminalReport {
	return &TerminalReport{
		Terminal: m.TerminalID, Agent: m.Agent, State: m.Event, At: m.Time(), Title: m.SessionTitle, Source: "mux0",
		Activity: m.ToolDetail, Summary: m.Summary, ExitCode: m.ExitCode,
	}
}

// stamp returns a moment as mux0 writes it.
func stamp(n float64) string { return fmt.Sprintf("%.6f", float64(sec(n).UnixMicro())/1e6) }

// mux0's own table: states by rows, lines by columns, fresh lines only.
func TestMux0Table(t *testing.T) {
	bring := map[Status][]string{
		NeverRan:      nil,
		Idle:          {"idle"},
		Running:       {"running"},
		WaitingForYou: {"running", "needsInput"},
		Success:       {"running", "finished 0"},
		Failed:        {"running", "finished 1"},
	}
	want := map[Status][5]Status{ // running, idle, needsInput, finished 0, finished 1
		NeverRan:      {Running, Idle, NeverRan, Success, Failed},
		Idle:          {Running, Idle, Idle, Success, Failed},
		Running:       {Running, Idle, WaitingForYou, Success, Failed},
		WaitingForYou: {Running, Idle, WaitingForYou, Success, Failed},
		Success:       {Running, Success, Success, Success, Failed},
		Failed:        {Running, Failed, Failed, Success, Failed},
	}
	send := func(m *mux0, what string, n float64) {
		var word string
		code := -1
		fmt.Sscanf(what, "%s %d", &word, &code)
		if code >= 0 {
			m.line(`"event":%q,"agent":"claude","at":%s,"exitCode":%d`, word, stamp(n), code)
			return
		}
		m.line(`"event":%q,"agent":"claude","at":%s`, word, stamp(n))
	}
	for status, steps := range bring {
		for i, column := range []string{"running", "idle", "needsInput", "finished 0", "finished 1"} {
			m := &mux0{t: t, sessions: NewSessions()}
			for n, step := range steps {
				send(m, step, float64(n))
			}
			send(m, column, 10)
			if got := m.c.Session.Status; got != want[status][i] {
				t.Errorf("%s + %s: %s, should be %s", status, column, got, want[status][i])
			}
			if status == NeverRan {
				continue
			}
			// The same, from before the state: dropped.
			m = &mux0{t: t, sessions: NewSessions()}
			for n, step := range steps {
				send(m, step, float64(n))
			}
			send(m, column, -5)
			if got := m.c.Session.Status; got != status {
				t.Errorf("%s + stale %s: %s; want got == status", status, column, got)
			}
		}
	}
}

func TestMux0Lines(t *testing.T) {
	m := &mux0{t: t, sessions: NewSessions()}
	s := m.line(`"event":"running","at":%s,"resumeCommand":"claude --resume s1","sessionTitle":"Fix  the\nbug","agent":"claude"`, stamp(0))
	if s.Status != Running || s.Title.Name() != "Fix the bug" || s.Turn.N != 1 || !m.c.TurnStarted {
		t.Errorf(`s = %+v, want s.Status = Running, s.Title.Name() = "Fix the bug", s.Turn.N = 1 and m.c.TurnStarted`,
			s)
	}
	s = m.line(`"event":"running","at":%s,"toolDetail":"Bash: ls -la","agent":"claude"`, stamp(1))
	if s.Tool != "Bash: ls -la" || !s.Since.Equal(sec(0)) {
		t.Errorf(`%q since %s; want s.Tool == "Bash: ls -la" and s.Since.Equal(sec(0))`, s.Tool, s.Since)
	}
	if s = m.line(`"event":"running","at":%s,"agent":"claude"`, stamp(2)); s.Tool != "" {
		t.Errorf("a line without a detail leaves %q", s.Tool)
	}
	s = m.line(`"event":"needsInput","at":%s,"agent":"claude","toolDetail":"Waiting on select"`, stamp(3))
	if !s.WaitingSince.Equal(sec(3)) || !m.c.Waiting {
		t.Errorf("s = %+v, want s.WaitingSince.Equal(sec(3)) and m.c.Waiting", s)
	}
	// The turn's start survives the question: mux0 itself lost it.
	m.line(`"event":"running","at":%s,"agent":"claude"`, stamp(5))
	s = m.line(`"event":"finished","at":%s,"exitCode":0,"summary":"flat shape works","agent":"claude","unknown":{"a":1}`, stamp(8))
	if s.Status != Success || s.Turn.Summary != "flat shape works" || s.Turn.Duration(sec(99)) != 8*time.Second ||
		!m.c.TurnEnded {
		t.Errorf(`s.Turn = %+v, want s.Status = Success, s.Turn.Summary = "flat shape works", `+
			`s.Turn.Duration(sec(99)) = 8 * time.Second and m.c.TurnEnded`, s.Turn)
	}
	m.sessions.updateSession(s.Key, func(s *Session, _ *Change) { s.ReadAt = sec(9) })
	if s, _ = m.sessions.Get(s.Key); !s.ReadAt.Equal(sec(9)) {
		t.Error("not read; want s.ReadAt.Equal(sec(9))")
	}
	if s = m.line(`"event":"idle","at":%s,"agent":"claude"`, stamp(10)); s.Status != Success || s.ReadAt.IsZero() {
		t.Errorf("idle over a result: %s", s.Status)
	}
	if s = m.line(`"event":"finished","at":%s,"exitCode":1,"agent":"claude"`, stamp(11)); s.Status != Failed ||
		s.Turn.Duration(sec(99)) != 0 || !s.ReadAt.IsZero() {
		t.Errorf("s.Status = %s, s.Turn = %+v; want s.Status = Failed, s.Turn.Duration(sec(99)) = 0 and "+
			"s.ReadAt.IsZero()", s.Status, s.Turn)
	}
	// Titles follow the newest; an equal time is taken, an older one is not.
	m.line(`"event":"idle","at":%s,"agent":"claude","sessionTitle":"new"`, stamp(12))
	m.line(`"event":"idle","at":%s,"agent":"claude","sessionTitle":"old"`, stamp(11.5))
	if s, _ = m.sessions.Get(s.Key); s.Title.Name() != "new" {
		t.Errorf(`s.Title = %+v, want s.Title.Name() = "new"`, s.Title)
	}
	if s = m.line(`"event":"idle","at":%s,"agent":"claude","sessionTitle":"equal"`,
		stamp(12)); s.Title.Name() != "equal" {
		t.Errorf(`s.Title = %+v, want s.Title.Name() = "equal"`, s.Title)
	}
	if s = m.line(`"event":"idle","at":%s,"agent":"claude","sessionTitle":"  "`, stamp(13)); s.Title.Name() != "equal" {
		t.Error("a blank replaced a title")
	}
	// Another agent in the same terminal goes on with the terminal's state.
	s = m.line(`"event":"running","at":%s,"agent":"codex"`, stamp(14))
	if s.Agent != "codex" || m.sessions.Len() != 1 || s.Status != Running {
		t.Errorf(`s = %+v, want s.Agent = "codex", m.sessions.Len() = 1 and s.Status = Running`, s)
	}
	if s = m.line(`"event":"needsInput","at":%s,"agent":"codex"`, stamp(15)); s.Status != WaitingForYou {
		t.Errorf("s.Status = %q, want WaitingForYou", s.Status)
	}
}

// pi's sequence of mux0 lines gives these statuses.
func TestMux0Sequence(t *testing.T) {
	m := &mux0{t: t, sessions: NewSessions()}
	var got []Status
	for i, e := range []string{"idle", "running", "running", "running", "needsInput", "running", "finished", "idle",
		"idle"} {
		got = append(got, m.line(`"event":%q,"agent":"pi","at":%s,"exitCode":0`, e, stamp(float64(i))).Status)
	}
	want := []Status{Idle, Running, Running, Running, WaitingForYou, Running, Success, Success, Success}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want fmt.Sprint(got) = fmt.Sprint(want)", got)
	}
}

// Twelve terminals at once stay twelve.
func TestTwelveTerminalsAtOnce(t *testing.T) {
	b := NewSessions()
	done := make(chan bool)
	for i := range 12 {
		go func() {
			defer func() { done <- true }()
			id := fmt.Sprintf("0a1b2c3d-0000-4000-8000-%012d", i)
			for n, e := range []string{"idle", "running", "needsInput", "running"} {
				m := wire.Mux0Message{TerminalID: id, Agent: "claude", Event: e, At: float64(sec(float64(n)).Unix())}
				b.ApplyTerminal(reportOf(&m), event.Place{}, Rules{})
			}
		}()
	}
	for range 12 {
		<-done
	}
	all := b.Snapshot()
	if len(all) != 12 {
		t.Fatalf("len(all) = %v, want 12", len(all))
	}
	for _, s := range all {
		if s.Status != Running {
			t.Errorf("s.Status = %q, want Running", s.Status)
		}
	}
}

// With its status off a terminal still gets its title.
func TestMux0Off(t *testing.T) {
	b := NewSessions()
	m := wire.Mux0Message{TerminalID: terminal, Agent: "pi", Event: "running", SessionTitle: "t", At: 1}
	if c := b.ApplyTerminal(reportOf(&m), event.Place{}, Rules{Off: true}); c.Session.Status != NeverRan ||
		c.Session.Title.Name() != "t" {
		t.Errorf(`c.Session = %+v, want c.Session.Status = NeverRan and c.Session.Title.Name() = "t"`, c.Session)
	}
}
