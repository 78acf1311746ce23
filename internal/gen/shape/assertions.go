package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// measureAssertions finds the calls of Error and Fatal in tests that only
// print values or a catchword: whoever reads the failure cannot tell what was expected.
func measureAssertions(root string) ([]measure, error) {
	var measures []measure
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == ".git" || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, call := range findBareAssertions(file) {
			place := fmt.Sprintf("%s:%d", filepath.ToSlash(rel), set.Position(call.Pos()).Line)
			measures = append(measures, measure{"assertion-without-words", place, 1, 0})
		}
		return nil
	})
	return measures, err
}

var failingCalls = []string{"Error", "Errorf", "Fatal", "Fatalf"}

// findBareAssertions returns the calls that do not say what was expected. One is fine as
// it is: an error printed where it was just found not to be nil.
func findBareAssertions(file *ast.File) []*ast.CallExpr {
	var found []*ast.CallExpr
	var parents []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			parents = parents[:len(parents)-1]
			return true
		}
		parents = append(parents, n)
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 || !reportsFailure(call) || slices.ContainsFunc(call.Args, hasWords) {
			return true
		}
		isCause := func(e ast.Expr) bool { return isCheckedError(e, parents) }
		if !slices.ContainsFunc(call.Args, isCause) {
			found = append(found, call)
		}
		return true
	})
	return found
}

// reportsFailure says whether a call is one of a *testing.T, going by how the
// tree names these: t, b, f, or a field of such a name.
func reportsFailure(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains(failingCalls, method.Sel.Name) {
		return false
	}
	name := ""
	switch receiver := method.X.(type) {
	case *ast.Ident:
		name = receiver.Name
	case *ast.SelectorExpr:
		name = receiver.Sel.Name
	}
	return slices.Contains([]string{"t", "b", "f", "tb", "rt", "T"}, name)
}

var (
	formatVerb = regexp.MustCompile(`%[-+# 0-9.\[\]*]*[a-zA-Z%]|\\[nt]`)
	plainWord  = regexp.MustCompile(`[A-Za-z]+`)
	// expectation is a word by which a message says what should have been.
	expectation = regexp.MustCompile(`\b(?:want|wants|wanted|expect|expected|should|must|instead)\b`)
)

// hasWords says whether the strings in an expression say what was expected, or are a
// sentence: three words at least, besides the verbs of a format.
func hasWords(e ast.Expr) bool {
	words, expects := 0, false
	ast.Inspect(e, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
			plain := formatVerb.ReplaceAllString(text.Value, " ")
			words += len(plainWord.FindAllString(plain, -1))
			expects = expects || expectation.MatchString(plain)
		}
		return true
	})
	return expects || words >= 3
}

// isCheckedError says whether the if statement around a call does nothing but
// compare the very expression with nil.
func isCheckedError(e ast.Expr, parents []ast.Node) bool {
	for _, parent := range slices.Backward(parents) {
		if check, ok := parent.(*ast.IfStmt); ok {
			compared, ok := check.Cond.(*ast.BinaryExpr)
			return ok && compared.Op == token.NEQ && spell(compared.Y) == "nil" && spell(compared.X) == spell(e)
		}
	}
	return false
}

// spell writes an identifier or selector; other expressions get a unique string.
func spell(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return spell(e.X) + "." + e.Sel.Name
	}
	return fmt.Sprintf("%p", e)
}
