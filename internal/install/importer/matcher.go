package importer

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

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

// alsoSeen lists for a kind what it holds in addition to the tools a matcher named,
// unless it named all of these.
var alsoSeen = []struct {
	kind  event.ToolKind
	needs []string
	what  string
}{
	{event.FileRead, []string{"Read"}, "every reading of a file"},
	{event.FileEdit, []string{"Edit", "Write"}, "every edit of a file, and patches that create or delete some"},
	{event.Search, []string{"Glob", "Grep"}, "every search and listing of files"},
	{event.Fetch, []string{"WebFetch", "WebSearch"}, "every fetch and search in the web"},
}

// whatIsWider returns what matches see that the matcher doesn't, "" for nothing.
func whatIsWider(matches []*hook.Match, names func(tool string) bool) string {
	var more []string
	for _, also := range alsoSeen {
		seen := slices.ContainsFunc(matches, func(m *hook.Match) bool {
			return m != nil &&
				m.Tool == string(also.kind) && m.Name == ""
		})
		if seen && slices.ContainsFunc(also.needs, func(tool string) bool { return !names(tool) }) {
			more = append(more, also.what)
		}
	}
	if more == nil {
		return ""
	}
	return "wider than on Claude Code: it sees " + strings.Join(more, "; ")
}

const otherNames = "other agents may name their tools differently; it matches by name only"

var (
	plainMatcher = lazyregexp.New(`^[A-Za-z0-9_\- ,|]*$`)
	// mcpPattern is the usual way to name a server's tools by expression.
	mcpPattern = lazyregexp.New(`^\^?mcp__[A-Za-z0-9_\-]*(\.\*|\.\+)?[A-Za-z0-9_\-]*(\.\*|\.\+)?\$?$`)
	// globPattern is an expression that a glob can say as well.
	globPattern = lazyregexp.New(`^\^?([A-Za-z0-9_\- ]|\.\*|\.\+)+\$?$`)
)

// translateMatcher turns a matcher of Claude Code into matches; a nil match is every tool. The
// warning says what isn't quite the same.
func translateMatcher(matcher string) (matches []*hook.Match, warning string, err error) {
	if strings.TrimSpace(matcher) == "" || matcher == "*" {
		return []*hook.Match{nil}, "", nil
	}
	if plainMatcher.MatchString(matcher) {
		var named []string
		for _, name := range strings.FieldsFunc(matcher, func(c rune) bool { return c == '|' || c == ',' }) {
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			m, known := matchName(name)
			if !known {
				warning = otherNames
			}
			named = append(named, name)
			matches = withMatch(matches, m...)
		}
		if matches == nil {
			return nil, "", errors.New("it names no tool")
		}
		return matches, joinMatches(warning, whatIsWider(matches,
			func(tool string) bool { return slices.Contains(named, tool) })), nil
	}

	re, err := regexp.Compile(matcher)
	if err != nil {
		return nil, "", errors.New("not an expression that can be read here")
	}
	// Alternatives one by one, so that a server's tools can appear alongside Claude's own.
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
		matches = withMatch(matches, found...)
	}
	return matches, joinMatches(warning, whatIsWider(matches, re.MatchString)), nil
}

func joinMatches(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
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
			matches = withMatch(matches, m...)
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

// globOf writes an expression of names and .* as a glob; like the expression it
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

// matchName returns what one tool of Claude Code's is elsewhere. Writing a file is
// two kinds: agents that edit by patches create files with the same tool.
func matchName(name string) ([]*hook.Match, bool) {
	if kind, ok := claudeTools[name]; ok {
		matches := []*hook.Match{{Tool: string(kind)}}
		if kind == event.FileWrite {
			matches = append(matches, &hook.Match{Tool: string(event.FileEdit)})
		}
		return matches, true
	}
	if strings.HasPrefix(name, "mcp__") {
		return []*hook.Match{{Tool: string(event.MCP), Name: name}}, true
	}
	return []*hook.Match{{Name: name}}, false
}

func withMatch(list []*hook.Match, more ...*hook.Match) []*hook.Match {
	for _, m := range more {
		if !slices.ContainsFunc(list, func(have *hook.Match) bool { return *have == *m }) {
			list = append(list, m)
		}
	}
	return list
}

var ruleForm = lazyregexp.New(`^([A-Za-z0-9_\-]+)(?:\((.*)\))?$`)

// translateIf turns a permission rule such as Bash(git push:*) into matches, of
// which one must hold.
func translateIf(rule string) ([]*hook.Match, error) {
	parts := ruleForm.FindStringSubmatch(strings.TrimSpace(rule))
	if parts == nil {
		return nil, errors.New("no rule")
	}
	matches, _ := matchName(parts[1])
	inner := parts[2]
	if inner == "" || inner == "*" {
		return matches, nil
	}
	for _, m := range matches {
		switch event.ToolKind(m.Tool) {
		case event.Shell:
			m.Command = commandExpression(inner)
		case event.FileRead, event.FileWrite, event.FileEdit:
			path := inner
			switch {
			case strings.HasPrefix(path, "//"):
				path = path[1:] // there, two slashes begin an absolute path
			case strings.HasPrefix(path, "/"), strings.HasPrefix(path, "~"):
				return nil, errors.New("a path that depends on which file the rule is in")
			}
			m.Path = strings.TrimPrefix(path, "./")
		default:
			return nil, errors.New("no counterpart")
		}
	}
	return matches, nil
}

// commandExpression writes "git push:*" and "echo *" as a regular expression.
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

// narrowMatches leaves of matches what one of the conditions also allows.
func narrowMatches(matches, conditions []*hook.Match) []*hook.Match {
	var kept []*hook.Match
	for _, m := range matches {
		for _, condition := range conditions {
			switch {
			case m == nil:
				kept = withMatch(kept, condition)
			case (m.Tool == condition.Tool || m.Tool == "" || condition.Tool == "") &&
				(m.Name == "" || condition.Name == "" || m.Name == condition.Name):
				both := *condition
				if both.Tool == "" {
					both.Tool = m.Tool
				}
				if both.Name == "" {
					both.Name = m.Name
				}
				kept = withMatch(kept, &both)
			}
		}
	}
	return kept
}
