package selection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// editNotes says what a hook cannot do as it is registered: on which agents it
// never runs, and that it cannot refuse although it could be let to.
func editNotes(reg *hook.Registration, agents []*agent.Agent) []string {
	if reg.HookType == hook.Any {
		return nil
	}
	var heard, silent []string
	var refusable event.Kind
	for _, a := range agents {
		if reg.Agent != hook.Any && reg.Agent != a.Name || reg.Agent == hook.Any && a.NotInstalled != "" {
			continue // of an agent into which nothing is written nobody expects it
		}
		runs := false
		for _, e := range a.Events {
			if e.Name != reg.HookType && string(e.Kind) != reg.HookType {
				continue
			}
			runs = true
			if e.Carries.Deny != nil && reg.RoleFor(e.Kind) == hook.Advise {
				refusable = e.Kind
			}
		}
		if runs {
			heard = append(heard, a.Name)
		} else {
			silent = append(silent, a.Name)
		}
	}
	var notes []string
	if note := silentNote(reg, heard, silent); note != "" {
		notes = append(notes, note)
	}
	if refusable != "" && reg.Role == "" && reg.Handler != "builtin" {
		notes = append(notes, fmt.Sprintf("at %s it adds words and refuses nothing, also with exit code 2; to let it "+
			"refuse: hookmux hooks set %s --role guard", refusable, reg.ID))
	}
	return notes
}

// silentNote says on which agents a hook never runs; where these are most, on
// which it runs.
func silentNote(reg *hook.Registration, heard, silent []string) string {
	if len(silent) == 0 {
		return ""
	}
	slices.Sort(silent)
	slices.Sort(heard)
	note := fmt.Sprintf("it never runs on %s: no event there is %s", strings.Join(silent, ", "), reg.HookType)
	if len(heard) > 0 && len(silent) > len(heard) {
		note = fmt.Sprintf("it runs on %s only: no other agent has an event %s", strings.Join(heard, ", "),
			reg.HookType)
	}
	if reg.Agent == hook.Any && !event.Kind(reg.HookType).Known() {
		note += "; a kind such as tool.before is the same for every agent (`hookmux hooks discover`)"
	}
	return note
}
