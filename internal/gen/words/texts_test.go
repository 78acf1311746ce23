package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hookmux/hookmux/internal/hubtest/golden"
)

// What the two programs can say stands in testdata/texts, a file per package, so that
// a change of words is seen in review. These are all texts of at least two words in the
// packages that the programs link: messages, help, problems, reasons, and a few that
// nobody reads.
func TestTextsOfThePrograms(t *testing.T) {
	texts := programTexts(t)
	if len(texts) < 50 {
		t.Fatalf("texts were found in %d packages, want at least 50", len(texts))
	}
	const folder = "testdata/texts"
	known := map[string]bool{}
	for name, list := range texts {
		file := filepath.Join(folder, strings.ReplaceAll(name, "/", ".")+".txt")
		known[file] = true
		golden.Match(t, file, strings.Join(list, "\n")+"\n")
	}
	files, err := filepath.Glob(folder + "/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if known[file] {
			continue
		}
		if os.Getenv("HOOKMUX_UPDATE") == "" {
			t.Errorf("%s is of a package that has no texts any more; HOOKMUX_UPDATE=1 removes it", file)
		} else if err := os.Remove(file); err != nil {
			t.Error(err)
		}
	}
}

const module = "github.com/hookmux/hookmux/"

// programTexts are the texts of each package that a program links, sorted, each once.
var programTexts = func() func(*testing.T) map[string][]string {
	read := sync.OnceValues(readProgramTexts)
	return func(t *testing.T) map[string][]string {
		t.Helper()
		texts, err := read()
		if err != nil {
			t.Fatal(err)
		}
		return texts
	}
}()

func readProgramTexts() (map[string][]string, error) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}}", "./cmd/...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	texts := map[string][]string{}
	for _, path := range strings.Fields(string(out)) {
		folder, ours := strings.CutPrefix(path, module)
		if !ours {
			continue
		}
		list, err := textsOfPackage(filepath.Join(root, folder))
		if err != nil {
			return nil, err
		}
		if len(list) > 0 {
			texts[folder] = list
		}
	}
	return texts, nil
}

func textsOfPackage(folder string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	var list []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		list = append(list, textsOfFile(parsed)...)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// twoWords is what a text for people has, and an identifier, a path or a format has not.
var twoWords = regexp.MustCompile(`\pL{2,}[,;:.]? \pL{2,}`)

// textsOfFile are the texts of a file, those that are put together by + as one.
func textsOfFile(file *ast.File) []string {
	var list []string
	ast.Inspect(file, func(node ast.Node) bool {
		expr, ok := node.(ast.Expr)
		if !ok {
			return true
		}
		text, ok := joinedText(expr)
		if !ok {
			return true
		}
		if twoWords.MatchString(text) {
			list = append(list, strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    "))
		}
		return false
	})
	return list
}

// joinedText is the text of an expression; what is only known when the program runs is "{}".
func joinedText(expr ast.Expr) (string, bool) {
	switch e := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, e.Kind == token.STRING && err == nil
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		before, left := joinedText(e.X)
		after, right := joinedText(e.Y)
		if !left {
			before = "{}"
		}
		if !right {
			after = "{}"
		}
		return before + after, left || right
	case *ast.ParenExpr:
		return joinedText(e.X)
	}
	return "", false
}
