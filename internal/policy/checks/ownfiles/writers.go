package ownfiles

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// writer is one run of a program that may change files.
type writer struct {
	t     *Checker
	x     *scope
	r     *shell.Run
	flags []shell.Word
	rest  []shell.Word // operands
	kind  programs.Kind
	// binaries says that hookmux's own programs are included.
	binaries bool
}

// write reports the first word that names one of our files.
func (c *writer) write(words []shell.Word) {
	for _, w := range words {
		if c.t.wordIsOwned(c.x, w, c.r, false) || c.binaries && ownBinary(w) {
			c.x.Report.Add("write", c.r.Head(), fmt.Sprintf("%s changes %s", c.r.Name(), w.Text))
			return
		}
		c.t.checkStartFile(c.x, c.r, w)
	}
}

// remove reports the first word whose loss takes one of our files with it.
func (c *writer) remove(words []shell.Word) {
	for _, w := range words {
		if c.t.wordIsOwned(c.x, w, c.r, true) || c.binaries && ownBinary(w) {
			c.x.Report.Add("delete", c.r.Head(), fmt.Sprintf("%s deletes %s", c.r.Name(), w.Text))
			return
		}
	}
}

var (
	writersOnce   sync.Once // the checks lead back to the table
	writersByKind map[programs.Kind]func(*writer)
)

// writers returns the checks of programs that change their operands, by the kind of tool they are.
func writers() map[programs.Kind]func(*writer) {
	writersOnce.Do(func() { writersByKind = makeWriters() })
	return writersByKind
}

func makeWriters() map[programs.Kind]func(*writer) {
	remove := func(c *writer) { c.remove(c.rest) }
	write := func(c *writer) { c.write(c.rest) }
	return map[programs.Kind]func(*writer){
		programs.KindDelete: remove, programs.KindErase: remove, programs.KindRemoveFolder: remove,
		programs.KindMove: (*writer).checkMove, programs.KindCopy: (*writer).checkCopy, programs.KindLink: (*writer).checkLink,
		programs.KindReplace: write, programs.KindEdit: write, programs.KindMounts: (*writer).checkMount,
		programs.KindRename: func(c *writer) {
			c.write(c.rest[min(1, len(c.rest)):])
			c.remove(c.rest[min(1, len(c.rest)):])
		},
		programs.KindPatches: (*writer).checkPatch, programs.KindUnpack: (*writer).checkUnpack,
		programs.KindLinkFarm: (*writer).checkStow, programs.KindDotfiles: (*writer).checkDotfiles,
		programs.KindMode: (*writer).checkMode, programs.KindRawCopy: (*writer).checkDD,
		programs.KindDownload: func(c *writer) {
			c.write(downloadTargets(c.r))
			c.write(facts.OptionValues(c.r.Args(), "--unix-socket"))
		},
		programs.KindDatabase: (*writer).checkDatabase, programs.KindRepository: (*writer).checkGit,
		programs.KindSearch: (*writer).checkFind, programs.KindLoginShell: (*writer).checkLoginShell,
		programs.KindTimetable: (*writer).checkCrontab, programs.KindLater: (*writer).checkLater,
		programs.KindLock:   func(c *writer) { c.write(c.rest[:min(len(c.rest), 1)]) },
		programs.KindSocket: (*writer).checkSocket,
	}
}

// checkWriter checks what a program does to its operands. A program that isn't known changes
// them; a known reader only does so with certain options.
func (t *Checker) checkWriter(x *scope, r *shell.Run) {
	if r.Contained || r.Local || len(r.Argv) == 0 {
		return
	}
	c := &writer{t: t, x: x, r: r}
	c.flags, c.rest = facts.SplitFlags(r.Args())
	c.rest = c.withListed(c.rest)
	name := plainName(r.Name())
	c.kind = x.Script.Programs.Of(name).Kind
	switch c.kind {
	case programs.KindDelete, programs.KindErase, programs.KindMove, programs.KindLink, programs.KindReplace,
		programs.KindRawCopy, programs.KindDownload:
		c.binaries = !r.Remote
	case programs.KindCopy: // what is copied to another machine isn't this guard's concern
		c.binaries = !r.Remote && !x.Script.Programs.Of(name).Has(programs.Sends)
	case programs.KindMode:
		c.binaries = !r.Remote && takesExecution(r.Args())
	}
	if check, ok := writers()[c.kind]; ok {
		check(c)
	}
	c.checkOperands(name)
	c.checkFilled(x.Script.Programs.Of(name))
	c.write(facts.OptionValues(r.Args(), x.Script.Programs.FileOptionsOf(name).Writes...))
	if programs.IsInterpreter(name) && facts.HasWord(r.Args(), "zipfile", "tarfile") && facts.HasWord(r.Args(), "-e", "--extract") {
		c.remove(c.rest[max(0, len(c.rest)-1):]) // whatever the archive has takes its place
	}
}

// withListed adds to the operands the names in a listing that xargs turns into operands:
// ls ~/.claude/*.json | xargs rm.
func (c *writer) withListed(operands []shell.Word) []shell.Word {
	if !facts.ViaXargs(c.r) {
		return operands
	}
	for _, n := range c.x.RunsIn(c.r.From) {
		switch n.Name() {
		case "ls", "exa", "eza", "lsd", "realpath", "readlink", "stat", "du":
			_, listed := facts.SplitFlags(n.Args())
			operands = append(operands[:len(operands):len(operands)], listed...)
		}
	}
	return operands
}

// plainName removes the g from the names of GNU's programs on macOS.
func plainName(name string) string {
	short, ok := strings.CutPrefix(name, "g")
	if ok && programs.Of(name).Kind == "" && (programs.Of(short).Kind != "" || programs.Of(short).Reader != nil) {
		return short
	}
	return name
}

func (c *writer) checkMove() {
	if len(c.rest) > 1 {
		c.remove(c.rest[:len(c.rest)-1])
	}
	c.checkDestination()
}

func (c *writer) checkCopy() {
	if c.r.Name() == "rsync" && (facts.HasShort(c.flags, 'n') || facts.HasLong(c.flags, "--dry-run")) {
		return
	}
	if c.makesLinks() {
		c.checkSecondName()
	}
	c.checkDestination()
	if c.r.Name() == "rsync" && len(c.rest) > 1 && facts.HasLong(c.flags, "--delete") {
		c.remove(c.rest[len(c.rest)-1:])
	}
}

// makesLinks reports whether a copy makes links instead of files.
func (c *writer) makesLinks() bool {
	switch plainName(c.r.Name()) {
	case "cp":
		return facts.HasShort(c.flags, 'l', 's') || facts.HasLong(c.flags, "--link", "--symbolic-link")
	case "rsync":
		return len(facts.OptionValues(c.r.Args(), "--link-dest")) > 0
	}
	return false
}

func (c *writer) checkLink() {
	c.checkSecondName()
	c.binaries = c.binaries && facts.HasShort(c.flags, 'f')
	c.checkDestination()
	if len(c.rest) > 1 && facts.HasShort(c.flags, 'f') {
		c.remove(c.rest[len(c.rest)-1:])
	}
}

func (c *writer) checkMount() {
	if facts.HasLong(c.flags, "--bind", "--rbind") || facts.HasWord(c.r.Args(), "bind", "-obind", "-B") {
		c.checkSecondName()
	}
	c.remove(c.rest) // whatever is mounted there hides what was
}

func (c *writer) checkMode() {
	for _, w := range c.rest {
		if c.t.wordIsOwned(c.x, w, c.r, false) || c.binaries && ownBinary(w) {
			c.x.Report.Add("write", c.r.Head(), fmt.Sprintf("%s changes %s", c.r.Name(), w.Text))
			break
		}
	}
	// A folder without its x bit hides what is in it.
	if facts.HasShort(c.flags, 'R') || c.binaries {
		c.remove(c.rest)
	}
}

func (c *writer) checkDD() {
	for _, a := range c.rest {
		if strings.HasPrefix(a.Text, "of=") {
			c.write([]shell.Word{facts.CutWord(a, len("of="))})
		}
	}
}

// checkSocket denies listening at the daemon's socket or talking to it, which uses a path. socat
// writes it as KIND:path,option.
func (c *writer) checkSocket() {
	var paths []shell.Word
	for _, w := range c.r.Args() {
		for part := range strings.SplitSeq(w.Text, ":") {
			part, _, _ = strings.Cut(part, ",")
			paths = append(paths, shell.Word{Text: part, Bare: part, Dynamic: w.Dynamic, Glob: w.Glob,
				Tilde: strings.HasPrefix(part, "~")})
		}
	}
	c.write(paths)
}

func (c *writer) checkUnpack() {
	if name := plainName(c.r.Name()); (name == "tar" || name == "bsdtar") &&
		facts.HasLong(c.flags, "--remove-files") {
		c.remove(c.rest)
	}
	if dir, ok := facts.ExtractDir(c.r); ok {
		c.fill(dir)
	}
}

// fill checks a program that writes files into a folder whose names aren't in the command: an
// archive's, a patch's, a package's.
func (c *writer) fill(dir shell.Word) {
	if c.r.Contained || c.r.Remote {
		return
	}
	p := c.x.ResolveWord(dir, c.r)
	home := p.Known && p.Path == path.Clean(c.x.Home) && p.Path != path.Clean(c.x.Project)
	if home || c.t.wordIsOwned(c.x, dir, c.r, true) {
		c.x.Report.Add("write", c.r.Head(),
			fmt.Sprintf("%s may write anything into %s, where settings and start files lie", c.r.Name(), dir.Text))
	} else if p.Known && holdsStartFile(c.x, p.Path) {
		c.x.Report.Add("launch", c.r.Head(),
			fmt.Sprintf("%s may write anything into %s, where start files lie", c.r.Name(), dir.Text))
	}
}

// here returns the folder that a command went to; ok is false if it stayed where it was.
func (c *writer) here() (dir shell.Word, ok bool) {
	return shell.Word{Text: ".", Bare: "."}, len(c.r.Dirs) > 0
}

func (c *writer) checkPatch() {
	c.write(c.rest)
	if facts.HasLong(c.flags, "--dry-run", "--check") {
		return
	}
	dirs := facts.OptionValues(c.r.Args(), "-d", "--directory")
	if dir, ok := c.here(); ok && len(dirs) == 0 {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		c.fill(dir)
	}
}

// checkStow checks GNU Stow, which fills a folder with links: by default the one above
// its own.
func (c *writer) checkStow() {
	if facts.HasShort(c.flags, 'n') || facts.HasLong(c.flags, "--no", "--simulate") {
		return
	}
	targets := facts.OptionValues(c.r.Args(), "-t", "--target")
	if _, moved := c.here(); moved && len(targets) == 0 && len(facts.OptionValues(c.r.Args(), "-d", "--dir")) == 0 {
		targets = append(targets, shell.Word{Text: "..", Bare: ".."})
	}
	for _, dir := range targets {
		c.fill(dir)
	}
}

// checkDotfiles checks the programs that write a whole set of dotfiles.
func (c *writer) checkDotfiles() {
	if len(c.rest) == 0 || facts.HasShort(c.flags, 'n') || facts.HasLong(c.flags, "--dry-run") {
		return
	}
	switch c.rest[0].Text {
	case "apply", "update":
	case "init":
		if !facts.HasLong(c.flags, "--apply") {
			return
		}
	default:
		return
	}
	c.fill(shell.Word{Text: "~", Bare: "~", Tilde: true})
}

func (c *writer) checkDatabase() {
	text := c.x.StatementText(c.r)
	if len(c.rest) > 0 && changesDatabase(text) {
		c.write(c.rest[:1])
	}
	for _, m := range databaseOutput.FindAllStringSubmatch(text, 16) {
		c.write([]shell.Word{{Text: m[1], Bare: m[1], Tilde: strings.HasPrefix(m[1], "~"), Dynamic: strings.Contains(m[1], "$")}})
	}
}

// checkGit checks subcommands that change files in the work tree, or a file that an
// option names.
func (c *writer) checkGit() {
	sub, args := facts.GitParts(c.r)
	flags, paths := facts.SplitFlags(args)
	switch sub {
	case "checkout", "restore", "rm", "mv", "apply", "stash", "clone", "init", "worktree", "bundle":
		c.write(paths)
	}
	switch sub {
	case "apply", "am":
		if facts.HasLong(flags, "--check", "--stat", "--numstat", "--summary", "--abort", "--cached") {
			break
		}
		dirs := facts.OptionValues(args, "--directory")
		if dir, moved := c.here(); moved {
			dirs = append(dirs, dir)
		}
		for _, dir := range dirs {
			c.fill(dir)
		}
	case "clean":
		if !facts.HasShort(args, 'n') && !facts.HasLong(args, "--dry-run") {
			c.remove(cleanedPaths(args))
		}
	case "config":
		c.checkGitConfig(args, flags, paths)
	case "clone":
		c.fillClone(paths)
	case "worktree":
		if len(paths) > 1 && (paths[0].Text == "add" || paths[0].Text == "move") {
			for _, dir := range paths[1:] {
				c.fillOwned(dir)
			}
		}
	case "submodule", "subtree":
		if len(paths) > 1 && paths[0].Text == "add" {
			c.fillClone(append(paths[1:], facts.OptionValues(args, "-P", "--prefix")...))
		}
	}
	c.write(facts.OptionValues(args, "-o", "--output", "--output-directory"))
}

// checkFilled checks the folders in which a program changes whatever lies there.
func (c *writer) checkFilled(p *programs.Program) {
	if len(c.rest) == 0 || !p.FillsFolder(facts.KnownTexts(c.r.Args())) {
		return
	}
	if p.Fills.Last {
		c.fillOwned(c.rest[len(c.rest)-1])
		return
	}
	for _, option := range p.Fills.Options {
		name, key, keyed := strings.Cut(option, "=")
		for _, dir := range facts.OptionValues(c.r.Args(), name) {
			if given, _, ok := strings.Cut(dir.Text, "="); keyed && ok && strings.EqualFold(given, key) {
				c.fillOwned(facts.CutWord(dir, len(key)+1))
			} else if !keyed {
				c.fillOwned(dir)
			}
		}
	}
	for i := range c.x.Script.Runs {
		for _, a := range c.x.Script.Runs[i].Assigns {
			if slices.Contains(p.Fills.Variables, a.Name) {
				c.fillOwned(a.Value)
			}
		}
		if &c.x.Script.Runs[i] == c.r {
			break
		}
	}
	here := shell.Word{Text: ".", Bare: "."}
	at := c.x.ResolveWord(here, c.r)
	if !at.Known || path.Clean(at.Path) != path.Clean(c.x.Cwd) || ownRoots()[strings.ToLower(path.Base(at.Path))] {
		c.fillOwned(here)
	}
}

// fillClone checks the folder into which a repository is copied: the second operand, or one named
// after the repository.
func (c *writer) fillClone(operands []shell.Word) {
	switch {
	case len(operands) > 1: // one of them may be an option's value
		for _, dir := range operands[1:] {
			c.fillOwned(dir)
		}
	case len(operands) == 1 && !operands[0].Dynamic:
		name := path.Base(strings.TrimSuffix(strings.TrimRight(operands[0].Text, "/"), ".git"))
		c.fillOwned(shell.Word{Text: name, Bare: name})
	}
}

// fillOwned checks a program that makes a folder and fills it.
func (c *writer) fillOwned(dir shell.Word) {
	if c.t.wordIsOwned(c.x, dir, c.r, true) {
		c.x.Report.Add("write", c.r.Head(), fmt.Sprintf("%s may write anything into %s, where settings lie", c.r.Name(), dir.Text))
	}
}

// checkGitConfig checks git config -f file key value, and settings for every repository that make
// git run something.
func (c *writer) checkGitConfig(args, flags, paths []shell.Word) {
	reads := facts.HasLong(flags, "--get", "--get-all", "--get-regexp", "--list", "--get-urlmatch") ||
		facts.HasWord(flags, "-l") || len(paths) > 0 && facts.HasWord(paths[:1], "get", "list")
	if reads {
		return
	}
	c.write(facts.OptionValues(args, "-f", "--file"))
	for i, key := range paths[:max(0, len(paths)-1)] {
		if strings.EqualFold(key.Text, "core.worktree") {
			c.fillOwned(paths[i+1])
		}
	}
	if !facts.HasLong(flags, "--global", "--system") {
		return
	}
	edits := facts.HasShort(flags, 'e') || facts.HasLong(flags, "--edit", "--unset", "--unset-all", "--add",
		"--replace-all", "--remove-section", "--rename-section")
	if len(paths) > 0 && facts.HasWord(paths[:1], "set", "unset", "edit", "rename-section", "remove-section") {
		edits, paths = true, paths[1:]
	}
	if !edits && len(paths) < 2 { // shows what is set
		return
	}
	if len(paths) > 1 && strings.HasPrefix(strings.ToLower(paths[0].Text), "alias.") && !paths[1].Dynamic &&
		!strings.HasPrefix(paths[1].Text, "!") {
		return // another name for one of git's own commands
	}
	if len(paths) == 0 || !isQuietGitSetting(paths[0].Text) || paths[0].Dynamic {
		c.x.Report.Add("launch", c.r.Head(),
			"changes git's settings for every repository, by which git runs programs; only the user should do that")
	}
}

// checkDestination checks the destination: the last operand, -t's directory, or the
// file of that name in a directory.
func (c *writer) checkDestination() {
	last, sources, ok := facts.SplitTarget(c.r.Args(), c.rest)
	if !ok {
		return
	}
	c.write([]shell.Word{last})
	p := c.x.ResolveWord(last, c.r)
	if !p.Known {
		return
	}
	for _, src := range sources {
		to := path.Join(p.Path, path.Base(src.Text))
		resolved, linked := c.x.RealPath(to, true)
		bin := path.Base(p.Path) == "bin" && ownBinary(src) && !c.r.Remote
		owned := c.t.isOwned(to) && !c.t.isOwned(p.Path) || linked && c.t.isOwned(resolved)
		if owned || bin || c.merges(src, p.Path) {
			c.x.Report.Add("write", c.r.Head(), fmt.Sprintf("%s puts %s into %s", c.r.Name(), path.Base(src.Text),
				last.Text))
			return
		}
		c.t.checkStartFile(c.x, c.r, shell.Word{Text: to, Bare: to})
	}
}

// merges reports whether a recursive copy of src into dir can replace our files
// below it.
func (c *writer) merges(src shell.Word, dir string) bool {
	name := c.r.Name()
	recursive := name == "rsync" || name == "mv" || name == "ditto" || facts.HasShort(c.flags, 'r', 'R', 'a') ||
		facts.HasLong(c.flags, "--recursive", "--archive")
	if !recursive || c.x.IsScratch(path.Join(dir, "x")) || c.r.Remote {
		return false
	}
	t := src.Text
	trees := name == "rsync" || name == "ditto"
	contents := name == "ditto" || strings.HasSuffix(t, "/.") || strings.HasSuffix(t, "/") && trees ||
		facts.HasShort(c.flags, 'T') && !trees || facts.HasLong(c.flags, "--no-target-directory")
	switch {
	case contents:
		return c.t.holdsOwned(c.x, dir) || dir == c.x.Home || holdsStartFile(c.x, dir)
	case name == "mv": // does not merge with a directory that is there
		return false
	case src.Glob:
		return c.t.globMayOwn(c.x, path.Join(dir, path.Base(t)), true)
	}
	return c.t.holdsOwned(c.x, path.Join(dir, path.Base(t)))
}

// checkSecondName denies giving a second name to one of our files: it would get around every rule
// here.
func (c *writer) checkSecondName() {
	_, sources, ok := facts.SplitTarget(c.r.Args(), c.rest)
	if !ok {
		sources = c.rest
	}
	sources = append(sources[:len(sources):len(sources)], facts.OptionValues(c.r.Args(), "--link-dest")...)
	for _, w := range sources {
		if c.t.wordIsOwned(c.x, w, c.r, true) {
			c.x.Report.Add("write", c.r.Head(), fmt.Sprintf("%s gives %s a second name", c.r.Name(), w.Text))
			return
		}
	}
}
