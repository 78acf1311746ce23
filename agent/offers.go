package agent

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// This file says what agents offer when they ask for permission.

// OfferInWords describes what a permanent permission that an agent offers would do. An offer
// that isn't fully understood is shown unchanged, so that nothing of it is hidden.
func OfferInWords(offer json.RawMessage) string {
	var patterns []string
	if json.Unmarshal(offer, &patterns) == nil && len(patterns) > 0 {
		return joinQuoted(patterns)
	}
	var pattern string
	if json.Unmarshal(offer, &pattern) == nil && pattern != "" {
		return strconv.Quote(pattern)
	}
	var update permissionUpdate
	dec := json.NewDecoder(bytes.NewReader(offer))
	dec.DisallowUnknownFields()
	if dec.Decode(&update) == nil && update.Type != "" {
		if _, err := dec.Token(); err == io.EOF {
			if words := update.describe(); words != "" {
				return words
			}
		}
	}
	var option struct{ OptionID, Name, Kind string }
	if json.Unmarshal(offer, &option) == nil && option.OptionID != "" && option.Name != "" {
		return strconv.Quote(option.Name) // an option of the Agent Client Protocol, in the agent's words
	}
	return string(offer)
}

// permissionUpdate is a change of permissions in the form of Claude Code, which Qwen
// took over.
type permissionUpdate struct {
	Type        string           `json:"type"`
	Rules       []permissionRule `json:"rules"`
	Behavior    string           `json:"behavior"`
	Directories []string         `json:"directories"`
	Mode        string           `json:"mode"`
	Destination string           `json:"destination"`
}

type permissionRule struct {
	ToolName    string `json:"toolName"`
	RuleContent string `json:"ruleContent"`
}

// destinationWords say where a change applies.
var destinationWords = map[string]string{
	"session": "in this session", "localSettings": "in this project, for you",
	"projectSettings": "in this project, for everybody", "userSettings": "in all your projects",
}

// describe gives "" for an update that has other members than its type means.
func (u *permissionUpdate) describe() string {
	where, known := destinationWords[u.Destination]
	if !known {
		return ""
	}
	onlyRules := u.Directories == nil && u.Mode == ""
	switch {
	case u.Type == "addRules" && onlyRules && len(u.Rules) > 0 && isBehavior(u.Behavior):
		rules := make([]string, len(u.Rules))
		for i, r := range u.Rules {
			if r.ToolName == "" {
				return ""
			}
			rules[i] = r.ToolName
			if r.RuleContent != "" {
				rules[i] += "(" + r.RuleContent + ")"
			}
		}
		return u.Behavior + " " + strings.Join(rules, " and ") + " " + where
	case u.Type == "addDirectories" && len(u.Directories) > 0 && u.Rules == nil && u.Behavior == "" && u.Mode == "":
		return "let it work in " + joinQuoted(u.Directories) + " " + where
	case u.Type == "setMode" && u.Mode != "" && u.Rules == nil && u.Behavior == "" && u.Directories == nil:
		return "switch to the mode " + u.Mode + " " + where
	}
	return ""
}

func isBehavior(word string) bool { return word == "allow" || word == "deny" || word == "ask" }

func joinQuoted(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = strconv.Quote(s)
	}
	return strings.Join(quoted, ", ")
}
