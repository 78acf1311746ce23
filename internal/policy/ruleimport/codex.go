package ruleimport

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/claude"
)

// maxAlternatives is how many rules one prefix_rule may become.
const maxAlternatives = 64

// PrefixRules reads a .rules file of Codex: calls of prefix_rule(pattern, decision,
// justification, match, not_match). The strictest rule wins there as well, so that
// order does not matter. Other calls and statements are listed.
func PrefixRules(text string) Result {
	var result Result
	reader := &callReader{text: text, line: 1}
	for {
		call, ok := reader.nextCall()
		if !ok {
			return result
		}
		if call.err != nil || call.name != "prefix_rule" {
			reason := UnknownKey
			if call.err != nil {
				reason = NotUnderstood
			}
			result.skip(call.source, call.line, reason)
			continue
		}
		result.addPrefixRule(call)
	}
}

var prefixDecisions = map[string]claude.List{"allow": claude.AllowList, "prompt": claude.AskList,
	"forbidden": claude.DenyList}

func (r *Result) addPrefixRule(call namedCall) {
	decision, why := "allow", ""
	var examples [2][]any
	var pattern []any
	for name, value := range call.arguments {
		var fits bool
		switch name {
		case "pattern":
			pattern, fits = value.([]any)
		case "decision":
			decision, fits = value.(string)
		case "justification":
			why, fits = value.(string)
		case "match":
			examples[0], fits = value.([]any)
		case "not_match":
			examples[1], fits = value.([]any)
		default:
			r.skip(call.source, call.line, UnknownKey)
			return
		}
		if !fits {
			r.skip(call.source, call.line, NotUnderstood)
			return
		}
	}
	list, known := prefixDecisions[decision]
	if !known {
		r.skip(call.source, call.line, DecisionUnsaid)
		return
	}
	prefixes, reason := expandPattern(pattern)
	if reason != "" {
		r.skip(call.source, call.line, reason)
		return
	}
	var items []Item
	for _, words := range prefixes {
		rule, ok := prefixRule(words)
		if !ok {
			r.skip(call.source, call.line, NotPlainWord)
			return
		}
		items = append(items, Item{List: list, Rule: rule, Why: why, From: call.source, Line: call.line})
	}
	if !examplesHold(items, examples[0], true) || !examplesHold(items, examples[1], false) {
		r.skip(call.source, call.line, ExampleFails)
		return
	}
	r.Items = append(r.Items, items...)
}

// expandPattern expands the alternatives of a pattern.
func expandPattern(pattern []any) ([][]string, Reason) {
	if len(pattern) == 0 {
		return nil, NotUnderstood
	}
	out := [][]string{nil}
	for _, element := range pattern {
		choices := []any{element}
		if list, ok := element.([]any); ok {
			choices = list
		}
		var next [][]string
		for _, before := range out {
			for _, choice := range choices {
				word, ok := choice.(string)
				if !ok {
					return nil, NotUnderstood
				}
				next = append(next, append(append([]string{}, before...), word))
			}
		}
		if out = next; len(out) > maxAlternatives {
			return nil, TooMany
		}
	}
	return out, ""
}

// examplesHold runs a rule's own examples against what was made of it.
func examplesHold(items []Item, examples []any, hit bool) bool {
	set := claude.NewSet(claude.ReadSettings(claude.Source{Scope: claude.UserScope},
		Result{Items: items}.Settings()))
	for _, example := range examples {
		command := ""
		switch example := example.(type) {
		case string:
			command = example
		case []any:
			words := make([]string, 0, len(example))
			for _, word := range example {
				words = append(words, fmt.Sprint(word))
			}
			command = strings.Join(words, " ")
		}
		call := claude.Call{Tool: "Bash", Input: map[string]any{"command": command}}
		said := set.Decide(call, claude.Place{Trusted: true, Project: "/", Home: "/"})
		if (said.Rule != nil) != hit {
			return len(items) > 0 && items[0].List == claude.AllowList && hit // allow may ask for more, too
		}
	}
	return true
}

// namedCall is name(argument = value, …).
type namedCall struct {
	name      string
	arguments map[string]any
	source    string
	line      int
	err       error
}

// callReader reads the part of Starlark that rules files are written in.
type callReader struct {
	text string
	at   int
	line int
}

func (r *callReader) nextCall() (namedCall, bool) {
	r.skipBlanks()
	if r.at >= len(r.text) {
		return namedCall{}, false
	}
	begin, line := r.at, r.line
	call := namedCall{line: line, arguments: map[string]any{}}
	call.name = r.readName()
	call.err = r.readArguments(&call)
	if call.err != nil {
		r.skipLine()
	}
	call.source = r.text[begin:r.at]
	return call, true
}

func (r *callReader) readArguments(call *namedCall) error {
	if call.name == "" || !r.skipByte('(') {
		return fmt.Errorf("line %d: expected name(", r.line)
	}
	for !r.skipByte(')') {
		name := r.readName()
		if name == "" || !r.skipByte('=') {
			return fmt.Errorf("line %d: expected argument =", r.line)
		}
		value, err := r.readValue(0)
		if err != nil {
			return err
		}
		call.arguments[name] = value
		if !r.skipByte(',') && !r.follows(')') {
			return fmt.Errorf("line %d: expected , or )", r.line)
		}
	}
	return nil
}

func (r *callReader) readValue(depth int) (any, error) {
	r.skipBlanks()
	switch {
	case depth > 8:
		return nil, fmt.Errorf("line %d: lists are nested too deeply", r.line)
	case r.follows('['):
		r.skipByte('[')
		list := []any{}
		for !r.skipByte(']') {
			value, err := r.readValue(depth + 1)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
			if !r.skipByte(',') && !r.follows(']') {
				return nil, fmt.Errorf("line %d: expected , or ]", r.line)
			}
		}
		return list, nil
	case r.follows('"'), r.follows('\''):
		return r.readString()
	}
	return nil, fmt.Errorf("line %d: expected a text or a list", r.line)
}

func (r *callReader) readString() (string, error) {
	quote := r.text[r.at]
	var b strings.Builder
	for i := r.at + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == quote:
			r.at = i + 1
			return b.String(), nil
		case c == '\n':
			return "", fmt.Errorf("line %d: the text is not closed", r.line)
		case c == '\\' && i+1 < len(r.text):
			i++
			switch r.text[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte(r.text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", fmt.Errorf("line %d: the text is not closed", r.line)
}

func (r *callReader) readName() string {
	r.skipBlanks()
	begin := r.at
	for r.at < len(r.text) && (r.text[r.at] == '_' || isLetter(r.text[r.at]) || r.at > begin && isDigit(r.text[r.at])) {
		r.at++
	}
	return r.text[begin:r.at]
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func (r *callReader) follows(c byte) bool {
	r.skipBlanks()
	return r.at < len(r.text) && r.text[r.at] == c
}

func (r *callReader) skipByte(c byte) bool {
	if !r.follows(c) {
		return false
	}
	r.at++
	return true
}

// skipBlanks skips blanks, line ends and comments.
func (r *callReader) skipBlanks() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case '\n':
			r.line++
			r.at++
		case ' ', '\t', '\r':
			r.at++
		case '#':
			for r.at < len(r.text) && r.text[r.at] != '\n' {
				r.at++
			}
		default:
			return
		}
	}
}

func (r *callReader) skipLine() {
	for r.at < len(r.text) && r.text[r.at] != '\n' {
		r.at++
	}
}
