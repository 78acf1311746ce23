package config

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/selection/accepted"
)

// Effect says what a change of a key does to what agents may do.
type Effect string

// The effects. Every change of a key without one waits for you.
const (
	Guards   Effect = "guards"   // a tighter choice or a shorter list refuses more
	Extends  Effect = "extends"  // entries that are added to a list add hooks that may refuse
	Limits   Effect = "limits"   // entries that are added to a list refuse more
	Keeps    Effect = "keeps"    // a larger value keeps more, and a longer record hurts nobody
	Displays Effect = "displays" // what people see, and nothing that agents may do
)

var effects = map[string]Effect{
	GuardAllow: Guards, GuardHosts: Guards, ModulesLog: Guards, ApprovalsPolicy: Guards,
	Modules: Extends, UsageBudgets: Limits,
	JournalKeep: Keeps, JournalMaxSize: Keeps, InboxWait: Keeps,
	Status: Displays, Resume: Displays, TmuxFollow: Displays, TmuxNames: Displays, TerminalStatus: Displays, HooksTimeout: Displays, HookTimeout: Displays,
}

// effectOf returns the effect of a key, also of one like approvals.policy.claude.
func effectOf(name string) Effect {
	if e, ok := effects[name]; ok {
		return e
	}
	if slices.Contains(allGuards, name) {
		return Guards
	}
	for _, k := range table {
		if k.PerName && len(name) > len(k.Name) && name[:len(k.Name)+1] == k.Name+"." {
			return effects[k.Name]
		}
	}
	return ""
}

// allGuards is in force where what was accepted is gone.
var allGuards = guardNames()

func guardNames() []string {
	var list []string
	for _, g := range names.All() {
		list = append(list, hook.GuardID(g.Name))
	}
	return list
}

// strengthen lays over the settings in force what a changed file refuses in
// addition: guards that are switched on or up, rules that are allowed no more,
// an approval policy that asks more often, TypeScript hooks that are added. Where nothing was
// accepted yet, what only keeps or displays counts as well.
func (l *Loader) strengthen(have, live []byte, basis accepted.State) (force []byte) {
	force = have
	if basis == accepted.Lost && have == nil {
		for _, name := range allGuards {
			force = setValue(force, name, GuardBlock)
		}
	}
	reader := layer{kind: User}
	wished, _, err := reader.read(live)
	if err != nil {
		return force
	}
	before, _, err := reader.read(force)
	if err != nil {
		return force
	}
	inForce := &Settings{values: maps.Clone(l.system.values)} // which the user's file would cover
	if inForce.values == nil {
		inForce.values = map[string]set{}
	}
	maps.Copy(inForce.values, before)
	for _, name := range (&layer{values: wished}).names() {
		is, key, _ := inForce.lookupKey(name)
		value, ok := stronger(key, is.value, wished[name].value, basis)
		if !ok || Format(value) == Format(is.value) && is.origin.Layer != Default {
			continue
		}
		if Format(value) == Format(key.Default) && is.origin.Layer == Default {
			continue
		}
		next := setValue(force, name, value)
		if next == nil || len(next) > maxFile {
			continue
		}
		force = next
		inForce.values[name] = set{value: value, origin: Origin{Layer: User}}
	}
	return force
}

// stronger returns the active value of a key when a file wishes a value that wasn't
// accepted; false if the wish waits.
func stronger(key Key, is, wish any, basis accepted.State) (any, bool) {
	switch effectOf(key.Name) {
	case Guards:
		value, err := key.tighten(is, wish, true)
		if errors.Is(err, errLooser) && key.Type == List {
			return intersection(is, wish), true
		}
		return value, err == nil
	case Extends, Limits:
		return union(is, wish), true
	case Keeps:
		return wish, basis != accepted.Accepted && larger(wish, is)
	case Displays:
		return wish, basis != accepted.Accepted
	}
	return nil, false
}

func intersection(is, wish any) []string {
	wished, _ := wish.([]string)
	have, _ := is.([]string)
	return slices.DeleteFunc(slices.Clone(have), func(item string) bool { return !slices.Contains(wished, item) })
}

func union(is, wish any) []string {
	wished, _ := wish.([]string)
	have, _ := is.([]string)
	all := slices.Clone(have)
	for _, item := range wished {
		if !slices.Contains(all, item) {
			all = append(all, item)
		}
	}
	return all
}

func larger(wish, is any) bool {
	switch w := wish.(type) {
	case time.Duration:
		h, ok := is.(time.Duration)
		return ok && w > h
	case int64:
		h, ok := is.(int64)
		return ok && w > h
	}
	return false
}

// setValue writes one value into a text; nil when that cannot be done.
func setValue(text []byte, name string, value any) []byte {
	var plain any
	switch v := value.(type) {
	case []string:
		plain = append([]string{}, v...)
	case Milliseconds:
		plain = int64(v)
	default:
		plain = Format(v)
	}
	fresh, err := edit.Set(text, []string{name}, plain)
	if err != nil {
		return nil
	}
	return fresh
}

// CheckText says what keeps a text from being accepted: it cannot be read at
// all. A single bad value is reported and left out.
func CheckText(text []byte) error {
	_, _, err := (&layer{kind: User}).read(text)
	return err
}
