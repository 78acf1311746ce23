package tshook

import (
	"github.com/hookmux/hookmux/internal/tshook/engine"
	"github.com/hookmux/hookmux/internal/tshook/ops"
)

// What hosts deal with, from the packages that define it.
type (
	// Question is a dialog a hook opened.
	Question = ops.Question
	// QuestionKind names the kind of dialog.
	QuestionKind = ops.QuestionKind
	// Answer is the user's reply to a question.
	Answer = ops.Answer
	// Message is sent by a hook into a session.
	Message = ops.Message
	// Limits bound one file's engine.
	Limits = engine.Limits
)

// The dialogs.
const (
	Select  = ops.Select
	Confirm = ops.Confirm
	Input   = ops.Input
	Editor  = ops.Editor
)

// DefaultLimits are wide enough for hooks and narrow enough for a daemon.
var DefaultLimits = engine.DefaultLimits

// ReleaseMemory returns unused memory of engines to the system. It costs a garbage
// collection, so it is called only after a strain; see [Host.Strained].
func ReleaseMemory() { engine.ReleaseMemory() }
