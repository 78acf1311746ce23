package destructive

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

func ddRule(x *scope, r *shell.Run) {
	for _, a := range r.Args() {
		t, ok := strings.CutPrefix(a.Text, "of=")
		if !ok {
			continue
		}
		p := x.ResolveText(t, strings.HasPrefix(t, "~"), a.Dynamic, r)
		switch {
		case isDevice(p), strings.HasPrefix(t, "/dev/$"):
			x.Report.Add("disk", r.Head(), fmt.Sprintf("writes straight to the device %s", t))
		case x.whyVital(p) != notVital:
			x.Report.Add("overwrite", r.Head(), fmt.Sprintf("overwrites %s (%s)", t, x.whyVital(p)))
		case facts.HasWord(r.Args(), "if=/dev/null", "if=/dev/zero"):
			x.losesDocuments(r, "empties", facts.CutWord(a, len("of=")))
		}
	}
}

func shredRule(x *scope, r *shell.Run) {
	_, rest := facts.SplitFlags(r.Args())
	for _, w := range rest {
		p := x.ResolveWord(w, r)
		switch {
		case isDevice(p):
			x.Report.Add("disk", r.Head(), fmt.Sprintf("destroys the device %s", w.Text))
		case x.whyVital(p) != notVital:
			x.Report.Add("overwrite", r.Head(), fmt.Sprintf("destroys %s (%s)", w.Text, x.whyVital(p)))
		case p.Known && !r.Contained && (x.WhyBroad(p) != facts.NotBroad || x.IsOutside(p)):
			x.Report.Add("rm-outside", r.Head(), fmt.Sprintf("destroys %s beyond recovery", w.Text))
		}
	}
}

// deviceRule checks tools that are only dangerous when pointed at a device; images in
// files are fine.
func deviceRule(x *scope, r *shell.Run) {
	flags, rest := facts.SplitFlags(r.Args())
	name := r.Name()
	if (name == "mke2fs" || strings.HasPrefix(name, "mkfs.ext")) && facts.HasShort(flags, 'n') {
		return
	}
	switch name {
	case "fdisk", "sfdisk", "parted", "gdisk", "sgdisk":
		if facts.HasShort(flags, 'l', 'd', 'p') && !facts.HasShort(flags, 'Z', 'z') ||
			facts.HasLong(flags, "--list", "--dump", "--print", "--no-act") || facts.HasWord(rest, "print") || len(rest) == 0 {
			return
		}
	case "hdparm":
		if !strings.Contains(r.String(), "security-erase") && !strings.Contains(r.String(), "--trim-sector") {
			return
		}
	case "nvme":
		if !facts.HasWord(rest, "format", "sanitize", "delete-ns") {
			return
		}
	case "badblocks":
		if !facts.HasShort(flags, 'w') {
			return
		}
	case "wipefs":
		if !facts.HasShort(flags, 'a', 'o') && !facts.HasLong(flags, "--all", "--offset") {
			return
		}
	}
	for _, w := range rest {
		if strings.HasPrefix(w.Text, "/dev/") || w.Dynamic {
			x.Report.Add("disk", r.Head(), fmt.Sprintf("%s changes the device %s", name, w.Text))
			return
		}
	}
}

var volumeVerbs = map[string][]string{
	"diskutil": {"erasedisk", "erasevolume", "partitiondisk", "zerodisk", "randomdisk", "secureerase", "reformat",
		"apfs deletecontainer", "apfs deletevolume", "apfs erasevolume"},
	"zpool":      {"destroy", "labelclear"},
	"zfs":        {"destroy", "rollback"},
	"btrfs":      {"delete"},
	"gpart":      {"destroy", "delete"},
	"mdadm":      {"--zero-superblock", "--stop", "--remove"},
	"cryptsetup": {"luksformat", "erase", "lukserase", "reencrypt"},
	"vssadmin":   {"delete"},
	"tmutil":     {"delete", "deletelocalsnapshots"},
	"nvram":      {"-c"},
	"csrutil":    {"disable"},
}

func volumeRule(x *scope, r *shell.Run) {
	name := r.Name()
	if strings.HasSuffix(name, "remove") {
		x.Report.Add("disk", r.Head(), fmt.Sprintf("%s removes a volume", name))
		return
	}
	line := strings.ToLower(facts.JoinArgs(r.Args()))
	for _, v := range volumeVerbs[name] {
		if facts.HasPhrase(line, v) {
			x.Report.Add("disk", r.Head(), fmt.Sprintf("%s %s loses a volume or its protection", name, v))
			return
		}
	}
}

// forkRule finds a function that starts itself in a pipe or in the background.
func forkRule(x *scope, r *shell.Run) {
	self := r.Func != "" && r.Argv[0].Text == r.Func
	again := r.Argv[0].Text == "$0" || r.Argv[0].Text == "${0}"
	piped := !r.From.Empty() || !r.To.Empty()
	if self && (r.Background || piped) || again && r.Background && piped {
		x.Report.Add("fork-bomb", r.Head(), fmt.Sprintf("%q starts itself again and again", r.Argv[0].Text))
	} else if r.Endless && r.Background {
		x.Report.Add("fork-bomb", r.Head(), fmt.Sprintf("starts %q in the background without end", r.Argv[0].Text))
	}
}

var homeInCode = []string{"Path.home()", "homedir()", "Dir.home", "process.env.HOME", `environ["HOME"]`,
	`environ['HOME']`, "ENV{HOME}", `ENV["HOME"]`, "ENV['HOME']", "getenv('HOME')", `getenv("HOME")`,
	`env.get("HOME")`, "env.get('HOME')", "Bun.env.HOME", "user_home", "user.home", "UserHomeDir()", "getHomeDir()",
	"homeDirectoryForCurrentUser", "NSHomeDirectory()", `get_env("HOME")`, "home_dir()"}

// codeRule: python3 -c, node -e and the like that delete broad paths.
// killsAll finds a signal to every process in program text.
var killsAll = lazyregexp.New(`\bkill\w*\s*\(?\s*(-1\s*,|['"]?(SIG)?KILL['"]?\s*,\s*-1\b|9\s*,\s*-1\b)`)

// finderDeletes finds a delete through the desktop of macOS.
var finderDeletes = lazyregexp.New(`(?i)tell app\w* "(Finder|System Events)" to (delete|empty|shut down|restart|log out|sleep)`)

func codeRule(x *scope, r *shell.Run) {
	text, ok := r.Code()
	if !ok || r.Contained {
		return
	}
	if strings.Contains(text, "fork") && (strings.Contains(text, "while") || strings.Contains(text, "for(;;)") ||
		strings.Contains(text, "loop")) &&
		(strings.Contains(text, "fork()") || strings.Contains(text, "fork while") || strings.Contains(text,
			"{fork") ||
			strings.Contains(text, "fork }") || strings.Contains(text, "os.fork")) {
		x.Report.Add("fork-bomb", r.Name(), "forks in an endless loop")
	}
	if finderDeletes.MatchString(text) {
		x.Report.Add("code", r.Name(), r.Name()+" has the desktop delete, empty the trash or shut down")
	}
	if killsAll.MatchString(text) {
		x.Report.Add("system", r.Name(), r.Name()+" code ends every process")
	}
	for _, lit := range facts.QuotedIn(text) {
		if isDevice(facts.Place{Text: lit}) && firstOf(text, deviceWriters) != "" {
			x.Report.Add("disk", r.Name(), r.Name()+" code writes straight to the device "+lit)
			return
		}
	}
	if overwritesVital(x, r, text) {
		return
	}
	deleter := firstOf(text, facts.DeletersInCode)
	single := ""
	if deleter == "" {
		// One file at a time: of a whole place, or in a system directory.
		if single = firstOf(text, facts.FileDeletersInCode); single == "" {
			return
		}
		if firstOf(text, facts.ListersInCode) != "" {
			deleter = single
		}
	}
	if deleter == "" {
		deletesSystemFile(x, r, text, single)
		return
	}
	for _, h := range homeInCode {
		if strings.Contains(text, h) {
			x.Report.Add("code", r.Name(), fmt.Sprintf("calls %s on something in the home directory", deleter))
			return
		}
	}
	for _, lit := range append(facts.QuotedIn(text), x.NamesInCode(r, text)...) {
		if lit == "" || !strings.HasPrefix(lit, "/") && !strings.HasPrefix(lit, "~") && !strings.HasPrefix(lit, ".") {
			continue
		}
		p := x.ResolveText(lit, strings.HasPrefix(lit, "~"), false, r)
		if why := x.WhyBroad(p); p.Known && (why != facts.NotBroad || x.IsOutside(p)) {
			x.Report.Add("code", r.Name(), fmt.Sprintf("calls %s on %s", deleter, lit))
			return
		}
	}
}

// overwritesVital finds code that overwrites a vital file: python3 -c
// 'open("/etc/passwd", "w")'.
func overwritesVital(x *scope, r *shell.Run, text string) bool {
	for _, lit := range facts.QuotedIn(text) {
		if !strings.HasPrefix(lit, "/") && !strings.HasPrefix(lit, "~") {
			continue
		}
		_, behind, _ := strings.Cut(text, lit)
		behind = strings.TrimLeft(behind, `'", `)
		writes := strings.HasPrefix(behind, "w") && !strings.HasPrefix(behind, "wi") ||
			strings.Contains(text, "truncate(")
		why := x.whyVital(x.ResolveText(lit, strings.HasPrefix(lit, "~"), false, r))
		if writes && why != notVital {
			x.Report.Add("overwrite", r.Name(), fmt.Sprintf("%s code overwrites %s (%s)", r.Name(), lit, why))
			return true
		}
	}
	return false
}

// deviceWriters are words in code that opens a file for writing.
var deviceWriters = []string{"write", "'w", `"w`, "r+b", "'>", `">`, "O_WRONLY", "O_RDWR", "truncate", "dump"}

// firstOf returns the first of the words that occurs in a text.
func firstOf(text string, words []string) string {
	for _, w := range words {
		if strings.Contains(text, w) {
			return w
		}
	}
	return ""
}

// deletesSystemFile finds code that deletes a system file: perl -e 'unlink
// "/etc/passwd"'.
func deletesSystemFile(x *scope, r *shell.Run, text, deleter string) {
	for _, lit := range facts.QuotedIn(text) {
		if !strings.HasPrefix(lit, "/") {
			continue
		}
		if p := x.ResolveText(lit, false, false, r); p.Known && x.WhyBroad(p) == facts.SystemDirectory {
			x.Report.Add("code", r.Name(), fmt.Sprintf("calls %s on %s", deleter, lit))
			return
		}
	}
}
