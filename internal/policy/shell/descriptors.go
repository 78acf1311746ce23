package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// stream is the target of a descriptor: a text, a file, or a process that reads it.
type stream struct {
	input    Word
	hasInput bool
	redirect *Redirect
	reader   *receiver
}

// isBareExec reports whether a statement is exec without a command: its redirections last.
func isBareExec(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	return ok && len(call.Args) == 1 && call.Args[0].Lit() == "exec"
}

// keepStream remembers what a redirection that lasts opens its descriptor to.
func (w *walker) keepStream(r *syntax.Redirect, s stream) {
	if r.N == nil {
		return
	}
	key := r.N.Value
	if strings.HasPrefix(key, "{") {
		w.vars.forget(strings.Trim(key, "{}")) // the shell chooses the number
	}
	if w.streams == nil {
		w.streams = map[string]stream{}
	}
	if len(w.streams) < maxRedirs {
		w.streams[key] = s
	}
}

// streamAt returns what the descriptor of a word is open to: 3, or $fd after exec {fd}<file.
func (w *walker) streamAt(text string) (stream, bool) {
	if name, ok := strings.CutPrefix(text, "$"); ok {
		text = "{" + strings.Trim(name, "{}") + "}"
	}
	s, ok := w.streams[text]
	return s, ok
}

// openStream returns the file of a descriptor that is given by its path: /dev/fd/3.
func (w *walker) openStream(word Word) Word {
	if len(w.streams) == 0 {
		return word
	}
	folder, key, ok := strings.Cut(word.Text, "/fd/")
	if !ok || folder != "/dev" && !strings.HasPrefix(folder, "/proc/") {
		return word
	}
	if s, ok := w.streamAt(key); ok && s.redirect != nil {
		return s.redirect.Target
	}
	return word
}

// readStream makes what a descriptor is open to a run's standard input.
func (s stream) readStream(c inherited) inherited {
	switch {
	case s.hasInput:
		c.input, c.hasInput = s.input, true
	case s.redirect != nil:
		c.redirs = append(c.redirs, Redirect{Op: "<", Target: s.redirect.Target})
	}
	return c
}
