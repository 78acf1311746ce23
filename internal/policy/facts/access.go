package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// gatherAccess collects the paths of one command.
func (c *collector) gatherAccess(scope *Scope, r *shell.Run, at int) {
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
	addOptionFiles(add, r, c.programs.FileOptionsOf(r.Name()))
	name, args := r.Name(), r.Args()
	_, rest := SplitFlags(args)
	if c.gatherSpecial(add, scope, r) {
		return
	}
	known := c.programs.Of(name)
	if known.Operands != nil {
		addOperands(add, r, known)
		return
	}
	if known.Reader != nil {
		addReader(add, r, known)
		return
	}
	if known.Has(programs.NoFiles) || known.Talks != nil && known.Talks.Bare {
		return
	}
	add(Write, OptionValues(args, "-o", "--output", "--out", "-out", "--outfile")...)
	add(Use, pathWords(rest)...)
}

// gatherSpecial collects the paths of programs that need special treatment; it reports false
// for all others.
func (c *collector) gatherSpecial(add func(Access, ...shell.Word), scope *Scope, r *shell.Run) bool {
	name, args := r.Name(), r.Args()
	_, rest := SplitFlags(args)
	switch name {
	case "git":
		c.gatherGitAccess(add, r)
		return true
	case "dd":
		for _, a := range rest {
			if strings.HasPrefix(a.Text, "of=") {
				add(Write, CutWord(a, 3))
			}
			if strings.HasPrefix(a.Text, "if=") {
				add(Read, CutWord(a, 3))
			}
		}
		return true
	case "find", "gfind", "fd":
		roots := rest[:min(len(rest), leadingPaths(args))]
		if scope.FindDeletes(r, args) {
			add(Delete, roots...)
		}
		add(Read, roots...)
		if !r.To.Empty() || HasWord(args, "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec") {
			add(Read, foundFiles(args, roots)...)
		}
		return true
	case "curl", "wget", "http", "xh":
		for _, file := range DownloadedFiles(r) {
			add(Write, shell.Word{Text: file, Bare: file, Tilde: strings.HasPrefix(file, "~")})
		}
		add(Read, sentFiles(args)...)
		return true
	case "tar", "bsdtar", "unzip", "7z", "7za", "zip", "cpio", "bsdcpio":
		if dir, ok := ExtractDir(r); ok {
			add(Write, everythingIn([]shell.Word{dir})...)
			for _, from := range scope.RunsIn(r.From) { // cpio is given the names
				_, names := SplitFlags(from.Args())
				for _, file := range names {
					add(Write, shell.Word{Text: dir.Text + "/" + file.Text, Bare: dir.Bare, Tilde: dir.Tilde, Dynamic: dir.Dynamic || file.Dynamic})
				}
			}
		}
		if PacksFiles(r) {
			add(Read, everythingIn(packedFiles(name, args))...)
		}
		add(Use, pathWords(rest)...)
		return true
	case "patch":
		addPatched(add, args)
		return true
	}
	return false
}

// addOperands adds the operands of a program if it is known what it does with them.
func addOperands(add func(Access, ...shell.Word), r *shell.Run, p *programs.Program) {
	name, args, known := r.Name(), r.Args(), p.Operands
	access := Access(known.Does)
	words := operandWords(args, known.Values+p.Values)
	words = words[min(known.Skip, len(words)):]
	if name == "install" && HasWord(args, "-d", "--directory") {
		add(Write, words...)
		return
	}
	if flags, _ := SplitFlags(args); name == "rsync" || HasShort(flags, 'r', 'R', 'a') ||
		HasLong(flags, "--recursive", "--archive") {
		words = everythingIn(words)
	}
	if to, from, ok := SplitTarget(args, words); known.Target && ok {
		add(Write, to)
		// A target that may be a folder, in which they keep their names.
		if strings.HasSuffix(to.Text, "/") || len(from) > 1 || !strings.Contains(path.Base(to.Text), ".") {
			for _, w := range from {
				inside := to
				inside.Text = strings.TrimSuffix(to.Text, "/") + "/" + path.Base(w.Text)
				add(Write, inside)
			}
		}
		add(access, from...)
		if access == Delete {
			add(Read, from...)
		}
		return
	}
	add(access, words...)
	if p.Has(programs.Editor) {
		add(Read, words...)
	}
}

// addReader adds the paths of a program that is known to read what it is given.
func addReader(add func(Access, ...shell.Word), r *shell.Run, p *programs.Program) {
	name, args, reader := r.Name(), r.Args(), p.Reader
	flags, rest := SplitFlags(args)
	add(Write, OptionValues(args, reader.Output...)...)
	if name == "gpg" || name == "gpg2" {
		add(Write, OptionValues(args, "-o", "--output", "--keyring")...)
	}
	access := Read
	if ChangesInPlace(flags, rest, reader.InPlace) {
		access = Write
	}
	if p.Has(programs.NoFiles) {
		return
	}
	spec, shows := programs.Operands{}, p.Prints != nil
	if shows {
		spec = *p.Prints
	}
	spec.Values += p.Values
	words := slices.DeleteFunc(operandWords(args, spec.Values), func(w shell.Word) bool {
		return w.Text == "" && !w.Dynamic // sed -i '' of BSD
	})
	if skip := spec.Skip; skip > 0 && !HasWord(args, "-e", "-f", "--regexp", "--expression", "--file") {
		words = words[min(skip, len(words)):]
	}
	if !shows && access == Read {
		words = pathWords(words)
	}
	if strings.HasSuffix(name, "grep") && (HasShort(flags, 'r', 'R') || HasLong(flags, "--recursive",
		"--dereference-recursive")) {
		if len(words) == 0 {
			words = []shell.Word{{Text: ".", Bare: "."}}
		}
		words = everythingIn(words)
	}
	if access == Write {
		words = everythingIn(words)
	}
	if reader.First && len(words) > 0 {
		add(Write, words[0])
		words = words[1:]
	}
	if reader.Second && len(words) > 1 {
		add(Write, words[1])
		words = words[:1]
	}
	add(access, words...)
}

// gatherGitAccess adds what git does with paths.
func (c *collector) gatherGitAccess(add func(Access, ...shell.Word), r *shell.Run) {
	sub, args := GitParts(r)
	_, rest := SplitFlags(args)
	files := pathWords(rest)
	if i := slices.IndexFunc(args, func(w shell.Word) bool { return w.Text == "--" }); i >= 0 {
		rest = args[i+1:]
		files = rest
	}
	switch sub {
	case "rm":
		add(Delete, rest...)
	case "clean":
		if len(rest) == 0 {
			rest = []shell.Word{{Text: ".", Bare: "."}}
		}
		if flags, _ := SplitFlags(args); !HasShort(flags, 'n') && !HasLong(flags, "--dry-run") {
			add(Delete, rest...)
		}
	case "reset":
		if flags, _ := SplitFlags(args); HasLong(flags, "--hard", "--merge", "--keep") {
			add(Write, everythingIn([]shell.Word{{Text: ".", Bare: "."}})...)
		}
	case "apply", "am":
		add(Read, files...)
		if flags, _ := SplitFlags(args); !HasLong(flags, "--check", "--stat", "--numstat", "--summary",
			"--cached", "--abort", "--show-current-patch") {
			add(Write, everythingIn([]shell.Word{{Text: ".", Bare: "."}})...)
		}
	case "mv":
		if len(rest) > 1 {
			add(Delete, rest[:len(rest)-1]...)
			add(Write, rest[len(rest)-1])
		}
	case "restore":
		add(Write, everythingIn(rest)...)
	case "checkout", "clone", "init", "worktree":
		add(Write, everythingIn(files)...)
	case "add", "diff", "show", "log", "blame", "cat-file", "grep":
		add(Read, files...)
		for _, w := range rest { // HEAD:.env
			if i := strings.IndexByte(w.Text, ':'); i >= 0 && i+1 < len(w.Text) && !strings.Contains(w.Text, "://") {
				add(Read, CutWord(w, i+1))
			}
		}
	}
	add(Write, OptionValues(args, "-o", "--output")...)
}

// everythingIn returns the words as folders with all their content.
func everythingIn(list []shell.Word) []shell.Word {
	out := make([]shell.Word, len(list))
	for i, w := range list {
		w.Glob = true
		out[i] = w
	}
	return out
}

// packedFiles returns the files that are put into an archive: neither its own name nor the
// word that says what to do.
func packedFiles(name string, args []shell.Word) []shell.Word {
	words := operandWords(args, "fCTX")
	if strings.HasSuffix(name, "tar") && len(args) > 0 && !strings.HasPrefix(args[0].Text, "-") { // tar czf x a b
		words = words[min(1, len(words)):]
		if !strings.Contains(args[0].Text, "f") {
			return words
		}
		return words[min(1, len(words)):]
	}
	if strings.HasSuffix(name, "tar") {
		if len(args) > 0 && len(args[0].Text) > 2 && strings.HasSuffix(args[0].Text, "f") { // tar -czf x a b
			words = words[min(1, len(words)):]
		}
		return words
	}
	if strings.HasPrefix(name, "7z") {
		words = words[min(1, len(words)):]
	}
	return words[min(1, len(words)):]
}

// addOptionFiles adds the files that options name.
func addOptionFiles(add func(Access, ...shell.Word), r *shell.Run, options programs.FileOptions) {
	for _, kind := range []struct {
		access  Access
		options []string
	}{{Read, options.Shows}, {Read, options.Loads}, {Write, options.Writes}} {
		for _, w := range OptionValues(r.Args(), kind.options...) {
			address := strings.Contains(w.Text, "://") || strings.ContainsAny(w.Text, " \n\t{")
			if w.Text != "" && w.Text[0] != '-' && !address {
				add(kind.access, w)
			}
		}
	}
}

// foundFiles returns the names that find looks for, in the places where it does.
func foundFiles(args, roots []shell.Word) []shell.Word {
	if len(roots) == 0 {
		roots = []shell.Word{{Text: ".", Bare: "."}}
	}
	var out []shell.Word
	for i, a := range args {
		switch a.Text {
		case "-name", "-iname", "-path", "-ipath", "-wholename":
		default:
			continue
		}
		if i+1 >= len(args) || i > 0 && (args[i-1].Text == "!" || args[i-1].Text == "-not") {
			continue
		}
		for _, root := range roots {
			name := path.Base(args[i+1].Text)
			file := root
			file.Text = strings.TrimSuffix(root.Text, "/") + "/" + name
			file.Bare, file.Glob = file.Text, strings.ContainsAny(name, "*?[")
			out = append(out, file)
		}
	}
	return out
}

// addPatched adds the file that patch is given, or else the files that the patch names.
func addPatched(add func(Access, ...shell.Word), args []shell.Word) {
	words := operandWords(args, "pdioDBVzFYr")
	switch {
	case HasWord(args, "--dry-run", "-C", "--check"):
		add(Read, words...)
	case len(words) == 0:
		folder := []shell.Word{{Text: ".", Bare: "."}}
		if dirs := OptionValues(args, "-d", "--directory"); len(dirs) > 0 {
			folder = dirs[:1]
		}
		add(Write, everythingIn(folder)...)
	default:
		add(Write, words[0])
		add(Read, words[1:]...)
	}
}

// OwnOperands returns a program's words that are no options and no values of options.
func OwnOperands(p *programs.Program, args []shell.Word) []shell.Word {
	return operandWords(args, p.Values, p.LongValues...)
}

// operandWords returns the words that are no options and no values of the options listed.
func operandWords(args []shell.Word, values string, long ...string) []shell.Word {
	var out []shell.Word
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		if t == "--" {
			return append(out, args[i+1:]...)
		}
		if len(t) > 1 && t[0] == '-' {
			cluster := t[1] != '-' && strings.IndexAny(t[1:], values) == len(t)-2
			if cluster || slices.Contains(long, t) {
				i++
			}
			continue
		}
		out = append(out, args[i])
	}
	return out
}

// pathWords returns those of the words that look like paths: with a slash, a leading dot, a
// tilde, an extension, or a pattern.
func pathWords(words []shell.Word) []shell.Word {
	var out []shell.Word
	for _, w := range words {
		t := w.Text
		if strings.Contains(t, "://") || strings.ContainsAny(t, " \n\t") {
			continue
		}
		if i := strings.IndexByte(t, '='); i > 0 && i+1 < len(t) {
			w = CutWord(w, i+1)
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

// leadingPaths returns how many leading words are places to search: find's roots.
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

// sentFiles returns the files that a download program sends: @file, -T file.
func sentFiles(args []shell.Word) []shell.Word {
	out := OptionValues(args, "-T", "--upload-file", "--post-file", "--body-file")
	for _, a := range args {
		if i := strings.LastIndexByte(a.Text, '@'); i >= 0 && !strings.Contains(a.Text, "://") && i+1 < len(a.Text) &&
			(i == 0 || a.Text[i-1] == '=') {
			out = append(out, CutWord(a, i+1))
		}
	}
	return out
}
