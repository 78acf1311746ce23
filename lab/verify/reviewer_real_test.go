package verify

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// reviewRefusal is why the scripted reviewer refuses.
const reviewRefusal = "the scripted reviewer does not like it"

// reviewedAgent is an agent that decides about calls by itself when it is told to.
type reviewedAgent struct {
	name string
	// reviewed makes arguments with which it does so from those with which it asks.
	reviewed func(asking []string) []string
	// reviewer and mode are what ps says then, and says is what show prints.
	reviewer event.Reviewer
	mode     string
	says     string
	// asksLater says that it asks its reviewer after its permission request went to
	// hooks, in a request of its own to the model. Otherwise the verdict comes with
	// the call, and there is no permission request.
	asksLater bool
}

var reviewedAgents = []reviewedAgent{
	{
		name: "codex", reviewer: event.ReviewerAgent, mode: "default", asksLater: true,
		says: "Codex's own reviewer decides; you're not asked",
		reviewed: func(asking []string) []string {
			return append([]string{"-c", "approvals_reviewer=auto_review"}, asking...)
		},
	},
	{
		name: "claude", mode: "auto", says: "mode        auto",
		reviewed: func(asking []string) []string {
			return append([]string{"--permission-mode", "auto"}, asking[2:]...) // for "--permission-mode default"
		},
	},
}

// Hooks are installed and somebody follows the inbox. What the
// agent's own reviewer decides about is never kept waiting:
// its yes runs the call, its no counts as denied. The same call waits where no
// reviewer is set.
func TestRealReviewer(t *testing.T) {
	for _, agent := range reviewedAgents {
		t.Run(agent.name+" reviews", agent.testReviews)
		t.Run(agent.name+" asks", agent.testAsks)
	}
}

func (a reviewedAgent) testReviews(t *testing.T) {
	st := reviewedTestBed(t, a.name)
	looking, looked := make(chan string), make(chan struct{})
	st.Model.SetScenario(st.Run, model.Scenario{
		Steps: append(testbed.CallSteps(reviewedCall(st, "liked"), reviewedCall(st, "disliked")),
			model.Step{Say: testbed.LastWords}),
		Review: func(action string) string {
			if a.asksLater {
				handOver(t.Context(), looking, action)
				handOver(t.Context(), looked, struct{}{})
			}
			if strings.Contains(action, "ran-disliked") {
				return reviewRefusal
			}
			return ""
		},
	})
	p := besideAgent(t, st)
	args := a.reviewed(st.Driver.TUI(testbed.MarkedPrompt("Run it"), true))
	err := st.AtTerminal(t.Context(), args, func(ctx context.Context, term *testbed.Terminal) error {
		for _, tag := range []string{"liked", "disliked"} {
			if !a.asksLater {
				break
			}
			select {
			case action := <-looking:
				a.whileReviewed(p, action, tag)
				<-looked
			case <-ctx.Done():
				t.Fatalf("the reviewer is never asked about %s; the screen shows\n%s", tag, squeeze(term.KeepScreen()))
			}
		}
		if !st.Watcher.WaitForOne(ctx, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd }) {
			t.Fatalf("the turn does not end; the screen shows\n%s", squeeze(term.KeepScreen()))
		}
		a.afterReviews(ctx, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if liked, disliked := st.LeftItsFile("liked"), st.LeftItsFile("disliked"); !liked || disliked {
		t.Errorf("what the reviewer allowed ran: %v, what it refused ran: %v; expected true and false", liked, disliked)
	}
	if !st.Model.Saw(st.Run, reviewRefusal) {
		t.Error("the model never read why the reviewer refused, expected it in a result")
	}
	requests := 0
	for _, seen := range st.Watcher.AllSeen() {
		if seen.Event.Kind == event.PermissionRequest {
			requests++
		}
	}
	if want := map[bool]int{true: 2}[a.asksLater]; requests != want {
		t.Errorf("%d permission requests came to hookmux, expected %d", requests, want)
	}
}

// whileReviewed looks at what hookmux says while the reviewer thinks about a call. That
// it thinks already means that the hook did not wait.
func (a reviewedAgent) whileReviewed(p *shellOf, action, tag string) {
	p.t.Helper()
	if !strings.Contains(action, "ran-"+tag) {
		p.t.Errorf("the reviewer is asked about %q, expected ran-%s", action, tag)
	}
	one := p.onlySession()
	if one.Status != string(state.Running) || one.Reviewer != a.reviewer {
		p.t.Errorf("while %s is reviewed ps says %s, reviewer %q; expected running, %q", tag, one.Status, one.Reviewer,
			a.reviewer)
	}
	p.expectNobodyAsked(&one)
	if p.st.LeftItsFile(tag) {
		p.t.Errorf("%s ran, expected that it waits for its reviewer", tag)
	}
}

// afterReviews looks at the turn, one of whose calls was refused.
func (a reviewedAgent) afterReviews(ctx context.Context, p *shellOf) {
	p.t.Helper()
	// Refusals are read from the agent's record, which is a little behind.
	testbed.WaitUntil(ctx, 100*time.Millisecond, func() bool {
		var list []wire.Session
		return p.st.Daemon.CallMethod(wire.MethodSessions, wire.SessionsParams{}, &list) == nil &&
			len(list) == 1 && list[0].Turn != nil && list[0].Turn.CallsDenied > 0
	})
	one := p.onlySession()
	p.expectNobodyAsked(&one)
	if one.Reviewer != a.reviewer || one.Mode != a.mode {
		p.t.Errorf("ps says reviewer %q, mode %q; expected %q, %q", one.Reviewer, one.Mode, a.reviewer, a.mode)
	}
	if turn := one.Turn; turn == nil || turn.CallsDenied != 1 || turn.CallsFailed != 0 || turn.Result != string(state.OK) {
		p.t.Errorf("the turn is %+v, expected result ok, 1 call denied and none failed", one.Turn)
	}
	if said := p.types("show", one.ID); !strings.Contains(said, a.says) {
		p.t.Errorf("show says\n%s\nexpected %q", said, a.says)
	}
	var items []wire.InboxRequest
	ever := wire.InboxListParams{Prompts: true, All: true}
	if err := p.st.Daemon.CallMethod(wire.MethodInboxItems, ever, &items); err != nil || len(items) > 0 {
		p.t.Errorf("the inbox had %d requests (%v), expected that there never was one: %+v", len(items), err, items)
	}
	if said := p.said("watched"); strings.Contains(said, "liked") {
		p.t.Errorf("expected that whoever follows the inbox is shown no reviewed call, they saw\n%s", said)
	}
}

func (a reviewedAgent) testAsks(t *testing.T) {
	st := reviewedTestBed(t, a.name)
	st.SetScript(append(testbed.CallSteps(reviewedCall(st, "liked")), model.Step{Say: testbed.LastWords}))
	p := besideAgent(t, st)
	args := st.Driver.TUI(testbed.MarkedPrompt("Run it"), true)
	err := st.AtTerminal(t.Context(), args, func(ctx context.Context, term *testbed.Terminal) error {
		item := p.next("permission", map[string]bool{})
		one := p.onlySession()
		if one.Status != string(state.WaitingForYou) || !slices.Contains(one.Waits, item.ID) ||
			one.Reviewer == event.ReviewerAgent {
			t.Errorf("ps says %s, waits for %v, reviewer %q; expected waiting, %s and not the agent", one.Status,
				one.Waits, one.Reviewer, item.ID)
		}
		if st.LeftItsFile("liked") {
			t.Error("the call ran, expected that it waits for a person")
		}
		if said := p.types("approve", item.ID); !strings.Contains(said, "exit 0") {
			t.Errorf("approve says\n%s\nexpected exit 0", said)
		}
		if !st.Watcher.WaitForOne(ctx, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd }) {
			t.Fatalf("the turn does not end; the screen shows\n%s", squeeze(term.KeepScreen()))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !st.LeftItsFile("liked") {
		t.Error("the call did not run, expected that it does once it was approved")
	}
	if said := p.said("watched"); !strings.Contains(said, "liked") {
		t.Errorf("expected that whoever follows the inbox is shown the call, they saw\n%s", said)
	}
}

// reviewedTestBed has a daemon, and hooks that the installer wrote into the home.
func reviewedTestBed(t *testing.T, name string) *testbed.TestBed {
	t.Helper()
	st := realTestBed(t, name)
	st.Driver.Run = false
	terminalPerson(st, personSocket)
	// Nobody is in a hurry on a machine that has more to do.
	writePersonFile(t, st.Dirs.Config, "config.json", `{"inbox.wait.codex": "60s"}`)
	if err := st.StartDaemonWithHooks(nil); err != nil {
		t.Fatal(err)
	}
	return st
}

// reviewedCall returns a call that no agent takes for harmless.
func reviewedCall(st *testbed.TestBed, tag string) model.ToolCall {
	return st.EscalateCall(st.Table.Shell.Call("curl -sm 1 http://127.0.0.1:9/; " + testbed.TaggedCommand(tag)))
}

// handOver sends, unless ctx is over first.
func handOver[T any](ctx context.Context, to chan<- T, what T) {
	select {
	case to <- what:
	case <-ctx.Done():
	}
}

// onlySession returns the one session that ps shows: a reviewer's own thread does not count.
func (p *shellOf) onlySession() wire.Session {
	p.t.Helper()
	var list []wire.Session
	said := p.types("ps", "--json")
	if err := json.NewDecoder(strings.NewReader(said)).Decode(&list); err != nil || len(list) != 1 {
		p.t.Fatalf("ps shows %d sessions (%v), expected 1:\n%s", len(list), err, said)
	}
	return list[0]
}

// expectNobodyAsked holds that neither ps nor the inbox has anything that waits.
func (p *shellOf) expectNobodyAsked(one *wire.Session) {
	p.t.Helper()
	if one.Status == string(state.WaitingForYou) || one.WaitingSince != nil || len(one.Asks)+len(one.Waits) > 0 {
		p.t.Errorf("ps says %s, waiting since %v for %v %v; expected that nobody is asked", one.Status,
			one.WaitingSince, one.Asks, one.Waits)
	}
	var items []wire.InboxRequest
	said := p.types("inbox", "--json")
	if err := json.NewDecoder(strings.NewReader(said)).Decode(&items); err != nil || len(items) != 0 {
		p.t.Errorf("the inbox has %d requests (%v), expected none:\n%s", len(items), err, said)
	}
}
