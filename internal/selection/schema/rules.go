package schema

import (
	"reflect"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/rules"
)

// rulesFile returns a file of rules, made from the types it is read into.
func rulesFile() object {
	rule := typeSchema(reflect.TypeFor[rules.Rule](), map[reflect.Type]bool{})
	rule["required"] = []string{"id", "why"}
	properties := rule["properties"].(object)
	delete(properties, "check") // of built-in rules alone
	describe := func(name, description string) {
		properties[name].(object)["description"] = description
	}
	properties["id"] = object{"type": "string", "pattern": `^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$`}
	describe("id", "small letters, digits, dots and dashes; used once")
	describe("why", "what the agent and you read")
	describe("when", "an expression over all facts, beside match or in its place")
	describe("decide", "deny beats ask beats warn beats allow, regardless of order")
	describe("mode", "off, log (only records), ask (asks where it would refuse), block (the default)")
	describe("agents", "only these agents")
	describe("projects", "only in these folders")
	describe("claude", "permission rules in Claude Code's words, in place of match, when and decide")
	properties["onUnknown"] = object{"enum": []string{"deny", "ask", "ignore"},
		"description": "where a fact that the rule needs is not known"}
	properties["expires"] = object{"type": "string", "pattern": `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`,
		"description": "the last day on which the rule applies"}
	match := properties["match"].(object)
	match["description"] = "narrows the rule to some calls; every member must match"
	for name, words := range rules.Words() {
		words = append(words[:len(words):len(words)], negated(words)...)
		match["properties"].(object)[name] = oneOrMore(object{"anyOf": []object{{"enum": words}, {"pattern": `[*?\[{]`}}})
	}
	return object{
		"$schema": draft,
		"title":   "hookmux rules",
		"description": "A file of rules of hookmux: what agents may do. `hookmux rules check` says what a schema " +
			"cannot, and runs the examples.",
		"type":     "object",
		"required": []string{"version"},
		"properties": object{
			"version": object{"const": 1, "description": "the form of this file"},
			"decide":  object{"enum": wordsOf(rules.Verdicts()), "description": "of rules that do not say it"},
			"onUnknown": object{"enum": []string{"deny", "ask", "ignore"},
				"description": "of rules that do not say it"},
			"rules": object{"type": "array", "items": rule},
		},
		"additionalProperties": false,
	}
}

func negated(words []string) (list []string) {
	for _, w := range words {
		list = append(list, "!"+w)
	}
	return list
}

// oneOrMore returns one text or a list of such.
func oneOrMore(text object) object {
	return object{"oneOf": []object{text, {"type": "array", "items": text}}}
}

// rulesTypes returns the types of rules that are written in more than one way.
func rulesTypes(t reflect.Type, inside map[reflect.Type]bool) (object, bool) {
	switch t {
	case reflect.TypeFor[rules.Patterns]():
		return oneOrMore(object{"type": []string{"string", "number", "boolean"}}), true
	case reflect.TypeFor[rules.Verdict]():
		return object{"enum": wordsOf(rules.Verdicts())}, true
	case reflect.TypeFor[rules.Mode]():
		return object{"enum": wordsOf(rules.Modes())}, true
	case reflect.TypeFor[rules.Example]():
		return object{"oneOf": []object{
			{"type": "string", "description": "a command"}, structSchema(t, inside),
		}}, true
	}
	return nil, false
}

// factsForm returns the form of the facts that rules are written about, made from the
// type that expressions see.
func factsForm() object {
	root := jsonSchema(reflect.TypeFor[facts.Facts]())
	root["$schema"] = draft
	root["title"] = "hookmux facts"
	root["description"] = "What hookmux knows about a tool call: what `when` of a rule sees, and `hookmux why " +
		"--json` prints as facts."
	return root
}

// jsonSchema returns what a value of a type looks like as JSON.
func jsonSchema(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Slice:
		return object{"type": "array", "items": jsonSchema(t.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Struct:
		properties := object{}
		var required []string
		for i := range t.NumField() {
			name, option, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if name == "" || name == "-" {
				continue
			}
			properties[name] = jsonSchema(t.Field(i).Type)
			if option == "" {
				required = append(required, name)
			}
		}
		out := object{"type": "object", "properties": properties}
		if required != nil {
			out["required"] = required
		}
		return out
	}
	return object{"type": "string"}
}
