package agent

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ownPlaces are where an agent's name may decide something: its entry, its
// dialect, its driver, its stand-in. A row may end in a slash, for all below it.
var ownPlaces = []string{
	"agent/data/", "agent/dialect/", "internal/realagents/", "lab/verify/drivers/", "lab/verify/looks/",
	"lab/standin/",
	"internal/daemontest/", "lab/chaos/", "lab/bench/", // written for tests, as _test.go files are
}

// otherWords are places in which a word that is also an agent's name means
// something else, or where the name is not the agent's.
var otherWords = map[string]string{
	"agent/neutral/table.go":                  "generated from the entries",
	"hook/registration.go claude":             "a format of hooks, which hooks on every agent may have",
	"internal/authority/attempts/guarded.go":  "command lines that tests try",
	"internal/policy/claude/paths.go":         "folders that Claude Code's own rules treat apart, decided as it does",
	"internal/policy/claude/settings.go":      "where the rules of Claude Code's settings count from",
	"internal/policy/checks/secrets/env.go":   "beginnings of variables that hold keys, with the hosts these are for",
	"internal/redact/names.go":                "names of fields that hold no secret; a cursor is a place in a list",
	"internal/sessions/transcript/formats.go": "formats of transcripts, which the entries name",
	"internal/sessions/transcript/gemini.go":  "a word in a transcript of that format",
	"internal/tshook/handle.go pi":            "the dialect whose events modules are written in",
	"internal/usage/stores.go":                "formats of records, which the entries name",
	"internal/cli/demo/demo.go":               "records that the demo writes as Claude Code does",
	"internal/cli/usagecmd/statusline.go":     "the status line of Claude Code, whose input it reads",
	"plugins/embed.go":                        "folders of plugins' sources, which the entries name",
}

// No agent's name decides anything outside of its own places: not in a switch, an
// if, a comparison, a map or a list that is searched. What an agent needs is said by
// a field of its entry.
func TestNoAgentNameDecides(t *testing.T) {
	names := map[string]bool{}
	for _, a := range Builtin().Agents() {
		names[a.Name] = true
		for _, alias := range a.Aliases {
			names[alias] = true
		}
	}
	for _, known := range Others() {
		names[known.Name] = true
	}
	delete(names, "continue") // a member of too many formats to be told from the agent
	folders := agentFolders()
	if len(folders) < 20 || !folders[".claude"] {
		t.Fatalf("%d folders of agents are known; want more than 20, .claude among them", len(folders))
	}
	used := map[string]bool{}
	files := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != ".."):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		rel, _ := filepath.Rel("..", path)
		rel = filepath.ToSlash(rel)
		if slices.ContainsFunc(ownPlaces, func(place string) bool { return strings.HasPrefix(rel, place) }) {
			return nil
		}
		files++
		found, err := namesThatDecide(path, nil, names)
		if err == nil {
			var named []decidingName
			named, err = foldersNamed(path, nil, folders)
			found = append(found, named...)
		}
		for _, f := range found {
			for _, key := range []string{rel, rel + " " + f.name} {
				if otherWords[key] != "" {
					used[key] = true
					f.name = ""
				}
			}
			if f.name != "" {
				t.Errorf("%s:%d: %q is named in %s; say it by a field of the agent's entry in agent/data", rel, f.line,
					f.name, f.where)
			}
		}
		return err
	})
	if err != nil || files < 500 {
		t.Fatalf("%d files were read, %v; want the whole tree", files, err)
	}
	for key := range otherWords {
		if !used[key] {
			t.Errorf("otherWords[%q] is needed no more; take it out", key)
		}
	}
}

// agentFolders returns the folders that only agents have, by the files of the entries.
func agentFolders() map[string]bool {
	folders := map[string]bool{}
	for _, a := range Builtin().Agents() {
		for _, f := range a.Files {
			path := strings.TrimPrefix(strings.TrimPrefix(f.Path, "~/"), "./")
			first, _, below := strings.Cut(path, "/")
			if below && strings.HasPrefix(first, ".") {
				folders[first] = true
			}
		}
	}
	for _, shared := range []string{".config", ".github", ".vscode", ".agents"} {
		delete(folders, shared)
	}
	return folders
}

// foldersNamed finds folders of agents in the texts of a file, as a part of a path.
func foldersNamed(path string, source any, folders map[string]bool) ([]decidingName, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found []decidingName
	ast.Inspect(file, func(n ast.Node) bool {
		e, ok := n.(*ast.BasicLit)
		if !ok {
			return true
		}
		text, ok := literal(e)
		for _, part := range strings.Split(text, "/") {
			if ok && folders[part] {
				found = append(found, decidingName{part, "a path", set.Position(e.Pos()).Line})
			}
		}
		return true
	})
	return found, nil
}

// decidingName is an agent's name in code that goes by it.
type decidingName struct {
	name, where string
	line        int
}

// namesThatDecide finds names in cases, comparisons, keys of maps, indexes, and lists
// that are ranged over or given to functions; constants of the file count as what
// they hold.
func namesThatDecide(path string, source any, names map[string]bool) ([]decidingName, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	constants := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for i, value := range spec.Values {
				if text, ok := literal(value); ok && names[text] && i < len(spec.Names) {
					constants[spec.Names[i].Name] = text
				}
			}
		}
		return true
	})
	var found []decidingName
	look := func(where string, list ...ast.Expr) {
		for _, e := range list {
			text, ok := literal(e)
			if id, isName := e.(*ast.Ident); isName {
				text, ok = constants[id.Name], constants[id.Name] != ""
			}
			if ok && names[text] {
				found = append(found, decidingName{text, where, set.Position(e.Pos()).Line})
			}
		}
	}
	lists := func(where string, e ast.Expr) {
		if list, ok := e.(*ast.CompositeLit); ok {
			look(where, list.Elts...)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CaseClause:
			look("a case", n.List...)
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				look("a comparison", n.X, n.Y)
			}
		case *ast.IndexExpr:
			look("an index", n.Index)
		case *ast.CompositeLit:
			if _, isMap := n.Type.(*ast.MapType); isMap {
				for _, e := range n.Elts {
					if pair, ok := e.(*ast.KeyValueExpr); ok {
						look("a map", pair.Key)
					}
				}
			}
		case *ast.RangeStmt:
			lists("a list", n.X)
		case *ast.ReturnStmt:
			for _, e := range n.Results {
				lists("a list", e)
			}
		case *ast.CallExpr:
			for _, e := range n.Args {
				lists("a list", e)
			}
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok && slices.Contains([]string{"strings", "slices"}, pkg.Name) {
					look("a comparison", n.Args...)
				}
			}
		}
		return true
	})
	return found, nil
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}

// The test above finds what it is made for.
func TestNamesThatDecideAreFound(t *testing.T) {
	names := map[string]bool{"claude": true}
	for code, want := range map[string]bool{
		`switch x { case "claude": }`:                    true,
		`if x == "claude" { return }`:                    true,
		`if "claude" != x { return }`:                    true,
		`_ = map[string]int{"claude": 1}`:                true,
		`_ = m["claude"]`:                                true,
		`if strings.HasPrefix(x, "claude") { return }`:   true,
		`if slices.Contains(list, "claude") { return }`:  true,
		`for range []string{"claude"} { }`:               true,
		`f([]string{"claude", "codex"})`:                 true,
		`const name = "claude"; if x == name { return }`: true,
		`say("claude")`:                                  false,
		`_ = row{Agent: "claude"}`:                       false,
		`if x == "claudes" { return }`:                   false,
	} {
		found, err := namesThatDecide("x.go", fmt.Sprintf("package x\nfunc y() {\n%s\n}\n", code), names)
		if err != nil || len(found) > 0 != want {
			t.Errorf("%s: found %v, error %v; want found: %t", code, found, err, want)
		}
	}
	folders := map[string]bool{".claude": true}
	for code, want := range map[string]bool{
		`f("/home/.claude")`: true, `f(".claude/settings.json")`: true, `f("~/.claude")`: true,
		`f(".claudes/x")`: false, `f("claude")`: false, `f("say .claude")`: false,
	} {
		found, err := foldersNamed("x.go", fmt.Sprintf("package x\nfunc y() {\n%s\n}\n", code), folders)
		if err != nil || len(found) > 0 != want {
			t.Errorf("%s: found %v, error %v; want found: %t", code, found, err, want)
		}
	}
	if n := len(slices.Collect(maps.Keys(otherWords))); n > 15 {
		t.Errorf("otherWords has %d rows; say by a field of an entry what decides", n)
	}
}
