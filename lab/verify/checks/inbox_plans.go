package checks

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Plans accepted from elsewhere in each of the ways there are: what the agent
// may do afterwards without asking is its permission mode.

func noPlans(a *agent.Agent, d drivers.Driver) string {
	if why := noQuestions(a, d); why != "" {
		return why
	}
	if len(d.Questions.Modes) == 0 {
		return "it has no plans to be accepted"
	}
	return ""
}

func planTag(mode event.PlanMode) string { return "plan-" + string(mode) }

// runPlans returns one session for each way: a plan can be accepted once.
func runPlans(ctx context.Context, st *testbed.TestBed) error {
	st.SetScript(append(testbed.CallSteps(st.Driver.Questions.PlanCalls(planned, 0)...),
		model.Step{Say: testbed.LastWords}))
	if err := st.StartDaemonWithHooks(nil); err != nil {
		return err
	}
	p, err := AttachPerson(ctx, st)
	if err != nil {
		return err
	}
	defer p.Detach()
	for _, mode := range slices.Sorted(maps.Keys(st.Driver.Questions.Modes)) {
		err := st.AtTerminal(ctx, st.Driver.Questions.Args(testbed.MarkedPrompt("Plan it")),
			func(ctx context.Context, t *testbed.Terminal) error {
				if !p.WasAsked("plan", st.Patience/2) {
					t.KeepScreen()
					return nil // the check says what is missing
				}
				session := p.Inbox.Asked["plan"].Session
				p.SendReply("plan", wire.InboxReplyParams{Plan: string(mode)})
				p.setAsideRequest("plan", planTag(mode))
				c, cancel := context.WithTimeout(ctx, 20*time.Second)
				defer cancel()
				st.Watcher.WaitForOne(c, func(ev *event.Event) bool {
					return ev.Kind == event.TurnEnd &&
						ev.Session == session
				})
				return nil
			})
		if err != nil {
			return err
		}
	}
	return nil
}

func evaluateInboxPlanModes(p *Proof, s Subject) Result {
	e := p.Of("plans")
	modes := s.Driver.Questions.Modes
	for _, mode := range slices.Sorted(maps.Keys(modes)) {
		if r := checkAnswered(e, planTag(mode)); r != nil {
			return *r
		}
		got := ""
		for _, x := range e.Seen {
			if x.Event.Session == e.Inbox.Asked[planTag(mode)].Session && x.Event.Kind == event.TurnEnd {
				got = x.Event.Mode
			}
		}
		switch got {
		case modes[mode]:
		case "":
			return FailsBecause("", "accepted (%s), and the agent did not go on", mode)
		default:
			return FailsBecause("", "accepted (%s), and the agent went on in mode %s, not %s", mode, got, modes[mode])
		}
	}
	// What it reads in addition to that depends on whether the plan is in a file.
	if told := e.SawTimes("User has approved"); told < len(modes) {
		return FailsBecause("", "the model read %d times that its plan was accepted, not %d times", told, len(modes))
	}
	return HoldsBecause("the model read each time that its plan was accepted, and the agent went on: %s",
		modesInWords(modes))
}

func modesInWords(modes map[event.PlanMode]string) string {
	words := ""
	for _, mode := range slices.Sorted(maps.Keys(modes)) {
		if words != "" {
			words += ", "
		}
		words += string(mode) + " in mode " + modes[mode]
	}
	return words
}

// forgetMode accepts every plan in the same way.
var forgetMode = testbed.Breakage{Name: "forget-mode", What: "an encoder that drops how a plan is to be carried out",
	Out: `sed -E 's/,"updatedPermissions":\[[^]]*\]//'`}
