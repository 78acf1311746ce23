package handler

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
)

func TestParseUnified(t *testing.T) {
	all := event.Carries{Allow: true, Deny: true, Ask: true, Input: true, Output: true, Context: true, Keep: true,
		Notice: true}
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	type decision = event.Decision
	for _, c := range []struct {
		name    string
		kind    event.Kind
		carries event.Carries
		out     Output
		want    decision
		fails   string // part of the error; empty means none
	}{
		{name: "silence is no opinion", kind: event.ToolBefore, carries: all},
		{name: "blanks are silence", kind: event.ToolBefore, carries: all, out: Output{Stdout: []byte(" \n\t")}},
		{name: "empty object", kind: event.ToolBefore, out: Output{Stdout: []byte("{}")}},
		{name: "exit 2", kind: event.ToolBefore, out: Output{Exit: 2, Stderr: []byte("no prod deploys\n"), Stdout: []byte(`{"decision":"allow"}`)},
			want: decision{Verdict: event.Deny, Reason: "no prod deploys"}},
		{name: "exit 2 without words", kind: event.ToolBefore, out: Output{Exit: 2}, want: decision{Verdict: event.Deny, Reason: event.DefaultReason}},
		{name: "exit 2 at an end", kind: event.TurnEnd, out: Output{Exit: 2, Stderr: []byte("tests fail")}, want: decision{KeepGoing: true, Reason: "tests fail"}},
		{name: "deny at an end", kind: event.SubagentEnd, out: Output{Stdout: []byte(`{"decision":"deny","message":"go on"}`)}, want: decision{KeepGoing: true, Reason: "go on"}},
		{name: "block at an end", kind: event.TurnEnd, out: Output{Stdout: []byte(`{"decision":"block","reason":"go on"}`)}, want: decision{KeepGoing: true, Reason: "go on"}},
		{name: "keepGoing", kind: event.TurnEnd, out: Output{Stdout: []byte(`{"keepGoing":true,"message":"more"}`)}, want: decision{KeepGoing: true, Reason: "more"}},
		{name: "text at an end says nothing", kind: event.TurnEnd, carries: all, out: Output{Stdout: []byte("done!")}},
		{name: "text at a subagent's end says nothing", kind: event.SubagentEnd, carries: all, out: Output{Stdout: []byte("done!")}},
		{name: "text is context", kind: event.TurnStart, carries: all, out: Output{Stdout: []byte("branch is main\n")}, want: decision{Context: "branch is main"}},
		{name: "text where no context is taken", kind: event.TurnStart, out: Output{Stdout: []byte("branch is main\n")}},
		{name: "broken UTF-8", kind: event.TurnStart, carries: all, out: Output{Stdout: []byte("a\xffb")}, want: decision{Context: "a\ufffdb"}},
		{name: "a JSON list is text", kind: event.TurnStart, carries: all, out: Output{Stdout: []byte("[1]")}, want: decision{Context: "[1]"}},
		{name: "allow", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":"allow"}`)}, want: decision{Verdict: event.Allow}},
		{name: "deny", kind: event.ToolBefore, out: Output{Stdout: []byte("\n" + `{"decision":"deny","message":"m","modifiedInput":{"a":1}}` + "\n")}, want: decision{Verdict: event.Deny, Reason: "m"}},
		{name: "deny without a reason", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":"deny"}`)}, want: decision{Verdict: event.Deny, Reason: event.DefaultReason}},
		{name: "ask", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":"ask","reason":"sure?"}`)}, want: decision{Verdict: event.Ask, Reason: "sure?"}},
		{name: "modify", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":"modify","modifiedInput":{"command":"ls"}}`)}, want: decision{Verdict: event.Modify, Input: raw(`{"command":"ls"}`)}},
		{name: "changed input alone", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"modifiedInput":{"command":"ls"}}`)}, want: decision{Verdict: event.Modify, Input: raw(`{"command":"ls"}`)}},
		{name: "changed and allowed", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":"allow","modifiedInput":{"command":"ls"}}`)}, want: decision{Verdict: event.Modify, Allowed: true, Input: raw(`{"command":"ls"}`)}},
		{name: "changed and asked", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":"ask","modifiedInput":{"command":"ls"}}`)}, want: decision{Verdict: event.Ask, Input: raw(`{"command":"ls"}`)}},
		{name: "changed output", kind: event.ToolAfter, out: Output{Stdout: []byte(`{"decision":"modify","modifiedOutput":"x"}`)}, want: decision{Output: raw(`"x"`)}},
		{name: "the rest", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":"none","context":"c","notice":"n","stdout":"s","exitCode":3,"message":null}`)}, want: decision{Context: "c", Notice: "n", Stdout: "s", ExitCode: 3}},
		{name: "words without a verdict", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"message":"hello"}`)}, want: decision{Notice: "hello"}},

		{name: "exit 1", kind: event.ToolBefore, out: Output{Exit: 1, Stderr: []byte("first\nlast line\n")}, fails: "exit status 1: last line"},
		{name: "exit 127 with a verdict", kind: event.ToolBefore, out: Output{Exit: 127, Stdout: []byte(`{"decision":"allow"}`)}, fails: "exit status 127"},
		{name: "signal", kind: event.ToolBefore, out: Output{Signal: "SIGKILL"}, fails: "killed by SIGKILL"},
		{name: "too much", kind: event.ToolBefore, out: Output{Stdout: []byte("xxx"), TooMuch: true}, fails: "more than 1 MiB"},
		{name: "last words win", kind: event.ToolBefore, out: Output{Exit: 3, Stderr: []byte("head"), LastWords: []byte("x\ntail")}, fails: "exit status 3: tail"},
		{name: "unknown key", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"verdict":"deny"}`)}, fails: `"verdict" is unknown`},
		{name: "bad word", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":"reject"}`)}, fails: `"reject"`},
		{name: "Claude's words", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":"block"}`)}, fails: "--format claude"},
		{name: "Claude's keys", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"hookSpecificOutput":{"permissionDecision":"deny"}}`)}, fails: "--format claude"},
		{name: "wrong type", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":5}`)}, fails: `"decision" must be a string`},
		{name: "input no object", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"modifiedInput":"ls"}`)}, fails: "modifiedInput"},
		{name: "modify nothing", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":"modify"}`)}, fails: "needs modifiedInput"},
		{name: "exit code out of range", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"exitCode":999}`)}, fails: "exitCode"},
		{name: "keepGoing no flag", kind: event.TurnEnd, out: Output{Stdout: []byte(`{"keepGoing":"yes"}`)}, fails: "keepGoing"},
		{name: "said twice", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":"deny","decision":"allow"}`)}, fails: "twice"},
		{name: "cut off", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":"deny"`)}, fails: "no JSON object"},
		{name: "two documents", kind: event.ToolBefore, out: Output{Stdout: []byte(`{"decision":"deny"}{}`)}, fails: "no JSON object"},
		{name: "a log line before the result", kind: event.ToolBefore, carries: all, out: Output{Stdout: []byte("checking\n" + `{"decision":"deny"}`)}, fails: "print the JSON alone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseUnified(c.kind, c.carries, c.out)
			check(t, got, c.want, err, c.fails)
		})
	}
}

func check(t *testing.T, got, want event.Decision, err error, fails string) {
	t.Helper()
	if fails != "" {
		if err == nil || !strings.Contains(err.Error(), fails) {
			t.Fatalf("error %v, want one with %q", err, fails)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Fatalf("error has several lines: %q", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

// Whatever is printed, there is an opinion or a failure, and a failure never
// carries an opinion along.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"decision":"deny"}`), 0)
	f.Add([]byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{}}}`), 1)
	f.Add([]byte("text\n{}"), 0)
	f.Fuzz(func(t *testing.T, stdout []byte, exit int) {
		out := Output{Stdout: stdout, Exit: exit}
		for _, kind := range []event.Kind{event.ToolBefore, event.TurnEnd} {
			d, err := ParseUnified(kind, event.Carries{Context: true}, out)
			if err != nil && !d.Empty() {
				t.Fatalf("failed with an opinion: %+v", d)
			}
			if exit != 0 && d.Verdict == event.Allow {
				t.Fatal("allowed with a bad exit")
			}
			if d.Input != nil && !json.Valid(d.Input) {
				t.Fatal("broken input; want d.Input == nil or json.Valid(d.Input)")
			}
		}
		for _, name := range []string{"PreToolUse", "Stop", "PermissionRequest"} {
			if d, err := ParseClaude(name, out); err != nil && !d.Empty() {
				t.Fatalf("%s failed with an opinion: %+v", name, d)
			}
		}
	})
}
