package browsertest

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/programs"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// built are both programs, for tests that run a real agent.
var built = programs.Shared{Options: programs.Options{Released: true}}

func TestMain(m *testing.M) {
	code := m.Run()
	built.Remove()
	builtFleet.Remove()
	os.Exit(code)
}

// realWorld returns the page of a daemon that a real agent reports to.
func realWorld(t *testing.T, name string) (*world, *testbed.TestBed) {
	t.Helper()
	findBrowser(t)
	in := agentstest.Require(t, name)
	driver, _ := drivers.Find(name)
	srv, err := model.Start(model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	st, err := testbed.New(&testbed.Setting{Driver: driver, In: in, Bin: built.Folder(t), Model: srv,
		Patience: agentstest.Timeout, Serial: func() string { return t.Name() }}, "page")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		st.ClearUp() // first: what still runs would start a daemon of its own
		st.StopDaemon()
		testbed.RemoveAll(st.Base)
	})
	if err := st.StartDaemonWithHooks(nil); err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, patience: time.Minute, call: func(method string, params, result any) error {
		return st.Daemon.CallMethod(method, params, result)
	}}
	w.servePage()
	w.startBrowser()
	w.pair()
	return w, st
}

// answer waits for a request of a command and answers it on the page.
func (w *world) answer(command string, actions ...chromedp.Action) {
	w.T.Helper()
	w.run("the request "+command, chromedp.WaitVisible(`//article//pre[contains(., "`+command+`")]`))
	w.run("the answer to "+command, actions...)
	w.run("it's gone: "+command, chromedp.WaitNotPresent(`//article//pre[contains(., "`+command+`")]`))
}

func approve() chromedp.Action { return chromedp.Click(button("Approve")) }

// A real Claude Code asks, and you answer on the page: yes, no with a reason, a question,
// a permission that's saved. In between the page is loaded again, the daemon restarts,
// the phone is away for ten minutes, and in the end the device is removed.
func TestRealClaudeOnThePage(t *testing.T) {
	w, st := realWorld(t, "claude")
	began := time.Now()
	shell := func(tag string) model.ToolCall { return st.EscalateCall(st.Table.Shell.Call("touch ran-" + tag)) }
	choice := func(label string) map[string]any { return map[string]any{"label": label, "description": label} }
	ask := model.Call("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": "Which colour?",
		"header": "Colour", "multiSelect": false, "options": []any{choice("red"), choice("blue")}}}})
	st.SetScript(append(testbed.CallSteps(shell("yes"), shell("no"), ask, shell("kept"), shell("kept"), shell("reload"),
		shell("restart"), shell("away"), shell("removed")), model.Step{Say: testbed.LastWords}))
	st.Env = append(st.Env, st.Driver.StrictEnv...)
	ran := func(tag string) {
		t.Helper()
		c, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		testbed.WaitUntil(c, 20*time.Millisecond, func() bool { return st.LeftItsFile(tag) })
	}
	kept := 0
	err := st.AtTerminal(t.Context(), st.Driver.TUI(testbed.MarkedPrompt("Run it"), true), func(ctx context.Context, _ *testbed.Terminal) error {
		w.run("it asks", chromedp.WaitVisible(`//article//pre[contains(., "ran-yes")]`))
		if st.LeftItsFile("yes") {
			t.Error("the command ran before it was approved")
		}
		w.answer("ran-yes", approve())
		ran("yes")

		w.answer("ran-no", chromedp.Click(button("Deny")), chromedp.WaitVisible("article textarea", chromedp.ByQuery),
			chromedp.SendKeys("article textarea", testbed.WordFor(testbed.WordReason, "page"), chromedp.ByQuery), chromedp.Click(`//article//form//button[contains(., "Deny")]`))

		w.run("the question", chromedp.WaitVisible(option("blue")))
		w.run("its answer", chromedp.Click(option("blue")), chromedp.Click(button("Answer")))

		w.answer("ran-kept", chromedp.Click(button("save a permission")), chromedp.WaitVisible(".rule", chromedp.ByQuery),
			chromedp.Click(`//article//form//button[contains(., "Approve and save")]`))
		ran("kept")

		w.run("reload", chromedp.WaitVisible(`//article//pre[contains(., "ran-reload")]`), chromedp.Reload())
		w.answer("ran-reload", approve())
		ran("reload")

		testbed.WaitUntil(ctx, 20*time.Millisecond, func() bool { return countKept(st.Watcher.AllSeen()) == 2 })
		kept = countKept(st.Watcher.AllSeen()) // the next daemon's watcher is another one
		w.run("before the restart", chromedp.WaitVisible(`//article//pre[contains(., "ran-restart")]`))
		if err := st.RestartDaemon(nil, func() { w.run("offline", chromedp.WaitVisible(".link.offline", chromedp.ByQuery)) }); err != nil {
			return err
		}
		w.run("after the restart", chromedp.WaitVisible(".link.live", chromedp.ByQuery))
		w.answer("ran-restart", approve())
		ran("restart")

		w.run("before ten minutes", chromedp.WaitVisible(`//article//pre[contains(., "ran-away")]`))
		w.MustCall(wire.MethodWebStop, nil, nil)
		w.run("away", chromedp.WaitVisible(".link.offline", chromedp.ByQuery),
			chromedp.Evaluate(`{ const now = Date.now.bind(Date); Date.now = () => now() + 600000 }`, nil))
		var status wire.WebStatus
		w.MustCall(wire.MethodWebStart, wire.WebStartParams{}, &status)
		w.run("back", chromedp.WaitVisible(".link.live", chromedp.ByQuery))
		w.answer("ran-away", approve())
		ran("away")

		w.run("the last", chromedp.WaitVisible(`//article//pre[contains(., "ran-removed")]`))
		var devices []wire.WebDevice
		w.MustCall(wire.MethodWebDevices, nil, &devices)
		w.MustCall(wire.MethodWebDeviceRemove, wire.WebDeviceParams{Device: devices[0].ID}, nil)
		w.run("removed", chromedp.WaitVisible(`//h1[contains(., "Pair this device")]`), chromedp.WaitNotPresent("article", chromedp.ByQuery))
		var list []wire.InboxRequest
		w.MustCall(wire.MethodInboxItems, nil, &list)
		for _, one := range list {
			w.MustCall(wire.MethodInboxReply, wire.InboxReplyParams{ID: one.ID, SHA256: one.SHA256, Choice: "deny"}, nil)
		}
		c, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		st.Watcher.WaitForOne(c, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd })
		return nil
	})
	e := st.CollectEvidence(err, began)
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]bool{"yes": true, "no": false, "kept": true, "reload": true, "restart": true,
		"away": true, "removed": false} {
		if e.Ran(tag) != want {
			t.Errorf("the command %s ran: %v, want %v", tag, !want, want)
		}
	}
	for what, text := range map[string]string{"the reason": testbed.WordFor(testbed.WordReason, "page"),
		"the answer": `"Which colour?"="blue"`} {
		if !e.Saw(text) {
			t.Errorf("the model wasn't told %s, %q", what, text)
		}
	}
	if kept != 2 {
		t.Errorf("the command of the saved permission ran %d times, want 2", kept)
	}
	if len(w.errors) > 0 {
		t.Errorf("the page throws: %v", w.errors)
	}
}

// countKept returns how often the command of the saved permission has run.
func countKept(seen []testbed.Seen) int {
	n := 0
	for _, s := range seen {
		if s.Event.Kind == event.ToolAfter && testbed.TagOf(&s.Event) == "kept" {
			n++
		}
	}
	return n
}

// A plan of a real Claude Code: refused with what to change, then approved.
func TestRealClaudePlansOnThePage(t *testing.T) {
	w, st := realWorld(t, "claude")
	began := time.Now()
	st.SetScript(append(testbed.CallSteps(st.Driver.Questions.PlanCalls("# Plan\n\n1. Do it **well**\n", 1)...), model.Step{Say: testbed.LastWords}))
	err := st.AtTerminal(t.Context(), st.Driver.Questions.Args(testbed.MarkedPrompt("Plan it")), func(ctx context.Context, _ *testbed.Terminal) error {
		w.run("the plan", chromedp.WaitVisible(`//article//strong[contains(., "well")]`), chromedp.Click(button("Send back")), chromedp.WaitVisible("article textarea", chromedp.ByQuery),
			chromedp.SendKeys("article textarea", testbed.WordFor(testbed.WordReason, "plan"), chromedp.ByQuery), chromedp.Click(`//article//form//button[contains(., "Send back")]`))
		w.run("the plan again", chromedp.WaitNotPresent("article textarea", chromedp.ByQuery), chromedp.WaitVisible(`//article//strong[contains(., "well")]`), chromedp.Click(button("Accept")))
		c, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		st.Watcher.WaitForOne(c, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd })
		return nil
	})
	e := st.CollectEvidence(err, began)
	if err != nil {
		t.Fatal(err)
	}
	if !e.Saw(testbed.WordFor(testbed.WordReason, "plan")) {
		t.Error("the model wasn't told what to change")
	}
	approved := false
	for _, m := range e.Told {
		approved = approved || m.Role != model.RoleAssistant && strings.Contains(m.Text, "approved")
	}
	if !approved {
		t.Error("the model wasn't told that the plan is approved")
	}
}
