package schema

import (
	"reflect"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/dialect"
	"github.com/hookmux/hookmux/event"
)

// agentFile returns a description of an agent, made from the types it is read into.
func agentFile() object {
	root := typeSchema(reflect.TypeFor[agent.Agent](), map[reflect.Type]bool{})
	properties := root["properties"].(object)
	properties["name"] = object{"type": "string", "pattern": "^[a-z][a-z0-9-]*$",
		"description": "small letters, digits and dashes; the name of a known agent adds to that one"}
	properties["dialect"] = object{"enum": wordsOf(dialect.Names()),
		"description": "the agent whose answers this one understands"}
	properties["tried"] = object{"type": []string{"string", "number"},
		"description": "the version the claims were tried on"}
	root["$schema"] = draft
	root["title"] = "hookmux agent"
	root["description"] = "A file in ~/.config/hookmux/agents: an agent that hookmux does not know, or what is " +
		"different about one it knows. `hookmux agents check FILE` says what a schema cannot."
	root["required"] = []string{"name"}
	return root
}

// wordSets returns the types that have a fixed set of values.
func wordSets() map[reflect.Type][]any {
	return map[reflect.Type][]any{
		reflect.TypeFor[event.Kind]():     wordsOf(event.Kinds()),
		reflect.TypeFor[event.ToolKind](): wordsOf(event.ToolKinds()),
		reflect.TypeFor[agent.Install]():  {agent.InstallDefault, agent.InstallOptional, agent.InstallNever},
		reflect.TypeFor[agent.Signal]():   wordsOf(agent.Signals()),
		reflect.TypeFor[agent.Missing]():  {agent.MissingOpen, agent.MissingClosed, agent.MissingStuck},
		reflect.TypeFor[agent.PickupTime](): {
			agent.PickupNow, agent.PickupSession, agent.PickupStart,
		},
		reflect.TypeFor[agent.WaitKind]():   {agent.WaitFull, agent.WaitDeadline, agent.WaitBrief},
		reflect.TypeFor[agent.PromptSign](): {agent.PromptState, agent.PromptEvent, agent.PromptHidden},
	}
}

func wordsOf[T ~string](words []T) []any {
	list := make([]any, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return list
}

// typeSchema returns what a value of a type looks like in a file. inside are the
// types around it.
func typeSchema(t reflect.Type, inside map[reflect.Type]bool) object {
	if words, ok := wordSets()[t]; ok {
		return object{"enum": words}
	}
	if known, ok := rulesTypes(t, inside); ok {
		return known
	}
	switch t {
	case reflect.TypeFor[agent.Duration]():
		return object{"type": "string", "pattern": "^(0|(" + goSpan + ")+)$",
			"examples": []string{"30s", "1.5s", "10m"}}
	case reflect.TypeFor[agent.Capability]():
		whole := structSchema(t, inside)
		whole["required"] = []string{"proof"}
		proof := object{"type": "string", "pattern": "^(tested|documented|own): ",
			"description": "how it is known: tested: a run of the real agent, documented: its vendor's docs, own: your own"}
		whole["properties"].(object)["proof"] = proof
		return object{"oneOf": []object{proof, whole}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeSchema(t.Elem(), inside)
	case reflect.Slice:
		return object{"type": "array", "items": typeSchema(t.Elem(), inside)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": typeSchema(t.Elem(), inside)}
	case reflect.Struct:
		return structSchema(t, inside)
	case reflect.String:
		return object{"type": []string{"string", "number", "boolean"}} // YAML reads 1.0 as a number
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int:
		return object{"type": "integer"}
	}
	return object{} // anything
}

func structSchema(t reflect.Type, inside map[reflect.Type]bool) object {
	if inside[t] {
		return object{"type": "object"}
	}
	inside[t] = true
	defer delete(inside, t)
	properties := object{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if option == "inline" {
			inner := structSchema(f.Type, inside)["properties"].(object)
			for key, value := range inner {
				properties[key] = value
			}
			continue
		}
		if name != "" && name != "-" {
			properties[name] = typeSchema(f.Type, inside)
		}
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}
