package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

func (h *Hub) doFeedReply(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.FeedReplyParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	return h.reply(p, peer)
}

// reply lets a person answer a request.
func (h *Hub) reply(p wire.FeedReplyParams, peer proc.Cred) (wire.FeedReplyResult, *wire.Error) {
	item, err := h.desk.table.Find(p.ID)
	if err != nil {
		var none *queue.NotFoundError
		if errors.As(err, &none) && len(none.Like) > 0 {
			return wire.FeedReplyResult{}, wire.Errorf(wire.CodeParams, "%v", err)
		}
		return wire.FeedReplyResult{ID: p.ID, Outcome: string(queue.Unknown), Why: err.Error()}, nil
	}
	p.ID = item.ID
	r, waits := h.desk.table.Request(item.ID)
	if !waits {
		item, _ = h.desk.table.Find(item.ID)
		return tooLate(item), nil
	}
	if p.SHA256 != "" && p.SHA256 != r.Hash {
		return wire.FeedReplyResult{}, wire.Errorf(wire.CodeConflict, "what you saw is not what request %s asks for; look at it again", item.ID)
	}
	said, grant, bad := say(&r, &p)
	if bad != nil {
		return wire.FeedReplyResult{}, bad
	}
	if bad := h.fits(&r, said); bad != nil {
		return wire.FeedReplyResult{}, bad
	}
	said.By, said.At = h.who(peer), time.Now()
	if said.Verdict != event.Deny {
		if err := h.desk.pin.Check(p.PIN); err != nil {
			if p.PIN != "" {
				h.noteWrongPIN(item.ID, peer, err)
			}
			return wire.FeedReplyResult{}, wire.Errorf(wire.CodePIN, "%v", err)
		}
	}
	result, bad := h.deliver(item.ID, said, grant)
	if bad == nil && result.Outcome == string(queue.Delivered) {
		result.Degraded = h.lossSentences(&r, said)
	}
	return result, bad
}

// fits refuses answers to a question that the agent could not be told: nothing
// would be answered then, and the request gone.
func (h *Hub) fits(r *queue.Request, said queue.Said) *wire.Error {
	if r.Need.Kind != policy.Question || said.Answer.Choice != event.ChooseAnswer {
		return nil
	}
	// A question that another program pushed is answered in that one's words.
	a, ok := h.deps.Catalogue.Agent(r.Event.Agent)
	if !ok {
		return nil
	}
	if point := a.Feed.At(r.Event.Native); point == nil || !slices.Contains(point.Question, event.ChooseAnswer) {
		return nil
	}
	for _, less := range h.leftBehind(r, said) {
		if less.What == event.PartAllow && less.To == event.ToNone {
			return wire.Errorf(wire.CodeParams, "%s; answer it again, or release it", less.Reason())
		}
	}
	return nil
}

// leftBehind is what of an answer does not reach the agent: it is put into the
// agent's words once more to see.
func (h *Hub) leftBehind(r *queue.Request, said queue.Said) []event.Degradation {
	if r.Need.Kind == policy.Question && r.Need.Asked != "" {
		return nil // a hook asked, and hears everything
	}
	var d event.Decision
	h.answered(&d, said)
	_, d = h.deps.Catalogue.Encode(r.Event, d)
	return d.Degraded
}

// lossSentences tells the person what of their answer does not reach the agent.
// A note that is told after the call is not lost. Some agents ask about an edit
// in another shape than they report it in; a command stays the same.
func (h *Hub) lossSentences(r *queue.Request, said queue.Said) []string {
	a, _ := h.deps.Catalogue.Agent(r.Event.Agent)
	toldAfter := said.Answer.Note != "" && r.Event.Tool != nil && !r.Pushed && hearsAfter(a)
	var out []string
	for _, less := range h.leftBehind(r, said) {
		switch {
		case less.What != event.PartContext:
			out = append(out, less.String())
		case !toldAfter:
			out = append(out, "your words beside it are dropped: "+less.Reason())
		case r.Event.Tool.Kind != event.Shell:
			out = append(out, "your words beside it are told after the call, if the agent reports it as it asked about it")
		}
	}
	return out
}

// deliver writes an answer down and hands it to those who wait.
func (h *Hub) deliver(id string, said queue.Said, grant *policy.Grant) (wire.FeedReplyResult, *wire.Error) {
	var record *ledger.Record
	answer, err := h.desk.table.Reply(id, said, func(r *queue.Request, said *queue.Said) error {
		if grant != nil {
			grant.By, grant.Created = said.By, said.At
			saved, err := h.desk.grants.Add(*grant)
			if err != nil {
				return err
			}
			*grant, said.Grant = saved, saved.ID
			h.deps.Problems.Mend("grants")
		}
		record = recordOf(id, r, said)
		err := h.desk.book.Commit(record)
		if err == nil {
			h.deps.Problems.Mend("decisions")
			return nil
		}
		h.deps.Problems.Raise("decisions", "decisions cannot be written down: "+err.Error(), "repair "+h.deps.Dirs.State+"; until then nothing can be approved in the feed")
		if said.Verdict == event.Deny {
			return nil // a no needs no proof to be safe
		}
		if grant != nil {
			_, _, _ = h.desk.grants.Revoke(grant.ID)
		}
		return fmt.Errorf("nothing was approved, because it could not be written down: %w", err)
	})
	if err != nil {
		return wire.FeedReplyResult{}, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	result := wire.FeedReplyResult{ID: id, Outcome: string(answer.Outcome), Item: &answer.Item, Decided: answer.Item.Decision}
	if answer.Outcome != queue.Delivered {
		if grant != nil && grant.ID != "" {
			_, _, _ = h.desk.grants.Revoke(grant.ID) // nobody heard the yes it came with
		}
		late := tooLate(answer.Item)
		late.Outcome = string(answer.Outcome)
		result = late
	} else {
		result.By = said.By
		if grant != nil {
			info := grantInfo(*grant, 0)
			result.Grant = &info
		}
	}
	if record != nil {
		h.journal("decision", record.ID, record.At, struct {
			*ledger.Record
			Outcome string `json:"outcome"`
		}{record, result.Outcome})
	}
	return result, nil
}

// tooLate is what a reply hears when the request had ended.
func tooLate(item wire.FeedItem) wire.FeedReplyResult {
	result := wire.FeedReplyResult{ID: item.ID, Outcome: string(queue.Gone), Why: item.End, Item: &item, Decided: item.Decision}
	if item.Status == string(queue.Resolved) {
		result.Outcome = string(queue.Already)
	}
	if item.Decision != nil {
		result.By = item.Decision.By
	}
	return result
}

// say makes what a person typed into an answer, if the request offers it.
func say(r *queue.Request, p *wire.FeedReplyParams) (queue.Said, *policy.Grant, *wire.Error) {
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
				said.Reason = orElse(p.Feedback, "the person wants another plan")
			}
		}
		return said, nil, nil
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
		said.Reason = orElse(p.Reason, "the person said no")
	case event.ChooseAnswer:
		answers, err := answersTo(r.Event.Questions, p.Answers)
		if err != nil {
			return wrong("%v", err)
		}
		said.Answer.Answers = answers
	case event.ChooseAlways, event.ChooseAll:
		return always(r, p, said)
	}
	return said, nil, nil
}

// allLasts is how long a yes to everything of a session counts when nobody
// says otherwise.
const allLasts = 12 * time.Hour

// always makes a standing yes: the agent's own suggestion, or a grant of ours
// whose rule the person saw.
func always(r *queue.Request, p *wire.FeedReplyParams, said queue.Said) (queue.Said, *policy.Grant, *wire.Error) {
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
	grant := &policy.Grant{Agent: r.Event.Agent, Scope: policy.Scope(p.Scope), Session: r.Event.Session, Project: r.Project, Asked: r.Need.Asked}
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
			return wrong("there is no rule for this call: %s", orElse(r.NoRule, "allow it once"))
		}
		if p.Rule != r.Rule.Text() {
			return queue.Said{}, nil, wire.Errorf(wire.CodeConflict, "always would allow: %s; confirm exactly that", r.Rule.Text())
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

// answersTo puts what a person chose beside the questions: labels, or their
// numbers, or own words where the agent takes them.
func answersTo(questions []event.Inquiry, given []event.QuestionAnswer) ([]event.QuestionAnswer, error) {
	if len(questions) == 0 {
		return nil, errors.New("the agent did not say what it asks")
	}
	out := make([]event.QuestionAnswer, 0, len(questions))
	used := 0
	for i := range questions {
		q := &questions[i]
		answer, ok := (&event.Answer{Answers: given}).AnswerTo(q, i)
		name := orElse(orElse(q.Header, q.Text), q.ID)
		if !ok {
			if q.Optional {
				continue
			}
			return nil, fmt.Errorf("question %d (%s) has no answer", i+1, name)
		}
		used++
		fixed := event.QuestionAnswer{ID: q.ID, Question: q.Text, Text: answer.Text}
		for _, word := range answer.Options {
			label, ok := optionOf(q, word)
			switch {
			case ok:
				fixed.Options = append(fixed.Options, label)
			case len(q.Options) > 0 && isNumber(word):
				return nil, fmt.Errorf("%s has no option %s; there is %s", name, word, optionList(q))
			case q.Free && len(answer.Options) == 1 && fixed.Text == "":
				fixed.Text = word
			default:
				return nil, fmt.Errorf("%q is no answer to %s; there is %s", word, name, optionList(q))
			}
		}
		switch {
		case fixed.Text != "" && !q.Free:
			return nil, fmt.Errorf("%s takes no own words; there is %s", name, optionList(q))
		case len(fixed.Options) > 1 && !q.Multi:
			return nil, fmt.Errorf("%s takes one answer", name)
		case fixed.Text == "" && len(fixed.Options) == 0:
			return nil, fmt.Errorf("question %d (%s) has no answer", i+1, name)
		}
		out = append(out, fixed)
	}
	if used != len(given) {
		return nil, fmt.Errorf("%d answers do not fit %d questions", len(given), len(questions))
	}
	return out, nil
}

// optionOf finds the label a person means.
func optionOf(q *event.Inquiry, word string) (string, bool) {
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

// isNumber: whoever types a number means an option, not own words.
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

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// recordOf is a decision as it is kept, without secrets.
func recordOf(id string, r *queue.Request, said *queue.Said) *ledger.Record {
	ev := r.Event
	answer := said.Answer
	answer.Note, answer.Feedback = redact.Text(answer.Note), redact.Text(answer.Feedback)
	answer.Answers = slices.Clone(answer.Answers)
	for i := range answer.Answers {
		answer.Answers[i].Text = redact.Text(answer.Answers[i].Text)
	}
	record := &ledger.Record{
		ID: frame.NewID(), At: said.At, Request: id, EventID: ev.ID, Agent: ev.Agent, Session: ev.Session, Cwd: ev.Cwd,
		Kind: string(r.Need.Kind), Verdict: said.Verdict.Word(), Answer: answer, Reason: redact.Text(said.Reason),
		By: said.By, Grant: said.Grant, SHA256: r.Hash, Shown: redact.Text(r.Shown),
	}
	if ev.Tool != nil {
		record.Tool = ev.Tool.Name
	}
	return record
}

// who names the person's seat, as far as the process at the other end tells.
func (h *Hub) who(peer proc.Cred) string {
	p, err := h.deps.Processes.Lookup(peer.PID)
	if err != nil {
		return fmt.Sprintf("pid %d", peer.PID)
	}
	who := fmt.Sprintf("%s, pid %d", p.Name, peer.PID)
	if p.TTY != "" {
		who += ", " + p.TTY
	}
	return who
}

// journal notes something that hookmux itself has to tell.
func (h *Hub) journal(what, id string, at time.Time, payload any) {
	b, err := json.Marshal(payload)
	if err != nil {
		return
	}
	in := arrival{id: id, agent: "hookmux", event: what, payload: b, at: at}
	h.note(&in)
}

func (h *Hub) noteWrongPIN(id string, peer proc.Cred, why error) {
	h.deps.Log.Warn("wrong PIN", "request", id, "pid", peer.PID, "why", why)
	h.journal("refused", frame.NewID(), time.Now(), map[string]any{"method": wire.MethodFeedReply, "pid": peer.PID, "reason": why.Error()})
	h.streams.Publish(wire.NoteTrace, wire.Trace{Hook: "hookmux", Text: "a wrong PIN was given for request " + id})
}

// recall journals decisions that a power cut may have taken from the journal:
// it keeps each id once.
func (h *Hub) recall() {
	last, err := h.desk.book.Last(recallLast)
	if err != nil {
		h.deps.Log.Warn("the record of decisions cannot be read", "error", err)
		return
	}
	keep := h.rules.config.Settings().Keep("hookmux")
	for _, r := range last {
		if time.Since(r.At) < keep {
			h.journal("decision", r.ID, r.At, r)
		}
	}
}

const recallLast = 100
