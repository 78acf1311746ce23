package ruleimport

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/claude"
	"github.com/pelletier/go-toml/v2"
)

// policyTools are Gemini's names of tools that have a counterpart.
var policyTools = map[string]string{"run_shell_command": "Bash", "read_file": "Read", "write_file": "Write",
	"replace": "Edit", "glob": "Glob", "grep_search": "Grep", "search_file_content": "Grep", "web_fetch": "WebFetch",
	"google_web_search": "WebSearch"}

var policyDecisions = map[string]claude.List{"allow": claude.AllowList, "ask_user": claude.AskList,
	"deny": claude.DenyList}

// policyConditions narrow a rule in a way that has no counterpart.
var policyConditions = []string{"argsPattern", "commandRegex", "subagent", "toolAnnotations", "modes", "interactive",
	"allowRedirection"}

// PolicyFile reads a policy file of Gemini CLI. There the rule of the highest priority wins;
// rules whose priorities differ from "deny, then ask, then allow" are listed.
func PolicyFile(text string) (Result, error) {
	var result Result
	var file map[string]any
	if err := toml.Unmarshal([]byte(text), &file); err != nil {
		return result, fmt.Errorf("policy file: %w", err)
	}
	var rules []ranked
	entries, _ := file["rule"].([]any)
	for _, entry := range entries {
		table, ok := entry.(map[string]any)
		if !ok {
			result.skip(fmt.Sprint(entry), 0, NotUnderstood)
			continue
		}
		rules = append(rules, result.readPolicyRule(table)...)
	}
	for key := range file {
		if key != "rule" {
			result.skip(key, 0, UnknownKey)
		}
	}
	result.keepOrder(rules)
	return result, nil
}

func (r *Result) readPolicyRule(table map[string]any) []ranked {
	from := describeTable(table)
	decision, _ := table["decision"].(string)
	list, known := policyDecisions[decision]
	if !known {
		r.skip(from, 0, DecisionUnsaid)
		return nil
	}
	for _, name := range policyConditions {
		value, given := table[name]
		on, isBool := value.(bool)
		if given && (name != "allowRedirection" || !isBool || on) {
			r.skip(from, 0, Pattern)
			return nil
		}
	}
	why, _ := table["denyMessage"].(string)
	rank := policyPriority(table["priority"])
	var out []ranked
	add := func(tool, rule, text string) {
		item := Item{List: list, Rule: rule, Why: why, From: from}
		out = append(out, ranked{item: item, rank: rank, tool: tool, text: text})
	}
	tools := textList(table["toolName"])
	if server, ok := table["mcpName"].(string); ok {
		if len(tools) == 0 {
			tools = []string{"*"}
		}
		for _, tool := range tools {
			if server == "*" && list == claude.AllowList {
				r.skip(from, 0, WideAllow)
				return nil
			}
			rule := "mcp__" + server + "__" + tool
			add(rule, rule, "")
		}
		return out
	}
	if prefixes := textList(table["commandPrefix"]); len(prefixes) > 0 {
		for _, prefix := range prefixes {
			rule, ok := prefixRule(strings.Fields(prefix))
			if !ok {
				r.skip(from, 0, NotPlainWord)
				return nil
			}
			add("Bash", rule, strings.Join(strings.Fields(prefix), " "))
		}
		return out
	}
	for _, name := range tools {
		tool := policyTools[name]
		switch {
		case name == "*" && list != claude.AllowList:
			tool = "*"
		case name == "*":
			r.skip(from, 0, WideAllow)
			return nil
		case tool == "":
			r.skip(from, 0, NoSuchTool)
			return nil
		}
		add(tool, tool, "")
	}
	if len(out) == 0 {
		r.skip(from, 0, NotUnderstood)
	}
	return out
}

func policyPriority(value any) float64 {
	switch value := value.(type) {
	case int64:
		return float64(value)
	case float64:
		return value
	}
	return 0
}

// textList reads a text or a list of texts.
func textList(value any) []string {
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		var out []string
		for _, one := range value {
			if text, ok := one.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}

// describeTable returns a rule on one line, its keys in the usual order.
func describeTable(table map[string]any) string {
	var parts []string
	keys := []string{"toolName", "mcpName", "commandPrefix", "decision", "priority"}
	for _, key := range append(keys, policyConditions...) {
		if value, ok := table[key]; ok {
			parts = append(parts, fmt.Sprintf("%s = %v", key, value))
		}
	}
	return strings.Join(parts, ", ")
}
