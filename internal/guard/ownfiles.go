package guard

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/shell"
)

var ownRules = []RuleInfo{
	{"own-files.write", "a file tool or a command changes hookmux's files or an agent's hook configuration"},
	{"own-files.delete", "the same files are deleted or moved away"},
	{"own-files.hub", "the hub is stopped or killed"},
	{"own-files.control", "hookmux is told to switch off, trust, install or change its settings"},
	{"own-files.environment", "hookmux is switched off through its environment"},
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
}

func newOwnTable(paths []string) *ownTable {
	t := &ownTable{}
	for _, p := range paths {
		if p != "" {
			t.exact = append(t.exact, path.Clean(p))
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
	for _, w := range [...]string{"hooks", "settings", "config.", "plugin", "extension", "crush.json", "allowlist", "managed-settings", "opencode.json"} {
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
	return newNeedles(true, words...)
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
		if test(p.path) {
			return true
		}
		if w.Glob {
			return t.glob(p.path)
		}
		return false
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
		for _, rd := range r.Redirects {
			if rd.Writes() && t.word(x, rd.Target, r, false) {
				x.f.add("write", r.String(), fmt.Sprintf("writes %s", rd.Target.Text))
			}
		}
		if len(r.Argv) == 0 {
			continue
		}
		t.control(x, r)
		t.kills(x, r)
		t.writer(x, r)
		t.code(x, r)
	}
}

func (t *ownTable) assignment(x *env, r *shell.Run, name string) {
	switch name {
	case "HOOKMUX_DISABLED", "HOOKMUX_DISABLE", "HOOKMUX_OFF", "HOOKMUX_BYPASS":
		x.f.add("environment", r.String(), fmt.Sprintf("sets %s, which switches hookmux off", name))
	}
}

// ownVerbs are hookmux's verbs that belong to a person. A nil list means every
// use of the verb; otherwise only these second words.
var ownVerbs = map[string][]string{
	"off": nil, "on": nil, "trust": nil, "untrust": nil, "install": nil, "uninstall": nil, "reply": nil, "approve": nil, "answer": nil, "grant": nil, "grants": {"add", "remove", "clear"}, "reset": nil, "purge": nil,
	"hub":    {"stop", "kill", "restart"},
	"guard":  {"off", "on", "allow", "deny", "set"},
	"config": {"set", "unset", "edit", "reset"},
	"feed":   {"reply", "approve", "allow", "answer"},
}

func (t *ownTable) control(x *env, r *shell.Run) {
	if r.Name() != "hookmux" {
		return
	}
	_, rest := splitFlags(r.Args())
	if len(rest) == 0 || has(r.Args(), "--help", "-h") {
		return
	}
	verb := rest[0].Text
	say := func(rule, what string) {
		x.f.add(rule, r.String(), fmt.Sprintf("hookmux %s belongs to a person, not to an agent", what))
	}
	if verb == "hooks" {
		for _, w := range rest[1:] {
			switch w.Text {
			case "add", "remove", "set", "import":
				say("control", "hooks "+w.Text)
				return
			}
		}
		return
	}
	seconds, known := ownVerbs[verb]
	if !known {
		return
	}
	if seconds == nil {
		say("control", verb)
		return
	}
	if len(rest) > 1 && slices.Contains(seconds, rest[1].Text) {
		rule := "control"
		if verb == "hub" {
			rule = "hub"
		}
		say(rule, verb+" "+rest[1].Text)
	}
}

// kills: pkill hookmux, kill $(pgrep hookmux), systemctl stop hookmux.
func (t *ownTable) kills(x *env, r *shell.Run) {
	name := r.Name()
	line := strings.ToLower(joinArgs(r.Args()))
	say := func() { x.f.add("hub", r.String(), "stops the hub") }
	switch name {
	case "pkill", "killall", "fuser":
		if strings.Contains(line, "hookmux") {
			say()
		}
	case "systemctl", "service", "launchctl", "sv", "rc-service":
		if strings.Contains(line, "hookmux") {
			for _, v := range [...]string{"stop", "disable", "mask", "kill", "unload", "bootout", "remove", "restart"} {
				if hasPhrase(line, v) {
					say()
					return
				}
			}
		}
	case "kill":
		if strings.Contains(line, "hookmux") {
			say()
			return
		}
		for _, a := range r.Args() {
			for i := a.From.Lo; i < a.From.Hi && i < len(x.script.Runs); i++ {
				from := &x.script.Runs[i]
				if strings.Contains(strings.ToLower(joinArgs(from.Args())), "hookmux") {
					say()
					return
				}
			}
		}
	}
}

// writer: programs that change their operands.
func (t *ownTable) writer(x *env, r *shell.Run) {
	flags, rest := splitFlags(r.Args())
	write := func(ws []shell.Word) {
		for _, w := range ws {
			if t.word(x, w, r, false) {
				x.f.add("write", r.String(), fmt.Sprintf("%s changes %s", r.Name(), w.Text))
				return
			}
		}
	}
	remove := func(ws []shell.Word) {
		for _, w := range ws {
			if t.word(x, w, r, true) {
				x.f.add("delete", r.String(), fmt.Sprintf("%s takes %s away", r.Name(), w.Text))
				return
			}
		}
	}
	name := r.Name()
	switch strings.TrimPrefix(name, "g") {
	case "rm", "unlink", "shred", "rmdir", "srm", "rimraf", "trash", "trash-put", "wipe":
		remove(rest)
	case "mv":
		if len(rest) > 1 {
			remove(rest[:len(rest)-1])
		}
		t.destination(x, r, rest, write)
	case "cp", "install", "rsync", "scp", "ln":
		t.destination(x, r, rest, write)
		if len(rest) > 1 && (name == "ln" && hasShort(flags, 'f') || name == "rsync" && hasLong(flags, "--delete")) {
			remove(rest[len(rest)-1:])
		}
	case "tee", "sponge", "truncate", "chmod", "chown", "chattr", "chflags", "ed", "ex", "patch", "vim", "vi", "nvim", "nano", "emacs", "setfacl":
		write(rest)
		if name == "chmod" || name == "chown" || name == "chattr" || name == "chflags" {
			if hasShort(flags, 'R') {
				remove(rest)
			}
		}
	case "sed":
		if hasShort(flags, 'i') || hasLong(flags, "--in-place") {
			write(rest)
		}
	case "perl", "ruby":
		if hasShort(flags, 'i') {
			write(rest)
		}
	case "awk", "awk2", "gawk":
		if has(r.Args(), "inplace") {
			write(rest)
		}
	case "dd":
		for _, a := range rest {
			if v, ok := strings.CutPrefix(a.Text, "of="); ok {
				write([]shell.Word{{Text: v, Bare: v, Dynamic: a.Dynamic, Tilde: strings.HasPrefix(v, "~")}})
			}
		}
	case "curl", "wget":
		for i, a := range r.Args() {
			if len(a.Text) > 1 && a.Text[0] == '-' && (strings.HasSuffix(a.Text, "o") || strings.HasSuffix(a.Text, "O") || a.Text == "--output") && i+1 < len(r.Args()) {
				write(r.Args()[i+1 : i+2])
			}
		}
	case "it": // git, its g taken off above
		sub, args := gitParts(r)
		switch sub {
		case "checkout", "restore", "rm", "mv", "apply", "stash":
			_, paths := splitFlags(args)
			write(paths)
		}
	case "yq", "jq", "dasel", "toml":
		if hasShort(flags, 'i') || hasLong(flags, "--inplace", "--in-place") {
			write(rest)
		}
	case "find":
		if has(r.Args(), "-delete") || strings.Contains(joinArgs(r.Args()), "-exec rm") {
			remove(rest[:min(len(rest), 1)])
		}
	}
}

// destination: the last operand, or the file of that name in a directory.
func (t *ownTable) destination(x *env, r *shell.Run, rest []shell.Word, write func([]shell.Word)) {
	if len(rest) < 2 {
		return
	}
	last := rest[len(rest)-1]
	write([]shell.Word{last})
	p := x.place(last, r)
	if !p.known {
		return
	}
	for _, src := range rest[:len(rest)-1] {
		if t.owned(path.Join(p.path, path.Base(src.Text))) && !t.owned(p.path) && ownRoots[path.Base(p.path)] {
			x.f.add("write", r.String(), fmt.Sprintf("%s puts %s into %s", r.Name(), path.Base(src.Text), last.Text))
			return
		}
	}
}

var writesInCode = []string{"write", "'w'", `"w"`, "'a'", `"a"`, "'w+'", "dump", "unlink", "remove", "rename", "rmSync", "truncate", "copyfile", "copyFile", "replace(", "rmtree", "shutil.", "File.open", "appendFile"}

// code: python3 -c and the like that name our files and write.
func (t *ownTable) code(x *env, r *shell.Run) {
	text, ok := r.Code()
	if !ok {
		return
	}
	writes := false
	for _, w := range writesInCode {
		writes = writes || strings.Contains(text, w)
	}
	if !writes {
		return
	}
	for _, lit := range quotedIn(text) {
		if t.owned(lit) {
			x.f.add("write", r.Name(), fmt.Sprintf("%s code changes %s", r.Name(), lit))
			return
		}
	}
}

// ownPaths judges the paths of file tools.
func (g *Guard) ownPaths(f *findings, call *Call, extra inputPaths) {
	if len(call.Writes) == 0 && len(extra.writes) == 0 {
		return
	}
	x := newEnv(call, nil, f)
	for _, list := range [...][]string{call.Writes, extra.writes} {
		for _, p := range list {
			at := x.placeOf(p, strings.HasPrefix(p, "~"), strings.HasPrefix(p, "$"), nil)
			if g.own.owned(p) || at.known && g.own.owned(at.path) {
				f.add("write", p, fmt.Sprintf("changes %s", p))
			}
		}
	}
}
