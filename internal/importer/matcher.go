package importer

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// claudeTools are Claude Code's tools and what they do. Kinds are wider than
// names: a hook on Grep also sees another agent's file finder.
var claudeTools = map[string]event.ToolKind{
	"Bash":            event.Shell,
	"Read":            event.FileRead,
	"NotebookRead":    event.FileRead,
	"Write":           event.FileWrite,
	"Edit":            event.FileEdit,
	"MultiEdit":       event.FileEdit,
	"NotebookEdit":    event.FileEdit,
	"Glob":            event.Search,
	"Grep":            event.Search,
	"LS":              event.Search,
	"WebFetch":        event.Fetch,
	"WebSearch":       event.Fetch,
	"Task":            event.Task,
	"Agent":           event.Task,
	"AskUserQuestion": event.Question,
	"ExitPlanMode":    event.Plan,
}

const otherNames = "other agents may name their tools differently; it matches by name only"

var (
	plainMatcher = regexp.MustCompile(`^[A-Za-z0-9_\- ,|]*$`)
	// mcpPattern is the usual way to name a server's tools by expression.
	mcpPattern = regexp.MustCompile(`^\^?mcp__[A-Za-z0-9_\-]*(\.\*|\.\+)?[A-Za-z0-9_\-]*(\.\*|\.\+)?\$?$`)
	// globPattern is an expression that a glob can say as well.
	globPattern = regexp.MustCompile(`^\^?([A-Za-z0-9_\- ]|\.\*|\.\+)+\$?$`)
)

// translate turns a matcher of Claude Code into matches; a nil match is every
// tool. The warning says what is not quite the same.
func translate(matcher string) (matches []*hook.Match, warning string, err error) {
	if strings.TrimSpace(matcher) == "" || matcher == "*" {
		return []*hook.Match{nil}, "", nil
	}
	if plainMatcher.MatchString(matcher) {
		for _, name := range strings.FieldsFunc(matcher, func(c rune) bool { return c == '|' || c == ',' }) {
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			m, known := matchName(name)
			if !known {
				warning = otherNames
			}
			matches = with(matches, m)
		}
		if matches == nil {
			return nil, "", errors.New("it names no tool")
		}
		return matches, warning, nil
	}

	re, err := regexp.Compile(matcher)
	if err != nil {
		return nil, "", errors.New("not an expression that can be read here")
	}
	// Alternatives one by one, so that a server's tools can stand beside
	// Claude's own.
	alternatives := []string{matcher}
	if !strings.ContainsAny(matcher, "()[") {
		alternatives = strings.Split(matcher, "|")
	}
	if everyTool(re) {
		return []*hook.Match{nil}, "", nil
	}
	for _, alternative := range alternatives {
		found, note, err := translateExpression(alternative)
		if err != nil {
			return nil, "", err
		}
		if note != "" {
			warning = note
		}
		for _, m := range found {
			matches = with(matches, m)
		}
	}
	return matches, warning, nil
}

// everyTool reports whether an expression holds for whatever name there is.
func everyTool(re *regexp.Regexp) bool {
	for name := range claudeTools {
		if !re.MatchString(name) {
			return false
		}
	}
	return re.MatchString("mcp__a__b") && re.MatchString("zzz")
}

func translateExpression(expression string) ([]*hook.Match, string, error) {
	if mcpPattern.MatchString(expression) {
		return []*hook.Match{{Tool: string(event.MCP), Name: globOf(expression)}}, "", nil
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, "", errors.New("not an expression that can be read here")
	}
	var matches []*hook.Match
	names := make([]string, 0, len(claudeTools))
	for name := range claudeTools {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if re.MatchString(name) {
			m, _ := matchName(name)
			matches = with(matches, m)
		}
	}
	if strings.Contains(expression, "mcp__") {
		return nil, "", errors.New("an expression over MCP tools that a glob cannot say")
	}
	if matches != nil {
		return matches, "", nil
	}
	if globPattern.MatchString(expression) {
		return []*hook.Match{{Name: globOf(expression)}}, otherNames, nil
	}
	return nil, "", errors.New("it fits none of Claude Code's tools, and a glob cannot say it")
}

// globOf says an expression of names and .* as a glob; like the expression it
// is not bound to the ends unless it says so.
func globOf(expression string) string {
	glob := strings.NewReplacer(".*", "*", ".+", "?*").Replace(expression)
	if rest, ok := strings.CutPrefix(glob, "^"); ok {
		glob = rest
	} else if !strings.HasPrefix(glob, "mcp__") {
		glob = "*" + glob
	}
	if rest, ok := strings.CutSuffix(glob, "$"); ok {
		glob = rest
	} else {
		glob += "*"
	}
	for strings.Contains(glob, "**") {
		glob = strings.ReplaceAll(glob, "**", "*")
	}
	return glob
}

func matchName(name string) (*hook.Match, bool) {
	if kind, ok := claudeTools[name]; ok {
		return &hook.Match{Tool: string(kind)}, true
	}
	if strings.HasPrefix(name, "mcp__") {
		return &hook.Match{Tool: string(event.MCP), Name: name}, true
	}
	return &hook.Match{Name: name}, false
}

func with(list []*hook.Match, m *hook.Match) []*hook.Match {
	if slices.ContainsFunc(list, func(have *hook.Match) bool { return *have == *m }) {
		return list
	}
	return append(list, m)
}

var ruleForm = regexp.MustCompile(`^([A-Za-z0-9_\-]+)(?:\((.*)\))?$`)

// translateIf turns a permission rule such as Bash(git push:*) into a match.
func translateIf(rule string) (*hook.Match, error) {
	parts := ruleForm.FindStringSubmatch(strings.TrimSpace(rule))
	if parts == nil {
		return nil, errors.New("no rule")
	}
	m, _ := matchName(parts[1])
	inner := parts[2]
	switch {
	case inner == "" || inner == "*":
	case m.Tool == string(event.Shell):
		m.Command = commandExpression(inner)
	case m.Tool == string(event.FileRead) || m.Tool == string(event.FileWrite) || m.Tool == string(event.FileEdit):
		switch {
		case strings.HasPrefix(inner, "//"):
			inner = inner[1:] // there, two slashes begin an absolute path
		case strings.HasPrefix(inner, "/"), strings.HasPrefix(inner, "~"):
			return nil, errors.New("a path that depends on where the rule stands")
		}
		m.Path = strings.TrimPrefix(inner, "./")
	default:
		return nil, errors.New("no counterpart")
	}
	return m, nil
}

// commandExpression says "git push:*" and "echo *" as a regular expression.
func commandExpression(pattern string) string {
	if prefix, ok := strings.CutSuffix(pattern, ":*"); ok {
		return "^" + regexp.QuoteMeta(prefix) + `(\s|$)`
	}
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return "^" + strings.Join(parts, ".*") + "$"
}

// narrow leaves of matches what the condition also allows.
func narrow(matches []*hook.Match, condition *hook.Match) []*hook.Match {
	var kept []*hook.Match
	for _, m := range matches {
		switch {
		case m == nil:
			kept = append(kept, condition)
		case (m.Tool == condition.Tool || m.Tool == "" || condition.Tool == "") && (m.Name == "" || condition.Name == "" || m.Name == condition.Name):
			both := *condition
			if both.Tool == "" {
				both.Tool = m.Tool
			}
			if both.Name == "" {
				both.Name = m.Name
			}
			kept = append(kept, &both)
		}
	}
	return kept
}
