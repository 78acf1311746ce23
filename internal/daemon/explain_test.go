package daemon

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// Explain tells what would really happen: for every captured payload of every
// agent, under several sets of rules, its answer is the one that the agent gets
// when it asks in earnest right after.
func TestExplainIsWhatHappens(t *testing.T) {
	for number, c := range []struct {
		name    string
		set     map[string]string
		prepare func(w *daemonFixture, all []frame.Request)
		extra   func(t *testing.T) *hook.Entry
		speaks  bool // somebody has something to say
		pushes  int  // of the six forced pushes, how many are stopped
	}{
		{name: "as it comes"},
		{name: "guards", set: map[string]string{"guard.destructive": "block", "guard.secrets": "block"}, speaks: true, pushes: 6},
		{name: "guards ask", set: map[string]string{"guard.destructive": "ask", "guard.secrets": "ask", "guard.own-files": "ask"}, speaks: true, pushes: 6},
		{name: "guards log", set: map[string]string{"guard.destructive": "log", "guard.secrets": "log", "guard.own-files": "log"}},
		{name: "no guards", set: map[string]string{"guard.destructive": "off", "guard.secrets": "off", "guard.own-files": "off"}},
		{name: "allowed once", set: map[string]string{"guard.destructive": "block"},
			prepare: func(w *daemonFixture, _ []frame.Request) {
				w.MustCall(wire.MethodAllow, wire.AllowParams{Rule: "git-history.force-push", Once: true}, nil)
			}, speaks: true, pushes: 5},
		{name: "people decide", set: map[string]string{"approvals.policy": "all"}, speaks: true},
		{name: "permissions decide", set: map[string]string{"approvals.policy": "all"}, prepare: (*daemonFixture).permissionAll, speaks: true},
		{name: "off", prepare: func(w *daemonFixture, _ []frame.Request) { w.MustCall(wire.MethodOff, wire.OffParams{}, nil) }},
		{name: "turns are kept going", extra: neverDone, speaks: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var extra []*hook.Entry
			if c.extra != nil {
				extra = append(extra, c.extra(t))
			}
			w := open(t, extra...)
			for key, value := range c.set {
				w.set(key, value)
			}
			all := w.captured(c.extra != nil)
			if c.prepare != nil {
				c.prepare(w, all)
			}
			decided, pushes := 0, 0
			for i, r := range all {
				if testing.Short() && (i+number)%4 != 0 && !strings.HasSuffix(r.ID, forcedPush) {
					continue // each in other settings
				}
				var told wire.Explained
				w.MustCall(wire.MethodExplain, wire.ExplainParams{Agent: r.Agent, Event: r.Event, Payload: r.Payload,
					Cwd: w.Base}, &told)
				var pushed wire.PushResult
				w.MustCall(wire.MethodPush, wire.PushParams{Agent: r.Agent, Event: r.Event, Payload: r.Payload,
					Cwd: w.Base, Timeout: daemontest.Patience.Seconds()}, &pushed)
				if string(told.Decision) != string(pushed.Decision) ||
					told.Answer != (wire.Answer{Stdout: pushed.Stdout, Stderr: pushed.Stderr,
						ExitCode: pushed.ExitCode}) {
					t.Errorf("%s: explained as %s\n%+v\nbut it was %s\n%+v", r.ID, told.Decision, told.Answer,
						pushed.Decision, pushed)
				}
				var d event.Decision
				if err := json.Unmarshal(pushed.Decision, &d); err != nil {
					t.Fatal(err)
				}
				if d.Verdict != event.None || len(d.Degraded) > 0 {
					decided++
				}
				if strings.HasSuffix(r.ID, forcedPush) && d.Verdict != event.None {
					pushes++
				}
			}
			if c.speaks != (decided > 0) {
				t.Errorf("of %d payloads %d were decided", len(all), decided)
			}
			if c.pushes != pushes && c.set["approvals.policy"] == "" {
				t.Errorf("%d pushes were stopped, want %d", pushes, c.pushes)
			}
		})
	}
}

// A rehearsal does not make a folder the one a session started in.
func TestExplainDoesNotBeginASession(t *testing.T) {
	w := open(t)
	r := daemontest.ToolBefore("claude", "new", w.Base, "ls")
	w.MustCall(wire.MethodExplain, wire.ExplainParams{Agent: r.Agent, Event: r.Event, Payload: r.Payload, Cwd: w.Base},
		nil)
	began := func() bool {
		_, ok := w.h.selection.StartProject("claude", "new")
		return ok
	}
	if began() {
		t.Error("explaining began a session")
	}
	w.MustPass(r)
	if !began() {
		t.Error("its first event did not")
	}
}

// neverDone returns a guard of hookmux's own kind that keeps every turn going.
func neverDone(t *testing.T) *hook.Entry {
	e := daemontest.Entry(t, "never-done", hook.Guard, event.TurnEnd,
		func(context.Context, *hook.Call) (event.Decision, error) {
			return event.Decision{Verdict: event.Deny, Reason: "not done yet"}, nil
		})
	e.BuiltinGuard = true
	return e
}

// permissionAll permissions every call among the payloads that can be permitted.
func (w *daemonFixture) permissionAll(all []frame.Request) {
	w.T.Helper()
	given := 0
	for _, r := range all {
		ev := w.h.deps.Catalogue.Decode(agent.Input{
			ID: r.ID, Time: time.Now(), Agent: r.Agent, Event: r.Event, Cwd: w.Base, Payload: r.Payload,
			Env: func(string) string { return "" },
		})
		if ev.Tool == nil || !ev.Kind.Guarded() {
			continue
		}
		if rule, err := policy.RuleFor(&ev); err == nil {
			if _, err := w.h.approvals.AddPermission(policy.SavedPermission{Agent: r.Agent, Scope: policy.Everywhere, Rule: rule,
				Created: time.Now()}); err != nil {
				w.T.Fatal(err)
			}
			given++
		}
	}
	if given == 0 {
		w.T.Error("nothing could be permitted")
	}
}

const forcedPush = " forced push"

// captured returns the payloads of real agents, and a few that guards stop; with
// again, turns end several times in a row.
func (w *daemonFixture) captured(again bool) []frame.Request {
	w.T.Helper()
	var list []frame.Request
	for _, a := range w.h.deps.Catalogue.Agents() {
		files, err := filepath.Glob("../../agent/testdata/fixtures/" + a.Name + "/*.json")
		if err != nil {
			w.T.Fatal(err)
		}
		for _, file := range files {
			name := filepath.Base(file)
			for _, word := range []string{"pascal.", "event.", "hook."} {
				name = strings.TrimPrefix(name, word)
			}
			payload, err := os.ReadFile(file)
			if err != nil {
				w.T.Fatal(err)
			}
			r := frame.Request{ID: a.Name + " " + name, Agent: a.Name, Payload: payload}
			for _, e := range a.Events {
				if strings.HasPrefix(name, e.Name+".") && len(e.Name) > len(r.Event) {
					r.Event = e.Name
				}
			}
			if r.Event == "" {
				continue
			}
			list = append(list, r)
			if again && a.KindOf(r.Event) == event.TurnEnd {
				list = append(list, r, r, r)
			}
		}
	}
	if len(list) < 200 {
		w.T.Fatalf("only %d payloads; want len(list) >= 200", len(list))
	}
	for _, name := range []string{"claude", "codex", "grok"} {
		r := daemontest.ToolBefore(name, "guarded", w.Base, "git push --force origin main")
		r.ID = name + forcedPush
		list = append(list, r, r)
	}
	return list
}
