package state

import (
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/toolnames"
)

// maxCommand is how much of a command a label shows.
const maxCommand = 60

// Label describes a tool call briefly, in the same form for every agent: "Edit
// models/foo.go", "Bash: go test ./…". Paths below cwd are relative to it. It's one line
// and bounded, but its text is the agent's: escape it before showing it.
func Label(tool *event.Tool, cwd string) string {
	if tool == nil {
		return ""
	}
	return Fold(toolLabel(tool, cwd), maxLabel)
}

func toolLabel(tool *event.Tool, cwd string) string {
	switch tool.Kind {
	case event.Shell:
		return labelWith("Bash:", firstCommand(tool), "Bash")
	case event.FileRead:
		return labelWith("Read", fileLabel(tool.Paths(), cwd), "Read")
	case event.FileWrite:
		return labelWith("Write", fileLabel(tool.Paths(), cwd), "Write")
	case event.FileEdit:
		verb := "Edit"
		if toolnames.OnlyAdds(inputField(tool, toolnames.PatchKeys...)) {
			verb = "Write" // a patch that makes new files
		}
		return labelWith(verb, fileLabel(tool.Paths(), cwd), verb)
	case event.Search:
		return searchLabel(tool, cwd)
	case event.Fetch:
		if tool.URL != "" {
			return labelWith("Fetch", urlLabel(tool.URL), "Fetch")
		}
		if query := inputField(tool, "query", "search_term", "q", "prompt"); query != "" {
			return "Web search " + quoteText(query)
		}
		return tool.Name
	case event.Task:
		who := inputField(tool, "subagent_type", "agent_type", "agent_name", "agent", "description", "name")
		return labelWith("Subagent:", shortenText(who, maxCommand), tool.Name)
	case event.MCP:
		if tool.MCP != nil && tool.MCP.Server != "" {
			return tool.MCP.Server + ": " + tool.MCP.Tool
		}
	case event.Question:
		return labelWith("Question:", questionText(tool), "Question")
	case event.Plan:
		return "Plan"
	}
	return tool.Name
}

func labelWith(word, what, alone string) string {
	if what == "" {
		return alone
	}
	return word + " " + what
}

// firstCommand returns the first line of what is run.
func firstCommand(tool *event.Tool) string {
	if len(tool.Commands) == 0 {
		return ""
	}
	line := strings.TrimSpace(tool.Commands[0])
	if len(line) > 4096 {
		line = line[:4096]
	}
	cut := strings.IndexAny(line, "\r\n")
	if cut >= 0 {
		line = line[:cut]
	}
	line = Fold(line, 4*maxCommand)
	short := shortenText(line, maxCommand)
	if cut >= 0 && short == line {
		short += " …"
	}
	if more := len(tool.Commands) - 1; more > 0 {
		short += " (+" + strconv.Itoa(more) + ")"
	}
	return short
}

// shortenText is s in at most limit characters, with … where it was cut.
func shortenText(s string, limit int) string {
	s = Fold(s, limit+2) // Fold stops before a space that nothing would follow
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)
	return strings.TrimRight(string(runes[:limit-1]), " ") + "…"
}

func fileLabel(paths []string, cwd string) string {
	if len(paths) == 0 {
		return ""
	}
	first := relativePath(paths[0], cwd)
	if more := len(paths) - 1; more > 0 {
		first += " (+" + strconv.Itoa(more) + ")"
	}
	return first
}

// relativePath returns a path as it is shown: below cwd without it, else what fits.
func relativePath(p, cwd string) string {
	p = strings.TrimPrefix(strings.TrimSpace(p), "file://")
	if p == "" {
		return ""
	}
	if len(p) > 4096 {
		p = p[:4096]
	}
	clean := path.Clean(p)
	if cwd != "" {
		if clean == path.Clean(cwd) {
			return "."
		}
		if rest, ok := strings.CutPrefix(clean, strings.TrimSuffix(path.Clean(cwd), "/")+"/"); ok {
			clean = rest
		}
	}
	if len(clean) <= maxCommand {
		return clean
	}
	// The end of a path says more than its beginning.
	parts := strings.Split(strings.Trim(clean, "/"), "/")
	return "…/" + strings.Join(parts[max(0, len(parts)-3):], "/")
}

func searchLabel(tool *event.Tool, cwd string) string {
	name := strings.ToLower(tool.Name)
	pattern := inputField(tool, "pattern", "query", "regex", "glob_pattern", "glob", "patterns")
	where := fileLabel(tool.Paths(), cwd)
	switch {
	case strings.Contains(name, "list") || name == "ls":
		return labelWith("List", where, "List")
	case strings.Contains(name, "glob") || name == "find" || name == "find_files":
		return labelWith("Glob", shortenText(pattern, maxCommand), "Glob")
	case strings.Contains(name, "web"):
		return labelWith("Web search", quoteText(pattern), "Web search")
	case pattern != "":
		return "Grep " + quoteText(pattern)
	}
	return labelWith(tool.Name, where, tool.Name)
}

func quoteText(s string) string {
	if s == "" {
		return ""
	}
	return "'" + shortenText(s, maxCommand) + "'"
}

// urlLabel returns the address of a page, without what may be secret in it.
func urlLabel(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" {
		return shortenText(raw, maxCommand)
	}
	return shortenText(u.Host+strings.TrimSuffix(u.Path, "/"), maxCommand)
}

// inputField returns the first text the input has under one of the names.
func inputField(tool *event.Tool, names ...string) string {
	if !jsontext.IsObject(tool.Input) {
		return ""
	}
	for _, name := range names {
		v := jsontext.Get(tool.Input, name)
		if s, ok := jsontext.String(v); ok && strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// questionText returns the first question of a call that asks its person.
func questionText(tool *event.Tool) string {
	if text := inputField(tool, "question", "text", "prompt", "message"); text != "" {
		return shortenText(text, 2*maxCommand)
	}
	if !jsontext.IsObject(tool.Input) {
		return ""
	}
	text := ""
	_ = jsontext.Array(jsontext.Get(tool.Input, "questions"), func(one []byte) bool {
		for _, name := range []string{"question", "text", "prompt"} {
			if s, ok := jsontext.String(jsontext.Get(one, name)); ok && text == "" {
				text = s
			}
		}
		return text == ""
	})
	return shortenText(text, 2*maxCommand)
}
