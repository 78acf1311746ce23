package state

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

// The turn's start survives a permission prompt, so the duration is right.
func TestDurationOverAPermissionPrompt(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"))
	w.send(event.ToolBefore, turn("p1"), shell("c1", "make"))
	c := w.send(event.PermissionRequest, turn("p1"), shell("", "make"))
	if !c.Waiting || !w.get().WaitingSince.Equal(w.now) || w.get().Asks[0].What != "Bash: make" {
		t.Errorf(`w.get().Asks = %+v, want c.Waiting, w.get().WaitingSince.Equal(w.now) and w.get().Asks[0].What = `+
			`"Bash: make"`, w.get().Asks)
	}
	waited := w.now
	w.send(event.UserAttention, detail("permission_prompt"), message("Claude needs your permission"))
	if !w.get().WaitingSince.Equal(waited) || len(w.get().Asks) != 1 {
		t.Error("asked again, it waits since then")
	}
	if c = w.send(event.ToolAfter, turn("p1"), shell("c1", "make")); !c.Answered {
		t.Error("not answered; want c.Answered")
	}
	c = w.send(event.TurnEnd, turn("p1"), message("Built."))
	if c.Turn == nil || c.Turn.Duration(w.now) != 50*time.Second || c.Turn.Tools != 1 || c.Turn.ExitCode != 0 ||
		c.Turn.Summary != "Built." {
		t.Errorf(`c.Turn = %+v, want other than nil, c.Turn.Duration(w.now) = 50 * time.Second, c.Turn.Tools = 1, `+
			`c.Turn.ExitCode = 0 and c.Turn.Summary = "Built."`, c.Turn)
	}
}

// Nothing of an older turn touches a newer one.
func TestLateEventsOfAnOlderTurn(t *testing.T) {
	for name, late := range map[string]func(w *world) Change{
		"end":        func(w *world) Change { return w.send(event.TurnEnd, turn("p1")) },
		"failure":    func(w *world) Change { return w.send(event.TurnEnd, native("StopFailure"), turn("p1")) },
		"prompt":     func(w *world) Change { return w.send(event.TurnStart, turn("p1")) },
		"tool":       func(w *world) Change { return w.send(event.ToolBefore, turn("p1"), shell("c0", "old")) },
		"result":     func(w *world) Change { return w.send(event.ToolAfter, turn("p1"), shell("c0", "old"), failing()) },
		"permission": func(w *world) Change { return w.send(event.PermissionRequest, turn("p1"), shell("", "old")) },
		"by time":    func(w *world) Change { return w.send(event.TurnEnd, at(t0.Add(time.Second))) },
		"ask, by time": func(w *world) Change {
			return w.send(event.PermissionRequest, at(t0.Add(time.Second)), shell("", "old"))
		},
	} {
		w := newWorld(t)
		w.send(event.TurnStart, turn("p1"))
		w.send(event.TurnEnd, turn("p1"))
		w.send(event.TurnStart, turn("p2"))
		w.send(event.ToolBefore, turn("p2"), shell("c5", "new"))
		before := w.get()
		c := late(w)
		after := w.get()
		if c.Stale == No || after.Status != Running || after.Tool != before.Tool || after.Turn.Errors != 0 ||
			after.Turn.Tools != 1 || after.TurnCount != 2 {
			t.Errorf("%s: after.Status = %s, after.Tool = %q, after.Turn = %+v, c.Stale = %s; want c.Stale not "+
				"empty, after.Status = Running, after.Tool = before.Tool, after.Turn.Errors = 0, after.Turn.Tools = 1 and after.TurnCount = 2",
				name, after.Status, after.Tool, after.Turn, c.Stale)
		}
	}
}

// A number below that of the turn's start cannot touch the turn.
func TestStaleBySequence(t *testing.T) {
	w := newWorld(t)
	w.rules = rulesOf(t, "pi")
	pid := uint64(1)
	send := func(seq uint64, kind event.Kind, opts ...option) Change {
		return w.sessions.ApplyNumbered(w.event(kind, append(opts, from(5, pid))...), seq, w.rules)
	}
	send(1, event.TurnStart, native("input"))
	send(9, event.TurnStart, native("input"))
	if c := send(8, event.TurnEnd, native("agent_settled")); c.Stale == No || c.To != Running {
		t.Errorf("c = %+v, want c.Stale not empty and c.To = Running", c)
	}
	if c := send(10, event.TurnEnd, native("agent_settled")); c.To != Success {
		t.Errorf("c = %+v, want c.To = Success", c)
	}
	pid = 2 // taken up by another process, which counts from 1
	if c := send(1, event.TurnStart, native("input")); c.To != Running || c.Stale != No {
		t.Errorf(`c = %+v, want c.To = Running and c.Stale = ""`, c)
	}
}

// The late word of a call belongs to its turn and revives nothing.
func TestLateResultOfTheLastTurn(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"))
	w.send(event.ToolBefore, turn("p1"), edit("c1", "/src/app/a.go"))
	w.send(event.TurnEnd, turn("p1"))
	w.is(Success)
	w.send(event.ToolAfter, turn("p1"), edit("c1", "/src/app/a.go"))
	w.is(Success)
	if s := w.get(); len(s.Files) != 1 || s.Files[0] != "a.go" {
		t.Errorf(`s.Files = %q, want 1 of them and s.Files[0] = "a.go"`, s.Files)
	}
	w.send(event.ToolAfter, turn("p1"), edit("c2", "/src/app/b.go"), failing(), failure("disk full"))
	w.is(Failed)
	if s := w.get(); s.Turn.Result != ToolErrors || s.Turn.ExitCode != 1 || s.Errors[0].Text != "disk full" ||
		!s.Since.Equal(s.Turn.Ended) {
		t.Errorf(`s = %+v, want s.Turn.Result = ToolErrors, s.Turn.ExitCode = 1, s.Errors[0].Text = "disk full" and `+
			`s.Since.Equal(s.Turn.Ended)`, s)
	}
}

// A sibling of the call that is asked about is no answer.
func TestSiblingsOfAQuestion(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"))
	w.send(event.ToolBefore, turn("p1"), edit("c1", "/src/app/a"))
	w.send(event.ToolBefore, turn("p1"), shell("c2", "curl x"), at(w.now.Add(100*time.Millisecond)))
	w.now = w.now.Add(-10 * time.Second)
	asked := w.now
	w.send(event.PermissionRequest, turn("p1"), shell("", "curl x"), at(asked))
	w.send(event.ToolBefore, turn("p1"), edit("c3", "/src/app/b"), at(asked.Add(time.Second)))
	w.is(WaitingForYou)
	w.send(event.ToolAfter, turn("p1"), edit("c1", "/src/app/a"))
	w.is(WaitingForYou)
	w.send(event.ToolAfter, turn("p1"), shell("c2", "curl x"), gives(`{"stdout":"ok"}`))
	w.is(Running)
	// The next round is an answer, whatever became of the call.
	w.send(event.PermissionRequest, turn("p1"), shell("", "sudo x"))
	w.is(WaitingForYou)
	w.send(event.ToolBefore, turn("p1"), shell("c4", "ls"))
	w.is(Running)
}

// Two questions: it waits until both are answered, since the first.
func TestTwoQuestions(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"))
	w.send(event.PermissionRequest, by("a1", "x"), shell("", "one"))
	first := w.now
	w.send(event.PermissionRequest, by("a2", "x"), shell("", "two"))
	w.send(event.ToolAfter, by("a2", "x"), shell("k2", "two"))
	w.is(WaitingForYou)
	if !w.get().WaitingSince.Equal(first) {
		t.Errorf("w.get().WaitingSince = %+v, want w.get().WaitingSince.Equal(first)", w.get().WaitingSince)
	}
	w.send(event.SubagentStart, by("a1", "x"))
	w.send(event.SubagentEnd, by("a1", "x"))
	w.is(Running)
}

// The process of an open turn died and another took the session up.
func TestResumedElsewhere(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"), from(10, 1))
	w.send(event.SessionStart, detail("compact"), from(10, 1))
	w.is(Running)
	w.send(event.SessionStart, detail("resume"), from(11, 2))
	w.is(Idle)
	if s := w.get(); s.Turn.Result != Interrupted {
		t.Errorf("s.Turn = %+v, want s.Turn.Result = Interrupted", s.Turn)
	}
	if c := w.sessions.ProcessGone(10, 1, w.now); len(c) != 0 {
		t.Errorf("the old process still counts: %+v", c)
	}
}

func TestProcessGone(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"), from(10, 1))
	w.send(event.PermissionRequest, turn("p1"), shell("", "x"), from(10, 1))
	if c := w.sessions.ProcessGone(10, 99, w.now); len(c) != 0 {
		t.Fatalf("the number was used again: %+v", c)
	}
	c := w.sessions.ProcessGone(10, 1, w.now.Add(time.Second))
	if len(c) != 1 || !c[0].Ended || !c[0].TurnEnded || c[0].To != Failed || !c[0].Answered {
		t.Fatalf("c = %+v, want 1 of them, c[0].Ended, c[0].TurnEnded, c[0].To = Failed and c[0].Answered", c)
	}
	s := w.get()
	if !s.CutOff || s.LeavesAt().Sub(s.LastEvent) < LeaveAfter {
		t.Error("it leaves the list as if it had ended well")
	}
	if s.Live() || s.Turn.Result != Interrupted || s.Tool != "" || s.EndReason != "the process is gone" {
		t.Errorf(`s = %+v, want not s.Live(), s.Turn.Result = Interrupted, s.Tool = "" and s.EndReason = "the `+
			`process is gone"`, s)
	}
	if c := w.sessions.ProcessGone(10, 1, w.now.Add(2*time.Second)); len(c) != 0 {
		t.Error("it died twice")
	}
	// It did not say so, but it had finished.
	w = newWorld(t)
	w.send(event.TurnStart, from(10, 1))
	w.send(event.TurnEnd, from(10, 1))
	w.sessions.ProcessGone(10, 1, w.now)
	w.is(Success)
	// A resumed session lives again.
	w.send(event.SessionStart, detail("resume"), from(12, 1))
	if s := w.get(); !s.Live() || s.Status != Idle {
		t.Errorf("s = %+v, want s.Live() and s.Status = Idle", s)
	}
}

func TestTick(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart)
	if c := w.sessions.Tick(w.now.Add(DoubtAfter-time.Second), nil); len(c) != 0 {
		t.Errorf("c = %+v, want none", c)
	}
	if c := w.sessions.Tick(w.now.Add(DoubtAfter), func(*Session) Liveness { return Alive }); len(c) != 0 {
		t.Errorf("a living process is not doubted: %+v", c)
	}
	if c := w.sessions.Tick(w.now.Add(DoubtAfter), nil); len(c) != 1 || c[0].To != Unsure {
		t.Errorf("c = %+v, want 1 of them and c[0].To = Unsure", c)
	}
	w.send(event.ToolAfter, shell("c", "x"))
	w.is(Running)
	w.now = w.now.Add(LeaveAfter)
	if c := w.sessions.Tick(w.now, func(*Session) Liveness { return Alive }); len(c) != 0 || w.sessions.Len() != 1 {
		t.Errorf("c = %+v, want none and w.sessions.Len() = 1", c)
	}
	if c := w.sessions.Tick(w.now, func(*Session) Liveness { return Unknown }); len(c) != 1 || !c[0].Gone ||
		w.sessions.Len() != 0 {
		t.Errorf("c = %+v, want 1 of them, c[0].Gone and w.sessions.Len() = 0", c)
	}
	// Who waits for a person may wait for long.
	w.send(event.PermissionRequest, shell("", "x"))
	if c := w.sessions.Tick(w.now.Add(DoubtAfter), nil); len(c) != 0 {
		t.Errorf("w.sessions.Tick(w.now.Add(DoubtAfter), nil) = %+v, want none", c)
	}
	if c := w.sessions.Tick(w.now.Add(DoubtAfter), func(*Session) Liveness { return Gone }); len(c) != 1 || !c[0].Ended {
		t.Errorf("c = %+v, want 1 of them and c[0].Ended", c)
	}
}

func TestDecided(t *testing.T) {
	deny, allow := event.Decision{Verdict: event.Deny}, event.Decision{Verdict: event.Allow}
	w := newWorld(t)
	w.send(event.SessionStart)
	ev := w.event(event.TurnStart, turn("p1"))
	w.sessions.Apply(ev, w.rules)
	if c := w.sessions.ApplyDecision(ev, deny, w.now, w.rules); c.To != Idle || !c.TurnEnded {
		t.Errorf("a refused prompt begins no turn: %+v", c)
	}
	w.send(event.TurnStart, turn("p2"))
	ev = w.event(event.PermissionRequest, shell("", "x"), turn("p2"))
	w.sessions.Apply(ev, w.rules)
	if c := w.sessions.ApplyDecision(ev, event.Decision{}, w.now, w.rules); c.Any() {
		t.Errorf("no opinion answers nothing: %+v", c)
	}
	if c := w.sessions.ApplyDecision(ev, allow, w.now, w.rules); c.To != Running || !c.Answered {
		t.Errorf("c = %+v, want c.To = Running and c.Answered", c)
	}
	ev = w.event(event.ToolBefore, shell("c9", "x"), turn("p2"))
	w.sessions.Apply(ev, w.rules)
	if c := w.sessions.ApplyDecision(ev, deny, w.now, w.rules); c.Session.Tool != "" {
		t.Errorf("a refused call goes on: %q", c.Session.Tool)
	}
	ev = w.event(event.TurnEnd, turn("p2"))
	w.sessions.Apply(ev, w.rules)
	w.is(Success)
	if c := w.sessions.ApplyDecision(ev, event.Decision{KeepGoing: true, Reason: "tests"}, w.now, w.rules); c.To != Running {
		t.Errorf("kept going: %+v; want c.To == Running", c)
	}
	started := w.get().Turn.Started
	if c := w.send(event.TurnEnd, turn("p2"), goingOn(), message("Now.")); c.To != Success ||
		!c.Turn.Started.Equal(started) || c.Turn.Summary != "Now." {
		t.Errorf(`c.Turn = %+v, want c.To = Success, c.Turn.Started.Equal(started) and c.Turn.Summary = "Now."`, c.Turn)
	}
	if s := w.get(); !s.Since.Equal(s.Turn.Ended) {
		t.Errorf("since %s, ended %s; want s.Since.Equal(s.Turn.Ended)", s.Since, s.Turn.Ended)
	}
	w.rules.Off = true
	if c := w.sessions.ApplyDecision(ev, deny, w.now, w.rules); c.Any() {
		t.Errorf("c = %+v, want not c.Any()", c)
	}
}

// What a call did before its beginning arrived is not shown as going on.
func TestOvertakenBeginning(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"))
	w.send(event.ToolAfter, turn("p1"), shell("c1", "make"))
	w.send(event.ToolBefore, turn("p1"), shell("c1", "make"))
	if s := w.get(); s.Tool != "" || s.Turn.Tools != 1 {
		t.Errorf(`%q, %d tools; want s.Tool == "" and s.Turn.Tools == 1`, s.Tool, s.Turn.Tools)
	}
}

// The transcript knows more: exit codes, last words, answers.
func TestFactsFromTheTranscript(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"))
	w.send(event.ToolBefore, turn("p1"), shell("c1", "make"))
	w.send(event.PermissionRequest, turn("p1"), shell("", "make"))
	w.sessions.Answered(key, "c1", w.now.Add(time.Second))
	w.is(Running)
	w.send(event.TurnEnd, turn("p1"))
	w.is(Success)
	w.sessions.ToolFailed(key, Call{ID: "c1"}, Failure{At: w.now, Call: "c1", Exit: 3, Tool: "Bash: make", Text: "no rule"})
	w.sessions.ToolFailed(key, Call{ID: "c1"}, Failure{At: w.now, Call: "c1", Exit: 3})
	w.is(Failed)
	w.sessions.SetSummary(key, "<thinking>hm</thinking>It did\n not build.")
	if s := w.get(); s.Turn.Errors != 1 || s.Turn.Summary != "It did not build." || s.Errors[0].Exit != 3 {
		t.Errorf(`s.Turn = %+v, want s.Turn.Errors = 1, s.Turn.Summary = "It did not build." and s.Errors[0].Exit = 3`,
			s.Turn)
	}
	w.is(Success) // it had a last word
	if c := w.sessions.Interrupted(key, w.now.Add(time.Second)); c.To != Success || c.Stale == No {
		t.Errorf("c = %+v, want c.To = Success and c.Stale not empty", c)
	}
	w.send(event.TurnStart, turn("p2"))
	if c := w.sessions.Interrupted(key, w.now.Add(-time.Second)); c.To != Running {
		t.Error("an interrupt of the turn before stopped this one")
	}
	if c := w.sessions.TurnFinished(key, "p1", "", "", w.now); c.To != Running {
		t.Error("the end of the turn before ended this one")
	}
	if c := w.sessions.Interrupted(key, w.now); c.To != Idle || c.Turn.Result != Interrupted || c.Turn.ExitCode != 1 {
		t.Errorf("c = %+v, want c.To = Idle, c.Turn.Result = Interrupted and c.Turn.ExitCode = 1", c)
	}
}

func TestBounds(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("x", 16<<10)
	for i := range 300 {
		id := string(rune('a'+i%26)) + strings.Repeat("b", i/26)
		w.send(event.TurnStart, turn(id), prompt(long))
		w.send(event.ToolBefore, edit(id, "/src/app/"+id), by(id, "x"))
		w.send(event.PermissionRequest, shell("", id), by(id, "y"))
		w.send(event.ToolAfter, edit(id, "/src/app/"+id))
		w.send(event.ToolAfter, shell(id+"f", long), failing(), failure(long))
		w.send(event.TurnEnd, message(long))
	}
	s := w.get()
	b, err := json.Marshal(s)
	if err != nil || len(b) > 64<<10 {
		t.Errorf("%d bytes, %v; want no error and len(b) <= 64<<10", len(b), err)
	}
	if len(s.Turns) != MaxTurns || len(s.Files) != MaxFiles || len(s.Errors) != MaxErrors ||
		len(s.Subagents) != MaxSubagents || s.TurnCount != 300 {
		t.Errorf("len(s.Turns) = %d, len(s.Files) = %d, len(s.Errors) = %d, len(s.Subagents) = %d; want "+
			"len(s.Turns) = MaxTurns, len(s.Files) = MaxFiles, len(s.Errors) = MaxErrors, len(s.Subagents) = MaxSubagents and s.TurnCount = 300",
			len(s.Turns), len(s.Files), len(s.Errors), len(s.Subagents))
	}
}

// A session goes to JSON and back without loss, and goes on from there.
func TestStoredAndLoaded(t *testing.T) {
	for _, state := range states {
		w := newWorld(t)
		w.send(event.SessionStart, title("T"), from(7, 8))
		state.bring(w)
		w.sessions.Rename(key, "mine")
		before := w.get()
		for i := range before.Asks {
			before.Asks[i].Whole = "" // kept in memory only
		}
		for i := range before.Machine.Calls {
			before.Machine.Calls[i].Whole = ""
		}
		b, err := json.Marshal(before)
		if err != nil {
			t.Fatal(err)
		}
		var after Session
		if err := json.Unmarshal(b, &after); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(before, &after) {
			t.Errorf("state.status = %s, before = %+v, &after = %+v; want before = &after",
				state.status, before, &after)
		}
		again := NewSessions()
		again.Load([]*Session{&after, nil, {}}, w.now, func(*Session) Liveness { return Alive })
		if got, _ := again.Get(key); got.Status != before.Status || len(again.ByProcess(7, 8)) != len(w.sessions.ByProcess(7, 8)) {
			t.Errorf("%s: loaded as %s; want got.Status == before.Status and len(again.ByProcess(7, 8)) == "+
				"len(w.sessions.ByProcess(7, 8))", state.status, got.Status)
		}
		again = NewSessions()
		again.Load([]*Session{&after}, w.now, nil)
		got, _ := again.Get(key)
		if open := before.Turn.Open() || before.Waits(); open && got.Status != Unsure ||
			!open && got.Status != before.Status {
			t.Errorf("%s: unwatched, it is %s", before.Status, got.Status)
		}
		again.Load([]*Session{&after}, w.now, func(*Session) Liveness { return Gone })
		if got, _ := again.Get(key); got.Live() {
			t.Errorf("%s: lives on; want !got.Live()", before.Status)
		}
	}
}

// Values that were handed out never change.
func TestSnapshotsStay(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"))
	w.send(event.ToolBefore, edit("c1", "/src/app/a"))
	w.send(event.SubagentStart, by("a", "x"))
	w.send(event.PermissionRequest, shell("", "x"))
	snap := w.sessions.Snapshot()
	before, _ := json.Marshal(snap)
	w.send(event.ToolAfter, edit("c1", "/src/app/a"))
	w.send(event.ToolBefore, edit("c2", "/src/app/b"), by("a", "x"))
	w.send(event.ToolAfter, edit("c2", "/src/app/b"), by("a", "x"), failing())
	w.send(event.SubagentEnd, by("a", "x"))
	w.send(event.TurnEnd)
	w.send(event.SessionEnd)
	if after, _ := json.Marshal(snap); string(before) != string(after) {
		t.Errorf("before = %s, after = %s; want string(before) = %q", before, after, string(after))
	}
}

func TestForgetAndWaiting(t *testing.T) {
	w := newWorld(t)
	for i, id := range []string{"b", "a", "c"} {
		w.send(event.PermissionRequest, session(id), shell("", "x"), from(i+1, 1))
	}
	waiting := w.sessions.Waiting()
	if len(waiting) != 3 || waiting[0].ID != "b" || waiting[2].ID != "c" {
		t.Errorf(`waiting = %+v, want 3 of them, waiting[0].ID = "b" and waiting[2].ID = "c"`, waiting)
	}
	if c := w.sessions.Forget(Key{"claude", "b"}); !c.Gone || w.sessions.Len() != 2 || len(w.sessions.ByProcess(1, 1)) != 0 {
		t.Errorf("c = %+v, want c.Gone, w.sessions.Len() = 2 and len(w.sessions.ByProcess(1, 1)) = 0", c)
	}
	if c := w.sessions.Forget(Key{"claude", "b"}); c.Any() {
		t.Errorf("c = %+v, want not c.Any()", c)
	}
}

// An event that names no session is kept by its process, its terminal or its folder.
func TestWithoutASessionID(t *testing.T) {
	w := newWorld(t)
	nowhere := func(ev *event.Event) { ev.Cwd = "" }
	if c := w.send(event.TurnStart, session(""), nowhere); c.Any() || c.Stale == No {
		t.Errorf("c = %+v, want not c.Any() and c.Stale not empty", c)
	}
	if c := w.send(event.TurnStart, session("")); c.Key.ID != "dir:/src/app" || c.To != Running {
		t.Errorf(`c = %+v, want c.Key.ID = "dir:/src/app" and c.To = Running`, c)
	}
	atTerminal := func(ev *event.Event) { ev.Where.TTY = "/dev/pts/7" }
	if c := w.send(event.TurnStart, session(""), atTerminal); c.Key.ID != "tty:/dev/pts/7" || c.To != Running {
		t.Errorf(`c = %+v, want c.Key.ID = "tty:/dev/pts/7" and c.To = Running`, c)
	}
	c := w.send(event.TurnStart, session(""), from(77, 5))
	if c.Key.ID != "pid:77.5" || c.To != Running {
		t.Errorf(`c = %+v, want c.Key.ID = "pid:77.5" and c.To = Running`, c)
	}
}

// Nothing is known about the agent: kinds alone tell.
func TestWithoutRules(t *testing.T) {
	w := newWorld(t)
	w.rules = Rules{}
	w.send(event.TurnStart, native("x"))
	w.is(Running)
	w.send(event.UserAttention, native("y"))
	w.is(WaitingForYou)
	w.send(event.TurnEnd, native("z"))
	w.is(Success)
}

// A turn failed when its last call failed; one that went on after a failed call, or was only refused something, did
// not.
func TestHowATurnWent(t *testing.T) {
	denied := func(w *world, ev *event.Event) {
		w.sessions.ApplyDecision(ev, event.Decision{Verdict: event.Deny, Reason: "no"}, w.now, w.rules)
	}
	type step func(w *world)
	call := func(id string, failed bool) step {
		return func(w *world) {
			w.send(event.ToolBefore, turn("p1"), edit(id, "/src/app/a.go"))
			if failed {
				w.send(event.ToolAfter, turn("p1"), edit(id, "/src/app/a.go"), failing(), failure("exit 1"))
			} else {
				w.send(event.ToolAfter, turn("p1"), edit(id, "/src/app/a.go"))
			}
		}
	}
	refused := func(id string, reported bool) step {
		return func(w *world) {
			w.send(event.ToolBefore, turn("p1"), edit(id, "/src/app/a.go"))
			denied(w, w.event(event.ToolBefore, turn("p1"), edit(id, "/src/app/a.go")))
			if reported { // some agents report it as an error
				w.send(event.ToolAfter, turn("p1"), edit(id, "/src/app/a.go"), failing(), failure("hook error: no"))
			}
		}
	}
	for name, tt := range map[string]struct {
		steps          []step
		status         Status
		failed, denied int
		said           string
	}{
		"the last call failed, and it said so": {[]step{call("a", true)}, Success, 1, 0, "npm fails, as you said."},
		"all well":                             {[]step{call("a", false)}, Success, 0, 0, ""},
		"the last call failed":                 {[]step{call("a", false), call("b", true)}, Failed, 1, 0, ""},
		"it went on after a failure":           {[]step{call("a", true), call("b", false)}, Success, 1, 0, ""},
		"refused":                              {[]step{refused("a", false)}, Success, 0, 1, ""},
		"refused, told as an error":            {[]step{refused("a", true), refused("b", true)}, Success, 0, 2, ""},
		"failed, then refused":                 {[]step{call("a", true), refused("b", true)}, Success, 1, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.send(event.TurnStart, turn("p1"))
			for _, s := range tt.steps {
				s(w)
			}
			w.send(event.TurnEnd, turn("p1"), message(tt.said))
			got := w.get()
			if got.Status != tt.status || got.Turn.Errors != tt.failed || got.Turn.Denied != tt.denied {
				t.Errorf("got %s with %d failed and %d denied, want %s with %d and %d",
					got.Status, got.Turn.Errors, got.Turn.Denied, tt.status, tt.failed, tt.denied)
			}
		})
	}
}

// A call that the user refused at the agent's own prompt is no failure, also when its end was heard of as one before.
func TestDeniedInTheWindow(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"))
	w.send(event.ToolBefore, turn("p1"), edit("a", "/src/app/a.go"))
	w.send(event.ToolAfter, turn("p1"), edit("a", "/src/app/a.go"), failing(), failure("the user said no"))
	w.send(event.TurnEnd, turn("p1"))
	w.is(Failed)
	w.sessions.CallDenied(w.get().Key, Call{ID: "a"}, w.now)
	w.is(Success)
	w.sessions.CallDenied(w.get().Key, Call{ID: "a"}, w.now)
	if got := w.get(); got.Turn.Errors != 0 || got.Turn.Denied != 1 || len(got.Errors) != 0 || got.Turn.ExitCode != 0 {
		t.Errorf("got %d failed, %d denied, errors %v, exit code %d; want 0, 1, none, 0", got.Turn.Errors,
			got.Turn.Denied, got.Errors, got.Turn.ExitCode)
	}
}

// OpenCode reports a call that the user refused in its window as an error, and the refusal before that.
func TestRefusedInTheWindow(t *testing.T) {
	w := newWorld(t)
	w.rules = rulesOf(t, "opencode")
	w.send(event.TurnStart, native("chat.message"))
	w.send(event.ToolBefore, native("tool.execute.before"), shell("c1", "sudo ls"))
	w.send(event.PermissionRequest, native("permission.asked"), shell("", "sudo ls"))
	w.is(WaitingForYou)
	w.send(event.PermissionResolved, native("permission.replied"), detail("reject"))
	w.is(Running)
	w.send(event.ToolAfter, native("message.part.updated"), shell("c1", "sudo ls"), failing(), failure("rejected"))
	w.send(event.TurnEnd, native("session.idle"))
	w.is(Success)
	if got := w.get().Turn; got.Errors != 0 || got.Denied != 1 {
		t.Errorf("got %d failed, %d denied; want 0, 1", got.Errors, got.Denied)
	}
}

// Gemini ends a turn whose model could not be asked as any other: with a text that
// stands for none. Its transcript says what went wrong, or that the user stopped it.
func TestGeminiWithoutAnAnswer(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		w := newWorld(t)
		w.rules = rulesOf(t, "gemini")
		w.send(event.TurnStart, native("BeforeAgent"))
		w.send(event.TurnEnd, native("AfterAgent"), message("[no response text]"))
		w.is(Failed)
		if got := w.get().Turn; got.Result != APIError || got.Summary != "" {
			t.Errorf("the turn is %+v, want an API error without words", got)
		}
		if stopped {
			w.sessions.Interrupted(w.get().Key, w.get().Turn.Ended.Add(-time.Millisecond))
			w.is(Idle)
			continue
		}
		w.sessions.TurnFinished(w.get().Key, "", APIError, "[API Error: 400]", w.now.Add(time.Millisecond))
		if got := w.get().Turn; got.Error != "[API Error: 400]" {
			t.Errorf("the error is %q, want what the transcript says", got.Error)
		}
	}
}

// What the transcript says about a turn's failure counts also when its end was reported
// a moment before as if all had gone well.
func TestFailureToldAfterTheEnd(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"))
	w.send(event.TurnEnd, turn("p1"))
	w.is(Success)
	w.sessions.TurnFinished(w.get().Key, "", APIError, "overloaded", w.now.Add(time.Second))
	w.is(Failed)
}
