package config

import (
	"maps"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// Problem is something wrong with a setting or its file.
type Problem = userfile.Problem

// Layer is where a value comes from.
type Layer string

// The layers.
const (
	Default     Layer = "default"
	System      Layer = "system"
	User        Layer = "user"
	Environment Layer = "environment"
	Project     Layer = "project"
	Fleet       Layer = "fleet" // of the policy that the fleet's operators pushed
)

// Origin is the place that set a value.
type Origin struct {
	Layer    Layer  `json:"layer"`
	File     string `json:"file,omitempty"` // or the variable's name
	Line     int    `json:"line,omitempty"`
	LastGood bool   `json:"lastGood,omitempty"` // from the last good version of a file that is broken now
}

// Entry is one setting as it is in force.
type Entry struct {
	Key     Key
	Value   any
	Default bool // nobody set it
	Origin  Origin
}

// Settings is everything in force at one moment. It never changes; take a new
// one from the [Loader].
type Settings struct {
	values   map[string]set
	problems []Problem
	policy   int64
}

// Policy returns the version of the fleet's policy that tightened them; 0: there is none.
func (s *Settings) Policy() int64 { return s.policy }

type set struct {
	value  any
	origin Origin
}

func (s *Settings) lookupKey(name string) (set, Key, bool) {
	key, ok := Find(name)
	if !ok {
		return set{}, key, false
	}
	if v, ok := s.values[name]; ok {
		return v, key, true
	}
	// journal.keep.claude falls back to journal.keep, whose default it shares.
	parent, _ := splitKey(name)
	if i, known := keyIndex()[parent]; known && table[i].PerName {
		if v, ok := s.values[parent]; ok {
			return v, key, true
		}
	}
	return set{key.Default, Origin{Layer: Default}}, key, true
}

// Get returns one setting; false when there is no such key.
func (s *Settings) Get(name string) (Entry, bool) {
	v, key, ok := s.lookupKey(name)
	return Entry{key, v.value, v.origin.Layer == Default, v.origin}, ok
}

// IsSet reports whether exactly this key is set; its fallback doesn't count.
func (s *Settings) IsSet(name string) bool {
	_, ok := s.values[name]
	return ok
}

// List returns every key of the table, and every set key like journal.keep.claude, by name.
func (s *Settings) List() []Entry {
	names := map[string]bool{}
	for _, k := range table {
		names[k.Name] = true
	}
	for name := range s.values {
		names[name] = true
	}
	var list []Entry
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if e, ok := s.Get(name); ok {
			list = append(list, e)
		}
	}
	return list
}

// Problems returns what is wrong, file by file.
func (s *Settings) Problems() []Problem { return slices.Clone(s.problems) }

// Span returns the value of a key that is a time span.
func (s *Settings) Span(name string) time.Duration { return as[time.Duration](s, name) }

// Millis returns the value of a key that is a number of milliseconds.
func (s *Settings) Millis(name string) time.Duration {
	return time.Duration(as[Milliseconds](s, name)) * time.Millisecond
}

// Size returns the value of a key that is a size in bytes.
func (s *Settings) Size(name string) int64 { return as[int64](s, name) }

// Choice returns the value of a key that has a fixed set of values.
func (s *Settings) Choice(name string) string { return as[string](s, name) }

// Strings returns the value of a key that is a list of texts.
func (s *Settings) Strings(name string) []string { return slices.Clone(as[[]string](s, name)) }

func as[T any](s *Settings, name string) T {
	v, _, _ := s.lookupKey(name)
	t, _ := v.value.(T)
	return t
}

// Keep returns how long an agent's events stay.
func (s *Settings) Keep(agent string) time.Duration {
	if name := JournalKeep + "." + agent; perNameOK(agent) {
		return s.Span(name)
	}
	return s.Span(JournalKeep)
}

// On reports whether a switch that may be set for each agent is on for this one.
func (s *Settings) On(name, agent string) bool {
	if perNameOK(agent) {
		name += "." + agent
	}
	return s.Choice(name) == "on"
}
