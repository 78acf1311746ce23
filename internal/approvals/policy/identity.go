package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/jsonx"
)

// Key names one tool call of one worker: the same call reported by another
// event of the agent has the same key.
type Key string

// Worker identifies who does something: a session, or a subagent in it.
type Worker struct{ Agent, Session, Sub string }

// WorkerOf returns who an event comes from.
func WorkerOf(ev *event.Event) Worker {
	w := Worker{Agent: ev.Agent, Session: ev.Session}
	if ev.Subagent != nil {
		w.Sub = ev.Subagent.ID
	}
	return w
}

// Keys returns the names of an event's tool call: by what it does and, where the
// agent numbers its calls, by its number. Agents that number them do not do it
// at every event.
func Keys(ev *event.Event) []Key {
	t := ev.Tool
	if t == nil {
		return nil
	}
	w := WorkerOf(ev)
	keys := []Key{digestKey(w, "does", callText(t))}
	if t.CallID != "" {
		keys = append(keys, digestKey(w, "call", t.CallID))
	}
	return keys
}

// RepeatKey identifies a call together with the kind of event that reports it, for agents
// that report one call twice. It is "" for a call without a number: such calls can't be
// told apart.
func RepeatKey(ev *event.Event) Key {
	t := ev.Tool
	if t == nil || t.CallID == "" {
		return ""
	}
	return digestKey(WorkerOf(ev), "once", string(ev.Kind), t.CallID, callText(t), ExtraInput(t))
}

func digestKey(w Worker, parts ...string) Key {
	h := sha256.New()
	for _, s := range append([]string{w.Agent, w.Session, w.Sub}, parts...) {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return Key(hex.EncodeToString(h.Sum(nil)[:16]))
}

// callText returns what a call does. Of a shell's input only the commands count: the same call
// comes with a comment at one event and without at another.
func callText(t *event.Tool) string {
	if t.Kind == event.Shell && len(t.Commands) > 0 {
		return "shell\x00" + strings.Join(t.Commands, "\x00")
	}
	input := t.CurrentInput()
	if t.Kind == event.Question { // the answers stand beside the questions afterwards
		if asked := jsontext.Get(input, "questions"); len(asked) > 0 {
			input = asked
		}
	}
	return t.Name + "\x00" + string(jsonx.Canonical(input))
}
