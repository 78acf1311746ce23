package wire

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// methodNames returns the values of the constants Method… of this package.
func methodNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Method") {
				if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
					name, err := strconv.Unquote(literal.Value)
					if err != nil {
						t.Fatal(err)
					}
					names = append(names, name)
				}
			}
			return true
		})
	}
	return names
}

func TestEveryMethodHasAClass(t *testing.T) {
	names := methodNames(t)
	for _, name := range names {
		if _, ok := Methods[name]; !ok {
			t.Errorf("%s: want a row in Methods, got none", name)
		}
	}
	if len(names) != len(Methods) {
		t.Errorf("want as many constants as rows in Methods, got %d and %d", len(names), len(Methods))
	}
}

// methodRow is a row of a table of methods in docs/contributing/protocol.md, and methodName a method in it.
var (
	methodRow  = regexp.MustCompile("(?m)^\\| (`.*?`) \\| ((?:read|report|decide|[/, ])+) \\|")
	methodName = regexp.MustCompile("`([a-z_.]+)[^`]*`")
)

// TestTheProtocolNamesTheClasses compares docs/contributing/protocol.md with Methods. The rows without a
// class are cmux's.
func TestTheProtocolNamesTheClasses(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "contributing", "protocol.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range Methods {
		if !strings.Contains(string(page), "`"+name) {
			t.Errorf("%s: want it in docs/contributing/protocol.md, got nothing there", name)
		}
	}
	rows := 0
	for _, row := range methodRow.FindAllStringSubmatch(string(page), -1) {
		classes := strings.FieldsFunc(row[2], func(r rune) bool { return r == '/' || r == ',' || r == ' ' })
		for i, name := range methodName.FindAllStringSubmatch(row[1], -1) {
			class := classes[min(i, len(classes)-1)]
			if got, ok := Methods[name[1]]; !ok || got.String() != class {
				t.Errorf("%s: docs/contributing/protocol.md says %s, Methods has %v (known: %v)", name[1], class, got, ok)
			}
			rows++
		}
	}
	if rows < 40 {
		t.Errorf("want more than 40 methods read from docs/contributing/protocol.md, got %d", rows)
	}
}
