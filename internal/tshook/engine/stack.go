package engine

import (
	"modernc.org/libc"
	"modernc.org/quickjs"
)

// renewStack replaces the stack of an idle engine with an empty one. The old one keeps a block
// for every call that was ever nested, about 20 MB after an endless recursion, and neither
// libquickjs nor the quickjs package has a call that frees it. So this replaces a private
// field of the quickjs package (private.go).
//
// It stays because it pays: after eight rounds of attacks a daemon has 42 MB with it and 58 MB
// without (`make bench`, "a daemon after 8 rounds of attacks"; bar 1.15 times an idle daemon,
// 1.09 with it, 1.52 without).
//
// A new version of the quickjs package may move the field. renewStack then changes nothing and
// returns false, and TestRenewStack fails.
func renewStack(vm *quickjs.VM) bool {
	place := tlsField(vm)
	if place == nil {
		return false
	}
	old, fresh := *place, libc.NewTLS()
	if old == nil || old.StackSlots() != fresh.StackSlots() {
		fresh.Close()
		return false
	}
	*place = fresh
	old.Close()
	return true
}
