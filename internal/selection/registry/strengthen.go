package registry

import (
	"errors"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/selection/accepted"
)

// maxAdded bounds the hooks that count without having been accepted.
const maxAdded = 200

// Strengthen adds to the active hooks those that a changed file adds and that may deny.
// Whatever they decide besides a deny must be dropped, by the caller. Changed and removed
// hooks stay as they were. If nothing was accepted yet, hooks that decide nothing are
// active as well.
func Strengthen(known Known) accepted.Strengthen {
	return func(have, live []byte, basis accepted.State) (force []byte) {
		added := 0
		force = have
		inForce, problems := Parse(have, known)
		if len(problems) > 0 && have != nil {
			return have
		}
		wished, _ := Parse(live, known)
		for _, w := range wished {
			reg := w.Registration
			if indexOf(inForce, reg.ID) >= 0 || added >= maxAdded {
				continue
			}
			if !mayRefuse(&reg) && basis != accepted.New {
				continue
			}
			reg.Locked = false // it must not take the place of a project's guard
			fresh, err := putHook(force, inForce, reg)
			if err != nil || len(fresh) > maxFile {
				continue
			}
			again, problems := Parse(fresh, known)
			if len(problems) > 0 {
				continue
			}
			force, inForce = fresh, again
			added++
		}
		return force
	}
}

// mayRefuse reports whether a hook guards anything.
func mayRefuse(reg *hook.Registration) bool {
	if !reg.IsEnabled() {
		return false
	}
	return reg.RoleFor(event.ToolBefore) == hook.Guard || reg.RoleFor(event.PermissionRequest) == hook.Guard
}

// CheckText says what keeps a text from being accepted.
func CheckText(known Known) func([]byte) error {
	return func(text []byte) error {
		if _, problems := Parse(text, known); len(problems) > 0 {
			return errors.New(problems[0].String())
		}
		return nil
	}
}
