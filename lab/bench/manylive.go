//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

const (
	fewSessions  = 10
	manySessions = 1_900 // the daemon keeps 2,000 at most
	smallRecord  = 1 << 20
	largeRecord  = 500 << 20
)

// manyLiveSessions measures whether one event costs the same however many sessions are
// live, and however large the session's transcript is.
func (b *bench) manyLiveSessions(ctx context.Context) error {
	cost := func(name string, live int, record int64) (float64, error) {
		// Below an agent the real daemon shows who measures none of them.
		p, err := b.startDaemonProgram(ctx, name, b.tools+"/inboxdaemon", nil)
		if err != nil {
			return 0, err
		}
		defer p.stop()
		l, err := b.newLoad(ctx, p)
		if err != nil {
			return 0, err
		}
		one := &oneSession{l: l, p: p}
		if record > 0 {
			if one.record, err = p.transcript(record); err != nil {
				return 0, err
			}
		}
		if err := one.fill(live); err != nil {
			return 0, err
		}
		if err := p.listed(ctx, live); err != nil {
			return 0, err
		}
		return one.perEvent(ctx)
	}
	if err := b.build(ctx, "inboxdaemon", "./lab/bench/inboxdaemon"); err != nil {
		return err
	}
	var few, many, small, large []float64
	for i := range 3 {
		for _, c := range []struct {
			into   *[]float64
			name   string
			live   int
			record int64
		}{
			{&few, "crowd-few", fewSessions, 0}, {&many, "crowd-many", manySessions, 0},
			{&small, "crowd-small", fewSessions, smallRecord}, {&large, "crowd-large", fewSessions, largeRecord},
		} {
			v, err := cost(fmt.Sprintf("%s-%d", c.name, i), c.live, c.record)
			if err != nil {
				return err
			}
			*c.into = append(*c.into, v)
		}
	}
	b.table.note("crowd: cpu of the daemon per event, 10 live", median(few), "µs")
	b.table.note("crowd: cpu of the daemon per event, 1 MB transcript", median(small), "µs")
	b.table.atMost("crowd: 1,900 ÷ 10 live sessions, cpu", median(many)/median(few), 1.5, "×")
	b.table.atMost("crowd: 500 MB ÷ 1 MB of transcript, cpu", median(large)/median(small), 1.5, "×")
	return nil
}

// oneSession makes events of one session among many.
type oneSession struct {
	l      *load
	p      *place
	record string
}

func (o *oneSession) call(w *worker, event, session string, more map[string]any) error {
	fields := map[string]any{"session_id": session, "cwd": o.l.mix.cwd, "hook_event_name": event}
	if o.record != "" {
		fields["transcript_path"] = o.record
	}
	for k, v := range more {
		fields[k] = v
	}
	payload, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return w.call(&frame.Request{
		ID: frame.NewID(), Agent: "claude", Event: event, Deadline: 570 * time.Second, Cwd: o.l.mix.cwd,
		Version: o.l.mix.version,
		Payload: payload, Env: o.l.mix.env,
	})
}

// fill creates sessions in which a turn is running.
func (o *oneSession) fill(live int) error {
	w := worker{target: toDaemon(o.p), answer: make([]byte, 64<<10)}
	for i := range live {
		if err := o.call(&w, "UserPromptSubmit", sessionName(uint64(i)),
			map[string]any{"prompt": "go on"}); err != nil {
			return err
		}
	}
	return nil
}

const (
	sessionEvents = 6000
	cpuTick       = 10 * time.Millisecond
)

// perEvent returns the daemon's cpu for one event, in microseconds, over many of one
// session, one after the other.
func (o *oneSession) perEvent(ctx context.Context) (float64, error) {
	time.Sleep(time.Second) // what the sessions before left to do is not this one's
	w := worker{target: toDaemon(o.p), answer: make([]byte, 64<<10)}
	name := sessionName(0)
	before, _, err := usage(o.p.pid())
	if err != nil {
		return 0, err
	}
	for i := range sessionEvents / 2 {
		tool := map[string]any{"tool_name": "Bash", "tool_use_id": fmt.Sprint("c", i),
			"tool_input": map[string]any{"command": "go test ./..."}}
		if err := o.call(&w, "PreToolUse", name, tool); err != nil {
			return 0, err
		}
		tool["tool_response"] = map[string]any{"stdout": "ok"}
		if err := o.call(&w, "PostToolUse", name, tool); err != nil {
			return 0, err
		}
	}
	if err := o.p.drained(ctx); err != nil {
		return 0, err
	}
	after, _, err := usage(o.p.pid())
	if err != nil {
		return 0, err
	}
	if after-before < 10*cpuTick {
		return 0, fmt.Errorf("%v of cpu are too little to compare", after-before)
	}
	return micros(after-before) / sessionEvents, nil
}

// listed makes sure that the sessions are really there.
func (p *place) listed(ctx context.Context, want int) error {
	var list []wire.Session
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var err error
		if list, err = p.client.Sessions(ctx, wire.SessionsParams{}); err != nil {
			return err
		}
		if len(list) == want {
			return nil
		}
	}
	return fmt.Errorf("%d sessions are listed, not %d", len(list), want)
}

// transcript returns a record of so many bytes, most of them holes, with rows at
// both ends as Claude Code writes them.
func (p *place) transcript(size int64) (string, error) {
	file := filepath.Join(p.dirs.Home, ".claude/projects/-bench", sessionName(0)+".jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	row := []byte(`{"type":"user","message":{"role":"user","content":"go on"},"timestamp":"2026-01-01T00:00:00Z"}` +
		"\n")
	rows := bytes.Repeat(row, 100)
	if _, err := f.WriteAt(rows, 0); err != nil {
		return "", err
	}
	_, err = f.WriteAt(append([]byte("\n"), rows...), size-int64(len(rows))-1)
	return file, err
}
