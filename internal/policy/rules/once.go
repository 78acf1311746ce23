package rules

import (
	"slices"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// manyCommands is the number of commands from which the parts of an expression that are about the
// whole call are evaluated separately, once for all of them. Otherwise a rule that looks at all
// commands for each would take quadratic time.
const manyCommands = 8

// divided is an expression about one command whose parts about the whole call are compiled
// separately.
type divided struct {
	program *vm.Program   // reads their results from the fact "whole"
	parts   []*vm.Program // any(commands, …) and the like
}

// condition is the expression of a rule. It's compiled when it's first evaluated, because
// compiling costs more than most rules are ever worth: of hundreds, a call meets a few.
type condition struct {
	text string

	compile sync.Once
	program *vm.Program

	divide sync.Once
	apart  *divided // nil if dividing it is no use
}

// ready returns the compiled expression, nil if there's a mistake in it.
func (c *condition) ready() *vm.Program {
	c.compile.Do(func() { c.program, _ = compileBool(c.text, expressionFacts{}) })
	return c.program
}

func (c *condition) divided() *divided {
	c.divide.Do(func() { c.apart = divide(c.text) })
	return c.apart
}

// wholeFacts are the facts with the results of the parts of an expression.
type wholeFacts struct {
	*expressionFacts
	Whole []bool `expr:"whole"`
}

// divide separates the parts about the whole call from an expression; nil if there are none.
func divide(expression string) *divided {
	tree, err := parser.Parse(expression)
	if err != nil {
		return nil
	}
	d := &divided{}
	var sources []string
	var visit func(node *ast.Node)
	visit = func(node *ast.Node) {
		switch n := (*node).(type) {
		case *ast.BinaryNode:
			switch n.Operator {
			case "&&", "and", "||", "or":
				visit(&n.Left)
				visit(&n.Right)
			}
		case *ast.UnaryNode:
			if n.Operator == "not" || n.Operator == "!" {
				visit(&n.Node)
			}
		case *ast.BuiltinNode:
			if slices.Contains([]string{"any", "all", "none", "one"}, n.Name) && !mentionsCommand(n) {
				sources = append(sources, n.String())
				*node = &ast.MemberNode{Node: &ast.IdentifierNode{Value: "whole"},
					Property: &ast.IntegerNode{Value: len(sources) - 1}}
			}
		}
	}
	visit(&tree.Node)
	if len(sources) == 0 {
		return nil
	}
	for _, source := range sources {
		part, err := compileBool(source, expressionFacts{})
		if err != nil {
			return nil
		}
		d.parts = append(d.parts, part)
	}
	if d.program, err = compileBool(tree.Node.String(), wholeFacts{}); err != nil {
		return nil
	}
	return d
}

func compileBool(source string, env any, more ...expr.Option) (*vm.Program, error) {
	return expr.Compile(source, append([]expr.Option{expr.Env(env), expr.AsBool(), expr.MaxNodes(2000),
		expr.DisableBuiltin("now"), matchesOption(), expr.Patch(constantMatches{})}, more...)...)
}

// mentionsCommand reports whether an expression is about the command that was matched.
func mentionsCommand(n ast.Node) bool {
	found := &commandFinder{}
	ast.Walk(&n, found)
	return found.found
}

type commandFinder struct{ found bool }

// Visit is called for every part of an expression.
func (f *commandFinder) Visit(node *ast.Node) {
	name, ok := (*node).(*ast.IdentifierNode)
	f.found = f.found || ok && (name.Value == "command" || name.Value == "$env")
}

// runDivided evaluates a divided expression for the command that env is about.
func (m *matcher) runDivided(r *Rule, d *divided) (any, error) {
	known, ok := m.machine.whole[r]
	if !ok {
		known = make([]bool, len(d.parts))
		for i, part := range d.parts {
			result, err := m.machine.vm.Run(part, m.machine.env)
			if err != nil {
				return nil, err
			}
			known[i], _ = result.(bool)
		}
		if m.machine.whole == nil {
			m.machine.whole = map[*Rule][]bool{}
		}
		m.machine.whole[r] = known
	}
	return m.machine.vm.Run(d.program, &wholeFacts{m.machine.env, known})
}
