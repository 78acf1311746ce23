package destructive

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// workFolders are folders of a home that hold code, downloads or what programs make: what is lost
// there can be restored.
var workFolders = []string{"src", "source", "code", "work", "workspace", "dev", "develop", "development", "projects", "project",
	"repos", "repo", "git", "go", "bin", "lib", "downloads", "library", "tmp", "temp", "build", "dist", "target", "node_modules",
	"app", "apps", "snap", "sandbox", "scratch", "logs", "log", "miniconda3", "anaconda3", "android", "venv", "envs"}

// isDocument reports whether p is one of the user's own files, which no program recreates: in the
// home directory, neither hidden nor in the project, nor where code is.
func (x *scope) isDocument(p facts.Place) bool {
	if p.Known && p.All && p.Path == x.Home {
		return true
	}
	if !p.Known || !facts.IsBelow(p.Path, x.Home) || !x.IsOutside(p) || facts.IsUnder(x.Project, p.Path) {
		return false
	}
	parts := strings.Split(strings.TrimPrefix(p.Path, x.Home+"/"), "/")
	return !slices.Contains(workFolders, strings.ToLower(parts[0])) &&
		!slices.ContainsFunc(parts, func(part string) bool { return strings.HasPrefix(part, ".") }) &&
		!slices.Contains(madeEndings, path.Ext(p.Path))
}

// madeEndings are the extensions of files that programs make, and that can be made again.
var madeEndings = []string{".log", ".pid", ".lock", ".sock", ".tmp", ".bak", ".old", ".o", ".pyc", ".dmg", ".iso", ".deb", ".rpm"}

// losesDocuments reports which of the user's own files are lost, file by file.
func (x *scope) losesDocuments(r *shell.Run, verb string, words ...shell.Word) {
	if r.Contained || r.Remote {
		return
	}
	for _, w := range words {
		if p := x.ResolveWord(w, r); x.isDocument(p) {
			x.Report.Add("documents", r.Head(), fmt.Sprintf("%s %s, your file outside the project", verb, w.Text))
			return
		}
		for _, from := range x.RunsIn(w.From) {
			if x.Script.Programs.Of(from.Name()).Kind != programs.KindSearch || len(from.Args()) == 0 {
				continue
			}
			if place := x.ResolveWord(from.Args()[0], &from); x.isDocument(place) || place.Known && place.Path == x.Home {
				x.Report.Add("documents", r.Head(), verb+" what is found among your files outside the project")
				return
			}
		}
	}
}

// losesAway reports your files that are moved to where things are thrown away.
func (x *scope) losesAway(r *shell.Run, dest facts.Place, sources []shell.Word) {
	if !dest.Known || !x.IsScratch(dest.Path+"/x") && !buildDir(path.Base(dest.Path)) {
		return
	}
	for _, w := range sources {
		p := x.ResolveWord(w, r)
		source := p.Known && (path.Dir(p.Path) == x.Project && sourceDirs[path.Base(p.Path)] || p.All && p.Path == x.Project)
		if x.isDocument(p) || source && !buildDir(path.Base(dest.Path)) {
			x.Report.Add("documents", r.Head(), fmt.Sprintf("moves %s to where things are thrown away", w.Text))
			return
		}
	}
}

// namesNothing reports whether one of the sources of a copy is empty, or is named as empty.
func namesNothing(sources []shell.Word) bool {
	return slices.ContainsFunc(sources, func(w shell.Word) bool {
		return w.Text == "/dev/null" || strings.HasPrefix(strings.ToLower(path.Base(w.Text)), "empty")
	})
}

// emptied reports whether a program that replaces files is given nothing to write.
func (x *scope) emptied(r *shell.Run) bool {
	if strings.HasSuffix(r.Name(), "truncate") {
		size := facts.OptionValues(r.Args(), "-s", "--size")
		return len(size) > 0 && strings.Trim(size[0].Text, "0") == ""
	}
	from := x.RunsIn(r.From)
	return len(from) > 0 && printsNothing(&from[len(from)-1]) || r.HasInput && strings.TrimSpace(r.Input.Text) == ""
}

// deletesLines matches scripts of editors that leave nothing: d, 1,$d, %d, $_="".
var deletesLines = lazyregexp.New(`^:?[%,0-9$]*d([;|\s]|$)|^\$_\s*=\s*(""|'')|^0$|^s/\.\*//`)

// overwritesPersonal checks what a program writes to a given place: sort -o, curl -o, dd of=,
// cp and mv onto a file.
func (x *scope) overwritesPersonal(r *shell.Run, p *programs.Program, args, rest []shell.Word) {
	if r.Contained || r.Remote {
		return
	}
	var made []shell.Word
	switch p.Kind {
	case programs.KindCopy, programs.KindMove:
		if len(rest) > 1 && path.Ext(rest[len(rest)-1].Text) != "" && path.Ext(rest[len(rest)-2].Text) != path.Ext(rest[len(rest)-1].Text) {
			made = rest[len(rest)-1:]
		}
	case programs.KindDownload:
		for _, file := range facts.DownloadedFiles(r) {
			made = append(made, shell.Word{Text: file, Bare: file, Tilde: strings.HasPrefix(file, "~"), Dynamic: strings.Contains(file, "$")})
		}
	case programs.KindRawCopy:
		for _, a := range args {
			if strings.HasPrefix(a.Text, "of=") {
				made = append(made, facts.CutWord(a, len("of=")))
			}
		}
	default:
		made = facts.OptionValues(args, x.Script.Programs.FileOptionsOf(r.Name()).Writes...)
		if p.Reader != nil {
			made = append(made, facts.OptionValues(args, p.Reader.Output...)...)
		}
	}
	for _, w := range made {
		if place := x.ResolveWord(w, r); x.whyVital(place) == sshFile {
			x.Report.Add("overwrite", r.Head(), fmt.Sprintf("overwrites %s (%s)", w.Text, sshFile))
		}
	}
	x.losesDocuments(r, "writes over", made...)
}

// documentsRule checks what changes a file in place and leaves nothing of it, and what
// renames several to one name.
func documentsRule(x *scope, r *shell.Run) {
	p := x.Script.Programs.Of(r.Name())
	args := r.Args()
	flags, rest := facts.SplitFlags(args)
	inPlace := p.Kind == programs.KindEdit || p.Reader != nil && facts.ChangesInPlace(flags, rest, p.Reader.InPlace) ||
		p.Code != nil && facts.HasShort(flags, 'i')
	x.overwritesPersonal(r, p, args, rest)
	switch {
	case p.Kind == programs.KindRename && len(rest) > 1 && strings.HasPrefix(rest[0].Text, "s/.") &&
		strings.ContainsAny(rest[0].Text[3:min(4, len(rest[0].Text))], "*+"):
		x.losesDocuments(r, "gives one name to", rest[1:]...)
	case facts.HasLong(flags, "--remove-source-files") || facts.HasWord(flags, "-sdel"):
		x.losesDocuments(r, "packs or copies, and deletes", rest...)
	case inPlace && (slices.ContainsFunc(args, func(a shell.Word) bool { return deletesLines.MatchString(a.Text) }) ||
		r.HasInput && deletesLines.MatchString(r.Input.Text)):
		x.losesDocuments(r, "empties", rest...)
		for _, w := range rest {
			if why := x.whyVital(x.ResolveWord(w, r)); why == systemFile {
				x.Report.Add("overwrite", r.Head(), fmt.Sprintf("empties %s (%s)", w.Text, why))
			}
		}
	}
}
