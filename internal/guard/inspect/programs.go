package inspect

import (
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/shell"
)

// GitParts finds git's subcommand behind its global options.
func GitParts(r *shell.Run) (sub string, args []shell.Word) {
	all := r.Args()
	for i := 0; i < len(all); i++ {
		t := all[i].Text
		switch {
		case t == "-C" || t == "-c" || t == "--git-dir" || t == "--work-tree" || t == "--namespace" ||
			t == "--exec-path":
			i++
		case strings.HasPrefix(t, "-"):
		default:
			return t, all[i+1:]
		}
	}
	return "", nil
}

// ExtractDir is where an archive is unpacked; ok is false when nothing is, or
// when it is the directory the command starts in.
func ExtractDir(r *shell.Run) (dir shell.Word, ok bool) {
	args := r.Args()
	name := r.Name()
	extracts := true
	switch name {
	case "tar", "bsdtar":
		extracts = HasWord(args, "--extract", "--get") || len(args) > 0 && !strings.HasPrefix(args[0].Text, "--") &&
			strings.Contains(args[0].Text, "x") && !strings.Contains(args[0].Text, "/") || tarExtracts(args)
	case "unzip":
		extracts = !HasWord(args, "-l", "-p", "-t", "-Z", "-v")
	case "7z", "7za":
		extracts = HasWord(args, "x", "e")
	}
	if !extracts {
		return dir, false
	}
	for i, a := range args {
		t := a.Text
		switch {
		case i+1 < len(args) && (t == "-C" || t == "--directory" || t == "--cd" || t == "-d" && name == "unzip" ||
			t == "-D" && name == "cpio"):
			return args[i+1], true
		case strings.HasPrefix(t, "--directory="):
			return CutWord(a, len("--directory=")), true
		case strings.HasPrefix(t, "-C") && len(t) > 2, strings.HasPrefix(t, "-o") && len(t) > 2 &&
			strings.HasPrefix(name,
				"7z"), strings.HasPrefix(t, "-d") && len(t) > 2 && name == "unzip":
			return CutWord(a, 2), true
		}
	}
	if len(r.Dirs) > 0 {
		return shell.Word{Text: ".", Bare: "."}, true
	}
	return dir, false
}

// tarExtracts looks for x in the short options of tar.
func tarExtracts(args []shell.Word) bool {
	flags, _ := SplitFlags(args)
	for _, f := range flags {
		if f.Text[1] != '-' && f.Text[1] != 'C' && strings.IndexByte(f.Text, 'x') > 0 && len(f.Text) < 8 {
			return true
		}
	}
	return false
}

// FindDeletes reports whether what find finds is deleted.
func (x *Scope) FindDeletes(r *shell.Run, args []shell.Word) bool {
	if HasWord(args, "-delete") {
		return true
	}
	for i, a := range args {
		switch a.Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			for _, b := range args[i+1:] {
				if b.Text == ";" {
					break
				}
				for _, word := range strings.FieldsFunc(b.Text, func(r rune) bool {
					return r == ' ' || r == ';' || r == '\n' ||
						r == '"' || r == '\''
				}) {
					switch path.Base(word) {
					case "rm", "shred", "unlink", "rimraf", "grm", "truncate", "gtruncate", "trash", "trash-put", "srm":
						return true
					}
				}
			}
		}
	}
	for j := r.To.Lo; j < r.To.Hi && j < len(x.Script.Runs); j++ {
		n := &x.Script.Runs[j]
		if code, ok := n.Code(); n.Name() == "rm" || ok && strings.Contains(code, "unlink") {
			return true
		}
	}
	return false
}

// DeletersInCode are calls that delete, in the languages people put on a command
// line.
var DeletersInCode = []string{"rmtree", "rmSync", "rmdirSync", "fs.rm", "rm_rf", "rm_r(", "remove_tree", "unlinkSync",
	"remove_dir_all", "removeSync", "promises.rm", "rimraf", "os.removedirs", "FileUtils.rm"}

// FileDeletersInCode delete one file with each call.
var FileDeletersInCode = []string{"unlink", "os.remove", "File.delete", "os.unlink", "promises.unlink"}

// ListersInCode are calls that find every file of a place.
var ListersInCode = []string{"glob", "listdir", "walk", "iterdir", "readdir", "scandir", "Dir[", "Dir.each", "find("}

// QuotedIn returns the string literals of program text, escapes left alone.
func QuotedIn(text string) []string {
	var out []string
	for i := 0; i < len(text) && len(out) < 256; i++ {
		q := text[i]
		if q != '\'' && q != '"' && q != '`' {
			continue
		}
		j := strings.IndexByte(text[i+1:], q)
		if j < 0 {
			break
		}
		out = append(out, text[i+1:i+1+j])
		i += j + 1
	}
	return out
}

// StatementText is everything a database client may take as statements.
func (x *Scope) StatementText(r *shell.Run) string {
	var b strings.Builder
	for _, a := range r.Args() {
		b.WriteString(a.Text)
		b.WriteByte('\n')
	}
	if r.HasInput {
		b.WriteString(r.Input.Text)
	}
	for i := r.From.Lo; i < r.From.Hi && i < len(x.Script.Runs); i++ {
		from := &x.Script.Runs[i]
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
