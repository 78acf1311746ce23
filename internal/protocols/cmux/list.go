package cmux

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// How much text of a field cmux's list carries.
const (
	longText  = 8000
	shortText = 2000
)

func (s *Server) listItems(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p struct {
		PendingOnly bool `json:"pending_only"`
	}
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	items := []map[string]any{}
	for _, item := range s.Approvals.PolledItems(peer, !p.PendingOnly) {
		items = append(items, s.itemWords(item))
	}
	if !p.PendingOnly {
		items = append(items, s.telemetryItems()...)
		slices.SortStableFunc(items, func(a, b map[string]any) int {
			return a["created_at"].(time.Time).Compare(b["created_at"].(time.Time))
		})
	}
	return map[string]any{"items": items}, nil
}

func (s *Server) itemWords(item wire.InboxRequest) map[string]any {
	out := map[string]any{
		"id": item.ID, "request_id": item.ID, "workstream_id": item.Agent + "-" + item.Session, "source": item.Agent,
		"status": item.Status, "created_at": item.CreatedAt, "updated_at": item.CreatedAt,
		"title":   cmp.Or(item.Tool, item.Kind),
		"choices": item.Choices, "sha256": item.SHA256,
	}
	if key := s.Approvals.RequestKey(item.ID); key != "" {
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
		cut := termsafe.CutBytes(text, limit)
		if cut != text {
			out[key+"_truncated"] = true
			out[key+"_length"] = strconv.Itoa(len(text))
		}
		out[key] = cut
	}
	switch item.Kind {
	case string(policy.Plan):
		out["kind"], out["default_mode"] = "exitPlan", "manual"
		put("plan", item.Plan, longText)
		summary, _, _ := strings.Cut(strings.TrimSpace(item.Plan), "\n")
		put("plan_summary", summary, shortText)
	case string(policy.Question):
		out["kind"] = "question"
		questions := []map[string]any{}
		for i, q := range item.Questions {
			options := []map[string]any{}
			for _, o := range q.Options {
				options = append(options, map[string]any{"id": o.Label, "label": o.Label, "description": o.Description})
			}
			questions = append(questions, map[string]any{
				"id": cmp.Or(q.ID, strconv.Itoa(i+1)), "header": q.Header, "prompt": q.Text,
				"multi_select": q.Multi, "options": options,
			})
		}
		out["questions"] = questions
		if len(questions) > 0 { // as older programs read it
			out["question_prompt"], out["question_multi_select"], out["question_options"] = questions[0]["prompt"],
				questions[0]["multi_select"], questions[0]["options"]
		}
	default:
		out["kind"], out["tool_name"] = "permissionRequest", item.Tool
		put("tool_input", string(item.Input), longText)
		// What "always" means here: the agent's own first rule, else hookmux's.
		if len(item.Suggestions) > 0 {
			out["suggestions"] = item.Suggestions
		} else if item.Rule != "" {
			out["rule"] = item.Rule
		}
	}
	return out
}
