package launch

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

// Strip removes from a command line what Plan added, so that it can be kept and planned again later.
// Found says that there was something: the agent was started by `hookmux run`. What can't be read
// is left as it is.
func Strip(a *agent.Agent, args []string) (rest []string, found bool) {
	s := scanOptions(a.Launch, args)
	rest = slices.Clone(args)
	var empty []option
	for _, o := range s.options {
		if !o.has {
			continue
		}
		var left string
		var ours bool
		switch {
		case a.Launch.Inject == "settings-flag" && o.name == a.Launch.Carrier && isInline(o.value):
			left, ours = stripSettings(o.value)
		case a.Launch.Inject == "codex-overrides" && (o.name == "-c" || o.name == "--config"):
			left, ours = stripOverride(o.value)
		}
		if !ours {
			continue
		}
		found = true
		if left == "" {
			empty = append(empty, o)
			continue
		}
		rest[o.valueAt] = rest[o.valueAt][:o.offset] + left
	}
	return withoutOptions(rest, empty), found
}

const hookProgram = "hookmux-hook"

// isOurCommand reports whether a shell line or a program's path is the hook client.
func isOurCommand(command string) bool {
	if filepath.Base(command) == hookProgram {
		return true
	}
	end := " "
	if strings.HasPrefix(command, "'") || strings.HasPrefix(command, `"`) {
		command, end = command[1:], command[:1]
	}
	word, _, _ := strings.Cut(command, end)
	return filepath.Base(word) == hookProgram
}

// stripSettings removes our groups from settings; "" if nothing is left.
func stripSettings(text string) (left string, ours bool) {
	value, err := hujson.Parse([]byte(text))
	if err != nil {
		return text, false
	}
	root, ok := value.Value.(*hujson.Object)
	if !ok {
		return text, false
	}
	m := lastMember(root, "hooks")
	if m == nil {
		return text, false
	}
	hooks, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		return text, false
	}
	for i := range hooks.Members {
		groups, ok := hooks.Members[i].Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		before := len(groups.Elements)
		groups.Elements = slices.DeleteFunc(groups.Elements, func(v hujson.Value) bool {
			var g settingsGroup
			return json.Unmarshal(v.Pack(), &g) == nil && len(g.Hooks) == 1 && isOurCommand(g.Hooks[0].Command)
		})
		ours = ours || len(groups.Elements) < before
	}
	if !ours {
		return text, false
	}
	hooks.Members = slices.DeleteFunc(hooks.Members, func(m hujson.ObjectMember) bool {
		list, ok := m.Value.Value.(*hujson.Array)
		return ok && len(list.Elements) == 0
	})
	if len(hooks.Members) == 0 {
		root.Members = slices.DeleteFunc(root.Members, func(m hujson.ObjectMember) bool {
			name, ok := m.Name.Value.(hujson.Literal)
			return ok && name.String() == "hooks"
		})
	}
	if len(root.Members) == 0 {
		return "", true
	}
	return string(value.Pack()), true
}

// stripOverride removes our groups, or our trust, from one override; "" if
// nothing is left.
func stripOverride(text string) (left string, ours bool) {
	key, value, ok := strings.Cut(text, "=")
	if !ok || !strings.HasPrefix(key, "hooks.") {
		return text, false
	}
	read, err := overrideValue(value)
	if err != nil {
		return text, false
	}
	switch v := read.(type) {
	case []any:
		kept := slices.DeleteFunc(slices.Clone(v), func(g any) bool {
			group, _ := g.(map[string]any)
			handlers, _ := group["hooks"].([]any)
			if len(handlers) != 1 {
				return false
			}
			h, _ := handlers[0].(map[string]any)
			command, _ := h["command"].(string)
			return isOurCommand(command)
		})
		if len(kept) == len(v) {
			return text, false
		}
		if len(kept) == 0 {
			return "", true
		}
		read = kept
	case map[string]any:
		if key != hookentry.CodexTrustTable {
			return text, false
		}
		kept := map[string]any{}
		for name, entry := range v {
			if !strings.HasPrefix(name, flagLayer+":") {
				kept[name] = entry
			}
		}
		if len(kept) == len(v) {
			return text, false
		}
		if len(kept) == 0 {
			return "", true
		}
		read = kept
	default:
		return text, false
	}
	written, err := inlineTOML(read)
	if err != nil {
		return text, false
	}
	return key + "=" + written, true
}
