// Package ownfiles is the guard that keeps agents from changing hookmux's own
// files, or any agent's hook configuration, and from deciding in a person's place.
package ownfiles

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/shell"
)

// Rules are the rules of this guard.
var Rules = []inspect.RuleInfo{
	{ID: "own-files.write", What: "a file tool or a command changes hookmux's files or an agent's hook configuration"},
	{ID: "own-files.delete", What: "the same files are deleted or moved away"},
	{ID: "own-files.hub", What: "the hub is stopped or killed"},
	{ID: "own-files.control", What: "hookmux is told to switch off, trust, install or change its settings"},
	{ID: "own-files.environment", What: "hookmux is switched off, or over to other settings, through its environment"},
	{ID: "own-files.hooks-off", What: "an agent is started or set so that it runs no hooks"},
	{ID: "own-files.unreadable", What: "a command that cannot be read in full and names these files"},
}

// hookConfigs are the hook configurations of the agents, as endings of paths:
// most exist in the home directory and in projects alike. An ending with "/"
// means everything below. The catalogue adds more through inspect.Options.OwnPaths.
var hookConfigs = []string{
	".hookmux/", ".config/hookmux/", ".local/state/hookmux/", ".local/share/hookmux/", "/etc/hookmux/", "library/application support/hookmux/", ".agents/plugins/hookmux/",
	".claude/settings.json", ".claude/settings.local.json", "/etc/claude-code/managed-settings.json",
	".codex/hooks.json", ".codex/config.toml", "/etc/codex/config.toml",
	".gemini/settings.json", ".gemini/hooks.json", ".gemini/trusted_hooks.json", ".gemini/config/hooks.json", ".gemini/antigravity-cli/hooks.json",
	".grok/hooks/", ".grok/config.toml", ".grok/settings.json", ".cursor/hooks.json", "/etc/cursor/hooks.json", "support/cursor/hooks.json",
	".copilot/hooks/", ".copilot/config.json", ".github/hooks/", ".kiro/hooks/", ".cline/hooks/", ".clinerules/hooks/",
	".factory/hooks.json", ".factory/hooks/", ".factory/settings.json", ".qwen/settings.json", ".qoder/settings.json", ".qoder/settings.local.json",
	".codebuddy/settings.json", ".codebuddy/settings.local.json", ".iflow/settings.json", ".augment/settings.json", ".trae/hooks.json",
	".windsurf/hooks.json", ".codeium/hooks.json", ".codeium/windsurf/hooks.json", "/etc/windsurf/hooks.json", "support/windsurf/hooks.json", ".devin/hooks.v1.json", ".devin/config.json", ".config/devin/config.json",
	".openhands/hooks.json", ".junie/config.json", ".continue/settings.json", ".commandcode/settings.json", ".rovodev/config.yml",
	".config/amp/settings.json", ".amp/settings.json", ".amp/plugins/", ".config/amp/plugins/", ".config/goose/settings.json", ".hermes/shell-hooks-allowlist.json", ".hermes/hooks/", ".hermes/config.yaml",
	".vibe/hooks.toml", ".kimi/config.toml", ".kimi-code/config.toml", ".config/crush/crush.json", ".crush.json",
	".config/opencode/plugin/", ".config/opencode/plugins/", ".config/opencode/opencode.json", ".config/opencode/opencode.jsonc", ".opencode/plugin/", ".opencode/plugins/",
	".config/kilo/plugin/", ".config/kilo/plugins/", ".kilo/plugin/", ".kilo/plugins/", ".pi/agent/extensions/", ".pi/extensions/",
}

// ownRoots are directories whose loss takes a hook configuration with it.
var ownRoots = map[string]bool{
	".hookmux": true, ".claude": true, ".codex": true, ".gemini": true, ".grok": true, ".cursor": true, ".copilot": true, ".kiro": true, ".cline": true,
	".factory": true, ".qwen": true, ".qoder": true, ".codebuddy": true, ".iflow": true, ".augment": true, ".trae": true, ".windsurf": true, ".codeium": true,
	".openhands": true, ".junie": true, ".continue": true, ".commandcode": true, ".rovodev": true, ".amp": true, ".hermes": true, ".vibe": true, ".kimi": true,
	".kimi-code": true, ".opencode": true, ".kilo": true, ".pi": true, ".devin": true, "hookmux": true,
}

// scope is what the rules of one command work with.
type scope struct{ *inspect.Scope }

// Checker checks calls against the rules of this package.
type Checker struct {
	pre   *inspect.Needles
	links *inspect.Needles // set when links are followed: what must be parsed because of them

	exact []string // absolute files and directories from the options
	files []string
	dirs  []string
	hub   string // the hub's process number, "" when not known
}

// MustParse reports whether a command names something of ours, or writes where
// a link may lead to it.
func (t *Checker) MustParse(command string) bool {
	return t.pre.MustParse(command) || t.links != nil && (t.links.Match(command) || hasFileRedirect(command))
}

// New makes the checker for the files that opt names.
func New(opt inspect.Options) *Checker {
	t := &Checker{}
	if opt.HubPID > 1 {
		t.hub = strconv.Itoa(opt.HubPID)
	}
	for _, p := range opt.OwnPaths {
		if p == "" {
			continue
		}
		p = path.Clean(p)
		t.exact = append(t.exact, p)
		// ~/.claude may itself be a link into somebody's dotfiles.
		if opt.Resolve != nil {
			if real := path.Clean(opt.Resolve(p)); path.IsAbs(real) && real != p && real != "/" {
				t.exact = append(t.exact, real)
			}
		}
	}
	for _, c := range hookConfigs {
		if strings.HasSuffix(c, "/") {
			t.dirs = append(t.dirs, c)
		} else {
			t.files = append(t.files, c)
		}
	}
	t.pre = t.makeNeedles()
	if opt.Resolve != nil {
		t.links = linkNeedles()
	}
	return t
}

func (t *Checker) makeNeedles() *inspect.Needles {
	words := []string{"hookmux"}
	for root := range ownRoots {
		words = append(words, root)
	}
	for _, w := range [...]string{"hooks", "settings", "config.", "plugin", "extension", "crush.json", "allowlist", "managed-settings", "opencode.json", "disableallhooks", "--bare", "--safe-mode", "--pure"} {
		words = append(words, w)
	}
	for _, e := range t.exact {
		// The directory counts, too: deleting it takes the file with it.
		for _, w := range [...]string{path.Base(e), path.Base(path.Dir(e))} {
			if len(w) > 1 && len(w) < 100 {
				words = append(words, strings.ToLower(w))
			}
		}
	}
	if t.hub != "" {
		words = append(words, t.hub)
	}
	return inspect.NewNeedles(true, words...)
}

// linkNeedles are the ways to write. Where links are followed, a command that
// names nothing of ours may still write to it through a link.
func linkNeedles() *inspect.Needles {
	return inspect.NewNeedles(false, "tee ", "cp ", "mv ", "rm ", "ln ", "dd ", "install ", "truncate ", "rsync ", "sed -", "perl -", "patch ", "chmod ", "unlink ", "shred ",
		"curl ", "wget ", "tar ", "unzip ", "yq ", "sponge ")
}

// checkRedirects reports whether s writes to a file by redirection. The two that
// stand in every other command, 2>&1 and >/dev/null, do not count.
func hasFileRedirect(s string) bool {
	for {
		i := strings.IndexByte(s, '>')
		if i < 0 {
			return false
		}
		s = strings.TrimLeft(s[i+1:], ">| ")
		if !strings.HasPrefix(s, "/dev/null") && !(len(s) > 1 && s[0] == '&' && (s[1] >= '0' && s[1] <= '9' || s[1] == '-')) {
			return true
		}
	}
}

// isOwned says what p is, if it is ours. p is absolute, or as it was written.
func (t *Checker) isOwned(p string) bool {
	if len(p) < 4 {
		return false
	}
	for _, e := range t.exact {
		if inspect.IsUnder(p, e) {
			return true
		}
	}
	l := strings.ToLower(strings.ReplaceAll(p, "//", "/"))
	for _, f := range t.files {
		if strings.HasSuffix(l, f) && (len(l) == len(f) || f[0] == '/' || l[len(l)-len(f)-1] == '/' || strings.HasPrefix(f, "support/")) {
			return true
		}
	}
	l += "/"
	for _, d := range t.dirs {
		if i := strings.Index(l, d); i >= 0 && (i == 0 || d[0] == '/' || l[i-1] == '/') {
			return true
		}
	}
	// /run/user/1000/hookmux and whatever lies in it.
	return strings.HasPrefix(l, "/run/user/") && strings.Contains(l, "/hookmux/")
}

// holdsOwned reports whether deleting p takes one of ours with it.
func (t *Checker) holdsOwned(p string) bool {
	if t.isOwned(p) || ownRoots[strings.ToLower(path.Base(p))] && strings.HasPrefix(path.Base(p), ".") {
		return true
	}
	for _, e := range t.exact {
		if p != "/" && inspect.IsBelow(e, p) {
			return true
		}
	}
	return false
}

// NamedIn finds the first of our files, or a variable that switches hookmux off,
// in free text.
func (t *Checker) NamedIn(text string) string {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("'\"`()[]{}<>|;,&=@:", r)
	}) {
		if t.isOwned(w) || strings.HasPrefix(w, "HOOKMUX_DISABLE") {
			return w
		}
	}
	return ""
}

// Path resolves a word both ways: as a place, and as it stands.
func (t *Checker) wordIsOwned(x *scope, w shell.Word, r *shell.Run, del bool) bool {
	test := t.isOwned
	if del {
		test = t.holdsOwned
	}
	if w.Text == "" || r.Contained {
		return false
	}
	if p := x.ResolveWord(w, r); p.Known {
		if test(p.Path) || w.Glob && t.globHitsOwned(p.Path) {
			return true
		}
		if w.Glob && !p.All || r.Remote {
			return false
		}
		// Deleting a link leaves alone what it points to.
		real, ok := x.RealPath(p.Path, !del || p.All || strings.HasSuffix(w.Text, "/"))
		return ok && test(real)
	}
	return test(w.Text)
}

// globHitsOwned: a pattern in a directory that holds our files, such as .claude/*.json.
func (t *Checker) globHitsOwned(p string) bool {
	dir, base := path.Split(strings.ToLower(p))
	for _, f := range t.files {
		fd, fb := path.Split(f)
		if fd == "" || !strings.HasSuffix(dir, fd) {
			continue
		}
		if ok, _ := path.Match(base, fb); ok {
			return true
		}
	}
	return false
}

// CheckScript reports what a command would change of ours.
func (t *Checker) CheckScript(s *inspect.Scope) {
	x := &scope{s}
	for i := range x.Script.Runs {
		r := &x.Script.Runs[i]
		for _, a := range r.Assigns {
			t.checkAssignment(x, r, a.Name)
		}
		t.checkRedirects(x, r)
		if len(r.Argv) == 0 {
			continue
		}
		t.checkEnvironment(x, r)
		t.checkControl(x, r)
		t.checkAgentSwitches(x, r)
		t.checkKill(x, r)
		t.checkWriter(x, r)
		t.checkCode(x, r)
	}
	for _, h := range x.HostRuns() {
		t.checkRedirects(x, h)
		t.checkWriter(x, h)
	}
}

func (t *Checker) checkRedirects(x *scope, r *shell.Run) {
	for _, rd := range r.Redirects {
		if rd.Writes() && (t.wordIsOwned(x, rd.Target, r, false) || !r.Contained && ownBinary(rd.Target)) {
			x.Report.Add("write", r.String(), fmt.Sprintf("writes %s", rd.Target.Text))
		}
	}
}

// CheckPaths judges the paths of file tools.
func (t *Checker) CheckPaths(s *inspect.Scope, extra inspect.InputPaths) {
	call := s.Call
	if len(call.Writes) == 0 && len(extra.Writes) == 0 {
		return
	}
	removes := takesAway(call.ToolName)
	mine := func(p string) bool {
		return t.isOwned(p) || removes && t.holdsOwned(p) || ownBinary(shell.Word{Text: p})
	}
	for _, list := range [...][]string{call.Writes, extra.Writes} {
		for _, p := range list {
			at := s.ResolveText(p, strings.HasPrefix(p, "~"), strings.HasPrefix(p, "$"), nil)
			hit := mine(p) || at.Known && mine(at.Path)
			if !hit && at.Known {
				real, ok := s.RealPath(at.Path, true)
				hit = ok && mine(real)
			}
			if hit {
				s.Report.Add("write", p, fmt.Sprintf("changes %s", p))
			}
		}
	}
}

// takesAway guesses from its name whether a tool deletes or moves what it names.
func takesAway(tool string) bool {
	l := strings.ToLower(tool)
	for _, v := range [...]string{"delete", "remove", "move", "rename", "trash", "unlink", "rmdir"} {
		if strings.Contains(l, v) {
			return true
		}
	}
	return false
}

// ownBinary reports whether w names hookmux's programs: without them no agent's
// hook reaches the hub. A name with a slash behind it is a directory.
func ownBinary(w shell.Word) bool {
	t := strings.ToLower(w.Text)
	if len(t) < 4 || strings.HasSuffix(t, "/") {
		return false
	}
	base := strings.TrimSuffix(path.Base(t), ".exe")
	switch {
	case base == "hookmux" || base == "hookmux-hook":
		return true
	case w.Dynamic:
		return strings.Contains(t, "hookmux-hook")
	case w.Glob && strings.Contains(base, "hook"):
		ok, err := path.Match(base, "hookmux-hook")
		return ok && err == nil
	}
	return false
}
