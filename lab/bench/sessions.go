//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/transcript"
)

// sessions measures what one event costs the status machine with ten live sessions and
// with ten thousand, and what reading a record of 1 MB and of 500 MB costs, in CPU
// time, by turns.
func (b *bench) sessions(ctx context.Context) error {
	few, many := newBusySessions(10), newBusySessions(10000)
	if err := b.compare(ctx, "event, 10,000 live sessions : 10", few.event, many.event, 2000); err != nil {
		return err
	}
	small, err := newRecord(b.temp, 1<<20)
	if err != nil {
		return err
	}
	large, err := newRecord(b.temp, 500<<20)
	if err != nil {
		return err
	}
	if err := b.compare(ctx, "record that grew, 500 MB : 1 MB", small.grow, large.grow, 500); err != nil {
		return err
	}
	return b.compare(ctx, "record first seen, 500 MB : 1 MB", small.first, large.first, 5)
}

// compare measures the cpu of both in turn and holds the median of the ratios
// against the bar.
func (b *bench) compare(ctx context.Context, name string, reference, measured func() error, times int) error {
	var ratios []float64
	for range 21 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		ref, err := spent(reference, times)
		if err != nil {
			return err
		}
		own, err := spent(measured, times)
		if err != nil {
			return err
		}
		if ref > 0 {
			ratios = append(ratios, own/ref)
		}
	}
	if len(ratios) == 0 {
		return fmt.Errorf("%s: too quick to measure", name)
	}
	slices.Sort(ratios)
	b.table.atMost("sessions: "+name, ratios[len(ratios)/2], 1.5, "×")
	return nil
}

// spent returns the cpu this process needs to do something some times, in seconds.
func spent(do func() error, times int) (float64, error) {
	before := ownCPU()
	for range times {
		if err := do(); err != nil {
			return 0, err
		}
	}
	return (ownCPU() - before).Seconds(), nil
}

// busySessions are many sessions that work.
type busySessions struct {
	sessions *state.Sessions
	rules    state.Rules
	ids      []string
	n        int
	now      time.Time
}

func newBusySessions(size int) *busySessions {
	a, _ := agent.Builtin().Agent("claude")
	c := &busySessions{sessions: state.NewSessions(), rules: state.Rules{Spec: &a.Status}, now: time.Unix(1e9, 0)}
	for i := range size {
		c.ids = append(c.ids, fmt.Sprintf("session-%d", i))
	}
	for range 10 * size {
		_ = c.event() // cannot fail
	}
	return c
}

// event returns one event of the next session: prompts, calls and ends in turn.
func (c *busySessions) event() error {
	id := c.ids[c.n%len(c.ids)]
	step := c.n / len(c.ids) % 10
	c.n++
	c.now = c.now.Add(time.Millisecond)
	ev := event.Event{Agent: "claude", Session: id, Time: c.now, Turn: fmt.Sprint("p", c.n/len(c.ids)/10),
		Cwd: "/src/app", Where: event.Place{PID: 7, Start: 1}}
	switch step {
	case 0:
		ev.Native, ev.Kind, ev.Prompt = "UserPromptSubmit", event.TurnStart, "Fix the build"
	case 9:
		ev.Native, ev.Kind, ev.Message = "Stop", event.TurnEnd, "Done."
	default:
		ev.Native, ev.Kind = "PreToolUse", event.ToolBefore
		if step%2 == 0 {
			ev.Native, ev.Kind = "PostToolUse", event.ToolAfter
		}
		ev.Tool = &event.Tool{Name: "Bash", Kind: event.Shell, CallID: fmt.Sprint("c", (step+1)/2),
			Commands: []string{"go test ./..."}, Input: []byte(`{"command":"go test ./..."}`)}
	}
	if change := c.sessions.ApplyNumbered(&ev, 0, c.rules); !change.Any() {
		return fmt.Errorf("an event was not taken: %s", change.Stale)
	}
	return nil
}

// record is a transcript of a given size; between its beginning and its end is a hole.
type record struct {
	spec   *agent.TranscriptSpec
	env    transcript.Env
	path   string
	file   *os.File
	reader *transcript.Reader
}

func newRecord(temp string, size int64) (*record, error) {
	a, _ := agent.Builtin().Agent("claude")
	home, err := os.MkdirTemp(temp, "record-")
	if err != nil {
		return nil, err
	}
	r := &record{spec: &a.Status.Transcript, env: transcript.Env{Home: home},
		path: filepath.Join(home, ".claude", "projects", "-p", "s1.jsonl")}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return nil, err
	}
	if r.file, err = os.OpenFile(r.path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	row := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` +
		strings.Repeat("y", 500) + `"}]}}` + "\n"
	body := []byte("\n" + strings.Repeat(row, 400<<10/len(row)))
	for _, at := range []int64{0, size - int64(len(body))} {
		if _, err := r.file.WriteAt(body, at); err != nil {
			return nil, err
		}
	}
	return r, r.first()
}

// first looks at the record as if it had never been seen.
func (r *record) first() error {
	var err error
	if r.reader, err = transcript.Open(r.spec, "s1", r.path, r.env); err != nil {
		return err
	}
	facts, err := r.reader.Read()
	if err == nil && len(facts) == 0 {
		err = fmt.Errorf("%s: nothing was read", r.path)
	}
	return err
}

// grow adds a row and looks at what is new.
func (r *record) grow() error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	if _, err := r.file.WriteAt([]byte(`{"type":"assistant","message":{"role":"assistant","content":"more"}}`+"\n"),
		info.Size()); err != nil {
		return err
	}
	facts, err := r.reader.Read()
	if err == nil && len(facts) != 1 {
		err = fmt.Errorf("%s: %d facts of one row", r.path, len(facts))
	}
	return err
}
