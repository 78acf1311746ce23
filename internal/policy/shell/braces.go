package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// CountBraces returns how many brace groups a word may have.
func CountBraces(word *syntax.Word) int {
	n := 0
	for _, p := range word.Parts {
		if l, ok := p.(*syntax.Lit); ok {
			n += strings.Count(l.Value, "{")
		}
	}
	if IsSplit(word) {
		n = max(n, 1)
	}
	return n
}

// IsSplit reports whether the braces of a word were found before: in the body of a
// function that is walked for every call.
func IsSplit(word *syntax.Word) bool {
	for _, p := range word.Parts {
		if _, ok := p.(*syntax.BraceExp); ok {
			return true
		}
	}
	return false
}
