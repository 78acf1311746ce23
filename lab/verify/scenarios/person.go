package scenarios

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest/timeline"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/looks"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

func splitWords(s string) []string { return strings.Split(s, "|") }

func dialogsOf(name string) *looks.Dialogs {
	if l := looks.Of(name); l != nil {
		return l
	}
	return &looks.Dialogs{}
}

// person is the simulated user of one agent.
type person struct {
	st       *testbed.TestBed
	term     *testbed.Terminal
	dialogs  *looks.Dialogs
	client   *client.Client
	log      *recorder
	wrong    []string
	problems []string
}

// slack is how long hookmux may take to report what the screen shows. The machine may be busy.
const slack = 40 * time.Second

func (p *person) problem(format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf(format, args...))
}

// await waits for something that the agent does.
func (p *person) await(ctx context.Context, what string, is func() bool) {
	for end := time.Now().Add(4 * time.Minute); time.Now().Before(end); {
		if is() {
			return
		}
		if !testbed.PauseFor(ctx, 50*time.Millisecond) {
			break
		}
	}
	p.problem("%s: not seen; the screen:\n%s", what, p.term.KeepScreen())
}

func (p *person) awaitModel(ctx context.Context) {
	p.await(ctx, "the model is asked", func() bool {
		for _, r := range p.st.Model.Requests(p.st.Run) {
			if r.Kind == "played" {
				return true
			}
		}
		return false
	})
}

func (p *person) awaitFile(ctx context.Context, name string) {
	p.await(ctx, "the command runs", func() bool {
		_, err := os.Stat(filepath.Join(p.st.Project, name))
		return err == nil
	})
}

func (p *person) awaitDialog(ctx context.Context) {
	p.await(ctx, "a dialog", func() bool { return p.dialogs.ShowsDialog(p.term.CaptureScreen(ctx)) })
	testbed.PauseFor(ctx, 700*time.Millisecond) // a dialog that was just drawn takes no keys yet
}

// press presses keys, one after the other.
func (p *person) press(ctx context.Context, keys []string) {
	for _, key := range keys {
		_ = p.term.PressKeys(ctx, key)
		testbed.PauseFor(ctx, 500*time.Millisecond)
	}
}

func (p *person) stop(ctx context.Context) { p.press(ctx, p.dialogs.Stop) }

func (p *person) prompt(ctx context.Context, words string) {
	p.term.AwaitStillness(ctx)
	_ = p.term.TypeLine(ctx, words)
}

// noteAnswerSeen notes that hookmux saw an answer by signs outside of hooks and records.
func (p *person) noteAnswerSeen(ctx context.Context) {
	events := len(p.st.Watcher.AllSeen())
	p.await(ctx, "hookmux sees the answer", func() bool { return p.reported().Status != wire.StatusWaiting })
	if len(p.st.Watcher.AllSeen()) == events || p.st.Agent.Status.Answers.Child {
		p.log.addStep(timeline.Step{Kind: timeline.Answered})
	}
}

// expectStatus records what the session does now, and gives hookmux a while to report the same.
func (p *person) expectStatus(ctx context.Context, status string) {
	w := timeline.NewWant(status)
	for end := time.Now().Add(slack); time.Now().Before(end) && w.Check(p.reported()) != ""; {
		if !testbed.PauseFor(ctx, 50*time.Millisecond) {
			break
		}
	}
	p.wantNow(w)
}

// wantNow records what the user would say and compares it.
func (p *person) wantNow(w timeline.Want) {
	if wrong := w.Check(p.reported()); wrong != "" {
		p.wrong = append(p.wrong, wrong)
	}
	p.log.addStep(timeline.Step{Kind: timeline.Wants, Want: w})
}

// awaitEnd waits until the agent has nothing to do any more: its model was not asked
// and no event came for a while.
func (p *person) awaitEnd(ctx context.Context) {
	quiet, last := 0, ""
	for end := time.Now().Add(4 * time.Minute); time.Now().Before(end) && quiet < 12; quiet++ {
		s := p.reported()
		now := fmt.Sprint(len(p.st.Watcher.AllSeen()), len(p.st.Model.Requests(p.st.Run)), s)
		if now != last || s.Turns == 0 || s.Status == wire.StatusRunning || s.Status == wire.StatusWaiting {
			quiet, last = 0, now
		}
		if !testbed.PauseFor(ctx, 250*time.Millisecond) {
			return
		}
	}
}

// reported returns what hookmux says about the session.
func (p *person) reported() timeline.Reported {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	list, err := p.client.Sessions(ctx, client.SessionsParams{Agents: []string{p.st.Driver.Name}})
	if err != nil || len(list) == 0 {
		return timeline.Reported{Status: "none"}
	}
	s := list[0]
	said := timeline.Reported{Status: s.Status, Title: s.Title, Turns: s.Turns, Ended: s.Ended != nil}
	if s.Turn != nil {
		said.Result, said.Failed, said.Denied = s.Turn.Result, s.Turn.CallsFailed, s.Turn.CallsDenied
	}
	return said
}
