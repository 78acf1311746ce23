package agent

import "strings"

// This file reads where a claim about an agent comes from.

// ProofKind says what a claim rests on.
type ProofKind string

// The kinds, as they begin a proof.
const (
	Tested     ProofKind = "tested"     // a real agent of the version that the catalogue names did it
	Documented ProofKind = "documented" // its vendor says so
	Own        ProofKind = "own"        // the other end is hookmux's own
	None       ProofKind = ""           // the claim doesn't say
)

// ProofKindOf returns what a claim with this proof rests on.
func ProofKindOf(text string) ProofKind {
	kind, _ := SplitProof(text)
	return kind
}

// SplitProof returns what a claim rests on, and in which run or on which page.
func SplitProof(text string) (kind ProofKind, where string) {
	word, where, ok := strings.Cut(text, ": ")
	switch kind = ProofKind(word); kind {
	case Tested, Documented, Own:
		if ok {
			return kind, where
		}
	}
	return None, text
}
