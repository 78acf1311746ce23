// Package proof reads where a claim about an agent comes from.
package proof

import "strings"

// Kind says what a claim rests on.
type Kind string

// The kinds, as they begin a proof.
const (
	Tested     Kind = "tested"     // a real agent of the version that the catalogue names did it
	Documented Kind = "documented" // its vendor says so
	Own        Kind = "own"        // the other end is hookmux's own
	None       Kind = ""           // the claim doesn't say
)

// KindOf returns what a claim with this proof rests on.
func KindOf(text string) Kind {
	kind, _ := Split(text)
	return kind
}

// Split returns what a claim rests on, and in which run or on which page.
func Split(text string) (kind Kind, where string) {
	word, where, ok := strings.Cut(text, ": ")
	switch kind = Kind(word); kind {
	case Tested, Documented, Own:
		if ok {
			return kind, where
		}
	}
	return None, text
}
