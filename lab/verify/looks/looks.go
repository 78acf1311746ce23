// Package looks describes how the dialogs of agents are recognised on the screen, and which keys
// answer them.
package looks

import (
	"regexp"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/realagents/model"
)

// Dialogs is one agent as the user sees it.
type Dialogs struct {
	// Args start it so that it asks for permission; Free so that it does not. Both start
	// without a prompt.
	Args, Free []string
	ready      string
	dialog     string
	// Yes and No are keys in a permission dialog, Choose keys that answer a question
	// with its first option, Stop keys that stop a turn.
	Yes, No, Choose, Stop []string
	tool                  string
	more                  map[string]any
	// Titles are the names it may give a session other than its prompt: it has its model make a title.
	Titles []string
	// Asks says that it asks the user by itself although its driver names no prompt;
	// AskArgs that it asks questions only when it is started with Args.
	Asks, AskArgs bool

	once           sync.Once
	atPrompt, open *regexp.Regexp
}

func (l *Dialogs) compile() {
	l.once.Do(func() {
		l.atPrompt, l.open = regexp.MustCompile(l.ready), regexp.MustCompile(l.dialog)
	})
}

// IsReady reports whether the screen shows its prompt.
func (l *Dialogs) IsReady(screen string) bool {
	l.compile()
	return l.atPrompt.MatchString(Squeeze(screen))
}

// ShowsDialog reports whether the screen shows a dialog that waits for the user.
func (l *Dialogs) ShowsDialog(screen string) bool {
	l.compile()
	return l.open.MatchString(Squeeze(screen))
}

// AskedColour is the question that Question asks.
const AskedColour = "Which colour?"

// Question returns the call with which the model asks the user.
func (l *Dialogs) Question() model.ToolCall {
	option := func(label string) map[string]any { return map[string]any{"label": label, "description": label} }
	q := map[string]any{
		"question": AskedColour, "header": "Colour", "options": []any{option("red"), option("blue")},
	}
	for k, v := range l.more {
		q[k] = v
	}
	return model.Call(l.tool, map[string]any{"questions": []any{q}})
}

// AsksQuestions reports whether a tool for questions is known.
func (l *Dialogs) AsksQuestions() bool { return l.tool != "" }

// Squeeze puts a screen on one line.
func Squeeze(screen string) string { return strings.Join(strings.Fields(screen), " ") }

// Of returns how an agent looks; nil if that isn't known.
func Of(name string) *Dialogs { return table[name] }

var table = map[string]*Dialogs{
	"claude": {
		Args: []string{"--permission-mode", "default"}, Free: []string{"--permission-mode", "bypassPermissions"},
		ready:  `❯`,
		dialog: `Do you want to (proceed|make|create)|Enter to select|Esc to cancel · Tab to amend`,
		Yes:    []string{"Enter"}, No: []string{"Escape"}, Choose: []string{"Enter"}, Stop: []string{"Escape"},
		tool: "AskUserQuestion", more: map[string]any{"multiSelect": false},
	},
	"codex": {
		Args: []string{
			"--no-daemon", "--enable", "default_mode_request_user_input", "-a", "on-request", "-s", "workspace-write",
		},
		Free:   []string{"--no-daemon", "-a", "never", "-s", "danger-full-access"},
		ready:  `Ask Codex to do anything|\? for shortcuts`,
		dialog: `Would you like to run the following command|Press enter to confirm or esc to cancel|enter to submit answer`,
		Yes:    []string{"y"}, No: []string{"Escape"}, Choose: []string{"Enter"}, Stop: []string{"Escape"},
		tool: "request_user_input", more: map[string]any{"id": "colour"}, AskArgs: true,
		Titles: []string{"Scripted title"},
	},
	"opencode": {
		ready:  `ctrl\+p commands|Ask anything`,
		dialog: `Permission required|Reject permission|esc dismiss`,
		Yes:    []string{"Enter"}, No: []string{"Escape", "Enter"}, // it asks for a reason
		Choose: []string{"Enter"}, Stop: []string{"Escape", "Escape"},
		tool: "question", Titles: []string{"Scripted title"},
	},
	"gemini": {
		Free:   []string{"-y"},
		ready:  `Type your message`,
		dialog: `Allow execution|Action Required|Apply this change|Enter to select · |Enter to submit`,
		Yes:    []string{"Enter"}, No: []string{"Escape"}, Choose: []string{"Enter"}, Stop: []string{"Escape"},
		tool: "ask_user", more: map[string]any{"type": "choice"}, Asks: true,
	},
	"grok": {
		Args: []string{"--allow", "Bash(*)"}, Free: []string{"--allow", "Bash(*)"},
		ready: `❯|>`, dialog: `Allow once`,
		Yes: []string{"3"}, No: []string{"Escape"}, Stop: []string{"C-c"},
		// it wants its title in a form, which the scripted model fills in
		Titles: []string{"scripted", "Scripted title"},
	},
	"pi": {
		Args:  []string{"--provider", "scripted", "--model", "scripted"},
		Free:  []string{"--provider", "scripted", "--model", "scripted"},
		ready: `.`, dialog: `let bash run\?`,
		Yes: []string{"Enter"}, No: []string{"Escape"}, Stop: []string{"Escape"},
	},
}
