package daemon

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// logOnlyHooks refuse, ask, change, advise and fail at everything, and only
// only log.
func logOnlyHooks(t *testing.T) []*hook.Entry {
	t.Helper()
	var list []*hook.Entry
	for id, d := range map[string]event.Decision{
		"refuses": {Verdict: event.Deny, Reason: "no"},
		"asks":    {Verdict: event.Ask, Reason: "sure?"},
		"changes": {Input: json.RawMessage(`{"command": "true"}`), Output: json.RawMessage(`"other"`)},
		"advises": {Context: "hint", Notice: "look", KeepGoing: true},
	} {
		for _, mode := range []hook.Role{hook.Guard, hook.Advise} {
			e, err := hook.NewEntry(hook.Registration{
				ID: id + "-" + string(mode), Agent: hook.Any, HookType: hook.Any, Handler: "command", Target: "x",
				Role: mode, LogOnly: true,
			}, hook.HandlerFunc(func(context.Context, *hook.Call) (event.Decision, error) { return d, nil }), "global")
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, e)
		}
	}
	return list
}

// Whatever only logged guards and hooks would have said, every agent gets for every
// captured payload, byte for byte, the answer it gets without them.
func TestLogChangesNoAnswer(t *testing.T) {
	w := newFixture(t)
	answers := func(state string, extra ...*hook.Entry) (all []frame.Request, list []wire.PushResult) {
		w.Up(extra...)
		for _, name := range []string{"guard.destructive", "guard.secrets", "guard.own-files"} {
			w.set(name, state)
		}
		all = w.captured(true)
		for _, r := range all {
			var got wire.PushResult
			p := wire.PushParams{
				Agent:   r.Agent,
				Event:   r.Event,
				Payload: r.Payload,
				Cwd:     w.Base,
				Timeout: daemontest.Patience.Seconds(),
			}
			w.MustCall(wire.MethodPush, p, &got)
			list = append(list, got)
		}
		w.Down()
		if err := os.RemoveAll(w.Dirs.State); err != nil {
			t.Fatal(err)
		}
		return all, list
	}
	_, without := answers("off")
	all, with := answers("log", logOnlyHooks(t)...)
	for i, r := range all {
		got, want := with[i], without[i]
		if got.Stdout != want.Stdout || got.Stderr != want.Stderr || got.ExitCode != want.ExitCode ||
			string(got.Decision) != string(want.Decision) {
			t.Errorf("%s: logOnly hooks changed the answer from\n%+v\nto\n%+v", r.ID, want, got)
		}
	}
}

// What a only logged guard would have stopped is in the journal, in `explain` and in
// the status; what a only logged hook would have said follows behind the answer.
func TestLogIsRecorded(t *testing.T) {
	w := newFixture(t)
	w.Up(logOnlyHooks(t)[0])
	w.set("guard.destructive", "log")
	r := daemontest.ToolBefore("claude", "s1", w.Base, "git push --force origin main")
	r.ID = frame.NewID()
	w.MustPass(r)
	var steps []wire.Step
	w.Eventually("the hook that only logs is recorded as well", func() bool {
		row := w.Row(r.ID, true)
		steps = row.Outcome.Steps
		return row.Outcome.Amends
	})
	codes := map[string]wire.WouldCode{}
	for _, s := range steps {
		if s.Would != nil {
			codes[s.Hook] = s.Would.Code
		}
	}
	if codes["guard.destructive"] != wire.WouldDeny || len(codes) != 2 {
		t.Errorf("recorded %v, want a refusal of guard.destructive and what the other hook would have said", codes)
	}
	var info wire.Info
	w.MustCall(wire.MethodInfo, nil, &info)
	if len(info.LogOnly) != 2 || info.LogOnly[0].Hook != "guard.destructive" || info.LogOnly[0].Would != 1 {
		t.Errorf("the status says %+v", info.LogOnly)
	}
	if info.Counts.Denied != 0 {
		t.Errorf("%d denied, and nothing was", info.Counts.Denied)
	}
	var told wire.Explained
	w.MustCall(wire.MethodExplain, wire.ExplainParams{Agent: r.Agent, Event: r.Event, Payload: r.Payload, Cwd: w.Base},
		&told)
	if len(told.Unknown) != 0 {
		t.Errorf("explain does not know the decision because of %v, which only log", told.Unknown)
	}
	for _, m := range told.Matched {
		if m.ID == "guard.destructive" && (m.Would == nil || m.Would.Code != wire.WouldDeny || !m.LogOnly) {
			t.Errorf(`explain says %+v; want m.ID != "guard.destructive" or (m.Would != nil, m.Would.Code == `+
				`wire.WouldDeny and m.LogOnly)`, m)
		}
	}
	var found struct{ Entries []wire.Entry }
	w.MustCall(wire.MethodQuery, wire.QueryParams{Filter: wire.Filter{LogOnly: true}}, &found)
	if len(found.Entries) != 1 {
		t.Errorf("%d events found by what logOnly hooks would have done, want 1", len(found.Entries))
	}
}

// `back` lists what only logged guards would have done meanwhile.
func TestBackTellsOfLogOnly(t *testing.T) {
	w := open(t)
	w.set("guard.destructive", "log")
	w.MustCall(wire.MethodAway, struct{}{}, nil)
	r := daemontest.ToolBefore("claude", "s1", w.Base, "git push --force origin main")
	r.ID = frame.NewID()
	w.MustPass(r)
	w.Row(r.ID, true)
	var digest wire.Digest
	w.MustCall(wire.MethodBack, struct{}{}, &digest)
	if digest.LogOnlyCount != 1 || len(digest.LogOnly) != 1 || digest.LogOnly[0].Hook != "guard.destructive" ||
		digest.LogOnly[0].Would.Code != wire.WouldDeny {
		t.Errorf(`back says %d, %+v; want digest.LogOnlyCount == 1, len(digest.LogOnly) == 1, `+
			`digest.LogOnly[0].Hook == "guard.destructive" and digest.LogOnly[0].Would.Code == `+
			`wire.WouldDeny`, digest.LogOnlyCount, digest.LogOnly)
	}
}

// A guard that only logs does not guard: the hook client's note leaves it out.
func TestLogOnlyGuardIsNotNoted(t *testing.T) {
	w := open(t)
	w.set("guard.own-files", "log")
	w.MustPass(daemontest.ToolBefore("claude", "s1", w.Base, "ls"))
	covers := func() bool {
		list, _ := guardnote.Read(w.Dirs.State) // what is listed counts even where the note has no seal
		return guardnote.Covers(list, "claude", "PreToolUse", string(event.ToolBefore))
	}
	w.Eventually("the note says that nobody guards", func() bool { return !covers() })
	w.set("guard.own-files", "block")
	w.MustPass(daemontest.ToolBefore("claude", "s1", w.Base, "ls"))
	w.Eventually("the note says that a guard is on", covers)
}

// From off to log mode takes nothing away and asks nobody; from block to log mode asks,
// as switching off does.
func TestLogAsksWhereItWeakens(t *testing.T) {
	w := open(t)
	for _, c := range []struct {
		from, to string
		asks     bool
	}{
		{"off", "log", false}, {"log", "log", false}, {"block", "log", true}, {"ask", "log", true},
		{"log", "block", false}, {"log", "off", true},
	} {
		w.set("guard.secrets", c.from)
		before := len(w.Person.Asked())
		w.set("guard.secrets", c.to)
		if asked := len(w.Person.Asked()) > before; asked != c.asks {
			t.Errorf("from %s to %s: asked %v, want %v", c.from, c.to, asked, c.asks)
		}
	}
}

// A only logged TypeScript hook evaluates and reaches neither the agent nor a person.
func TestLogOnlyTSHook(t *testing.T) {
	w := newFixture(t)
	w.Write(filepath.Join(w.Dirs.Config, "hooks", "gate.ts"), `export default function (hooks) {
  hooks.on("tool_call", async (event, ctx) => {
    if (event.input.command === "refused") return { block: true, reason: "not here" };
    if (event.input.command === "asked" && !(await ctx.ui.confirm("Sure?", "really"))) return { block: true, reason: "no" };
  });
}`)
	w.Write(filepath.Join(w.Dirs.Config, "config.json"), `{"modules.log": ["gate.ts"]}`)
	w.Up()
	// Nobody is there to be asked: its question is answered with no, as ever.
	for command, want := range map[string]wire.WouldCode{"refused": wire.WouldDeny, "asked": wire.WouldDeny} {
		r := daemontest.ToolBefore("claude", "s1", w.Base, command)
		r.ID = frame.NewID()
		w.MustPass(r)
		var got wire.Step
		w.Eventually("what the module would have done is recorded", func() bool {
			for _, s := range w.Row(r.ID, true).Outcome.Steps {
				if s.Would != nil {
					got = s
				}
			}
			return got.Would != nil
		})
		if got.Would.Code != want || !strings.HasSuffix(got.Hook, "gate.ts") {
			t.Errorf("%s: recorded %s %+v, want %s", command, got.Hook, got.Would, want)
		}
	}
	w.set("modules.log", `[]`)
	w.MustDeny(daemontest.ToolBefore("claude", "s1", w.Base, "refused"), "not here")
}
