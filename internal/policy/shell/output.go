package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"

	"mvdan.cc/sh/v3/syntax"
)

// outputs holds what runs are known to print and the known contents of files.
type outputs struct {
	script *Script
	files  map[string]string // text that an earlier run wrote to a file
}

// substitutionOutput returns the output of a command substitution if it can be known without
// running anything.
func (o *outputs) substitutionOutput(span Span, list []*syntax.Stmt) (string, bool) {
	if len(list) == 0 || span.Empty() || span.Hi > len(o.script.Runs) {
		return "", false
	}
	from := span.Hi - 1
	if len(list) > 1 { // one run for each statement prints what they print
		if from = span.Lo; span.Hi-span.Lo != len(list) {
			return "", false
		}
	}
	var all strings.Builder
	for i := from; i < span.Hi; i++ {
		text, ok := o.outputOf(i, 0)
		if !ok || all.Len()+len(text) > maxValue {
			return "", false
		}
		all.WriteString(text)
	}
	return strings.TrimRight(all.String(), "\n"), true
}

// outputOf returns what run i prints, for the few programs whose output follows from their
// arguments. That is enough to see through `echo cm0… | base64 -d`.
func (o *outputs) outputOf(i, depth int) (string, bool) {
	if i < 0 || i >= len(o.script.Runs) || depth > 8 {
		return "", false
	}
	r := &o.script.Runs[i]
	for _, rd := range r.Redirects {
		if rd.Writes() && rd.Target.Text != "/dev/null" && !strings.HasPrefix(rd.Target.Text, ">(") {
			return "", false
		}
	}
	args := r.Args()
	switch r.Name() {
	case "mktemp":
		return strings.TrimSuffix(mktempName, "/"), true
	case "pwd":
		return "$PWD", true
	case "dirname", "basename", "realpath", "readlink", "grealpath":
		return pathText(r.Name(), args)
	case "which", "type", "command":
		if n := len(args); n > 0 && !args[n-1].Dynamic {
			if text := args[n-1].Text; !strings.Contains(text, "/") {
				return "/usr/bin/" + text, true // wherever it is: a place where programs are
			}
			return args[n-1].Text, true
		}
	case "echo":
		return echoText(args)
	case "printf":
		return printfText(args)
	case "cat", "tee":
		if r.Name() == "tee" || len(args) == 0 || args[0].Text == "-" {
			return o.stdinOf(r, depth)
		}
		if text, ok := o.files[args[0].Text]; ok && len(args) == 1 {
			return text, true
		}
	case "yes":
		return echoText(args)
	case "cut": // getent passwd me | cut -d: -f6
		for _, from := range o.script.Runs[min(r.From.Lo, len(o.script.Runs)):min(r.From.Hi, len(o.script.Runs))] {
			if from.Name() == "getent" && strings.HasSuffix(joinTexts(args), "6") {
				return "$HOME", true
			}
		}
	}
	return o.changedOutput(r, depth)
}

// changedOutput returns the text that a filter makes of what it reads, or that a small program of
// another language prints.
func (o *outputs) changedOutput(r *Run, depth int) (string, bool) {
	name := r.Name()
	if foreign.IsFilter(name) {
		text, ok := o.stdinOf(r, depth)
		if ok {
			text, ok = foreign.FilterOutput(name, textsOf(r.Args()), text)
		}
		if ok {
			return text, true
		}
	}
	if !programs.IsInterpreter(name) {
		return "", false
	}
	code, ok := r.Code()
	if !ok || len(code) > maxValue {
		return "", false
	}
	return foreign.PrintedText(code, maxLoop)
}

// stdinOf returns the text a run reads on its standard input, if it can be known.
func (o *outputs) stdinOf(r *Run, depth int) (string, bool) {
	if r.HasInput {
		// Unknown pieces stay in as "$X", which parsing again shows as dynamic.
		if r.Input.Tilde {
			return "$HOME" + strings.TrimPrefix(r.Input.Text, "~"), true
		}
		return r.Input.Text, true
	}
	for _, rd := range r.Redirects {
		if rd.Reads() && !rd.Target.From.Empty() {
			return o.outputOf(rd.Target.From.Hi-1, depth+1)
		}
		if text, ok := o.files[rd.Target.Text]; ok && rd.Reads() {
			return text, true
		}
	}
	if r.From.Empty() {
		return "", false
	}
	return o.outputOf(r.From.Hi-1, depth+1)
}

// rememberWritten keeps what a run writes to a file, so that `echo … > f; sh f` is
// seen to run it.
func (o *outputs) rememberWritten(i int) {
	r := &o.script.Runs[i]
	name := r.Name()
	if len(o.files) >= 64 {
		return
	}
	if from, to := movedFile(name, r.Args()); from != "" {
		if text, ok := o.files[from]; ok {
			delete(o.files, to) // it is written over
			o.rememberFile(to, text)
		}
		return
	}
	targets := copyTargets(name, r.Args())
	copies := len(targets) > 0
	if name != "echo" && name != "printf" && name != "cat" && name != "tee" && !copies && !foreign.IsFilter(name) {
		return
	}
	for _, rd := range r.Redirects {
		if rd.Writes() && rd.Target.Text != "/dev/null" {
			targets = append(targets, rd.Target.Text)
		}
	}
	if name == "tee" {
		for _, a := range r.Args() {
			targets = append(targets, a.Text)
		}
	}
	if len(targets) == 0 {
		return
	}
	redirs := r.Redirects
	r.Redirects = nil // output() asks what would be printed
	text, ok := o.outputOf(i, 0)
	r.Redirects = redirs
	if copies {
		text, ok = o.stdinOf(r, 0)
	}
	if !ok || len(text) > MaxSource {
		return
	}
	r.Output, r.HasOutput = text, true
	for _, t := range targets {
		o.rememberFile(t, text)
	}
}

// rememberFile keeps text that is added to a file.
func (o *outputs) rememberFile(name, text string) {
	if o.files == nil {
		o.files = map[string]string{}
	}
	o.files[name] += text
	if local, ok := strings.CutPrefix(name, "./"); ok {
		o.files[local] += text
	} else if !strings.ContainsRune(name, '/') {
		o.files["./"+name] += text
	}
}

// walkKnownFile walks the text of a script file that this very command made.
func walkKnownFile(w *walker, file Word, c inherited, via string) {
	var text string
	var ok bool
	switch {
	case len(w.out.Runs) > 0 && (programs.IsStdin(file.Text) || c.hasInput && (strings.HasPrefix(file.Text, "/dev/fd/") ||
		strings.HasPrefix(file.Text, "/proc/self/fd/"))):
		text, ok = w.known.stdinOf(&w.out.Runs[len(w.out.Runs)-1], 0)
	case !file.From.Empty() && strings.HasPrefix(file.Text, "<("):
		text, ok = w.known.outputOf(file.From.Hi-1, 0)
	default:
		text, ok = w.known.files[file.Text]
	}
	if !ok {
		return
	}
	c.from, c.input, c.hasInput = Span{}, Word{}, false
	w.tryText(text, c.withVia(via))
}

// walkFed walks the inside of >(…), which reads what the runs of from write.
func (w *walker) walkFed(list []*syntax.Stmt, from Span, c inherited) {
	c.from, c.redirs = from, nil
	if c.depth++; c.depth > 4*maxDepth {
		w.out.Truncated = true
		return
	}
	w.walkScoped(list, c)
}

// writesTo finds the process that "> >(…)" writes to.
func writesTo(r *syntax.Redirect) *syntax.ProcSubst {
	if r.Word == nil || len(r.Word.Parts) != 1 || r.Op == syntax.RdrIn {
		return nil
	}
	if p, ok := r.Word.Parts[0].(*syntax.ProcSubst); ok && p.Op == syntax.CmdOut {
		return p
	}
	return nil
}
