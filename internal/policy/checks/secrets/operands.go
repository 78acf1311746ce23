package secrets

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// secretOperands checks the files that a program reads or sends.
func (x *scope) secretOperands(r *shell.Run) {
	name := r.Name()
	if r.Argv[0].Glob { // /bin/c?t
		for _, reader := range [...]string{"cat", "head", "tail", "less", "base64", "xxd", "nl", "tac", "cp"} {
			if r.MayBe(reader) {
				name = reader
				break
			}
		}
	}
	if name == "git" {
		x.secretCommit(r)
		return
	}
	spec, ok := x.Script.Programs.OperandsOf(name)
	if programs.IsInterpreter(name) && len(r.Args()) > 2 && r.Args()[0].Text == "-m" { // python3 -m json.tool, -m base64
		spec, ok = programs.Operands{Skip: 1}, true
	}
	copies := facts.HasWord(r.Args(), "cp")
	if !ok && len(x.Script.Programs.ShownBy(name)) == 0 && !copies || loadsEnvironment(r) || quietRead(name, r) {
		return
	}
	if files := x.copiedOut(r); len(files) > 0 {
		x.Report.Add("read", r.Head(), fmt.Sprintf("%s copies %s out of a container", name, files[0].Text))
		return
	}
	files := facts.OptionValues(r.Args(), x.Script.Programs.ShownBy(name)...)
	if ok {
		files = append(readFiles(name, r.Args(), spec), files...)
	}
	if facts.ViaXargs(r) {
		files = append(files, x.listedSecrets(r)...)
	}
	for _, w := range r.Args() { // cat $(ls -a | grep '\.env')
		if w.Dynamic && !w.From.Empty() && ok {
			files = append(files, x.secretsIn(x.Sources(w.From))...)
		}
	}
	for _, w := range files {
		t := w.Text
		if strings.Contains(t, ":") && (name == "scp" || name == "rsync") {
			_, t, _ = strings.Cut(t, ":")
		}
		what, ok := x.secretWord(t)
		if !ok && isSecretDir(t) {
			what, ok = "a directory of keys and credentials", true
		}
		if !ok && w.Glob {
			what, ok = globSecret(t)
		}
		if !ok {
			what, ok = x.secretFile(w, r)
		}
		if !ok {
			continue
		}
		switch {
		case x.Script.Programs.Of(name).Has(programs.Sends) && name != "openssl":
			x.Report.Add("send", r.Head(), fmt.Sprintf("%s sends %s (%s)", name, t, what))
		case x.reachesNetwork(r):
			x.Report.Add("send", r.Head(), fmt.Sprintf("%s sends %s (%s) to the network", name, t, what))
		default:
			x.Report.Add("read", r.Head(), fmt.Sprintf("%s reads %s (%s)", name, t, what))
		}
	}
}

// listedSecrets returns the names of secret files in the list that xargs reads: of
// ls ~/.ssh/id_* | xargs cat, and of ls -a | grep '^\.env$' | xargs cat.
func (x *scope) listedSecrets(r *shell.Run) []shell.Word { return x.secretsIn(x.Sources(r.From)) }

// copiedOut returns secret files that docker cp or kubectl cp copies out of a container.
func (x *scope) copiedOut(r *shell.Run) []shell.Word {
	switch r.Name() {
	case "docker", "podman", "kubectl", "oc", "nerdctl", "lxc", "incus":
	default:
		return nil
	}
	_, rest := facts.SplitFlags(r.Args())
	for i, w := range rest {
		if w.Text != "cp" || i+1 >= len(rest) {
			continue
		}
		if _, inside, ok := strings.Cut(rest[i+1].Text, ":"); ok {
			if _, secret := x.secretWord(inside); secret {
				return rest[i+1 : i+2]
			}
		}
		break
	}
	return nil
}

// secretsIn returns the names of secret files that listing commands are asked for.
func (x *scope) secretsIn(sources []*shell.Run) []shell.Word {
	var out []shell.Word
	for _, from := range sources {
		switch from.Name() {
		case "ls", "find", "gfind", "fd", "fdfind", "grep", "egrep", "rg", "echo", "printf", "locate", "git",
			"exa", "eza":
		default:
			continue
		}
		flags, _ := facts.SplitFlags(from.Args())
		if facts.HasShort(flags, 'v') && from.Name() != "ls" {
			continue
		}
		for _, a := range from.Args() {
			name := strings.Trim(strings.ReplaceAll(a.Text, `\`, ""), "^$/")
			_, glob := globSecret(name)
			if _, ok := x.secretWord(name); ok || glob && (a.Glob || strings.ContainsAny(name, "*?[")) {
				out = append(out, shell.Word{Text: name, Bare: name, Glob: a.Glob})
			}
		}
	}
	return out
}

// readFiles returns the words of a reader that name files whose contents it shows.
func readFiles(name string, args []shell.Word, spec programs.Operands) []shell.Word {
	skip := spec.Skip
	if facts.HasWord(args, "-e", "-f", "--regexp", "--expression", "--file") {
		skip = 0
	}
	if name == "rg" && facts.HasWord(args, "--files") {
		return nil
	}
	operands := 0
	var files []shell.Word
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		if len(t) > 1 && t[0] == '-' && t[1] != '-' && name != "tar" {
			if len(t) == 2 && strings.IndexByte(spec.Values, t[1]) >= 0 {
				i++
			}
			continue
		}
		if strings.HasPrefix(t, "--") {
			continue
		}
		operands++
		if operands > skip {
			files = append(files, args[i])
		}
	}
	switch name {
	case "cp", "gcp", "install", "ln", "rsync", "scp":
		// The last operand is where it goes.
		if len(files) > 1 && !facts.HasWord(args, "-t") {
			files = files[:len(files)-1]
		}
		if name == "ln" {
			return nil
		}
	case "curl", "wget", "http", "xh":
		files = uploadedFiles(args)
	case "sqlite3":
		files = files[:min(len(files), 1)]
	case "openssl":
		files = opensslPrints(args)
	case "dd":
		files = nil
		for _, a := range args {
			if v, ok := strings.CutPrefix(a.Text, "if="); ok {
				files = append(files, shell.Word{Text: v})
			}
		}
	case "perl":
		if !facts.HasShort(args, 'n', 'p') && !slices.ContainsFunc(args, func(w shell.Word) bool {
			return strings.Contains(w.Text, "<>") || strings.Contains(w.Text, "<ARGV>")
		}) {
			return nil
		}
	case "sed", "gsed":
		if facts.HasShort(args, 'i') || facts.HasLong(args, "--in-place") {
			return nil // an edit in place prints nothing
		}
	case "gh":
		if !facts.HasWord(args, "gist") && !facts.HasWord(args, "release") {
			return nil
		}
	case "gpg", "age", "sops":
		if !facts.HasWord(args, "-d", "--decrypt", "decrypt") {
			return nil
		}
	}
	return files
}

// quietRead reports whether options show only whether something is there, not what it is.
func quietRead(name string, r *shell.Run) bool {
	args := r.Args()
	flags, _ := facts.SplitFlags(args)
	switch name {
	case "grep", "egrep", "fgrep", "rg":
		return facts.HasShort(flags, 'q', 'c', 'l', 'L') || facts.HasLong(flags, "--quiet", "--silent", "--count",
			"--files-with-matches", "--files-without-match")
	case "cut":
		return facts.HasWord(args, "-f1") && (facts.HasWord(args, "-d=", "-d'='") || facts.HasWord(args, "="))
	case "diff", "cmp":
		return facts.HasShort(flags, 'q', 's') || facts.HasLong(flags, "--brief", "--quiet", "--silent")
	case "tar":
		return len(args) > 0 && !strings.Contains(args[0].Text, "c") && !facts.HasWord(args, "--create")
	}
	return false
}

// uploadedFiles returns the files that curl and similar programs send: @file, -T file,
// name=@file.
func uploadedFiles(args []shell.Word) []shell.Word {
	var out []shell.Word
	for i, a := range args {
		t := a.Text
		if (t == "-T" || t == "--upload-file" || t == "--post-file" || t == "--body-file" || t == "-K" ||
			t == "--config" ||
			t == "--input-file" || t == "-i") && i+1 < len(args) && !strings.Contains(args[i+1].Text, "://") {
			out = append(out, args[i+1])
			continue
		}
		for _, p := range [...]string{"--post-file=", "--upload-file=", "--body-file=", "--config=", "--input-file=",
			"-T",
			"-K"} {
			if v, ok := strings.CutPrefix(t, p); ok && v != "" {
				out = append(out, shell.Word{Text: v, Dynamic: a.Dynamic, Glob: a.Glob})
			}
		}
		if strings.HasPrefix(t, "file://") {
			out = append(out, shell.Word{Text: t[len("file://"):], Dynamic: a.Dynamic})
		}
		if j := strings.LastIndexAny(t, "@<"); j >= 0 && !strings.Contains(t, "://") {
			f := t[j+1:]
			f, _, _ = strings.Cut(f, ";")
			out = append(out, shell.Word{Text: f, Dynamic: a.Dynamic, Glob: a.Glob})
		}
	}
	return out
}

// opensslPrints returns the keys that openssl prints. It uses keys all the time; only dumping one
// is reading.
func opensslPrints(args []shell.Word) []shell.Word {
	if len(args) == 0 || !facts.HasWord(args[:1], "rsa", "pkey", "ec", "pkcs12", "base64", "enc") ||
		facts.HasWord(args, "-pubout", "-noout", "-check", "-export") {
		return nil
	}
	for i, a := range args {
		if a.Text == "-in" {
			return args[i+1 : min(i+2, len(args))]
		}
	}
	return nil
}
