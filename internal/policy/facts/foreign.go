package facts

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// decoder is put before the name of a program that decodes.
const decoder = "a decoder"

// foreignOrigin returns whether a run's output is foreign text: from the network, or from a
// decoder that hides what it says.
func (x *Scope) foreignOrigin(r *shell.Run) string {
	name := r.Name()
	known := x.Script.Programs.Of(name)
	switch {
	case known.Has(programs.Fetches):
		return "the network (" + name + ")"
	case r.Remote && len(r.Via) > 0:
		return "the network (another machine)"
	case name == "base64" && HasWord(r.Args(), "-d", "-D", "--decode", "-di"),
		name == "base32" && HasWord(r.Args(), "-d", "--decode"),
		name == "xxd" && strings.Contains(JoinArgs(r.Args()), "-r"),
		name == "openssl" && HasWord(r.Args(), "-d"),
		name == "uudecode", name == "rot13", name == "zcat", name == "gunzip", name == "xzcat", name == "bzcat",
		name == "zstdcat", known.Has(programs.Unpacks) && HasWord(r.Args(), "-d", "-dc", "-cd", "--decompress", "--decrypt",
			"-dq"):
		return decoder + " (" + name + ")"
	}
	return ""
}

// originOf looks at a span of runs and, through their pipes, at what feeds them.
func (x *Scope) originOf(span shell.Span) string {
	for _, r := range x.Sources(span) {
		if o := x.foreignOrigin(r); o != "" {
			return o
		}
	}
	return ""
}

// ForeignProgram is text from elsewhere that a run executes as its program.
type ForeignProgram struct {
	Run    *shell.Run
	Reason string
	Origin Origin
}

// Origin is where the text of a program comes from.
type Origin string

// The origins. Downloaded is a script that the same command saved, Binary anything
// else that it saved and then runs or installs.
const (
	FromNetwork Origin = "network"
	FromDecoder Origin = "decoder"
	Downloaded  Origin = "download"
	Binary      Origin = "binary"
)

// ForeignPrograms returns the runs of a command that run text from the network, from a decoder
// that hides what it says, or from a file just downloaded.
func (x *Scope) ForeignPrograms() []ForeignProgram {
	var out []ForeignProgram
	for i := range x.Script.Runs {
		r := &x.Script.Runs[i]
		if len(r.Argv) > 0 && x.Script.Programs.Of(strings.TrimRight(r.Name(), "0123456789.")).Has(programs.RunsFiles) && !r.Contained {
			for _, a := range r.Args() {
				if from := x.originOf(a.From); strings.HasPrefix(from, "the network") {
					reason := fmt.Sprintf("%s takes what comes from %s", r.Name(), from)
					out = append(out, ForeignProgram{r, reason, Binary})
					break
				}
			}
		}
		if from := x.fetchedProgram(r); from != "" {
			origin := FromNetwork
			if strings.HasPrefix(from, decoder) {
				origin = FromDecoder
			}
			out = append(out, ForeignProgram{r, fmt.Sprintf("%s runs text that comes from %s", r.Name(), from),
				origin})
		}
	}
	out = append(out, x.editedPrograms()...)
	return append(out, x.downloadedScripts()...)
}

// editedPrograms finds programs that are fetched and run from within an editor: vim -c ':r !curl
// …' -c ':w !sh'.
func (x *Scope) editedPrograms() []ForeignProgram {
	fetched := map[string]string{}
	var out []ForeignProgram
	for i := range x.Script.Runs {
		r := &x.Script.Runs[i]
		if len(r.Via) == 0 || len(r.Argv) == 0 {
			continue
		}
		switch via := r.Via[len(r.Via)-1]; strings.Fields(via + " x")[0] {
		case "vim", "vi", "nvim", "ex", "ed", "emacs", "view":
			if o := x.foreignOrigin(r); o != "" {
				fetched[via] = o
			} else if from := fetched[via]; from != "" && shell.IsShell(r.Name()) && len(r.Args()) == 0 {
				out = append(out, ForeignProgram{r, fmt.Sprintf("%s runs text that comes from %s", r.Name(), from),
					FromNetwork})
			}
		}
	}
	return out
}

// fetchedProgram returns where the text that a run executes as its program comes from, "" if
// it is its own.
func (x *Scope) fetchedProgram(r *shell.Run) string {
	if len(r.Argv) == 0 {
		return ""
	}
	name := r.Name()
	isShell := shell.IsShell(name) || r.MayBe("sh") || r.MayBe("bash") || r.MayBe("zsh")
	if r.Contained && !isShell {
		return ""
	}
	evals := name == "eval" || name == "source" || name == "."
	for _, a := range r.Assigns {
		if o := x.originOf(a.Value.From); o != "" && isShell && (a.Name == "BASH_ENV" || a.Name == "ENV") {
			return o
		}
	}
	if runsLines(r) {
		return x.originOf(r.From)
	}
	interpreter := false
	switch strings.TrimRight(name, "0123456789.") {
	case "python", "perl", "ruby", "node", "php", "bun", "deno", "lua", "osascript", "pwsh", "powershell", "nodejs":
		interpreter = true
	}
	if !isShell && !evals && !interpreter || isShell && r.OnlyChecks() {
		return ""
	}
	for _, a := range r.Args() {
		if o := x.originOf(a.From); o != "" {
			return o
		}
	}
	for _, rd := range r.Redirects {
		if o := x.originOf(rd.Target.From); o != "" && rd.Reads() {
			return o
		}
	}
	if o := x.originOf(r.Input.From); o != "" && r.HasInput &&
		(!evals || HasWord(r.Args(), "/dev/stdin", "-",
			"/dev/fd/0", "/proc/self/fd/0")) {
		return o
	}
	if evals {
		if o := x.originOf(r.From); o != "" && HasWord(r.Args(), "/dev/stdin", "-", "/dev/fd/0",
			"/proc/self/fd/0") {
			return o
		}
		// curl … | while read l; do eval "$l"; done
		for _, a := range r.Args() {
			if o := x.originOf(r.From); o != "" && a.Dynamic {
				return o
			}
		}
		return ""
	}
	if !readsProgramFromStdin(r, isShell) {
		return ""
	}
	if o := x.originOf(r.From); o != "" {
		return o
	}
	return ""
}

// runsLines reports whether a program that isn't an interpreter runs the lines it reads:
// awk '{system($0)}', parallel without a command, make -f -.
func runsLines(r *shell.Run) bool {
	args := r.Args()
	switch name := r.Name(); {
	case strings.HasSuffix(name, "awk"):
		code, _ := r.Code()
		return strings.Contains(code, "system($") || strings.Contains(code, `| "sh"`) || strings.Contains(code,
			`|"sh"`) ||
			strings.Contains(code, `| "bash"`) || strings.Contains(code, `|"bash"`)
	case name == "parallel" || name == "rush":
		_, rest := SplitFlags(args)
		return len(rest) == 0
	case name == "make" || name == "gmake":
		for _, w := range OptionValues(args, "-f", "--file", "--makefile") {
			if w.Text == "-" || w.Text == "/dev/stdin" {
				return true
			}
		}
	case name == "at" || name == "batch" || name == "crontab" || name == "m4" || name == "bc" || name == "dc":
		return name != "crontab" || HasWord(args, "-")
	}
	return false
}

// readsProgramFromStdin reports whether an interpreter has neither a script file nor
// code on its command line.
func readsProgramFromStdin(r *shell.Run, isShell bool) bool {
	for _, a := range r.Args() {
		t := a.Text
		switch {
		case t == "-" || t == "/dev/stdin" || t == "-s":
			return true
		case t == "--" || t == "":
		case t[0] == '-':
			// Code after -e in the same word; code in the next word ends the search there.
			if !isShell && t[1] != '-' && strings.Contains(t, "e") && r.Name() != "python3" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// downloadedScripts finds scripts that one line downloads and runs: curl -o f … && sh
// f.
func (x *Scope) downloadedScripts() []ForeignProgram {
	var out []ForeignProgram
	got := map[string]bool{}
	var folders []string
	for i := range x.Script.Runs {
		r := &x.Script.Runs[i]
		name := r.Name()
		if name == "curl" || name == "wget" {
			for _, f := range DownloadedFiles(r) {
				got[strings.TrimPrefix(f, "./")] = true
				if dir, base := path.Split(f); strings.HasSuffix(dir, "/bin/") {
					got[base] = true // found by its name alone
				}
			}
			continue
		}
		if p := x.Script.Programs.Of(name); p.Operands != nil && p.Operands.Target {
			_, rest := SplitFlags(r.Args())
			to, sources, ok := SplitTarget(r.Args(), rest)
			for _, from := range sources {
				if ok && (got[strings.TrimPrefix(from.Text, "./")] || p.Has(programs.Sends) && isRemotePath(from.Text)) {
					got[strings.TrimPrefix(to.Text, "./")] = true
					got[path.Join(to.Text, path.Base(from.Text))] = true
				}
			}
		}
		if dir, ok := x.fetchedFolder(r); ok {
			folders = append(folders, dir)
			continue
		}
		if x.Script.Programs.Of(name).Has(programs.Unpacks) || name == "tar" || name == "unzip" || name == "bsdtar" {
			if slices.ContainsFunc(r.Args(), func(a shell.Word) bool { return got[strings.TrimPrefix(a.Text, "./")] }) {
				dir, ok := ExtractDir(r)
				if !ok {
					dir = shell.Word{Text: ".", Bare: "."}
				}
				if p := x.ResolveWord(dir, r); p.Known && p.Path != "/" {
					folders = append(folders, p.Path)
				}
				continue
			}
		}
		if len(r.Argv) > 0 && len(folders) > 0 && x.runsFrom(r, folders) {
			out = append(out, ForeignProgram{r, fmt.Sprintf("runs %s, which this command has just fetched",
				r.Argv[0].Text), Downloaded})
			continue
		}
		if len(got) == 0 || len(r.Argv) == 0 {
			continue
		}
		has := func(w shell.Word) bool { return got[strings.TrimPrefix(w.Text, "./")] }
		switch {
		case shell.IsShell(name) && r.OnlyChecks():
		case shell.IsShell(name) || name == "source" || name == ".":
			given := r.Args()
			for _, rd := range r.Redirects {
				if rd.Reads() {
					given = append(given[:len(given):len(given)], rd.Target)
				}
			}
			for _, a := range given {
				if has(a) {
					reason := fmt.Sprintf("%s runs %s, which this command has just downloaded", name, a.Text)
					out = append(out, ForeignProgram{r, reason, Downloaded})
				}
			}
		case has(r.Argv[0]):
			origin := Binary
			if strings.HasSuffix(name, ".sh") {
				origin = Downloaded
			}
			out = append(out, ForeignProgram{r, fmt.Sprintf("runs %s, which this command has just downloaded",
				r.Argv[0].Text), origin})
		case x.Script.Programs.Of(strings.TrimRight(name, "0123456789.")).Has(programs.RunsFiles):
			for _, a := range r.Args() {
				if has(a) {
					reason := fmt.Sprintf("%s takes %s, which this command has just downloaded", name, a.Text)
					out = append(out, ForeignProgram{r, reason, Binary})
				}
			}
		}
	}
	return out
}

// isRemotePath reports whether a file is on another machine: host:path.
func isRemotePath(text string) bool {
	host, _, ok := strings.Cut(text, ":")
	return ok && host != "" && !strings.ContainsAny(host, "/$")
}

// fetchedFolder returns a folder that a run fills from the network: git clone, curl | tar x.
func (x *Scope) fetchedFolder(r *shell.Run) (string, bool) {
	var dir shell.Word
	switch r.Name() {
	case "git":
		sub, args := GitParts(r)
		_, rest := SplitFlags(args)
		if sub != "clone" || len(rest) == 0 {
			return "", false
		}
		dir = rest[len(rest)-1]
		if len(rest) == 1 || strings.Contains(dir.Text, "://") {
			name := strings.TrimSuffix(path.Base(strings.TrimSuffix(dir.Text, "/")), ".git")
			dir = shell.Word{Text: name, Bare: name}
		}
	case "tar", "bsdtar", "unzip":
		to, ok := ExtractDir(r)
		if !strings.HasPrefix(x.originOf(r.From), "the network") {
			return "", false
		}
		if !ok {
			return x.Cwd, x.Cwd != ""
		}
		dir = to
	default:
		return "", false
	}
	p := x.ResolveWord(dir, r)
	return p.Path, p.Known && p.Path != "/" && p.Path != x.Cwd
}

// installNames are common names of scripts that install something.
var installNames = map[string]bool{"install": true, "setup": true, "bootstrap": true, "run": true, "init": true,
	"start": true, "deploy": true, "configure-system": true}

// runsFrom reports whether a run starts a script from one of the folders, by its path:
// everything in a scratch folder, elsewhere what installs.
func (x *Scope) runsFrom(r *shell.Run, folders []string) bool {
	program := r.Argv[0]
	if _, rest := SplitFlags(r.Args()); (shell.IsShell(r.Name()) || x.Script.Programs.Of(strings.TrimRight(r.Name(),
		"0123456789.")).Has(programs.RunsFiles)) &&
		len(rest) > 0 {
		program = rest[0]
	} else if !strings.Contains(program.Text, "/") {
		return false
	}
	p := x.ResolveWord(program, r)
	base, _, _ := strings.Cut(path.Base(program.Text), ".")
	for _, dir := range folders {
		if p.Known && IsBelow(p.Path, dir) && (x.IsScratch(dir) || installNames[base]) {
			return true
		}
	}
	return false
}

// KnownTexts returns the texts of words, "" for those that aren't known beforehand.
func KnownTexts(words []shell.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		if !w.Dynamic {
			out[i] = w.Text
		}
	}
	return out
}

func wordTexts(words []shell.Word) []string {
	var out []string
	for _, w := range words {
		out = append(out, w.Text)
	}
	return out
}

// DownloadedFiles returns the names of the files a curl or wget run leaves behind.
func DownloadedFiles(r *shell.Run) []string {
	var out []string
	args := r.Args()
	remoteName := r.Name() == "wget"
	folder := ""
	for _, w := range OptionValues(args, "-P", "--directory-prefix", "--output-dir") {
		folder = strings.TrimSuffix(w.Text, "/") + "/"
	}
	for i, a := range args {
		t := a.Text
		out1 := len(t) > 1 && t[0] == '-' && t[1] != '-' && (r.Name() == "curl" && t[len(t)-1] == 'o' ||
			r.Name() == "wget" && t[len(t)-1] == 'O')
		if out1 || t == "--output" || t == "--output-document" {
			return wordTexts(args[i+1 : min(i+2, len(args))])
		}
		if v, ok := strings.CutPrefix(t, "--output="); ok {
			return []string{v}
		}
		if at := strings.IndexAny(t, "oO"); len(t) > 2 && t[0] == '-' && t[1] != '-' && at > 0 && at+1 < len(t) && strings.ContainsAny(t[at:], "/.") {
			return []string{t[at+1:]} // -qO/tmp/x
		}
		if t == "--remote-name" || r.Name() == "curl" && len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.Contains(t,
			"O") {
			remoteName = true
		}
	}
	if remoteName {
		for _, a := range args {
			bare := r.Name() == "wget" && strings.Contains(a.Text, "/") && a.Text[0] != '-'
			if strings.Contains(a.Text, "://") || bare {
				out = append(out, folder+a.Text[strings.LastIndexByte(a.Text, '/')+1:])
			}
		}
	}
	for _, rd := range r.Redirects {
		if rd.Writes() {
			out = append(out, rd.Target.Text)
		}
	}
	return out
}
