package ownfiles

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// Files whose contents run later, without the agent: in a user's shell, by a service manager
// or by cron. What an agent writes there acts in the user's place.

// startFile is one of them. Paths without a leading "/" are in the home directory; one that ends
// with "/" means everything below it.
type startFile struct {
	path string
	who  string // who runs it
}

var startFiles = []startFile{
	{path: ".bashrc", who: "every shell"}, {path: ".bash_profile", who: "every login"},
	{path: ".bash_login", who: "every login"}, {path: ".bash_logout", who: "every logout"},
	{path: ".bash_aliases", who: "every shell"}, {path: ".profile", who: "every login"},
	{path: ".zshrc", who: "every shell"}, {path: ".zshenv", who: "every shell"},
	{path: ".zprofile", who: "every login"}, {path: ".zlogin", who: "every login"},
	{path: ".zlogout", who: "every logout"},
	{path: ".kshrc", who: "every shell"}, {path: ".cshrc", who: "every shell"}, {path: ".tcshrc",
		who: "every shell"},
	{path: ".config/fish/config.fish", who: "every shell"}, {path: ".config/fish/conf.d/", who: "every shell"},
	{
		path: ".config/nushell/config.nu",
		who:  "every shell",
	}, {path: ".config/powershell/profile.ps1", who: "every shell"},
	{path: ".xprofile", who: "the desktop"}, {path: ".xinitrc", who: "the desktop"}, {path: ".xsession",
		who: "the desktop"},
	{path: ".xsessionrc", who: "the desktop"}, {path: ".pam_environment", who: "every login"},
	{path: ".config/environment.d/", who: "every login"}, {path: ".config/autostart/", who: "the desktop"},
	{
		path: ".config/autostart-scripts/",
		who:  "the desktop",
	}, {path: ".config/plasma-workspace/env/", who: "the desktop"},
	{
		path: ".tmux.conf",
		who:  "tmux",
	}, {path: ".config/tmux/tmux.conf", who: "tmux"}, {path: ".screenrc", who: "screen"},
	{path: ".config/systemd/user/", who: "systemd"}, {path: ".local/share/systemd/user/", who: "systemd"},
	{path: "/etc/systemd/", who: "systemd"}, {path: "/usr/lib/systemd/", who: "systemd"}, {path: "/lib/systemd/",
		who: "systemd"},
	{path: "/run/systemd/", who: "systemd"}, {path: "Library/LaunchAgents/", who: "launchd"},
	{path: "/Library/LaunchAgents/", who: "launchd"}, {path: "/Library/LaunchDaemons/", who: "launchd"},
	{path: "/etc/crontab", who: "cron"}, {path: "/etc/cron.d/", who: "cron"}, {path: "/etc/cron.hourly/", who: "cron"},
	{path: "/etc/cron.daily/", who: "cron"}, {path: "/etc/cron.weekly/", who: "cron"}, {path: "/etc/cron.monthly/",
		who: "cron"},
	{path: "/var/spool/cron/", who: "cron"}, {path: "/var/at/", who: "cron"}, {path: "/etc/anacrontab", who: "cron"},
	{path: "/etc/profile", who: "every login"}, {path: "/etc/profile.d/", who: "every login"},
	{path: "/etc/bash.bashrc", who: "every shell"}, {path: "/etc/bashrc", who: "every shell"},
	{path: "/etc/zsh/", who: "every shell"}, {path: "/etc/zshrc", who: "every shell"},
	{path: "/etc/environment", who: "every login"}, {path: "/etc/rc.local", who: "the machine"}, {path: "/etc/init.d/",
		who: "the machine"},
	{path: "/etc/ld.so.preload", who: "every program"}, {path: ".ssh/rc", who: "every ssh login"},
	{path: ".ssh/environment", who: "every ssh login"}, {path: ".ssh/authorized_keys", who: "anyone with the key"},
	{path: ".ssh/authorized_keys2", who: "anyone with the key"}, {path: ".gitconfig", who: "git"},
	{path: ".config/git/config", who: "git"}, {path: "/etc/gitconfig", who: "git"},
	{path: ".inputrc", who: "every shell"}, {path: "/etc/inputrc", who: "every shell"},
	{path: ".bash_completion", who: "every shell"}, {path: ".config/fish/functions/", who: "every shell"},
	{path: ".config/fish/completions/", who: "every shell"}, {path: ".config/nushell/env.nu", who: "every shell"},
	{path: ".local/share/bash-completion/", who: "every shell"}, {path: ".oh-my-zsh/custom/", who: "every shell"},
	{path: ".config/zsh/", who: "every shell"},
	// What shells' start files read, and prompts run.
	{path: ".oh-my-zsh/", who: "every shell"}, {path: ".oh-my-bash/", who: "every shell"},
	{path: ".bash_it/", who: "every shell"}, {path: ".zplug/", who: "every shell"}, {path: ".zinit/", who: "every shell"},
	{path: ".p10k.zsh", who: "every shell"}, {path: ".fzf.bash", who: "every shell"}, {path: ".fzf.zsh", who: "every shell"},
	{path: ".nvm/nvm.sh", who: "every shell"}, {path: ".nvm/bash_completion", who: "every shell"},
	{path: ".cargo/env", who: "every login"}, {path: ".deno/env", who: "every login"}, {path: ".rye/env", who: "every login"},
	{path: ".ghcup/env", who: "every login"}, {path: ".asdf/asdf.sh", who: "every shell"},
	{path: ".sdkman/bin/sdkman-init.sh", who: "every shell"}, {path: ".config/direnv/", who: "every shell"},
	{path: ".direnvrc", who: "every shell"}, {path: ".config/starship.toml", who: "every shell"},
	{path: ".xonshrc", who: "every shell"}, {path: ".config/xonsh/", who: "every shell"},
	{path: ".elvish/", who: "every shell"}, {path: ".config/elvish/", who: "every shell"},
	// Terminals: what they are configured to type, run or let programs do acts as your keyboard.
	{path: ".config/kitty/", who: "your terminal"}, {path: ".config/wezterm/", who: "your terminal"},
	{path: ".wezterm.lua", who: "your terminal"}, {path: ".config/ghostty/", who: "your terminal"},
	{path: ".config/alacritty/", who: "your terminal"}, {path: ".alacritty.toml", who: "your terminal"},
	{path: ".alacritty.yml", who: "your terminal"}, {path: ".config/foot/", who: "your terminal"},
	{path: ".config/zellij/", who: "your terminal"}, {path: ".config/terminator/", who: "your terminal"},
	{path: ".config/rio/", who: "your terminal"}, {path: ".config/contour/", who: "your terminal"},
	{path: ".config/konsolerc", who: "your terminal"}, {path: ".local/share/konsole/", who: "your terminal"},
	{path: ".config/xfce4/terminal/", who: "your terminal"}, {path: ".Xresources", who: "your terminal"},
	{path: ".Xdefaults", who: "your terminal"}, {path: ".terminfo/", who: "your terminal"},
	// Folders on PATH: a program there may run instead of another.
	{path: ".local/bin/", who: "anyone who types its name"}, {path: "bin/", who: "anyone who types its name"},
	{path: ".bin/", who: "anyone who types its name"}, {path: ".cargo/bin/", who: "anyone who types its name"},
	{path: "go/bin/", who: "anyone who types its name"}, {path: ".npm-global/bin/", who: "anyone who types its name"},
	{path: ".npm-packages/bin/", who: "anyone who types its name"}, {path: ".yarn/bin/", who: "anyone who types its name"},
	{path: ".bun/bin/", who: "anyone who types its name"}, {path: ".deno/bin/", who: "anyone who types its name"},
	{path: ".local/share/pnpm/", who: "anyone who types its name"},
	{path: ".local/share/mise/shims/", who: "anyone who types its name"},
	{path: ".asdf/shims/", who: "anyone who types its name"}, {path: ".pyenv/shims/", who: "anyone who types its name"},
}

// startFileNeedles returns texts one of which is in every command that names a start file of the
// home directory, whatever its current folder: its first folder, or its name.
func startFileNeedles() (words []string) {
	for _, f := range startFiles {
		first, _, _ := strings.Cut(f.path, "/")
		if strings.HasPrefix(first, ".") {
			words = append(words, strings.ToLower(first))
		}
	}
	return words
}

// startFileAt finds the start file that an absolute path is.
func startFileAt(x *scope, p string) (startFile, bool) {
	home := path.Clean(x.Home)
	inHome := facts.IsBelow(p, home)
	below := strings.TrimPrefix(strings.TrimPrefix(p, home), "/")
	for _, f := range startFiles {
		at := below
		if path.IsAbs(f.path) {
			at = p
		} else if !inHome {
			continue
		}
		if at == f.path || strings.HasSuffix(f.path, "/") && strings.HasPrefix(at+"/", f.path) {
			return f, true
		}
	}
	return startFile{}, false
}

// holdsStartFile reports whether start files are in a folder of the home directory or directly in
// a folder of the system.
func holdsStartFile(x *scope, dir string) bool {
	home := path.Clean(x.Home)
	if dir == home || dir == "/" {
		return false // the callers know these
	}
	if _, in := startFileAt(x, path.Join(dir, "any")); in {
		return true
	}
	for _, f := range startFiles {
		at := f.path
		if !path.IsAbs(at) {
			at = path.Join(home, at)
		}
		if path.Dir(strings.TrimSuffix(at, "/")) == dir && dir != "/etc" && !strings.HasSuffix(dir, "/.local/share") {
			return true
		}
	}
	return false
}

// checkStartFile reports a command that writes a start file, whatever it writes: every
// line of one runs, or changes what runs, in the user's name.
func (t *Checker) checkStartFile(x *scope, r *shell.Run, w shell.Word) {
	if r.Contained || r.Remote {
		return
	}
	p := x.ResolveWord(w, r)
	if !p.Known {
		return
	}
	for _, name := range t.otherNames(x, p.Path, true) {
		if f, ok := startFileAt(x, name); ok {
			x.Report.Add("launch", r.Head(), startReason(w.Text, f))
			return
		}
	}
}

// checkStartPath is the same for a file tool that writes to p.
func (t *Checker) checkStartPath(x *scope, p string) bool {
	f, ok := startFileAt(x, p)
	if ok {
		x.Report.Add("launch", p, startReason(p, f))
	}
	return ok
}

func startReason(p string, f startFile) string {
	return fmt.Sprintf("changes %s, which %s runs or reads as the user; only the user should do that", p, f.who)
}

// checkLoginShell denies setting another shell for the user's logins.
func (c *writer) checkLoginShell() {
	if plainName(c.r.Name()) == "chsh" && facts.HasWord(c.r.Args(), "-l", "--list-shells", "-h", "--help", "-v") {
		return
	}
	if c.r.Name() != "chsh" && len(facts.OptionValues(c.r.Args(), "-s", "--shell")) == 0 &&
		!facts.HasWord(c.r.Args(), "UserShell") {
		return
	}
	c.x.Report.Add("launch", c.r.Head(), "changes the login shell; only the user should do that")
}

// quietGitSettings are settings for every repository that make git run nothing and look nowhere
// else.
var quietGitSettings = []string{"user.name", "user.email", "init.defaultbranch", "pull.*", "push.default",
	"push.autosetupremote", "push.followtags", "color.*", "advice.*", "fetch.prune", "fetch.parallel", "rebase.autostash",
	"rebase.autosquash", "merge.conflictstyle", "merge.ff", "diff.algorithm", "diff.renames", "diff.colormoved",
	"safe.directory", "http.postbuffer", "http.version", "log.date", "status.*", "column.ui", "rerere.enabled", "branch.sort",
	"tag.sort", "commit.gpgsign", "commit.verbose", "core.autocrlf", "core.eol", "core.safecrlf", "core.quotepath",
	"core.longpaths", "core.filemode", "core.ignorecase", "core.symlinks", "core.precomposeunicode",
	"core.compression", "feature.manyfiles", "gc.auto", "help.autocorrect", "pack.windowmemory", "protocol.version"}

func isQuietGitSetting(key string) bool {
	return slices.ContainsFunc(quietGitSettings, func(pattern string) bool {
		ok, err := path.Match(pattern, strings.ToLower(key))
		return ok && err == nil
	})
}

// checkCrontab checks a new table. One whose text is known is checked by its commands.
func (c *writer) checkCrontab() {
	if facts.HasShort(c.flags, 'l', 'r', 'V') || facts.HasWord(c.flags, "--help", "-h") {
		return
	}
	c.x.Report.Add("launch", c.r.Head(),
		"changes the crontab, which cron runs as the user; only the user should do that")
}

// checkLater checks text that at runs later. Known text is checked by its commands.
func (c *writer) checkLater() {
	if facts.HasShort(c.flags, 'l', 'r', 'd', 'c', 'V') || facts.HasWord(c.flags, "--help") {
		return
	}
	if c.r.HasInput || !facts.HasShort(c.flags, 'f') && c.r.From.Empty() && !readsFile(c.r) {
		return
	}
	for i := range c.x.Script.Runs {
		for _, via := range c.x.Script.Runs[i].Via {
			if via == c.r.Name() {
				return
			}
		}
	}
	c.x.Report.Add("launch", c.r.Head(),
		"has "+c.r.Name()+" run later, as the user, what can't be read here; only the user should do that")
}

// readsFile reports whether standard input of a run is a file.
func readsFile(r *shell.Run) bool {
	for _, rd := range r.Redirects {
		if rd.Reads() && rd.Target.Text != "/dev/null" {
			return true
		}
	}
	return false
}
