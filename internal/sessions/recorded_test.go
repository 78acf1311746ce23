package sessions

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/timeline"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// TestRecordedTimelines replays sessions of real agents: payloads through the real
// decoder, rows through the real reader of transcripts, both into the state machine.
// What comes out is what a person in front of the screen would have said.
func TestRecordedTimelines(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "recorded", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no recordings: %v", err)
	}
	agents := map[string]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := timeline.Parse(data)
			if err != nil {
				t.Fatalf("%s: error %v, want no error", file, err)
			}
			agents[r.Agent] = true
			newReplay(t, r).playSteps(t)
		})
	}
	if len(files) < 100 || len(agents) < 8 {
		t.Errorf("%d sessions of %d agents are recorded, expected 100 of 8", len(files), len(agents))
	}
}

// TestBlindTimelines holds recordings against what a reader expected who saw neither
// their wants nor the program: testdata/blind has a file for each such session.
func TestBlindTimelines(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "blind", "*.txt"))
	if err != nil || len(files) < 68 {
		t.Fatalf("%d sessions are expected blindly, error %v, want 68 or more", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "recorded", name))
			if err != nil {
				t.Fatal(err)
			}
			wants, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r, err := timeline.Parse(data)
			if err == nil {
				err = r.Expect(wants)
			}
			if err != nil {
				t.Fatalf("%s: error %v, want no error", file, err)
			}
			newReplay(t, r).playSteps(t)
		})
	}
}

// replayPID is the agent's process; one that takes the session up has the next number.
const replayPID = 4242

// replay is a recording under way.
type replay struct {
	recording *timeline.Recording
	base      string
	agent     *agent.Agent
	service   *Service
	follower  *transcriptFollower
	followed  *followed
	session   state.Key
	last      map[string]*event.Event // the newest event of each name
	home      string
	pid       int
}

func newReplay(t *testing.T, r *timeline.Recording) *replay {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	catalogue := agent.Builtin()
	a, ok := catalogue.Agent(r.Agent)
	if !ok {
		t.Fatalf("no agent %q; want ok", r.Agent)
	}
	tracker := newTracker(func(*event.Event) (*state.TerminalReport, error) { return nil, nil })
	tracker.setSwitches(&switches{rules: map[string]state.Rules{a.Name: {Spec: &a.Status}}})
	deps := services.Deps{
		Dirs: paths.Dirs{Home: filepath.Join(base, "home")}, Catalogue: catalogue, Log: slog.New(slog.DiscardHandler),
		Processes: proctest.New(proctest.Node{PID: replayPID, Name: r.Agent},
			proctest.Node{PID: replayPID + 1, Name: r.Agent}),
	}
	return &replay{
		recording: r, base: base, agent: a, home: deps.Dirs.Home, pid: replayPID, last: map[string]*event.Event{},
		service:  &Service{ctx: context.Background(), deps: deps, tracker: tracker},
		follower: newTranscriptFollower(deps, tracker),
	}
}

// playSteps plays everything and compares.
func (p *replay) playSteps(t *testing.T) {
	t.Helper()
	for i, step := range p.recording.Steps {
		at := p.recording.Start.Add(step.After)
		switch step.Kind {
		case timeline.Event:
			p.playEvent(step, at)
		case timeline.Decided:
			p.playDecision(t, step, at)
		case timeline.Line, timeline.File:
			p.writeRecord(t, step, at)
			p.readRecord(at)
		case timeline.Answered:
			p.playAnswer(at)
		case timeline.Restarted:
			p.pid++
		case timeline.Wants:
			// Time passes: what is held back for a hook that might come is let go.
			p.readRecord(at)
			p.readRecord(p.nextMoment(i))
			if wrong := step.Want.Check(p.said()); wrong != "" {
				t.Errorf("%s: step %d, after %.1f s: %s", p.recording.About, i+1, step.After.Seconds(), wrong)
			}
		}
	}
	if all := p.service.tracker.sessions.Overviews(); len(all) != 1 {
		t.Errorf("%s: %d sessions are listed, a person would say 1: %+v", p.recording.About, len(all), all)
	}
}

// nextMoment returns when the step after this one comes, and at most twice what a hook is
// waited for.
func (p *replay) nextMoment(i int) time.Time {
	later := p.recording.Steps[i].After + 2*hookFirst
	if rest := p.recording.Steps[i+1:]; len(rest) > 0 {
		later = min(later, rest[0].After)
	}
	return p.recording.Start.Add(later)
}

// unscrub puts this test's folders in.
func (p *replay) unscrub(text string) string {
	return strings.NewReplacer("{base}", p.base, "{base-name}", folderName(p.base), "{pid}",
		strconv.Itoa(p.pid)).Replace(text)
}

// folderName returns a path as Claude Code and others make a name of it.
func folderName(path string) string {
	return strings.NewReplacer("/", "-", "_", "-", ".", "-").Replace(path)
}

func (p *replay) playEvent(step timeline.Step, at time.Time) {
	ev := p.service.deps.Catalogue.Decode(agent.Input{
		ID: step.Name + step.After.String(), Time: at, Agent: p.agent.Name, Event: step.Name,
		Payload: []byte(p.unscrub(step.Text)),
	})
	if ev.AgentVersion == "" {
		ev.AgentVersion = p.recording.Version
	}
	ev.Where = event.Place{PID: p.pid, Start: 1}
	ev.Reviewer = p.service.ReviewerOf(&ev, nil)
	p.last[step.Name] = &ev
	p.service.tracker.noteChange(p.service.tracker.sessions.ApplyNumbered(&ev, 0, state.Rules{Spec: &p.agent.Status}))
	if p.session.ID == "" && ev.Session != "" && ev.Subagent == nil {
		p.session = state.Key{Agent: p.agent.Name, ID: ev.Session}
	}
}

func (p *replay) playDecision(t *testing.T, step timeline.Step, at time.Time) {
	t.Helper()
	ev := p.last[step.Name]
	if ev == nil {
		t.Fatalf("a decision about %s, which did not come", step.Name)
	}
	p.service.tracker.sessions.ApplyDecision(ev, event.Decision{Verdict: event.Verdict(step.Text)}, at,
		state.Rules{Spec: &p.agent.Status})
}

// playAnswer applies a sign outside of hooks that the user answered.
func (p *replay) playAnswer(at time.Time) {
	one, ok := p.service.tracker.sessions.Get(p.session)
	if !ok {
		return
	}
	for _, ask := range one.OpenAsks() {
		p.service.tracker.sessions.AskAnswered(p.session, ask.N, at)
	}
}

func (p *replay) writeRecord(t *testing.T, step timeline.Step, at time.Time) {
	t.Helper()
	file := filepath.Join(p.home, p.unscrub(step.Name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if step.Kind == timeline.File {
		flags = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	}
	f, err := os.OpenFile(file, flags, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(p.unscrub(step.Text) + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
}

// readRecord reads the session's transcript as the service does.
func (p *replay) readRecord(at time.Time) {
	current, ok := p.service.tracker.sessions.Overview(p.session)
	if !ok {
		return
	}
	if p.followed == nil {
		p.followed = &followed{key: p.session}
	}
	p.followed.tried = time.Time{} // it may be there by now
	p.follower.readTranscript(p.followed, current, at)
}

func (p *replay) said() timeline.Reported {
	one, ok := p.service.tracker.sessions.Get(p.session)
	if !ok {
		return timeline.Reported{Status: "none"}
	}
	said := timeline.Reported{
		Status: string(one.Status), Title: one.Title.Name(), Turns: one.TurnCount, Ended: !one.Live(),
	}
	if one.Turn != nil {
		said.Result, said.Failed, said.Denied = string(one.Turn.Result), one.Turn.Errors, one.Turn.Denied
		said.Says = one.Turn.Summary
	}
	return said
}

// What is written is read again.
func TestTimelineFiles(t *testing.T) {
	w := timeline.NewWant("idle|done")
	w.Result, w.Failed, w.Title = []string{"ok"}, 2, []string{`say "hi"`, "other"}
	r := &timeline.Recording{
		About: "about it", Agent: "claude", Version: "1", Start: time.Unix(1700000000, 0).UTC(),
		Steps: []timeline.Step{
			{After: time.Second, Kind: timeline.Event, Name: "Stop", Text: `{"a": 1}`},
			{After: 2 * time.Second, Kind: timeline.Answered}, {After: 3 * time.Second, Kind: timeline.Wants, Want: w},
		},
	}
	again, err := timeline.Parse(r.Format())
	if err != nil || !bytes.Equal(again.Format(), r.Format()) {
		t.Errorf("read as %s, written as %s, error %v", again.Format(), r.Format(), err)
	}
	for _, bad := range []string{"", "agent claude 1\n", "agent claude 1\nstart 2026-01-01T00:00:00Z\nx event A\n",
		"agent claude 1\nstart 2026-01-01T00:00:00Z\n1 dance\n",
		"agent claude 1\nstart 2026-01-01T00:00:00Z\n1 want idle x=1\n"} {
		if _, err := timeline.Parse([]byte(bad)); err == nil {
			t.Errorf("%q was read; want an error", bad)
		}
	}
}
