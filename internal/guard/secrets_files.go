package guard

import (
	"fmt"
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/shell"
)

// readerNeedles are the common ways to read. Where links are followed, a file
// under any name may lead to a secret.
func readerNeedles() *needles {
	return newNeedles(false, "cat ", "bat ", "less ", "more ", "head ", "tail ", "grep ", "rg ", "awk ", "sed ", "cut ", "sort ", "strings ", "xxd ", "hexdump ", "od ", "base64 ", "cp ", "scp ", "rsync ",
		"tar ", "zip ", "curl ", "nl ", "tac ", "dd ", "vim ", "nano ", "diff ", "jq ", "<")
}

// secretFile reports what secret a word of run r leads to: as it is named, from
// the directory it is named in, under a name this command gave it, or through
// the links on the disk.
func (x *env) secretFile(w shell.Word, r *shell.Run) (string, bool) {
	if what, ok := x.secretWord(w.Text); ok {
		return what, true
	}
	if r.Dirs == nil && x.aliases == nil && x.f.guard.opt.Resolve == nil {
		return "", false
	}
	p := x.place(w, r)
	if !p.known {
		return "", false
	}
	if what, ok := x.secretWord(p.path); ok {
		return what, true
	}
	for name, source := range x.aliases {
		if !under(p.path, name) {
			continue
		}
		if what, ok := x.secretWord(source + p.path[len(name):]); ok {
			return what, true
		}
	}
	if r.Remote || w.Glob {
		return "", false
	}
	if real, ok := x.real(p.path, true); ok {
		return x.secretWord(real)
	}
	return "", false
}

// otherNames are the names that ln and mv of this very command give to files.
func (x *env) otherNames() map[string]string {
	var out map[string]string
	for i := range x.script.Runs {
		r := &x.script.Runs[i]
		if n := r.Name(); n != "ln" && n != "mv" && n != "gln" && n != "gmv" || len(out) >= 64 {
			continue
		}
		_, rest := splitFlags(r.Args())
		to, sources, ok := target(r.Args(), rest)
		if !ok && len(rest) == 1 {
			to, sources, ok = shell.Word{Text: ".", Bare: "."}, rest, true
		}
		at := x.place(to, r)
		if !ok || !at.known {
			continue
		}
		for _, s := range sources {
			from := x.place(s, r)
			if !from.known {
				continue
			}
			if out == nil {
				out = map[string]string{}
			}
			out[at.path] = from.path
			out[path.Join(at.path, path.Base(from.path))] = from.path
		}
	}
	return out
}

// loadsLoop: while read l; do export "$l"; done < .env loads the file, which is
// use rather than reading.
func (x *env) loadsLoop(file string) bool {
	for i := range x.script.Runs {
		r := &x.script.Runs[i]
		switch r.Name() {
		case "export", "declare", "eval", "typeset", "setenv":
		default:
			continue
		}
		for _, rd := range r.Redirects {
			if rd.Reads() && rd.Target.Text == file {
				return true
			}
		}
	}
	return false
}

// secretPaths judges the paths of file and search tools.
func (g *Guard) secretPaths(f *findings, call *Call, extra inputPaths) {
	var x *env
	for _, list := range [...][]string{call.Reads, extra.reads} {
		for _, p := range list {
			what, ok := secretPath(p, call.Home)
			if !ok && g.opt.Resolve != nil {
				if x == nil {
					x = newEnv(call, nil, f)
				}
				if at := x.placeOf(p, strings.HasPrefix(p, "~"), strings.HasPrefix(p, "$"), nil); at.known {
					if real, linked := x.real(at.path, true); linked {
						what, ok = secretPath(real, call.Home)
					}
				}
			}
			if ok {
				f.add("file", p, fmt.Sprintf("opens %s (%s)", p, what))
			}
		}
	}
	if strings.HasPrefix(call.URL, "file://") {
		if what, ok := secretPath(call.URL[len("file://"):], call.Home); ok {
			f.add("file", call.URL, fmt.Sprintf("opens %s (%s)", call.URL, what))
		}
	}
}
