package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// This file adds a few settings to another program's config, only where they are absent, and
// removes them again. It works on text, not on files.

// Setting is one value and its path.
type Setting struct {
	Path  []string
	Value any
}

// Name returns the setting's name as users write it.
func (s Setting) Name() string { return strings.Join(s.Path, ".") }

// SettingsOf returns the settings that an agent needs, in a fixed order.
func SettingsOf(spec *agent.EnableSpec) []Setting {
	var out []Setting
	at := strings.Split(spec.At, ".")
	for key, value := range spec.With {
		out = append(out, Setting{Path: hookentry.Join(at, strings.Split(key, ".")...), Value: value})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name() < out[j].Name() })
	return out
}

// MissingSettings returns those of the settings that a text lacks. One with another value is
// the user's own word.
func MissingSettings(f edit.Format, src []byte, all []Setting) ([]Setting, error) {
	if src == nil {
		return all, nil
	}
	r, err := f.Parse(src)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(s Setting) bool { return r.Raw(s.Path...) != nil }), nil
}

// WhatSettingsMiss describes what a file lacks, or that it couldn't be read; empty if nothing is
// missing.
func WhatSettingsMiss(spec *agent.EnableSpec, src []byte, err error, name string) string {
	format, unknown := edit.For(spec.Format)
	missing := SettingsOf(spec)
	if err = errors.Join(err, unknown); err == nil {
		missing, err = MissingSettings(format, src, missing)
	}
	switch {
	case err != nil:
		return name + " cannot be read"
	case len(missing) > 0:
		return missing[0].Name() + " is not in " + name
	}
	return ""
}

// WriteSettings adds what is missing. Keys and kept grow by what was added and by how much
// of each path was there before.
func WriteSettings(f edit.Format, src []byte, all []Setting, keys [][]string, kept []hookentry.Kept) ([]byte, [][]string,
	[]hookentry.Kept, error) {
	missing, err := MissingSettings(f, src, all)
	if err != nil || len(missing) == 0 {
		return src, keys, kept, err
	}
	if len(bytes.TrimSpace(src)) == 0 {
		src = []byte("{}\n")
	}
	before, err := f.Parse(src)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, s := range missing {
		if !slices.ContainsFunc(keys, func(k []string) bool { return slices.Equal(k, s.Path) }) {
			keys = append(slices.Clone(keys), s.Path)
			kept = append(slices.Clone(kept), hookentry.Kept{Path: s.Path, Depth: before.Depth(s.Path...)})
		}
		if src, err = f.Set(src, s.Path, s.Value); err != nil {
			return nil, nil, nil, err
		}
	}
	return src, keys, kept, nil
}

// RemoveSettings removes what was added, and what is empty without it. If there is no record of
// that, what is exactly as it would be written is taken for ours.
func RemoveSettings(f edit.Format, src []byte, all []Setting, keys [][]string, kept []hookentry.Kept) ([]byte, error) {
	if src == nil {
		return nil, nil
	}
	r, err := f.Parse(src)
	if err != nil {
		return nil, err
	}
	for _, s := range slices.Backward(all) {
		depth := len(s.Path) - 2
		for i, k := range keys {
			if slices.Equal(k, s.Path) {
				depth = kept[i].Depth
			}
		}
		want, err := json.Marshal(s.Value)
		if err != nil {
			return nil, err
		}
		known := slices.ContainsFunc(keys, func(k []string) bool { return slices.Equal(k, s.Path) })
		if !known && (len(keys) > 0 || !bytes.Equal(r.Raw(s.Path...), want)) {
			continue
		}
		if src, err = f.Prune(src, s.Path, min(depth, len(s.Path)-1)); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// IsHollow reports whether nothing is in a text.
func IsHollow(f edit.Format, src []byte) bool {
	r, err := f.Parse(src)
	return err == nil && len(r.Keys()) == 0 && !edit.Commented(src)
}
