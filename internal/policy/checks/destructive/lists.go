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

// buildDir reports whether a build recreates a directory of this name, wherever it is.
func buildDir(name string) bool {
	switch name {
	case "node_modules", "dist", "build", "target", ".venv", "venv", "__pycache__", ".next", ".cache", ".turbo",
		".pytest_cache", ".mypy_cache", ".ruff_cache", ".gradle", ".parcel-cache", "coverage":
		return true
	}
	return false
}

// fromList checks xargs rm -rf over names in a file that isn't read here. Names from find and
// ls are checked where those runs are.
func (x *scope) fromList(r *shell.Run, w shell.Word) {
	if !facts.ViaXargs(r) || r.Contained {
		return
	}
	if !strings.Contains(w.Text, "{}") && !isPositional(w) {
		return
	}
	unknown := r.From.Empty() && !r.HasInput || x.fromFile(r.From)
	for _, rd := range r.Redirects {
		unknown = unknown || rd.Reads() && rd.Target.From.Empty()
	}
	if unknown {
		x.Report.Add("rm-dynamic", r.Head(), "deletes whatever a list names, and the list is not known beforehand")
	}
}

func isPositional(w shell.Word) bool {
	for _, v := range w.Vars {
		if v == "@" || v == "*" || v == "parallel_argument" || len(v) == 1 && v[0] >= '0' && v[0] <= '9' {
			return true
		}
	}
	return false
}

// fromFile reports whether what the span prints comes from a file: cat list | sort.
func (x *scope) fromFile(span shell.Span) bool {
	sources := x.Sources(span)
	for _, r := range sources {
		switch r.Name() {
		case "cat", "head", "tail", "tac", "zcat":
		default:
			if r.From.Empty() {
				return false
			}
		}
	}
	return len(sources) > 0
}

// unpackRule checks an archive that is unpacked over the root or a system directory: it can
// replace anything there.
func unpackRule(x *scope, r *shell.Run) {
	if flags, rest := facts.SplitFlags(r.Args()); facts.HasLong(flags, "--remove-files") {
		for _, w := range rest {
			if !strings.HasSuffix(w.Text, ".tar") && !strings.Contains(w.Text, ".tar.") && w.Text != "/dev/null" {
				x.checkDelete(r, w, "packs and deletes")
			}
		}
	}
	if words := r.Args(); !r.Contained && len(words) > 0 && strings.HasSuffix(r.Name(), "tar") && facts.Extracts(r) &&
		(facts.HasShort(words, 'P') || facts.HasLong(words, "--absolute-names") || !strings.HasPrefix(words[0].Text, "-") &&
			strings.Contains(words[0].Text, "P") && !strings.Contains(words[0].Text, "/")) {
		x.Report.Add("overwrite", r.Head(), r.Name()+" lets the archive write wherever it likes")
	}
	dir, ok := facts.ExtractDir(r)
	if !ok || r.Contained {
		return
	}
	p := x.ResolveWord(dir, r)
	if !p.Known {
		return
	}
	flags, _ := facts.SplitFlags(r.Args())
	force := facts.HasLong(flags, "--overwrite", "--overwrite-dir", "--unlink-first", "--recursive-unlink") ||
		r.Name() == "unzip" && facts.HasShort(flags, 'o')
	system := false
	for _, d := range [...]string{"/etc", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/usr/bin", "/usr/sbin",
		"/usr/lib",
		"/System"} {
		system = system || facts.IsUnder(p.Path, d)
	}
	if p.Path == "/" || system || force && (p.Path == "/usr" || p.Path == "/var" || p.Path == x.Home) {
		x.Report.Add("overwrite", r.Head(), fmt.Sprintf("%s unpacks over %s and replaces what is there", r.Name(),
			dir.Text))
	}
}

// powershellRule reads the few PowerShell commands that lose everything. Its grammar isn't
// parsed; words are enough for a delete of a root.
func powershellRule(x *scope, r *shell.Run) {
	text := ""
	args := r.Args()
	for i, a := range args {
		next := facts.JoinArgs(args[i+1:])
		if l := strings.ToLower(a.Text); l == "-c" || l == "-command" || l == "/c" ||
			l == "-noprofile" && !strings.HasPrefix(next, "-") {
			text = next
			break
		}
	}
	if text == "" && r.HasInput {
		text = r.Input.Text
	}
	if text == "" || r.Contained {
		return
	}
	for _, statement := range strings.FieldsFunc(text,
		func(c rune) bool { return strings.ContainsRune(";|&{}()\n", c) }) {
		if words := strings.Fields(statement); len(words) > 0 {
			powershellStatement(x, r, words)
		}
	}
}

// cmdletRule checks a command of PowerShell's, if that is the shell.
func cmdletRule(x *scope, r *shell.Run) {
	words := []string{r.Name()}
	for _, a := range r.Args() {
		words = append(words, a.Text)
	}
	powershellStatement(x, r, words)
}

// archiveMoveRule checks zip -m, which deletes what it packs.
func archiveMoveRule(x *scope, r *shell.Run) {
	flags, rest := facts.SplitFlags(r.Args())
	if !facts.HasShort(flags, 'm') && !facts.HasLong(flags, "--move") {
		return
	}
	for _, w := range rest[min(1, len(rest)):] {
		x.checkDelete(r, w, "packs and deletes")
	}
}

func lowerAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ToLower(w)
	}
	return out
}

// isShortened reports whether a word is an option of PowerShell's, which may be shortened to
// any prefix: -r for -recurse.
func isShortened(word, option string) bool {
	return len(word) > 1 && len(word) <= len(option) && option[:len(word)] == word
}

func powershellStatement(x *scope, r *shell.Run, words []string) {
	name := strings.ToLower(words[0])
	p := x.Script.Programs.Of(name)
	given := lowerAll(words[1:])
	if _, found := p.Phrase(programs.Disables, given); found {
		x.Report.Add("system", r.Head(), words[0]+" stops the machine, or takes away what it or its owner needs")
		return
	}
	if _, found := p.Phrase(programs.Grants, given); found {
		x.Report.Add("system", r.Head(), words[0]+" gives somebody rights or access")
		return
	}
	if _, found := p.Phrase(programs.LosesData, given); found {
		x.Report.Add("disk", r.Head(), words[0]+" loses a volume, or something else for good")
		return
	}
	if p.Kind != programs.KindCmdlet && p.Kind != programs.KindRemoveFolder && p.Kind != programs.KindDelete {
		return
	}
	recursive := slices.ContainsFunc(words[1:], func(w string) bool {
		f := strings.ToLower(w)
		return isShortened(f, "-recurse") || f == "/s" || f == "-rf" || f == "-fr"
	})
	if !recursive {
		return
	}
	for _, w := range words[1:] {
		w = strings.Trim(w, `'",`)
		if w == "" || strings.HasPrefix(w, "-") {
			continue
		}
		t := strings.ReplaceAll(w, `\`, "/")
		l := strings.ToLower(t)
		if len(l) > 1 && l[1] == ':' && strings.Trim(l[2:], "/*.") == "" || strings.HasPrefix(l, "$env:userprofile") ||
			strings.HasPrefix(l, "$env:systemroot") || strings.HasPrefix(l, "c:/windows") ||
			strings.HasPrefix(l, "c:/users") &&
				strings.Count(l, "/") < 3 {
			x.Report.Add("rm-broad", r.Head(), fmt.Sprintf("deletes %s and everything below it", w))
			continue
		}
		word := shell.Word{Text: t, Bare: t, Tilde: strings.HasPrefix(t, "~"), Dynamic: strings.Contains(t, "$"),
			Glob: strings.Contains(t, "*")}
		word.Text = strings.ReplaceAll(word.Text, "$env:HOME", "$HOME")
		if path.IsAbs(t) || word.Tilde || word.Dynamic || word.Glob || strings.HasPrefix(t, ".") {
			x.checkDelete(r, word, "deletes")
		}
	}
}
