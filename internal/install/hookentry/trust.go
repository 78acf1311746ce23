package hookentry

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
)

// Some agents run a hook only after the user trusted it, each by its position and hash. The trust
// step "hash" is Codex's; see codextrust.go.

// TrustKey returns the key that trust in a handler is kept under: its position.
func (t *Target) TrustKey(s *Handler, source string) string {
	return CodexTrustKey(source, s.Event, s.Group[len(s.Group)-1], s.Path[len(s.Path)-1])
}

// TrustKeys returns the keys and hashes of our hooks in a text.
func (t *Target) TrustKeys(src []byte, a *agent.Agent, source string) (map[string]string, error) {
	r, err := t.ParseText(src)
	if err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for _, s := range t.Handlers(r) {
		if !IsFor(s, a) || len(s.Path) < 3 {
			continue
		}
		hook := CodexHook{Event: s.Event, Command: s.Text, Timeout: timeoutOf(s, t.Spec, a)}
		if e, ok := a.Event(s.Event); ok && e.Matcher != "" {
			var m string
			if raw := r.Raw(Join(s.Group, t.Spec.Matcher.Key)...); raw != nil && json.Unmarshal(raw, &m) == nil {
				hook.Matcher = &m
			}
		}
		keys[t.TrustKey(s, source)] = hook.Hash()
	}
	return keys, nil
}

// timeoutOf returns the limit in force: what is written, within the event's own.
func timeoutOf(s *Handler, spec *agent.InstallSpec, a *agent.Agent) int {
	var n int
	if json.Unmarshal(s.Members[spec.Handler.Timeout], &n) != nil {
		return int(a.Timeout(s.Event).Seconds())
	}
	if e, ok := a.Event(s.Event); ok && e.MaxTimeout > 0 {
		n = min(n, int(e.MaxTimeout)/1e9)
	}
	return max(1, n)
}

// ReadTrusted reads which of the keys are trusted with their hash, and are not
// switched off.
func ReadTrusted(src []byte, keys map[string]string) (yes, no []string, err error) {
	r, err := edit.TOML.Parse(src)
	if err != nil {
		return nil, nil, err
	}
	for key, hash := range keys {
		var state struct {
			Hash    string `json:"trusted_hash"`
			Enabled *bool  `json:"enabled"`
		}
		path := CodexTrustPath(key)
		if r.Raw(path...) != nil && r.Decode(&state, path...) == nil && state.Hash == hash &&
			(state.Enabled == nil || *state.Enabled) {
			yes = append(yes, key)
		} else {
			no = append(no, key)
		}
	}
	slices.Sort(yes)
	slices.Sort(no)
	return yes, no, nil
}

// WriteTrust writes trust into a config: what is there for other hooks, and an
// "enabled" of the user's, stays.
func WriteTrust(src []byte, keys map[string]string, kept []Kept) ([]byte, []Kept, error) {
	_, missing, err := ReadTrusted(src, keys)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range missing {
		r, err := edit.TOML.Parse(src)
		if err != nil {
			return nil, nil, err
		}
		path := CodexTrustPath(key)
		if depth := r.Depth(path...); depth == len(path) {
			if src, err = edit.TOML.Set(src, Join(path, CodexHashField), keys[key]); err != nil {
				return nil, nil, err
			}
			continue
		} else if !hasKept(kept, path) {
			kept = append(slices.Clone(kept), Kept{path, depthBefore(kept, path, depth)})
		}
		if src, err = edit.TOML.Set(src, path, map[string]any{CodexHashField: keys[key]}); err != nil {
			return nil, nil, err
		}
	}
	return src, kept, nil
}

// WithdrawTrust removes keys again.
func WithdrawTrust(src []byte, keys [][]string, kept []Kept) (out []byte, err error) {
	out = src
	for i := len(keys) - 1; i >= 0; i-- {
		if out, err = edit.TOML.Prune(out, keys[i], min(keptAt(kept, keys[i]), len(keys[i])-1)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// MovedTrustKeys returns the keys of other people's hooks whose position changes once ours
// are gone: trust is kept by position, and the user shouldn't have to grant it again.
func (t *Target) MovedTrustKeys(before, after []byte, source string) map[string]string {
	rb, err := t.ParseText(before)
	ra, err2 := t.ParseText(after)
	if err != nil || err2 != nil || t.Spec.Shape != agent.ShapeNested {
		return nil
	}
	out := map[string]string{}
	name := func(s *Handler) string { return t.TrustKey(s, source) }
	left := map[string][]*Handler{}
	for _, s := range t.Handlers(ra) {
		left[s.Event] = append(left[s.Event], s)
	}
	for _, s := range t.Handlers(rb) {
		if s.ours || len(left[s.Event]) == 0 {
			continue
		}
		now := left[s.Event][0]
		left[s.Event] = left[s.Event][1:]
		if name(s) != name(now) {
			out[name(s)] = name(now)
		}
	}
	return out
}

// RenameTrustKeys moves trust to its new positions, lowest first so that none is overwritten.
func RenameTrustKeys(src []byte, moves map[string]string) ([]byte, error) {
	r, err := edit.TOML.Parse(src)
	if err != nil {
		return nil, err
	}
	type move struct {
		from, to string
		value    json.RawMessage
	}
	var all []move
	for from, to := range moves {
		if raw := r.Raw(CodexTrustPath(from)...); raw != nil {
			all = append(all, move{from, to, raw})
		}
	}
	slices.SortFunc(all, func(a, b move) int { return CompareKeys(a.from, b.from) })
	for _, m := range all {
		if src, err = edit.TOML.Set(src, CodexTrustPath(m.to), m.value); err != nil {
			return nil, err
		}
		if src, err = edit.TOML.Remove(src, CodexTrustPath(m.from)); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// CompareKeys orders keys with their numbers as numbers.
func CompareKeys(a, b string) int {
	x, y := strings.Split(a, ":"), strings.Split(b, ":")
	for i := range min(len(x), len(y)) {
		if x[i] == y[i] {
			continue
		}
		n, err := strconv.Atoi(x[i])
		m, err2 := strconv.Atoi(y[i])
		if err == nil && err2 == nil {
			return n - m
		}
		return strings.Compare(x[i], y[i])
	}
	return len(x) - len(y)
}
