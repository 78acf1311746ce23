package usage

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/wire"
)

// An agent that writes to its own records, in whatever way, never lowers what any budget
// counts, and after each edit the session's whole usage is counted or its budgets ask.
func TestRandomEditsNeverLowerSpend(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 36))
			w := newWorld(t)
			e := &editor{world: w, r: r, path: filepath.Join(w.home, ".claude/projects/p/s.jsonl")}
			e.follow()
			w.write(".claude/projects/p/s.jsonl")
			e.call(-1)
			e.look() // what no look ever saw can't be missed
			var least budget.Spend
			for step := range 40 {
				e.call(step)
				if r.IntN(3) == 0 {
					e.edit(r.IntN(len(edits)))
				}
				e.look()
				got := e.ledger.InSession("claude", "s")
				if got.Tokens < least.Tokens || got.Dollars < least.Dollars-1e-9 || got.Unpriced < least.Unpriced {
					t.Fatalf("step %d, after %v: the session went from %+v to %+v", step, e.done, least, got)
				}
				for what, sum := range map[string]budget.Spend{"the day": e.ledger.Today("", ""), "the project": e.ledger.Today("", "/p"),
					"the agent": e.ledger.Today("claude", "")} {
					if sum.Tokens < got.Tokens || sum.Dollars < got.Dollars-1e-9 {
						t.Fatalf("step %d, after %v: %s has %+v, its session %+v", step, e.done, what, sum, got)
					}
				}
				if got.Tokens < e.used && got.Doubt == "" {
					t.Fatalf("step %d, after %v: %d tokens are counted, %d were used, and nothing doubts it", step, e.done, got.Tokens, e.used)
				}
				least = got
				if r.IntN(10) == 0 {
					w.reopen()
					e.follow()
				}
			}
		})
	}
}

// editor is an agent that writes to its own records.
type editor struct {
	*world
	r      *rand.Rand
	path   string
	ledger *ledger
	used   int64
	done   []string
}

// follow starts the followers, as the daemon does.
func (e *editor) follow() {
	e.ledger = newLedger(time.Now, BuiltinPrices)
	if err := e.ledger.load(e.t.Context(), e.store); err != nil {
		e.t.Fatal(err)
	}
	e.ledger.setKnown(false)
	e.scanner.changed, e.scanner.rewritten = e.ledger.note, e.ledger.noteRewritten
	e.scanner.tellEarlier()
}

// look is a look of the daemon's, and the next after a write is over.
func (e *editor) look() {
	e.t.Helper()
	session := wire.Session{Agent: "claude", ID: "s", Cwd: "/p", Transcript: e.path}
	for range 2 {
		e.scanner.lookFor(&session)
		if err := e.scanner.Scan(context.Background(), []string{}, map[string][]string{"claude": {filepath.Dir(e.path)}}); err != nil {
			e.t.Fatal(err)
		}
		if info, err := os.Stat(e.path); err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) < writeWithin {
			// As if the write was long ago: what a test can't wait for.
			at := time.Now().Add(-writeWithin - time.Second + time.Duration(len(e.done))*time.Millisecond)
			if p := e.scanner.positions[e.path]; p != nil && p.Size == info.Size() && p.Mtime != info.ModTime().UnixNano() {
				_ = os.Chtimes(e.path, at, at)
			}
		}
	}
}

// call is one model call of the agent's, as it writes it down.
func (e *editor) call(n int) {
	in, out := 1+e.r.IntN(5000), 1+e.r.IntN(500)
	line := nowMessage(fmt.Sprint("m", n), in, out) + "\n"
	f, err := os.OpenFile(e.path, os.O_APPEND|os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return // it can't write it down, either: the agent shows an error
	}
	defer f.Close()
	if _, err := f.WriteString(line); err == nil {
		e.used += int64(in + out)
	}
}

// edits are ways to write to a record. before says that it's done while the follower
// hasn't read the last line.
var edits = []struct {
	name   string
	before bool
	do     func(e *editor, lines []string)
}{
	{"removes the record", true, func(e *editor, _ []string) { os.RemoveAll(e.path) }},
	{"empties it", true, func(e *editor, _ []string) { os.Truncate(e.path, 0) }},
	{"cuts the last line", true, func(e *editor, lines []string) { e.inPlace(lines[:max(0, len(lines)-1)]) }},
	{"replaces it, without its last line", true, func(e *editor, lines []string) { e.replace(lines[:max(0, len(lines)-1)]) }},
	{"removes a line", false, func(e *editor, lines []string) {
		if len(lines) > 0 {
			at := e.r.IntN(len(lines))
			e.inPlace(slices.Delete(slices.Clone(lines), at, at+1))
		}
	}},
	{"makes a number smaller", false, func(e *editor, lines []string) {
		e.inPlace(strings.SplitAfter(strings.NewReplacer(`"input_tokens":`, `"input_tokens":0,"x":`).Replace(strings.Join(lines, "")), "\n"))
	}},
	{"names another model", false, func(e *editor, lines []string) {
		e.inPlace(strings.SplitAfter(strings.ReplaceAll(strings.Join(lines, ""), "claude-opus-4-6", "claude-haiku-5-5"), "\n"))
	}},
	{"names another session and project", false, func(e *editor, lines []string) {
		e.inPlace(strings.SplitAfter(strings.NewReplacer(`"s"`, `"t"`, `"/p"`, `"/q"`).Replace(strings.Join(lines, "")), "\n"))
	}},
	{"names another day", false, func(e *editor, lines []string) {
		e.inPlace(strings.SplitAfter(strings.ReplaceAll(strings.Join(lines, ""), time.Now().UTC().Format("2006-01-02"), "2026-01-01"), "\n"))
	}},
	{"adds something without an end", false, func(e *editor, _ []string) {
		e.append([]string{"x", "{", `{"a":"`, `{"type":"assistant"}`, `[1,2`, `{"message":{"usage":{`, "\x00\x00"}[e.r.IntN(7)])
	}},
	{"adds a copy that is a side chain", false, func(e *editor, lines []string) {
		if len(lines) > 0 {
			e.append(strings.Replace(lines[len(lines)-1], `{"type"`, `{"isSidechain":true,"type"`, 1))
		}
	}},
	{"moves it behind a link", true, func(e *editor, _ []string) {
		to := filepath.Join(e.home, fmt.Sprint("moved", len(e.done)))
		if os.Rename(e.path, to) == nil {
			_ = os.Symlink(to, e.path)
		}
	}},
	{"puts a folder there", true, func(e *editor, _ []string) {
		os.RemoveAll(e.path)
		_ = os.Mkdir(e.path, 0o700)
	}},
	{"puts a pipe there", true, func(e *editor, _ []string) {
		os.RemoveAll(e.path)
		_ = syscall.Mkfifo(e.path, 0o600)
	}},
	{"puts a link to itself there", true, func(e *editor, _ []string) {
		os.RemoveAll(e.path)
		_ = os.Symlink(e.path, e.path)
	}},
	{"makes a hole", false, func(e *editor, _ []string) {
		if info, err := os.Stat(e.path); err == nil && info.Mode().IsRegular() {
			_ = os.Truncate(e.path, info.Size()+maxLine+(1<<20))
		}
	}},
	{"touches it", false, func(e *editor, _ []string) { _ = os.Chtimes(e.path, time.Now(), time.Now()) }},
}

func (e *editor) edit(n int) {
	one := edits[n]
	if !one.before {
		e.look()
	}
	data, _ := readRegular(e.path)
	if len(data) > maxLine {
		return // it has a hole already
	}
	e.done = append(e.done, one.name)
	one.do(e, slices.DeleteFunc(strings.SplitAfter(string(data), "\n"), func(s string) bool { return s == "" }))
}

func readRegular(path string) ([]byte, error) {
	if err := tryRecord(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

func (e *editor) append(text string) {
	if f, err := os.OpenFile(e.path, os.O_APPEND|os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		defer f.Close()
		_, _ = f.WriteString(text)
	}
}

// inPlace writes into the same file, and then cuts it.
func (e *editor) inPlace(lines []string) {
	text := strings.Join(lines, "")
	if f, err := os.OpenFile(e.path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		defer f.Close()
		_, _ = f.WriteString(text)
		_ = f.Truncate(int64(len(text)))
	}
}

func (e *editor) replace(lines []string) {
	if os.WriteFile(e.path+".new", []byte(strings.Join(lines, "")), 0o600) == nil {
		_ = os.Rename(e.path+".new", e.path)
	}
}

// Something without an end in front of a record doesn't hide it, and a line that can't be
// read at all makes budgets ask.
func TestLinesThatAreSpoilt(t *testing.T) {
	const file = ".claude/projects/p/s.jsonl"
	for spoilt, doubt := range map[string]bool{
		"x": false, "{": false, `{"a":"`: false, `{"type":"assistant","message":{"usage":{}}}`: false, "\x00": false,
		message("m", "r", "", 1000, 500): false, `{"a":{"b":1}} `: false,
		strings.Repeat(`{"`, maxRepairs+1): true,
	} {
		w := newWorld(t)
		w.write(file, message("m", "r", "", 1000, 500))
		l := newLedger(time.Now, BuiltinPrices)
		w.scanner.rewritten = l.noteRewritten
		w.scan()
		w.add(file, spoilt)
		w.scan()
		w.add(file, message("n", "q", "", 7, 1)+"\n")
		w.scan()
		want := Tokens{Input: 1007, Output: 501}
		if doubt {
			want = Tokens{Input: 1000, Output: 500}
		}
		w.wants(cmp.Or(spoilt, "nothing"), want)
		if got := l.InSession("claude", "s").Doubt; (got != "") != doubt {
			t.Errorf("%.40q: doubt %q", spoilt, got)
		}
	}
}

// Numbers that are none count as nothing, and make budgets ask.
func TestNumbersThatAreNone(t *testing.T) {
	const file = ".claude/projects/p/s.jsonl"
	for value, doubt := range map[string]bool{`"100000"`: true, "1000000000000000": true, "-5": true, "[1]": true, "{}": true, "true": true,
		"null": false, "0": false, "1.5e3": false} {
		w := newWorld(t)
		l := newLedger(time.Now, BuiltinPrices)
		w.scanner.rewritten = l.noteRewritten
		w.write(file, strings.Replace(message("m", "r", "", 0, 7), `"input_tokens":0`, `"input_tokens":`+value, 1))
		w.scan()
		if got := l.InSession("claude", "s").Doubt; (got != "") != doubt {
			t.Errorf("%s: doubt %q", value, got)
		}
	}
}

// A turn whose calls came without a record is doubted when the next begins: no call comes
// without an answer of the model's.
func TestTurnsWithoutARecord(t *testing.T) {
	for name, one := range map[string]struct {
		calls, records int
		looked         bool
		want           bool
	}{
		"no record": {2, 0, true, true}, "no call": {0, 0, true, false}, "recorded": {2, 1, true, false},
		"not looked at yet": {2, 0, false, false},
	} {
		now := time.Now()
		l := newLedger(func() time.Time { return now }, BuiltinPrices)
		l.setKnown(false)
		note := func(kind event.Kind) { l.NoteEvent(&event.Event{Kind: kind, Agent: "claude", Session: "s"}) }
		note(event.TurnStart)
		for range one.calls {
			note(event.ToolBefore)
		}
		for range one.records {
			l.note(nil, &Call{Agent: "claude", Session: "s", At: now, Tokens: Tokens{Input: 1}})
		}
		now = now.Add(turnSettles + time.Second)
		if one.looked {
			l.setLooking(true)
			l.setLooking(false)
		}
		note(event.TurnStart)
		if got := l.InSession("claude", "s").Doubt != ""; got != one.want {
			t.Errorf("%s: doubted %v, want %v", name, got, one.want)
		}
	}
}
