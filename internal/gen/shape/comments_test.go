package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Every package has a comment, which names the package it stands in: ARCHITECTURE.md
// has one line for a package and leaves the rest to these.
func TestPackageComments(t *testing.T) {
	checked := 0
	hasComment := map[string]bool{} // by folder
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
		commented := len(words) > 1 && words[0] == "Package"
		if folder := filepath.Dir(path); !strings.HasSuffix(path, "_test.go") && file.Name.Name != "main" {
			hasComment[folder] = hasComment[folder] || commented
		}
		if !commented {
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
	for folder, has := range hasComment {
		if !has {
			t.Errorf("no file of %s has a comment that begins with \"Package\", want one", folder)
		}
	}
	if checked < 50 {
		t.Errorf("%d package comments were found, want those of the whole tree", checked)
	}
}
