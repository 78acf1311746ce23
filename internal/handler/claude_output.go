package handler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// effect is how Claude Code reacts to a denial (exit 2, decision "block") at one of its events.
type effect int

const (
	shown   effect = iota // the user reads it, nothing is stopped
	stops                 // what was about to happen does not
	goesOn                // the agent does not end but goes on with it
	told                  // the model reads it next to the result
	ignored               // it says nothing here; only decision.behavior does
)

// refusals has the effect for each event; other events only show it.
var refusals = map[string]effect{
	"PreToolUse": stops, "UserPromptSubmit": stops, "UserPromptExpansion": stops,
	"PreCompact": stops, "PreModelSwitch": stops, "Elicitation": stops, "PostToolBatch": stops,
	"Stop": goesOn, "SubagentStop": goesOn,
	"PostToolUse": told, "PostToolUseFailure": told,
	"PermissionRequest": ignored,
}

var errSaysNothing = errors.New("exit 2 and decision \"block\" say nothing at PermissionRequest; print " +
	"hookSpecificOutput.decision with behavior allow or deny")

func applyRefusal(d *event.Decision, name, reason string) error {
	switch refusals[name] {
	case stops:
		if reason == "" {
			reason = event.DefaultReason
		}
		d.Verdict, d.Reason, d.Input, d.Allowed = event.Deny, reason, nil, false
	case goesOn:
		d.KeepGoing, d.Reason = true, reason
	case told:
		d.Context = joinLines(d.Context, reason)
	case ignored:
		return errSaysNothing
	default:
		d.Notice = joinLines(d.Notice, reason)
	}
	return nil
}

func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// ParseClaude reads the answer of a process in Claude Code's own format, as
// the real one reads it. name is Claude's name of the event: see
// [ClaudeEvent]. A changed input comes back in Claude's spelling.
//
// It differs from Claude in two points, both to the safe side: what Claude
// only warns about (a broken answer, a wrong event name) is a failure whose
// meaning the registration chooses, and what hookmux cannot pass on is noted
// as degraded.
func ParseClaude(name string, out Output) (event.Decision, error) {
	var d event.Decision
	if out.Exit == 2 && out.Signal == "" {
		err := applyRefusal(&d, name, cleanText(out.Stderr))
		return d, err
	}
	text := bytes.TrimSpace(out.Stdout)
	if out.Signal != "" || out.TooMuch || len(text) == 0 || text[0] != '{' {
		if err := failureOf(out); err != nil {
			return d, err
		}
		if len(text) > 0 && text[0] != '{' && (name == "UserPromptSubmit" || name == "SessionStart") {
			d.Context = cleanText(text)
		}
		return d, nil
	}
	// JSON is used whatever the exit status, as in Claude.
	var answer claudeAnswer
	if !jsontext.Valid(text) {
		if err := failureOf(out); err != nil {
			return d, err
		}
		return d, errors.New("stdout starts like JSON but is not one JSON object; print the answer alone and notes " +
			"to stderr")
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return d, answerFault(err)
	}
	if err := checkMembers(text); err != nil {
		return d, err
	}
	return answer.toDecision(name)
}

// sayingMembers are the members of an answer that say something, and quietMembers those that
// only accompany them.
var (
	sayingMembers = []string{"continue", "decision", "systemMessage", "hookSpecificOutput"}
	quietMembers  = []string{"reason", "stopReason", "suppressOutput", "async", "asyncTimeout", "terminalSequence"}
)

// checkMembers rejects an answer that has members but nothing hookmux or Claude Code could know:
// {"blok": true}. Unknown members next to known ones are tolerated, as Claude does; newer versions
// may have more.
func checkMembers(text []byte) error {
	unknown := ""
	for _, m := range readMembers(text) {
		if slices.Contains(sayingMembers, m.key) {
			return checkSpecific(readMembers(text).get("hookSpecificOutput"))
		}
		if unknown == "" && !slices.Contains(quietMembers, m.key) {
			unknown = m.key
		}
	}
	if unknown == "" {
		return nil
	}
	return fmt.Errorf("answer key %q is unknown, and nothing else says what to do; known are %s",
		termsafe.CutMarked(unknown, 60), strings.Join(sayingMembers, ", "))
}

// specificMembers are the members of hookSpecificOutput that say something, at
// any event.
var specificMembers = []string{
	"permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext", "updatedToolOutput",
	"updatedMCPToolOutput",
	"action", "content", "decision", "sessionTitle", "initialUserMessage", "watchPaths", "reloadSkills", "retry",
	"suppressOriginalPrompt", "worktreePath",
	"displayContent",
}

func checkSpecific(specific json.RawMessage) error {
	unknown := ""
	for _, m := range readMembers(specific) {
		if slices.Contains(specificMembers, m.key) {
			return nil
		}
		if unknown == "" && m.key != "hookEventName" {
			unknown = m.key
		}
	}
	if unknown == "" {
		return nil
	}
	return fmt.Errorf("hookSpecificOutput key %q is unknown, and nothing else there says what to do",
		termsafe.CutMarked(unknown, 60))
}

// claudeAnswer is the part of Claude's output that hookmux can act on.
type claudeAnswer struct {
	Continue      *bool  `json:"continue"`
	StopReason    string `json:"stopReason"`
	SystemMessage string `json:"systemMessage"`
	Decision      string `json:"decision"`
	Reason        string `json:"reason"`

	Specific *claudeSpecific `json:"hookSpecificOutput"`
}

type claudeSpecific struct {
	Event         string          `json:"hookEventName"`
	Permission    string          `json:"permissionDecision"`
	Reason        string          `json:"permissionDecisionReason"`
	UpdatedInput  json.RawMessage `json:"updatedInput"`
	Context       string          `json:"additionalContext"`
	UpdatedOutput json.RawMessage `json:"updatedToolOutput"`
	UpdatedMCP    json.RawMessage `json:"updatedMCPToolOutput"`
	Action        string          `json:"action"` // Elicitation
	Decision      *struct {
		Behavior     string          `json:"behavior"`
		Message      string          `json:"message"`
		UpdatedInput json.RawMessage `json:"updatedInput"`
		Permissions  json.RawMessage `json:"updatedPermissions"`
		Interrupt    bool            `json:"interrupt"`
	} `json:"decision"`
}

// answerFault names the key whose value has the wrong type.
func answerFault(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("answer key %q must not be a %s", wrong.Field, wrong.Value)
	}
	return fmt.Errorf("answer: %w", err)
}

func (a *claudeAnswer) toDecision(name string) (event.Decision, error) {
	d := event.Decision{Notice: a.SystemMessage}
	if s := a.Specific; s != nil {
		if !sameEvent(s.Event, name) {
			if s.Event == "" {
				return event.Decision{}, fmt.Errorf("hookSpecificOutput has no hookEventName; add \"hookEventName\":%q",
					name)
			}
			return event.Decision{}, fmt.Errorf("hookEventName %q is wrong here; this is %s",
				termsafe.CutMarked(s.Event, 60), name)
		}
		if err := s.readSpecific(&d, name); err != nil {
			return event.Decision{}, err
		}
	}
	switch a.Decision {
	case "":
	case "approve":
		if name == "PreToolUse" && d.Verdict == event.None {
			d.Verdict, d.Reason = event.Allow, a.Reason
		}
	case "block":
		if err := applyRefusal(&d, name, a.Reason); err != nil {
			return event.Decision{}, err
		}
	default:
		if _, err := event.ParseVerdict(a.Decision); err == nil {
			return event.Decision{}, fmt.Errorf("decision %q is hookmux's own format; add the hook without --format "+
				"claude, or print approve or block", a.Decision)
		}
		return event.Decision{}, fmt.Errorf("decision %q is neither approve nor block", termsafe.CutMarked(a.Decision, 60))
	}
	if a.Continue != nil && !*a.Continue {
		endTurn(&d, name, a.StopReason)
	}
	if d.Verdict == event.Deny && (d.Reason == "" || d.Reason == event.DefaultReason) && d.Notice != "" {
		d.Reason = d.Notice // the only text there is: most agents have no other to show
	}
	if d.Input != nil {
		switch d.Verdict {
		case event.Allow:
			d.Verdict, d.Allowed = event.Modify, true
		case event.None:
			d.Verdict = event.Modify
		}
	}
	return d, nil
}

// sameEvent reports whether the answer is about this event. A hook that is written for
// successful calls may be called for a failed one as well, and answers with the name it knows.
func sameEvent(said, name string) bool {
	return said == name || said == "PostToolUse" && name == "PostToolUseFailure"
}

// endTurn handles continue:false: the turn should end. hookmux can't end a turn, so what was about
// to happen is denied, which is the closest safe answer.
func endTurn(d *event.Decision, name, why string) {
	switch {
	case refusals[name] == stops || name == "PermissionRequest":
		if d.Verdict == event.Deny {
			why = d.Reason
		} else if why == "" {
			why = "a hook wants the turn to end (continue: false)"
		}
		d.Verdict, d.Reason, d.Input, d.Allowed = event.Deny, why, nil, false
	case refusals[name] == goesOn:
		d.KeepGoing, d.Reason = false, "" // it wants the end, whatever else it says
		d.Notice = joinLines(d.Notice, why)
	default:
		if why == "" {
			why = "a hook wants the turn to end (continue: false)"
		}
		d.Notice = joinLines(d.Notice, why)
		d.NoteDegraded(event.Degradation{What: "continue:false", Why: "hookmux cannot end a turn here"})
	}
}

func (s *claudeSpecific) readSpecific(d *event.Decision, name string) error {
	if s.Context != "" {
		if refusals[name] == goesOn {
			d.KeepGoing, d.Reason = true, s.Context // Claude takes it for another round
		} else {
			d.Context = s.Context
		}
	}
	switch name {
	case "PreToolUse", "PreModelSwitch":
		return s.readTool(d)
	case "PermissionRequest":
		return s.readPermission(d)
	case "PostToolUse":
		switch {
		case isPresent(s.UpdatedOutput):
			d.Output = s.UpdatedOutput
		case isPresent(s.UpdatedMCP):
			d.Output = s.UpdatedMCP
		}
	case "Elicitation":
		switch s.Action {
		case "":
		case "decline", "cancel":
			d.Verdict, d.Reason = event.Deny, event.DefaultReason
		case "accept":
			d.NoteDegraded(event.Degradation{What: "accept", Why: "hookmux cannot fill in the server's form"})
		default:
			return fmt.Errorf("action %q is none of accept, decline, cancel", termsafe.CutMarked(s.Action, 60))
		}
	}
	return nil
}

func (s *claudeSpecific) readTool(d *event.Decision) error {
	switch s.Permission {
	case "", "defer": // deferred means decided elsewhere: no opinion
	case "allow", "deny", "ask":
		d.Verdict, d.Reason = event.Verdict(s.Permission), s.Reason
	default:
		return fmt.Errorf("permissionDecision %q is none of allow, deny, ask, defer", termsafe.CutMarked(s.Permission, 60))
	}
	if d.Verdict == event.Deny {
		if d.Reason == "" {
			d.Reason = event.DefaultReason
		}
		return nil
	}
	return takeInput(d, s.UpdatedInput)
}

func (s *claudeSpecific) readPermission(d *event.Decision) error {
	p := s.Decision
	if p == nil {
		return nil
	}
	switch p.Behavior {
	case "allow":
		d.Verdict, d.Reason = event.Allow, p.Message
		if isPresent(p.Permissions) {
			d.NoteDegraded(event.Degradation{What: "updatedPermissions", Why: "hookmux keeps no rules for the agent"})
		}
		return takeInput(d, p.UpdatedInput)
	case "deny":
		if d.Verdict, d.Reason = event.Deny, p.Message; d.Reason == "" {
			d.Reason = event.DefaultReason
		}
		if p.Interrupt {
			d.NoteDegraded(event.Degradation{What: "interrupt", Why: "the call is denied, the turn goes on"})
		}
		return nil
	}
	return fmt.Errorf("decision.behavior %q is neither allow nor deny", termsafe.CutMarked(p.Behavior, 60))
}

func takeInput(d *event.Decision, input json.RawMessage) error {
	if !isPresent(input) {
		return nil
	}
	if !jsontext.IsObject(input) {
		return errors.New("updatedInput must be an object")
	}
	d.Input = input
	return nil
}

func isPresent(value json.RawMessage) bool { return len(value) > 0 && string(value) != "null" }
