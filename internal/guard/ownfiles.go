package guard

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/shell"
)

var ownRules = []RuleInfo{
	{"own-files.write", "a file tool or a command changes hookmux's files or an agent's hook configuration"},
	{"own-files.delete", "the same files are deleted or moved away"},
	{"own-files.hub", "the hub is stopped or killed"},
	{"own-files.control", "hookmux is told to switch off, trust, install or change its settings"},
	{"own-files.environment", "hookmux is switched off, or over to other settings, through its environment"},
	{"own-files.hooks-off", "an agent is started or set so that it runs no hooks"},
	{"own-files.unreadable", "a command that cannot be read in full and names these files"},
}

// hookConfigs are the hook configurations of the agents, as endings of paths:
// most exist in the home directory and in projects alike. An ending with "/"
// means everything below. The catalogue adds more through Options.OwnPaths.
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

type ownTable struct {
	exact []string // absolute files and directories from the options
	files []string
	dirs  []string
	hub   string // the hub's process number, "" when not known
}

func newOwnTable(opt Options) *ownTable {
	t := &ownTable{}
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
	return t
}

func (t *ownTable) needles() *needles {
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
	return newNeedles(true, words...)
}

// linkNeedles are the ways to write. Where links are followed, a command that
// names nothing of ours may still write to it through a link.
func linkNeedles() *needles {
	return newNeedles(false, "tee ", "cp ", "mv ", "rm ", "ln ", "dd ", "install ", "truncate ", "rsync ", "sed -", "perl -", "patch ", "chmod ", "unlink ", "shred ",
		"curl ", "wget ", "tar ", "unzip ", "yq ", "sponge ")
}

// redirects reports whether s writes to a file by redirection. The two that
// stand in every other command, 2>&1 and >/dev/null, do not count.
func redirects(s string) bool {
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

// owned says what p is, if it is ours. p is absolute, or as it was written.
func (t *ownTable) owned(p string) bool {
	if len(p) < 4 {
		return false
	}
	for _, e := range t.exact {
		if under(p, e) {
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

// holds reports whether deleting p takes one of ours with it.
func (t *ownTable) holds(p string) bool {
	if t.owned(p) || ownRoots[strings.ToLower(path.Base(p))] && strings.HasPrefix(path.Base(p), ".") {
		return true
	}
	for _, e := range t.exact {
		if p != "/" && below(e, p) {
			return true
		}
	}
	return false
}

func (t *ownTable) inText(text string) string {
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("'\"`()[]{}<>|;,&=@:", r)
	}) {
		if t.owned(w) || strings.HasPrefix(w, "HOOKMUX_DISABLE") {
			return w
		}
	}
	return ""
}

// path resolves a word both ways: as a place, and as it stands.
func (t *ownTable) word(x *env, w shell.Word, r *shell.Run, del bool) bool {
	test := t.owned
	if del {
		test = t.holds
	}
	if w.Text == "" || r.Contained {
		return false
	}
	if p := x.place(w, r); p.known {
		if test(p.path) || w.Glob && t.glob(p.path) {
			return true
		}
		if w.Glob && !p.all || r.Remote {
			return false
		}
		// Deleting a link leaves alone what it points to.
		real, ok := x.real(p.path, !del || p.all || strings.HasSuffix(w.Text, "/"))
		return ok && test(real)
	}
	return test(w.Text)
}

// glob: a pattern in a directory that holds our files, such as .claude/*.json.
func (t *ownTable) glob(p string) bool {
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

func (t *ownTable) check(x *env) {
	for i := range x.script.Runs {
		r := &x.script.Runs[i]
		for _, a := range r.Assigns {
			t.assignment(x, r, a.Name)
		}
		t.redirects(x, r)
		if len(r.Argv) == 0 {
			continue
		}
		t.environment(x, r)
		t.control(x, r)
		t.agentSwitches(x, r)
		t.kills(x, r)
		t.writer(x, r)
		t.code(x, r)
	}
	for _, h := range x.hostRuns() {
		t.redirects(x, h)
		t.writer(x, h)
	}
}

func (t *ownTable) redirects(x *env, r *shell.Run) {
	for _, rd := range r.Redirects {
		if rd.Writes() && (t.word(x, rd.Target, r, false) || !r.Contained && ownBinary(rd.Target)) {
			x.f.add("write", r.String(), fmt.Sprintf("writes %s", rd.Target.Text))
		}
	}
}

// ownPaths judges the paths of file tools.
func (g *Guard) ownPaths(f *findings, call *Call, extra inputPaths) {
	if len(call.Writes) == 0 && len(extra.writes) == 0 {
		return
	}
	x := newEnv(call, nil, f)
	removes := takesAway(call.ToolName)
	mine := func(p string) bool {
		return g.own.owned(p) || removes && g.own.holds(p) || ownBinary(shell.Word{Text: p})
	}
	for _, list := range [...][]string{call.Writes, extra.writes} {
		for _, p := range list {
			at := x.placeOf(p, strings.HasPrefix(p, "~"), strings.HasPrefix(p, "$"), nil)
			hit := mine(p) || at.known && mine(at.path)
			if !hit && at.known {
				real, ok := x.real(at.path, true)
				hit = ok && mine(real)
			}
			if hit {
				f.add("write", p, fmt.Sprintf("changes %s", p))
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
