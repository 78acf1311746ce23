package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// A package comment names the package it stands in.
func TestPackageComments(t *testing.T) {
	checked := 0
	err := filepath.WalkDir("../../..", func(path string, e fs.DirEntry, err error) error {
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
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		words := strings.Fields(file.Doc.Text())
		if len(words) < 2 || words[0] != "Package" {
			return nil
		}
		checked++
		if words[1] != file.Name.Name {
			t.Errorf("%s: the comment is about package %s, and the package is %s", path, words[1], file.Name.Name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 50 {
		t.Errorf("%d package comments were found, want those of the whole tree", checked)
	}
}
