package hookentry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

var (
	lineComment  = lazyregexp.New(`//.*`)
	blockComment = lazyregexp.New(`(?s)/\*.*?\*/`)
)

// WhyDropped returns why an agent that rejects a whole file because of one thing in it would reject
// this text; nil if it loads it.
func (t *Target) WhyDropped(a *agent.Agent, src []byte) error {
	rule := t.Spec.Drops
	if rule == nil || t.Format != edit.JSON {
		return nil
	}
	r, err := t.ParseText(src)
	if err != nil {
		return err
	}
	seen := src
	if rule.CommentsInText {
		for _, s := range t.Handlers(r) {
			if strings.Contains(s.Text, "//") || strings.Contains(s.Text, "/*") && blockComment.Match(src) {
				return fmt.Errorf("line %d: %s takes // and /* for a comment, in this command too, and drops "+
					"the whole file; have the command call a script", s.Line, a.Title)
			}
		}
		seen = blockComment.Compiled().ReplaceAll(lineComment.Compiled().ReplaceAll(src, nil), nil)
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(seen, []byte("\xef\xbb\xbf")), &top); err != nil {
		return fmt.Errorf("%s reads plain JSON here, without a comma behind the last one, and drops the whole file: %w",
			a.Title, err)
	}
	for _, event := range KeysOf(r, t.At) {
		if _, known := a.Event(event); rule.UnknownEvents && !known {
			where, _ := r.Where(Join(t.At, event)...)
			return fmt.Errorf("line %d: %s knows no event %s, and drops the whole file", max(1, where.Line), a.Title,
				event)
		}
	}
	return nil
}

// addMembers adds the members that are required next to the hooks to a file that isn't ours
// and lacks them.
func (t *Target) addMembers(src []byte, kept []Kept) ([]byte, []Kept, error) {
	for _, m := range withMembers(t.with) {
		r, err := t.ParseText(src)
		if err != nil {
			return nil, nil, err
		}
		if r.Raw(m.Key) != nil {
			continue
		}
		if src, err = t.Format.Set(src, []string{m.Key}, m.Value); err != nil {
			return nil, nil, err
		}
		kept = append(slices.Clone(kept), Kept{Path: []string{m.Key}})
	}
	return src, kept, nil
}

// removeMembers removes what addMembers added, unless other hooks need it now.
func (t *Target) removeMembers(src []byte, a *agent.Agent, kept []Kept) ([]byte, error) {
	for _, m := range withMembers(t.with) {
		r, err := t.ParseText(src)
		if err != nil {
			return nil, err
		}
		others := slices.ContainsFunc(t.Handlers(r), func(s *Handler) bool { return !IsFor(s, a) })
		if others || !hasKept(kept, []string{m.Key}) || !SameJSON(r.Raw(m.Key), m.Value) {
			continue
		}
		if src, err = t.Format.Prune(src, []string{m.Key}, 0); err != nil {
			return nil, err
		}
	}
	return src, nil
}
