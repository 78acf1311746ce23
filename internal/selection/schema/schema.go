// Package schema writes JSON Schemas of the files that users edit, so that an editor
// completes and checks them. They are generated from the same tables that hookmux reads the
// files with; what a schema can't express (ids used twice, events of an agent, regular
// expressions) is left to hookmux.
package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/selection/config"
)

// draft is the version of JSON Schema that editors know best.
const draft = "http://json-schema.org/draft-07/schema#"

// Names returns the schemas there are.
func Names() []string { return []string{"config", "hooks", "agent", "rules", "facts"} }

// Write gives the schema of that name as JSON.
func Write(name string) ([]byte, error) {
	var root object
	switch name {
	case "config":
		root = configFile()
	case "hooks":
		root = hooksFile()
	case "agent":
		root = agentFile()
	case "rules":
		root = rulesFile()
	case "facts":
		root = factsForm()
	default:
		return nil, fmt.Errorf("there's no schema %q; choose from %s", name, strings.Join(Names(), ", "))
	}
	data, err := json.MarshalIndent(root, "", "  ")
	return append(data, '\n'), err
}

type object map[string]any

// reference is the member that names a file's own schema.
var reference = object{"type": "string", "description": "the schema of this file"}

// configFile returns a file of settings: one flat object of dotted keys.
func configFile() object {
	properties := object{"$schema": reference}
	patterns := object{}
	for _, k := range config.Keys() {
		if config.Sealed(k.Name) {
			continue // it counts for nothing in a file
		}
		value := settingValue(k)
		properties[k.Name] = value
		if k.PerName {
			patterns["^"+regexp.QuoteMeta(k.Name)+`\.[a-z0-9_-]+$`] = value
		}
	}
	return object{
		"$schema":              draft,
		"title":                "hookmux settings",
		"description":          "config.json of hookmux: for you, for the system, or in a project's .hookmux folder.",
		"type":                 "object",
		"properties":           properties,
		"patternProperties":    patterns,
		"additionalProperties": false,
	}
}

// Patterns of texts that hookmux reads as numbers with a unit.
const (
	goSpan   = `([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)`
	spanText = `^\s*([0-9]+(\.[0-9]*)?w)?([0-9]+(\.[0-9]*)?d)?(` + goSpan + `)*\s*$`
	sizeText = `^\s*[0-9]+(\.[0-9]*)?\s*([TtGgMmKk]([Ii]?[Bb])?|[Bb])?\s*$`
)

// settingValue describes the value of one key.
func settingValue(k config.Key) object {
	value := object{"description": k.Doc}
	switch k.Type {
	case config.Choice:
		value["enum"] = k.Choices
	case config.Text:
		value["type"] = "string"
	case config.List:
		value["type"] = "array"
		value["items"] = object{"type": "string", "minLength": 1}
		if k.Items != nil {
			value["items"] = object{"enum": k.Items}
		}
	case config.Span:
		value["type"] = "string"
		value["pattern"] = spanText
		value["minLength"] = 1
		value["examples"] = []string{"30d", "12h", "90s"}
	case config.Size:
		value["type"] = []string{"string", "integer"}
		value["pattern"] = sizeText
		value["minimum"] = k.Min
		value["examples"] = []string{"1GiB", "500MB"}
	case config.Millis:
		value["type"] = "integer"
		value["minimum"] = k.Min
		value["maximum"] = (24 * time.Hour).Milliseconds()
	}
	value["default"] = defaultValue(k)
	return value
}

func defaultValue(k config.Key) any {
	switch v := k.Default.(type) {
	case time.Duration, int64:
		return config.Format(v)
	}
	return k.Default
}

// hooksFile returns a file of hooks.
func hooksFile() object {
	return object{
		"$schema":     draft,
		"title":       "hookmux hooks",
		"description": "hooks.json of hookmux: what runs at which event of which agent.",
		"type":        "object",
		"properties": object{
			"$schema": reference,
			"version": object{"const": 1, "description": "the form of this file"},
			"hooks":   object{"type": "array", "items": registration()},
		},
		"additionalProperties": false,
	}
}

// registration returns one hook, as [hook.Registration] reads it.
func registration() object {
	kinds := []string{hook.Any}
	for _, k := range event.Kinds() {
		kinds = append(kinds, string(k))
	}
	slices.Sort(kinds[1:])
	text := func(description string) object { return object{"type": "string", "description": description} }
	needed := func(description string) object {
		return object{"type": "string", "pattern": `\S`, "description": description}
	}
	choice := func(description string, words ...any) object {
		return object{"enum": words, "description": description}
	}
	hookType := needed("a kind of event, an agent's own event name, or * for all")
	hookType["examples"] = kinds
	return object{
		"type":     "object",
		"required": []string{"id", "agent", "hookType", "handler", "target"},
		"properties": object{
			"id": object{"type": "string", "pattern": `^\S+$`, "not": object{"pattern": `^guard\.`},
				"description": "a name of your choice, used once"},
			"agent":    needed("the name of an agent, or * for all; `hookmux status` lists them"),
			"hookType": hookType,
			"handler":  choice("what runs the target", "builtin", "command", "script", hook.HandlerTypeScript),
			"target":   needed("the command line, the file, or the name of the built-in"),
			"role": choice("guard may decide, observe only watches, advise may add context; by the kind of event if "+
				"left out",
				"", string(hook.Guard), string(hook.Observe), string(hook.Advise)),
			"priority": object{"type": "integer", "default": hook.DefaultPriority, "description": "lower runs earlier"},
			"enabled":  object{"type": "boolean", "default": true, "description": "whether it runs"},
			"timeout": object{
				"type": []string{"number", "string"}, "minimum": 0, "maximum": hook.MaxTimeout.Seconds(),
				"pattern": `^\+?(0|(` + goSpan + `)+)$`, "examples": []any{30, "30s", "2m"},
				"description": "seconds, or a text with a unit",
			},
			"match":  matchObject(text),
			"format": choice("the language the handler speaks", string(hook.Unified), string(hook.Claude)),
			"onFailure": choice("what a guard's failure means", "", string(hook.FailDeny), string(hook.FailAsk),
				string(hook.FailIgnore)),
			"locked": object{"type": "boolean", "description": "a project cannot replace it"},
			"log": object{
				"type":        "boolean",
				"description": "it only logs: what it would have done is recorded, and nothing changes for agents",
			},
			"skipAgents": object{"type": "array", "items": object{"type": "string"},
				"description": "agents this hook is not for although agent is *"},
		},
		"additionalProperties": false,
	}
}

// matchObject narrows a hook to some tool calls.
func matchObject(text func(string) object) object {
	return object{
		"type": "object",
		"properties": object{
			"tool":    text("kind of tool"),
			"name":    text("glob over the agent's own tool name"),
			"command": text("regular expression over a command"),
			"path":    text("glob over a path: relative to the working folder, absolute, or from ~/"),
		},
		"additionalProperties": false,
		"description":          "narrows the hook to some tool calls; every member must match",
	}
}
