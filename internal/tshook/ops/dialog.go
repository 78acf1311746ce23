package ops

import "github.com/hookmux/hookmux/event"

// QuestionKind names the dialog a hook opened.
type QuestionKind string

// The dialogs.
const (
	Select  QuestionKind = "select"
	Confirm QuestionKind = "confirm"
	Input   QuestionKind = "input"
	Editor  QuestionKind = "editor"
)

// Question is a dialog a hook opened. Its texts come from the hook and often quote the
// model: treat them as data when you show them.
type Question struct {
	Event       *event.Event // what the hook is looking at
	Hook        string       // path of the file
	Kind        QuestionKind
	Title       string
	Text        string
	Options     []string // of a select
	Placeholder string   // of an input; what an editor starts with
}

// Answer is the user's reply to a [Question].
type Answer struct {
	Cancelled bool
	Confirmed bool   // of a confirm
	Value     string // the option chosen, or the text
	By        string // who answered, for the record
}

// Message is sent by a hook into a session.
type Message struct {
	Hook        string
	Agent       string
	Session     string
	Text        string
	Attachments []Attachment
	// Deliver is pi's word for when: steer, followUp, nextTurn; empty for the
	// default.
	Deliver string
	// Turn asks an idle agent to start a turn on it.
	Turn bool
}

// Attachment is a file attached to a message.
type Attachment struct {
	Type     string `json:"type"` // image, document
	Name     string `json:"fileName,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	Data     string `json:"content,omitempty"` // base64
}
