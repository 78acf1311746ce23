package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/tmux"
	"github.com/hookmux/hookmux/internal/wire"
)

// What waits for a person is one list: whatever happens, inbox, ps, tmux and
// `jump --next` name the same. The services are the real ones; nothing runs in
// the background, so that every step can be looked at.

// agentPID is the one process there is.
const agentPID = 5_000_009

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// waitingRig is sessions and approvals as a daemon has them.
type waitingRig struct {
	t         failer
	sessions  *Service
	approvals *approvals.Service
	tmux      map[string]tmux.Change  // as the display was told
	windows   map[string]bool         // as those who follow the inbox were told
	calls     map[string]*waitingCall // by the id of the event
	count     int
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// waitingCall is a call that may wait for a person.
type waitingCall struct {
	ev       event.Event
	decision event.Decision
	request  string
	done     chan struct{}
}

// testChoices is the user's settings: everything the agent asks is put to them.
type testChoices struct{}

func (testChoices) ApprovalLevel(*event.Event) (string, bool)   { return string(policy.All), true }
func (testChoices) WaitTime(*event.Event) (time.Duration, bool) { return time.Hour, true }
func (testChoices) ProjectOf(string) string                     { return "" }
func (testChoices) RepositoryOf(string) string                  { return "" }
func (testChoices) PushCommand() string                         { return "" }
func (testChoices) KeepOwnEvents() time.Duration                { return time.Hour }

type noRecorder struct{}

func (noRecorder) WakeJournal()                             {}
func (noRecorder) RecordOwn(string, string, time.Time, any) {}
func (noRecorder) LogOnlyCalls(context.Context, time.Time, int, func(wire.LogOnlyCall)) error {
	return nil
}

func (noRecorder) PastRequests(context.Context, time.Time, int, func(approvals.PastRequest)) error {
	return nil
}

type noStreams struct{}

func (noStreams) Publish(string, any) {}
func (noStreams) Watched() bool       { return false }

// newWaitingRig makes the services. The returned function ends them.
func newWaitingRig(t failer) (*waitingRig, func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "hookmux-waiting-")
	if err != nil {
		t.Fatalf("error %v, want no error", err)
	}
	dirs := paths.Dirs{Home: dir, Runtime: dir + "/run", State: dir + "/state", Config: dir + "/config"}
	if err := os.MkdirAll(dirs.State, 0o700); err != nil {
		t.Fatalf("error %v, want no error", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	deps := services.Deps{
		Dirs: dirs, Catalogue: agent.Builtin(), Processes: proctest.New(proctest.Node{PID: agentPID, Name: "codex"}),
		Log:      slog.New(slog.DiscardHandler),
		Problems: services.NewProblems(nil), Redactor: redact.New(), Notes: noStreams{}, Background: new(services.Background),
	}
	rig := &waitingRig{t: t, tmux: map[string]tmux.Change{}, windows: map[string]bool{}, calls: map[string]*waitingCall{}}
	rig.sessions = New(ctx, deps, Options{
		Settings: config.New(config.Options{}), SessionGone: func(string, string) {},
		TerminalReport: func(*event.Event) (*state.TerminalReport, error) { return nil, nil },
		PromptsChanged: rig.windowsChanged,
	})
	rig.approvals = approvals.New(approvals.Options{
		Deps: deps, Settings: testChoices{}, Recorder: noRecorder{}, Sessions: rig.sessions,
		MayAnswer: func(proc.Cred) (bool, string) { return true, "" },
		Stopping:  func() bool { return false }, Context: ctx, Started: time.Now(),
	})
	rig.approvals.AddSink(1) // somebody is there
	return rig, func() {
		rig.approvals.EndRequests()
		for _, call := range rig.calls {
			rig.awaitCall(call)
		}
		rig.approvals.Close()
		cancel()
		rig.sessions.store.closeLog()
		rig.sessions.panes.waitStopped()
		rig.sessions.processes.waitStopped()
		rig.sessions.answers.waitStopped()
		_ = os.RemoveAll(dir)
	}
}

// windowsChanged keeps what followers of the inbox know of windows.
func (r *waitingRig) windowsChanged(agentName, session string, items []wire.InboxRequest) {
	maps.DeleteFunc(r.windows, func(id string, _ bool) bool { return strings.HasPrefix(id, agentName+":"+session+" ") })
	for _, item := range items {
		r.windows[agentName+":"+session+" "+item.ID] = true
	}
}

// tell has an event happen. waits has a person asked about it here, where
// the agent can be kept waiting.
func (r *waitingRig) tell(ev event.Event, waits bool) {
	r.t.Helper()
	r.count++
	ev.ID = fmt.Sprint("event-", r.count)
	r.sessions.Apply(&ev, 0)
	r.approvals.Observe(&ev)
	if waits {
		r.startCall(ev)
	}
	r.settle()
}

// startCall puts a call to the user, as the pipeline does, and returns once it
// waits or is decided.
func (r *waitingRig) startCall(ev event.Event) {
	r.t.Helper()
	call := &waitingCall{ev: ev, done: make(chan struct{})}
	began := make(chan string, 1)
	go func() {
		defer close(call.done)
		c := &services.Call{
			Event: call.ev, Deadline: time.Now().Add(time.Hour),
			Carries: event.Carries{Allow: true, Deny: true, Ask: true},
			OnWait:  func(id, _ string, _ []byte) { began <- id },
		}
		r.approvals.Decide(context.Background(), c)
		call.decision = c.Outcome.Decision
		if c.Delivered != nil {
			c.Delivered()
		}
	}()
	select {
	case call.request = <-began:
		r.calls[ev.ID] = call
	case <-call.done:
		r.sessions.ApplyDecision(&call.ev, call.decision)
	case <-time.After(patience):
		r.t.Fatalf("%s neither waits nor is decided", ev.Native)
	}
}

func (r *waitingRig) awaitCall(call *waitingCall) {
	select {
	case <-call.done:
	case <-time.After(patience):
		r.t.Fatalf("the call of request %s still waits", call.request)
	}
}

// settle works on what changed: calls whose request ended get their answer, and
// the displays are told.
func (r *waitingRig) settle() {
	r.t.Helper()
	for id, call := range r.calls {
		if _, waits := r.approvals.Request(call.request); waits {
			continue
		}
		r.awaitCall(call)
		r.sessions.ApplyDecision(&call.ev, call.decision)
		delete(r.calls, id)
	}
	changes := r.sessions.tracker.takeChanges()
	r.sessions.workOn(changes)
	for _, c := range changes {
		change := r.sessions.view.changeInfo(c)
		shown := tmuxChange(&change)
		if r.tmux[shown.Session] = shown; shown.Gone {
			delete(r.tmux, shown.Session)
		}
	}
}

// mustAgree compares the four views.
func (r *waitingRig) mustAgree(after string) {
	r.t.Helper()
	var inbox, inboxSessions, ps, psSessions, shown, next, windows, told []string
	listed := map[string]bool{}
	for _, item := range r.approvals.WaitingFor(proc.Cred{}) {
		inbox = append(inbox, item.ID)
		if item.Status == wire.InboxPrompt {
			windows = append(windows, item.Agent+":"+item.Session+" "+item.ID)
		}
		listed[item.ID] = true
	}
	list := r.sessions.List(false)
	for _, one := range list {
		if one.Status == string(state.WaitingForYou) {
			psSessions = append(psSessions, one.Agent+":"+one.ID)
		}
		ps = append(ps, one.Waits...)
		if slices.ContainsFunc(one.Waits, func(id string) bool { return listed[id] }) {
			inboxSessions = append(inboxSessions, one.Agent+":"+one.ID)
		}
		if len(one.Waits) != len(one.Asks) {
			r.t.Fatalf("after %s: %d ids and %d texts", after, len(one.Waits), len(one.Asks))
		}
	}
	for _, change := range r.tmux {
		if change.Status == wire.StatusWaiting {
			shown = append(shown, change.Session)
		}
	}
	for _, one := range wire.NextWaiting(list) {
		next = append(next, one.Agent+":"+one.ID)
	}
	told = slices.Collect(maps.Keys(r.windows))
	for _, list := range []*[]string{&inbox, &inboxSessions, &ps, &psSessions, &shown, &next, &windows, &told} {
		slices.Sort(*list)
	}
	for _, pair := range []struct {
		what      string
		one, many []string
	}{
		{"requests in inbox and ps", inbox, ps}, {"sessions in inbox and ps", inboxSessions, psSessions},
		{"sessions in ps and tmux", psSessions, shown}, {"sessions in ps and jump --next", psSessions, next},
		{"windows in inbox and inbox --watch", windows, told},
	} {
		if !slices.Equal(pair.one, pair.many) {
			r.t.Fatalf("after %s: %s differ:\n  %v\n  %v; want pair.one equal to pair.many",
				after, pair.what, pair.one, pair.many)
		}
	}
}

// answerOne has a person do something with one of the requests.
func (r *waitingRig) answerOne(id string, choice string) {
	r.t.Helper()
	if choice == "release" {
		m := r.approvals.Methods()[wire.MethodInboxSkip]
		if _, err := m.Run(json.RawMessage(`{"id":"`+id+`"}`), proc.Cred{}); err != nil {
			r.t.Fatalf("release: %v", err)
		}
	} else if _, err := r.approvals.Reply(nil, wire.InboxReplyParams{ID: id, Choice: choice}, proc.Cred{}); err != nil &&
		err.Code != wire.CodeParams { // not everything offers every choice
		r.t.Fatalf("%s: err = %v, want not err != nil && err.Code != wire.CodeParams", choice, err)
	}
	r.settle()
}

func TestWaitingIsOneListInRecordedSessions(t *testing.T) {
	for _, name := range recordings.Agents() {
		if _, known := agent.Builtin().Agent(name); !known {
			continue
		}
		lines, err := recordings.Events(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, which := range []string{"nothing waits", "every other waits"} {
			t.Run(name+"/"+which, func(t *testing.T) {
				rig, end := newWaitingRig(t)
				defer func() { end() }()
				now, waited := time.Now().Add(-30*time.Minute), 0
				run := ""
				for i, line := range lines {
					if line.Run != run { // ids were scrubbed: every act is a world of its own
						end()
						rig, end = newWaitingRig(t)
						run = line.Run
					}
					now = now.Add(time.Second)
					ev := agent.Builtin().Decode(agent.Input{
						Time: now, Agent: name, Event: line.Event, Payload: line.Payload,
					})
					rig.tell(ev, which == "every other waits" && i%2 == 0)
					rig.mustAgree(fmt.Sprintf("%s, line %d: %s", run, i, line.Event))
					waited += len(rig.approvals.WaitingFor(proc.Cred{}))
				}
				if asks := strings.Contains(fmt.Sprint(lines), "PermissionRequest"); asks && waited == 0 {
					t.Error("nothing ever waited")
				}
			})
		}
	}
}

func TestWaitingIsOneListWhateverHappens(t *testing.T) {
	var agents []*agent.Agent
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "kimi", "copilot", "qwen", "pi"} {
		a, _ := agent.Builtin().Agent(name)
		agents = append(agents, a)
	}
	waited := 0
	rapid.Check(t, func(t *rapid.T) {
		rig, end := newWaitingRig(t)
		defer end()
		now := time.Now().Add(-20 * time.Minute)
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			pending := slices.Sorted(maps.Keys(rig.calls))
			step := "event"
			if len(pending) > 0 {
				step = rapid.SampledFrom([]string{"event", "event", "event", "once", "deny", "release"}).Draw(t, "step")
			}
			if step != "event" {
				call := rig.calls[rapid.SampledFrom(pending).Draw(t, "request")]
				rig.answerOne(call.request, step)
				rig.mustAgree(step)
				continue
			}
			a := rapid.SampledFrom(agents).Draw(t, "agent")
			now = now.Add(time.Duration(rapid.IntRange(1, 9000).Draw(t, "gap")) * time.Millisecond)
			ev := drawEvent(t, a, now)
			rig.tell(ev, rapid.Bool().Draw(t, "waits"))
			rig.mustAgree(a.Name + " " + ev.Native)
			waited += len(rig.approvals.WaitingFor(proc.Cred{}))
		}
	})
	if waited == 0 {
		t.Error("nothing ever waited")
	}
}

// drawEvent makes an event of an agent; those that ask are more likely.
func drawEvent(t *rapid.T, a *agent.Agent, now time.Time) event.Event {
	var asks []*agent.EventSpec
	for _, spec := range a.Events {
		if spec.Kind == event.PermissionRequest || spec.Kind == event.UserQuestion || spec.Kind == event.ToolBefore {
			asks = append(asks, spec)
		}
	}
	specs := a.Events
	if len(asks) > 0 && rapid.Bool().Draw(t, "asks") {
		specs = asks
	}
	spec := rapid.SampledFrom(specs).Draw(t, "event")
	ev := event.Event{
		Agent: a.Name, Native: spec.Name, Kind: spec.Kind, Time: now, Cwd: "/w", Attended: event.AttendedYes,
		Session: rapid.SampledFrom([]string{"s1", "s1", "s2", ""}).Draw(t, "session"),
		Turn:    rapid.SampledFrom([]string{"", "t1", "t2"}).Draw(t, "turn"),
		Detail: rapid.SampledFrom([]string{"", "permission_prompt", "ToolPermission", "idle_prompt"}).Draw(t,
			"detail"),
	}
	if rapid.IntRange(0, 9).Draw(t, "tool") > 1 {
		call := rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "call")
		ev.Tool = &event.Tool{
			Name: "Bash", Kind: event.Shell, CallID: call, Commands: []string{"make " + call},
			Input: json.RawMessage(`{"command":"make ` + call + `"}`),
		}
	}
	if rapid.IntRange(0, 5).Draw(t, "subagent") == 0 {
		ev.Subagent = &event.Subagent{ID: "x", Parent: rapid.SampledFrom([]string{"", "s1"}).Draw(t, "parent")}
	}
	return ev
}
