package ownfiles

import (
	"fmt"
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/shell"
)

// checkWriter: programs that change their operands.
func (t *Checker) checkWriter(x *scope, r *shell.Run) {
	flags, rest := inspect.SplitFlags(r.Args())
	binaries := false // hookmux's programs count, too
	switch strings.TrimPrefix(r.Name(), "g") {
	case "rm", "unlink", "shred", "srm", "trash", "trash-put", "wipe", "mv", "cp", "install", "ln", "tee", "sponge", "truncate", "dd", "curl", "wget":
		binaries = !r.Contained && !r.Remote
	case "chmod":
		binaries = !r.Contained && !r.Remote && takesExecution(r.Args())
	}
	write := func(ws []shell.Word) {
		for _, w := range ws {
			if t.wordIsOwned(x, w, r, false) || binaries && ownBinary(w) {
				x.Report.Add("write", r.String(), fmt.Sprintf("%s changes %s", r.Name(), w.Text))
				return
			}
		}
	}
	remove := func(ws []shell.Word) {
		for _, w := range ws {
			if t.wordIsOwned(x, w, r, true) || binaries && ownBinary(w) {
				x.Report.Add("delete", r.String(), fmt.Sprintf("%s takes %s away", r.Name(), w.Text))
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
		t.checkDestination(x, r, rest, write)
	case "cp", "install", "rsync", "scp", "ln":
		if name == "ln" || name == "gln" {
			t.checkLinks(x, r, rest)
			binaries = binaries && inspect.HasShort(flags, 'f')
		}
		t.checkDestination(x, r, rest, write)
		if len(rest) > 1 && (name == "ln" && inspect.HasShort(flags, 'f') || name == "rsync" && inspect.HasLong(flags, "--delete")) {
			remove(rest[len(rest)-1:])
		}
	case "mount":
		if inspect.HasLong(flags, "--bind", "--rbind") || inspect.HasWord(r.Args(), "bind", "-obind", "-B") {
			t.checkLinks(x, r, rest)
			remove(rest)
		}
	case "tee", "sponge", "truncate", "chmod", "chown", "chattr", "chflags", "ed", "ex", "patch", "vim", "vi", "nvim", "nano", "emacs", "setfacl":
		write(rest)
		if name == "chmod" || name == "chown" || name == "chattr" || name == "chflags" {
			if inspect.HasShort(flags, 'R') {
				remove(rest)
			}
		}
	case "sed":
		if inspect.HasShort(flags, 'i') || inspect.HasLong(flags, "--in-place") {
			write(rest)
		}
	case "perl", "ruby":
		if inspect.HasShort(flags, 'i') {
			write(rest)
		}
	case "awk", "awk2", "gawk":
		if inspect.HasWord(r.Args(), "inplace") {
			write(rest)
		}
	case "dd":
		for _, a := range rest {
			if v, ok := strings.CutPrefix(a.Text, "of="); ok {
				write([]shell.Word{{Text: v, Bare: v, Dynamic: a.Dynamic, Tilde: strings.HasPrefix(v, "~")}})
			}
		}
	case "curl", "wget":
		write(downloadTargets(r))
	case "tar", "bsdtar", "unzip", "7z", "7za", "cpio", "bsdcpio", "ditto":
		if dir, ok := inspect.ExtractDir(r); ok && t.wordIsOwned(x, dir, r, true) && !r.Contained {
			x.Report.Add("write", r.String(), fmt.Sprintf("%s unpacks into %s", name, dir.Text))
		}
	case "sqlite3", "duckdb":
		if len(rest) > 0 && changesDatabase(x.StatementText(r)) {
			write(rest[:1])
		}
	case "it": // git, its g taken off above
		sub, args := inspect.GitParts(r)
		switch sub {
		case "checkout", "restore", "rm", "mv", "apply", "stash":
			_, paths := inspect.SplitFlags(args)
			write(paths)
		case "clean":
			if !inspect.HasShort(args, 'n') && !inspect.HasLong(args, "--dry-run") {
				remove(cleanedPaths(args))
			}
		}
	case "yq", "jq", "dasel", "toml":
		if inspect.HasShort(flags, 'i') || inspect.HasLong(flags, "--inplace", "--in-place") {
			write(rest)
		}
	case "find", "fd", "fdfind":
		t.checkFind(x, r, rest, remove)
	}
}

// cleanedPaths are the paths of git clean; what -e names is kept.
func cleanedPaths(args []shell.Word) []shell.Word {
	var out []shell.Word
	for i, a := range args {
		if strings.HasPrefix(a.Text, "-") || i > 0 && (args[i-1].Text == "--exclude" || len(args[i-1].Text) > 1 && args[i-1].Text[0] == '-' && args[i-1].Text[1] != '-' && strings.HasSuffix(args[i-1].Text, "e")) {
			continue
		}
		out = append(out, a)
	}
	return out
}

// checkDestination: the last operand, -t's directory, or the file of that name in
// a directory.
func (t *Checker) checkDestination(x *scope, r *shell.Run, rest []shell.Word, write func([]shell.Word)) {
	last, sources, ok := inspect.SplitTarget(r.Args(), rest)
	if !ok {
		return
	}
	write([]shell.Word{last})
	p := x.ResolveWord(last, r)
	if !p.Known || r.Contained {
		return
	}
	for _, src := range sources {
		to := path.Join(p.Path, path.Base(src.Text))
		real, linked := x.RealPath(to, true)
		bin := path.Base(p.Path) == "bin" && ownBinary(src)
		if t.isOwned(to) && !t.isOwned(p.Path) || linked && t.isOwned(real) || bin && !r.Remote {
			x.Report.Add("write", r.String(), fmt.Sprintf("%s puts %s into %s", r.Name(), path.Base(src.Text), last.Text))
			return
		}
	}
}

// checkLinks: a second name for one of our files is a way round every rule here.
func (t *Checker) checkLinks(x *scope, r *shell.Run, rest []shell.Word) {
	_, sources, ok := inspect.SplitTarget(r.Args(), rest)
	if !ok {
		sources = rest
	}
	for _, w := range sources {
		if t.wordIsOwned(x, w, r, true) {
			x.Report.Add("write", r.String(), fmt.Sprintf("%s gives %s a second name", r.Name(), w.Text))
			return
		}
	}
}

// takesExecution reports whether chmod's mode leaves a program that cannot run.
func takesExecution(args []shell.Word) bool {
	mode := ""
	for _, a := range args {
		// -x is a mode, -R and --verbose are options.
		if !strings.HasPrefix(a.Text, "-") || strings.Trim(a.Text, "-rwxXst") == "" {
			mode = a.Text
			break
		}
	}
	if mode != "" && strings.Trim(mode, "01234567") == "" {
		owner := mode[max(0, len(mode)-3)]
		return len(mode) < 3 || (owner-'0')%2 == 0
	}
	for _, m := range strings.Split(mode, ",") {
		if _, what, ok := strings.Cut(m, "-"); ok && strings.ContainsAny(what, "x") {
			return true
		}
		if _, what, ok := strings.Cut(m, "="); ok && !strings.ContainsAny(what, "xX") {
			return true
		}
	}
	return false
}

// downloadTargets are the files curl and wget write, as far as they are named.
func downloadTargets(r *shell.Run) []shell.Word {
	var out, urls []shell.Word
	dir, hasDir, remoteName := shell.Word{}, false, r.Name() == "wget"
	args := r.Args()
	letter := byte('o')
	if r.Name() == "wget" {
		letter = 'O'
	}
	for i, a := range args {
		t := a.Text
		next := shell.Word{}
		if i+1 < len(args) {
			next = args[i+1]
		}
		short := len(t) > 1 && t[0] == '-' && t[1] != '-'
		switch {
		case t == "--output" || t == "--output-document" || short && t[len(t)-1] == letter:
			out = append(out, next)
		case strings.HasPrefix(t, "--output="):
			out = append(out, inspect.CutWord(a, len("--output=")))
		case strings.HasPrefix(t, "--output-document="):
			out = append(out, inspect.CutWord(a, len("--output-document=")))
		case short && t[1] == letter:
			out = append(out, inspect.CutWord(a, 2))
		case t == "--output-dir" || t == "--directory-prefix" || t == "-P" && r.Name() == "wget":
			dir, hasDir = next, true
		case strings.HasPrefix(t, "--output-dir="):
			dir, hasDir = inspect.CutWord(a, len("--output-dir=")), true
		case strings.HasPrefix(t, "--directory-prefix="):
			dir, hasDir = inspect.CutWord(a, len("--directory-prefix=")), true
		case strings.HasPrefix(t, "-P") && r.Name() == "wget":
			dir, hasDir = inspect.CutWord(a, 2), true
		case t == "--remote-name" || t == "--remote-name-all" || short && r.Name() == "curl" && strings.Contains(t, "O"):
			remoteName = true
		case strings.Contains(t, "/") && t[0] != '-':
			urls = append(urls, a)
		}
	}
	if remoteName {
		for _, u := range urls {
			u.Text, _, _ = strings.Cut(u.Text, "?")
			out = append(out, shell.Word{Text: path.Base(u.Text), Bare: path.Base(u.Text)})
		}
	}
	if hasDir {
		for i, o := range out {
			joined := dir
			joined.Text = strings.TrimRight(dir.Text, "/") + "/" + o.Text
			joined.Bare = joined.Text
			out[i] = joined
		}
	}
	return out
}

var databaseChange = lazyregexp.New(`(?i)(^|[;\s"'(])(delete|drop|update|insert|alter|replace|vacuum|reindex|attach)(\s|;|$)|\.(restore|import)\b|pragma\s+\w+\s*=`)

func changesDatabase(text string) bool { return databaseChange.MatchString(text) }

// ourNames are file names that in practice only hook configurations have.
var ourNames = []string{"hooks.json", "hooks.v1.json", "hooks.toml", "settings.json", "settings.local.json", "managed-settings.json", "trusted_hooks.json", "shell-hooks-allowlist.json",
	".crush.json", "hookmux", "hookmux-hook", "hookmux.ts", "hookmux.js", ".hookmux", ".claude", ".codex", ".gemini", ".cursor", ".grok"}

// checkFind: find takes away or changes what it finds, and it looks for ours.
func (t *Checker) checkFind(x *scope, r *shell.Run, rest []shell.Word, remove func([]shell.Word)) {
	args := r.Args()
	if !x.FindDeletes(r, args) && !findChanges(x, r, args) || r.Contained {
		return
	}
	remove(rest[:min(len(rest), 1)])
	for i, a := range args {
		if i == 0 || i > 1 && (args[i-2].Text == "-not" || args[i-2].Text == "!") || i+1 < len(args) && args[i+1].Text == "-prune" {
			continue
		}
		switch args[i-1].Text {
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname", "-samefile":
		default:
			continue
		}
		if seeksOurs(a.Text) || t.isOwned(a.Text) {
			x.Report.Add("delete", r.String(), fmt.Sprintf("finds %s and changes or deletes it", a.Text))
			return
		}
	}
}

// seeksOurs reports whether a pattern of find is written to match our files.
func seeksOurs(pattern string) bool {
	l := strings.ToLower(pattern)
	for _, part := range strings.Split(l, "/") {
		if len(strings.Trim(part, "*?.")) < 4 {
			continue
		}
		for _, n := range ourNames {
			if ok, err := path.Match(part, n); ok && err == nil {
				return !strings.Contains(l, "/commands") && !strings.Contains(l, "/worktrees") && !strings.Contains(l, "/projects")
			}
		}
	}
	return false
}

// findChanges: -exec, or the pipe behind find, runs a program that writes.
func findChanges(x *scope, r *shell.Run, args []shell.Word) bool {
	changes := func(name string, args []shell.Word) bool {
		switch name {
		case "mv", "truncate", "tee", "chmod", "chown", "cp", "ln", "sponge":
			return true
		case "sed", "perl":
			return inspect.HasShort(args, 'i')
		}
		return false
	}
	for i, a := range args {
		switch a.Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X":
			if i+1 < len(args) && changes(path.Base(args[i+1].Text), args[i+1:]) {
				return true
			}
		}
	}
	for j := r.To.Lo; j < r.To.Hi && j < len(x.Script.Runs); j++ {
		if n := &x.Script.Runs[j]; changes(n.Name(), n.Args()) {
			return true
		}
	}
	return false
}
