package guard

import (
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/shell"
)

// env is what the rules of one command work with.
type env struct {
	call    *Call
	script  *shell.Script
	f       *findings
	home    string
	cwd     string
	project string
	asked   int               // how often Options.Resolve was asked
	aliases map[string]string // names that this very command gave to other files
}

// maxResolve bounds the questions one command may put to the file system.
const maxResolve = 64

// real is where p leads when links are followed; ok is false when that is no
// other place. follow says whether the last part of p is followed, too.
func (x *env) real(p string, follow bool) (string, bool) {
	resolve := x.f.guard.opt.Resolve
	if resolve == nil || x.asked >= maxResolve || !path.IsAbs(p) {
		return "", false
	}
	x.asked++
	out := ""
	if follow {
		out = resolve(p)
	} else {
		out = path.Join(resolve(path.Dir(p)), path.Base(p))
	}
	if out = path.Clean(out); !path.IsAbs(out) || out == p {
		return "", false
	}
	return out, true
}

// Stand-ins where the call does not say where it happens: relative paths then
// still count as inside the project.
const (
	unknownHome = "/home/user"
	unknownCwd  = "/home/user/project"
)

func newEnv(call *Call, s *shell.Script, f *findings) *env {
	x := &env{call: call, script: s, f: f, home: call.Home, cwd: call.Cwd, project: call.Project}
	if x.home == "" {
		x.home = unknownHome
	}
	if x.cwd == "" {
		x.cwd = x.project
	}
	if x.cwd == "" {
		x.cwd = unknownCwd
	}
	if x.project == "" {
		x.project = x.cwd
	}
	x.home, x.cwd, x.project = path.Clean(x.home), path.Clean(x.cwd), path.Clean(x.project)
	return x
}

// place is where a word points.
type place struct {
	text  string // as written
	path  string // absolute and clean, when known
	known bool
	all   bool // the contents of path ("dir/*"), not path itself
}

// place resolves word as an argument of run.
func (x *env) place(w shell.Word, r *shell.Run) place {
	return x.placeOf(w.Text, w.Tilde, w.Dynamic, r)
}

// bare resolves word with every expansion that may be empty left out.
func (x *env) bare(w shell.Word, r *shell.Run) place {
	return x.placeOf(w.Bare, w.Tilde, strings.Contains(w.Bare, "$"), r)
}

func (x *env) placeOf(text string, tilde, dynamic bool, r *shell.Run) place {
	p := place{text: text}
	t, ok := x.expand(text, tilde, dynamic)
	if !ok || t == "" {
		return p
	}
	for {
		cut := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(t, "/.*"), "/*"), "/**")
		if cut == t {
			break
		}
		p.all = true
		if cut == "" {
			cut = "/"
		}
		t = cut
	}
	if t == "*" || t == ".*" || t == "**" || t == "./*" {
		p.all, t = true, "."
	}
	if !path.IsAbs(t) {
		dir, ok := x.dir(r)
		if !ok {
			return p
		}
		t = path.Join(dir, t)
	}
	p.path, p.known = path.Clean(t), true
	return p
}

// expand puts in the places everyone knows: ~, $HOME, $PWD, $TMPDIR, $USER.
func (x *env) expand(t string, tilde, dynamic bool) (string, bool) {
	if tilde && strings.HasPrefix(t, "~") {
		name, rest, _ := strings.Cut(t[1:], "/")
		switch name {
		case "":
			t = x.home
		case "+":
			t = x.cwd
		case "root":
			t = "/root"
		default:
			t = path.Join(path.Dir(x.home), name)
		}
		if rest != "" {
			t += "/" + rest
		}
	}
	if !dynamic {
		return t, true
	}
	if strings.HasPrefix(t, "~/") || t == "~" {
		t = x.home + t[1:]
	}
	for _, v := range [...]struct{ name, value string }{
		{"HOME", x.home}, {"PWD", x.cwd}, {"TMPDIR", "/tmp"}, {"USER", path.Base(x.home)}, {"LOGNAME", path.Base(x.home)},
	} {
		t = strings.ReplaceAll(t, "${"+v.name+"}", v.value)
		t = replaceVar(t, "$"+v.name, v.value)
	}
	for _, who := range [...]string{"$(whoami)", "`whoami`", "$(id -un)"} {
		t = strings.ReplaceAll(t, who, path.Base(x.home))
	}
	t = strings.ReplaceAll(t, "$(git rev-parse --show-toplevel)", x.project)
	t = strings.ReplaceAll(t, "//", "/")
	return t, !strings.ContainsAny(t, "$`") && !strings.Contains(t, "{}")
}

// replaceVar replaces $NAME where the name ends there: not $HOME in $HOMEBREW.
func replaceVar(t, name, value string) string {
	for from := 0; ; {
		i := strings.Index(t[from:], name)
		if i < 0 {
			return t
		}
		i += from
		end := i + len(name)
		if end < len(t) && (isAlnum(t[end]) || t[end] == '_') {
			from = end
			continue
		}
		t = t[:i] + value + t[end:]
		from = i + len(value)
	}
}

// dir is the directory a run starts in, as far as the cds before it tell.
func (x *env) dir(r *shell.Run) (string, bool) {
	dir := x.cwd
	if r == nil {
		return dir, true
	}
	if r.Remote {
		dir = x.home
	}
	for _, d := range r.Dirs {
		t, ok := x.expand(d.Text, d.Tilde, d.Dynamic)
		if !ok || t == "-" {
			return "", false
		}
		if path.IsAbs(t) {
			dir = t
		} else {
			dir = path.Join(dir, t)
		}
	}
	return path.Clean(dir), true
}

// under reports whether p is dir or below it.
func under(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir) && p[len(dir)] == '/'
}

func below(p, dir string) bool { return p != dir && under(p, dir) }

var systemDirs = []string{
	"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot", "/dev", "/proc", "/sys", "/run", "/root",
	"/var", "/opt", "/srv", "/System", "/Library", "/Applications", "/private", "/cores", "/nix", "/snap",
}

// scratch are places made to be thrown away.
func (x *env) scratch(p string) bool {
	for _, d := range [...]string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders", "/dev/shm"} {
		if below(p, d) {
			return true
		}
	}
	for _, d := range [...]string{"/.cache", "/.npm", "/Library/Caches", "/Library/Developer/Xcode/DerivedData", "/.local/share/Trash", "/.Trash",
		"/.gradle/caches", "/.m2/repository", "/.cargo/registry", "/go/pkg/mod", "/.terraform.d/plugin-cache"} {
		if below(p, x.home+d) || d != "/.cache" && p == x.home+d {
			return true
		}
	}
	return false
}

func isSystem(p string) bool {
	for _, d := range systemDirs {
		if under(p, d) {
			return true
		}
	}
	return false
}

// broad says why losing p would be a catastrophe; "" when it would not.
func (x *env) broad(p place) string {
	t := p.path
	switch {
	case t == "/":
		return "the whole file system"
	case t == x.home:
		return "the home directory"
	case below(x.home, t):
		return "a parent of the home directory"
	case t == x.project:
		return "the whole project"
	case below(x.project, t):
		return "a parent of the project"
	case strings.Count(t, "/") == 1:
		return "a top-level directory"
	}
	if below(t, x.project) {
		if path.Base(t) == ".git" {
			return "the repository's history"
		}
		return ""
	}
	if !x.scratch(t) && isSystem(t) {
		return "a system directory"
	}
	if strings.Count(t, "/") == 2 && (under(t, "/home") || under(t, "/Users")) {
		return "a home directory"
	}
	return ""
}

// outside reports whether p is neither in the project nor scratch space.
func (x *env) outside(p place) bool {
	return !under(p.path, x.project) && !x.scratch(p.path)
}
