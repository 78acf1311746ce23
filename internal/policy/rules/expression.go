package rules

import (
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/hookmux/hookmux/internal/policy/facts"
)

// expressionFacts are the facts as expressions see them. Lists hold pointers: an
// expression copies every element that it looks at.
type expressionFacts struct {
	*facts.Facts
	Commands []*facts.Command     `expr:"commands"`
	Paths    []*facts.Path        `expr:"paths"`
	Net      []*facts.Destination `expr:"net"`
	Flows    []*facts.Flow        `expr:"flows"`
	// Command is the one that a rule's match is about.
	Command *facts.Command `expr:"command"`
}

func newExpressionFacts(f *facts.Facts) *expressionFacts {
	return &expressionFacts{
		Facts: f, Commands: pointersTo(f.Commands), Paths: pointersTo(f.Paths), Net: pointersTo(f.Net),
		Flows: pointersTo(f.Flows),
	}
}

func pointersTo[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// machine runs expressions over the facts of one call.
type machine struct {
	vm  vm.VM
	env *expressionFacts
	// whole holds the results of the parts of expressions that are about the whole call.
	whole map[*Rule][]bool
}

// evaluateFor runs the expression of a rule for one command.
func (m *matcher) evaluateFor(r *Rule, c *facts.Command) certainty {
	if m.machine == nil {
		m.machine = &machine{env: newExpressionFacts(m.f)}
	}
	m.machine.env.Command = c
	return m.evaluate(r)
}

// evaluate runs the expression of a rule. One that fails may hold, and so may one that doesn't
// hold but depends on what isn't known.
func (m *matcher) evaluate(r *Rule) certainty {
	if m.machine == nil {
		m.machine = &machine{env: newExpressionFacts(m.f)}
	}
	var result any
	var err error
	var apart *divided
	if r.each && len(m.f.Commands) >= manyCommands {
		apart = r.when.divided()
	}
	if apart != nil {
		result, err = m.runDivided(r, apart)
	} else if program := r.when.ready(); program != nil {
		result, err = m.machine.vm.Run(program, m.machine.env)
	} else {
		return maybe
	}
	if err != nil {
		return maybe
	}
	if holds, ok := result.(bool); ok && holds {
		return yes
	}
	if m.odd && r.needs.Has(facts.CommandsFact) {
		return maybe
	}
	for _, n := range m.f.Unknown {
		if r.needs.Has(n) {
			return maybe
		}
	}
	return no
}

// programsIn returns the programs one of which must run for an expression to hold; nil if it
// may hold without. any(commands, .program == "git" && …) needs git.
func programsIn(expression string) []string {
	tree, err := parser.Parse(expression)
	if err != nil {
		return nil
	}
	return neededIn(tree.Node, func(n ast.Node) []string {
		call, ok := n.(*ast.BuiltinNode)
		if !ok || call.Name != "any" && call.Name != "one" || len(call.Arguments) != 2 {
			return nil
		}
		list, isName := call.Arguments[0].(*ast.IdentifierNode)
		predicate, isPredicate := call.Arguments[1].(*ast.PredicateNode)
		if !isName || list.Value != "commands" || !isPredicate {
			return nil
		}
		return neededIn(predicate.Node, comparedPrograms)
	})
}

// neededIn finds values one of which is needed: those of one side of an and, of both sides of an
// or.
func neededIn(n ast.Node, find func(ast.Node) []string) []string {
	if both, ok := n.(*ast.BinaryNode); ok {
		switch both.Operator {
		case "&&", "and":
			if found := neededIn(both.Left, find); found != nil {
				return found
			}
			return neededIn(both.Right, find)
		case "||", "or":
			left, right := neededIn(both.Left, find), neededIn(both.Right, find)
			if left == nil || right == nil {
				return nil
			}
			return slices.Concat(left, right)
		}
	}
	return find(n)
}

// comparedPrograms returns the names that a command's program is compared with.
func comparedPrograms(n ast.Node) []string {
	compared, ok := n.(*ast.BinaryNode)
	if !ok {
		return nil
	}
	switch compared.Operator {
	case "==":
		if name, ok := compared.Right.(*ast.StringNode); ok && isProgram(compared.Left) {
			return []string{name.Value}
		}
		if name, ok := compared.Left.(*ast.StringNode); ok && isProgram(compared.Right) {
			return []string{name.Value}
		}
	case "in":
		list, ok := compared.Right.(*ast.ArrayNode)
		if !ok || !isProgram(compared.Left) {
			return nil
		}
		var names []string
		for _, one := range list.Nodes {
			name, ok := one.(*ast.StringNode)
			if !ok {
				return nil
			}
			names = append(names, name.Value)
		}
		return names
	}
	return nil
}

// isProgram reports whether n is .program of the command being looked at.
func isProgram(n ast.Node) bool {
	member, ok := n.(*ast.MemberNode)
	if !ok {
		return false
	}
	at, isPointer := member.Node.(*ast.PointerNode)
	name, isName := member.Property.(*ast.StringNode)
	return isPointer && at.Name == "" && isName && name.Value == "program"
}

// factFinder notes which facts an expression looks at.
type factFinder struct {
	set facts.Set
	// How often git occurs, and how often with one of its facts after it.
	git, gitFacts int
	// detail are the facts about commands that are gathered only for some.
	detail facts.Set
	// whole says that commands are used as a whole.
	whole bool
	// command says that it is about the command that was matched.
	command bool
	// grows names what it uses that makes long texts from short ones; "" for nothing.
	grows string
	jsons int // how often it uses toJSON
}

// growing are functions with which a short expression makes a text that fills all memory,
// and nothing can stop them once they run: a file that no one accepted must not crash the
// daemon.
var growing = []string{"reduce", "repeat", "replace", "join", "concat", "flatten", "toBase64", "fromBase64"}

// isNumber distinguishes numbers from texts and from what may be one.
func isNumber(n ast.Node) bool {
	t := n.Type()
	return t != nil && t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64
}

// commandDetails are the parts of a command that other facts fill in.
var commandDetails = map[string]facts.Name{
	"reads": facts.PathsFact, "writes": facts.PathsFact, "deletes": facts.PathsFact, "hosts": facts.NetFact,
}

// found returns the facts that were named.
func (f *factFinder) found() facts.Set {
	set := f.set
	if f.git > f.gitFacts {
		set = set.With(facts.BranchFact, facts.RemoteFact, facts.DirtyFact)
	}
	if set.Has(facts.CommandsFact) {
		set |= f.detail
		if f.whole {
			set = set.With(facts.PathsFact, facts.NetFact)
		}
	}
	return set
}

// Visit is called for every part of an expression.
func (f *factFinder) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		switch n.Value {
		case "commands":
			f.set = f.set.With(facts.CommandsFact)
		case "command":
			f.command = true
			f.set = f.set.With(facts.CommandsFact)
		case "paths":
			f.set = f.set.With(facts.PathsFact)
		case "net":
			f.set = f.set.With(facts.NetFact)
		case "flows":
			f.set = f.set.With(facts.FlowsFact, facts.PathsFact, facts.NetFact)
		case "counts":
			f.set = f.set.With(facts.CountsFact)
		case "usage":
			f.set = f.set.With(facts.UsageFact)
		case "git":
			f.git++
		case "$env":
			f.set = facts.Everything()
		}
	case *ast.MemberNode:
		f.visitMember(n)
	case *ast.BinaryNode:
		if n.Operator == "+" && !(isNumber(n.Left) && isNumber(n.Right)) {
			f.grows = "+ between texts"
		}
	case *ast.CallNode:
		if name, ok := n.Callee.(*ast.IdentifierNode); ok {
			f.visitFunction(name.Value)
		}
	case *ast.BuiltinNode:
		f.visitFunction(n.Name)
		switch n.Name {
		case "toJSON", "keys", "values", "toPairs", "get", "string":
			f.whole = true
		}
	}
}

func (f *factFinder) visitFunction(name string) {
	if name == "toJSON" {
		f.jsons++
	}
	if slices.Contains(growing, name) || f.jsons > 1 {
		f.grows = name
	}
}

func (f *factFinder) visitMember(n *ast.MemberNode) {
	of, isName := n.Node.(*ast.IdentifierNode)
	name, isWord := n.Property.(*ast.StringNode)
	_, isNumber := n.Property.(*ast.IntegerNode)
	switch {
	case !isWord:
		f.whole = f.whole || !isNumber
	case isName && of.Value == "git":
		f.gitFacts++
		f.set = f.set.With(facts.Name("git." + name.Value))
	case name.Value == "tracked":
		f.set = f.set.With(facts.TrackedFact)
	default:
		if fact, ok := commandDetails[name.Value]; ok {
			f.detail = f.detail.With(fact)
		}
	}
}
