package daemon

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var repositoryRoot = filepath.Join("..", "..")

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repositoryRoot, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inCode is text that a page sets as code; commandBlock a block of commands.
var (
	inCode       = regexp.MustCompile("`([^`\n]+)`")
	commandBlock = regexp.MustCompile("(?s)```.*?```")
)

// isPath reports whether code in a page names a file or folder of this repository,
// however short the path is.
func isPath(code string) bool {
	if strings.ContainsAny(code, " ~$*…=:") {
		return false
	}
	return strings.Contains(code, "/") || slices.Contains([]string{".go", ".md", ".yaml", ".mod"}, filepath.Ext(code))
}

// testPaths demands that a page names only what exists, and at least so much of it.
func testPaths(t *testing.T, page string, atLeast int, madeByReader ...string) {
	t.Helper()
	found := 0
	for _, m := range inCode.FindAllStringSubmatch(commandBlock.ReplaceAllString(readPage(t, page), ""), -1) {
		name := strings.TrimSuffix(m[1], "/")
		if !isPath(m[1]) || slices.Contains(madeByReader, name) {
			continue
		}
		found++
		if _, err := os.Stat(filepath.Join(repositoryRoot, filepath.FromSlash(name))); err != nil {
			t.Errorf("%s names %s, which should be a path from the root of the repository: %v", page, name, err)
		}
	}
	if found < atLeast {
		t.Errorf("found %d paths in %s, expected at least %d; does the test read it as it is written?",
			found, page, atLeast)
	}
}

func TestArchitectureNamesWhatExists(t *testing.T) {
	testPaths(t, "ARCHITECTURE.md", 90)
	text := readPage(t, "ARCHITECTURE.md")
	folders, err := os.ReadDir(filepath.Join(repositoryRoot, "internal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if f.IsDir() && !strings.Contains(text, "`internal/"+f.Name()+"/") {
			t.Errorf("ARCHITECTURE.md does not say what internal/%s is", f.Name())
		}
	}
}

func TestContributingNamesWhatExists(t *testing.T) {
	testPaths(t, "CONTRIBUTING.md", 30,
		".tools/go", "dist/docs", "bin/hookmux", "agent/testdata/golden/acme.txt", // made by commands
		"internal/cli/see/count.go", "internal/cli/testdata/scripts/count.txtar", // the example's
		"Before.json", "Before.save.json")
}

// walkRow is a row of a walk through one call.
type walkRow struct{ caller, function, file string }

// readWalks reads the tables of ARCHITECTURE.md that follow a call: one that you approve,
// then one that a guard denies.
func readWalks(t *testing.T) (approved, denied []walkRow) {
	t.Helper()
	tables := strings.Split(readPage(t, "ARCHITECTURE.md"), "| Called by | Function |")[1:]
	if len(tables) != 2 {
		t.Fatalf("ARCHITECTURE.md follows %d calls, expected one that is approved and one that is denied", len(tables))
	}
	return readWalk(t, tables[0], 30), readWalk(t, tables[1], 10)
}

func readWalk(t *testing.T, text string, atLeast int) []walkRow {
	t.Helper()
	table, _, _ := strings.Cut(text, "\n\n")
	var rows []walkRow
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !strings.Contains(cells[2], "`") {
			continue
		}
		code := func(cell string) string { return strings.Trim(strings.TrimSpace(cell), "`") }
		rows = append(rows, walkRow{code(cells[1]), code(cells[2]), code(cells[3])})
	}
	if len(rows) < atLeast {
		t.Fatalf("found %d rows in a walk of ARCHITECTURE.md, expected at least %d; "+
			"does the test read it as it is written?", len(rows), atLeast)
	}
	return rows
}

// functionsOf parses a file and returns its functions and methods by name.
func functionsOf(t *testing.T, name string) map[string]*ast.FuncDecl {
	t.Helper()
	path := filepath.Join(repositoryRoot, filepath.FromSlash(name))
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]*ast.FuncDecl{}
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
			functions[fn.Name.Name] = fn
		}
	}
	return functions
}

// namesUsed lists the names that a function's body uses, in order. Where it uses a function
// of its own file, the names that are used there follow.
func namesUsed(functions map[string]*ast.FuncDecl, name string, entered map[string]bool) []string {
	if functions[name] == nil || entered[name] {
		return nil
	}
	entered[name] = true
	var names []string
	ast.Inspect(functions[name].Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			names = append(names, id.Name)
			names = append(names, namesUsed(functions, id.Name, entered)...)
		}
		return true
	})
	return names
}

// Each function of a walk is in its file, and is used by the one that the row
// names as its caller, behind what that one used before it.
func TestArchitectureWalk(t *testing.T) {
	approved, denied := readWalks(t)
	testWalk(t, approved)
	testWalk(t, denied)
}

func testWalk(t *testing.T, rows []walkRow) {
	t.Helper()
	rest := map[walkRow][]string{} // what a caller uses behind its last row
	latest := map[string]walkRow{} // the last row of a function's name
	for _, row := range rows {
		functions := functionsOf(t, row.file)
		if functions[row.function] == nil {
			t.Errorf("the walk has %s in %s, where no function of this name is", row.function, row.file)
		}
		if row.caller != "" {
			caller, known := latest[row.caller]
			if !known {
				t.Errorf("the walk says that %s is called by %s, which should have a row above it", row.function,
					row.caller)
				continue
			}
			at := slices.Index(rest[caller], row.function)
			if at < 0 {
				t.Errorf("the walk says that %s is the next to call %s; its code in %s does not, in this order",
					row.caller, row.function, caller.file)
				continue
			}
			rest[caller] = rest[caller][at+1:]
		}
		latest[row.function] = row
		if _, again := rest[row]; !again {
			rest[row] = namesUsed(functions, row.function, map[string]bool{})
		}
	}
}

// The walk has every step of the pipeline: what process, decide and track call.
func TestArchitectureWalkIsWhole(t *testing.T) {
	const file = "internal/pipeline/pipeline.go"
	functions := functionsOf(t, file)
	rows, _ := readWalks(t)
	for _, caller := range []string{"process", "decide", "notifyTrackers"} {
		if functions[caller] == nil {
			t.Errorf("%s has no function %s, expected it as a step of the walk", file, caller)
			continue
		}
		for _, step := range callsOfReceiver(functions[caller]) {
			isStep := func(row walkRow) bool { return row.caller == caller && row.function == step }
			if !slices.ContainsFunc(rows, isStep) {
				t.Errorf("%s calls %s, which has no row in the walk of ARCHITECTURE.md", caller, step)
			}
		}
	}
}

// callsOfReceiver names what a method calls on its receiver and on the receiver's fields.
func callsOfReceiver(fn *ast.FuncDecl) []string {
	receiver := fn.Recv.List[0].Names[0].Name
	var names []string
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		root := method.X
		for {
			field, ok := root.(*ast.SelectorExpr)
			if !ok {
				break
			}
			root = field.X
		}
		if id, ok := root.(*ast.Ident); ok && id.Name == receiver {
			names = append(names, method.Sel.Name)
		}
		return true
	})
	return names
}
