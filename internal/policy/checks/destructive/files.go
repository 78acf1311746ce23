package destructive

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

func rmRule(x *scope, r *shell.Run) {
	if asksHelp(r.Args()) {
		return
	}
	flags, targets := facts.SplitFlags(r.Args())
	recursive := facts.HasShort(flags, 'r', 'R') || facts.HasLong(flags, "--recursive", "--no-preserve-root") ||
		x.Script.Programs.Of(r.Name()).Has(programs.Recursive)
	deletesListing(x, r)
	for _, w := range targets {
		if recursive {
			x.checkDelete(r, w, "deletes")
			x.checkListing(r, w)
			x.fromList(r, w)
			continue
		}
		p := x.ResolveWord(w, r)
		if !p.Known || r.Contained {
			continue
		}
		switch why := x.WhyBroad(p); {
		case p.All && why != facts.NotBroad && why != facts.WholeProject:
			x.Report.Add("rm-broad", r.Head(), fmt.Sprintf("deletes every file in %s", why))
		case why == facts.SystemDirectory && !facts.IsBelow(p.Path, "/var/log") &&
			!facts.IsBelow(p.Path, "/opt") && !facts.IsBelow(p.Path, "/usr/local"):
			x.Report.Add("rm-system", r.Head(), fmt.Sprintf("deletes %s in a system directory", p.Text))
		case strings.Count(p.Path, "/") == 1 && p.Path != "/":
			x.Report.Add("rm-system", r.Head(), fmt.Sprintf("deletes %s at the root of the file system", p.Text))
		case x.losesSettings(p):
			x.Report.Add("overwrite", r.Head(), fmt.Sprintf("deletes %s, which nothing makes again", p.Text))
		case x.losesPersonal(p):
			x.Report.Add("overwrite", r.Head(), fmt.Sprintf("deletes %s (a personal file)", p.Text))
		}
	}
	if !recursive {
		x.losesDocuments(r, "deletes", targets...)
	}
}

// asksHelp reports whether --help comes before the operands. Behind them it is one itself
// on macOS.
func asksHelp(args []shell.Word) bool {
	for _, a := range args {
		if a.Text == "--help" {
			return true
		}
		if !strings.HasPrefix(a.Text, "-") || a.Text == "--" || a.Dynamic {
			break
		}
	}
	return false
}

// deletesListing finds ls | xargs rm -rf and git ls-files | xargs rm, which delete everything
// there is.
func deletesListing(x *scope, r *shell.Run) {
	if !facts.ViaXargs(r) || r.Contained {
		return
	}
	from := x.RunsIn(r.From)
	if len(from) != 1 {
		return
	}
	args := from[0].Args()
	_, rest := facts.SplitFlags(args)
	switch from[0].Name() {
	case "ls", "exa", "eza", "dir":
		dir, ok := x.StartDir(r)
		if len(rest) == 0 && ok && x.WhyBroad(facts.Place{Path: dir, Known: true}) != facts.NotBroad {
			x.Report.Add("rm-broad", r.Head(), "deletes everything that is listed")
		}
	case "git":
		sub, words := facts.GitParts(&from[0])
		flags, paths := facts.SplitFlags(words)
		if sub == "ls-files" && len(paths) == 0 && !facts.HasShort(flags, 'o', 'i', 'd') &&
			!facts.HasLong(flags, "--others", "--ignored", "--deleted") {
			x.Report.Add("rm-broad", r.Head(), "deletes every file of the repository")
		}
	}
}

// losesPersonal reports whether p is one of the user's own files that no program recreates: start
// files, and keys.
func (x *scope) losesPersonal(p facts.Place) bool {
	switch x.whyVital(p) {
	case startFile:
		return !strings.HasSuffix(p.Path, "_history")
	case sshFile:
		base := path.Base(p.Path)
		return !strings.HasPrefix(base, "known_hosts") && !strings.HasPrefix(base, "control") &&
			!strings.HasSuffix(base, ".sock") && !strings.HasSuffix(base, ".old") && !strings.HasSuffix(base, ".lock") && !strings.HasSuffix(base, ".bak")
	}
	return false
}

// sourceDirs are folders at the root of a project that are written by hand, and that no build
// makes.
var sourceDirs = map[string]bool{"src": true, "app": true, "apps": true, "packages": true, "infra": true,
	"internal": true, "cmd": true, "pkg": true, "server": true, "client": true, "backend": true, "frontend": true,
	"migrations": true,
	"terraform":  true, "services": true, "source": true, "Sources": true, "crates": true}

// losesSettings reports whether p is a file of the project that is in no repository and that no
// program recreates: settings with their secrets, and the state of terraform.
func (x *scope) losesSettings(p facts.Place) bool {
	if !facts.IsBelow(p.Path, x.Project) {
		return false
	}
	switch base := path.Base(p.Path); base {
	case ".env", ".env.local", ".env.production", ".env.prod", ".env.production.local", ".env.staging",
		".env.development", ".env.live":
		return true
	default:
		return strings.HasSuffix(base, ".tfstate") || strings.HasSuffix(base, ".tfstate.backup")
	}
}

// desktopFileRule checks gio trash, gio remove and kioclient move x trash:/.
func desktopFileRule(x *scope, r *shell.Run) {
	_, rest := facts.SplitFlags(r.Args())
	if len(rest) < 2 {
		return
	}
	targets := rest[1:]
	switch rest[0].Text {
	case "trash", "remove", "del":
	case "move":
		targets = rest[1 : len(rest)-1]
		if to := rest[len(rest)-1].Text; !strings.HasPrefix(to, "trash:") {
			return
		}
	default:
		return
	}
	for _, w := range targets {
		x.checkDelete(r, w, "deletes")
	}
}

// checkDelete checks one target of a recursive delete.
func (x *scope) checkDelete(r *shell.Run, w shell.Word, verb string) {
	p := x.ResolveWord(w, r)
	if p.Known {
		why := x.WhyBroad(p)
		if r.Contained {
			if why == facts.WholeFileSystem || why == facts.TopLevel {
				x.Report.Add("rm-broad", r.Head(), fmt.Sprintf("%s %s in a container", verb, why))
			} else if holdsData(r, p) {
				x.Report.Add("rm-outside", r.Head(),
					fmt.Sprintf("%s %s, the data of a running container", verb, p.Text))
			}
			return
		}
		switch {
		case why != facts.NotBroad:
			x.Report.Add("rm-broad", r.Head(), fmt.Sprintf("%s %s (%s)", verb, p.Text, why))
		case x.IsOutside(p) && !buildDir(path.Base(p.Path)):
			x.Report.Add("rm-outside", r.Head(), fmt.Sprintf("%s %s, which is outside the project", verb, p.Text))
		case path.Dir(p.Path) == x.Project && sourceDirs[path.Base(p.Path)] && r.Name() != "git":
			x.Report.Add("rm-broad", r.Head(), fmt.Sprintf("%s %s (a source folder of the project)", verb, p.Text))
		case x.losesSettings(p):
			x.Report.Add("overwrite", r.Head(), fmt.Sprintf("%s %s, which nothing makes again", verb, p.Text))
		}
		return
	}
	if strings.HasPrefix(w.Text, "$OLDPWD") || strings.HasPrefix(w.Text, "${OLDPWD}") {
		x.Report.Add("rm-dynamic", r.Head(), fmt.Sprintf("%s %s, the folder that cd left", verb, w.Text))
		return
	}
	if strings.TrimSuffix(w.Text, "/") == ".git" || strings.HasSuffix(strings.TrimSuffix(w.Text, "/"), "/.git") {
		x.Report.Add("rm-broad", r.Head(), fmt.Sprintf("%s %s (a repository's history)", verb, w.Text))
		return
	}
	// The directory isn't known: patterns over all of it are a gamble.
	if !w.Dynamic && (p.All || strings.HasPrefix(w.Text, "..")) {
		x.Report.Add("rm-dynamic", r.Head(), fmt.Sprintf("%s %s in a directory that is not known beforehand", verb,
			w.Text))
		return
	}
	// What an unset variable would turn it into.
	if b := x.ResolveBare(w, r); w.Dynamic && b.Known && b.Text != w.Text {
		if why := x.WhyBroad(b); why != facts.NotBroad && why != facts.RepositoryHistory &&
			(b.Path == x.Home || !x.commonSub(b.Path)) {
			x.Report.Add("rm-dynamic", r.Head(),
				fmt.Sprintf("%s %s, which is %s (%s) if the variable is empty", verb, w.Text,
					b.Path, why))
		}
	}
}

// checkListing checks what a listing names and a later program deletes: ls / | xargs
// rm -rf.
func (x *scope) checkListing(r *shell.Run, w shell.Word) {
	if !w.Dynamic || r.Contained {
		return
	}
	for _, from := range x.RunsIn(w.From) {
		if from.Name() != "ls" {
			continue
		}
		_, dirs := facts.SplitFlags(from.Args())
		for _, d := range dirs {
			p := x.ResolveWord(d, &from)
			if why := x.WhyBroad(p); p.Known && why != facts.NotBroad && why != facts.WholeProject {
				x.Report.Add("rm-broad", r.Head(), fmt.Sprintf("deletes everything listed in %s (%s)", d.Text, why))
			} else if p.Known && x.IsOutside(p) {
				x.Report.Add("rm-outside", r.Head(), fmt.Sprintf("deletes what is listed in %s, outside the project", d.Text))
			}
		}
	}
}

// commonSub reports names that build scripts often join to a variable: "$OUT/bin" isn't a sign of
// danger, "$ROOT/etc" is.
func (x *scope) commonSub(p string) bool {
	if p == "/" || strings.Count(p, "/") != 1 {
		return strings.Count(p, "/") > 1
	}
	for _, d := range facts.SystemDirs {
		if p == d {
			switch path.Base(p) {
			case "bin", "lib", "lib64", "sbin", "run", "dev", "cores", "private":
				return true
			}
			return false
		}
	}
	return p != "/home" && p != "/Users" && p != x.Home
}

var findTests = []string{"-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex", "-mtime", "-mmin",
	"-newer", "-size", "-empty",
	"-ctime", "-atime", "-user", "-perm", "-cmin", "-amin", "-xtype", "-inum", "-links", "-samefile", "-group",
	"-nouser",
	"-lname"}

func findRule(x *scope, r *shell.Run) {
	args := r.Args()
	deletes := x.FindDeletes(r, args)
	if !deletes && !facts.HasWord(args, "-exec", "-execdir", "-ok", "-okdir") {
		return
	}
	var starts []shell.Word
	finds := filters(args)
	if strings.HasPrefix(r.Name(), "fd") {
		end := slices.IndexFunc(args, func(a shell.Word) bool {
			return a.Text == "-x" || a.Text == "-X" || strings.HasPrefix(a.Text, "--exec")
		})
		if end < 0 {
			end = len(args)
		}
		flags, rest := facts.SplitFlags(args[:end])
		starts = rest[min(1, len(rest)):]
		finds = len(rest) > 0 && strings.Trim(rest[0].Text, ".*") != "" || facts.HasShort(flags, 'e', 'S', 'E') ||
			facts.HasLong(flags, "--extension", "--size", "--changed-before", "--changed-within", "--exclude")
	} else {
		for _, a := range args {
			if a.Text == "" || strings.HasPrefix(a.Text, "-") && len(a.Text) > 2 || a.Text == "(" || a.Text == "!" {
				break
			}
			if a.Text[0] != '-' {
				starts = append(starts, a)
			}
		}
	}
	if len(starts) == 0 {
		starts = []shell.Word{{Text: ".", Bare: "."}}
	}
	if r.Contained {
		for _, s := range starts {
			if p := x.ResolveWord(s, r); deletes && holdsData(r, p) && !facts.HasWord(args, findTests...) {
				x.Report.Add("find-delete", r.Head(),
					fmt.Sprintf("deletes %s, the data of a running container", p.Text))
			}
		}
		return
	}
	if !deletes {
		findPermissions(x, r, args, starts)
		return
	}
	filtered := finds
	byName := false
	for _, a := range args {
		switch {
		case byName && (a.Text == "*" || a.Text == "*.*"):
			filtered = false
		case byName && a.Text == ".git":
			x.Report.Add("find-delete", r.Head(), "deletes repositories' histories")
		}
		byName = strings.HasPrefix(a.Text, "-") && strings.Contains(a.Text, "name")
	}
	for _, s := range starts {
		p := x.ResolveWord(s, r)
		if !p.Known {
			if b := x.ResolveBare(s, r); s.Dynamic && b.Known && b.Path == "/" {
				x.Report.Add("find-delete", r.Head(),
					fmt.Sprintf("deletes below %s, which is the root if the variable is empty",
						s.Text))
			}
			continue
		}
		why := x.WhyBroad(p)
		switch {
		case why == facts.WholeProject && findsSources(args):
			x.Report.Add("find-delete", r.Head(), "deletes source files of the whole project")
		case why == facts.WholeProject && filtered, why == facts.RepositoryHistory && filtered,
			(p.Path == "/tmp" || p.Path == "/var/tmp") && filtered:
		case why != facts.NotBroad:
			x.Report.Add("find-delete", r.Head(), fmt.Sprintf("deletes what it finds in %s (%s)", p.Text, why))
		case x.IsOutside(p):
			x.Report.Add("find-delete", r.Head(),
				fmt.Sprintf("deletes what it finds in %s, outside the project", p.Text))
		}
	}
}

// filters reports whether find selects only some of what there is: by a test that isn't negated,
// and doesn't only keep out of a folder.
func filters(args []shell.Word) bool {
	for i, a := range args {
		if !slices.Contains(findTests, a.Text) {
			continue
		}
		negated := i > 0 && (args[i-1].Text == "!" || args[i-1].Text == "-not")
		if pruned := i+2 < len(args) && args[i+2].Text == "-prune"; !negated && !pruned {
			return true
		}
	}
	return false
}

// sourceNames are patterns of files that are written by hand, and that no build makes.
var sourceNames = []string{"*.ts", "*.tsx", "*.py", "*.go", "*.rs", "*.java", "*.rb", "*.php", "*.c", "*.cc", "*.cpp",
	"*.h", "*.cs", "*.kt", "*.swift", "*.sql", "*.tf", "*.vue", "*.svelte", "*.md", "*.scala", "*.ex"}

// findsSources reports whether find selects all files of a source language, with no test other
// than the name.
func findsSources(args []shell.Word) bool {
	tests, sources := 0, false
	for i, a := range args {
		switch {
		case a.Text == "-not", a.Text == "!", a.Text == "-prune", a.Text == "-maxdepth":
			return false
		case slices.Contains(findTests, a.Text):
			tests++
			sources = i+1 < len(args) && strings.HasSuffix(a.Text, "name") &&
				slices.Contains(sourceNames, args[i+1].Text)
		}
	}
	return tests == 1 && sources
}

func permissionRule(x *scope, r *shell.Run) {
	flags, rest := facts.SplitFlags(r.Args())
	if r.Name() == "setfacl" && len(rest) == 1 { // setfacl -R -b dir
		rest = append([]shell.Word{{}}, rest...)
	}
	if facts.HasLong(flags, "--reference") {
		rest = append([]shell.Word{{Text: "--reference"}}, rest...)
		for _, w := range rest[1:] {
			if p := x.ResolveWord(w, r); p.Known && facts.IsUnder(p.Path, x.Home+"/.ssh") {
				x.Report.Add("permissions", r.Head(), fmt.Sprintf("gives %s the permissions of something else", w.Text))
			}
		}
	}
	for _, f := range flags { // chmod -x file: its mode looks like an option
		if len(rest) > 0 && len(f.Text) > 1 && strings.Trim(f.Text[1:], "rwxXst") == "" {
			rest = append([]shell.Word{f}, rest...)
			break
		}
	}
	if len(rest) < 2 || r.Contained {
		return
	}
	recursive := facts.HasShort(flags, 'R') || facts.HasLong(flags, "--recursive")
	mode := rest[0].Text
	open := r.Name() == "chmod" && (strings.HasSuffix(mode, "777") || mode == "a+rwx" || mode == "+rwx" ||
		mode == "ugo+rwx" || mode == "a=rwx" || mode == "o+w" || mode == "a+w" || strings.HasSuffix(mode, "666"))
	closed := r.Name() == "chmod" && (strings.Trim(mode, "0") == "" || mode == "a-rwx" || mode == "-rwx" ||
		mode == "a-x" || mode == "-x")
	for _, w := range rest[1:] {
		p := x.ResolveWord(w, r)
		if !p.Known {
			if b := x.ResolveBare(w, r); w.Dynamic && recursive && b.Known && b.Path == "/" {
				x.Report.Add("permissions", r.Head(),
					fmt.Sprintf("changes everything below %s, which is the root if the variable is empty", w.Text))
			}
			continue
		}
		why := x.WhyBroad(p)
		inProject := why == facts.WholeProject || why == facts.RepositoryHistory
		switch {
		case why == facts.NotBroad:
		case recursive && !inProject, recursive && (open || closed):
			x.Report.Add("permissions", r.Head(),
				fmt.Sprintf("changes permissions or owners of all of %s (%s)", p.Text, why))
		case !inProject && (open || closed):
			x.Report.Add("permissions", r.Head(), fmt.Sprintf("opens or closes %s (%s) to everyone", p.Text, why))
		}
	}
}

// vitalKind is why losing a file's contents locks you out or loses a repository.
type vitalKind int

const (
	notVital vitalKind = iota
	systemFile
	startFile
	sshFile
	repositoryData
)

var vitalTexts = [...]string{
	notVital:       "",
	systemFile:     "a vital system file",
	startFile:      "a personal start file",
	sshFile:        "a personal key or ssh file",
	repositoryData: "the repository's own data",
}

// String returns the kind as text.
func (v vitalKind) String() string { return vitalTexts[v] }

// whyVital reports whether p is a file that must not be lost, and why.
func (x *scope) whyVital(p facts.Place) vitalKind {
	if !p.Known {
		return notVital
	}
	t := p.Path
	switch t {
	case "/etc/passwd", "/etc/shadow", "/etc/group", "/etc/sudoers", "/etc/fstab", "/etc/ssh/sshd_config",
		"/etc/crypttab", "/etc/gshadow", "/etc/hosts", "/etc/resolv.conf":
		return systemFile
	}
	if facts.IsUnder(t, "/boot") || facts.IsUnder(t, "/etc/sudoers.d") || facts.IsUnder(t, "/etc/pam.d") {
		return systemFile
	}
	if path.Dir(t) == x.Home {
		switch path.Base(t) {
		case ".bashrc", ".zshrc", ".profile", ".bash_profile", ".zprofile", ".zshenv", ".gitconfig", ".bash_history",
			".zsh_history":
			return startFile
		}
	}
	if strings.HasPrefix(t, x.Home+"/.ssh/") || strings.HasPrefix(t, x.Home+"/.gnupg/") {
		return sshFile
	}
	if facts.IsBelow(t, x.Project) && strings.Contains(t, "/.git/") && !strings.Contains(t, "/.git/hooks/") &&
		!strings.Contains(t, "/.git/info/") && !strings.HasSuffix(t, "_EDITMSG") {
		return repositoryData
	}
	return notVital
}

func isDevice(p facts.Place) bool {
	t := p.Text
	if p.Known {
		t = p.Path
	}
	if !strings.HasPrefix(t, "/dev/") {
		return false
	}
	for _, d := range [...]string{"sd", "hd", "vd", "xvd", "nvme", "disk", "rdisk", "mmcblk", "md", "dm-", "mapper/",
		"loop", "mem", "kmem", "port", "block/", "zd", "nbd", "sr", "fd0"} {
		if strings.HasPrefix(t[len("/dev/"):], d) {
			return true
		}
	}
	return false
}

// redirectRule checks `> file`, which empties the file before anything runs.
func redirectRule(x *scope, r *shell.Run) {
	for _, rd := range r.Redirects {
		if !rd.Writes() || r.Contained {
			continue
		}
		p := x.ResolveWord(rd.Target, r)
		if isDevice(p) {
			x.Report.Add("disk", r.Head(), fmt.Sprintf("writes straight to the device %s", rd.Target.Text))
			continue
		}
		if strings.HasPrefix(p.Path, "/proc/sysrq-trigger") {
			x.Report.Add("system", r.Head(), "triggers a kernel emergency function")
			continue
		}
		if p.Known && facts.IsBelow(p.Path, "/var/log") && rd.Op == ">" && printsNothing(r) {
			x.Report.Add("overwrite", r.Head(), fmt.Sprintf("empties the log %s", rd.Target.Text))
		}
		if p.Known && x.losesSettings(p) && rd.Op == ">" && printsNothing(r) {
			x.Report.Add("overwrite", r.Head(), fmt.Sprintf("empties %s, which nothing makes again", rd.Target.Text))
		}
		if why := x.whyVital(p); why != notVital && !strings.Contains(rd.Op, ">>") {
			x.Report.Add("overwrite", r.Head(), fmt.Sprintf("overwrites %s (%s)", rd.Target.Text, why))
		}
		if !strings.Contains(rd.Op, ">>") && printsNothing(r) {
			x.losesDocuments(r, "empties", rd.Target)
		}
		emptiesFound(x, r, rd)
	}
}

// emptiesFound checks find . -exec sh -c ': > "$1"' _ {} \; and for f in ~/.*rc; do :>
// "$f", which empty every file that is found.
func emptiesFound(x *scope, r *shell.Run, rd shell.Redirect) {
	if strings.Contains(rd.Op, ">>") || !printsNothing(r) {
		return
	}
	found := facts.ViaXargs(r) || slices.ContainsFunc(r.Via, func(v string) bool {
		return strings.HasPrefix(v,
			"find -")
	})
	if found && rd.Target.Dynamic {
		x.Report.Add("overwrite", r.Head(), "empties every file that is found")
		return
	}
	if p := x.ResolveWord(rd.Target, r); rd.Target.Glob && p.Known && path.Dir(p.Path) == x.Home {
		x.Report.Add("overwrite", r.Head(), fmt.Sprintf("empties every file that fits %s", rd.Target.Text))
	}
}

// printsNothing reports whether a run has no output: its redirection empties a file.
func printsNothing(r *shell.Run) bool {
	switch args := r.Args(); r.Name() {
	case "", ":", "true":
		return true
	case "cat":
		return len(args) == 1 && args[0].Text == "/dev/null"
	case "echo", "printf":
		return len(args) == 0 || len(args) == 1 && (args[0].Text == "" || args[0].Text == "-n")
	}
	return false
}

// copiesNothing reports whether all sources are temporary or are named as empty: mirroring such a
// folder deletes the target.
func (x *scope) copiesNothing(sources []shell.Word, r *shell.Run) bool {
	for _, w := range sources {
		p := x.ResolveWord(w, r)
		named := strings.Contains(strings.ToLower(path.Base(strings.TrimSuffix(w.Text, "/"))), "empty") || w.Text == "/dev/null"
		if !named && !(p.Known && x.IsScratch(p.Path)) {
			return false
		}
	}
	return len(sources) > 0
}

func overwriteRule(x *scope, r *shell.Run) {
	flags, rest := facts.SplitFlags(r.Args())
	if r.Contained || len(rest) == 0 {
		return
	}
	kind := x.Script.Programs.Of(r.Name()).Kind
	copies := kind == programs.KindMove || kind == programs.KindCopy || kind == programs.KindLink
	last, sources := rest[len(rest)-1], rest[:len(rest)-1]
	if copies {
		if to, from, ok := facts.SplitTarget(r.Args(), rest); ok {
			last, sources = to, from
		}
	}
	dest := x.ResolveWord(last, r)
	if kind == programs.KindReplace && dest.Path == "/proc/sysrq-trigger" {
		x.Report.Add("system", r.Head(), "triggers a kernel emergency function")
	}
	switch {
	case kind == programs.KindMove:
		for _, w := range sources {
			p := x.ResolveWord(w, r)
			if dest.Path == "/dev/null" {
				x.Report.Add("overwrite", r.Head(), fmt.Sprintf("moves %s to /dev/null", w.Text))
				continue
			}
			if why := x.WhyBroad(p); p.Known && why != facts.NotBroad && !(p.All && why == facts.WholeProject) {
				x.Report.Add("overwrite", r.Head(), fmt.Sprintf("moves %s away (%s)", w.Text, why))
			} else if x.whyVital(facts.Place{Path: p.Path + "/x", Known: p.Known}) == sshFile && path.Dir(dest.Path) != x.Home {
				x.Report.Add("overwrite", r.Head(), fmt.Sprintf("moves %s away (%s)", w.Text, sshFile))
			}
		}
	case r.Name() == "rsync":
		if strings.Contains(last.Text, ":") && facts.HasLong(flags, "--delete", "--del") &&
			!facts.HasLong(flags, "--dry-run") && !facts.HasShort(flags, 'n') &&
			x.copiesNothing(rest[:len(rest)-1], r) {
			x.Report.Add("rm-outside", r.Head(), fmt.Sprintf("empties %s on another machine", last.Text))
			return
		}
		if facts.HasLong(flags, "--delete", "--delete-before", "--delete-after", "--delete-excluded", "--del",
			"--remove-source-files") && !strings.Contains(last.Text, ":") && !facts.HasShort(flags, 'n') &&
			!facts.HasLong(flags, "--dry-run") {
			if why := x.WhyBroad(dest); dest.Known && why != facts.NotBroad {
				x.Report.Add("rm-broad", r.Head(),
					fmt.Sprintf("mirrors over %s and deletes what is not in the source (%s)",
						last.Text, why))
			} else if x.IsOutside(dest) && x.copiesNothing(rest[:len(rest)-1], r) {
				x.Report.Add("rm-outside", r.Head(),
					fmt.Sprintf("empties %s, which is outside the project", last.Text))
			}
		}
		return
	}
	if kind == programs.KindMove {
		x.losesAway(r, dest, sources)
	}
	switch {
	case copies && kind != programs.KindLink && namesNothing(sources),
		kind == programs.KindReplace && x.emptied(r):
		x.losesDocuments(r, "empties", last)
	}
	targets := rest
	switch {
	case copies:
		targets = []shell.Word{last}
		if kind == programs.KindLink && !facts.HasShort(flags, 'f') {
			return
		}
	case kind == programs.KindReplace:
		if facts.HasShort(flags, 'a') || facts.HasLong(flags, "--append") {
			targets = nil
			for _, w := range rest {
				if isDevice(x.ResolveWord(w, r)) {
					targets = append(targets, w)
				}
			}
		}
	}
	for _, w := range targets {
		p := x.ResolveWord(w, r)
		if isDevice(p) {
			x.Report.Add("disk", r.Head(), fmt.Sprintf("writes straight to the device %s", w.Text))
		} else if why := x.whyVital(p); why != notVital {
			x.Report.Add("overwrite", r.Head(), fmt.Sprintf("overwrites %s (%s)", w.Text, why))
		} else if strings.HasSuffix(r.Name(), "truncate") && p.Known && x.WhyBroad(p) == facts.SystemDirectory {
			x.Report.Add("overwrite", r.Head(), fmt.Sprintf("empties %s in a system directory", w.Text))
		}
	}
}
