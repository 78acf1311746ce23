package ownfiles

import (
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// cleanedPaths returns the paths of git clean; what -e names is kept.
func cleanedPaths(args []shell.Word) []shell.Word {
	var out []shell.Word
	for i, a := range args {
		if strings.HasPrefix(a.Text, "-") || i > 0 && (args[i-1].Text == "--exclude" || len(args[i-1].Text) > 1 &&
			args[i-1].Text[0] == '-' && args[i-1].Text[1] != '-' && strings.HasSuffix(args[i-1].Text, "e")) {
			continue
		}
		out = append(out, a)
	}
	return out
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
		return len(mode) < 3 || strings.ContainsRune("0246", rune(owner))
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

// downloadTargets returns the files curl and wget write, if they are named.
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
			out = append(out, facts.CutWord(a, len("--output=")))
		case strings.HasPrefix(t, "--output-document="):
			out = append(out, facts.CutWord(a, len("--output-document=")))
		case short && t[1] == letter:
			out = append(out, facts.CutWord(a, 2))
		case t == "--output-dir" || t == "--directory-prefix" || t == "-P" && r.Name() == "wget":
			dir, hasDir = next, true
		case strings.HasPrefix(t, "--output-dir="):
			dir, hasDir = facts.CutWord(a, len("--output-dir=")), true
		case strings.HasPrefix(t, "--directory-prefix="):
			dir, hasDir = facts.CutWord(a, len("--directory-prefix=")), true
		case strings.HasPrefix(t, "-P") && r.Name() == "wget":
			dir, hasDir = facts.CutWord(a, 2), true
		case t == "--remote-name" || t == "--remote-name-all" ||
			short && r.Name() == "curl" && strings.Contains(t, "O"):
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

var databaseChange = lazyregexp.New(`(?i)(^|[;\s"'(])(delete|drop|update|insert|alter|replace|vacuum|reindex|` +
	`attach)(\s|;|$)|\.(restore|import)\b|pragma\s+\w+\s*=`)

// databaseOutput finds the files that statements write.
var databaseOutput = lazyregexp.New(`(?i)(?:\.(?:output|once|log|backup|save|clone)\s+(?:-\S+\s+)*|writefile\(\s*)["']?([^\s"',)]+)`)

func changesDatabase(text string) bool { return databaseChange.MatchString(text) }
