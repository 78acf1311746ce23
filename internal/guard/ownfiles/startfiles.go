package ownfiles

import (
	"fmt"
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/shell"
)

// Files whose contents run later, without the agent: in a person's shell, by a
// service manager or by cron. What an agent writes there acts in the person's
// place.

// startFile is one of them. Paths without a leading "/" lie in the home
// directory; one that ends with "/" means everything below it.
type startFile struct {
	path string
	who  string // who runs it
	// shell says that it is shell text: a plain setting may be added to it.
	shell bool
	// git says that it is git's configuration: only settings that git runs count.
	git bool
}

var startFiles = []startFile{
	{path: ".bashrc", who: "every shell", shell: true}, {path: ".bash_profile", who: "every login", shell: true},
	{path: ".bash_login", who: "every login", shell: true}, {path: ".bash_logout", who: "every logout", shell: true},
	{path: ".bash_aliases", who: "every shell", shell: true}, {path: ".profile", who: "every login", shell: true},
	{path: ".zshrc", who: "every shell", shell: true}, {path: ".zshenv", who: "every shell", shell: true},
	{path: ".zprofile", who: "every login", shell: true}, {path: ".zlogin", who: "every login", shell: true},
	{path: ".zlogout", who: "every logout", shell: true}, {path: ".config/zsh/.zshrc", who: "every shell", shell: true},
	{path: ".kshrc", who: "every shell", shell: true}, {path: ".cshrc", who: "every shell"}, {path: ".tcshrc",
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
	{path: "/etc/profile", who: "every login", shell: true}, {path: "/etc/profile.d/", who: "every login", shell: true},
	{path: "/etc/bash.bashrc", who: "every shell", shell: true}, {path: "/etc/bashrc", who: "every shell", shell: true},
	{path: "/etc/zsh/", who: "every shell", shell: true}, {path: "/etc/zshrc", who: "every shell", shell: true},
	{path: "/etc/environment", who: "every login"}, {path: "/etc/rc.local", who: "the machine"}, {path: "/etc/init.d/",
		who: "the machine"},
	{path: "/etc/ld.so.preload", who: "every program"}, {path: ".ssh/rc", who: "every ssh login"},
	{path: ".ssh/environment", who: "every ssh login"}, {path: ".ssh/authorized_keys", who: "whoever holds the key"},
	{path: ".ssh/authorized_keys2", who: "whoever holds the key"}, {path: ".gitconfig", who: "git", git: true},
	{path: ".config/git/config", who: "git", git: true}, {path: "/etc/gitconfig", who: "git", git: true},
}

// startFileAt finds the start file that an absolute path is.
func startFileAt(x *scope, p string) (startFile, bool) {
	home := path.Clean(x.Home)
	inHome := inspect.IsBelow(p, home)
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

// checkStartFile reports a command that writes a start file, unless what it adds
// is known and only sets something.
func (t *Checker) checkStartFile(x *scope, r *shell.Run, w shell.Word) {
	if r.Contained || r.Remote {
		return
	}
	p := x.ResolveWord(w, r)
	if !p.Known {
		return
	}
	f, ok := startFileAt(x, p.Path)
	if !ok {
		return
	}
	if r.HasOutput && t.onlySets(x, f, r.Output) {
		return
	}
	x.Report.Add("launch", r.String(), startReason(w.Text, f))
}

// checkStartPath is the same for a file tool that writes text to p.
func (t *Checker) checkStartPath(x *scope, p string, text string, known bool) bool {
	f, ok := startFileAt(x, p)
	if !ok || known && t.onlySets(x, f, text) {
		return false
	}
	x.Report.Add("launch", p, startReason(p, f))
	return true
}

func startReason(p string, f startFile) string {
	if f.git {
		return fmt.Sprintf("changes %s so that git runs something else; a person should do that", p)
	}
	return fmt.Sprintf("changes %s, which %s runs or reads in the person's name; a person should do that", p, f.who)
}

// gitRuns finds settings that have git run something.
var gitRuns = lazyregexp.New(`(?im)hookspath|templatedir|sshcommand|fsmonitor|^\s*\[\s*(filter|include|alias|` +
	`credential)|` +
	`^\s*(pager|editor|askpass|external|textconv|cmd|helper|program|path|[\w-]+\s*=\s*!)`)

// onlySets reports whether text that is added to a start file only sets
// variables, aliases and options, and nothing of that concerns hookmux.
func (t *Checker) onlySets(x *scope, f startFile, text string) bool {
	if f.git {
		return !gitRuns.MatchString(text)
	}
	if !f.shell {
		return false
	}
	script := shell.Parse(text)
	if !inspect.OnlySets(&script) {
		return false
	}
	report := inspect.NewReport("own-files", inspect.Allowed{})
	t.CheckScript(x.Inner(&script, report))
	return len(report.List) == 0
}

// checkCrontab judges a new table. One whose text is known is judged by its commands.
func (c *writer) checkCrontab() {
	if inspect.HasShort(c.flags, 'l', 'r', 'V') || inspect.HasWord(c.flags, "--help", "-h") {
		return
	}
	c.x.Report.Add("launch", c.r.String(),
		"changes the crontab, which cron runs in the person's name; a person should do that")
}

// checkLater judges text that at runs later. Known text is judged by its commands.
func (c *writer) checkLater() {
	if inspect.HasShort(c.flags, 'l', 'r', 'd', 'c', 'V') || inspect.HasWord(c.flags, "--help") {
		return
	}
	if c.r.HasInput || !inspect.HasShort(c.flags, 'f') && c.r.From.Empty() && !readsFile(c.r) {
		return
	}
	for i := range c.x.Script.Runs {
		for _, via := range c.x.Script.Runs[i].Via {
			if via == c.r.Name() {
				return
			}
		}
	}
	c.x.Report.Add("launch", c.r.String(),
		"has "+c.r.Name()+" run later, in the person's name, what cannot be read here; a person should do that")
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
