package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/platform/shellquote"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// amuxType is hookmux's name for one of agent-mux's hook types.
type amuxType struct {
	kind string
	pre  bool // it could deny there, and should here
	near bool // the nearest there is, not the same
}

// amuxTypes are agent-mux's names. Most of them are its own invention and not
// the agents' event names, so they become kinds.
var amuxTypes = map[string]amuxType{
	"PreToolUse":       {kind: string(event.ToolBefore), pre: true},
	"PostToolUse":      {kind: string(event.ToolAfter)},
	"UserPromptSubmit": {kind: string(event.TurnStart), pre: true},
	"Notification":     {kind: string(event.UserAttention)},
	"Stop":             {kind: string(event.TurnEnd)},
	"StopHook":         {kind: string(event.TurnEnd)},
	"SubagentStop":     {kind: string(event.SubagentEnd)},
	"SessionStart":     {kind: string(event.SessionStart)},
	"SessionEnd":       {kind: string(event.SessionEnd)},
	"OnToolCall":       {kind: string(event.ToolBefore), pre: true},
	"OnStop":           {kind: string(event.TurnEnd)},
	"pre_prompt":       {kind: string(event.TurnStart), pre: true},
	"post_response":    {kind: string(event.TurnEnd)},
	"preTool":          {kind: string(event.ToolBefore), pre: true},
	"postTool":         {kind: string(event.ToolAfter)},
	"pre_tool":         {kind: string(event.ToolBefore), pre: true},
	"post_tool":        {kind: string(event.ToolAfter)},
	"on_step":          {kind: string(event.ModelAfter), near: true},
	"onEvent":          {kind: hook.Any},
	hook.Any:           {kind: hook.Any},
}

var amuxBuiltins = map[string]string{
	"log":                    "log",
	"trace":                  "trace",
	"claude.session-capture": "session-capture",
}

var amuxItself = lazyregexp.New(`(^|[\s/;&|"'])(amux|agent-mux)\s+hooks\b`)

// ImportAmux reads a hooks.json of agent-mux.
func ImportAmux(file string, check Check) (Result, error) {
	var r Result
	doc, err := openFile(file)
	if err != nil {
		return r, err
	}
	if doc.Len("hooks") < 0 {
		return r, errors.New(file + `: has no list "hooks"; is it agent-mux's file?`)
	}
	for i := range doc.Len("hooks") {
		at := []string{"hooks", strconv.Itoa(i)}
		pos, _ := doc.Where(at...)
		note := func(skipped bool) func(format string, args ...any) {
			return func(format string, args ...any) {
				r.Notes = append(r.Notes, Note{file, pos.Line, sprintf(format, args...), skipped})
			}
		}
		var entry struct {
			ID       string          `json:"id"`
			Agent    string          `json:"agent"`
			HookType string          `json:"hookType"`
			Handler  string          `json:"handler"`
			Target   string          `json:"target"`
			Priority *float64        `json:"priority"`
			Enabled  *bool           `json:"enabled"`
			Metadata json.RawMessage `json:"metadata"`
		}
		if err := doc.Decode(&entry, at...); err != nil {
			note(true)("%s", describeReadError(err))
			continue
		}
		warn, skip := note(false), note(true)
		reg := hook.Registration{ID: entry.ID, Agent: entry.Agent, Handler: entry.Handler, Target: entry.Target,
			Enabled: entry.Enabled}
		if clean := strings.Join(strings.Fields(entry.ID), "-"); clean != entry.ID {
			warn("id %q became %q", entry.ID, clean)
			reg.ID = clean
		}
		if entry.Priority != nil && *entry.Priority != hook.DefaultPriority && !math.IsNaN(*entry.Priority) {
			p := int(math.Max(math.Min(*entry.Priority, math.MaxInt32), math.MinInt32))
			reg.Priority = &p
		}
		if len(entry.Metadata) > 0 && string(entry.Metadata) != "null" {
			warn("%s: its metadata was left behind; nothing ever read it", reg.ID)
		}
		mapped, ok := amuxTypes[entry.HookType]
		switch {
		case !ok:
			reg.HookType = entry.HookType
			warn("%s: hook type %q is none of agent-mux's; it is kept as an event name of the agent", reg.ID,
				entry.HookType)
		case mapped.near:
			reg.HookType = mapped.kind
			warn("%s: %s became %s, the nearest there is", reg.ID, entry.HookType, mapped.kind)
		default:
			reg.HookType = mapped.kind
		}
		switch entry.Handler {
		case "builtin":
			if name, ok := amuxBuiltins[entry.Target]; ok {
				reg.Target = name
			}
		case "command":
		default:
			if entry.Handler != "script" {
				warn("%s: handler %q ran like a script and became one", reg.ID, entry.Handler)
				reg.Handler = "script"
			}
			// In agent-mux it was one path, never split into words.
			reg.Target = shellquote.Word(entry.Target)
		}
		if reg.Handler == "command" && amuxItself.MatchString(entry.Target) {
			skip("%s: it calls agent-mux's own hooks; they are imported themselves", reg.ID)
			continue
		}
		// Only before a tool runs is a hook a guard by itself.
		if mapped.pre && reg.Handler != "builtin" && !event.Kind(mapped.kind).Guarded() {
			reg.Role = hook.Guard
		}
		r.addHook(Hook{reg, file}, check, skip)
	}
	return r, nil
}

// describeReadError describes what is wrong with an entry that can't be read as JSON.
func describeReadError(err error) string {
	var kind *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &kind):
		return "cannot be read: " + err.Error()
	case kind.Field == "":
		return "is a " + kind.Value + " and no object"
	}
	return fmt.Sprintf("%q cannot be a %s", kind.Field, kind.Value)
}
