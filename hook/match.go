package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookmux/hookmux/event"
)

// matcher is a compiled [Match].
type matcher struct {
	set     bool
	tool    event.ToolKind
	name    string
	command *regexp.Regexp
	path    string
	home    string // what ~ means
}

func compileMatch(m *Match) (matcher, error) {
	if m == nil || *m == (Match{}) {
		return matcher{}, nil
	}
	if errs := m.checkMatch(); len(errs) > 0 {
		return matcher{}, errs[0]
	}
	c := matcher{set: true, tool: event.ToolKind(m.Tool), name: flattenSlashes(m.Name), path: m.Path}
	if m.Command != "" {
		c.command = regexp.MustCompile(m.Command)
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		c.home = filepath.Clean(home)
		if rest, ok := strings.CutPrefix(c.path, "~/"); ok {
			c.path = literalGlob(c.home) + "/" + rest
		}
	}
	return c, nil
}

// checkMatch says what cannot be matched with. An invalid glob would match
// nothing, and a guard would be off without anybody noticing.
func (m *Match) checkMatch() []error {
	if m == nil {
		return nil
	}
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if m.Tool != "" && !event.ToolKind(m.Tool).Known() {
		bad("match.tool %q is not a tool kind (shell, file_read, file_write, file_edit, search, fetch, task, mcp, "+
			"question, plan, other)", m.Tool)
	}
	if !doublestar.ValidatePattern(flattenSlashes(m.Name)) {
		bad("match.name %q is not a valid glob", m.Name)
	}
	if !doublestar.ValidatePattern(m.Path) {
		bad("match.path %q is not a valid glob", m.Path)
	}
	if _, err := regexp.Compile(m.Command); err != nil {
		bad("match.command: %v", err)
	}
	return errs
}

// flattenSlashes takes a slash its meaning: a tool's name is no path, and "github*"
// should find "github/create_issue".
func flattenSlashes(name string) string { return strings.ReplaceAll(name, "/", "\x1f") }

// literalGlob returns a path as a glob that matches itself.
func literalGlob(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); i++ {
		if strings.IndexByte(`\*?[]{}`, path[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// holdsFor reports whether every set field fits. A payload that was cut or could
// not be read may hide what the matcher looks for, so such a call fits: a
// guard sees it rather than misses it.
func (m *matcher) holdsFor(ev *event.Event) bool {
	if !m.set {
		return true
	}
	hidden := ev.Truncated || ev.Malformed != ""
	t := ev.Tool
	if t == nil || t.Name == "" && hidden {
		return hidden && ev.Kind.Guarded()
	}
	if m.tool != "" && m.tool != t.Kind {
		return false
	}
	if m.name != "" {
		if !m.nameFits(t) {
			return false
		}
	}
	if hidden && (m.command != nil || m.path != "") {
		return true
	}
	if m.command != nil && !anyString(t.Commands, m.command.MatchString) {
		return false
	}
	if m.path != "" && !anyString(t.Paths(), func(p string) bool {
		return m.pathFits(p, ev.Folder()) || anyString(ev.Projects,
			func(root string) bool { return m.relativeFits(p, ev.Folder(), root) })
	}) {
		return false
	}
	return true
}

// nameFits tries the agent's own name of the tool and, for a tool of an MCP
// server, the name it would have in Claude Code: one spelling for all agents.
func (m *matcher) nameFits(t *event.Tool) bool {
	if ok, err := doublestar.Match(m.name, flattenSlashes(t.Name)); err == nil && ok {
		return true
	}
	if t.MCP == nil {
		return false
	}
	ok, err := doublestar.Match(m.name, flattenSlashes("mcp__"+t.MCP.Server+"__"+t.MCP.Tool))
	return err == nil && ok
}

// relativeFits tries the path relative to a project: "secrets/**" means that
// folder of the project wherever in it the agent happens to be.
func (m *matcher) relativeFits(path, cwd, root string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	rel, err := filepath.Rel(root, filepath.Clean(path))
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return false
	}
	ok, _ := doublestar.Match(m.path, rel)
	return ok
}

func anyString(list []string, fits func(string) bool) bool {
	for _, s := range list {
		if fits(s) {
			return true
		}
	}
	return false
}

// pathFits tries the path as it was named, made absolute, and relative to the
// cwd, so that "src/**" and "/etc/**" both do what they say and ".." steps
// cannot dodge either.
func (m *matcher) pathFits(path, cwd string) bool {
	absolute := path
	if rest, fromHome := strings.CutPrefix(path, "~/"); fromHome && m.home != "" {
		absolute = filepath.Join(m.home, rest)
	} else if !filepath.IsAbs(path) {
		absolute = filepath.Join(cwd, path)
	}
	absolute = filepath.Clean(absolute)
	if m.globsFit(path) || m.globsFit(absolute) {
		return true
	}
	if cwd != "" {
		if rel, err := filepath.Rel(cwd, absolute); err == nil && m.globsFit(rel) {
			return true
		}
	}
	// A glob without a slash means the file's name, as in .gitignore.
	return !strings.Contains(m.path, "/") && m.globsFit(filepath.Base(absolute))
}

func (m *matcher) globsFit(path string) bool {
	ok, _ := doublestar.Match(m.path, path)
	return ok
}
