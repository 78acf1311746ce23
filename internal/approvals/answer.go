package approvals

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/wire"
)

// readAnswer makes what a person typed into an answer, if the request offers it.
func readAnswer(r *queue.Request, p *wire.FeedReplyParams) (queue.Said, *policy.Grant, *wire.Error) {
	said := queue.Said{
		Verdict: event.Allow, Reason: p.Reason,
		Answer: event.Answer{Choice: event.Choice(p.Choice), Note: p.Note, Feedback: p.Feedback},
	}
	wrong := func(format string, args ...any) (queue.Said, *policy.Grant, *wire.Error) {
		return queue.Said{}, nil, wire.Errorf(wire.CodeParams, format, args...)
	}
	if r.Need.Kind == policy.Plan {
		mode := event.PlanMode(p.Plan)
		if said.Answer.Choice == event.ChooseDeny {
			mode = event.PlanReject
		}
		if !slices.Contains(r.Need.Plans, mode) {
			return wrong("a plan is judged by one of %s", strings.Join(r.Words(), ", "))
		}
		said.Answer.Choice, said.Answer.Plan = event.ChoosePlan, mode
		if mode == event.PlanReject {
			said.Verdict = event.Deny
			if said.Reason == "" {
				said.Reason = cmp.Or(p.Feedback, "the person wants another plan")
			}
		}
		return said, nil, nil
	}
	if said.Answer.Choice == event.ChooseOnce && r.ByHook && isYesOrNo(r.Event.Questions) {
		said.Answer.Choice = event.ChooseAnswer
		p.Answers = []event.QuestionAnswer{{Options: []string{r.Event.Questions[0].Options[0].Label}}}
	}
	choice := said.Answer.Choice
	if !r.Need.Offers(choice) {
		if r.Need.Kind == policy.Question && choice != event.ChooseDeny {
			return wrong("this is a question; answer it with `hookmux answer`")
		}
		return wrong("%q cannot be chosen here; there is %s, or release", p.Choice, strings.Join(r.Words(), ", "))
	}
	switch choice {
	case event.ChooseDeny:
		said.Verdict = event.Deny
		said.Reason = cmp.Or(p.Reason, "the person said no")
	case event.ChooseAnswer:
		answers, err := matchAnswers(r.Event.Questions, p.Answers)
		if err != nil {
			return wrong("%v", err)
		}
		said.Answer.Answers = answers
	case event.ChooseAlways, event.ChooseAll:
		return standingAnswer(r, p, said)
	}
	return said, nil, nil
}

// allLasts is how long a yes to everything of a session counts when nobody
// says otherwise.
const allLasts = 12 * time.Hour

// standingAnswer makes a standing yes: the agent's own suggestion, or a grant of ours
// whose rule the person saw.
func standingAnswer(r *queue.Request, p *wire.FeedReplyParams, said queue.Said) (queue.Said, *policy.Grant,
	*wire.Error) {
	wrong := func(format string, args ...any) (queue.Said, *policy.Grant, *wire.Error) {
		return queue.Said{}, nil, wire.Errorf(wire.CodeParams, format, args...)
	}
	all := said.Answer.Choice == event.ChooseAll
	if p.Suggestion != 0 {
		if all || p.Suggestion < 0 || p.Suggestion > len(r.Suggestions) {
			return wrong("the agent offers no rule %d", p.Suggestion)
		}
		said.Answer.Suggestion = r.Suggestions[p.Suggestion-1]
		return said, nil, nil
	}
	grant := &policy.Grant{Agent: r.Event.Agent, Scope: policy.Scope(p.Scope), Session: r.Event.Session,
		Project: r.Project, Asked: r.Need.Asked}
	now := time.Now()
	if p.Seconds < 0 || p.Seconds > (10*366*24*time.Hour).Seconds() {
		return wrong("%.0f days are too long for a grant", p.Seconds/86400)
	}
	if p.Seconds > 0 {
		grant.Expires = now.Add(time.Duration(p.Seconds * float64(time.Second)))
	}
	if all {
		if grant.Scope != "" && grant.Scope != policy.InSession {
			return wrong("everything can be allowed for a session only")
		}
		grant.Scope, grant.Rule = policy.InSession, policy.Rule{All: true}
		if p.Seconds == 0 {
			grant.Expires = now.Add(allLasts)
		}
	} else {
		if r.Rule == nil {
			return wrong("there is no rule for this call: %s", cmp.Or(r.NoRule, "allow it once"))
		}
		if p.Rule != r.Rule.Text() {
			return queue.Said{}, nil, wire.Errorf(wire.CodeConflict, "always would allow: %s; confirm exactly that",
				r.Rule.Text())
		}
		grant.Rule = *r.Rule
	}
	if grant.Scope == "" {
		grant.Scope = policy.InSession
		if r.Project != "" {
			grant.Scope = policy.InProject
		}
	}
	switch {
	case !grant.Scope.Known():
		return wrong("scope %q is none of session, project, everywhere", p.Scope)
	case grant.Scope == policy.InProject && r.Project == "":
		return wrong("the call belongs to no project; grant it for the session or everywhere")
	case grant.Scope == policy.InSession && grant.Session == "":
		return wrong("the agent named no session; allow it once")
	}
	if grant.Scope != policy.InSession {
		grant.Session = ""
	}
	if grant.Scope != policy.InProject {
		grant.Project = ""
	}
	return said, grant, nil
}

// isYesOrNo reports whether a hook asks for nothing but a yes: to approve it is to
// say so.
func isYesOrNo(questions []event.Inquiry) bool {
	if len(questions) != 1 || len(questions[0].Options) != 2 {
		return false
	}
	options := questions[0].Options
	return options[0].Label == "yes" && options[1].Label == "no"
}
