package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// privateNames are words that no name in the code has, with what to say instead:
// nobody who did not write the code knows what they stand for.
var privateNames = map[string]string{
	"beat": "a step of a script", "beats": "steps of a script",
	"book": "what it holds", "books": "what they hold",
	"breathes": "is active",
	"corridor": "pipeline",
	"crowd":    "too many", "crowded": "full", "crowding": "overload",
	"deed": "action", "deeds": "actions",
	"desk":      "what lies on it",
	"greediest": "busiest",
	"litter":    "leftover",
	"mend":      "fix", "mends": "fixes", "mended": "fixed", "mending": "fixing", "mendable": "fixable",
	"nudge": "attention", "nudges": "attention",
	"saboteur": "breakage", "saboteurs": "breakages", "sabotage": "breakage",
	"scene": "turn script", "scenes": "turn scripts",
	"stage": "test bed, or planned change", "stages": "test beds, or planned changes",
	"stranger": "foreign, other", "strangers": "foreign, other",
	"twin": "duplicate", "twins": "duplicates",
	"unplayable":  "cannot run",
	"whereabouts": "where it is",
}

var nameWord = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// No name of a function, type, field or variable has a private word.
func TestNoPrivateNames(t *testing.T) {
	declared := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if name := e.Name(); name == "testdata" || name == "node_modules" ||
				strings.HasPrefix(name, ".") && len(name) > 2 {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		for _, id := range declaredNames(file) {
			declared++
			for _, word := range nameWord.FindAllString(id.Name, -1) {
				if instead, private := privateNames[strings.ToLower(word)]; private {
					t.Errorf("%s: the name %s has the private word %q, want for example %q", set.Position(id.Pos()),
						id.Name, word, instead)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if declared < 10_000 {
		t.Errorf("%d names were found, want those of the whole tree", declared)
	}
}

// declaredNames are the names that a file declares: of functions, types, fields,
// parameters, variables and constants.
func declaredNames(file *ast.File) []*ast.Ident {
	names := []*ast.Ident{file.Name}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			names = append(names, n.Name)
		case *ast.TypeSpec:
			names = append(names, n.Name)
		case *ast.ValueSpec:
			names = append(names, n.Names...)
		case *ast.Field:
			names = append(names, n.Names...)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				names = append(names, identsOf(n.Lhs)...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				names = append(names, identsOf([]ast.Expr{n.Key, n.Value})...)
			}
		}
		return true
	})
	return names
}

func identsOf(list []ast.Expr) (names []*ast.Ident) {
	for _, e := range list {
		if id, ok := e.(*ast.Ident); ok {
			names = append(names, id)
		}
	}
	return names
}
