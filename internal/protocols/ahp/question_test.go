package ahp

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest/golden"
)

const testSource = "urn:uuid:00000000-0000-8000-8000-000000000001"

func toolEvent(kind event.Kind) *event.Event {
	return &event.Event{
		ID: "e1", Time: time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC), Agent: "codex", Native: "PreToolUse", Kind: kind,
		Session: "s1", Turn: "t1", Cwd: "/project", Model: "m1", Mode: "default", Raw: []byte(`{"tool":"shell"}`),
		Tool: &event.Tool{Name: "shell", Kind: event.Shell, CallID: "c1", Commands: []string{"git push <main>"},
			Input: json.RawMessage(`{"command":"git push <main>"}`)},
	}
}

// What a backend is told of events, in both versions.
func TestQuestions(t *testing.T) {
	everything := event.Carries{Allow: true, Deny: true, Ask: true, Input: true, Output: true, Context: true, Keep: true,
		Notice: true}
	veto := event.Carries{Deny: true}
	failed := toolEvent(event.ToolAfter)
	failed.Tool.Failed, failed.Error = true, "exit status 1"
	done := toolEvent(event.ToolAfter)
	done.Tool.Output = json.RawMessage(`{"exitCode":0}`)
	bare := toolEvent(event.ToolBefore)
	bare.Session, bare.Tool.CallID, bare.Tool.Input, bare.Tool.Kind = "", "", json.RawMessage(`["ls"]`), event.Plan
	changed := toolEvent(event.ToolBefore)
	changed.Tool.Changed = json.RawMessage(`{"command":"git push --dry-run"}`)
	helper := toolEvent(event.ToolBefore)
	helper.Subagent = &event.Subagent{ID: "a1", Type: "reviewer", Parent: "s1"}
	helper.Tool.MCP, helper.Tool.Kind = &event.MCPCall{Server: "db", Tool: "query"}, event.MCP
	prompt := &event.Event{ID: "e2", Agent: "codex", Native: "UserPromptSubmit", Kind: event.TurnStart, Session: "s1",
		Turn: "t1", Prompt: "fix it", Time: time.Unix(1, 0)}
	stop := &event.Event{ID: "e3", Agent: "codex", Native: "Stop", Kind: event.TurnEnd, Session: "s1", Message: "done",
		GoingOn: true, Time: time.Unix(1, 0)}
	over := &event.Event{ID: "e4", Agent: "codex", Native: "SessionEnd", Kind: event.SessionEnd, Session: "s1",
		Detail: "logout", Time: time.Unix(1, 0)}
	attention := &event.Event{ID: "e5", Agent: "codex", Native: "Notification", Kind: event.UserAttention, Session: "s1",
		Detail: "idle", Title: "Codex", Message: "waits", Time: time.Unix(1, 0)}
	for name, c := range map[string]struct {
		ev      *event.Event
		mode    hook.Role
		carries event.Carries
		native  bool
	}{
		"tool-before":          {toolEvent(event.ToolBefore), hook.Guard, everything, false},
		"tool-before-veto":     {toolEvent(event.ToolBefore), hook.Guard, veto, true},
		"tool-before-observed": {toolEvent(event.ToolBefore), hook.Observe, everything, false},
		"tool-before-mute":     {toolEvent(event.ToolBefore), hook.Guard, event.Carries{}, false},
		"tool-before-bare":     {bare, hook.Guard, veto, false},
		"tool-before-changed":  {changed, hook.Guard, veto, false},
		"tool-before-helper":   {helper, hook.Guard, veto, false},
		"permission":           {toolEvent(event.PermissionRequest), hook.Guard, event.Carries{Allow: true, Deny: true}, false},
		"tool-after":           {done, hook.Advise, event.Carries{Context: true}, false},
		"tool-failed":          {failed, hook.Observe, event.Carries{}, false},
		"turn-start":           {prompt, hook.Advise, event.Carries{Context: true}, false},
		"turn-end":             {stop, hook.Advise, event.Carries{Keep: true}, false},
		"turn-end-observed":    {stop, hook.Observe, event.Carries{Keep: true}, false},
		"session-end":          {over, hook.Observe, event.Carries{}, false},
		"attention":            {attention, hook.Observe, event.Carries{}, false},
	} {
		for _, version := range hook.AHPVersions() {
			t.Run(name+"/"+version, func(t *testing.T) {
				q := Question{Version: version, Source: testSource, Project: "/project", Native: c.native,
					Offer: OfferFor(version, c.ev.Kind, c.mode, c.carries)}
				line, ok := q.Message(c.ev)
				if !ok {
					if hook.AHPHas(version, c.ev.Kind) {
						t.Fatalf("no message, want one of %s", c.ev.Kind)
					}
					return
				}
				if bytes.Count(line, []byte("\n")) != 1 || !bytes.HasSuffix(line, []byte("\n")) {
					t.Errorf("message %q, want exactly one line", line)
				}
				var pretty bytes.Buffer
				if err := json.Indent(&pretty, line, "", "  "); err != nil {
					t.Fatal(err)
				}
				golden.Match(t, filepath.Join("testdata", "questions", name+"."+version+".json"), pretty.String())
			})
		}
	}
}

// A call without a name of its own has the same one before and after it ran, and
// another call has another.
func TestSynthesizedCallStays(t *testing.T) {
	before, after, other := toolEvent(event.ToolBefore), toolEvent(event.ToolAfter), toolEvent(event.ToolBefore)
	other.Tool.Input = json.RawMessage(`{"command":"ls"}`)
	if a, b := synthesizedCall(before), synthesizedCall(after); a != b {
		t.Errorf("the call is %s before and %s after it ran, want one name", a, b)
	}
	if a, b := synthesizedCall(before), synthesizedCall(other); a == b {
		t.Errorf("two calls are both %s, want two names", a)
	}
}

func TestSourceStaysAndTellsNothing(t *testing.T) {
	a, b, c := SourceName("host", "/home/x"), SourceName("host", "/home/x"), SourceName("host", "/home/y")
	if a != b || a == c || len(a) != len(testSource) {
		t.Errorf("sources %s, %s and %s; want the first two alike, the third another", a, b, c)
	}
}
