package verify

import (
	"context"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/verify/model"
	"github.com/hookmux/hookmux/internal/wire"
)

// TestRealOpenCodeStanding: taking up what OpenCode offers lets like calls
// pass without asking.
func TestRealOpenCodeStanding(t *testing.T) {
	st := realStage(t, "opencode")
	shell := func(command string) model.ToolCall { return st.Table.Shell.Call(command) }
	st.setScript(append(callSteps(shell("touch ran-st-one"), shell("touch ran-st-two"), shell("mkdir ran-st-three")), model.Step{Say: lastWords}))
	if err := st.startHubWithHooks(nil); err != nil {
		t.Fatal(err)
	}
	st.Env = append(st.Env, st.Driver.StrictEnv...)
	err := st.atTerminal(context.Background(), st.Driver.TUI(markedPrompt("Run it"), true), func(ctx context.Context, term *terminal) error {
		p, err := st.attachPerson(ctx)
		if err != nil {
			return err
		}
		defer p.detach()
		if !p.wasAsked("st-one", st.patience) {
			t.Fatalf("no request\n%s", term.captureScreen(ctx))
		}
		p.sendReply("st-one", wire.FeedReplyParams{Choice: string(event.ChooseAlways), Suggestion: 1})
		if !p.wasAsked("st-three", st.patience) {
			t.Fatalf("no request for another program\n%s", term.captureScreen(ctx))
		}
		p.sendReply("st-three", wire.FeedReplyParams{Choice: string(event.ChooseDeny), Reason: wordFor(wordReason, "st-three")})
		if !st.watcher.waitForOne(ctx, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd }) {
			t.Errorf("the turn did not end\n%s", term.captureScreen(context.Background()))
		}
		for tag, item := range p.feed.Asked {
			if tag == "st-two" {
				t.Errorf("asked again about what needs no leave any more: %s", item.Input)
			}
		}
		t.Log(p.feed.Replies)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]bool{"st-one": true, "st-two": true, "st-three": false} {
		if st.leftItsFile(tag) != want {
			t.Errorf("%s ran: %v, want %v", tag, st.leftItsFile(tag), want)
		}
	}
}

// TestRealOpenCodeRun: headless OpenCode rejects permissions by itself, so that
// a person is asked at its before-hook.
func TestRealOpenCodeRun(t *testing.T) {
	st := realStage(t, "opencode")
	st.setScript(append(callSteps(st.taggedCall("run-yes"), st.taggedCall("run-no")), model.Step{Say: lastWords}))
	if err := mergeJSON(st.Home+"/.config/hookmux/config.json", map[string]any{"gate.opencode": "side-effects"}); err != nil {
		t.Fatal(err)
	}
	if err := st.startHubWithHooks(nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), st.patience)
	defer cancel()
	p, err := st.attachPerson(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- st.runHeadless(ctx, st.start(), st.freeCommand("Run it")) }()
	for tag, reply := range map[string]wire.FeedReplyParams{
		"run-yes": {Choice: string(event.ChooseOnce)}, "run-no": {Choice: string(event.ChooseDeny), Reason: wordFor(wordReason, "run-no")},
	} {
		go func() {
			if p.wasAsked(tag, st.patience) {
				if st.leftItsFile(tag) {
					t.Errorf("%s ran before anybody answered", tag)
				}
				p.sendReply(tag, reply)
			}
		}()
	}
	began := time.Now()
	err = <-ran
	p.detach()
	e := st.collectEvidence(err, began)
	logEvidence(t, e)
	if e.Err != nil || !e.Ran("run-yes") || e.Ran("run-no") || !e.Saw(wordFor(wordReason, "run-no")) {
		t.Errorf("%v: ran %v %v, reason read %v, replies %v", e.Err, e.Ran("run-yes"), e.Ran("run-no"), e.Saw(wordFor(wordReason, "run-no")), e.Feed.Replies)
	}
}
