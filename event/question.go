package event

// Asks reports whether the event asks you something that approving alone doesn't
// settle: questions, or a plan.
func (e *Event) Asks() bool {
	if e.Kind == UserQuestion || e.Kind == UserPlan {
		return true
	}
	return e.Tool != nil && (e.Kind == ToolBefore || e.Kind == PermissionRequest) &&
		(e.Tool.Kind == Question || e.Tool.Kind == Plan)
}

// AnswerTo finds the answer to a question: by the agent's id for it if it has
// one, else by its text, else by its position.
func (a *Answer) AnswerTo(q *Inquiry, at int) (QuestionAnswer, bool) {
	if a == nil {
		return QuestionAnswer{}, false
	}
	for _, one := range a.Answers {
		if q.ID != "" && one.ID == q.ID || q.ID == "" && one.ID == "" && one.Question == q.Text && q.Text != "" {
			return one, true
		}
	}
	if at < len(a.Answers) && a.Answers[at].ID == "" && a.Answers[at].Question == "" {
		return a.Answers[at], true
	}
	return QuestionAnswer{}, false
}
