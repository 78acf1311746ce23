package trust

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/policy/programs"
)

// runsFile reports whether a program runs the first file that it is given.
func runsFile(program string) bool {
	name := strings.ToLower(filepath.Base(program))
	return programs.Is(name, programs.RunsFirstFile|programs.Shell) || programs.RunsScripts(name)
}

// ReplacePrograms calls replace for every program that a registration's target names by a
// path, and returns the target with the replacements: what is run, and the first file after
// an interpreter. "~/" means home.
func ReplacePrograms(reg hook.Registration, home string, replace func(path string) (instead string, ok bool)) string {
	if !reg.RunsProgram() {
		return reg.Target
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(reg.Target), "")
	if err != nil {
		return reg.Target
	}
	var edits []replacement
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok {
			for _, w := range programWords(call.Args) {
				if instead, ok := replace(homeWord(w, home)); ok {
					edits = append(edits, replacement{int(w.Pos().Offset()), int(w.End().Offset()),
						shellquote.Argument(instead)})
				}
			}
		}
		return true
	})
	return replaceWords(reg.Target, edits)
}

// programWords returns the words of a call that name what is run.
func programWords(args []*syntax.Word) []*syntax.Word {
	if len(args) == 0 {
		return nil
	}
	words := []*syntax.Word{args[0]}
	name, _ := literalWord(args[0])
	if !runsFile(name) {
		return words
	}
	for _, w := range args[1:] {
		if text := homeWord(w, "/"); filepath.IsAbs(text) {
			return append(words, w)
		}
	}
	return words
}

// homeWord returns a word as the shell makes it, with home for a leading ~; "" where
// it depends on the moment.
func homeWord(w *syntax.Word, home string) string {
	if text, ok := literalWord(w); ok {
		return text
	}
	first, ok := w.Parts[0].(*syntax.Lit)
	if !ok || home == "" || !strings.HasPrefix(first.Value, "~/") {
		return ""
	}
	parts := slices.Clone(w.Parts)
	parts[0] = &syntax.Lit{Value: first.Value[1:]}
	text, ok := literalWord(&syntax.Word{Parts: parts})
	if !ok {
		return ""
	}
	return strings.TrimRight(home, "/") + text
}
