package config

import (
	"cmp"
	"errors"
	"slices"

	"github.com/hookmux/hookmux/internal/selection/accepted"
)

// Weaker says, a line each, which settings protect less in a text than in the one that
// is in force, or run something else. A text that cannot be read says nothing: it cannot
// be accepted.
func Weaker(before, after []byte, basis accepted.State) (list []string) {
	reader := layer{kind: User}
	was, _, err := reader.read(before)
	if err != nil {
		was = map[string]set{}
	}
	is, _, err := reader.read(after)
	if err != nil {
		return nil
	}
	names := (&layer{values: was}).names()
	for _, name := range (&layer{values: is}).names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if basis == accepted.Lost {
		names = append(names, allGuards...)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		key, ok := Find(name)
		if !ok {
			continue
		}
		old, fresh := valueIn(was, name, key), valueIn(is, name, key)
		if basis == accepted.Lost && slices.Contains(allGuards, name) {
			old = GuardBlock // all are, meanwhile
		}
		if Format(old) != Format(fresh) && isWeaker(key, old, fresh) {
			list = append(list, name+": "+shown(key, old)+" → "+shown(key, fresh))
		}
	}
	return list
}

// valueIn returns what a file says about a setting; its default where it says nothing.
func valueIn(values map[string]set, name string, key Key) any {
	if one, ok := values[name]; ok {
		return one.value
	}
	return key.Default
}

// isWeaker reports whether a change of a setting takes something away that protects. Of
// a setting of which nothing is known, every change may.
func isWeaker(key Key, old, fresh any) bool {
	switch effectOf(key.Name) {
	case Guards:
		if hosts, ok := fresh.([]string); ok && key.Name == GuardHosts && len(hosts) == 0 {
			return true // the guard then stops only hosts that are known for the worst
		}
		_, err := key.tighten(old, fresh, true)
		return errors.Is(err, errLooser)
	case Extends: // what is added may say yes as well
		return true
	case Limits:
		return len(union(old, fresh)) > len(union(fresh, nil))
	case Keeps, Displays:
		return false
	}
	return true
}

func shown(key Key, value any) string {
	text := Format(value)
	if key.Secret && text != "" {
		return "(not shown)"
	}
	return cmp.Or(text, "nothing")
}
