package approvals

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// readAnswer parses a reply, if the request offers that answer.
func readAnswer(r *queue.Request, p *wire.InboxReplyParams) (queue.UserAnswer, *policy.SavedPermission, *wire.Error) {
	said := queue.UserAnswer{
		Verdict: event.Allow, Reason: p.Reason,
		Answer: event.Answer{Choice: event.Choice(p.Choice), Note: p.Note, Feedback: p.Feedback},
	}
	wrong := func(format string, args ...any) (queue.UserAnswer, *policy.SavedPermission, *wire.Error) {
		return queue.UserAnswer{}, nil, wire.Errorf(wire.CodeParams, format, args...)
	}
	if extra := notOf(r.Need.Kind, p); extra != "" {
		return wrong("an answer with choice %q to a request of kind %s has no %s", p.Choice, r.Need.Kind, extra)
	}
	if r.Need.Kind == policy.Plan {
		mode := event.PlanMode(p.Plan)
		if said.Answer.Choice == event.ChooseDeny {
			mode = event.PlanReject
		}
		if !slices.Contains(r.Need.Plans, mode) {
			return wrong("a plan takes one of %s", strings.Join(r.Words(), ", "))
		}
		said.Answer.Choice, said.Answer.Plan = event.ChoosePlan, mode
		if mode == event.PlanReject {
			said.Verdict = event.Deny
			if said.Reason == "" {
				said.Reason = cmp.Or(p.Feedback, "the user wants another plan")
			}
		}
		return said, nil, nil
	}
	if said.Answer.Choice == event.ChooseOnce && r.ForYes { // to approve it is to say yes
		said.Answer.Choice = event.ChooseAnswer
		p.Answers = []event.QuestionAnswer{{Options: []string{queue.YesLabel}}}
	}
	choice := said.Answer.Choice
	if !r.Need.Offers(choice) {
		if r.Need.Kind == policy.Question && choice != event.ChooseDeny {
			return wrong("this is a question; answer it with `hookmux approve REQUEST ANSWER`")
		}
		return wrong("%q isn't possible here; choose from %s, or skip it", p.Choice, strings.Join(r.Words(), ", "))
	}
	switch choice {
	case event.ChooseDeny:
		said.Verdict = event.Deny
		said.Reason = cmp.Or(p.Reason, "the user said no")
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

// notOf names a member of an answer that has no meaning for this kind of request: its sender
// expects something other than what would happen.
func notOf(kind policy.Kind, p *wire.InboxReplyParams) string {
	choice := event.Choice(p.Choice)
	lasts := choice == event.ChooseAlways || choice == event.ChooseAll
	for _, one := range []struct {
		name         string
		given, known bool
	}{
		{"plan", p.Plan != "", kind == policy.Plan},
		{"feedback", p.Feedback != "", kind == policy.Plan},
		{"answers", len(p.Answers) > 0, choice == event.ChooseAnswer},
		{"rule", p.Rule != "", choice == event.ChooseAlways},
		{"suggestion", p.Suggestion != 0, lasts},
		{"scope", p.Scope != "", lasts},
		{"seconds", p.Seconds != 0, lasts},
	} {
		if one.given && !one.known {
			return one.name
		}
	}
	return ""
}

// allLasts is how long a yes to everything in a session lasts unless the answer says
// otherwise.
const allLasts = 12 * time.Hour

// standingAnswer makes a standing yes: the agent's own suggestion, or a permission of ours
// whose rule the user saw.
func standingAnswer(r *queue.Request, p *wire.InboxReplyParams, said queue.UserAnswer) (queue.UserAnswer,
	*policy.SavedPermission,
	*wire.Error) {
	wrong := func(format string, args ...any) (queue.UserAnswer, *policy.SavedPermission, *wire.Error) {
		return queue.UserAnswer{}, nil, wire.Errorf(wire.CodeParams, format, args...)
	}
	all := said.Answer.Choice == event.ChooseAll
	if p.Suggestion != 0 {
		if all || p.Suggestion < 0 || p.Suggestion > len(r.Suggestions) {
			if len(r.Suggestions) == 0 {
				return wrong("the agent suggests no rule for %s; `hookmux approve %[1]s` approves it this time", p.ID)
			}
			return wrong("there's no suggestion %d; the agent made %d, shown by `hookmux inbox`", p.Suggestion, len(r.Suggestions))
		}
		said.Answer.Suggestion = r.Suggestions[p.Suggestion-1]
		return said, nil, nil
	}
	permission := &policy.SavedPermission{Agent: r.Event.Agent, Scope: policy.Scope(p.Scope), Session: r.Event.Session,
		Project: r.Project, Asked: r.Need.Asked}
	now := time.Now()
	if p.Seconds < 0 || p.Seconds > (10*366*24*time.Hour).Seconds() {
		return wrong("%.0f days are too long for a permission", p.Seconds/86400)
	}
	if p.Seconds > 0 {
		permission.Expires = now.Add(time.Duration(p.Seconds * float64(time.Second)))
	}
	if all {
		if permission.Scope != "" && permission.Scope != policy.InSession {
			return wrong("everything can only be allowed for a session")
		}
		permission.Scope, permission.Rule = policy.InSession, policy.Rule{All: true}
		if p.Seconds == 0 {
			permission.Expires = now.Add(allLasts)
		}
	} else {
		if r.Rule == nil {
			return wrong("no permission can be saved for this call: %s", cmp.Or(r.NoRule, "approve it this time"))
		}
		if p.Rule != r.Rule.Text() {
			return queue.UserAnswer{}, nil, wire.Errorf(wire.CodeConflict,
				"always would allow: %s; confirm exactly that",
				r.Rule.Text())
		}
		permission.Rule = *r.Rule
	}
	if permission.Scope == "" {
		permission.Scope = policy.InSession
		if r.Project != "" {
			permission.Scope = policy.InProject
		}
	}
	switch {
	case !permission.Scope.Known():
		return wrong("scope %q is none of session, project, everywhere", p.Scope)
	case permission.Scope == policy.InProject && r.Project == "":
		return wrong("the call belongs to no project; save the permission for the session or everywhere")
	case permission.Scope == policy.InSession && permission.Session == "":
		return wrong("the agent named no session; approve the call this time")
	}
	if permission.Scope != policy.InSession {
		permission.Session = ""
	}
	if permission.Scope != policy.InProject {
		permission.Project = ""
	}
	return said, permission, nil
}

// matchAnswers matches your choices to the questions: labels, their numbers, or your own
// text if the agent takes it.
func matchAnswers(questions []event.Inquiry, given []event.QuestionAnswer) ([]event.QuestionAnswer, error) {
	if len(questions) == 0 {
		return nil, errors.New("the agent didn't say what it asks")
	}
	out := make([]event.QuestionAnswer, 0, len(questions))
	used := 0
	for i := range questions {
		q := &questions[i]
		answer, ok := (&event.Answer{Answers: given}).AnswerTo(q, i)
		name := cmp.Or(cmp.Or(q.Header, q.Text), q.ID)
		if !ok {
			if q.Optional {
				continue
			}
			return nil, fmt.Errorf("question %d (%s) has no answer", i+1, name)
		}
		used++
		fixed := event.QuestionAnswer{ID: q.ID, Question: q.Text, Text: answer.Text}
		for _, word := range answer.Options {
			label, ok := FindOption(q, word)
			switch {
			case ok:
				fixed.Options = append(fixed.Options, label)
			case len(q.Options) > 0 && isNumber(word):
				return nil, fmt.Errorf("%s has no option %s; choose from %s", name, word, optionList(q))
			case q.Free && len(answer.Options) == 1 && fixed.Text == "":
				fixed.Text = word
			default:
				return nil, fmt.Errorf("%q isn't an answer to %s; choose from %s", word, name, optionList(q))
			}
		}
		switch {
		case fixed.Text != "" && !q.Free:
			return nil, fmt.Errorf("%s takes no answer of your own; choose from %s", name, optionList(q))
		case len(fixed.Options) > 1 && !q.Multi:
			return nil, fmt.Errorf("%s takes one answer", name)
		case fixed.Text == "" && len(fixed.Options) == 0:
			return nil, fmt.Errorf("question %d (%s) has no answer", i+1, name)
		}
		out = append(out, fixed)
	}
	if used != len(given) {
		return nil, fmt.Errorf("there are %d questions and %d answers", len(questions), len(given))
	}
	return out, nil
}

// FindOption finds the label that is meant.
func FindOption(q *event.Inquiry, word string) (string, bool) {
	for _, o := range q.Options {
		if o.Label == word || o.Value != "" && o.Value == word {
			return o.Label, true
		}
	}
	for _, o := range q.Options {
		if strings.EqualFold(o.Label, word) {
			return o.Label, true
		}
	}
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1].Label, true
	}
	return "", false
}

// isNumber reports whether a word is a number: a number means an option, not a text.
func isNumber(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil
}

func optionList(q *event.Inquiry) string {
	var words []string
	for _, o := range q.Options {
		words = append(words, o.Label)
	}
	return strings.Join(words, ", ")
}

// addPrompt says of a request that came to no answer here where the agent asks
// now, if it still does.
func addPrompt(result wire.InboxReplyResult, waiting []wire.InboxRequest) wire.InboxReplyResult {
	for _, item := range waiting {
		if item.ID == result.ID && item.Status == wire.InboxPrompt {
			result.Why += "; " + item.Shown
		}
	}
	return result
}

// terminalName names the user's trusted terminal, as far as the peer process shows it.
func terminalName(processes proc.Table, peer proc.Cred) string {
	p, err := processes.Lookup(peer.PID)
	if err != nil {
		return fmt.Sprintf("pid %d", peer.PID)
	}
	who := fmt.Sprintf("%s, pid %d", p.Name, peer.PID)
	if p.TTY != "" {
		who += ", " + p.TTY
	}
	return who
}

// tooLate returns the answer to a reply that came after the request had ended.
func tooLate(item wire.InboxRequest) wire.InboxReplyResult {
	result := wire.InboxReplyResult{ID: item.ID, Outcome: string(queue.Gone), Why: item.End, Item: &item,
		Decided: item.Decision}
	if item.Status == string(queue.Resolved) {
		result.Outcome = string(queue.Already)
	}
	if item.Decision != nil {
		result.By = item.Decision.By
	}
	return result
}
