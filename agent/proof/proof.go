// Package proof reads where a claim about an agent comes from.
package proof

import "strings"

// Kind says who trustes a claim.
type Kind string

// The kinds of proofs, as they begin one.
const (
	Lab  Kind = "lab" // a real agent of the version that the catalogue names was asked
	Doc  Kind = "doc" // its vendor says so
	Own  Kind = "own" // the other end is hookmux's own
	None Kind = ""    // the claim does not say
)

// KindOf is who trustes a claim with this proof.
func KindOf(text string) Kind {
	kind, _ := Split(text)
	return kind
}

// Split is who trustes a claim, and in which run or on which page.
func Split(text string) (kind Kind, where string) {
	word, where, ok := strings.Cut(text, ": ")
	switch kind = Kind(word); kind {
	case Lab, Doc, Own:
		if ok {
			return kind, where
		}
	}
	return None, text
}
