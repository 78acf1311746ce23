package trust

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

// projectVars are the variables that hold the project's folder when a hook
// runs, so that "$HOOKMUX_PROJECT"/check.sh names a file of it.
var projectVars = []string{"HOOKMUX_PROJECT", "CLAUDE_PROJECT_DIR"}

// projectMark represents the project's folder at the start of a word.
const projectMark = "\x00"

// word is one word of a hook's target that could name a file.
type word struct {
	text    string // what the shell makes of it; begins with projectMark for a projectVar
	command bool   // it is what gets run
}

// visitor sees every literal word and may give another in its place, unquoted.
type visitor func(w word) (instead string, replace bool)

// visitWords passes a registration's words to visit and returns the target with the
// replacements.
func visitWords(reg hook.Registration, visit visitor) (target string) {
	switch {
	case reg.RunsProgram():
		return shellWords(reg.Target, visit, 0)
	case reg.Handler == hook.HandlerTypeScript:
		if instead, ok := visit(word{reg.Target, true}); ok {
			return instead
		}
	}
	return reg.Target
}

// eachWord gives every word of a shell text as it is written, and whether the
// shell makes a fixed text of it.
func eachWord(text string, see func(written string, known bool)) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if w, ok := node.(*syntax.Word); ok {
			_, known := literalWord(w)
			see(text[w.Pos().Offset():w.End().Offset()], known)
		}
		return true
	})
}

// maxNesting bounds sh -c 'sh -c "…"'.
const maxNesting = 5

type replacement struct {
	from, to int
	text     string
}

func shellWords(text string, visit visitor, depth int) string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return text
	}
	var edits []replacement
	see := func(w *syntax.Word, command bool) (string, bool) {
		lit, ok := literalWord(w)
		if !ok {
			return "", false
		}
		if instead, replace := visit(word{lit, command}); replace {
			edits = append(edits, replacement{int(w.Pos().Offset()), int(w.End().Offset()), shellquote.Argument(instead)})
		}
		return lit, true
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			for _, a := range n.Assigns {
				if a.Value != nil {
					see(a.Value, false)
				}
			}
			if len(n.Args) == 0 {
				return true
			}
			name, _ := see(n.Args[0], true)
			inner := innerScript(name, n.Args)
			for i, arg := range n.Args[1:] {
				if i+1 != inner {
					see(arg, false)
					continue
				}
				script, ok := literalWord(arg)
				if !ok || depth >= maxNesting || strings.Contains(script, projectMark) {
					continue
				}
				if changed := shellWords(script, visit, depth+1); changed != script {
					edits = append(edits, replacement{int(arg.Pos().Offset()), int(arg.End().Offset()),
						shellquote.Argument(changed)})
				}
			}
		case *syntax.Redirect:
			if n.Op == syntax.RdrIn || n.Op == syntax.RdrInOut {
				see(n.Word, false)
			}
		}
		return true
	})
	return replaceWords(text, edits)
}

// replaceWords carries out replacements, which never overlap, from the back, so that offsets stay true.
func replaceWords(text string, edits []replacement) string {
	slices.SortFunc(edits, func(a, b replacement) int { return cmp.Compare(b.from, a.from) })
	for _, e := range edits {
		text = text[:e.from] + e.text + text[e.to:]
	}
	return text
}

// innerScript returns the index of the argument that is a script itself: that of
// sh -c and eval. 0 when there is none.
func innerScript(name string, args []*syntax.Word) int {
	switch filepath.Base(name) {
	case "sh", "bash", "dash", "zsh", "ksh":
		for i, arg := range args[1:] {
			lit, ok := literalWord(arg)
			if !ok || !strings.HasPrefix(lit, "-") {
				return 0
			}
			if !strings.HasPrefix(lit, "--") && strings.HasSuffix(lit, "c") {
				return i + 2
			}
		}
	case "eval":
		if len(args) == 2 {
			return 1
		}
	}
	return 0
}

// literalWord returns what the shell makes of a word when nothing in it depends on the
// moment, a leading project variable aside.
func literalWord(w *syntax.Word) (string, bool) {
	var b strings.Builder
	if !literalParts(&b, w.Parts, false) {
		return "", false
	}
	text := b.String()
	if strings.LastIndex(text, projectMark) > 0 {
		return "", false
	}
	return text, true
}

func literalParts(b *strings.Builder, parts []syntax.WordPart, quoted bool) bool {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if !quoted && (strings.ContainsAny(p.Value, "*?[") || b.Len() == 0 && strings.HasPrefix(p.Value, "~") ||
				strings.Contains(p.Value, "{") && strings.Contains(p.Value, ",")) {
				return false
			}
			b.WriteString(unescapeText(p.Value, quoted))
		case *syntax.SglQuoted:
			if p.Dollar {
				return false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar || !literalParts(b, p.Parts, true) {
				return false
			}
		case *syntax.ParamExp:
			plain := p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil &&
				p.Repl == nil && p.Exp == nil && p.Names == 0
			if !plain || b.Len() > 0 || !slices.Contains(projectVars, p.Param.Value) {
				return false
			}
			b.WriteString(projectMark)
		default:
			return false
		}
	}
	return true
}

func unescapeText(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if s[i+1] == '\n' {
				i++
				continue
			}
			if !quoted || strings.IndexByte("\"\\$`", s[i+1]) >= 0 {
				i++
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// inProject returns where in the project a word leads: the part before the path
// (such as --config=), and the path from the root. ok is false for a word that
// names nothing within it.
func inProject(root string, w word, script bool) (prefix, rel string, ok bool) {
	text := w.text
	if w.command && !script && !strings.Contains(text, "/") {
		return "", "", false // found through PATH, or built into the shell
	}
	if rel, ok := relativeTo(root, text); ok && !strings.HasPrefix(text, "-") {
		return "", rel, !isDependency(rel)
	}
	if name, value, found := strings.Cut(text, "="); found && !w.command && !strings.Contains(name, "/") {
		if rel, ok := relativeTo(root, value); ok {
			return name + "=", rel, !isDependency(rel)
		}
	}
	return "", "", false
}

func relativeTo(root, path string) (string, bool) {
	if rest, ok := strings.CutPrefix(path, projectMark); ok {
		path = root + rest // "$HOOKMUX_PROJECT"-old is another folder
	}
	if path == "" || strings.ContainsAny(path, "\x00\n") || len(path) > 4096 {
		return "", false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	rel, err := filepath.Rel(root, filepath.Clean(path))
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// dependencyDirs hold programs that are nothing without the thousand files
// beside them. One file of them cannot be pinned; a hook that runs one is
// listed as running the project's code, like npm or make.
var dependencyDirs = []string{"node_modules", ".venv", "venv"}

func isDependency(rel string) bool {
	return slices.ContainsFunc(strings.Split(rel, "/"),
		func(part string) bool { return slices.Contains(dependencyDirs, part) })
}
