package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"mvdan.cc/sh/v3/syntax"

	"github.com/hookmux/hookmux/internal/wire"
)

// ink is how a byte of a command is drawn.
type ink byte

const (
	inkPlain ink = iota
	inkProgram
	inkText
	inkVariable
	inkOperator
	inkComment
	inkHeading
	inkStrong
	inkBullet
	inkKey
)

var inkStyles = [...]*lipgloss.Style{
	inkPlain: &stylePlain, inkProgram: &styleBold, inkText: &styleLiteral,
	inkVariable: &styleLiteral, inkOperator: &styleBold, inkComment: &styleFaint,
	inkHeading: &styleBold, inkStrong: &styleBold, inkBullet: &styleBold, inkKey: &styleAccent,
}

// maxInked is the longest command that is coloured: with deep nesting, parsing takes quadratic
// time.
const maxInked = 4 << 10

// inkCommand colours the lines of a command, each after its mark, as a shell would read them.
// A command that no shell would read has no colours.
func inkCommand(lines []string) [][]ink {
	const mark = len(wire.CardIndent + wire.CardCommand)
	var script strings.Builder
	for _, line := range lines {
		script.WriteString(line[mark:] + "\n")
	}
	if script.Len() > maxInked {
		return nil
	}
	file, err := syntax.NewParser(syntax.KeepComments(true)).Parse(strings.NewReader(script.String()), "")
	if err != nil {
		return nil
	}
	p := painter{inks: make([]ink, script.Len())}
	syntax.Walk(file, p.paintNode)
	out := make([][]ink, len(lines))
	at := 0
	for i, line := range lines {
		n := len(line) - mark
		out[i] = append(make([]ink, mark, len(line)), p.inks[at:at+n]...)
		at += n + 1
	}
	return out
}

// painter colours the bytes of a script.
type painter struct{ inks []ink }

func (p *painter) paint(from, to syntax.Pos, with ink) {
	if !from.IsValid() || !to.IsValid() {
		return
	}
	for i := int(from.Offset()); i < min(int(to.Offset()), len(p.inks)); i++ {
		p.inks[i] = with
	}
}

// paintAt colours a sign or a word of the shell's own.
func (p *painter) paintAt(at syntax.Pos, length int) {
	if !at.IsValid() {
		return
	}
	for i := int(at.Offset()); i < min(int(at.Offset())+length, len(p.inks)); i++ {
		p.inks[i] = inkOperator
	}
}

// paintNode colours a node; what is inside it comes later and covers it.
func (p *painter) paintNode(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.Comment:
		p.paint(n.Pos(), n.End(), inkComment)
	case *syntax.CallExpr:
		if len(n.Args) > 0 {
			p.paint(n.Args[0].Pos(), n.Args[0].End(), inkProgram)
		}
	case *syntax.SglQuoted, *syntax.DblQuoted:
		p.paint(n.Pos(), n.End(), inkText)
	case *syntax.ParamExp, *syntax.ArithmExp:
		p.paint(n.Pos(), n.End(), inkVariable)
	case *syntax.CmdSubst:
		p.paint(n.Pos(), n.End(), inkPlain)
		p.paintAt(n.Left, len("$("))
		p.paintAt(n.Right, 1)
	case *syntax.Assign:
		if n.Name != nil {
			p.paint(n.Name.Pos(), n.Name.End(), inkVariable)
		}
	case *syntax.BinaryCmd:
		p.paintAt(n.OpPos, len(n.Op.String()))
	case *syntax.Redirect:
		p.paintAt(n.OpPos, len(n.Op.String()))
	case *syntax.Stmt:
		p.paintAt(n.Semicolon, 1)
		if n.Negated {
			p.paintAt(n.Position, 1)
		}
	case *syntax.IfClause:
		p.paintAt(n.Position, len("if"))
		p.paintAt(n.ThenPos, len("then"))
		p.paintAt(n.FiPos, len("fi"))
	case *syntax.WhileClause:
		p.paintAt(n.WhilePos, len("while"))
		p.paintAt(n.DoPos, len("do"))
		p.paintAt(n.DonePos, len("done"))
	case *syntax.ForClause:
		p.paintAt(n.ForPos, len("for"))
		p.paintAt(n.DoPos, len("do"))
		p.paintAt(n.DonePos, len("done"))
	case *syntax.Subshell:
		p.paintAt(n.Lparen, 1)
		p.paintAt(n.Rparen, 1)
	case *syntax.Block:
		p.paintAt(n.Lbrace, 1)
		p.paintAt(n.Rbrace, 1)
	}
	return true
}

// writeInked writes text in its colours.
func writeInked(b *strings.Builder, text string, inks []ink) {
	for start := 0; start < len(text); {
		end := start + 1
		for end < len(text) && inks[end] == inks[start] {
			end++
		}
		b.WriteString(inkStyles[inks[start]].Render(text[start:end]))
		start = end
	}
}
