package ruleimport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/claude"
	"github.com/tailscale/hujson"
)

// permissionTools are OpenCode's permissions that have a counterpart. "edit" is every
// tool that writes files.
var permissionTools = map[string]string{"bash": "Bash", "edit": "Edit", "read": "Read", "webfetch": "WebFetch",
	"websearch": "WebSearch", "glob": "Glob", "grep": "Grep", "task": "Agent", "skill": "Skill"}

var permissionDecisions = map[string]claude.List{"allow": claude.AllowList, "ask": claude.AskList,
	"deny": claude.DenyList}

// PermissionBlock reads the "permission" member of an opencode.json. There the last rule that
// matches wins; rules that a weaker one after them overrides are listed.
func PermissionBlock(text []byte) (Result, error) {
	var result Result
	standard, err := hujson.Standardize(text)
	if err != nil {
		return result, fmt.Errorf("configuration: %w", err)
	}
	var config struct {
		Permission json.RawMessage `json:"permission"`
	}
	if err := json.Unmarshal(standard, &config); err != nil {
		return result, fmt.Errorf("configuration: %w", err)
	}
	if len(config.Permission) == 0 {
		return result, nil
	}
	var one string
	if json.Unmarshal(config.Permission, &one) == nil {
		result.skip("permission: "+one, 0, Default)
		return result, nil
	}
	var rules []ranked
	err = orderedMembers(config.Permission, func(name string, value json.RawMessage) {
		rules = append(rules, result.readPermission(name, value)...)
	})
	if err != nil {
		return result, fmt.Errorf("permission: %w", err)
	}
	for i := range rules {
		rules[i].rank = float64(i)
	}
	result.keepOrder(rules)
	return result, nil
}

func (r *Result) readPermission(name string, value json.RawMessage) []ranked {
	tool := permissionTools[name]
	from := fmt.Sprintf("%s: %s", name, value)
	if name == "*" {
		r.skip(from, 0, Default)
		return nil
	}
	if server, ok := strings.CutSuffix(name, "_*"); tool == "" && ok && !strings.Contains(server, "*") {
		tool = "mcp__" + server
	}
	if tool == "" {
		r.skip(from, 0, NoSuchTool)
		return nil
	}
	var one string
	if json.Unmarshal(value, &one) == nil {
		return r.wholePermission(tool, one, from)
	}
	var out []ranked
	err := orderedMembers(value, func(pattern string, decision json.RawMessage) {
		var word string
		_ = json.Unmarshal(decision, &word) // another type isn't a decision
		from := fmt.Sprintf("%s: %s: %s", name, pattern, decision)
		list, known := permissionDecisions[word]
		if !known {
			r.skip(from, 0, DecisionUnsaid)
			return
		}
		if pattern == "*" {
			out = append(out, r.wholePermission(tool, word, from)...)
			return
		}
		rule, text, reason := patternRule(tool, pattern)
		if reason != "" {
			r.skip(from, 0, reason)
			return
		}
		tail := pattern[strings.LastIndexByte(pattern, '*')+1:]
		item := Item{List: list, Rule: rule, From: from}
		out = append(out, ranked{item: item, tool: tool, text: text, tail: tail})
	})
	if err != nil {
		r.skip(from, 0, NotUnderstood)
	}
	return out
}

// wholePermission returns a permission without patterns.
func (r *Result) wholePermission(tool, decision, from string) []ranked {
	list, known := permissionDecisions[decision]
	if !known {
		r.skip(from, 0, DecisionUnsaid)
		return nil
	}
	rule := tool
	if tool == "Edit" {
		rule = "Edit(//**)" // bare Edit would leave writing alone
	}
	return []ranked{{item: Item{List: list, Rule: rule, From: from}, tool: tool}}
}

// patternRule translates a pattern in which * matches everything.
func patternRule(tool, pattern string) (rule, text string, reason Reason) {
	literal, _, _ := strings.Cut(pattern, "*")
	if strings.ContainsAny(pattern, "?[]{}\\!()") {
		return "", "", Pattern
	}
	switch tool {
	case "Bash":
		return "Bash(" + pattern + ")", strings.TrimSpace(literal), ""
	case "Agent", "Skill":
		if !strings.Contains(pattern, "*") {
			return tool + "(" + pattern + ")", pattern, ""
		}
	case "Edit", "Read":
		below := strings.TrimSuffix(strings.TrimSuffix(pattern, "*"), "*")
		switch {
		case strings.HasPrefix(pattern, "/"), strings.HasPrefix(pattern, "$"), strings.HasPrefix(pattern, ".."):
			return "", "", Pattern
		case !strings.Contains(pattern, "*"):
			return tool + "(" + rootedPath(pattern) + ")", pattern, ""
		case strings.HasSuffix(below, "/") && !strings.Contains(below, "*"):
			return tool + "(" + rootedPath(below) + "**)", below, ""
		case strings.HasPrefix(pattern, "*.") && strings.Count(pattern, "*") == 1 && !strings.Contains(pattern, "/"):
			return tool + "(" + pattern + ")", "", ""
		}
	}
	return "", "", Pattern
}

func rootedPath(path string) string {
	if strings.HasPrefix(path, "~/") {
		return path
	}
	return "/" + strings.TrimPrefix(path, "./")
}

// orderedMembers visits the members of a JSON object as they are written.
func orderedMembers(object json.RawMessage, visit func(name string, value json.RawMessage)) error {
	decoder := json.NewDecoder(bytes.NewReader(object))
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('{') {
		return fmt.Errorf("expected an object, got %v", token)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		text, _ := name.(string)
		visit(text, value)
	}
	return nil
}
