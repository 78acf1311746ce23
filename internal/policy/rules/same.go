package rules

import "encoding/json"

// SameAs reports whether two rules say the same, wherever they are.
func (r *Rule) SameAs(other *Rule) bool {
	a, b := *r, *other
	a.File, a.Line, a.Column, b.File, b.Line, b.Column = "", 0, 0, "", 0, 0
	first, err1 := json.Marshal(&a)
	second, err2 := json.Marshal(&b)
	return err1 == nil && err2 == nil && string(first) == string(second)
}
