package claude

import (
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Place is where a call happens. Nothing in it is looked up by this package.
type Place struct {
	Home    string
	Project string // the folder Claude Code was started in
	Cwd     string // the working folder of the call; Project if empty
	Trusted bool   // whether the user trusted the project
	// Folders are further working folders (--add-dir, permissions.additionalDirectories).
	Folders []string
	// Resolve follows symbolic links: it returns the path that a path really is, the same path if
	// there is no link. Nil means that there are none.
	Resolve func(path string) string
}

func (p Place) cwd() string {
	if p.Cwd != "" {
		return p.Cwd
	}
	return p.Project
}

// absolute makes a path of a call absolute and clean.
func (p Place) absolute(name string) string {
	switch {
	case name == "~":
		return path.Clean(p.Home)
	case strings.HasPrefix(name, "~/"):
		return path.Join(p.Home, name[2:])
	case strings.HasPrefix(name, "/"):
		return path.Clean(name)
	}
	return path.Join(p.cwd(), name)
}

// spellings returns the path and, if links lead elsewhere, the real path.
func (p Place) spellings(absolute string) []string {
	if p.Resolve == nil {
		return []string{absolute}
	}
	if really := p.Resolve(absolute); really != "" && really != absolute {
		return []string{absolute, really}
	}
	return []string{absolute}
}

// isWorking reports whether a path is in a working folder.
func (p Place) isWorking(absolute string) bool {
	if p.Project != "" && paths.IsWithin(p.Project, absolute) {
		return true
	}
	for _, folder := range p.Folders {
		if paths.IsWithin(folder, absolute) {
			return true
		}
	}
	return false
}

// allInWorkingFolder reports whether every spelling is in a working folder.
func (p Place) allInWorkingFolder(spellings []string) bool {
	for _, name := range spellings {
		if !p.isWorking(name) {
			return false
		}
	}
	return true
}

// rootedPattern splits a rule's path into the folder it starts from and a gitignore line.
func rootedPattern(rule *Rule, place Place) (root, pattern string) {
	content := rule.Content
	switch {
	case strings.HasPrefix(content, "//"):
		root, pattern = "/", content[1:]
	case strings.HasPrefix(content, "~/"):
		root, pattern = place.Home, content[1:]
	case strings.HasPrefix(content, "/"):
		root, pattern = rule.Source.Root, content
	default:
		root, pattern = place.cwd(), strings.TrimPrefix(content, "./")
	}
	// "src/**" is also src itself. Deny and ask match it at any depth, allow only at the root.
	if shorter := strings.TrimSuffix(pattern, "/**"); shorter != "" && shorter != pattern {
		pattern = shorter
		if rule.List == AllowList && !strings.Contains(pattern, "/") {
			pattern = "/" + pattern
		}
	}
	return root, pattern
}

// pathRule finds the rule of a tool (Read or Edit) that covers a path. Rules that
// start from the same folder are one gitignore list: a later ! takes back.
func pathRule(rules []*Rule, tool, absolute string, place Place) *Rule {
	type rooted struct {
		list  ignoreList
		rules []*Rule
	}
	byRoot := map[string]*rooted{}
	var order []string
	for _, rule := range rules {
		if rule.Tool != tool || !rule.HasContent || rule.List == AllowList && rule.Content == "*" {
			continue
		}
		root, pattern := rootedPattern(rule, place)
		if byRoot[root] == nil {
			byRoot[root] = &rooted{}
			order = append(order, root)
		}
		byRoot[root].list = append(byRoot[root].list, compileIgnore(pattern))
		byRoot[root].rules = append(byRoot[root].rules, rule)
	}
	for _, root := range order {
		relative, below := relativeTo(root, absolute)
		if !below {
			continue
		}
		if i := byRoot[root].list.matches(relative); i >= 0 {
			return byRoot[root].rules[i]
		}
	}
	return nil
}

func relativeTo(root, absolute string) (string, bool) {
	if root == "/" {
		return strings.TrimPrefix(absolute, "/"), absolute != "/"
	}
	if !paths.IsWithin(root, absolute) || absolute == root {
		return "", false
	}
	return absolute[len(strings.TrimSuffix(root, "/"))+1:], true
}

// anyPathRule finds a rule that covers one of the spellings.
func anyPathRule(rules []*Rule, tool string, spellings []string, place Place) *Rule {
	for _, name := range spellings {
		if rule := pathRule(rules, tool, name, place); rule != nil {
			return rule
		}
	}
	return nil
}

// allPathRule finds a rule only if every spelling is covered by one.
func allPathRule(rules []*Rule, tool string, spellings []string, place Place) *Rule {
	var first *Rule
	for _, name := range spellings {
		rule := pathRule(rules, tool, name, place)
		if rule == nil {
			return nil
		}
		if first == nil {
			first = rule
		}
	}
	return first
}

var sensitiveFolders = map[string]bool{".git": true, ".vscode": true, ".idea": true, ".husky": true, ".claude": true,
	".devcontainer": true}

var sensitiveFiles = map[string]bool{".gitconfig": true, ".gitmodules": true, ".bashrc": true, ".bash_profile": true,
	".zshrc": true, ".zprofile": true, ".profile": true, ".ripgreprc": true, ".mcp.json": true, ".claude.json": true,
	".envrc": true, ".npmrc": true, ".yarnrc": true, ".yarnrc.yml": true, ".pre-commit-config.yaml": true}

// isSensitive reports whether Claude Code asks before it writes a path, whatever an allow rule
// says.
func isSensitive(absolute string) bool {
	names := strings.Split(strings.ToLower(absolute), "/")
	for _, name := range names[:len(names)-1] {
		if sensitiveFolders[name] {
			return true
		}
	}
	return sensitiveFiles[names[len(names)-1]]
}

func anySensitive(spellings []string) bool {
	for _, name := range spellings {
		if isSensitive(name) {
			return true
		}
	}
	return false
}
