package claude

// ignoredBecause explains why Claude Code doesn't use a rule.
var ignoredBecause = map[Reason]string{
	NotText:          "it is no text",
	EmptyRule:        "it is empty",
	OuterBlanks:      "it begins or ends with a blank",
	BadParentheses:   "its parentheses don't close, or something follows them",
	EmptyParentheses: "its parentheses are empty",
	UnknownTool:      "no tool has this name",
	LowerCaseTool:    "names of tools are written with a capital",
	EmptyPrefix:      "its prefix is empty",
	PathOnOtherTool:  "only Read and Edit take paths",
	PrefixOnPath:     ":* is for commands, not for paths",
	NeverMatches:     "no file can have such a path",
	OneSlash:         "a path with one slash in front is taken below the folder of the settings",
	NotADomain:       "WebFetch takes domain:HOST and nothing else",
	ArgumentsOfMCP:   "tools of MCP servers take nothing in parentheses",
	WideAllow:        "allow rules cannot be that wide",
	AskOnAgent:       "ask rules about agents and skills do nothing",
	NotTrusted:       "allow rules of a project you haven't trusted don't apply",
	FileDropped:      "Claude Code drops the whole file",
}

// IgnoredReason explains why Claude Code doesn't use the rule; "" if it does.
func (r *Rule) IgnoredReason() string { return ignoredBecause[r.Reason] }

// DescribeIgnored returns, in one line, what is wrong with a rule, and which form works.
func DescribeIgnored(r *Rule) string {
	line := string(r.List) + " " + r.Text + " would be ignored by Claude Code: " + r.IgnoredReason()
	if r.Instead != "" {
		line += "; write " + r.Instead
	}
	return line
}

// foundBecause explains how a closer look found a rule.
var foundBecause = map[StrictReason]string{
	RunsHidden:      "the command runs inside another one",
	OtherOptions:    "the same command with its options written otherwise",
	NamesFile:       "a program that Claude Code does not know names the file",
	MatchesFile:     "a pattern may name the file",
	GoesThrough:     "a folder that holds the file is gone through",
	NotReadable:     "what runs cannot be told before it runs",
	AskOnFiles:      "Claude Code asks about the file in its own tools only",
	SiblingFileTool: "the rule names another tool that does the same to files",
}

// Describe returns which rule decided, and what it would have missed.
func (d Decision) Describe() string {
	if d.Rule == nil {
		return ""
	}
	line := string(d.Rule.List) + " " + d.Rule.Text
	if d.Why != "" {
		line += " (strict; Claude Code misses it: " + foundBecause[d.Why] + ")"
	}
	return line
}
