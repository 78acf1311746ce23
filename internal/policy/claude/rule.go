package claude

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
)

// List names one of the three lists of permissions.
type List string

// The lists, in the order in which they win.
const (
	DenyList  List = "deny"
	AskList   List = "ask"
	AllowList List = "allow"
)

// Reason is why Claude Code doesn't use a rule.
type Reason string

// The reasons. Used is the empty one: the rule applies.
const (
	Used             Reason = ""
	NotText          Reason = "not-text"           // a number, null, a list …
	EmptyRule        Reason = "empty"              // "" or blanks
	OuterBlanks      Reason = "outer-blanks"       // blanks before or after the rule
	BadParentheses   Reason = "parentheses"        // unclosed, or text after the closing one
	EmptyParentheses Reason = "empty-parentheses"  // Bash()
	UnknownTool      Reason = "unknown-tool"       // no tool has this name
	LowerCaseTool    Reason = "lower-case-tool"    // bash for Bash
	EmptyPrefix      Reason = "empty-prefix"       // Bash(:*)
	PathOnOtherTool  Reason = "path-on-other-tool" // Write(path): only Edit and Read take paths
	PrefixOnPath     Reason = "prefix-on-path"     // Read(x:*)
	NeverMatches     Reason = "never-matches"      // a path that no file can have
	OneSlash         Reason = "one-slash"          // /home/… means a path below the settings' root
	NotADomain       Reason = "not-a-domain"       // WebFetch without domain:, or with more than a host
	ArgumentsOfMCP   Reason = "mcp-arguments"      // mcp__server__tool(x)
	WideAllow        Reason = "wide-allow"         // allow *, B*, mcp__*
	AskOnAgent       Reason = "ask-on-agent"       // ask Agent(x) and Skill(x) do nothing
	NotTrusted       Reason = "not-trusted"        // allow rules of a project that isn't trusted
	FileDropped      Reason = "file-dropped"       // a wrong type made Claude Code drop the whole file
)

// Rule is one rule as written in a settings file.
type Rule struct {
	Text   string
	List   List
	Source Source
	Tool   string // name before the parenthesis
	// Content is the text in the parentheses; HasContent distinguishes "Bash" from "Bash(x)".
	Content    string
	HasContent bool
	// Reason is Used, or why Claude Code ignores the rule.
	Reason Reason
	// Instead is a form of the rule that works, "" if there is none.
	Instead string
}

// IsUsed reports whether Claude Code uses the rule.
func (r *Rule) IsUsed() bool { return r.Reason == Used }

// isBare reports whether the rule is about the tool as a whole.
func (r *Rule) isBare() bool { return !r.HasContent }

var (
	fileTools = map[string]bool{"Read": true, "Edit": true, "Write": true, "NotebookEdit": true,
		"MultiEdit": true, "Glob": true, "Grep": true}
	knownTools = map[string]bool{"Bash": true, "BashOutput": true, "KillShell": true, "PowerShell": true,
		"Read": true, "Edit": true, "Write": true, "NotebookEdit": true, "MultiEdit": true, "NotebookRead": true,
		"Glob": true, "Grep": true, "LS": true, "WebFetch": true, "WebSearch": true, "Agent": true, "Task": true,
		"Skill": true, "SlashCommand": true, "TodoWrite": true, "ExitPlanMode": true, "EnterPlanMode": true,
		"AskUserQuestion": true, "ListMcpResources": true, "ReadMcpResource": true, "TaskCreate": true,
		"TaskUpdate": true, "TaskList": true, "TaskGet": true, "TaskOutput": true, "TaskStop": true, "LSP": true,
		"EnterWorktree": true, "ExitWorktree": true, "CronCreate": true, "CronDelete": true, "CronList": true,
		"SendMessage": true, "ToolSearch": true, "Monitor": true}
	blankBeforeParenthesis = lazyregexp.New(`^([A-Za-z]\w*)\s+(\(.*\))$`)
)

// ParseRule reads one rule. The result says whether Claude Code uses it.
func ParseRule(list List, source Source, text string) Rule {
	rule := Rule{Text: text, List: list, Source: source}
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return rule.ignored(EmptyRule, "")
	}
	if trimmed != text {
		return rule.ignored(OuterBlanks, workingForm(list, source, trimmed))
	}
	if m := blankBeforeParenthesis.FindStringSubmatch(text); m != nil {
		return rule.ignored(BadParentheses, workingForm(list, source, m[1]+m[2]))
	}
	open := unescapedIndex(text, '(')
	if open < 0 {
		if unescapedIndex(text, ')') >= 0 {
			return rule.ignored(BadParentheses, "")
		}
		rule.Tool = text
		return rule.checkName()
	}
	end := lastUnescapedIndex(text, ')')
	if open == 0 || end != len(text)-1 || end < open {
		return rule.ignored(BadParentheses, "")
	}
	rule.Tool, rule.Content, rule.HasContent = text[:open], unescapeContent(text[open+1:end]), true
	if strings.TrimSpace(rule.Content) == "" {
		return rule.ignored(EmptyParentheses, workingForm(list, source, rule.Tool))
	}
	if unbalanced(text) {
		return rule.ignored(BadParentheses, "")
	}
	return rule.checkName().checkContent()
}

// workingForm returns a rule's text if Claude Code would use it, else the form it would use.
func workingForm(list List, source Source, text string) string {
	rule := ParseRule(list, source, text)
	if rule.IsUsed() {
		return text
	}
	return rule.Instead
}

func (r Rule) ignored(why Reason, instead string) Rule {
	r.Reason, r.Instead = why, instead
	return r
}

// checkName checks the part before the parenthesis.
func (r Rule) checkName() Rule {
	name := r.Tool
	star := strings.Contains(name, "*")
	switch {
	case strings.HasPrefix(name, "mcp__"):
		if r.HasContent {
			return r.ignored(ArgumentsOfMCP, name)
		}
		if star && r.List == AllowList && !literalServer(name) {
			return r.ignored(WideAllow, "")
		}
		return r
	case star:
		if r.HasContent {
			return r.ignored(UnknownTool, "")
		}
		if r.List == AllowList {
			return r.ignored(WideAllow, "")
		}
		return r
	case knownTools[name]:
		return r
	}
	for known := range knownTools {
		if strings.EqualFold(known, name) {
			return r.ignored(LowerCaseTool, known+r.parentheses())
		}
	}
	return r.ignored(UnknownTool, "")
}

func (r Rule) parentheses() string {
	if !r.HasContent {
		return ""
	}
	return r.Text[unescapedIndex(r.Text, '('):]
}

// literalServer reports whether only the tool's part of mcp__server__tool has a star.
func literalServer(name string) bool {
	server, tool, found := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__")
	return found && server != "" && tool != "" && !strings.Contains(server, "*")
}

// checkContent checks the text in the parentheses.
func (r Rule) checkContent() Rule {
	if !r.IsUsed() {
		return r
	}
	content := r.Content
	if content == "*" && (r.List != AllowList || !fileTools[r.Tool]) {
		r.HasContent = false // Tool(*) is the whole tool
		r.Content = ""
		return r
	}
	switch r.Tool {
	case "Bash":
		if strings.TrimSpace(content) == ":*" {
			return r.ignored(EmptyPrefix, "Bash")
		}
		if trimmed := strings.TrimSpace(content); trimmed != content && (isExact(content) || content[0] <= ' ') {
			return r.ignored(NeverMatches, "Bash("+trimmed+")")
		}
	case "WebFetch":
		if host := workingDomain(content); "domain:"+host != content || host == "" {
			instead := ""
			if host != "" {
				instead = "WebFetch(domain:" + host + ")"
			}
			return r.ignored(NotADomain, instead)
		}
	case "Read", "Edit":
		return r.checkPath()
	case "Write", "NotebookEdit", "MultiEdit":
		if content == "*" {
			return r
		}
		return r.ignored(PathOnOtherTool, workingForm(r.List, r.Source, "Edit"+r.parentheses()))
	case "Glob", "Grep", "LS", "NotebookRead":
		if content == "*" {
			return r
		}
		return r.ignored(PathOnOtherTool, workingForm(r.List, r.Source, "Read"+r.parentheses()))
	case "Agent", "Task", "Skill":
		if r.List == AskList {
			return r.ignored(AskOnAgent, "")
		}
	}
	return r
}

// checkPath checks the pattern of Read(…) and Edit(…).
func (r Rule) checkPath() Rule {
	content := r.Content
	with := func(path string) string { return r.Tool + "(" + path + ")" }
	switch {
	case strings.HasSuffix(content, ":*"):
		return r.ignored(PrefixOnPath, with(strings.TrimSuffix(content, ":*")))
	case r.Source.Root != "" && strings.HasPrefix(content, r.Source.Root+"/"):
		return r.ignored(OneSlash, with("/"+content))
	case r.Source.Home != "" && (content == r.Source.Home || strings.HasPrefix(content, r.Source.Home+"/")):
		return r.ignored(OneSlash, with("/"+content))
	case content == "~" || content == "~/":
		return r.ignored(NeverMatches, with("~/**"))
	case content == "." || content == "./":
		return r.ignored(NeverMatches, with("**"))
	case content == "/" || content == "//":
		return r.ignored(NeverMatches, with(content+"**"))
	case strings.HasPrefix(content, "$HOME/"):
		return r.ignored(NeverMatches, with("~/"+strings.TrimPrefix(content, "$HOME/")))
	case strings.HasPrefix(content, "${HOME}/"):
		return r.ignored(NeverMatches, with("~/"+strings.TrimPrefix(content, "${HOME}/")))
	case strings.TrimLeft(content, " \t") != content:
		return r.ignored(NeverMatches, with(strings.TrimSpace(content)))
	case len(content) > 2 && content[0] == content[len(content)-1] && strings.ContainsRune(`"'`, rune(content[0])):
		return r.ignored(NeverMatches, with(content[1:len(content)-1]))
	case strings.HasPrefix(content, "../"), content == "..",
		strings.Contains(content, "/../"), strings.HasSuffix(content, "/.."):
		return r.ignored(NeverMatches, cleanedPattern(r.Tool, content))
	}
	return r
}

// cleanedPattern removes "a/../" from a pattern, if nothing but a name is dropped.
func cleanedPattern(tool, pattern string) string {
	prefix := ""
	for _, p := range []string{"./", "//", "~/", "/"} {
		if strings.HasPrefix(pattern, p) {
			prefix, pattern = p, pattern[len(p):]
			break
		}
	}
	var kept []string
	for _, part := range strings.Split(pattern, "/") {
		if part != ".." {
			kept = append(kept, part)
			continue
		}
		if len(kept) == 0 || strings.ContainsAny(kept[len(kept)-1], "*?[") {
			return ""
		}
		kept = kept[:len(kept)-1]
	}
	return tool + "(" + prefix + strings.Join(kept, "/") + ")"
}

func isEscaped(text string, at int) bool {
	n := 0
	for at--; at >= 0 && text[at] == '\\'; at-- {
		n++
	}
	return n%2 == 1
}

func unescapedIndex(text string, c byte) int {
	for i := range len(text) {
		if text[i] == c && !isEscaped(text, i) {
			return i
		}
	}
	return -1
}

func lastUnescapedIndex(text string, c byte) int {
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == c && !isEscaped(text, i) {
			return i
		}
	}
	return -1
}

// unbalanced reports whether the numbers of ( and ) differ.
func unbalanced(text string) bool {
	n := 0
	for i := range len(text) {
		switch {
		case isEscaped(text, i):
		case text[i] == '(':
			n++
		case text[i] == ')':
			n--
		}
	}
	return n != 0
}

var contentEscapes = strings.NewReplacer(`\\`, `\`, `\(`, `(`, `\)`, `)`)

// unescapeContent undoes the escapes that distinguish parentheses from the rule's own.
func unescapeContent(content string) string {
	if !strings.ContainsAny(content, "()") {
		return content
	}
	return contentEscapes.Replace(content)
}
