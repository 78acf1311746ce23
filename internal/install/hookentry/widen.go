package hookentry

import (
	"encoding/json"
	"slices"
	"sort"

	"github.com/hookmux/hookmux/internal/edit"
)

// MatcherOf returns the value that narrows an entry down; nil if it is for every call.
func (t *Target) MatcherOf(r edit.Reader, s *Handler) json.RawMessage {
	key := t.Spec.Matcher.Key
	if key == "" {
		return nil
	}
	raw := s.Members[key]
	if t.inGroups(s.Event) {
		raw = r.Raw(Join(s.Group, key)...)
	}
	all := t.Spec.Matcher.All
	if raw == nil || string(raw) == "null" || SameJSON(raw, AsJSON("")) || all != "" && SameJSON(raw, AsJSON(all)) {
		return nil
	}
	return raw
}

// ExtraMembers are members of an entry that we do not write: those of its group
// first, with a dot in front, then its own.
func (t *Target) ExtraMembers(r edit.Reader, s *Handler, c Command) []string {
	var out []string
	if t.inGroups(s.Event) {
		for _, key := range KeysOf(r, s.Group) {
			if key != "hooks" && key != t.Spec.Matcher.Key && !slices.Contains(t.Spec.Handler.Harmless, key) {
				out = append(out, "."+key)
			}
		}
	}
	known := append([]string{t.Spec.Matcher.Key}, t.Spec.Handler.Harmless...)
	for _, m := range t.HandlerMembers(c) {
		known = append(known, m.Key)
	}
	var own []string
	for key := range s.Members {
		if !slices.Contains(known, key) {
			own = append(own, key)
		}
	}
	sort.Strings(own)
	return append(out, own...)
}

// widenEntry makes an entry of ours see every call again and removes any condition that was
// put around it. If its group also has other people's handlers, the condition is for those:
// ours leaves the group and gets one of its own.
func (t *Target) widenEntry(src []byte, r edit.Reader, s *Handler, c Command) (out []byte, leave bool, err error) {
	extras := t.ExtraMembers(r, s, c)
	grouped := slices.DeleteFunc(slices.Clone(extras), func(key string) bool { return key[0] != '.' })
	narrow := t.MatcherOf(r, s) != nil
	if t.inGroups(s.Event) && !s.alone && (narrow || len(grouped) > 0) {
		return src, true, nil
	}
	out = src
	for _, key := range extras {
		path := Join(s.Path, key)
		if key[0] == '.' {
			path = Join(s.Group, key[1:])
		}
		if out, err = t.Format.Remove(out, path); err != nil {
			return nil, false, err
		}
	}
	if !narrow {
		return out, false, nil
	}
	at := Join(s.Path, t.Spec.Matcher.Key)
	if t.inGroups(s.Event) {
		at = Join(s.Group, t.Spec.Matcher.Key)
	}
	if t.Spec.Matcher.Needed && (t.inGroups(s.Event) || len(t.Spec.Flat) == 0) {
		out, err = t.Format.Set(out, at, t.Spec.Matcher.All)
	} else {
		out, err = t.Format.Remove(out, at)
	}
	return out, false, err
}
