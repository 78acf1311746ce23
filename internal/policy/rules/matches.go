package rules

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
)

// textPattern is the constant on the right of `matches`. Most texts have none of the words
// that a pattern requires, and looking for these costs a fraction of running it.
type textPattern struct {
	re *regexp.Regexp
	// words are texts one of which is in every match; empty if there are none.
	words []string
	fold  bool // words are in small letters, and capitals fit as well
}

func newTextPattern(source string) (*textPattern, error) {
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, err
	}
	p := &textPattern{re: re}
	if tree, err := syntax.Parse(source, syntax.Perl); err == nil {
		p.words = wordsOf(tree, &p.fold)
	}
	if p.fold {
		for i, w := range p.words {
			p.words[i] = strings.ToLower(w)
		}
	}
	return p, nil
}

// match is regexp's MatchString.
func (p *textPattern) match(text string) bool {
	if len(p.words) > 0 && !p.mayMatch(text) {
		return false
	}
	return p.re.MatchString(text)
}

func (p *textPattern) mayMatch(text string) bool {
	if p.fold {
		for i := 0; i < len(text); i++ {
			if text[i] >= 0x80 { // other alphabets have letters that fold to ours
				return true
			}
		}
	}
	for _, w := range p.words {
		if p.fold && containsFold(text, w) || !p.fold && strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// containsFold reports whether an ASCII text contains a word, which is in lower case.
func containsFold(text, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0]|0x20 && strings.EqualFold(text[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

const (
	maxWords  = 24 // more are hardly faster than the pattern
	minLetter = 2  // a shorter word is in most texts
)

// wordsOf returns texts one of which is in every match of a pattern; nil if there are none.
func wordsOf(re *syntax.Regexp, fold *bool) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if len(re.Rune) < minLetter {
			return nil
		}
		for _, r := range re.Rune {
			if r >= 0x80 {
				return nil
			}
		}
		*fold = *fold || re.Flags&syntax.FoldCase != 0
		return []string{string(re.Rune)}
	case syntax.OpCapture, syntax.OpPlus:
		return wordsOf(re.Sub[0], fold)
	case syntax.OpRepeat:
		if re.Min > 0 {
			return wordsOf(re.Sub[0], fold)
		}
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			words := wordsOf(sub, fold)
			if len(words) == 0 || len(all)+len(words) > maxWords {
				return nil
			}
			all = append(all, words...)
		}
		return all
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			var folds bool
			words := wordsOf(sub, &folds)
			if len(words) > 0 && (best == nil || rarity(words) > rarity(best)) {
				best = words
			}
			*fold = *fold || folds && len(words) > 0
		}
		return best
	}
	return nil
}

// rarity rates how much a set of words excludes: the longer its shortest word and the fewer
// the words, the more.
func rarity(words []string) int {
	shortest := len(words[0])
	for _, w := range words {
		shortest = min(shortest, len(w))
	}
	return shortest*maxWords - len(words)
}

// matchesFunction replaces `text matches "constant"`.
const matchesFunction = "matchesConstant"

func matchesOption() expr.Option {
	return expr.Function(matchesFunction, func(params ...any) (any, error) {
		text, isText := params[0].(string)
		pattern, isPattern := params[1].(*textPattern)
		if !isText || !isPattern {
			return nil, errors.New("matches compares texts")
		}
		return pattern.match(text), nil
	}, new(func(string, *textPattern) bool))
}

// constantMatches replaces the operator with the function.
type constantMatches struct{}

// Visit is called for every part of an expression.
func (constantMatches) Visit(node *ast.Node) {
	both, ok := (*node).(*ast.BinaryNode)
	if !ok || both.Operator != "matches" {
		return
	}
	source, ok := both.Right.(*ast.StringNode)
	if !ok {
		return
	}
	if pattern, err := newTextPattern(source.Value); err == nil { // otherwise the compiler reports what is wrong
		ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: matchesFunction},
			Arguments: []ast.Node{both.Left, &ast.ConstantNode{Value: pattern}}})
	}
}
