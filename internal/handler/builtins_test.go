package handler

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

func builtinCall(id string) *hook.Call {
	return &hook.Call{
		Hook: &hook.Registration{ID: id},
		Env:  []string{"CLAUDE_PROJECT_DIR=/p"},
		Event: &event.Event{ID: "e1", Agent: "grok", Kind: event.ToolBefore, Native: "PreToolUse", Session: "s1",
			Cwd:        "/c",
			Transcript: "/t", Title: "my title", Time: time.Unix(1, 0),
			Tool: &event.Tool{Kind: event.Shell, Name: "sh", Commands: []string{"ls\n-l"},
				Input: json.RawMessage(`{"command":"ls\n-l"}`)},
			Raw: []byte("{\n \"a\": 1,\r\n \"password\": \"hunter2hunter2\"}")},
	}
}

func TestBuiltinRegistry(t *testing.T) {
	b := NewBuiltins(Deps{StateDir: t.TempDir()})
	if got := b.Names(); !reflect.DeepEqual(got, []string{"log", "session-capture", "trace"}) {
		t.Errorf(`b.Names() = %q, want []string{"log", "session-capture", "trace"}`, got)
	}
	deny := hook.HandlerFunc(func(context.Context, *hook.Call) (event.Decision, error) {
		return event.Decision{Verdict: event.Deny}, nil
	})
	if err := b.Register("mine", "says no", deny); err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]hook.Handler{"mine": deny, "log": deny, "": deny, "a b": deny, "nil": nil} {
		if b.Register(name, "", run) == nil {
			t.Errorf(`%q registered; want b.Register(name, "", run) != nil`, name)
		}
	}
	h, err := New(hook.Registration{Handler: "builtin", Target: "mine"}, Deps{Builtins: b})
	if err != nil {
		t.Fatal(err)
	}
	if d, _ := h.Handle(context.Background(), builtinCall("x")); d.Verdict != event.Deny {
		t.Errorf("d = %+v, want d.Verdict = event.Deny", d)
	}
	if b.Describe("mine") != "says no" || b.Describe("log") == "" || b.Describe("nope") != "" {
		t.Error(`descriptions; want b.Describe("mine") == "says no", b.Describe("log") != "" and ` +
			`b.Describe("nope") == ""`)
	}
	_, err = New(hook.Registration{Handler: "builtin", Target: "lgo"}, Deps{Builtins: b})
	if err == nil || !strings.Contains(err.Error(), "log, mine, session-capture, trace") {
		t.Errorf("unknown built-in: %v", err)
	}
	for _, r := range []hook.Registration{{Handler: hook.HandlerTypeScript, Target: "x.ts"}, {Handler: "odd", Target: "x"},
		{Handler: "script", Target: "'x"}, {Handler: "script", Target: " "}, {Handler: "command"}} {
		if _, err := New(r, Deps{}); err == nil {
			t.Errorf("%+v made a handler", r)
		}
	}
}

func TestLogKeepsTheWholeRedactedPayload(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	h, err := New(hook.Registration{Handler: "builtin", Target: "log"}, Deps{StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	const writers, each = 8, 25
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				if _, err := h.Handle(context.Background(), builtinCall("x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	lines := readLines(t, filepath.Join(dir, hookLogName))
	if len(lines) != writers*each {
		t.Fatalf("%d lines; want len(lines) == writers*each", len(lines))
	}
	var got struct {
		Agent, HookType, SessionID string
		Data                       struct {
			Name  string `json:"tool_name"`
			Input struct{ Command string }
		}
		Raw map[string]any
	}
	if err := json.Unmarshal(lines[0], &got); err != nil {
		t.Fatal(err)
	}
	if got.Agent != "grok" || got.HookType != "PreToolUse" || got.Data.Name != "sh" || got.Raw["a"] != 1.0 {
		t.Errorf(`got %+v, want got.Agent = "grok", got.HookType = "PreToolUse", got.Data.Name = "sh" and `+
			`got.Raw["a"] = 1.0`, got)
	}
	if bytes.Contains(lines[0], []byte("hunter2")) {
		t.Errorf(`secret kept: %s; want no []byte("hunter2") in lines[0]`, lines[0])
	}
	if info, _ := os.Stat(filepath.Join(dir, hookLogName)); info.Mode().Perm() != 0o600 {
		t.Errorf("info.Mode() = %v, want info.Mode().Perm() = 0o600", info.Mode())
	}
}

func readLines(t *testing.T, path string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var lines [][]byte
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		lines = append(lines, bytes.Clone(s.Bytes()))
	}
	return lines
}

func TestLineFileRotates(t *testing.T) {
	f := &lineFile{path: filepath.Join(t.TempDir(), "x.jsonl"), size: 100}
	os.WriteFile(f.path, nil, 0o644)
	for i := range 40 {
		line := []byte(`"` + strings.Repeat("x", 20) + string(rune('a'+i%26)) + `"`)
		if err := f.appendLine(line); err != nil {
			t.Fatal(err)
		}
	}
	names, _ := filepath.Glob(f.path + "*")
	if len(names) != rotateKept {
		t.Fatalf("names = %q, want rotateKept of them", names)
	}
	for _, name := range names {
		info, _ := os.Stat(name)
		if info.Size() > 100 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %d bytes, %s; want info.Size() <= 100 and info.Mode().Perm() == 0o600",
				name, info.Size(), info.Mode())
		}
	}
	last := readLines(t, f.path)
	if got := string(last[len(last)-1]); !strings.HasSuffix(got, string(rune('a'+39%26))+`"`) {
		t.Errorf(`last[len(last)-1] = %q, want one that ends with "n\""`, got)
	}
	if err := (&lineFile{path: filepath.Join(f.path, "below", "a", "file")}).appendLine([]byte("{}")); err == nil {
		t.Error("no error for an impossible place")
	}
}

func TestSessionCapture(t *testing.T) {
	dir := t.TempDir()
	b := NewBuiltins(Deps{StateDir: dir})
	for _, name := range []string{"session-capture", "claude.session-capture"} {
		h, err := New(hook.Registration{Handler: "builtin", Target: name}, Deps{Builtins: b})
		if err != nil {
			t.Fatal(err)
		}
		if d, err := h.Handle(context.Background(), builtinCall("x")); err != nil || !d.Empty() {
			t.Fatalf("d = %+v, error %v; want no error and d.Empty()", d, err)
		}
	}
	lines := readLines(t, filepath.Join(dir, sessionsName))
	if len(lines) != 2 {
		t.Fatalf("len(lines) = %v, want 2", len(lines))
	}
	var got map[string]string
	if err := json.Unmarshal(lines[0], &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"session": "s1", "cwd": "/c", "transcript": "/t", "projectDir": "/p",
		"title": "my title", "agent": "grok"} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q", key, got[key], want)
		}
	}
}

func TestTraceReports(t *testing.T) {
	var id, text string
	h, err := New(hook.Registration{Handler: "builtin", Target: "trace"},
		Deps{Report: func(hookID, s string) { id, text = hookID, s }})
	if err != nil {
		t.Fatal(err)
	}
	call := builtinCall("tr")
	call.Event.Tool.Commands = []string{"echo\n" + strings.Repeat("ü", 200)}
	d, err := h.Handle(context.Background(), call)
	if err != nil || !d.Empty() {
		t.Fatalf("d = %+v, error %v; want no error and d.Empty()", d, err)
	}
	if id != "tr" || !strings.HasPrefix(text, "grok PreToolUse (tool.before) s1 sh · echo ü") ||
		strings.Contains(text, "\n") || len(text) > 300 {
		t.Errorf(`%s: text = %s, want id = "tr", one that begins with "grok PreToolUse (tool.before) s1 sh · echo `+
			`ü", no "\n" in it and len(text) at most 300`, id, text)
	}
}
