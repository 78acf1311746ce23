package secrets

import (
	"fmt"
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// readerNeedles returns the common ways to read. If links are followed, a file of any name may
// lead to a secret.
func readerNeedles() *facts.Needles {
	return facts.NewNeedles(false, "cat ", "bat ", "less ", "more ", "head ", "tail ", "grep ", "rg ", "awk ",
		"sed ",
		"cut ", "sort ", "strings ", "xxd ", "hexdump ", "od ", "base64 ", "cp ", "scp ", "rsync ",
		"tar ", "zip ", "curl ", "nl ", "tac ", "dd ", "vim ", "nano ", "diff ", "jq ", "<")
}

// secretFile reports what secret a word of run r leads to: as it is named, from
// the directory it is named in, under a name this command gave it, or through
// the links on the disk.
func (x *scope) secretFile(w shell.Word, r *shell.Run) (string, bool) {
	if what, ok := x.secretWord(w.Text); ok {
		return what, true
	}
	p := x.ResolveWord(w, r)
	if !p.Known {
		return "", false
	}
	if what, ok := x.secretWord(p.Path); ok {
		return what, true
	}
	for name, source := range x.aliases {
		if !facts.IsUnder(p.Path, name) {
			continue
		}
		if what, ok := x.secretWord(source + p.Path[len(name):]); ok {
			return what, true
		}
	}
	if r.Remote || w.Glob {
		return "", false
	}
	return leadsToSecret(x.Scope, x.twin, p.Path)
}

// leadsToSecret returns which secret a path leads to by links: symbolic ones, and hard ones to a
// secret in its usual place.
func leadsToSecret(s *facts.Scope, twin func(string, func() []string) string, p string) (string, bool) {
	if resolved, ok := s.RealPath(p, true); ok {
		if what, secret := secretPath(resolved, s.Home); secret {
			return what, true
		}
		p = resolved
	}
	if twin == nil {
		return "", false
	}
	if other := twin(p, func() (among []string) {
		for _, place := range knownSecrets() {
			if !path.IsAbs(place) {
				place = path.Join(s.Home, place)
			}
			among = append(among, place)
		}
		for dir := range secretDirs {
			among = append(among, path.Join(s.Home, dir))
		}
		return among
	}); other != "" {
		return secretPath(other, s.Home)
	}
	return "", false
}

// secretRenamed finds a secret file that gets another name, under which it isn't recognised:
// mv ~/.ssh/id_rsa notes.txt, cp -l, ln.
func (x *scope) secretRenamed(r *shell.Run) {
	switch r.Name() {
	case "ln", "gln", "mv", "gmv", "link":
	default:
		return
	}
	_, rest := facts.SplitFlags(r.Args())
	to, sources, ok := facts.SplitTarget(r.Args(), rest)
	if !ok || len(sources) != 1 || strings.HasSuffix(to.Text, "/") || to.Dynamic || r.Remote {
		return
	}
	what, secret := x.secretFile(sources[0], r)
	from, at := x.ResolveWord(sources[0], r), x.ResolveWord(to, r)
	if !secret || !from.Known || !at.Known {
		return
	}
	if _, known := x.secretWord(at.Path); known || x.secretNamed(at.Path, from.Path) ||
		facts.IsUnder(from.Path, x.Project) && path.Ext(at.Path) == "" {
		return
	}
	x.Report.Add("read", r.Head(), fmt.Sprintf("%s gives %s (%s) another name", r.Name(), sources[0].Text, what))
}

// secretNamed reports whether a name still says what it is: a folder, or a copy next to the file.
func (x *scope) secretNamed(at, from string) bool {
	return strings.HasPrefix(path.Base(at), path.Base(from)) || path.Dir(at) == path.Dir(from) ||
		isSecretDir(at) || isSecretDir(path.Dir(at))
}

// otherNames returns the names that ln and mv of this very command give to files.
func (x *scope) otherNames() map[string]string {
	var out map[string]string
	for i := range x.Script.Runs {
		r := &x.Script.Runs[i]
		if n := r.Name(); n != "ln" && n != "mv" && n != "gln" && n != "gmv" || len(out) >= 64 {
			continue
		}
		_, rest := facts.SplitFlags(r.Args())
		to, sources, ok := facts.SplitTarget(r.Args(), rest)
		if !ok && len(rest) == 1 {
			to, sources, ok = shell.Word{Text: ".", Bare: "."}, rest, true
		}
		at := x.ResolveWord(to, r)
		if !ok || !at.Known {
			continue
		}
		for _, s := range sources {
			from := x.ResolveWord(s, r)
			if !from.Known {
				continue
			}
			if out == nil {
				out = map[string]string{}
			}
			out[at.Path] = from.Path
			out[path.Join(at.Path, path.Base(from.Path))] = from.Path
		}
	}
	return out
}

// secretUpload finds uploads of secret files: sftp host <<< 'put .env', lftp -c 'put
// .env'.
func (x *scope) secretUpload(r *shell.Run) {
	switch r.Name() {
	case "sftp", "ftp", "lftp", "smbclient", "ncftp", "ncftpput", "tftp", "cadaver", "rclone":
	default:
		return
	}
	text := facts.JoinArgs(r.Args())
	if r.HasInput {
		text += "\n" + r.Input.Text
	}
	for _, from := range x.RunsIn(r.From) {
		text += "\n" + facts.JoinArgs(from.Args())
	}
	for _, line := range strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == ';' }) {
		words := strings.Fields(line)
		for i, word := range words {
			switch word {
			case "put", "mput", "send", "reput", "mirror":
				for _, file := range words[i+1:] {
					if what, ok := x.secretWord(strings.Trim(file, `'"`)); ok {
						x.Report.Add("send", r.Head(), fmt.Sprintf("%s sends %s (%s)", r.Name(), file, what))
						return
					}
				}
			}
		}
	}
}

// loadsLoop reports whether a loop loads the file into variables, which is use rather
// than reading: while read l; do export "$l"; done < .env.
func (x *scope) loadsLoop(file string) bool {
	for i := range x.Script.Runs {
		r := &x.Script.Runs[i]
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

// CheckPaths checks the paths of file and search tools.
func (c *Checker) CheckPaths(s *facts.Scope, extra facts.InputPaths) {
	call, f := s.Call, s.Report
	for _, list := range [...][]string{call.Reads, extra.Reads} {
		for _, p := range list {
			what, ok := secretPath(p, call.Home)
			if !ok && call.ToolKind == "search" {
				what, ok = searchedSecret(p, call.ToolName)
			}
			if !ok {
				if at := s.ResolveText(p, strings.HasPrefix(p, "~"), strings.HasPrefix(p, "$"), nil); at.Known {
					if what, ok = secretPath(at.Path, call.Home); !ok {
						what, ok = leadsToSecret(s, c.twin, at.Path)
					}
				}
			}
			if ok {
				f.Add("file", p, fmt.Sprintf("opens %s (%s)", p, what))
			}
		}
	}
	if call.ToolKind == "search" {
		checkSearch(s, extra)
	}
	if strings.HasPrefix(call.URL, "file://") {
		if what, ok := secretPath(call.URL[len("file://"):], call.Home); ok {
			f.Add("file", call.URL, fmt.Sprintf("opens %s (%s)", call.URL, what))
		}
	}
}

// searchedSecret checks one place of a search tool: a directory of secrets, or a
// pattern that is written to find them.
func searchedSecret(p, tool string) (string, bool) {
	if facts.ListsNames(tool) {
		return "", false
	}
	if isSecretDir(p) {
		return "a directory of keys and credentials", true
	}
	if strings.ContainsAny(path.Base(p), "*?[") {
		return globSecret(p)
	}
	return "", false
}

// checkSearch checks what the places and patterns of a search tool mean together:
// a search in ~/.aws for files named credentials.
func checkSearch(s *facts.Scope, extra facts.InputPaths) {
	if facts.ListsNames(s.Call.ToolName) {
		return
	}
	for _, dir := range s.Call.Reads {
		for _, pattern := range extra.Reads {
			if dir == pattern || path.IsAbs(pattern) {
				continue
			}
			p := path.Join(dir, pattern)
			if what, ok := secretPath(p, s.Call.Home); ok {
				s.Report.Add("file", p, fmt.Sprintf("searches %s (%s)", p, what))
			}
		}
	}
}
