// Package model implements a scripted language model on loopback: it speaks the four wire formats
// coding agents use (Anthropic Messages, OpenAI Responses, OpenAI Chat Completions, Gemini
// generateContent), streaming or not, and runs a scenario instead of thinking.
//
// Contract: one Server serves many runs; the run is the first part of the URL path (/r/<run>/…),
// so agents that run at the same time never mix. The server keeps no session state: which step
// comes next is read off the conversation the agent sends, namely how often the assistant spoke
// since the newest user text with a marker (Mark). Requests that aren't part of the script
// (titles, summaries, quota probes, model lists) get short harmless answers. Everything the model
// was sent is kept per run, see Told and Requests.
package model

import (
	"context"
	"encoding/json"
	"regexp"
	"time"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// Scenario is what the model does in one run.
type Scenario struct {
	// Steps is run for a prompt that carries Mark("").
	Steps []Step
	// Named holds further scripts for prompts that carry Mark(name): the second
	// prompt of a session, or the prompt the model hands to a subagent.
	Named map[string][]Step
	// Vars are values only known while the agent runs. Each pattern is searched
	// in the request body and its first group (or the whole match) replaces
	// ${NAME} in Say and in tool inputs; the last match wins.
	Vars map[string]*regexp.Regexp
	// Delay before each answer; zero means the server's default.
	Delay time.Duration
	// Review runs the agent's own reviewer: it is given an action and returns why it
	// denies that, or "" to allow it. It may wait. Without it, Codex's reviewer allows
	// everything and the check of Claude Code's auto mode has no result.
	Review func(action string) (refusal string)
}

// Step is one turn of the model: text, tool calls, or both. Several calls are
// sent together, as parallel calls.
type Step struct {
	Say   string
	Calls []ToolCall
	// Fail answers with an HTTP error instead of (or before) Say and Calls.
	Fail *Fail
	// Delay before this answer; zero means the scenario's.
	Delay time.Duration
	// Until, if set, is called before this answer, which waits for it; if it returns
	// false there is none.
	Until func(context.Context) bool
	// ChunkDelay is slept between the pieces of a streamed text, to have time
	// for an interrupt in mid-sentence.
	ChunkDelay time.Duration
	// InputTokens is the reported size of the conversation (0: a small number);
	// a large one makes agents compact.
	InputTokens int
}

// ToolCall is one call in the agent's own tool names and spelling.
type ToolCall struct {
	Name  string
	Input json.RawMessage
	// Custom sends a free-form call (OpenAI Responses only): Input is then a
	// JSON string whose text is the tool's input, e.g. a patch or a program.
	Custom bool
	// Namespace is sent with the name if the API has one (Responses).
	Namespace string
}

// Fail is an error answer of the API.
type Fail struct {
	Status  int
	Type    string // the API's error type; a plausible one when empty
	Message string
	// Times is how many requests fail before the step's Say and Calls are
	// run; zero means forever.
	Times int
	// Header is added to the error answer (retry-after …).
	Header map[string]string
}

// Mark returns the text to put into a prompt so that the named script is
// run; the empty name means Scenario.Steps.
func Mark(name string) string {
	if name == "" {
		return "[[play]]"
	}
	return "[[play:" + name + "]]"
}

var markPattern = lazyregexp.New(`\[\[play(?::([A-Za-z0-9_.-]+))?\]\]`)

// Call builds a ToolCall from a Go value.
func Call(name string, input any) ToolCall {
	return ToolCall{Name: name, Input: json.RawMessage(compact(input))}
}
