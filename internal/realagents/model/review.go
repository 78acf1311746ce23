package model

import "strings"

// reviewBegins begins what Codex asks its own reviewer about, in a request of its own.
const reviewBegins = ">>> APPROVAL REQUEST START"

// reviewedAction returns what Codex asks its reviewer about; "" in any other request.
func (c *conversation) reviewedAction() string {
	if len(c.schema) == 0 {
		return ""
	}
	var action []string
	for _, m := range c.messages {
		if strings.HasPrefix(m.Text, reviewBegins) {
			action = []string{} // the newest: a reviewer keeps its conversation
		}
		if action != nil {
			action = append(action, m.Text)
		}
	}
	return strings.Join(action, "")
}

// addReview puts the reviewer's verdict into an answer: in Codex it is the whole answer, in Claude
// Code's auto mode it accompanies each call.
func (r *reply) addReview(c *conversation, review func(action string) string) {
	if action := c.reviewedAction(); action != "" {
		verdict := obj{"outcome": "allow"}
		if why := review(action); why != "" {
			verdict = obj{"outcome": "deny", "risk_level": "high", "rationale": why}
		}
		r.text = compact(verdict)
		return
	}
	if !c.checked {
		return
	}
	r.verdicts = obj{}
	for _, call := range r.calls {
		outcome := obj{"type": "evaluated", "outcome": "not_flagged"}
		if why := review(string(call.input())); why != "" {
			outcome = obj{"type": "evaluated", "outcome": "flagged", "explanation": why}
		}
		r.verdicts[call.id] = outcome
	}
}
