package hub

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

type cmuxReply struct {
	RequestID  string            `json:"request_id"`
	Mode       string            `json:"mode"`
	Feedback   string            `json:"feedback"`
	Selections []string          `json:"selections"`
	Answers    map[string]string `json:"answers"` // keyed by question: an addition
	Reason     string            `json:"reason"`
	PIN        string            `json:"pin"`
}

// cmuxOutcome is what a reply came to: cmux's word, and the honest one.
func cmuxOutcome(r wire.FeedReplyResult, err *wire.Error) (any, *wire.Error) {
	if err != nil {
		return nil, err
	}
	if r.Outcome == string(queue.Unknown) {
		return nil, wire.Errorf(wire.CodeGone, "%s", r.Why)
	}
	out := map[string]any{"delivered": r.Outcome == string(queue.Delivered), "outcome": r.Outcome}
	if r.By != "" {
		out["by"] = r.By
	}
	if r.Why != "" {
		out["why"] = r.Why
	}
	return out, nil
}

func (h *Hub) cmuxParams(params json.RawMessage) (cmuxReply, *wire.Error) {
	var p cmuxReply
	if err := read(params, &p); err != nil {
		return p, err
	}
	if p.RequestID == "" {
		return p, wire.Errorf(wire.CodeParams, "request_id is missing")
	}
	if id, ok := h.desk.table.ByKey(p.RequestID); ok {
		p.RequestID = id
	}
	return p, nil
}

func (h *Hub) doFeedPermit(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	p, bad := h.cmuxParams(params)
	if bad != nil {
		return nil, bad
	}
	reply := wire.FeedReplyParams{ID: p.RequestID, Choice: p.Mode, Reason: p.Reason, PIN: p.PIN}
	if p.Mode == string(event.ChooseAlways) {
		// cmux's always is the agent's own rule; where it offers none, ours,
		// for the session, as the item shows it.
		if r, ok := h.desk.table.Request(p.RequestID); ok {
			if len(r.Suggestions) > 0 {
				reply.Suggestion = 1
			} else if r.Rule != nil {
				reply.Rule, reply.Scope = r.Rule.Text(), string(policy.InSession)
			}
		}
	}
	return cmuxOutcome(h.reply(reply, peer))
}

func (h *Hub) doFeedQuestion(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	p, bad := h.cmuxParams(params)
	if bad != nil {
		return nil, bad
	}
	reply := wire.FeedReplyParams{ID: p.RequestID, Choice: string(event.ChooseAnswer), PIN: p.PIN}
	r, ok := h.desk.table.Request(p.RequestID)
	if ok {
		answers, err := selected(r.Event.Questions, p.Selections, p.Answers)
		if err != nil {
			return nil, err
		}
		reply.Answers = answers
	}
	return cmuxOutcome(h.reply(reply, peer))
}

// selected puts cmux's selections beside the questions. It gives no key with
// them, so their number must fit: a missing one would shift the rest to
// questions they do not answer.
func selected(questions []event.Inquiry, selections []string, keyed map[string]string) ([]event.QuestionAnswer, *wire.Error) {
	var out []event.QuestionAnswer
	if len(keyed) > 0 {
		for i := range questions {
			q := &questions[i]
			for _, key := range []string{q.ID, q.Text} {
				if words, ok := keyed[key]; ok && key != "" {
					out = append(out, event.QuestionAnswer{ID: q.ID, Question: q.Text, Options: optionsIn(q, words)})
					break
				}
			}
		}
		return out, nil
	}
	if len(questions) == 1 {
		q := &questions[0]
		one := event.QuestionAnswer{ID: q.ID, Question: q.Text}
		for _, s := range selections {
			one.Options = append(one.Options, optionsIn(q, s)...)
		}
		return []event.QuestionAnswer{one}, nil
	}
	if len(selections) != len(questions) {
		return nil, wire.Errorf(wire.CodeParams, "%d selections do not fit %d questions; send answers, keyed by question", len(selections), len(questions))
	}
	for i, s := range selections {
		q := &questions[i]
		out = append(out, event.QuestionAnswer{ID: q.ID, Question: q.Text, Options: optionsIn(q, s)})
	}
	return out, nil
}

// optionsIn: several labels come joined by commas where several may be chosen.
func optionsIn(q *event.Inquiry, words string) []string {
	if _, ok := optionOf(q, words); ok || !q.Multi {
		return []string{words}
	}
	return strings.Split(words, ", ")
}

func (h *Hub) doFeedPlan(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	p, bad := h.cmuxParams(params)
	if bad != nil {
		return nil, bad
	}
	mode, ok := map[string]event.PlanMode{
		"autoAccept": event.PlanAuto, "manual": event.PlanManual, "deny": event.PlanReject, "ultraplan": event.PlanReject,
		"bypassPermissions": event.PlanAccept,
	}[p.Mode]
	if !ok {
		return nil, wire.Errorf(wire.CodeParams, "mode %q is none of autoAccept, manual, bypassPermissions, ultraplan, deny", p.Mode)
	}
	if p.Feedback != "" {
		mode = event.PlanReject // words about a plan want another one
	}
	if p.Mode == "ultraplan" && p.Feedback == "" {
		p.Feedback = "make the plan more thorough first"
	}
	return cmuxOutcome(h.reply(wire.FeedReplyParams{ID: p.RequestID, Choice: string(event.ChoosePlan), Plan: string(mode), Feedback: p.Feedback, PIN: p.PIN}, peer))
}

// How much text of a field cmux's list carries.
const (
	cmuxLongText  = 8000
	cmuxShortText = 2000
)

func (h *Hub) doFeedList(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p struct {
		PendingOnly bool `json:"pending_only"`
	}
	if err := read(params, &p); err != nil {
		return nil, err
	}
	items := []map[string]any{}
	for _, item := range h.itemsFor(peer, !p.PendingOnly) {
		items = append(items, h.cmuxItem(item))
	}
	return map[string]any{"items": items}, nil
}

func (h *Hub) cmuxItem(item wire.FeedItem) map[string]any {
	out := map[string]any{
		"id": item.ID, "request_id": item.ID, "workstream_id": item.Agent + "-" + item.Session, "source": item.Agent,
		"status": item.Status, "created_at": item.CreatedAt, "updated_at": item.CreatedAt, "title": orElse(item.Tool, item.Kind),
		"choices": item.Choices, "sha256": item.SHA256,
	}
	if key := h.desk.table.KeyOf(item.ID); key != "" {
		out["request_id"] = key
	}
	if item.Status == string(queue.Withdrawn) {
		out["status"] = string(queue.Expired) // cmux knows no other word
	}
	if item.Cwd != "" {
		out["cwd"] = item.Cwd
	}
	if item.EndedAt != nil {
		out["updated_at"], out["resolved_at"], out["end"] = *item.EndedAt, *item.EndedAt, item.End
	}
	if item.Decision != nil {
		out["decision"] = item.Decision
	}
	put := func(key, text string, limit int) {
		cut := text
		if len(cut) > limit {
			for limit > 0 && !utf8.RuneStart(cut[limit]) {
				limit--
			}
			cut = cut[:limit]
			out[key+"_truncated"] = true
			out[key+"_length"] = strconv.Itoa(len(text))
		}
		out[key] = cut
	}
	switch item.Kind {
	case string(policy.Plan):
		out["kind"], out["default_mode"] = "exitPlan", "manual"
		put("plan", item.Plan, cmuxLongText)
		summary, _, _ := strings.Cut(strings.TrimSpace(item.Plan), "\n")
		put("plan_summary", summary, cmuxShortText)
	case string(policy.Question):
		out["kind"] = "question"
		questions := []map[string]any{}
		for i, q := range item.Questions {
			options := []map[string]any{}
			for _, o := range q.Options {
				options = append(options, map[string]any{"id": o.Label, "label": o.Label, "description": o.Description})
			}
			questions = append(questions, map[string]any{
				"id": orElse(q.ID, strconv.Itoa(i+1)), "header": q.Header, "prompt": q.Text, "multi_select": q.Multi, "options": options,
			})
		}
		out["questions"] = questions
		if len(questions) > 0 { // as older programs read it
			out["question_prompt"], out["question_multi_select"], out["question_options"] = questions[0]["prompt"], questions[0]["multi_select"], questions[0]["options"]
		}
	default:
		out["kind"], out["tool_name"] = "permissionRequest", item.Tool
		put("tool_input", string(item.Input), cmuxLongText)
		// What "always" means here: the agent's own first rule, else ours.
		if len(item.Suggestions) > 0 {
			out["suggestions"] = item.Suggestions
		} else if item.Rule != "" {
			out["rule"] = item.Rule
		}
	}
	return out
}
