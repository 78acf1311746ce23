package shell

import "mvdan.cc/sh/v3/syntax"

// Simple reads src as one plain command of literal words and returns its words. It is false
// for everything else: lists, pipes, loops, redirections, assignments, background jobs,
// expansions, patterns, and wrappers that run something a word names (sudo, env, sh -c,
// xargs). What a user allows permanently must mean the same thing every time, and this does.
func Simple(src string) ([]string, bool) {
	if IsTooLong(src) {
		return nil, false
	}
	file, err := parseText(src)
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || stmt.Negated || stmt.Background || stmt.Coprocess || stmt.Disown || len(stmt.Redirs) > 0 ||
		len(call.Assigns) > 0 {
		return nil, false
	}
	script := Parse(src)
	if !script.Readable() || len(script.Runs) != 1 {
		return nil, false
	}
	run := &script.Runs[0]
	if len(run.Via) > 0 || run.Local || run.Remote || run.Contained || run.HasInput ||
		len(run.Argv) != len(call.Args) ||
		len(run.Argv) == 0 {
		return nil, false
	}
	words := make([]string, len(run.Argv))
	for i, w := range run.Argv {
		if w.Dynamic || w.Glob || w.Tilde || !w.From.Empty() || len(w.Vars) > 0 || !isLiteral(call.Args[i]) {
			return nil, false
		}
		words[i] = w.Text
	}
	return words, true
}

// isLiteral reports whether a word has nothing but characters and quotes.
func isLiteral(w *syntax.Word) bool {
	plain := true
	syntax.Walk(w, func(node syntax.Node) bool {
		switch node.(type) {
		case nil, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		}
		plain = false
		return false
	})
	return plain
}
