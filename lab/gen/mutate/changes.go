package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// The kinds of changes: the names and the choice are those that gremlins makes by default.
const (
	arithmetic = "ARITHMETIC_BASE"
	boundary   = "CONDITIONALS_BOUNDARY"
	negation   = "CONDITIONALS_NEGATION"
	stepping   = "INCREMENT_DECREMENT"
	negatives  = "INVERT_NEGATIVES"
)

// replacements are the operators that are changed, what into, and what that is called.
var replacements = map[token.Token][]replacement{
	token.ADD: {{arithmetic, token.SUB}},
	token.SUB: {{negatives, token.ADD}, {arithmetic, token.ADD}},
	token.MUL: {{arithmetic, token.QUO}},
	token.QUO: {{arithmetic, token.MUL}},
	token.REM: {{arithmetic, token.MUL}},
	token.LSS: {{boundary, token.LEQ}, {negation, token.GEQ}},
	token.LEQ: {{boundary, token.LSS}, {negation, token.GTR}},
	token.GTR: {{boundary, token.GEQ}, {negation, token.LEQ}},
	token.GEQ: {{boundary, token.GTR}, {negation, token.LSS}},
	token.EQL: {{negation, token.NEQ}},
	token.NEQ: {{negation, token.EQL}},
	token.INC: {{stepping, token.DEC}},
	token.DEC: {{stepping, token.INC}},
}

type replacement struct {
	kind string
	to   token.Token
}

// change is one small change of the code, and its result.
type change struct {
	file     string // relative to the module
	function string
	text     string // the expression as it is
	position token.Position
	operator token.Token
	replacement
	place int  // number of the operator in the rewritten package
	alone bool // cannot be switched on at run time: is compiled by itself
	state state
}

func (c *change) String() string {
	return fmt.Sprintf("%s:%d:%d %s in %s: %s", c.file, c.position.Line, c.position.Column, c.kind, c.function, c.text)
}

type state string

const (
	killed     state = "KILLED"
	lived      state = "LIVED"
	timedOut   state = "TIMED OUT"
	notCovered state = "NOT COVERED"
	notViable  state = "NOT VIABLE" // does not compile
	equivalent state = "EQUIVALENT"
)

// operatorOf returns the operator of a node that can be changed, and its position.
func operatorOf(node ast.Node) (token.Token, token.Pos) {
	switch node := node.(type) {
	case *ast.BinaryExpr:
		return node.Op, node.OpPos
	case *ast.UnaryExpr:
		if node.Op == token.SUB || node.Op == token.ADD {
			return node.Op, node.OpPos
		}
	case *ast.IncDecStmt:
		return node.Tok, node.TokPos
	}
	return token.ILLEGAL, token.NoPos
}

// findChanges lists every change of one file. Without types (a file of another
// system) nothing is known about what compiles.
func findChanges(set *token.FileSet, file *ast.File, name string, source []byte, info *types.Info) []*change {
	var found []*change
	function := ""
	for _, declaration := range file.Decls {
		function = nameOf(declaration)
		ast.Inspect(declaration, func(node ast.Node) bool {
			operator, at := operatorOf(node)
			for _, r := range replacements[operator] {
				position := set.Position(at)
				c := &change{
					file: name, function: function, position: position, operator: operator, replacement: r,
					text: oneLine(source[set.Position(node.Pos()).Offset:set.Position(node.End()).Offset]), alone: true,
				}
				if info != nil {
					c.alone = !isSwitchable(node, info)
					if isText(node, info) {
						c.state = notViable
					}
				}
				found = append(found, c)
			}
			return true
		})
	}
	return found
}

func nameOf(declaration ast.Decl) string {
	if function, ok := declaration.(*ast.FuncDecl); ok {
		return function.Name.Name
	}
	return "a declaration"
}

func oneLine(text []byte) string { return strings.Join(strings.Fields(string(text)), " ") }

// isText reports whether node adds strings: nothing else can be done with them.
func isText(node ast.Node, info *types.Info) bool {
	binary, ok := node.(*ast.BinaryExpr)
	if !ok || binary.Op != token.ADD {
		return false
	}
	basic, ok := info.TypeOf(binary).Underlying().(*types.Basic)
	return ok && basic.Info()&types.IsString != 0
}

// isSwitchable reports whether the change can be chosen at run time: constants
// must stay constants, and a result must keep the type that its context gives it.
func isSwitchable(node ast.Node, info *types.Info) bool {
	switch node := node.(type) {
	case *ast.IncDecStmt:
		_, ok := info.TypeOf(node.X).(*types.Basic)
		return ok
	case *ast.BinaryExpr:
		if info.Types[node].Value != nil {
			return false
		}
		if _, named := info.TypeOf(node).(*types.Named); named && isComparison(node.Op) {
			return false
		}
		return true
	case *ast.UnaryExpr:
		return info.Types[node].Value == nil
	}
	return false
}

func isComparison(operator token.Token) bool {
	switch operator {
	case token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ:
		return true
	}
	return false
}
