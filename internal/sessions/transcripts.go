package hub

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/jsonscan"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/transcript"
)

// tails follows what agents write down about sessions in which something goes
// on: that a person pressed Esc, how a command ended, what the session is
// called. It belongs to the keeper's goroutine.
//
// Records are looked at by the clock, a bounded number at a time: a watch on
// every store would cost more than a look at the few records of running turns,
// and does not exist on every file system.
type tails struct {
	s     *sessions
	all   map[state.Key]*tail
	ring  []*tail // in the order they are looked at
	timer *time.Timer
	set   bool
}

type tail struct {
	key    state.Key
	reader *transcript.Reader
	warned bool                       // it was logged that it must not be read
	tried  time.Time                  // when opening it was last tried
	until  time.Time                  // looked at until then though no turn is open
	calls  map[string]transcript.Fact // nil while there are none
	ended  *heldEnd
	said   string // the agent's last words
}

// heldEnd is the end of a turn that a hook should report as well: it knows
// more, so it gets a moment's start.
type heldEnd struct {
	fact transcript.Fact
	seen time.Time
}

const (
	tailEvery = 250 * time.Millisecond
	// tailAtOnce bounds the records of one look.
	tailAtOnce = 64
	// tailRetry is how long a record that could not be opened is left alone.
	tailRetry = 5 * time.Second
	// tailAfter is how long a record is looked at once its turn is over: its
	// title and last words come late.
	tailAfter = 10 * time.Second
	hookFirst = time.Second
	keepCalls = 64
)

func newTails(s *sessions) *tails {
	t := &tails{s: s, all: map[state.Key]*tail{}, timer: time.NewTimer(time.Hour)}
	t.timer.Stop()
	return t
}

// ready fires when it is time for a look.
func (t *tails) ready() <-chan time.Time { return t.timer.C }

// see follows a session's record while there is something to learn from it.
func (t *tails) see(one *state.Session, moved bool) {
	rules := t.s.rulesOf(one.Agent)
	if rules.Spec == nil || rules.Spec.Transcript.Format == "" {
		return
	}
	known := t.all[one.Key]
	if known == nil {
		if !moved && !one.Turn.Open() {
			return
		}
		known = &tail{key: one.Key}
		t.all[one.Key] = known
		t.ring = append(t.ring, known)
	}
	if moved || one.Turn.Open() {
		known.until = time.Now().Add(tailAfter)
	}
	t.arm()
}

func (t *tails) arm() {
	if !t.set && len(t.ring) > 0 {
		t.set = true
		t.timer.Reset(tailEvery)
	}
}

func (t *tails) drop(key state.Key) { delete(t.all, key) } // the ring finds out

// look reads what was added to the next few records.
func (t *tails) look(ctx context.Context) {
	t.set = false
	now := time.Now()
	// Those that are over leave at once, however many there are: only reading
	// costs.
	for round, reads := len(t.ring), 0; round > 0 && reads < tailAtOnce; round-- {
		one := t.ring[0]
		t.ring[0], t.ring = nil, t.ring[1:]
		overview, ok := t.s.book.Overview(one.key)
		if !ok || t.all[one.key] != one || now.After(one.until) && !overview.Open {
			if t.all[one.key] == one {
				delete(t.all, one.key)
			}
			continue
		}
		t.ring = append(t.ring, one)
		reads++
		if ctx.Err() == nil {
			t.read(one, overview, now)
		}
	}
	t.arm()
}

// read looks at one record. The session itself is asked for only when there is
// something to do: most are silent, and asleep.
func (t *tails) read(one *tail, overview state.Overview, now time.Time) {
	rules := t.s.rulesOf(one.key.Agent)
	if one.reader == nil {
		if now.Sub(one.tried) < tailRetry && !one.tried.IsZero() {
			return
		}
		one.tried = now
		reader, err := transcript.Open(&rules.Spec.Transcript, one.key.ID, strings.Clone(overview.Transcript), transcript.Env{Home: t.s.deps.Dirs.Home, Getenv: t.s.environOf(&overview)})
		if err != nil {
			if errors.Is(err, transcript.ErrOutside) && !one.warned {
				one.warned = true
				t.s.deps.Log.Warn("a transcript is not read", "session", one.key.String(), "error", err)
			}
			return
		}
		one.reader = reader
	}
	facts, err := one.reader.Read()
	if err != nil {
		return // it may not be there yet
	}
	if len(facts) > 0 {
		session, ok := t.s.book.Get(one.key)
		if !ok {
			return
		}
		for _, f := range facts {
			t.tell(one, session, rules, f, now)
		}
	}
	if one.ended != nil && now.Sub(one.ended.seen) >= hookFirst {
		f := one.ended.fact
		one.ended = nil
		result := state.Result("")
		if f.Failed {
			result = state.APIError
		}
		t.apply(t.s.book.TurnFinished(one.key, f.Turn, result, one.said, at(f, now)))
	}
	if one.said == "" {
		return
	}
	if session, ok := t.s.book.Get(one.key); ok && session.Turn != nil && !session.Turn.Open() && session.Turn.Summary == "" {
		t.apply(t.s.book.SetSummary(one.key, one.said))
	}
}

func at(f transcript.Fact, now time.Time) time.Time {
	if f.At.IsZero() {
		return now
	}
	return f.At
}

// apply notes a change, unless it was none.
func (t *tails) apply(c state.Change) {
	if c.Stale == "" {
		t.s.note(c)
	}
}

// tell gives one fact to the book.
func (t *tails) tell(one *tail, session *state.Session, rules state.Rules, f transcript.Fact, now time.Time) {
	// What stood there before anybody looked is news only with a time that
	// says so.
	old := f.Early || f.First && f.At.IsZero()
	switch f.Kind {
	case transcript.Title:
		if c := t.s.book.TitleSeen(one.key, f.Source, f.Text, rules); c.Title {
			t.s.note(c)
		}
	case transcript.Prompt:
		one.said = ""
		if c := t.s.book.TitleSeen(one.key, agent.TitlePrompt, state.PromptTitle(f.Text), rules); c.Title {
			t.s.note(c)
		}
	case transcript.Message:
		if !f.Early {
			one.said = f.Text
		}
	case transcript.TurnStarted:
		one.ended, one.said = nil, ""
	case transcript.Interrupted:
		if !old && !rules.Off {
			one.ended = nil
			t.apply(t.s.book.Interrupted(one.key, at(f, now)))
		}
	case transcript.TurnEnded:
		if !old && !rules.Off {
			one.ended = &heldEnd{f, now}
		}
	case transcript.CallBegan:
		if one.calls == nil || len(one.calls) > keepCalls {
			one.calls = map[string]transcript.Fact{}
		}
		one.calls[f.Call] = f
	case transcript.CallEnded:
		if old || rules.Off {
			return
		}
		if failure, failed := failureOf(f, one.calls[f.Call], session.Cwd, at(f, now)); failed {
			t.apply(t.s.book.ToolFailed(one.key, failure))
		}
		if delete(one.calls, f.Call); len(one.calls) == 0 {
			one.calls = nil
		}
		t.answered(one.key, f, now)
	case transcript.Decided:
		if !old && !rules.Off {
			t.answered(one.key, f, now)
		}
	}
}

// answered: a call that has a result, or a decision, waits for nobody.
func (t *tails) answered(key state.Key, f transcript.Fact, now time.Time) {
	session, ok := t.s.book.Get(key)
	if !ok || f.Call == "" || !slices.ContainsFunc(session.Asks, func(a state.Ask) bool { return a.Call == f.Call }) {
		return
	}
	t.apply(t.s.book.Answered(key, f.Call, at(f, now)))
}

// failureOf judges a call's end as the status machine judges an event's: a
// search that found nothing did not fail.
func failureOf(f, began transcript.Fact, cwd string, when time.Time) (state.Failure, bool) {
	if !f.Failed && f.Exit == 0 || f.Denied {
		return state.Failure{}, false
	}
	tool := &event.Tool{Name: f.Tool, CallID: f.Call, Kind: event.Shell, Failed: f.Failed}
	if tool.Name == "" {
		tool.Name = began.Tool
	}
	input := f.Input
	if len(input) == 0 {
		input = began.Input
	}
	tool.Input = input
	tool.Commands = commandsIn(input)
	if len(tool.Commands) == 0 {
		tool.Kind = event.OtherTool
	}
	if f.Exit != 0 {
		tool.Output, _ = json.Marshal(map[string]int{"exit_code": f.Exit})
	}
	failed, text, exit := state.Failing(&event.Event{Tool: tool, Error: f.Text})
	if !failed {
		return state.Failure{}, false
	}
	return state.Failure{At: when, Tool: state.Label(tool, cwd), Text: text, Exit: exit, Call: f.Call}, true
}

// commandsIn finds the command line in a call's input.
func commandsIn(input []byte) []string {
	for _, key := range []string{"command", "cmd"} {
		value := jsonscan.Get(input, key)
		if s, ok := jsonscan.String(value); ok && s != "" {
			return []string{s}
		}
		var words []string
		if json.Unmarshal(value, &words) == nil && len(words) > 0 {
			if n := len(words); n > 2 && strings.HasSuffix(words[n-2], "c") { // sh -lc "…"
				return words[n-1:]
			}
			return []string{strings.Join(words, " ")}
		}
	}
	return nil
}

// environOf looks variables of a session's process up, for the place of its
// store. Nothing of it is kept.
func (s *sessions) environOf(one *state.Overview) func(string) string {
	var environ []string
	if key := (processKey{one.PID, one.Start}); key.pid > 0 && !one.Shared && lifeOf(s.deps.Processes, key) == state.Alive {
		environ, _ = s.deps.Processes.Environ(key.pid)
	}
	return lookupList(environ)
}
