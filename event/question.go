package event

import "encoding/json"

// Asked is one question an agent puts to the person. One request may hold
// several; each is answered under its Key. (Question is the kind of tool that
// asks.)
type Asked struct {
	Key     string   `json:"key"` // names it within its request, and is never empty
	Header  string   `json:"header,omitempty"`
	Text    string   `json:"text"`
	Options []Option `json:"options,omitempty"`
	Multi   bool     `json:"multi,omitempty"` // more than one option may be chosen
	// FreeText says that words of the person's own are an answer as well.
	FreeText bool `json:"freeText,omitempty"`
	// Optional says that it may be left without an answer.
	Optional bool `json:"optional,omitempty"`
}

// Option is one of the answers a question offers.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	// Value is what the agent takes for it where that is not the label: one
	// JSON value.
	Value json.RawMessage `json:"value,omitempty"`
}

// Asks reports whether the event puts something to a person that an approval
// alone does not settle: questions, or a plan.
func (e *Event) Asks() bool {
	if e.Kind == UserQuestion || e.Kind == UserPlan {
		return true
	}
	return e.Tool != nil && (e.Kind == ToolBefore || e.Kind == PermissionRequest) && (e.Tool.Kind == Question || e.Tool.Kind == Plan)
}
