package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/shell"
	"github.com/hookmux/hookmux/internal/shell/programs"
)

// operandAccess is what a program does with its operands, where that is not
// reading alone.
type operandAccess struct {
	access Access
	skip   int    // leading operands that are no files (chmod's mode)
	values string // short options that take the next word
	// target: the last operand, or -t's value, is written, the others are sources
	// (read, or deleted by a move).
	target bool
}

var operandAccesses = map[string]operandAccess{
	"rm": {access: Delete}, "unlink": {access: Delete}, "shred": {access: Delete, values: "ns"}, "rmdir": {access: Delete},
	"srm": {access: Delete}, "rimraf": {access: Delete}, "trash": {access: Delete}, "trash-put": {access: Delete},
	"wipe": {access: Delete}, "mv": {access: Delete, target: true, values: "tS"},
	"cp": {access: Read, target: true, values: "tS"}, "install": {access: Read, target: true, values: "tmog"},
	"rsync": {access: Read, target: true, values: "ef"}, "scp": {access: Read, target: true, values: "iPFolcSJ"},
	"ditto": {access: Read, target: true}, "ln": {access: Read, target: true, values: "tS"},
	"tee": {access: Write}, "sponge": {access: Write}, "truncate": {access: Write, values: "sr"}, "touch": {access: Write,
		values: "dtr"},
	"mkdir": {access: Write, values: "m"}, "mkfifo": {access: Write, values: "m"}, "ed": {access: Write},
	"vim": {access: Write, values: "cu"}, "vi": {access: Write, values: "c"}, "nvim": {access: Write, values: "cu"},
	"nano": {access: Write}, "emacs": {access: Write}, "patch": {access: Write, values: "pdio"},
	"chmod": {access: Mode, skip: 1}, "chown": {access: Mode, skip: 1}, "chgrp": {access: Mode, skip: 1},
	"chattr": {access: Mode, skip: 1}, "setfacl": {access: Mode, values: "mxM"},
}

// editors also show what they may change.
var editors = map[string]bool{"ed": true, "vim": true, "vi": true, "nvim": true, "nano": true, "emacs": true}

// openWithoutFiles are programs whose words are no files.
var openWithoutFiles = map[string]bool{"echo": true, "printf": true, "true": true, "false": true, ":": true, "cd": true,
	"pushd": true, "popd": true, "sleep": true, "export": true, "kill": true, "pkill": true, "pgrep": true, "date": true,
	"set": true, "unset": true, "exit": true, "return": true, "read": true, "wait": true, "trap": true, "alias": true,
	"which": true, "type": true, "command": true, "basename": true, "dirname": true, "whoami": true, "pwd": true,
	"seq": true, "expr": true, "tr": true, "ps": true, "ssh": true, "ping": true, "kubectl": true, "docker": true,
	"gh": true, "npm": true, "pnpm": true, "yarn": true, "systemctl": true, "test": true, "[": true, "[[": true}

// gatherAccess collects the paths of one command.
func (c *collector) gatherAccess(scope *inspect.Scope, r *shell.Run, at int) {
	if r.Contained || r.Local {
		return
	}
	copies := r.Name() == "scp" || r.Name() == "rsync"
	add := func(access Access, words ...shell.Word) {
		for _, w := range words {
			// host:path is a file of another machine.
			if _, far := copyHost(w.Text); far && copies {
				continue
			}
			c.addPath(scope, w, r, access, at)
		}
	}
	first := len(c.facts.Paths)
	for _, rd := range r.Redirects {
		switch {
		case rd.Target.Text == "/dev/null" || strings.HasPrefix(rd.Target.Text, "&"):
		case rd.Writes():
			add(Write, rd.Target)
		case rd.Reads():
			add(Read, rd.Target)
		}
	}
	for i := first; i < len(c.facts.Paths); i++ {
		c.facts.Paths[i].Redirected = true
	}
	if len(r.Argv) == 0 {
		return
	}
	c.gatherCode(add, r)
	name, args := r.Name(), r.Args()
	_, rest := inspect.SplitFlags(args)
	switch name {
	case "git":
		c.gatherGitAccess(add, r)
		return
	case "dd":
		for _, a := range rest {
			if strings.HasPrefix(a.Text, "of=") {
				add(Write, inspect.CutWord(a, 3))
			}
			if strings.HasPrefix(a.Text, "if=") {
				add(Read, inspect.CutWord(a, 3))
			}
		}
		return
	case "find", "gfind", "fd":
		roots := rest[:min(len(rest), leadingPaths(args))]
		if scope.FindDeletes(r, args) {
			add(Delete, roots...)
		}
		add(Read, roots...)
		return
	case "curl", "wget", "http", "xh":
		add(Write, inspect.OptionValues(args, "-o", "--output", "-O", "--output-document")...)
		add(Read, sentFiles(args)...)
		return
	case "tar", "bsdtar", "unzip", "7z":
		if dir, ok := inspect.ExtractDir(r); ok {
			add(Write, dir)
		}
		add(Use, pathWords(rest)...)
		return
	}
	if known, ok := operandAccesses[name]; ok {
		words := operandWords(args, known.values)
		words = words[min(known.skip, len(words)):]
		if to, from, ok := inspect.SplitTarget(args, words); known.target && ok {
			add(Write, to)
			// What may be a folder, in which they keep their names.
			if strings.HasSuffix(to.Text, "/") || len(from) > 1 || !strings.Contains(path.Base(to.Text), ".") {
				for _, w := range from {
					inside := to
					inside.Text = strings.TrimSuffix(to.Text, "/") + "/" + path.Base(w.Text)
					add(Write, inside)
				}
			}
			add(known.access, from...)
			if known.access == Delete {
				add(Read, from...)
			}
			return
		}
		add(known.access, words...)
		if editors[name] {
			add(Read, words...)
		}
		return
	}
	if reader, ok := programs.ReaderOf(name); ok {
		addReader(add, r, reader)
		return
	}
	if openWithoutFiles[name] || talkers[name].bare {
		return
	}
	add(Write, inspect.OptionValues(args, "-o", "--output", "--out", "-out", "--outfile")...)
	add(Use, pathWords(rest)...)
}

// addReader adds the paths of a program that is known to read what it is given.
func addReader(add func(Access, ...shell.Word), r *shell.Run, reader programs.Reader) {
	name, args := r.Name(), r.Args()
	flags, rest := inspect.SplitFlags(args)
	add(Write, inspect.OptionValues(args, reader.Output...)...)
	if name == "gpg" || name == "gpg2" {
		add(Write, inspect.OptionValues(args, "-o", "--output", "--keyring")...)
	}
	access := Read
	if inspect.ChangesInPlace(flags, rest, reader.InPlace) {
		access = Write
	}
	if openWithoutFiles[name] {
		return
	}
	spec, shows := programs.OperandsOf(name)
	words := operandWords(args, spec.Values)
	if skip := spec.Skip; skip > 0 && !inspect.HasWord(args, "-e", "-f", "--regexp", "--expression", "--file") {
		words = words[min(skip, len(words)):]
	}
	if !shows {
		words = pathWords(words)
	}
	if reader.Second && len(words) > 1 {
		add(Write, words[1])
		words = words[:1]
	}
	add(access, words...)
}

// gatherGitAccess: what git does with paths.
func (c *collector) gatherGitAccess(add func(Access, ...shell.Word), r *shell.Run) {
	sub, args := inspect.GitParts(r)
	_, rest := inspect.SplitFlags(args)
	files := pathWords(rest)
	if i := slices.IndexFunc(args, func(w shell.Word) bool { return w.Text == "--" }); i >= 0 {
		rest = args[i+1:]
		files = rest
	}
	switch sub {
	case "rm", "clean":
		add(Delete, rest...)
	case "mv":
		if len(rest) > 1 {
			add(Delete, rest[:len(rest)-1]...)
			add(Write, rest[len(rest)-1])
		}
	case "restore":
		add(Write, rest...)
	case "checkout", "apply", "clone", "init", "worktree":
		add(Write, files...)
	case "add", "diff", "show", "log", "blame", "cat-file", "grep":
		add(Read, files...)
		for _, w := range rest { // HEAD:.env
			if i := strings.IndexByte(w.Text, ':'); i >= 0 && i+1 < len(w.Text) && !strings.Contains(w.Text, "://") {
				add(Read, inspect.CutWord(w, i+1))
			}
		}
	}
	add(Write, inspect.OptionValues(args, "-o", "--output")...)
}

// operandWords are the words that are no options and no values of the short
// options listed.
func operandWords(args []shell.Word, values string) []shell.Word {
	var out []shell.Word
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		if t == "--" {
			return append(out, args[i+1:]...)
		}
		if len(t) > 1 && t[0] == '-' {
			if len(t) == 2 && strings.IndexByte(values, t[1]) >= 0 {
				i++
			}
			continue
		}
		out = append(out, args[i])
	}
	return out
}

// pathWords are those of the words that look like paths: with a slash, a dot in
// front, a tilde, an ending, or a pattern.
func pathWords(words []shell.Word) []shell.Word {
	var out []shell.Word
	for _, w := range words {
		t := w.Text
		if strings.Contains(t, "://") || strings.ContainsAny(t, " \n\t") {
			continue
		}
		if i := strings.IndexByte(t, '='); i > 0 && i+1 < len(t) {
			w = inspect.CutWord(w, i+1)
			t = w.Text
		}
		dot := strings.LastIndexByte(t, '.')
		ending := dot > 0 && len(t)-dot <= 6 && dot+1 < len(t)
		if strings.Contains(t, "/") || strings.HasPrefix(t, ".") || w.Tilde || w.Glob || ending {
			out = append(out, w)
		}
	}
	return out
}

// leadingPaths is how many words in front are places to search: find's roots.
func leadingPaths(args []shell.Word) int {
	n := 0
	for _, a := range args {
		if strings.HasPrefix(a.Text, "-") && n > 0 || a.Text == "(" || a.Text == "!" {
			break
		}
		if !strings.HasPrefix(a.Text, "-") {
			n++
		}
	}
	return n
}

// sentFiles are the files that a download program sends: @file, -T file.
func sentFiles(args []shell.Word) []shell.Word {
	out := inspect.OptionValues(args, "-T", "--upload-file", "--post-file", "--body-file")
	for _, a := range args {
		if i := strings.LastIndexByte(a.Text, '@'); i >= 0 && !strings.Contains(a.Text, "://") && i+1 < len(a.Text) &&
			(i == 0 || a.Text[i-1] == '=') {
			out = append(out, inspect.CutWord(a, i+1))
		}
	}
	return out
}
