package facts

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// Scope is the context in which the rules of one command run.
type Scope struct {
	Call    *Call
	Script  *shell.Script
	Report  *Report
	Home    string
	Cwd     string
	Project string
	resolve func(string) string // Options.Resolve
	real    map[string]realPath // what patterns match
	asked   int                 // how often resolve was asked
	links   map[string]string   // links that this very command makes, once asked for
	linked  bool                // links is made, or being made
	visited []int32             // by run: the walk along pipes that came past it last
	visit   int32               // the number of that walk
}

// MaxResolve limits how often one command may query the file system.
const MaxResolve = 64

// RealPath returns where p leads when links are followed; ok is false if that is the same
// place. follow says whether the last part of p is followed, too.
func (x *Scope) RealPath(p string, follow bool) (string, bool) {
	if real, ok := x.real[p]; ok {
		to := real.named
		if follow {
			to = real.followed
		}
		return to, to != p && path.IsAbs(to)
	}
	if x.resolve == nil || x.asked >= MaxResolve || !path.IsAbs(p) {
		return "", false
	}
	x.asked++
	var out string
	if follow {
		out = x.resolve(p)
	} else {
		out = path.Join(x.resolve(path.Dir(p)), path.Base(p))
	}
	if out = path.Clean(out); !path.IsAbs(out) || out == p {
		return "", false
	}
	return out, true
}

// Placeholders for when the call doesn't say where it happens: relative paths are then still
// inside the project.
const (
	unknownHome = "/home/user"
	unknownCwd  = "/home/user/project"
)

// NewScope describes where a call happens. s is nil for file tools.
func NewScope(call *Call, s *shell.Script, f *Report, resolve func(string) string) *Scope {
	x := &Scope{Call: call, Script: s, Report: f, resolve: resolve, Home: call.Home, Cwd: call.Cwd,
		Project: call.Project}
	if x.Home == "" {
		x.Home = unknownHome
	}
	if x.Cwd == "" {
		x.Cwd = x.Project
	}
	if x.Cwd == "" {
		x.Cwd = unknownCwd
	}
	if x.Project == "" {
		x.Project = x.Cwd
	}
	x.Home, x.Cwd, x.Project = path.Clean(x.Home), path.Clean(x.Cwd), path.Clean(x.Project)
	return x
}

// Inner returns the scope of text that x's command writes somewhere, with its own report.
func (x *Scope) Inner(s *shell.Script, report *Report) *Scope {
	inner := *x
	inner.Script, inner.Report, inner.visited = s, report, nil
	return &inner
}

// Place is where a word points.
type Place struct {
	Text  string // as written
	Path  string // absolute and clean, when known
	Known bool
	All   bool // the contents of path ("dir/*"), not path itself
}

// ResolveWord resolves w as an argument of r.
func (x *Scope) ResolveWord(w shell.Word, r *shell.Run) Place {
	return x.ResolveText(w.Text, w.Tilde, w.Dynamic, r)
}

// ResolveBare resolves word with every expansion that may be empty left out.
func (x *Scope) ResolveBare(w shell.Word, r *shell.Run) Place {
	return x.ResolveText(w.Bare, w.Tilde, strings.Contains(w.Bare, "$"), r)
}

// everyName matches a pattern that nearly every name matches: ?*, [a-z]*.
var everyName = lazyregexp.New(`^[*?]*\*[*?]*$|^\[([!^]\.|a-z[^\]]*)\]\*$`)

func (x *Scope) ResolveText(text string, tilde, dynamic bool, r *shell.Run) Place {
	p := Place{Text: text}
	t, ok := x.expandKnown(text, tilde, dynamic)
	if !ok || t == "" {
		return p
	}
	if at := strings.LastIndexByte(t, '/') + 1; strings.IndexByte(t[at:], '*') >= 0 && everyName.MatchString(t[at:]) {
		t = t[:at] + "*"
	}
	for {
		cut := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(t, "/.*"), "/*"), "/**")
		if cut == t {
			break
		}
		p.All = true
		if cut == "" {
			cut = "/"
		}
		t = cut
	}
	if t == "*" || t == ".*" || t == "**" || t == "./*" {
		p.All, t = true, "."
	}
	if !path.IsAbs(t) {
		dir, ok := x.StartDir(r)
		if !ok {
			return p
		}
		t = strings.TrimSuffix(dir, "/") + "/" + t
	}
	p.Path, p.Known = x.enterLinks(x.clean(t), p.All), true
	return p
}

// clean is path.Clean as the kernel does it: .. leaves the folder that a link leads to, and
// /proc/self/cwd is such a link.
func (x *Scope) clean(t string) string {
	t = x.ownProcess(t)
	at := strings.Index(t, "/..")
	if at <= 0 || x.resolve == nil {
		return path.Clean(t)
	}
	before, rest := t[:at], t[at+1:]
	if next, _, _ := strings.Cut(rest, "/"); next != ".." { // a name that begins with dots
		return path.Clean(t)
	}
	if real, ok := x.RealPath(path.Clean(before), true); ok {
		before = real
	}
	for strings.HasPrefix(rest, "..") && (len(rest) == 2 || rest[2] == '/') {
		before, rest = path.Dir(before), strings.TrimLeft(rest[2:], "/")
	}
	if rest == "" {
		return path.Clean(before)
	}
	if x.asked >= MaxResolve {
		return path.Clean(before + "/" + rest)
	}
	return x.clean(strings.TrimSuffix(before, "/") + "/" + rest)
}

// ownProcess replaces the folders of this very process with what they are: its current folder,
// and the root.
func (x *Scope) ownProcess(t string) string {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(t, "/./", "/"), "/proc/")
	if !ok {
		return t
	}
	who, rest, _ := strings.Cut(rest, "/")
	if who != "self" && who != "thread-self" && strings.Trim(who, "$0123456789") != "" {
		return t
	}
	what, rest, _ := strings.Cut(rest, "/")
	folder := x.Cwd
	switch what {
	case "cwd":
	case "root":
		folder = ""
	default:
		return t
	}
	if strings.Trim(who, "0123456789") == "" { // of another process, if that can be asked
		if real, ok := x.RealPath("/proc/"+who+"/"+what, true); ok {
			folder = strings.TrimSuffix(real, "/")
		}
	}
	return folder + "/" + rest
}

// enterLinks follows a link that this very command makes, if a path goes through it: what is
// done to the link itself isn't done to where it leads.
func (x *Scope) enterLinks(t string, all bool) string {
	for name, to := range x.madeLinks() {
		if IsBelow(t, name) || all && t == name {
			return path.Clean(to + t[len(name):])
		}
	}
	return t
}

// LinkTarget returns where a link leads that this very command makes under that name.
func (x *Scope) LinkTarget(name string) (string, bool) {
	to, ok := x.madeLinks()[name]
	return to, ok
}

// maxLinks limits how many links of one command are followed.
const maxLinks = 64

// madeLinks returns the links that this very command makes, by their names.
func (x *Scope) madeLinks() map[string]string {
	if x.linked || x.Script == nil {
		return x.links
	}
	x.linked = true
	for i := range x.Script.Runs {
		r := &x.Script.Runs[i]
		n := r.Name()
		if n != "ln" && n != "gln" && n != "bindfs" && n != "mount" || len(x.links) >= maxLinks || r.Contained ||
			r.Remote {
			continue
		}
		flags, rest := SplitFlags(r.Args())
		if (n == "ln" || n == "gln") && !HasShort(flags, 's') && !HasLong(flags, "--symbolic") ||
			n == "mount" && !HasLong(flags, "--bind", "--rbind") && !HasWord(r.Args(), "bind", "rbind") {
			continue
		}
		to, sources, ok := SplitTarget(r.Args(), rest)
		if !ok || len(sources) == 0 {
			continue
		}
		at, from := x.ResolveWord(to, r), x.ResolveWord(sources[0], r)
		if !at.Known || !from.Known || at.Path == from.Path || IsUnder(from.Path, at.Path) {
			continue
		}
		if x.links == nil {
			x.links = map[string]string{}
		}
		x.links[at.Path] = from.Path
	}
	return x.links
}

// namedValue is a variable and its value.
type namedValue struct{ name, value string }

// agentFolders are the variables that name agents' folders, each with the folder below the
// home directory that it means unless it is set.
var agentFolders = sync.OnceValue(func() []namedValue {
	var list []namedValue
	for _, known := range agent.Builtin().AllMarks() {
		for _, f := range known.Files {
			folder, _, _ := strings.Cut(strings.TrimPrefix(f.Path, "~/"), "/")
			if f.EnvDir != "" {
				folder = strings.TrimPrefix(f.EnvDir, "~/")
			}
			v := namedValue{f.Env, folder}
			if f.Env != "" && !strings.HasPrefix(f.Env, "XDG_") && !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
	}
	return list
})

// expandKnown replaces well-known places: ~, $HOME, $PWD, $TMPDIR, $USER.
func (x *Scope) expandKnown(t string, tilde, dynamic bool) (string, bool) {
	if tilde && strings.HasPrefix(t, "~") {
		name, rest, _ := strings.Cut(t[1:], "/")
		switch name {
		case "":
			t = x.Home
		case "+":
			t = x.Cwd
		case "root":
			t = "/root"
		default:
			t = path.Join(path.Dir(x.Home), name)
		}
		if rest != "" {
			t += "/" + rest
		}
	}
	if !dynamic {
		return t, true
	}
	if strings.HasPrefix(t, "~/") || t == "~" {
		t = x.Home + t[1:]
	}
	for _, v := range agentFolders() {
		t = strings.ReplaceAll(t, "${"+v.name+"}", x.Home+"/"+v.value)
		t = replaceVar(t, "$"+v.name, x.Home+"/"+v.value)
	}
	for _, v := range [...]namedValue{
		{"HOME", x.Home}, {"PWD", x.Cwd}, {"TMPDIR", "/tmp"}, {"USER", path.Base(x.Home)}, {"LOGNAME",
			path.Base(x.Home)},
		{"XDG_CONFIG_HOME", x.Home + "/.config"}, {"XDG_DATA_HOME", x.Home + "/.local/share"}, {"XDG_STATE_HOME",
			x.Home + "/.local/state"},
		{"XDG_CACHE_HOME", x.Home + "/.cache"}, {"XDG_RUNTIME_DIR", "/run/user/1000"},
	} {
		t = strings.ReplaceAll(t, "${"+v.name+"}", v.value)
		t = replaceVar(t, "$"+v.name, v.value)
	}
	for _, who := range [...]string{"$(whoami)", "`whoami`", "$(id -un)"} {
		t = strings.ReplaceAll(t, who, path.Base(x.Home))
	}
	t = strings.ReplaceAll(t, "$(git rev-parse --show-toplevel)", x.Project)
	t = strings.ReplaceAll(t, "$(git rev-parse --git-dir)", x.Project+"/.git")
	t = strings.ReplaceAll(strings.ReplaceAll(t, "/proc/$$/", "/proc/self/"), "//", "/")
	return t, !strings.ContainsAny(t, "$`") && !strings.Contains(t, "{}")
}

// replaceVar replaces $NAME if the name ends there: not $HOME in $HOMEBREW.
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

// StartDir returns the directory a run starts in, as far as that is known from the cds before
// it.
func (x *Scope) StartDir(r *shell.Run) (string, bool) {
	dir := x.Cwd
	if r == nil {
		return dir, true
	}
	if r.Remote {
		dir = x.Home
	}
	for _, d := range r.Dirs {
		t, ok := x.expandKnown(d.Text, d.Tilde, d.Dynamic)
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

// IsUnder reports whether p is dir or below it.
func IsUnder(p, dir string) bool {
	return p == dir || dir == "/" || strings.HasPrefix(p, dir) && p[len(dir)] == '/'
}

func IsBelow(p, dir string) bool { return p != dir && IsUnder(p, dir) }

// SystemDirs are the folders that belong to the machine, not to a user.
var SystemDirs = []string{
	"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/boot", "/dev", "/proc", "/sys", "/run", "/root",
	"/var", "/opt", "/srv", "/System", "/Library", "/Applications", "/private", "/cores", "/nix", "/snap",
}

// IsScratch reports whether p is in a folder for temporary files.
func (x *Scope) IsScratch(p string) bool {
	for _, d := range [...]string{"/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders",
		"/dev/shm"} {
		// A home that is there is still a home.
		if IsBelow(p, d) && !(IsBelow(x.Home, d) && IsUnder(p, x.Home)) {
			return true
		}
	}
	if !IsUnder(p, x.Home) {
		return false
	}
	below := strings.TrimPrefix(p[len(strings.TrimSuffix(x.Home, "/")):], "/")
	for _, d := range [...]string{".cache", ".npm", "Library/Caches", "Library/Developer/Xcode/DerivedData",
		".local/share/Trash", ".Trash", ".gradle/caches", ".m2/repository", ".cargo/registry", "go/pkg/mod",
		".terraform.d/plugin-cache"} {
		if IsBelow(below, d) || d != ".cache" && below == d {
			return true
		}
	}
	return false
}

func isSystem(p string) bool {
	for _, d := range SystemDirs {
		if IsUnder(p, d) {
			return true
		}
	}
	return false
}

// Breadth is why losing a place would be a catastrophe.
type Breadth int

// The breadths. NotBroad is a place whose loss harms little.
const (
	NotBroad Breadth = iota
	WholeFileSystem
	HomeDirectory
	ParentOfHome
	WholeProject
	ParentOfProject
	TopLevel
	RepositoryHistory
	SystemDirectory
	OtherHome
)

var breadthTexts = [...]string{
	NotBroad:          "",
	WholeFileSystem:   "the whole file system",
	HomeDirectory:     "the home directory",
	ParentOfHome:      "a parent of the home directory",
	WholeProject:      "the whole project",
	ParentOfProject:   "a parent of the project",
	TopLevel:          "a top-level directory",
	RepositoryHistory: "the repository's history",
	SystemDirectory:   "a system directory",
	OtherHome:         "a home directory",
}

// String returns the breadth as text.
func (b Breadth) String() string { return breadthTexts[b] }

// WhyBroad returns why losing p would be a catastrophe; NotBroad if it wouldn't be.
func (x *Scope) WhyBroad(p Place) Breadth {
	t := p.Path
	switch {
	case t == "/":
		return WholeFileSystem
	case t == x.Home:
		return HomeDirectory
	case IsBelow(x.Home, t):
		return ParentOfHome
	case t == x.Project:
		return WholeProject
	case IsBelow(x.Project, t):
		return ParentOfProject
	case strings.Count(t, "/") == 1:
		return TopLevel
	}
	if IsBelow(t, x.Project) {
		if fitsName(path.Base(t), ".git") {
			return RepositoryHistory
		}
		return NotBroad
	}
	if !x.IsScratch(t) && isSystem(t) {
		return SystemDirectory
	}
	if strings.Count(t, "/") == 2 && (IsUnder(t, "/home") || IsUnder(t, "/Users")) {
		return OtherHome
	}
	return NotBroad
}

// fitsName reports whether the last part of a path is this name, or a pattern that the
// shell replaces by it.
func fitsName(pattern, name string) bool {
	if pattern == name || !strings.HasPrefix(pattern, ".") || !strings.ContainsAny(pattern, "*?[") {
		return pattern == name
	}
	fits, err := path.Match(pattern, name)
	return fits && err == nil
}

// IsOutside reports whether p is neither in the project nor scratch space.
func (x *Scope) IsOutside(p Place) bool {
	return !IsUnder(p.Path, x.Project) && !x.IsScratch(p.Path)
}
