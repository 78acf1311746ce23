package model

import (
	"errors"
	"fmt"
)

// ScriptStep is one thing a scripted model does, in terms that mean the same for every agent.
// Exactly one of its fields is set, except for Say, which may accompany others.
type ScriptStep struct {
	Say      string
	Run      []string  // commands, called together
	Question *Question // put to the user
	Plan     string    // shown to the user
	Subagent string    // the name of the script that a helper runs
	MCP      *MCP
	Call     *ToolCall // anything else, in the agent's own terms
	Fail     *Fail
}

// Question is one a model asks the user.
type Question struct {
	Header, Text string
	Options      []string
}

// MCP is a call of an MCP server's tool.
type MCP struct {
	Server, Tool string
	Input        any
}

// Vocabulary turns steps into an agent's own tool calls. What an agent has no
// tool for is nil.
type Vocabulary struct {
	Run      func(command string) ToolCall
	Question func(Question) ToolCall
	Plan     func(text string) ToolCall
	Subagent func(prompt string) []Step
	MCP      func(MCP) ToolCall
}

// ErrNoWord is returned by Steps for a step an agent has no word for.
var ErrNoWord = errors.New("this agent has no such tool")

// Steps returns the steps in the agent's terms.
func (v Vocabulary) Steps(script []ScriptStep) ([]Step, error) {
	var out []Step
	for i, b := range script {
		steps, err := v.steps(b)
		if err != nil {
			return nil, fmt.Errorf("beat %d: %w", i+1, err)
		}
		out = append(out, steps...)
	}
	return out, nil
}

func (v Vocabulary) steps(b ScriptStep) ([]Step, error) {
	step := Step{Say: b.Say, Fail: b.Fail}
	said := b.Say != "" || b.Fail != nil
	without := func(what string) ([]Step, error) { return nil, fmt.Errorf("%s: %w", what, ErrNoWord) }
	switch {
	case len(b.Run) > 0:
		if v.Run == nil {
			return without("run")
		}
		for _, c := range b.Run {
			step.Calls = append(step.Calls, v.Run(c))
		}
	case b.Question != nil:
		if v.Question == nil {
			return without("question")
		}
		step.Calls = []ToolCall{v.Question(*b.Question)}
	case b.Plan != "":
		if v.Plan == nil {
			return without("plan")
		}
		step.Calls = []ToolCall{v.Plan(b.Plan)}
	case b.Subagent != "":
		if v.Subagent == nil {
			return without("subagent")
		}
		return v.Subagent("Help with it " + Mark(b.Subagent)), nil
	case b.MCP != nil:
		if v.MCP == nil {
			return without("MCP")
		}
		step.Calls = []ToolCall{v.MCP(*b.MCP)}
	case b.Call != nil:
		step.Calls = []ToolCall{*b.Call}
	case !said:
		return nil, errors.New("says nothing and does nothing")
	}
	return []Step{step}, nil
}
