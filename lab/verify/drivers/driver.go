// Package drivers defines how each agent is started and used: the arguments of its starts, the keys of
// its dialogs, the tools of its model, and what it is known not to do.
package drivers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/hookmux/hookmux/event"

	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/model"
)

// Driver is how one agent is started on a test bed. What is the same for every
// start (home, headless arguments, tool names) is in package realagents.
type Driver struct {
	Name    string
	Program string // name on PATH
	// Run says that hooks come through `hookmux run`. Others get them from the
	// installer, written into the throw-away home.
	Run bool

	// Strict are headless arguments with which the agent asks before it runs a
	// command, but for those tagged "granted" and "ask"; nil when it does not
	// ask headless.
	Strict   func(prompt string) []string
	NoStrict string // why not
	// LargestCall is how many bytes of a command it can handle; 0: a megabyte.
	LargestCall int
	// StrictEnv are variables of an interactive start in which it asks.
	StrictEnv []string
	// AskRefuses says that headless, with everything permitted, a call that a
	// hook wants asked about is denied: no one is available to approve it.
	AskRefuses bool
	// KeepAtTerminal says that it can only be kept going at a terminal.
	KeepAtTerminal bool
	// AsksAtTerminal says that it asks for permission in a strict interactive start.
	AsksAtTerminal bool
	// TUI are the arguments of an interactive start that begins with a prompt;
	// nil when there is none to be had offline.
	TUI   func(prompt string, strict bool) []string
	NoTUI string // why not
	// Front is the program in fronts/ that replaces its terminal; it runs on the agent's own Node.
	Front string
	// Trusting are arguments that let hooks run without trust.
	Trusting []string
	// Escalate makes a command call one that needs permission in a strict start.
	Escalate func(model.ToolCall) model.ToolCall
	// Words are its tools for things that not every agent can do; how it runs commands and starts
	// helpers is defined elsewhere.
	Words model.Vocabulary
	// Subagent are the model's steps that send a subagent off with a prompt.
	Subagent func(prompt string) []model.Step
	Vars     map[string]string // name → pattern, for Subagent
	// Welcome are screens in front of an interactive start, and what to press.
	Welcome []Welcome
	// Compact is typed to have the conversation compacted.
	Compact string
	Quit    string // what the user types to leave
	// Interrupt are the keys that stop a turn; none means Escape.
	Interrupt []string
	// AsksInStatus says that a strict interactive start asks before it runs a
	// command of the shell.
	AsksInStatus bool
	Accept       string // the key that says yes in its dialog
	// Prompts is shown by its own permission prompt in a strict interactive
	// start; empty when it has none there.
	Prompts string
	// Questions is how it is made to ask questions; nil if it isn't.
	Questions *Questions
	// Forms is how it is started with an MCP server that asks; nil if it doesn't
	// report that.
	Forms *Forms

	// FailsClosed says, by what is broken (missing, crash, hang), that the agent
	// treats it as a denial.
	FailsClosed map[string]string
	// Unstartable says that a failed call is only reported as one if the
	// command could not even be started.
	Unstartable bool
	// FailedIsRefused says that a failed call is only reported as one if it was
	// denied.
	FailedIsRefused bool
	// EndsOnTerm says that SIGTERM makes it report the session's end.
	EndsOnTerm bool
	NoEnd      string // why a session's end is not reported at all
	Stays      string // what of it keeps running when it has ended
	NoResume   string // why a session at the terminal isn't resumed
	// Racy are events that come often but not always, with the reason.
	Racy map[string]string
	// Brings are events that a run causes in addition to those that follow from their
	// kind: name → run.
	Brings map[string]string
	// Unseen are events that can't be caused here, with the reason.
	Unseen map[string]string
	// Varies are patterns of what it sends the model and is never twice the same.
	Varies []string
	// Unproven are claims (Event.claim) without a check, with the reason.
	Unproven map[string]string
}

// Welcome is a screen that wants a key before anything else happens.
type Welcome struct {
	Text string
	Keys []string
}

// Find finds the driver of an agent.
func Find(name string) (Driver, bool) {
	for _, d := range drivers {
		if d.Name == name {
			return d, true
		}
	}
	return Driver{}, false
}

// Names lists the agents that can be driven, in the order of the table.
func Names() []string {
	var names []string
	for _, d := range drivers {
		names = append(names, d.Name)
	}
	return names
}

func WriteJSON(file string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o600)
}

// MergeJSON adds top-level keys to a JSON file that may be there already.
func MergeJSON(file string, add map[string]any) error {
	whole := map[string]any{}
	if b, err := os.ReadFile(file); err == nil {
		if err := json.Unmarshal(b, &whole); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	for k, v := range add {
		whole[k] = v
	}
	return WriteJSON(file, whole)
}

// TableOf returns an agent's entry of the install table; every driver has one, which a test checks.
func TableOf(name string) realagents.Agent {
	a, _ := realagents.Find(name)
	return a
}

// WithInput adds arguments to a call.
func WithInput(c model.ToolCall, more map[string]any) model.ToolCall {
	var input map[string]any
	if json.Unmarshal(c.Input, &input) != nil {
		return c
	}
	for k, v := range more {
		input[k] = v
	}
	return model.Call(c.Name, input)
}

func withNamespace(c model.ToolCall, name string) model.ToolCall {
	c.Namespace = name
	return c
}

// Forms is how an agent is started with an MCP server.
type Forms struct {
	// Args are those of an interactive start in which the server called
	// [FormServer] listens at an address and its tool is permitted.
	Args func(prompt, url string) []string
	// Prompts is shown by the agent's own dialog for a form.
	Prompts string
}

const FormServer = "forms"

// Questions is how an agent is made to ask.
type Questions struct {
	// Args starts it so that it may; nil: as in a strict start.
	Args func(prompt string) []string
	// Tool is the tool with which the model asks, in the form that Claude Code
	// introduced.
	Tool string
	// IDs says that its questions have ids.
	IDs bool
	// Single says that of several options only one can be chosen.
	Single bool
	// Told is how the model reads an answer: question, then answer.
	Told string
	// Plan is the tool with which the model puts a plan forward; "" when there
	// is none to be answered.
	Plan string
	// PlanFile finds the file in which the agent wants the plan, in what it sends to the model: the
	// tool itself takes no text. "": it takes the text.
	PlanFile string
	// Modes are the permission modes it is in after a plan was accepted, by how
	// it was.
	Modes map[event.PlanMode]string
}

// planFile is the variable of a script with the file that PlanFile finds.
const planFile = "PLAN_FILE"

// PlanCalls returns what a model calls to put a plan forward, and to put it forward again.
func (q *Questions) PlanCalls(text string, again int) []model.ToolCall {
	var calls []model.ToolCall
	call := model.Call(q.Plan, map[string]any{"plan": text})
	if q.PlanFile != "" {
		calls = append(calls, model.Call("Write", map[string]any{"file_path": "${" + planFile + "}", "content": text}))
		call = model.Call(q.Plan, map[string]any{})
	}
	return append(calls, slices.Repeat([]model.ToolCall{call}, 1+again)...)
}

// ScriptVars returns the variables of scripts, by the pattern that finds each in what the agent sends.
func (d *Driver) ScriptVars() map[string]*regexp.Regexp {
	vars := map[string]*regexp.Regexp{}
	for name, pattern := range d.Vars {
		vars[name] = regexp.MustCompile(pattern)
	}
	if d.Questions != nil && d.Questions.PlanFile != "" {
		vars[planFile] = regexp.MustCompile(d.Questions.PlanFile)
	}
	return vars
}

// SecondAnswers returns the answer to the second question.
func (q *Questions) SecondAnswers() []string {
	if q.Single {
		return []string{"flat"}
	}
	return []string{"round", "flat"}
}

// LargeCall returns how many bytes a large command has for this agent.
func (d Driver) LargeCall() int {
	if d.LargestCall > 0 {
		return d.LargestCall
	}
	return 1 << 20
}
