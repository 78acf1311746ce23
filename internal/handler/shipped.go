package handler

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/redact"
)

// The files the shipped built-ins write, in the state directory.
const (
	hookLogName  = "hook-log.jsonl"
	sessionsName = "sessions.jsonl"
)

// logEvent keeps every event it is given, whole but for secrets.
func logEvent(deps Deps) Func {
	file := &lineFile{path: filepath.Join(deps.StateDir, hookLogName)}
	var last memo
	return func(_ context.Context, call *hook.Call) (event.Decision, error) {
		return event.Decision{}, file.appendLine(last.fileLine(call.Event, deps.Redact))
	}
}

// memo keeps the line of the last event: several log hooks on one event write
// the same.
type memo struct {
	mu      sync.Mutex
	id      string
	changed json.RawMessage
	text    []byte
}

func (m *memo) fileLine(ev *event.Event, clean func(dst, src []byte) []byte) []byte {
	var changed json.RawMessage
	if ev.Tool != nil {
		changed = ev.Tool.Changed
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if ev.ID == "" || m.id != ev.ID || !bytes.Equal(m.changed, changed) {
		m.id, m.changed, m.text = ev.ID, changed, clean(nil, ev.MarshalUnified())
	}
	return slices.Clone(m.text) // the writer ends it with a newline
}

// sessionCapture keeps what is needed to find a session again. It works for every agent; only
// the project folder is reported by Claude alone.
func sessionCapture(deps Deps) Func {
	file := &lineFile{path: filepath.Join(deps.StateDir, sessionsName)}
	return func(_ context.Context, call *hook.Call) (event.Decision, error) {
		ev := call.Event
		var o writer
		o.openObject()
		o.textMember("time", ev.Time.UTC().Format(time.RFC3339Nano))
		o.someText("agent", ev.Agent)
		o.someText("agentVersion", ev.AgentVersion)
		o.someText("kind", string(ev.Kind))
		o.someText("native", ev.Native)
		o.someText("session", ev.Session)
		o.someText("cwd", ev.Cwd)
		o.someText("transcript", ev.Transcript)
		o.someText("projectDir", paths.GetenvLast(call.Env)(projectDirVar))
		o.someText("project", call.Project)
		o.someText("title", ev.Title)
		o.someText("model", ev.Model)
		o.someText("mode", ev.Mode)
		o.someText("detail", ev.Detail)
		if s := ev.Subagent; s != nil {
			o.someText("subagent", s.ID)
		}
		o.closeObject()
		return event.Decision{}, file.appendLine(deps.Redact(nil, o.b))
	}
}

// traceEvent notifies those who watch that an event passed. It never reaches an agent: agents
// read a hook's stdout.
func traceEvent(deps Deps) Func {
	return func(_ context.Context, call *hook.Call) (event.Decision, error) {
		deps.Report(call.Hook.ID, traceLine(call.Event))
		return event.Decision{}, nil
	}
}

// traceText bounds what one line shows of a command or a prompt.
const traceText = 200

func traceLine(ev *event.Event) string {
	var b strings.Builder
	word := func(s string) {
		if s != "" {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(s)
		}
	}
	word(ev.Agent)
	word(ev.Native)
	if string(ev.Kind) != ev.Native {
		word("(" + string(ev.Kind) + ")")
	}
	word(ev.Session)
	about := ev.Prompt
	if about == "" {
		about = ev.Message
	}
	if t := ev.Tool; t != nil {
		word(t.Name)
		switch paths := t.Paths(); {
		case len(t.Commands) > 0:
			about = strings.Join(t.Commands, "; ")
		case len(paths) > 0:
			about = strings.Join(paths, " ")
		case t.URL != "":
			about = t.URL
		}
	}
	if about != "" {
		// Redacted before it is cut: half a secret is not recognised.
		word("· " + termsafe.CutMarked(strings.Join(strings.Fields(redact.Text(about)), " "), traceText))
	}
	return b.String()
}
