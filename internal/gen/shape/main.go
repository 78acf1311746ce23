// Shape measures the tree and fails where it has outgrown its limits: package
// and function lengths, methods per type, wide lines, one-word function names,
// files that use each other, tests that fail without saying what was expected.
//
//	go run ./internal/gen/shape
//
// Where a limit is not met yet, limits.txt says how far the tree is from it. A
// row there is a ceiling: it may fall, never rise, and a row that is no longer
// needed is an error.
package main

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The limits that hold where limits.txt says nothing else.
const (
	maxPackageLines  = 4000
	maxMethods       = 40
	maxFunctionLines = 100
	maxParameters    = 6
	maxColumns       = 120
	maxOneWordShare  = 20 // percent of the unexported functions below internal/
)

//go:embed limits.txt
var limitsText string

// measure is one figure of the tree: what it is of, and how large it may be by default.
type measure struct {
	kind, subject string
	value, limit  int
}

func (m measure) key() string { return m.kind + " " + m.subject }

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	measures, err := measureTree(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "shape:", err)
		os.Exit(1)
	}
	cycles, err := measureFileCycles(root, oneWayTrees)
	if err != nil {
		fmt.Fprintln(os.Stderr, "shape:", err)
		os.Exit(1)
	}
	assertions, err := measureAssertions(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "shape:", err)
		os.Exit(1)
	}
	measures = slices.Concat(measures, cycles, assertions)
	ceilings, err := parseLimits(limitsText)
	if err != nil {
		fmt.Fprintln(os.Stderr, "shape:", err)
		os.Exit(1)
	}
	faults := compareWithLimits(measures, ceilings)
	for _, fault := range faults {
		fmt.Println(fault)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
	for _, m := range measures {
		if m.value > m.limit {
			fmt.Printf("%s: %d, over the limit of %d; limits.txt allows it for now\n", m.key(), m.value, m.limit)
		}
	}
	fmt.Printf("shape: %d figures, %d of them with a ceiling of their own in limits.txt\n", len(measures),
		len(ceilings))
}

// parseLimits reads rows of the form "kind subject ceiling".
func parseLimits(text string) (map[string]int, error) {
	ceilings := map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("limits.txt:%d: want \"kind subject ceiling\", got %q", i+1, line)
		}
		n, err := strconv.Atoi(fields[2])
		if err != nil {
			return nil, fmt.Errorf("limits.txt:%d: %q is no number", i+1, fields[2])
		}
		ceilings[fields[0]+" "+fields[1]] = n
	}
	return ceilings, nil
}

// compareWithLimits says which figures are too large and which ceilings are not needed any more.
func compareWithLimits(measures []measure, ceilings map[string]int) []string {
	var faults []string
	needed := map[string]bool{}
	for _, m := range measures {
		ceiling, own := ceilings[m.key()]
		if !own {
			ceiling = m.limit
		}
		if m.value > ceiling {
			faults = append(faults, fmt.Sprintf("%s: %d, at most %d allowed", m.key(), m.value, ceiling))
		}
		if own && m.value > m.limit {
			needed[m.key()] = true
		}
	}
	for key, ceiling := range ceilings {
		if !needed[key] {
			faults = append(faults, fmt.Sprintf("limits.txt: the row %q with %d is not needed any more: remove it", key,
				ceiling))
		}
	}
	slices.Sort(faults)
	return faults
}

// tree collects what one walk over the source finds.
type tree struct {
	lines               map[string]int
	types               typeSizes
	functions           []measure
	wideLines           []string // file:line
	oneWord, unexported int
}

func measureTree(root string) ([]measure, error) {
	t := &tree{lines: map[string]int{}, types: newTypeSizes()}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == ".git" || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return t.readFile(filepath.ToSlash(rel), path)
	})
	if err != nil {
		return nil, err
	}
	measures := t.functions
	for dir, n := range t.lines {
		limit := maxPackageLines
		if dir == "internal/hub" {
			limit = 800 // it only builds, starts and stops the services
		}
		measures = append(measures, measure{"package-lines", dir, n, limit})
	}
	for name, n := range t.types.methods() {
		measures = append(measures, measure{"methods", name, n, maxMethods})
	}
	for _, place := range t.wideLines {
		measures = append(measures, measure{"wide-line", place, 1, 0})
	}
	if t.unexported > 0 {
		measures = append(measures, measure{"one-word-percent", "internal", 100 * t.oneWord / t.unexported,
			maxOneWordShare})
	}
	return measures, nil
}

func (t *tree) readFile(rel, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.ParseComments)
	if err != nil {
		return err
	}
	if ast.IsGenerated(file) {
		return nil
	}
	dir := filepath.ToSlash(filepath.Dir(rel))
	free := linesWithoutLimit(set, file)
	number := 0
	t.lines[dir] += strings.Count(string(text), "\n") + 1
	for line := range strings.Lines(string(text)) {
		number++
		if columnsOf(line) > maxColumns && !free[number] {
			t.wideLines = append(t.wideLines, fmt.Sprintf("%s:%d", filepath.ToSlash(rel), number))
		}
	}
	for _, decl := range file.Decls {
		t.types.readDeclaration(dir, decl)
		if fn, ok := decl.(*ast.FuncDecl); ok {
			t.readFunction(rel, set, fn)
		}
	}
	return nil
}

func (t *tree) readFunction(rel string, set *token.FileSet, fn *ast.FuncDecl) {
	name := fn.Name.Name
	lines := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1
	t.functions = append(t.functions,
		measure{"function-lines", rel + ":" + name, lines, maxFunctionLines},
		measure{"parameters", rel + ":" + name, fn.Type.Params.NumFields(), maxParameters})
	if strings.HasPrefix(rel, "internal/") && name != "init" && name != "main" && !ast.IsExported(name) {
		t.unexported++
		if isOneWord(name) {
			t.oneWord++
		}
	}
}

// linesWithoutLimit returns the lines that may be as wide as they need to be:
// rows of tables (elements of slices, arrays and maps, one on a line) and
// lines with a raw string, such as a regular expression or a script. A tag of a
// field is no such string, and a line with a function is no row.
func linesWithoutLimit(set *token.FileSet, file *ast.File) map[int]bool {
	free := map[int]bool{}
	tags := map[*ast.BasicLit]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			tags[n.Tag] = true
		case *ast.CompositeLit:
			switch n.Type.(type) {
			case *ast.ArrayType, *ast.MapType:
				markRows(free, set, n)
			}
		case *ast.FuncLit:
			// What stands in it may be a table again; its own lines come later.
			for line := set.Position(n.Pos()).Line; line <= set.Position(n.End()).Line; line++ {
				delete(free, line)
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && strings.HasPrefix(n.Value, "`") && !tags[n] {
				markLines(free, set.Position(n.Pos()).Line, set.Position(n.End()).Line)
			}
		}
		return true
	})
	return free
}

// markRows marks the lines of a table that are one row each: one element, begun and
// ended there.
func markRows(rows map[int]bool, set *token.FileSet, table *ast.CompositeLit) {
	elements := map[int]int{}
	for _, e := range table.Elts {
		elements[set.Position(e.Pos()).Line]++
	}
	for _, e := range table.Elts {
		first, last := set.Position(e.Pos()).Line, set.Position(e.End()).Line
		if first == last && elements[first] == 1 && first != set.Position(table.Lbrace).Line {
			rows[first] = true
		}
	}
}

func markLines(lines map[int]bool, first, last int) {
	for line := first; line <= last; line++ {
		lines[line] = true
	}
}

func columnsOf(line string) int {
	return len([]rune(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")))
}

func isOneWord(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsUpper(r) || unicode.IsDigit(r) ||
			r == '_'
	})
}
