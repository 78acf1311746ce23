// Package ruleimport reads the permission rules of other agents and writes them as rules that
// package claude decides by, so that one engine applies them to every agent: Codex's prefix_rule
// files, Gemini's policy TOML, OpenCode's permission block.
//
// Only what means exactly the same is imported. Everything else is listed with the reason;
// nothing is dropped silently, and nothing becomes weaker: if the order of rules matters in the
// other agent (priorities, last match wins), a rule that would win wrongly in "deny, then ask,
// then allow" is listed instead.
package ruleimport

import (
	"encoding/json"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/claude"
)

// Reason is why something wasn't imported.
type Reason string

// The reasons.
const (
	NotUnderstood  Reason = "not-understood"  // not in the syntax that is documented
	UnknownKey     Reason = "unknown-key"     // a condition that has no counterpart
	NoSuchTool     Reason = "no-such-tool"    // the tool has no counterpart
	Pattern        Reason = "pattern"         // a pattern or expression that cannot be said as a prefix
	NotPlainWord   Reason = "not-plain-word"  // a word that a shell would have to quote
	TooMany        Reason = "too-many"        // more alternatives than are written out
	Order          Reason = "order"           // another rule would win here, which wins there
	WideAllow      Reason = "wide-allow"      // allows everything, which no rule can express
	Default        Reason = "default"         // what happens if no rule matches
	ExampleFails   Reason = "example-fails"   // its own example would be decided otherwise
	DecisionUnsaid Reason = "decision-unsaid" // the decision is none of allow, ask, deny
)

// Item is one rule that was imported.
type Item struct {
	List claude.List
	Rule string // in the form of Claude Code's settings
	Why  string // the author's reason, "" if none was given
	From string // the rule as it was written, to be shown
	Line int    // where it begins, 0 if not known
}

// Skipped is something that wasn't imported.
type Skipped struct {
	From   string
	Line   int
	Reason Reason
}

// Result is the result of one file.
type Result struct {
	Items   []Item
	Skipped []Skipped
}

// Settings returns the result as a settings file that claude.ReadSettings reads.
func (r Result) Settings() []byte {
	lists := map[claude.List][]string{}
	for _, item := range r.Items {
		lists[item.List] = append(lists[item.List], item.Rule)
	}
	text, err := json.MarshalIndent(map[string]any{"permissions": lists}, "", "  ")
	if err != nil {
		return nil // strings in lists always encode
	}
	return append(text, '\n')
}

func (r *Result) skip(from string, line int, reason Reason) {
	r.Skipped = append(r.Skipped, Skipped{From: strings.TrimSpace(from), Line: line, Reason: reason})
}

var plainWord = lazyregexp.New(`^[A-Za-z0-9_./:@=+,%-]+$`)

// prefixRule returns the rule for commands that begin with words; ok is false if a word
// would have to be quoted.
func prefixRule(words []string) (rule string, ok bool) {
	for _, word := range words {
		if !plainWord.MatchString(word) {
			return "", false
		}
	}
	return "Bash(" + strings.Join(words, " ") + ":*)", len(words) > 0
}

// strength orders lists: deny over ask over allow.
func strength(list claude.List) int {
	switch list {
	case claude.DenyList:
		return 2
	case claude.AskList:
		return 1
	}
	return 0
}

// ranked is a rule with its place in the other agent's order; a higher rank wins there.
type ranked struct {
	item Item
	rank float64
	tool string // what it is about
	text string // the literal beginning of what it matches
	tail string // the literal end of it
}

// overlaps reports whether one call may match both rules.
func (r ranked) overlaps(other ranked) bool {
	if r.tool != other.tool && r.tool != "*" && other.tool != "*" {
		return false
	}
	begins := strings.HasPrefix(r.text, other.text) || strings.HasPrefix(other.text, r.text)
	ends := strings.HasSuffix(r.tail, other.tail) || strings.HasSuffix(other.tail, r.tail)
	return begins && ends
}

// keepOrder imports rules whose order agrees with "deny, then ask, then allow". A rule that a
// weaker one beats there would beat it here, so it is listed.
func (r *Result) keepOrder(rules []ranked) {
	for i, rule := range rules {
		beaten := false
		for j, other := range rules {
			wins := i != j && other.rank > rule.rank && strength(other.item.List) < strength(rule.item.List)
			beaten = beaten || wins && rule.overlaps(other)
		}
		if beaten {
			r.skip(rule.item.From, rule.item.Line, Order)
			continue
		}
		r.Items = append(r.Items, rule.item)
	}
}
