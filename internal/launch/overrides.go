package launch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

// The codex-overrides way: `-c key=value` changes one config value for one launch. All such
// overrides make up one layer of config, on top of the files: its hooks run in addition to
// theirs. Within the layer a later override of the same key replaces the earlier one, so the
// user's overrides are worked out first and written again with the hooks after them.
//
// Hooks run only if they are trusted, and trust can be given the same way. It is given for
// hookmux's own hooks and no others.

// flagLayer is Codex's name for the file that `-c` hooks come from.
const flagLayer = "/<session-flags>/config.toml"

func trustNotice(a *agent.Agent) string {
	return fmt.Sprintf("tells %s to trust hookmux's own hooks, and only those, at every launch with `hookmux run`; "+
		"none of its files is changed (said once)", a.Title)
}

func injectOverrides(r *Request, s *scanned) ([]string, bool, []string, error) {
	for _, o := range s.options {
		if o.name == "--disable" && o.value == "hooks" {
			return r.Args, false, []string{fmt.Sprintf("%s runs no hooks with --disable hooks, so none are given to "+
				"it and nothing of this session is seen", r.Agent.Title)}, nil
		}
	}
	if r.Untrusted {
		return injectNotify(r, s)
	}
	layer, behind, err := usersHooks(s)
	if err != nil {
		return nil, false, nil, err
	}
	added, err := hookOverrides(r, layer)
	if err != nil {
		return nil, false, nil, err
	}
	// At the front they are the program's own flags, whatever subcommand follows. A user's
	// override of hooks must not come after ours, which include it.
	return slices.Insert(slices.Clone(r.Args), behind, added...), true, nil, nil
}

// hookOverrides returns the flags that have to be added to a layer which holds
// the user's own hooks already.
func hookOverrides(r *Request, layer map[string]any) ([]string, error) {
	var added []string
	state, _ := layer["state"].(map[string]any)
	if layer["state"] != nil && state == nil {
		return nil, errors.New("-c hooks.state: is not a table; correct it, or leave the flag out")
	}
	state = cloneTable(state)
	trusted := false
	for _, reg := range r.defaultRegistrations() {
		groups, ok := layer[reg.event].([]any)
		if layer[reg.event] != nil && !ok {
			return nil, fmt.Errorf("-c hooks.%s: is not a list; correct it, or leave the flag out", reg.event)
		}
		command := shellquote.Line([]string{r.Hook, r.Agent.Name, reg.event, strconv.Itoa(reg.seconds)})
		at := slices.IndexFunc(groups, func(g any) bool { return isOurs(g, command) })
		if at < 0 {
			at = len(groups)
			ours := map[string]any{"hooks": []any{map[string]any{
				"type": "command", "command": command, "timeout": int64(reg.seconds),
			}}}
			text, err := inlineTOML(append(slices.Clone(groups), ours))
			if err != nil {
				return nil, fmt.Errorf("-c hooks.%s: %w; leave the flag out", reg.event, err)
			}
			added = append(added, "-c", "hooks."+reg.event+"="+text)
		}
		key := hookentry.CodexTrustKey(flagLayer, reg.event, strconv.Itoa(at), "0")
		hash := hookentry.CodexHook{Event: reg.event, Command: command, Timeout: reg.seconds}.Hash()
		if entry, _ := state[key].(map[string]any); entry[hookentry.CodexHashField] != hash {
			entry = cloneTable(entry) // an "enabled = false" of the user's stays
			entry[hookentry.CodexHashField] = hash
			state[key] = entry
			trusted = true
		}
	}
	if trusted {
		text, err := inlineTOML(state)
		if err != nil {
			return nil, fmt.Errorf("-c hooks.state: %w; leave the flag out", err)
		}
		added = append(added, "-c", hookentry.CodexTrustTable+"="+text)
	}
	return added, nil
}

// isOurs reports whether an earlier plan wrote a group: one handler, our command.
func isOurs(group any, command string) bool {
	g, _ := group.(map[string]any)
	handlers, _ := g["hooks"].([]any)
	if len(handlers) != 1 || len(g) != 1 {
		return false
	}
	h, _ := handlers[0].(map[string]any)
	return h["command"] == command
}

// usersHooks works out the hooks of the user's own overrides, and the index after the last of them;
// 0 if there are none.
func usersHooks(s *scanned) (hooks map[string]any, behind int, err error) {
	layer := map[string]any{}
	for _, o := range s.options {
		if (o.name != "-c" && o.name != "--config") || !o.has {
			continue
		}
		key, text, ok := strings.Cut(o.value, "=")
		key = strings.TrimSpace(key)
		if !ok || (key != "hooks" && !strings.HasPrefix(key, "hooks.")) {
			continue
		}
		value, err := overrideValue(text)
		if err != nil {
			return nil, 0, fmt.Errorf("-c %s: is not TOML (%s); correct it, or leave the flag out", oneLine(key),
				oneLine(err.Error()))
		}
		setDottedKey(layer, strings.Split(key, "."), value)
		behind = max(o.at, o.valueAt) + 1
	}
	if layer["hooks"] == nil {
		return map[string]any{}, behind, nil
	}
	hooks, ok := layer["hooks"].(map[string]any)
	if !ok {
		return nil, 0, errors.New("-c hooks: is not a table; correct it, or leave the flag out")
	}
	return hooks, behind, nil
}

func overrideValue(text string) (any, error) {
	var doc map[string]any
	if err := toml.Unmarshal([]byte("value = "+strings.TrimSpace(text)), &doc); err != nil {
		return nil, err
	}
	return doc["value"], nil
}

// setDottedKey walks down a dotted key as Codex does: no quoting, and what is in the way is
// replaced.
func setDottedKey(table map[string]any, keys []string, value any) {
	for _, key := range keys[:len(keys)-1] {
		inner, ok := table[key].(map[string]any)
		if !ok {
			inner = map[string]any{}
			table[key] = inner
		}
		table = inner
	}
	table[keys[len(keys)-1]] = value
}

func cloneTable(t map[string]any) map[string]any {
	out := make(map[string]any, len(t))
	for k, v := range t {
		out[k] = v
	}
	return out
}
