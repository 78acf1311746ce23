package install

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/codextrust"
	"github.com/hookmux/hookmux/internal/edit"
)

// Some agents run a hook only after the person trusted it, each by its place
// and hash. The trust step "hash" is Codex's; package hooktrust says how it goes.

// Grant is trust in exactly our own hooks.
type Grant struct {
	Agent  *agent.Agent
	Source string            // the file the hooks stand in
	Keys   map[string]string // key → hash
	Cwd    string
}

// byHash reports whether an agent wants each hook trusted.
func byHash(a *agent.Agent) bool { return a.Install != nil && a.Install.Trust.Step == "hash" }

// trustFile is where trust is kept: the agent's own config, in TOML.
func (h *Host) trustFile(a *agent.Agent) string {
	for _, f := range a.Files {
		if f.Scope == User && f.Format == "toml" {
			return h.resolvePath(f)
		}
	}
	return ""
}

// sourceName is how the agent names a file: a folder that a variable names is
// looked up first, the default one is taken as it is.
func (h *Host) sourceName(path string, place agent.InstallPlace) string {
	if place.Env == "" || h.Getenv == nil || h.Getenv(place.Env) == "" {
		return path
	}
	return filepath.Join(h.realPath(filepath.Dir(path)), filepath.Base(path))
}

// trustKey is what trust in a handler is kept under: where it stands.
func (t *target) trustKey(s *slot, source string) string {
	return codextrust.Key(source, s.event, s.group[len(s.group)-1], s.path[len(s.path)-1])
}

// trustKeys are the keys and hashes of our hooks in a text.
func (t *target) trustKeys(src []byte, a *agent.Agent, source string) (map[string]string, error) {
	r, err := t.parseText(src)
	if err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for _, s := range t.slots(r) {
		if !isFor(s, a) || len(s.path) < 3 {
			continue
		}
		hook := codextrust.Hook{Event: s.event, Command: s.text, Timeout: timeoutOf(s, t.spec, a)}
		if e, ok := a.Event(s.event); ok && e.Matcher != "" {
			var m string
			if raw := r.Raw(join(s.group, t.spec.Matcher.Key)...); raw != nil && json.Unmarshal(raw, &m) == nil {
				hook.Matcher = &m
			}
		}
		keys[t.trustKey(s, source)] = hook.Hash()
	}
	return keys, nil
}

// timeoutOf is the limit in force: what is written, within the event's own.
func timeoutOf(s *slot, spec *agent.InstallSpec, a *agent.Agent) int {
	var n int
	if json.Unmarshal(s.handler[spec.Handler.Timeout], &n) != nil {
		return int(a.Timeout(s.event).Seconds())
	}
	if e, ok := a.Event(s.event); ok && e.MaxTimeout > 0 {
		n = min(n, int(e.MaxTimeout)/1e9)
	}
	return max(1, n)
}

// readTrusted reads which of the keys are trusted with their hash, and are not
// switched off.
func readTrusted(src []byte, keys map[string]string) (yes, no []string, err error) {
	r, err := edit.TOML.Parse(src)
	if err != nil {
		return nil, nil, err
	}
	for key, hash := range keys {
		var state struct {
			Hash    string `json:"trusted_hash"`
			Enabled *bool  `json:"enabled"`
		}
		path := codextrust.Path(key)
		if r.Raw(path...) != nil && r.Decode(&state, path...) == nil && state.Hash == hash && (state.Enabled == nil || *state.Enabled) {
			yes = append(yes, key)
		} else {
			no = append(no, key)
		}
	}
	slices.Sort(yes)
	slices.Sort(no)
	return yes, no, nil
}

// writeTrust writes trust into a config: what is there for other hooks, and an
// "enabled" of the person's, stays.
func writeTrust(src []byte, keys map[string]string, kept []Kept) ([]byte, []Kept, error) {
	_, missing, err := readTrusted(src, keys)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range missing {
		r, err := edit.TOML.Parse(src)
		if err != nil {
			return nil, nil, err
		}
		path := codextrust.Path(key)
		if depth := r.Depth(path...); depth == len(path) {
			if src, err = edit.TOML.Set(src, join(path, codextrust.HashField), keys[key]); err != nil {
				return nil, nil, err
			}
			continue
		} else if !hasKept(kept, path) {
			kept = append(slices.Clone(kept), Kept{path, depthBefore(kept, path, depth)})
		}
		if src, err = edit.TOML.Set(src, path, map[string]any{codextrust.HashField: keys[key]}); err != nil {
			return nil, nil, err
		}
	}
	return src, kept, nil
}

// withdrawTrust takes keys out again.
func withdrawTrust(src []byte, keys [][]string, kept []Kept) (out []byte, err error) {
	out = src
	for i := len(keys) - 1; i >= 0; i-- {
		if out, err = edit.TOML.Prune(out, keys[i], min(keptAt(kept, keys[i]), len(keys[i])-1)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// movedTrustKeys are the keys of other people's hooks that stand elsewhere once ours
// are gone: trust goes by place, and they should not have to give it again.
func (t *target) movedTrustKeys(before, after []byte, source string) map[string]string {
	rb, err := t.parseText(before)
	ra, err2 := t.parseText(after)
	if err != nil || err2 != nil || t.spec.Shape != agent.ShapeNested {
		return nil
	}
	out := map[string]string{}
	name := func(s *slot) string { return t.trustKey(s, source) }
	left := map[string][]*slot{}
	for _, s := range t.slots(ra) {
		left[s.event] = append(left[s.event], s)
	}
	for _, s := range t.slots(rb) {
		if s.ours || len(left[s.event]) == 0 {
			continue
		}
		now := left[s.event][0]
		left[s.event] = left[s.event][1:]
		if name(s) != name(now) {
			out[name(s)] = name(now)
		}
	}
	return out
}

// renameTrustKeys gives trust its new places, lowest first so that none is overwritten.
func renameTrustKeys(src []byte, moves map[string]string) ([]byte, error) {
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
		if raw := r.Raw(codextrust.Path(from)...); raw != nil {
			all = append(all, move{from, to, raw})
		}
	}
	slices.SortFunc(all, func(a, b move) int { return compareKeys(a.from, b.from) })
	for _, m := range all {
		if src, err = edit.TOML.Set(src, codextrust.Path(m.to), m.value); err != nil {
			return nil, err
		}
		if src, err = edit.TOML.Remove(src, codextrust.Path(m.from)); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// compareKeys orders keys with their numbers as numbers.
func compareKeys(a, b string) int {
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
