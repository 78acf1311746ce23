package wire

import (
	"encoding/json"
	"strings"
)

// Methods about TypeScript hooks.
const (
	MethodTSHooks   = "typescript.list"
	MethodTSHookRun = "typescript.run" // loads files for the process that asks, which becomes an agent
)

// Events that hookmux's own plugin makes inside an agent. No agent has names like these.
const (
	pluginEvent = "hookmux_"

	EventOfferedTool    = pluginEvent + "tool"    // the model calls a tool that a hook offers
	EventOfferedCommand = pluginEvent + "command" // the user typed a command that a hook offers
)

// IsPluginEvent reports whether a native name is one of hookmux's own plugin.
func IsPluginEvent(native string) bool { return strings.HasPrefix(native, pluginEvent) }

// TSHooksParams is where the question comes from.
type TSHooksParams struct {
	Cwd string `json:"cwd,omitempty"`
}

// TSHookInfo is one file that is a hook.
type TSHookInfo struct {
	ID      string          `json:"id"`
	Path    string          `json:"path"`
	Scope   string          `json:"scope"` // global, project, run
	InForce bool            `json:"inForce"`
	Why     string          `json:"why,omitempty"`  // why it is not in force, or still is
	LogOnly bool            `json:"log,omitempty"`  // it evaluates and changes nothing
	Info    json.RawMessage `json:"info,omitempty"` // what the engine knows, see docs/typescript.md
}

// TSHookRunParams names the files of a launch.
type TSHookRunParams struct {
	Files []string `json:"files"` // absolute
}
