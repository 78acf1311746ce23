package handler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// ParseUnified reads the answer of a process in hookmux's own format. kind is the event's kind,
// carries what the agent can take back.
//
//   - exit 0 with nothing: no opinion
//   - exit 0 with one JSON object: the result; an unknown key or value is a failure, because it
//     may have been meant as a deny
//   - exit 0 with other text: context, if the event takes context and is no end
//   - exit 2: deny with stderr as the reason; at an end (turn.end, subagent.end) keep going
//   - everything else: a failure
func ParseUnified(kind event.Kind, carries event.Carries, out Output) (event.Decision, error) {
	if out.Exit == 2 && out.Signal == "" {
		return refusedDecision(kind, cleanText(out.Stderr)), nil
	}
	if err := failureOf(out); err != nil {
		return event.Decision{}, err
	}
	text := bytes.TrimSpace(out.Stdout)
	if len(text) == 0 {
		return event.Decision{}, nil
	}
	if text[0] == '{' {
		return unifiedResult(kind, text)
	}
	if last := lastLine(text); len(last) > 0 && last[0] == '{' && jsontext.Valid(last) && resultLike(last) {
		return event.Decision{}, errors.New("printed other text before its result, so the result does not count; " +
			"print the JSON alone and notes to stderr")
	}
	if carries.Context && !kind.TakesKeepGoing() {
		return event.Decision{Context: cleanText(text)}, nil
	}
	return event.Decision{}, nil
}

// refusedDecision returns a plain no: at an end it means that the agent should continue.
func refusedDecision(kind event.Kind, reason string) event.Decision {
	if kind.TakesKeepGoing() {
		return event.Decision{KeepGoing: true, Reason: reason}
	}
	if reason == "" {
		reason = event.DefaultReason
	}
	return event.Decision{Verdict: event.Deny, Reason: reason}
}

// failureOf returns why an answer does not count at all, exit 2 set aside.
func failureOf(out Output) error {
	if err := endFailure(out); err != nil {
		return err
	}
	if out.TooMuch {
		return fmt.Errorf("printed more than 1 MiB on stdout%s", lastWords(out))
	}
	return nil
}

func endFailure(out Output) error {
	switch {
	case out.Signal != "":
		return fmt.Errorf("killed by %s%s", out.Signal, lastWords(out))
	case out.Exit != 0:
		return fmt.Errorf("exit status %d%s", out.Exit, lastWords(out))
	}
	return nil
}

// lastWords returns the last line of stderr, where programs report what went wrong.
func lastWords(out Output) string {
	words := out.LastWords
	if words == nil {
		words = out.Stderr
	}
	line := cleanText(lastLine(words))
	if line == "" {
		return ""
	}
	return ": " + termsafe.CutMarked(line, 300)
}

func lastLine(text []byte) []byte {
	text = bytes.TrimSpace(text)
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		text = bytes.TrimSpace(text[i+1:])
	}
	return text
}

func cleanText(text []byte) string {
	return strings.TrimSpace(strings.ToValidUTF8(string(text), "\ufffd"))
}

// resultLike distinguishes a result from JSON that a program prints for other reasons.
func resultLike(object []byte) bool {
	m := readMembers(object)
	return m.indexOf("decision") >= 0 || m.indexOf("hookSpecificOutput") >= 0 || m.indexOf("keepGoing") >= 0
}

// unifiedResult reads the JSON result.
func unifiedResult(kind event.Kind, text []byte) (event.Decision, error) {
	var d event.Decision
	var word, message string
	seen := make(map[string]bool, 4)
	var bad error
	err := jsontext.Object(text, func(k, value []byte) bool {
		key := string(k)
		if seen[key] {
			bad = fmt.Errorf("result names %q twice; say it once", key)
			return false
		}
		seen[key] = true
		if string(value) == "null" {
			return true
		}
		switch key {
		case "decision":
			word, bad = resultText(key, value)
		case "message", "reason":
			var text string
			if text, bad = resultText(key, value); text != "" && message == "" {
				message = text
			}
		case "modifiedInput":
			if !jsontext.IsObject(value) {
				bad = errors.New("result key \"modifiedInput\" must be an object with the keys to change")
			}
			d.Input = bytes.Clone(value)
		case "modifiedOutput":
			d.Output = bytes.Clone(value)
		case "stdout":
			d.Stdout, bad = resultText(key, value)
		case "context":
			d.Context, bad = resultText(key, value)
		case "notice":
			d.Notice, bad = resultText(key, value)
		case "exitCode":
			if json.Unmarshal(value, &d.ExitCode) != nil || d.ExitCode < 0 || d.ExitCode > 255 {
				bad = errors.New("result key \"exitCode\" must be a whole number from 0 to 255")
			}
		case "keepGoing":
			if json.Unmarshal(value, &d.KeepGoing) != nil {
				bad = errors.New("result key \"keepGoing\" must be true or false")
			}
		default:
			bad = unknownKey(key)
		}
		return bad == nil
	})
	if bad == nil && err != nil {
		bad = fmt.Errorf("stdout is no JSON object: %w; print one result, or plain text that does not start with {",
			err)
	}
	if bad != nil {
		return event.Decision{}, bad
	}
	return unifiedVerdict(kind, d, word, message)
}

func resultText(key string, value []byte) (string, error) {
	text, ok := jsontext.String(value)
	if !ok {
		return "", fmt.Errorf("result key %q must be a string", key)
	}
	return text, nil
}

// unifiedVerdict puts the decision word and the rest of a result together.
func unifiedVerdict(kind event.Kind, d event.Decision, word, message string) (event.Decision, error) {
	if kind.TakesKeepGoing() && (word == "deny" || word == "block") {
		d.KeepGoing, d.Reason, d.Input = true, message, nil
		return d, nil
	}
	verdict, err := event.ParseVerdict(word)
	if err != nil {
		if word == "block" || word == "approve" {
			return event.Decision{}, fmt.Errorf("result: decision %q is Claude's word; add the hook with --format "+
				"claude, or print allow, deny, ask, modify or none", word)
		}
		return event.Decision{}, fmt.Errorf("result: %w", err)
	}
	d.Verdict, d.Reason = verdict, message
	switch verdict {
	case event.Deny:
		d.Input = nil
		if d.Reason == "" {
			d.Reason = event.DefaultReason
		}
	case event.Modify:
		if d.Input == nil && d.Output == nil {
			return event.Decision{}, errors.New("result: decision \"modify\" needs modifiedInput or modifiedOutput")
		}
		if d.Input == nil {
			d.Verdict = event.None // a changed result is no verdict about the call
		}
	case event.Allow:
		if d.Input != nil {
			d.Verdict, d.Allowed = event.Modify, true
		}
	case event.None:
		switch {
		case d.Input != nil:
			d.Verdict = event.Modify
		case !d.KeepGoing && d.Reason != "":
			// Text without a verdict is for the user.
			if d.Notice == "" {
				d.Notice = d.Reason
			}
			d.Reason = ""
		}
	}
	return d, nil
}

// claudeKeys are the keys that Claude Code's format has and the unified one has not.
var claudeKeys = map[string]bool{
	"hookSpecificOutput": true, "continue": true, "stopReason": true,
	"suppressOutput": true, "systemMessage": true, "permissionDecision": true,
}

func unknownKey(key string) error {
	if claudeKeys[key] {
		return fmt.Errorf("result key %q is Claude's format; add the hook with --format claude", key)
	}
	return fmt.Errorf("result key %q is unknown; known are decision, message, reason, modifiedInput, "+
		"modifiedOutput, stdout, exitCode, context, notice, keepGoing", termsafe.CutMarked(key, 60))
}
