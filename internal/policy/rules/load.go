package rules

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/hookmux/hookmux/internal/platform/similar"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/platform/yamlerror"
	"github.com/hookmux/hookmux/internal/policy/facts"
)

// Problem is something wrong with a rule or a file of rules.
type Problem struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Rule   string `json:"rule,omitempty"`
	Text   string `json:"text"`
	// Whole says that the whole file is ignored, not just one rule.
	Whole bool `json:"whole,omitempty"`
	// Used says that the rule is used anyway.
	Used bool `json:"used,omitempty"`
}

func (p Problem) String() string {
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	if p.Rule != "" && p.Used {
		return where + ": rule " + p.Rule + ": " + p.Text
	}
	if p.Rule != "" {
		return where + ": rule " + p.Rule + " is not used: " + p.Text
	}
	return where + ": " + p.Text
}

// Source is a file of rules before it is read.
type Source struct {
	Name  string // its path, for messages
	Data  []byte
	Layer Layer
	// Prefix is put before the ids of a pack's rules.
	Prefix string
	// Builtin says that it is one of hookmux's own, whose rules may name checks in Go.
	Builtin bool
	// Tested says that its examples are known to hold.
	Tested bool
}

// maxFile limits the size of a file of rules.
const maxFile = 4 << 20

// Parse reads rules. Whatever is wrong is left out and reported; the rest applies.
func Parse(sources ...Source) ([]*Rule, []Problem) {
	var lists [][]*Rule
	var problems []Problem
	for _, s := range sources {
		found, wrong := parseFile(s)
		problems = append(problems, wrong...)
		lists = append(lists, found)
	}
	list, twice := Unique(lists...)
	return list, append(problems, twice...)
}

// Unique joins lists of rules, and reports those whose id another one has. They apply anyway, or a
// rule could be hidden by writing another: only one that may allow is left out.
func Unique(lists ...[]*Rule) ([]*Rule, []Problem) {
	var list []*Rule
	var problems []Problem
	seen := map[string]*Rule{}
	for _, r := range slices.Concat(lists...) {
		if first := seen[r.ID]; first != nil {
			p := r.problem(fmt.Sprintf("%s:%d has a rule with the same id; rename one of them", first.File, first.Line))
			if p.Used = !r.MayAllow(); p.Used {
				list = append(list, r)
				p.Text += " (both apply)"
			}
			problems = append(problems, p)
			continue
		}
		seen[r.ID] = r
		list = append(list, r)
	}
	return list, problems
}

func (r *Rule) problem(text string) Problem {
	return Problem{File: r.File, Line: r.Line, Column: r.Column, Rule: r.ID, Text: text}
}

// maxDepth limits how deep lists and objects may be nested: the YAML parser takes time
// quadratic in the depth.
const maxDepth = 100

// tooDeep returns the first token that is nested too deep; nil if there is none.
func tooDeep(tokens token.Tokens) *token.Token {
	depth, line, dashes := 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth = max(depth-1, 0)
		case token.SequenceEntryType: // - - - a
			if t.Position.Line != line {
				line, dashes = t.Position.Line, 0
			}
			dashes++
		}
		if depth > maxDepth || dashes > maxDepth {
			return t
		}
	}
	return nil
}

// parseFile reads one file.
func parseFile(s Source) ([]*Rule, []Problem) {
	whole := func(err error) []Problem {
		p := Problem{File: s.Name, Text: termsafe.FirstLine(err.Error()), Whole: true}
		placeError(&p, err)
		return []Problem{p}
	}
	if len(s.Data) > maxFile {
		return nil, whole(fmt.Errorf("the file is longer than %d MiB", maxFile>>20))
	}
	tokens := lexer.Tokenize(string(s.Data))
	if t := tooDeep(tokens); t != nil {
		return nil, []Problem{{File: s.Name, Line: t.Position.Line, Column: t.Position.Column, Whole: true,
			Text: fmt.Sprintf("lists are nested more than %d deep", maxDepth)}}
	}
	doc, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, whole(err)
	}
	if len(doc.Docs) == 0 || doc.Docs[0].Body == nil {
		return nil, nil
	}
	if len(doc.Docs) > 1 {
		return nil, whole(errors.New("the file contains several documents (---); put all rules into one"))
	}
	body, ok := doc.Docs[0].Body.(*ast.MappingNode)
	if !ok {
		return nil, whole(errors.New("the file must begin with version: 1 and rules:"))
	}
	var nodes []ast.Node
	version := 0
	usual := Rule{}
	for _, pair := range body.Values {
		switch key := pair.Key.GetToken().Value; key {
		case "version":
			if err := yaml.NodeToValue(pair.Value, &version); err != nil {
				return nil, whole(err)
			}
		case "rules":
			sequence, ok := pair.Value.(*ast.SequenceNode)
			if !ok {
				return nil, whole(errors.New("rules must be a list"))
			}
			nodes = sequence.Values
		case "decide", "onUnknown":
			into := any(&usual.OnUnknown)
			if key == "decide" {
				into = &usual.Decide
			}
			if err := yaml.NodeToValue(pair.Value, into); err != nil {
				return nil, whole(err)
			}
		default:
			at := pair.Key.GetToken().Position
			return nil, []Problem{{File: s.Name, Line: at.Line, Column: at.Column, Whole: true,
				Text: fmt.Sprintf("there's no key %q; a file of rules has version, decide, onUnknown and rules", key)}}
		}
	}
	if version == 0 {
		return nil, whole(errors.New("\"version\" is missing; add version: 1"))
	}
	if version != 1 {
		return nil, whole(fmt.Errorf("version is %d; this hookmux reads version: 1", version))
	}
	var list []*Rule
	var problems []Problem
	for _, node := range nodes {
		r, p := parseRule(node, s, usual)
		if p != nil {
			problems = append(problems, *p)
		}
		if r != nil {
			list = append(list, r)
		}
	}
	return list, problems
}

// parseRule reads one rule and tries its examples. A rule with a mode that doesn't exist is
// returned with its problem. usual holds the file's defaults for rules that don't set a value
// themselves.
func parseRule(node ast.Node, s Source, usual Rule) (*Rule, *Problem) {
	r := &Rule{File: s.Name, Layer: s.Layer, Decide: usual.Decide, OnUnknown: usual.OnUnknown}
	if t := firstToken(node); t != nil {
		r.Line, r.Column = t.Position.Line, t.Position.Column
	}
	fail := func(err error) (*Rule, *Problem) {
		p := r.problem(termsafe.FirstLine(err.Error()))
		placeError(&p, err)
		if unknown := (*yaml.UnknownFieldError)(nil); errors.As(err, &unknown) {
			p.Text = explainKey(node, unknown)
		}
		return nil, &p
	}
	unknown, err := decodeRule(node, r)
	if err == nil {
		err = r.check()
	}
	if err == nil && r.Check != "" && !s.Builtin {
		err = errors.New("only built-in rules have a check; use match and when")
	}
	if err != nil {
		return fail(err)
	}
	var odd *Problem
	if unknown != nil {
		odd = r.oddKey(node, unknown)
	}
	if s.Prefix != "" {
		r.ID = s.Prefix + "/" + r.ID
	}
	if r.Mode == "" || odd != nil {
		r.Mode = Block
	} else if mode := r.readMode(r.Mode); mode != r.Mode {
		p := r.problem(fmt.Sprintf("mode is %q; it must be off, log, ask or block, and is treated as %s until you fix it", r.Mode,
			mode))
		p.Used = true
		r.Mode, odd = mode, &p
	}
	if err := r.compile(); err != nil {
		return fail(err)
	}
	if s.Tested || r.Check != "" { // checks need what is known of the machine
		return r, odd
	}
	if err := r.tryExamples(); err != nil {
		if unknown != nil {
			err = unknown // without the key, it's about something else
		}
		return fail(err)
	}
	return r, odd
}

// decodeRule reads a rule. One that could stop something and has a key that doesn't exist is kept,
// with that key: it blocks until the key is fixed, because losing it would protect less. One that
// allows isn't used.
func decodeRule(node ast.Node, r *Rule) (unknown *yaml.UnknownFieldError, err error) {
	strict := *r
	err = yaml.NodeToValue(node, &strict, yaml.Strict())
	if err == nil || !errors.As(err, &unknown) {
		*r = strict
		return nil, err
	}
	if yaml.NodeToValue(node, r) != nil || r.Decide == Allow || r.Claude != nil || r.check() != nil {
		return nil, err
	}
	return unknown, nil
}

// oddKey is the problem of a rule that blocks because it has an unknown key.
func (r *Rule) oddKey(node ast.Node, unknown *yaml.UnknownFieldError) *Problem {
	text := explainKey(node, unknown)
	if strings.HasSuffix(text, "?") {
		text += " The rule blocks until you fix it"
	} else {
		text += "; the rule blocks until you fix it"
	}
	p := r.problem(text)
	if t := unknown.GetToken(); t != nil && t.Position != nil {
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	p.Used = true
	return &p
}

// explainKey explains which key a rule doesn't have, and which one was probably meant.
func explainKey(rule ast.Node, unknown *yaml.UnknownFieldError) string {
	key, parent := "", ""
	if t := unknown.GetToken(); t != nil {
		key = t.Value
		parent, _ = parentOf(rule, "", t)
	}
	text := fmt.Sprintf("there's no key %q", key)
	if parent != "" {
		text += fmt.Sprintf(" below %q", parent)
	}
	near := similar.Nearest(key, keysOf(ruleParts[parent]))
	switch {
	case parent == "" && key == "state":
		return text + `; did you mean "mode"?`
	case parent == "match" && (strings.HasPrefix(key, "cm") || similar.Nearest(key, []string{"command", "commands"}) != ""):
		return text + `; a command is matched by "program", "subcommand", "flags", "args" or "text"`
	case near != "":
		return text + fmt.Sprintf("; did you mean %q?", near)
	case parent == "" && similar.Nearest(key, decisionWords) != "":
		return text + `; what a rule decides is "decide: deny" (or ask, warn, allow)`
	}
	for _, other := range []string{"", "match", "examples", "hit"} {
		switch where := `below "` + other + `"`; {
		case other == parent || !slices.Contains(keysOf(ruleParts[other]), key):
		case other == "":
			return text + "; it belongs to the rule itself"
		default:
			return text + "; it belongs " + where
		}
	}
	return text + "; `hookmux rules new` writes a file that explains the keys"
}

// decisionWords are keys that users write by mistake instead of decide.
var decisionWords = []string{"deny", "ask", "allow", "warn", "block", "effect", "action", "decision", "verdict", "then"}

// ruleParts are the parts of a rule that have keys, by the key they're below.
var ruleParts = partsOf(reflect.TypeFor[Rule]())

func partsOf(rule reflect.Type) map[string]reflect.Type {
	parts := map[string]reflect.Type{"": rule}
	for i := range rule.NumField() {
		part := rule.Field(i).Type
		if part.Kind() == reflect.Pointer {
			part = part.Elem()
		}
		if key := keyOf(rule.Field(i)); key != "" && part.Kind() == reflect.Struct {
			parts[key] = part
		}
	}
	parts["hit"], parts["miss"] = reflect.TypeFor[Example](), reflect.TypeFor[Example]()
	return parts
}

// parentOf returns the key that another key of a rule is below: parent for one of node's own, with
// false if node doesn't have it.
func parentOf(node ast.Node, parent string, key *token.Token) (string, bool) {
	switch n := node.(type) {
	case *ast.MappingNode:
		for _, pair := range n.Values {
			if name, ok := parentOf(pair, parent, key); ok {
				return name, true
			}
		}
	case *ast.MappingValueNode:
		if n.Key.GetToken() == key {
			return parent, true
		}
		return parentOf(n.Value, n.Key.GetToken().Value, key)
	case *ast.SequenceNode:
		for _, value := range n.Values {
			if name, ok := parentOf(value, parent, key); ok {
				return name, true
			}
		}
	}
	return "", false
}

func keysOf(t reflect.Type) []string {
	var keys []string
	if t == nil {
		return nil
	}
	for i := range t.NumField() {
		if key := keyOf(t.Field(i)); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// keyOf returns the name of a field in a file; "" for one that files don't have.
func keyOf(field reflect.StructField) string {
	key, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
	return strings.TrimPrefix(key, "-")
}

// firstToken returns where a rule begins.
func firstToken(node ast.Node) *token.Token {
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return m.Values[0].Key.GetToken()
	}
	return node.GetToken()
}

// placeError sets the place from an error of the YAML reader.
func placeError(p *Problem, err error) {
	var located yaml.Error
	if errors.As(err, &located) {
		at := yamlerror.Explain(err)
		p.Text = at.Text
		if at.Line > 0 {
			p.Line, p.Column = at.Line, at.Column
		}
	}
}

// ProblemOf returns an error about a file, with its place if the YAML reader knows it.
func ProblemOf(file string, err error) Problem {
	p := Problem{File: file, Text: err.Error(), Whole: true}
	placeError(&p, err)
	return p
}

// compile compiles the rule's expression and finds out which facts it needs.
func (r *Rule) compile() error {
	r.needs = r.Match.needs()
	if r.Check != "" {
		r.needs = r.needs.With(facts.LinesFact)
		return nil
	}
	if names, ok := r.Match.Program.literals(); ok {
		r.named = names
	}
	if r.MayAllow() { // a rule that allows must see all that the call does
		r.needs = r.needs.With(facts.CommandsFact, facts.PathsFact, facts.NetFact)
	}
	if r.When == "" {
		return nil
	}
	seen := &factFinder{set: r.needs}
	program, err := compileBool(r.When, expressionFacts{}, expr.Patch(seen))
	if err != nil {
		return fmt.Errorf("when: %s", strings.ReplaceAll(strings.TrimSpace(termsafe.FirstLine(err.Error())), "\n", " "))
	}
	if seen.grows != "" {
		return fmt.Errorf("when: %s is not allowed here, because it makes texts longer", seen.grows)
	}
	r.needs, r.programs, r.each = seen.found(), programsIn(r.When), seen.command
	r.when = &condition{text: r.When}
	r.when.compile.Do(func() { r.when.program = program })
	if r.each && !r.Match.aboutCommand() {
		return errors.New("when: command means the command that match found, but match names none; use commands")
	}
	return nil
}

// needs returns the facts that a match looks at.
func (m *Match) needs() facts.Set {
	var s facts.Set
	if m.aboutCommand() {
		s = s.With(facts.CommandsFact)
	}
	if m.aboutPath() {
		s = s.With(facts.PathsFact)
	}
	if m.Tracked != nil {
		s = s.With(facts.TrackedFact)
	}
	if m.aboutHost() {
		s = s.With(facts.NetFact)
	}
	if len(m.Branch) > 0 {
		s = s.With(facts.BranchFact)
	}
	return s
}
