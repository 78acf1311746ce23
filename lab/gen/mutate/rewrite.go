package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// What the rewritten package needs in addition to its own files: an operator asks here which change
// is switched on, and reports that it was reached.
const switchSource = `package %s

import (
	"os"
	"strconv"
	"sync/atomic"
)

type mutationNumber interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr | ~float32 | ~float64
}

type mutationWhole interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

type mutationOrdered interface{ mutationNumber | ~string }

var (
	mutationPlace, mutationTurn = mutationChosen()
	mutationTrace               = mutationOpen()
	mutationSeen                [%d]atomic.Bool
)

func mutationChosen() (int, int) {
	place, err := strconv.Atoi(os.Getenv("MUTATION_PLACE"))
	if err != nil {
		return -1, 0
	}
	turn, _ := strconv.Atoi(os.Getenv("MUTATION_TURN"))
	return place, turn
}

func mutationOpen() *os.File {
	name := os.Getenv("MUTATION_TRACE")
	if name == "" {
		return nil
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	return file
}

func mutationAt(place int) int {
	if mutationTrace != nil && !mutationSeen[place].Swap(true) {
		mutationTrace.WriteString(strconv.Itoa(place) + "\n")
	}
	if place != mutationPlace {
		return 0
	}
	return mutationTurn
}

func mutationEQL(place int, is bool) bool { return is != (mutationAt(place) != 0) }

func mutationLSS[T mutationOrdered](place int, x, y T) bool {
	switch mutationAt(place) {
	case 1:
		return x <= y
	case 2:
		return x >= y
	}
	return x < y
}

func mutationLEQ[T mutationOrdered](place int, x, y T) bool {
	switch mutationAt(place) {
	case 1:
		return x < y
	case 2:
		return x > y
	}
	return x <= y
}

func mutationGTR[T mutationOrdered](place int, x, y T) bool {
	switch mutationAt(place) {
	case 1:
		return x >= y
	case 2:
		return x <= y
	}
	return x > y
}

func mutationGEQ[T mutationOrdered](place int, x, y T) bool {
	switch mutationAt(place) {
	case 1:
		return x > y
	case 2:
		return x < y
	}
	return x >= y
}

func mutationADD[T mutationNumber](place int, x, y T) T {
	if mutationAt(place) != 0 {
		return x - y
	}
	return x + y
}

func mutationSUB[T mutationNumber](place int, x, y T) T {
	if mutationAt(place) != 0 {
		return x + y
	}
	return x - y
}

func mutationMUL[T mutationNumber](place int, x, y T) T {
	if mutationAt(place) != 0 {
		return x / y
	}
	return x * y
}

func mutationQUO[T mutationNumber](place int, x, y T) T {
	if mutationAt(place) != 0 {
		return x * y
	}
	return x / y
}

func mutationREM[T mutationWhole](place int, x, y T) T {
	if mutationAt(place) != 0 {
		return x * y
	}
	return x %% y
}

func mutationMinus[T mutationNumber](place int, x T) T {
	if mutationAt(place) != 0 {
		return +x
	}
	return -x
}

func mutationStep[T mutationNumber](place int, x T) T {
	if mutationAt(place) != 0 {
		return -x
	}
	return x
}
`

// An edit replaces the bytes from..to of a source; a closing one comes after what it encloses.
type edit struct {
	from, to int
	text     string
	closing  bool
	order    int
}

// rewriteFile replaces every operator that can be switched by a call.
func rewriteFile(set *token.FileSet, file *ast.File, source []byte, info *types.Info, changes []*change) []byte {
	places := map[int]int{}
	for _, c := range changes {
		if !c.alone && c.state != notViable {
			places[c.position.Offset] = c.place
		}
	}
	var edits []edit
	ast.Inspect(file, func(node ast.Node) bool {
		operator, at := operatorOf(node)
		if operator == token.ILLEGAL {
			return true
		}
		place, ok := places[set.Position(at).Offset]
		if !ok {
			return true
		}
		offset := func(p token.Pos) int { return set.Position(p).Offset }
		for _, e := range editsOf(node, operator, place, info, offset) {
			e.order = len(edits)
			edits = append(edits, e)
		}
		return true
	})
	return applyEdits(source, edits)
}

func editsOf(node ast.Node, operator token.Token, place int, info *types.Info, offset func(token.Pos) int) []edit {
	switch node := node.(type) {
	case *ast.IncDecStmt:
		sign, basic := "+=", info.TypeOf(node.X).String()
		if operator == token.DEC {
			sign = "-="
		}
		at := offset(node.TokPos)
		return []edit{{from: at, to: at + 2, text: fmt.Sprintf("%s mutationStep[%s](%d, 1)", sign, basic, place)}}
	case *ast.UnaryExpr:
		at, end := offset(node.OpPos), offset(node.End())
		return []edit{
			{from: at, to: at + 1, text: fmt.Sprintf("mutationMinus(%d, ", place)},
			{from: end, to: end, text: ")", closing: true},
		}
	case *ast.BinaryExpr:
		at, end, middle := offset(node.Pos()), offset(node.End()), offset(node.OpPos)
		opening := edit{from: at, to: at, text: fmt.Sprintf("mutationEQL(%d, ", place)}
		closing := edit{from: end, to: end, text: ")", closing: true}
		if operator == token.EQL || operator == token.NEQ {
			return []edit{opening, closing}
		}
		opening.text = fmt.Sprintf("mutation%s%s(%d, ", nameOfOperator(operator), typeArgument(node, info), place)
		return []edit{opening, {from: middle, to: middle + len(operator.String()), text: ","}, closing}
	}
	return nil
}

// typeArgument names the operands' type if a name is enough: a shift in an operand has none of its
// own.
func typeArgument(node *ast.BinaryExpr, info *types.Info) string {
	basic, ok := info.TypeOf(node.X).(*types.Basic)
	if !ok || basic.Info()&types.IsUntyped != 0 {
		return ""
	}
	return "[" + basic.Name() + "]"
}

func nameOfOperator(operator token.Token) string {
	return map[token.Token]string{
		token.LSS: "LSS", token.LEQ: "LEQ", token.GTR: "GTR", token.GEQ: "GEQ", token.ADD: "ADD",
		token.SUB: "SUB", token.MUL: "MUL", token.QUO: "QUO", token.REM: "REM",
	}[operator]
}

func applyEdits(source []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int {
		if a.from != b.from {
			return a.from - b.from
		}
		if a.closing != b.closing {
			if a.closing {
				return -1
			}
			return 1
		}
		if a.closing {
			return b.order - a.order
		}
		return a.order - b.order
	})
	var out bytes.Buffer
	done := 0
	for _, e := range edits {
		out.Write(source[done:e.from])
		out.WriteString(e.text)
		done = e.to
	}
	out.Write(source[done:])
	return out.Bytes()
}

// replaceOperator returns the source with one change carried out.
func replaceOperator(source []byte, c *change) []byte {
	at := c.position.Offset
	return slices.Concat(source[:at], []byte(c.to.String()), source[at+len(c.operator.String()):])
}
