package facts

import (
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// GitParts returns git's subcommand, which follows its global options.
func GitParts(r *shell.Run) (sub string, args []shell.Word) {
	all := r.Args()
	for i := 0; i < len(all); i++ {
		t := all[i].Text
		switch {
		case programs.GitTakesValue(t):
			i++
		case strings.HasPrefix(t, "-"):
		default:
			return t, all[i+1:]
		}
	}
	return "", nil
}

// Extracts reports whether tar unpacks.
func Extracts(r *shell.Run) bool {
	return HasWord(r.Args(), "--extract", "--get") || tarExtracts(r.Args())
}

// ExtractDir returns where an archive is unpacked; ok is false if nothing is, or if it is the
// directory the command starts in.
func ExtractDir(r *shell.Run) (dir shell.Word, ok bool) {
	args := r.Args()
	name := r.Name()
	extracts := true
	switch name {
	case "tar", "bsdtar":
		extracts = Extracts(r)
	case "unzip":
		extracts = !HasWord(args, "-l", "-p", "-t", "-Z", "-v")
	case "7z", "7za":
		extracts = HasWord(args, "x", "e")
	case "patch", "gpatch":
		extracts = !HasWord(args, "--dry-run", "-C", "--check")
	case "cpio", "bsdcpio":
		flags, _ := SplitFlags(args)
		extracts = HasShort(flags, 'i', 'p') || HasLong(flags, "--extract", "--pass-through")
	}
	if !extracts {
		return dir, false
	}
	for i, a := range args {
		t := a.Text
		switch {
		case i+1 < len(args) && (t == "-C" || t == "--directory" || t == "--cd" || t == "-d" && name == "unzip" ||
			t == "-D" && name == "cpio" || t == "-d" && strings.HasSuffix(name, "patch")):
			return args[i+1], true
		case strings.HasPrefix(t, "--directory="), strings.HasPrefix(t, "--one-top-level="):
			return CutWord(a, strings.IndexByte(t, '=')+1), true
		case len(t) > 2 && (strings.HasPrefix(t, "-C") || strings.HasPrefix(t, "-o") && strings.HasPrefix(name,
			"7z") ||
			strings.HasPrefix(t, "-d") && (name == "unzip" || strings.HasSuffix(name, "patch")) ||
			strings.HasPrefix(t, "-D") && name == "cpio"):
			return CutWord(a, 2), true
		}
	}
	if flags, rest := SplitFlags(args); strings.HasSuffix(name, "cpio") && len(rest) > 0 &&
		(HasShort(flags, 'p') || HasLong(flags, "--pass-through")) {
		return rest[len(rest)-1], true
	}
	if len(r.Dirs) > 0 {
		return shell.Word{Text: ".", Bare: "."}, true
	}
	return dir, false
}

// PacksFiles reports whether a program puts files into an archive.
func PacksFiles(r *shell.Run) bool {
	args := r.Args()
	switch r.Name() {
	case "zip":
		return true
	case "7z", "7za":
		return HasWord(args, "a", "u")
	case "tar", "bsdtar":
		if HasWord(args, "--create", "--append", "--update") {
			return true
		}
		for i, a := range args {
			letters := strings.TrimPrefix(a.Text, "-")
			if (i == 0 || strings.HasPrefix(a.Text, "-")) && !strings.HasPrefix(a.Text, "--") &&
				strings.ContainsAny(letters, "cru") && !strings.ContainsAny(letters, "/.x") {
				return true
			}
		}
	}
	return false
}

// tarExtracts looks for x in the short options of tar, which may lack the "-" in its first
// argument.
func tarExtracts(args []shell.Word) bool {
	for _, first := range args[:min(1, len(args))] {
		if !strings.HasPrefix(first.Text, "--") && strings.Contains(first.Text, "x") &&
			!strings.Contains(first.Text, "/") {
			return true
		}
	}
	flags, _ := SplitFlags(args)
	for _, f := range flags {
		if f.Text[1] != '-' && f.Text[1] != 'C' && strings.Contains(f.Text, "x") && len(f.Text) < 8 {
			return true
		}
	}
	return false
}

// FindDeletes reports whether what find finds is deleted.
func (x *Scope) FindDeletes(r *shell.Run, args []shell.Word) bool {
	if own, command := shell.SplitCommand(x.Script.Programs.Of(r.Name()), args); len(command) > 0 {
		args = append(append(own[:len(own):len(own)], shell.Word{Text: "-exec"}), command...)
	}
	behind := false // the words of a command
	for i, a := range args {
		switch a.Text {
		case ";":
			behind = false
		case "+":
			behind = behind && args[i-1].Text != "{}"
		case "-delete":
			if !behind {
				return true
			}
		case "-exec", "-execdir", "-ok", "-okdir":
			behind = true
			for _, b := range args[i+1:] {
				if b.Text == ";" {
					break
				}
				for _, word := range strings.FieldsFunc(b.Text, func(r rune) bool {
					return r == ' ' || r == ';' || r == '\n' ||
						r == '"' || r == '\''
				}) {
					if x.Script.Programs.Of(path.Base(word)).Has(programs.Deletes) {
						return true
					}
				}
			}
		}
	}
	for _, n := range x.RunsIn(r.To) {
		if code, ok := n.Code(); x.Script.Programs.Of(n.Name()).Has(programs.Deletes) || ok && strings.Contains(code, "unlink") {
			return true
		}
	}
	return false
}

// DeletersInCode are calls that delete, in the languages used on command lines.
var DeletersInCode = []string{"rmtree", "rmSync", "rmdirSync", "fs.rm", "rm_rf", "rm_r(", "remove_tree", "unlinkSync",
	"remove_dir_all", "removeSync", "promises.rm", "rimraf", "os.removedirs", "FileUtils.rm",
	"recursive: true", "recursive:true", "recursive=true", "recursive=TRUE", "recursive = TRUE", "recursive=T)", "removeItem", "deleteDir", "Deno.remove",
	"delete-directory", "remove_dir", "remove_entry", "removeDirectoryRecursive", "file:del_dir_r", "os.RemoveAll", "fs::remove_dir_all", "remove_all(", "rm_r "}

// FileDeletersInCode delete one file with each call.
var FileDeletersInCode = []string{"unlink", "os.remove", "File.delete", "os.unlink", "promises.unlink"}

// ListersInCode are calls that find every file of a place.
var ListersInCode = []string{"glob", "listdir", "walk", "iterdir", "readdir", "scandir", "Dir[", "Dir.each", "find("}

// maxQuoted limits how many string literals of a program are looked at.
const maxQuoted = 256

// QuotedIn returns the string literals of program text, and those in them.
func QuotedIn(text string) []string {
	out := quotedIn(nil, text)
	for _, quote := range [...]string{`\"`, `\'`} { // text within text
		for rest := text; len(out) < maxQuoted; {
			_, behind, opened := strings.Cut(rest, quote)
			inner, after, closed := strings.Cut(behind, quote)
			if !opened || !closed {
				break
			}
			out, rest = append(out, inner), after
		}
	}
	return out
}

func quotedIn(out []string, text string) []string {
	for len(out) < maxQuoted {
		at := strings.IndexAny(text, "'\"`")
		if at < 0 {
			break
		}
		quoted, rest, closed := strings.Cut(text[at+1:], text[at:at+1])
		if !closed {
			break
		}
		out, text = append(out, quoted), rest
	}
	return out
}

// writersOf returns the runs before r that print text into a file which r is given.
func (x *Scope) writersOf(r *shell.Run) []shell.Run {
	var out []shell.Run
	given := func(name string) bool {
		for _, a := range r.Args() {
			if a.Text == name || strings.HasSuffix(a.Text, "="+name) || a.Text == "-f"+name || a.Text == "@"+name {
				return true
			}
		}
		for _, rd := range r.Redirects {
			if rd.Reads() && rd.Target.Text == name {
				return true
			}
		}
		return false
	}
	for i := range x.Script.Runs {
		w := &x.Script.Runs[i]
		if w == r {
			break
		}
		for _, rd := range w.Redirects {
			if w.HasOutput && rd.Writes() && given(rd.Target.Text) && len(out) < 64 {
				out = append(out, *w)
			}
		}
	}
	return out
}

// StatementText returns everything a database client may take as statements.
func (x *Scope) StatementText(r *shell.Run) string {
	var b strings.Builder
	for _, a := range r.Args() {
		b.WriteString(a.Text)
		b.WriteByte('\n')
	}
	if r.HasInput {
		b.WriteString(r.Input.Text)
	}
	var sources []shell.Run
	if !r.HasInput || r.Input.From != r.From || r.From.Empty() { // else the input is what they print
		sources = x.RunsIn(r.From)
	}
	for _, rd := range r.Redirects {
		if rd.Reads() {
			sources = append(sources[:len(sources):len(sources)], x.RunsIn(rd.Target.From)...)
		}
	}
	sources = append(sources[:len(sources):len(sources)], x.writersOf(r)...)
	for _, from := range sources {
		if n := from.Name(); n == "echo" || n == "printf" || n == "cat" {
			b.WriteString(JoinArgs(from.Args()))
			b.WriteByte('\n')
			if from.HasInput {
				b.WriteString(from.Input.Text)
			}
		}
	}
	return b.String()
}
