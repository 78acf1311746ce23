package verify

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/verify/model"
	"github.com/hookmux/hookmux/internal/wire"
)

// Plans accepted from elsewhere in each of the ways there are: what the agent
// may do afterwards without asking is its permission mode.

func noPlans(a *agent.Agent, d Driver) string {
	if why := noQuestions(a, d); why != "" {
		return why
	}
	if len(d.Questions.Modes) == 0 {
		return "it has no plans to be accepted"
	}
	return ""
}

func planTag(mode event.PlanMode) string { return "plan-" + string(mode) }

// playPlans is one session for each way: a plan can be accepted once.
func playPlans(ctx context.Context, st *Stage) error {
	st.setScript(append(callSteps(model.Call(st.Driver.Questions.Plan, map[string]any{"plan": planned})), model.Step{Say: lastWords}))
	if err := st.startHubWithHooks(nil); err != nil {
		return err
	}
	p, err := st.attachPerson(ctx)
	if err != nil {
		return err
	}
	defer p.detach()
	for _, mode := range slices.Sorted(maps.Keys(st.Driver.Questions.Modes)) {
		err := st.atTerminal(ctx, st.Driver.Questions.Args(markedPrompt("Plan it")), func(ctx context.Context, t *terminal) error {
			if !p.wasAsked("plan", st.patience/2) {
				t.keepScreen()
				return nil // the check says what is missing
			}
			session := p.feed.Asked["plan"].Session
			p.sendReply("plan", wire.FeedReplyParams{Plan: string(mode)})
			p.setAsideRequest("plan", planTag(mode))
			c, cancel := context.WithTimeout(ctx, 20*time.Second)
			defer cancel()
			st.watcher.waitForOne(c, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd && ev.Session == session })
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func judgeFeedPlanModes(p *Proof, s Subject) Result {
	e := p.Of("plans")
	modes := s.Driver.Questions.Modes
	for _, mode := range slices.Sorted(maps.Keys(modes)) {
		if r := answered(e, planTag(mode)); r != nil {
			return *r
		}
		got := ""
		for _, x := range e.Seen {
			if x.Event.Session == e.Feed.Asked[planTag(mode)].Session && x.Event.Kind == event.TurnEnd {
				got = x.Event.Mode
			}
		}
		switch got {
		case modes[mode]:
		case "":
			return fails("", "accepted (%s), and the agent did not go on", mode)
		default:
			return fails("", "accepted (%s), and the agent went on in mode %s, not %s", mode, got, modes[mode])
		}
	}
	// What it reads beside that depends on whether the plan is in a file.
	if told := e.SawTimes("User has approved"); told < len(modes) {
		return fails("", "the model read %d times that its plan was accepted, not %d times", told, len(modes))
	}
	return holds("the model read each time that its plan was accepted, and the agent went on: %s", modesInWords(modes))
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
var forgetMode = Saboteur{Name: "forget-mode", What: "an encoder that drops how a plan is to be carried out",
	Out: `sed -E 's/,"updatedPermissions":\[[^]]*\]//'`}
