package programs

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// namedList has the files that still name programs, and how many. It only gets shorter.
const namedList = "testdata/named.txt"

// What a program does stands in the table: no other code about commands names one. Files
// that still do are listed, with how many names they have; HOOKMUX_UPDATE=1 writes the
// list, which must not grow.
func TestProgramsAreNamedHere(t *testing.T) {
	found := map[string]int{}
	for _, root := range []string{"..", "../shell"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case os.IsNotExist(err) && path == root:
				return fs.SkipAll
			case err != nil:
				return err
			case d.IsDir() && slices.Contains([]string{"programs", "testdata", "verbs"}, d.Name()): // verbs are hookmux's own
				return fs.SkipDir
			case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
				if n := namedIn(t, path); n > 0 {
					found[strings.TrimLeft(filepath.ToSlash(path), "./")] = n
				}
			}
			return nil
		})
		if err != nil {
			t.Fatalf("%s: want its files, got %v", root, err)
		}
	}
	if os.Getenv("HOOKMUX_UPDATE") != "" {
		var b strings.Builder
		for _, file := range slices.Sorted(maps.Keys(found)) {
			fmt.Fprintf(&b, "%s %d\n", file, found[file])
		}
		if err := os.WriteFile(namedList, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	known := readNamed(t)
	for file, n := range found {
		if n > known[file] {
			t.Errorf("%s names %d programs, want at most %d: say what they do in programs.yaml instead", file, n, known[file])
		}
	}
	for file, n := range known {
		if found[file] < n {
			t.Errorf("%s names %d programs and is listed with %d; run this test with HOOKMUX_UPDATE=1", file, found[file], n)
		}
	}
}

// namedIn counts the texts in a file that are names of programs, and no other word.
func namedIn(t *testing.T, path string) int {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if _, isImport := n.(*ast.ImportSpec); isImport {
			return false
		}
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			if name, err := strconv.Unquote(text.Value); err == nil && isProgramName(name) {
				count++
			}
		}
		return true
	})
	return count
}

// isProgramName reports whether a text can only be the name of a program: many are
// words of their own, or subcommands and options of others.
func isProgramName(name string) bool {
	if _, known := Builtin().entries[name]; !known || len(name) < 3 {
		return false
	}
	return !slices.Contains(strings.Fields(`test format install service link host file format time echo find sort join
		split paste cut head tail more less read write wait kill stop start eval exec export source set unset declare
		alias type trap local return exit break shift let bind true false help log mode at batch install command
		builtin env watch script screen make put get copy move delete rename del erase print printf say open
		export import run repeat do done if then else while until case function select time coproc nice host up
		ask task just rest http https key cat ls cp mv rm ln dd ps who id date dir expand fold look mail news
		typeset readonly init halt stress scrub factor test expr yes tee touch truncate stat link unlink shell python node ruby perl php java go jira confluence guard`), name)
}

func readNamed(t *testing.T) map[string]int {
	f, err := os.Open(namedList)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	known := map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		file, count, _ := strings.Cut(lines.Text(), " ")
		known[file], _ = strconv.Atoi(count)
	}
	return known
}
