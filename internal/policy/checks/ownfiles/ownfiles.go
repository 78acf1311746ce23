// Package ownfiles implements the guard that keeps agents from changing hookmux's own files,
// or any agent's hook configuration, and from deciding in the user's place.
package ownfiles

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
	"github.com/hookmux/hookmux/internal/policy/verbs"
)

// scope is the context in which the rules of one command run.
type scope struct {
	*facts.Scope
	protected []protectedPath // made on first use
	watched   []string        // the same, and start files
	// names lists the names under which earlier parts of the command call hookmux; foundByName says
	// that one of them has find look for it.
	names       map[string]bool
	foundByName bool
}

// Checker checks calls against the rules of this package.
type Checker struct {
	pre   *facts.Needles
	links *facts.Needles // set when links are followed: what must be parsed because of them

	exact  []string // absolute files and directories from the options
	files  []string
	dirs   []string
	twin   func(path string, among func() []string) string // facts.Machine.Twin
	daemon string                                          // the daemon's process number, "" when not known
	verbs  *verbs.Table                                    // which commands of hookmux decide or weaken
}

// MustParse reports whether a command names something of ours, deletes by a pattern, or writes
// where a link may lead to it.
func (t *Checker) MustParse(command string) bool {
	if strings.Contains(command, "*") && strings.Contains(command, "rm") { // of everything in a folder above ours
		return true
	}
	return t.pre.MustParse(command) || t.links != nil && (t.links.Match(command) || hasFileRedirect(command))
}

// WatchesFolder reports whether files of ours may be in a folder.
func (t *Checker) WatchesFolder(folder string) bool { return t.pre.Match(folder + "/") }

// New makes the checker for the files that opt names.
func New(opt facts.Machine) *Checker {
	t := &Checker{twin: opt.Twin, verbs: verbs.Own()}
	if opt.DaemonPID > 1 {
		t.daemon = strconv.Itoa(opt.DaemonPID)
	}
	for _, p := range opt.OwnPaths {
		if p == "" {
			continue
		}
		p = path.Clean(p)
		t.exact = append(t.exact, p)
		// ~/.claude may itself be a link into a dotfiles repository.
		if opt.Resolve != nil {
			if resolved := path.Clean(opt.Resolve(p)); path.IsAbs(resolved) && resolved != p && resolved != "/" {
				t.exact = append(t.exact, resolved)
			}
		}
	}
	for _, c := range hookConfigs() {
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

// watchedWords occur in commands that may do something this guard watches.
var watchedWords = []string{
	"hookmux", ".config", ".local", "rsync", "cp -", "ditto ", "hooks", "settings", "config.", "plugin", "extension",
	"crush.json", "allowlist", "managed-settings", "opencode.json", "disableallhooks", "--bare", "--safe-mode",
	"--pure",
	"tar ", "unzip ", "7z", "cpio", "patch ", " apply", " am ", "stow ", "chezmoi", "bwrap", "firejail",
	"ppid", "getppid", ".ppid", "remote_exec", "usr1", "_debugprocess", "/mem", "--no-extensions", "-ne ", "--setting-sources", "--ignore-user-config", "home=",
	// Programs where text is typed or run later, and words may be given one by one.
	"tmux", "tmate", "byobu", "screen", "zellij", "kitty", "kitten", "wezterm", "xdotool", "ydotool", "wtype", "dotool",
	// What runs later.
	"bashrc", "bash_", "profile", "zshrc", "zshenv", "zprofile", "zlogin", "zlogout", "kshrc", "cshrc", "config.fish",
	"conf.d", "crontab", "cron", "systemd", "launchagents", "launchdaemons", "autostart", "authorized_keys", "xinitrc",
	"xsession", "environment", "tmux.conf", "screenrc", "gitconfig", "hookspath", "templatedir", "ssh/rc", "rc.local",
	"init.d", "inputrc", "/bin", "bash-completion", "bash_completion", ".fish", "oh-my-zsh", "/shims", "pnpm/", "chsh",
	"usermod", "dscl", "git config", "ld.so.preload", ".pam_", "systemctl", "launchctl", "gsettings", "dconf", "at ", "batch", "pkill", "slay",
}

// makeNeedles returns what MustParse looks for.
func (t *Checker) makeNeedles() *facts.Needles {
	words := slices.Clone(staticWords())
	for _, e := range t.exact {
		// The directory matters, too: deleting it takes the file with it.
		for _, w := range [...]string{path.Base(e), path.Base(path.Dir(e))} {
			if len(w) > 1 && len(w) < 100 {
				words = append(words, strings.ToLower(w))
			}
		}
	}
	if t.daemon != "" {
		words = append(words, t.daemon)
	}
	return needlesFor(words)
}

// staticWords are the words that are the same for every Checker.
var staticWords = sync.OnceValue(func() []string {
	words := slices.Clone(watchedWords)
	for root := range ownRoots() {
		words = append(words, root)
	}
	for _, word := range startFileNeedles() {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(word, w) }) {
			words = append(words, word)
		}
	}
	for _, ending := range hookConfigs() {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(ending, w) }) {
			words = append(words, path.Base(ending))
		}
	}
	words = append(words, programs.With(func(p *programs.Program) bool { return p.Has(programs.ProcessTool) })...)
	for _, known := range agents() {
		off := known.HooksOff
		for _, p := range slices.Concat(known.Programs, off.Programs) {
			if len(p) > 3 {
				words = append(words, p)
			} else if len(off.Unasked) > 0 {
				words = append(words, p+" -")
			}
		}
		for _, v := range slices.Concat(off.Moves, off.Variables) {
			words = append(words, strings.ToLower(v))
		}
		words = append(words, off.Packages...)
	}
	return append(append(words, "/etc:"), facts.FedShells...)
})

// builtNeedles keeps the needles of the last Checkers: one is made for every project and for
// every request that waits, mostly with the same words.
var builtNeedles struct {
	sync.Mutex
	recent []*needleSet
}

type needleSet struct {
	words   []string
	needles *facts.Needles
}

const maxBuiltNeedles = 4

// needlesFor returns needles for the words, from memory if possible.
func needlesFor(words []string) *facts.Needles {
	b := &builtNeedles
	b.Lock()
	defer b.Unlock()
	for _, set := range b.recent {
		if slices.Equal(set.words, words) {
			return set.needles
		}
	}
	set := &needleSet{words, facts.NewNeedles(true, words...)}
	b.recent = append(b.recent, set)
	if len(b.recent) > maxBuiltNeedles {
		b.recent = b.recent[1:]
	}
	return set.needles
}

// linkNeedles are the ways to write. If links are followed, a command that names nothing of ours
// may still write to it through a link.
var linkNeedles = sync.OnceValue(func() *facts.Needles {
	return facts.NewNeedles(false, "tee ", "cp ", "mv ", "rm ", "ln ", "dd ", "install ", "truncate ", "rsync ",
		"sed -", "perl -", "patch ", "chmod ", "unlink ", "shred ",
		"curl ", "wget ", "tar ", "unzip ", "yq ", "sponge ")
})

// hasFileRedirect reports whether s writes to a file by redirection. The two that are in every
// other command, 2>&1 and >/dev/null, are ignored.
func hasFileRedirect(s string) bool {
	for {
		i := strings.IndexByte(s, '>')
		if i < 0 {
			return false
		}
		s = strings.TrimLeft(s[i+1:], ">| ")
		if !strings.HasPrefix(s, "/dev/null") &&
			!(len(s) > 1 && s[0] == '&' && (s[1] >= '0' && s[1] <= '9' || s[1] == '-')) {
			return true
		}
	}
}

// CheckScript reports which of our files a command would change.
func (t *Checker) CheckScript(s *facts.Scope) {
	x := &scope{Scope: s}
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
		t.checkAgentStart(x, r)
		t.checkProcessTool(x, r)
		t.checkServices(x, r)
		checkTmuxOption(x, r)
		checkRemoval(x, r)
		checkAgentCopy(x, r)
		t.checkWriter(x, r)
		t.checkCode(x, r)
		x.noteNames(r)
	}
	for _, h := range x.HostRuns() {
		t.checkRedirects(x, h)
		t.checkWriter(x, h)
	}
}

func (t *Checker) checkRedirects(x *scope, r *shell.Run) {
	for _, rd := range r.Redirects {
		if rd.Writes() && (t.wordIsOwned(x, rd.Target, r, false) || !r.Contained && ownBinary(rd.Target)) {
			x.Report.Add("write", r.Head(), fmt.Sprintf("writes %s", rd.Target.Text))
		} else if rd.Writes() {
			t.checkStartFile(x, r, rd.Target)
		}
	}
}

// CheckPaths checks the paths of file tools.
func (t *Checker) CheckPaths(s *facts.Scope, extra facts.InputPaths) {
	x := &scope{Scope: s}
	checkSettingsTool(x)
	if len(s.Call.Writes) == 0 && len(extra.Writes) == 0 {
		return
	}
	checkWrittenText(x)
	removes := takesAway(s.Call.ToolName)
	mine := func(p string) bool {
		return t.isOwned(p) || removes && t.holdsOwned(x, p) || ownBinary(shell.Word{Text: p})
	}
	for _, list := range [...][]string{s.Call.Writes, extra.Writes} {
		for _, p := range list {
			at := s.ResolveText(p, strings.HasPrefix(p, "~"), strings.HasPrefix(p, "$"), nil)
			names := []string{p}
			if at.Known {
				names = append(t.otherNames(x, at.Path, true), p)
			}
			if slices.ContainsFunc(names, mine) {
				s.Report.Add("write", p, fmt.Sprintf("changes %s", p))
				continue
			}
			for _, name := range names {
				if t.checkStartPath(x, name) {
					break
				}
			}
		}
	}
}

// hooksSetting finds the setting that switches an agent's hooks off, in the input of a tool that
// changes settings: {"disableAllHooks": true}, {"setting": "disableAllHooks", "value": true}.
var hooksSetting = lazyregexp.New(`(?is)"(?:disableAllHooks|hooksDisabled)"(?:\s*:\s*"?(?:true|1)\b|.*"value"\s*:\s*"?(?:true|1)\b)|` +
	`"value"\s*:\s*"?(?:true|1)\b.*"(?:disableAllHooks|hooksDisabled)"\s*[,}]`)

// checkSettingsTool denies a tool of the agent's own that changes its settings.
func checkSettingsTool(x *scope) {
	name := strings.ToLower(x.Call.ToolName)
	if !strings.Contains(name, "config") && !strings.Contains(name, "setting") {
		return
	}
	if hooksSetting.Match(x.Call.Input) {
		x.Report.Add("hooks-off", x.Call.ToolName, "disableAllHooks keeps the agent from running its hooks")
	}
}

// checkWrittenText denies a file tool that writes a setting which switches hookmux off: agents,
// direnv and shells read files like .env.
func checkWrittenText(x *scope) {
	text, known := facts.WrittenText(x.Call)
	if !known {
		return
	}
	for _, p := range x.Call.Writes {
		if isEnvironmentFile(shell.Word{Text: p}) && agentSetting().MatchString(text) {
			x.Report.Add("environment", p, "writes a setting that keeps an agent from its hooks into a file")
			return
		}
	}
	if !switchesOff(text) {
		return
	}
	for _, p := range x.Call.Writes {
		if !strings.HasSuffix(p, ".md") { // documentation
			x.Report.Add("environment", p, "writes a setting that switches hookmux off into a file")
			return
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
