package scenarios

import (
	"context"
	"slices"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest/timeline"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Outcome is the result of a scenario.
type Outcome struct {
	Recording *timeline.Recording
	Wrong     []string // where hookmux differed from what the user would say
	Problems  []string // what the agent did not do
	Screens   []string
}

// Execute runs a scenario on a test bed.
func (s *Scenario) Execute(ctx context.Context, st *testbed.TestBed) (*Outcome, error) {
	sc := model.Scenario{Steps: s.Script(st), Named: map[string][]model.Step{}}
	st.SetScript(sc.Steps)
	if s.Later != nil {
		sc.Named["later"] = s.Later(st)
		st.Model.SetScenario(st.Run, sc)
	}
	if err := st.StartDaemonWithHooks(s.Decide); err != nil {
		return nil, err
	}
	st.InPane = true
	args := argsOf(st, s.Strict)
	if s.Strict {
		st.Env = append(st.Env, st.Driver.StrictEnv...)
	}
	p := &person{
		st: st, dialogs: dialogsOf(st.Driver.Name), log: newRecorder(st),
		client: &client.Client{Socket: st.Dirs.Socket(), Timeout: 5 * time.Second},
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	go p.log.followSession(following)
	err := st.AtTerminal(ctx, args, func(ctx context.Context, t *testbed.Terminal) error {
		p.term = t
		if s.PersonDoes != nil {
			s.PersonDoes(ctx, p)
		}
		p.awaitEnd(ctx)
		end := s.End
		end.Title = titles(st)
		p.wantNow(end)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Outcome{p.log.recording(s), p.wrong, p.problems, st.Evidence.Screens}, nil
}

// argsOf start the agent with the first prompt.
func argsOf(st *testbed.TestBed, strict bool) []string {
	words := testbed.MarkedPrompt(firstPrompt)
	if look := dialogsOf(st.Driver.Name); strict && st.Driver.Questions != nil && look.AskArgs {
		args := slices.Clone(look.Args)
		return append(args, "--", words)
	}
	return st.Driver.TUI(words, strict)
}
