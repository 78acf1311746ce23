package ledger

import "slices"

// Ways to prove who you are.
const (
	ByPIN    = "pin"
	ByPolkit = "polkit"
)

// Proof says which approvals ask for more than a trusted terminal, and how. It is kept
// beside the PIN, under its seal: no file that anybody may edit, no variable and
// no confirmed change of settings takes it away.
type Proof struct {
	Way   string   `json:"way,omitempty"` // "": by PIN
	Kinds []string `json:"kinds"`         // nil: all
}

func (p Proof) isDefault() bool { return p.Way == "" && p.Kinds == nil }

// Covers reports whether approvals of a kind ask for it.
func (p Proof) Covers(kind string) bool { return p.Kinds == nil || slices.Contains(p.Kinds, kind) }
