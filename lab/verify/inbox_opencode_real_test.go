package verify

import (
	"context"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Taking up what OpenCode offers lets like calls
// pass without asking.
func TestRealOpenCodeStanding(t *testing.T) {
	st := realTestBed(t, "opencode")
	shell := func(command string) model.ToolCall { return st.Table.Shell.Call(command) }
	st.SetScript(append(testbed.CallSteps(shell("touch ran-st-one"), shell("touch ran-st-two"),
		shell("mkdir ran-st-three")), model.Step{Say: testbed.LastWords}))
	if err := st.StartDaemonWithHooks(nil); err != nil {
		t.Fatal(err)
	}
	st.Env = append(st.Env, st.Driver.StrictEnv...)
	p, err := checks.AttachPerson(context.Background(), st) // before the agent: it may ask at once
	if err != nil {
		t.Fatal(err)
	}
	defer p.Detach()
	err = st.AtTerminal(context.Background(), st.Driver.TUI(testbed.MarkedPrompt("Run it"), true),
		func(ctx context.Context, term *testbed.Terminal) error {
			if !p.WasAsked("st-one", st.Patience) {
				t.Fatalf("no request\n%s; want p.WasAsked(\"st-one\", st.Patience)", term.KeepScreen())
			}
			p.SendReply("st-one", wire.InboxReplyParams{Choice: string(event.ChooseAlways), Suggestion: 1})
			if !p.WasAsked("st-three", st.Patience) {
				t.Fatalf("no request for another program\n%s", term.KeepScreen())
			}
			p.SendReply("st-three", wire.InboxReplyParams{Choice: string(event.ChooseDeny),
				Reason: testbed.WordFor(testbed.WordReason, "st-three")})
			if !st.Watcher.WaitForOne(ctx, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd }) {
				t.Errorf("the turn did not end\n%s", term.CaptureScreen(context.Background()))
			}
			for tag, item := range p.Inbox.Asked {
				if tag == "st-two" {
					t.Errorf("asked again about what needs no leave any more: %s", item.Input)
				}
			}
			t.Log(p.Inbox.Replies)
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]bool{"st-one": true, "st-two": true, "st-three": false} {
		if st.LeftItsFile(tag) != want {
			t.Errorf("%s ran: %v, want %v", tag, st.LeftItsFile(tag), want)
		}
	}
}

// Headless OpenCode rejects permissions by itself, so that
// a person is asked at its before-hook.
func TestRealOpenCodeRun(t *testing.T) {
	st := realTestBed(t, "opencode")
	st.SetScript(append(testbed.CallSteps(st.TaggedCall("run-yes"), st.TaggedCall("run-no")),
		model.Step{Say: testbed.LastWords}))
	if err := drivers.MergeJSON(st.Home+"/.config/hookmux/config.json",
		map[string]any{"approvals.policy.opencode": "side-effects"}); err != nil {
		t.Fatal(err)
	}
	if err := st.StartDaemonWithHooks(nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), st.Patience)
	defer cancel()
	p, err := checks.AttachPerson(ctx, st)
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- st.RunHeadless(ctx, st.AgentCommand(), st.FreeCommand("Run it")) }()
	for tag, reply := range map[string]wire.InboxReplyParams{
		"run-yes": {Choice: string(event.ChooseOnce)}, "run-no": {Choice: string(event.ChooseDeny), Reason: testbed.WordFor(testbed.WordReason, "run-no")},
	} {
		go func() {
			if p.WasAsked(tag, st.Patience) {
				if st.LeftItsFile(tag) {
					t.Errorf("%s ran before anybody answered", tag)
				}
				p.SendReply(tag, reply)
			}
		}()
	}
	began := time.Now()
	err = <-ran
	p.Detach()
	e := st.CollectEvidence(err, began)
	logEvidence(t, e)
	if e.Err != nil || !e.Ran("run-yes") || e.Ran("run-no") || !e.Saw(testbed.WordFor(testbed.WordReason, "run-no")) {
		t.Errorf("%v: ran %v %v, reason read %v, replies %v", e.Err, e.Ran("run-yes"), e.Ran("run-no"),
			e.Saw(testbed.WordFor(testbed.WordReason, "run-no")), e.Inbox.Replies)
	}
}
