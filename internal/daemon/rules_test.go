package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/wire"
)

// refusing returns a registration that refuses commands with a word in them.
func refusing(id, word string, more string) string {
	return fmt.Sprintf(`{"id":%q,"agent":"*","hookType":"tool.before","handler":"command","target":"echo refused by %s >&2; exit 2","match":{"command":%q}%s}`, id, id, word, more)
}

func hooksFile(list ...string) string {
	return "// hooks of a test\n" + `{"version":1,"hooks":[` + strings.Join(list, ",\n") + `]}`
}

// project makes a folder with hooks of its own.
func (w *daemonFixture) project(name string, list ...string) string {
	w.T.Helper()
	root := filepath.Join(w.Base, "work", name)
	w.Write(registry.ProjectFile(root), hooksFile(list...))
	return root
}

func (w *daemonFixture) trust(root string) wire.TrustView {
	w.T.Helper()
	var view wire.TrustView
	w.MustCall(wire.MethodTrustLook, wire.TrustParams{Cwd: root}, &view)
	w.MustCall(wire.MethodTrust, wire.TrustParams{Cwd: root, Hash: view.Hash}, &view)
	if view.Status != "trusted" {
		w.T.Fatalf(`%s is %s: %s, want "trusted"`, root, view.Status, view.Problem)
	}
	return view
}

// soon asks again until the files have been looked at.
func (w *daemonFixture) soon(what, command, cwd string, denied bool, because string) {
	w.T.Helper()
	w.Eventually(what, func() bool {
		got := w.Send(daemontest.ToolBefore("claude", "s", cwd, command))
		return daemontest.Denies(got) == denied && (!denied || strings.Contains(string(got.Stdout), because))
	})
}

func TestGlobalHooksCountEverywhere(t *testing.T) {
	w := newFixture(t)
	w.Write(w.Dirs.Config+"/hooks.json", hooksFile(refusing("no-prod", "prod", "")))
	w.Up()
	for _, agent := range []string{"claude", "codex", "grok"} {
		w.MustDeny(daemontest.ToolBefore(agent, "s", w.Base, "ship prod"), "refused by no-prod")
		w.MustPass(daemontest.ToolBefore(agent, "s", w.Base, "ship test"))
	}
	// A change counts soon, and one through the daemon at once.
	w.Write(w.Dirs.Config+"/hooks.json", hooksFile(refusing("no-test", "test", "")))
	w.soon("the change counts", "ship test", w.Base, true, "no-test")
	enabled := false
	patch, _ := json.Marshal(map[string]any{"enabled": enabled})
	w.MustCall(wire.MethodHooksSet, wire.HooksEditParams{Scope: registry.Global, ID: "no-test", Patch: patch}, nil)
	w.MustPass(daemontest.ToolBefore("claude", "s", w.Base, "ship test"))
	w.MustCall(wire.MethodHooksDrop, wire.HooksEditParams{Scope: registry.Global, ID: "no-test"}, nil)
	var list []wire.ListedHook
	w.MustCall(wire.MethodHooksList, wire.HooksListParams{}, &list)
	if len(list) != 0 {
		t.Errorf("listed: %+v; want len(list) == 0", list)
	}
	for name, reg := range map[string]string{
		"unknown agent": `{"id":"x","agent":"claud","hookType":"tool.before","handler":"command","target":"true"}`,
		"unknown type":  `{"id":"x","agent":"claude","hookType":"tool.befor","handler":"command","target":"true"}`,
		"no object":     `[]`,
	} {
		if err := w.Call(wire.MethodHooksAdd, wire.HooksEditParams{Scope: registry.Global, Registration: []byte(reg)},
			nil); err == nil {
			t.Errorf("%s was added; want an error", name)
		}
	}
}

func TestAProjectIsHeardOnceItIsTrusted(t *testing.T) {
	w := newFixture(t)
	root := w.project("p", refusing("no-prod", "prod", ""))
	sub := filepath.Join(root, "deep", "down")
	must(t, os.MkdirAll(sub, 0o700))
	w.Up()
	f := w.follow(wire.StreamParams{Filter: wire.Filter{Agents: []string{"grok"}}})
	f.ready()
	for range 3 {
		w.MustPass(daemontest.ToolBefore("claude", "s", sub, "ship prod"))
		w.h.selection.Forget()
	}
	var notices []string
	grok := daemontest.ToolBefore("grok", "end", w.Base, "end")
	w.Send(grok)
	for {
		n := f.next()
		if n.Entry != nil {
			break
		}
		if n.Trace != nil {
			notices = append(notices, n.Trace.Text)
		}
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "not trusted") {
		t.Errorf(`noticed: %q; want len(notices) == 1 and "not trusted" in notices[0]`, notices)
	}
	if _, shown := w.Problem("place:"); !shown {
		t.Error("not shown; want shown")
	}
	if err := w.Call(wire.MethodTrust, wire.TrustParams{Cwd: root}, nil); err == nil {
		t.Error("trusted without having been looked at")
	}
	if err := w.Call(wire.MethodTrust, wire.TrustParams{Cwd: root, Hash: "of something else"}, nil); err == nil {
		t.Error("trusted something other than was seen")
	}
	view := w.trust(sub)
	if len(view.Runs) != 1 || !strings.Contains(view.Runs[0], "no-prod") {
		t.Errorf("a person sees %q", view.Runs)
	}
	w.MustDeny(daemontest.ToolBefore("claude", "s", sub, "ship prod"), "refused by no-prod")
	w.MustPass(daemontest.ToolBefore("claude", "elsewhere", w.Base, "ship prod"))

	// Changed: what was trusted stays in force.
	w.Write(registry.ProjectFile(root), hooksFile(refusing("no-test", "test", "")))
	w.h.selection.Forget() // files are looked at again
	w.MustDeny(daemontest.ToolBefore("claude", "s", sub, "ship prod"), "refused by no-prod")
	w.MustPass(daemontest.ToolBefore("claude", "s", sub, "ship test"))
	if p, shown := w.Problem("place:"); !shown || !strings.Contains(p.What, "changed") {
		t.Errorf(`shown as %+v; want shown and "changed" in p.What`, p)
	}
	w.trust(root)
	w.MustDeny(daemontest.ToolBefore("claude", "s", sub, "ship test"), "refused by no-test")

	// Deleted: still.
	must(t, os.RemoveAll(filepath.Join(root, ".hookmux")))
	w.h.selection.Forget() // files are looked at again
	w.MustDeny(daemontest.ToolBefore("claude", "s", sub, "ship test"), "refused by no-test")
	w.MustCall(wire.MethodUntrust, wire.TrustParams{Cwd: root}, nil)
	w.MustPass(daemontest.ToolBefore("claude", "s", sub, "ship test"))
}

func TestAScriptOfAProjectRunsAsItWasTrusted(t *testing.T) {
	w := newFixture(t)
	root := w.project("p", `{"id":"check","agent":"*","hookType":"tool.before","handler":"script","target":".hookmux/check.sh"}`)
	script := filepath.Join(root, ".hookmux", "check.sh")
	w.Write(script, "#!/bin/sh\necho as trusted >&2\nexit 2\n")
	must(t, os.Chmod(script, 0o700))
	w.Up()
	w.trust(root)
	w.MustDeny(daemontest.ToolBefore("claude", "s", root, "x"), "as trusted")
	w.Write(script, "#!/bin/sh\nexit 0\n")
	w.h.selection.Forget() // files are looked at again
	w.MustDeny(daemontest.ToolBefore("claude", "s", root, "x"), "as trusted")
}

func TestABrokenFileKeepsWhatWasGood(t *testing.T) {
	w := newFixture(t)
	file := w.Dirs.Config + "/hooks.json"
	w.Write(file, hooksFile(refusing("no-prod", "prod", "")))
	w.Write(w.Dirs.Config+"/config.json", `{"guard.destructive": "block"}`)
	w.Up()
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "ship prod"), "no-prod")
	w.Write(file, `{"hooks": [ {"id": `)
	w.Write(w.Dirs.Config+"/config.json", `{"guard.destructive": `)
	var p wire.Problem
	w.Eventually("both are shown", func() bool {
		info, err := w.Client.Info(t.Context())
		must(t, err)
		shown := 0
		for _, p = range info.Problems {
			if strings.Contains(p.What, "hooks.json") || strings.Contains(p.What, "config.json") {
				shown++
			}
		}
		return shown >= 2
	})
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "ship prod"), "no-prod")
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "git push --force origin main"), "git-history.force-push")
	// Also after a restart.
	w.Down()
	w.Up()
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "ship prod"), "no-prod")
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "git push --force origin main"), "git-history.force-push")
	w.Write(file, hooksFile())
	w.Write(w.Dirs.Config+"/config.json", `{}`)
	w.soon("the mended files count", "ship prod", w.Base, false, "")
	w.Eventually("nothing is wrong", func() bool {
		info, err := w.Client.Info(t.Context())
		return err == nil && len(info.Problems) == 0
	})
}

func TestAProjectReplacesOnlyWhatIsNotLocked(t *testing.T) {
	w := newFixture(t)
	w.Write(w.Dirs.Config+"/hooks.json", hooksFile(refusing("loose", "prod", ""),
		refusing("fast", "live", `,"locked":true`)))
	harmless := `{"id":%q,"agent":"*","hookType":"tool.before","handler":"command","target":"true"}`
	root := w.project("p", fmt.Sprintf(harmless, "loose"), fmt.Sprintf(harmless, "fast"))
	w.Up()
	w.MustDeny(daemontest.ToolBefore("claude", "a", root, "ship prod"), "loose")
	view := w.trust(root)
	if strings.Join(view.Replaces, " ") == "" || !strings.Contains(strings.Join(view.Replaces, " "), "loose") {
		t.Errorf("a person sees that it replaces %q", view.Replaces)
	}
	w.MustPass(daemontest.ToolBefore("claude", "b", root, "ship prod"))
	w.MustDeny(daemontest.ToolBefore("claude", "b", root, "ship live"), "fast")
	w.MustDeny(daemontest.ToolBefore("claude", "c", w.Base, "ship prod"), "loose")
	var list []wire.ListedHook
	w.MustCall(wire.MethodHooksList, wire.HooksListParams{Cwd: root}, &list)
	inForce := map[string]bool{}
	for _, l := range list {
		var reg hook.Registration
		must(t, json.Unmarshal(l.Registration, &reg))
		inForce[l.Scope+":"+reg.ID] = l.InForce
	}
	if !inForce["project:loose"] || inForce["global:loose"] || !inForce["global:fast"] || inForce["project:fast"] {
		t.Errorf(`in force: %v; want inForce["project:loose"], !inForce["global:loose"], `+
			`inForce["global:fast"] and !inForce["project:fast"]`, inForce)
	}
}

func TestASessionKeepsTheProjectItStartedIn(t *testing.T) {
	w := newFixture(t)
	first := w.project("first", refusing("first", "prod", ""))
	w.Write(filepath.Join(first, ".hookmux", "config.json"), `{"guard.destructive": "block"}`)
	second := w.project("second", refusing("second", "live", ""))
	w.Up()
	w.trust(first)
	w.trust(second)
	start := daemontest.SessionEvent("claude", "SessionStart", map[string]any{"session_id": "wanders", "cwd": first})
	w.Send(start)
	w.MustDeny(daemontest.ToolBefore("claude", "wanders", second, "ship prod"), "refused by first")
	w.MustDeny(daemontest.ToolBefore("claude", "wanders", second, "ship live"), "refused by second")
	w.MustDeny(daemontest.ToolBefore("claude", "wanders", w.Base, "ship prod"), "refused by first")
	w.MustPass(daemontest.ToolBefore("claude", "stays", second, "ship prod"))
	// So do the guards it switched on.
	w.MustDeny(daemontest.ToolBefore("claude", "wanders", w.Base, "git push --force origin main"), "git-history.force-push")
	w.MustPass(daemontest.ToolBefore("claude", "stays", second, "git push --force origin main"))
}

func TestGuardsOnOffAskAndAllowed(t *testing.T) {
	w := open(t)
	push := func(session string) (string, bool) {
		r := w.Send(daemontest.ToolBefore("claude", session, w.Base, "git push --force origin main"))
		return string(r.Stdout), len(r.Stdout) > 0
	}
	set := func(value string) {
		w.MustCall(wire.MethodConfigSet, wire.ConfigSetParams{Key: "guard.destructive",
			Value: json.RawMessage(`"` + value + `"`)}, nil)
	}
	if _, stopped := push("s"); stopped {
		t.Error("stopped although it is off")
	}
	set("block")
	text, _ := push("s")
	if !strings.Contains(text, `"deny"`) || strings.Contains(text, "--once") {
		t.Errorf("on: %q; want a refusal that doesn't tell the model how to get around it", text)
	}
	rule := "git-history." + between(text, "git-history.", " ")
	set("ask")
	if text, _ = push("s"); !strings.Contains(text, `"ask"`) {
		t.Errorf("ask: %q; want `\"ask\"` in text", text)
	}
	set("block")

	// Once is one call, with its permission request; looking uses nothing up.
	w.MustCall(wire.MethodAllow, wire.AllowParams{Rule: rule, Once: true}, nil)
	r := daemontest.ToolBefore("claude", "s", w.Base, "git push --force origin main")
	for range 2 {
		var seen wire.Explained
		w.MustCall(wire.MethodExplain, wire.ExplainParams{Agent: "claude", Event: "PreToolUse", Payload: r.Payload},
			&seen)
		if seen.Answer.Stdout != "" {
			t.Errorf(`explained as %q, want ""`, seen.Answer.Stdout)
		}
	}
	if text, stopped := push("s"); stopped {
		t.Errorf("once: %q; want !stopped", text)
	}
	request := r
	request.Event = "PermissionRequest"
	request.Payload = []byte(strings.Replace(string(r.Payload), "PreToolUse", "PermissionRequest", 1))
	call := w.startCall(request) // no guard stops it, so it waits for you
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "once"})
	call.answer()
	w.MustDeny(request, "git-history.force-push")
	if _, stopped := push("s"); !stopped {
		t.Error("once was more than once")
	}

	w.MustCall(wire.MethodAllow, wire.AllowParams{Rule: rule}, nil)
	if text, stopped := push("s"); stopped {
		t.Errorf("always: %q; want !stopped", text)
	}
	w.MustCall(wire.MethodAllow, wire.AllowParams{Rule: rule, Drop: true}, nil)
	if _, stopped := push("s"); !stopped {
		t.Error("the allowance was not taken back")
	}
	if err := w.Call(wire.MethodAllow, wire.AllowParams{Rule: "destructive.nothing-like-it"}, nil); err == nil {
		t.Error("an unknown rule was allowed")
	}
	w.MustCall(wire.MethodConfigSet, wire.ConfigSetParams{Key: "guard.destructive"}, nil)
	if _, stopped := push("s"); stopped {
		t.Error("stopped although it is off again")
	}
	if err := w.Call(wire.MethodConfigSet, wire.ConfigSetParams{Key: "guard.destructive",
		Value: json.RawMessage(`"sometimes"`)}, nil); err == nil {
		t.Error("a wrong value was set")
	}
}

func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

func TestOwnFilesAreGuardedFromTheStart(t *testing.T) {
	w := open(t)
	root := w.project("p")
	for _, command := range []string{
		"echo '{}' > " + w.Dirs.Config + "/hooks.json",
		"echo '{}' > " + root + "/.hookmux/hooks.json",
		"sed -i s/a/b/ " + w.Dirs.Home + "/.claude/settings.json",
	} {
		w.MustDeny(daemontest.ToolBefore("claude", "s", root, command), "own-files")
	}
	w.MustPass(daemontest.ToolBefore("claude", "s", root, "cat "+root+"/.hookmux/hooks.json"))
}

func TestAddingToATrustedProjectKeepsItTrusted(t *testing.T) {
	w := newFixture(t)
	root := w.project("p", refusing("no-prod", "prod", ""))
	w.Up()
	w.trust(root)
	add := func(id, word string) wire.HooksEditResult {
		var done wire.HooksEditResult
		w.MustCall(wire.MethodHooksAdd, wire.HooksEditParams{Scope: registry.Project, Cwd: root,
			Registration: []byte(refusing(id, word, ""))}, &done)
		return done
	}
	if done := add("no-live", "live"); len(done.Notes) != 0 {
		t.Errorf("noted: %q; want len(done.Notes) == 0", done.Notes)
	}
	w.MustDeny(daemontest.ToolBefore("claude", "s", root, "ship live"), "no-live")
	w.MustDeny(daemontest.ToolBefore("claude", "s", root, "ship prod"), "no-prod")
	if err := w.Call(wire.MethodHooksAdd, wire.HooksEditParams{Scope: registry.Project, Cwd: root,
		Registration: []byte(refusing("no-live", "x", ""))}, nil); err == nil {
		t.Error("an id was given twice")
	}
	// In a project that is not trusted it stays so, and the user hears it.
	other := w.project("other", refusing("theirs", "prod", ""))
	var done wire.HooksEditResult
	w.MustCall(wire.MethodHooksAdd, wire.HooksEditParams{Scope: registry.Project, Cwd: other,
		Registration: []byte(refusing("mine", "live", ""))}, &done)
	if len(done.Notes) == 0 {
		t.Error("nobody was told that it does not run")
	}
	w.MustPass(daemontest.ToolBefore("claude", "t", other, "ship live"))
	// A folder without hooks becomes a project that is trusted from the start.
	fresh := filepath.Join(w.Base, "work", "fresh")
	must(t, os.MkdirAll(fresh, 0o700))
	w.MustCall(wire.MethodHooksAdd, wire.HooksEditParams{Scope: registry.Project, Cwd: fresh,
		Registration: []byte(refusing("first", "live", ""))}, &done)
	w.MustDeny(daemontest.ToolBefore("claude", "u", fresh, "ship live"), "first")
	if err := w.Call(wire.MethodHooksAdd, wire.HooksEditParams{Scope: registry.Project, Cwd: "relative",
		Registration: []byte(refusing("x", "live", ""))}, nil); err == nil {
		t.Error("a relative folder was taken")
	}
}

func TestConcurrentAddsAllSurvive(t *testing.T) {
	w := open(t)
	const writers = 40
	var wg sync.WaitGroup
	errs := make(chan error, writers)
	for i := range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs <- w.Call(wire.MethodHooksAdd, wire.HooksEditParams{Scope: registry.Global,
				Registration: []byte(refusing(fmt.Sprint("h", i), "x", ""))}, nil)
		}()
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	var list []wire.ListedHook
	w.MustCall(wire.MethodHooksList, wire.HooksListParams{}, &list)
	if len(list) != writers {
		t.Errorf("%d of %d survive; want len(list) == writers", len(list), writers)
	}
}

func TestAFailingGuardFailsClosedAndAnObserverIsReported(t *testing.T) {
	w := newFixture(t)
	w.Write(w.Dirs.Config+"/hooks.json", hooksFile(
		`{"id":"crashes","agent":"*","hookType":"tool.before","handler":"command","target":"exit 7","match":{"command":"crash"}}`,
		`{"id":"gone","agent":"*","hookType":"tool.before","handler":"script","target":"/no/such/file","match":{"command":"gone"}}`,
		`{"id":"hangs","agent":"*","hookType":"tool.before","handler":"command","target":"sleep 60","timeout":"200ms","match":{"command":"hang"}}`,
		`{"id":"watcher","agent":"*","hookType":"turn.end","handler":"command","role":"observe","target":"exit 9"}`,
	))
	w.Up()
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "crash"), "crashes")
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "gone"), "gone")
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "hang"), "hangs")
	w.MustPass(daemontest.ToolBefore("claude", "s", w.Base, "fine"))
	w.MustPass(daemontest.SessionEvent("claude", "Stop", nil))
	w.Eventually("the observer's failure is shown", func() bool { _, shown := w.Problem("hook:watcher"); return shown })
}

// A handler that is itself a hook call, on and on, comes to an end.
func TestAHandlerThatCallsHooksEnds(t *testing.T) {
	w := newFixture(t)
	depth := 0
	var again *hook.Entry
	again = daemontest.Entry(t, "again", hook.Guard, event.ToolBefore,
		func(context.Context, *hook.Call) (event.Decision, error) {
			depth++
			if depth > 50 {
				return event.Decision{Verdict: event.Deny, Reason: "round and round"}, nil
			}
			// What runs below a handler has the daemon above it.
			w.SetProcesses(daemontest.BelowDaemon())
			r := daemontest.ToolBefore("claude", "below", w.Base, "x")
			r.Env = []byte("HOOKMUX_HANDLER=" + again.ID + "\x00")
			if _, err := w.TrySend(r); err != nil {
				return event.Decision{}, err
			}
			return event.Decision{}, nil
		})
	w.Up(again)
	w.MustPass(daemontest.ToolBefore("claude", "s", w.Base, "x"))
	if depth != 1 {
		t.Errorf("the handler met itself %d times", depth-1)
	}
}

// What cuts itself loose from a handler is known by what it inherited: a hook
// that starts something in the background must not call itself for ever.
func TestADetachedChildOfAHandlerIsNested(t *testing.T) {
	w := newFixture(t)
	var met atomic.Int32
	loop := daemontest.Entry(t, "claude:PreToolUse:x", hook.Guard, event.ToolBefore,
		func(context.Context, *hook.Call) (event.Decision, error) {
			met.Add(1)
			return event.Decision{Verdict: event.Deny, Reason: "met"}, nil
		})
	w.Up(loop)
	r := daemontest.ToolBefore("claude", "s", w.Base, "x")
	r.Env = []byte("A=1\x00HOOKMUX_HANDLER=" + w.h.marks.Mark(loop.ID) + "\x00")
	r.ID = "detached"
	w.MustPass(r)
	if met.Load() != 0 || !w.Row("detached", false).Nested {
		t.Errorf(`met %d times; want met.Load() == 0 and w.Row("detached", false).Nested`, met.Load())
	}
	// A name without our signature keeps no guard away.
	r = daemontest.ToolBefore("claude", "s", w.Base, "x")
	r.Env = []byte("HOOKMUX_HANDLER=" + loop.ID + "\x00")
	w.MustDeny(r, "met")
	r.Env = []byte("HOOKMUX_HANDLER=" + loop.ID + "=00112233445566778899aabb\x00")
	r.ID = ""
	w.MustDeny(r, "met")
}

func TestSettingsAreListedWithTheirOrigin(t *testing.T) {
	w := newFixture(t)
	w.Write(w.Dirs.System+"/config.json", `{"journal.keep": "10d"}`)
	w.Write(w.Dirs.Config+"/config.json", `{"guard.secrets": "ask"}`)
	w.Up()
	var list []wire.Setting
	w.MustCall(wire.MethodConfigGet, wire.ConfigListParams{Cwd: w.Base}, &list)
	origin := map[string]string{}
	for _, s := range list {
		origin[s.Key] = s.Origin
	}
	if origin["journal.keep"] != "system" || origin["guard.secrets"] != "user" ||
		origin["guard.own-files"] != "default" {
		t.Errorf(`origins: %v; want origin["journal.keep"] == "system", origin["guard.secrets"] == "user" `+
			`and origin["guard.own-files"] == "default"`, origin)
	}
}
