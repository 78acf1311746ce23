package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// oneWayTrees are the trees in whose packages no two files may use each other:
// there a reader follows an event from file to file.
var oneWayTrees = []string{"internal/pipeline", "internal/approvals", "internal/sessions", "internal/recorder"}

// listedPackage is what "go list" says about a package.
type listedPackage struct {
	Dir, ImportPath, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// measurePairs counts, for each package of the trees, the pairs of files that
// use each other's declarations.
func measurePairs(root string, trees []string) ([]measure, error) {
	args := []string{"list", "-trimpath", "-deps", "-export", "-json=Dir,ImportPath,Export,GoFiles,DepOnly"}
	for _, tree := range trees {
		args = append(args, "./"+tree+"/...")
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	var named []listedPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			named = append(named, p)
		}
	}
	absRoot, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if resolved, err := filepath.EvalSymlinks(absRoot); err == nil {
		absRoot = resolved
	}
	var measures []measure
	for _, p := range named {
		pairs, err := findPairs(p, exports)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(absRoot, p.Dir)
		if err != nil {
			return nil, err
		}
		for _, pair := range pairs {
			measures = append(measures, measure{"files-use-each-other", filepath.ToSlash(rel) + ":" + pair, 1, 0})
		}
	}
	return measures, nil
}

// findPairs type-checks a package and names each pair of its files that use
// each other, as "a.go+b.go".
func findPairs(p listedPackage, exports map[string]string) ([]string, error) {
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	conf := types.Config{Importer: importer.ForCompiler(set, "gc", lookup)}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	if _, err := conf.Check(p.ImportPath, set, files, info); err != nil {
		return nil, err
	}
	uses := map[[2]string]bool{}
	for id, object := range info.Uses {
		if object.Pkg() == nil || object.Pkg().Path() != p.ImportPath || !object.Pos().IsValid() {
			continue
		}
		from, to := baseName(set, id.Pos()), baseName(set, object.Pos())
		uses[[2]string{from, to}] = true
	}
	var pairs []string
	for pair := range uses {
		if pair[0] < pair[1] && uses[[2]string{pair[1], pair[0]}] {
			pairs = append(pairs, strings.Join(pair[:], "+"))
		}
	}
	return pairs, nil
}

func baseName(set *token.FileSet, pos token.Pos) string {
	return filepath.Base(set.Position(pos).Filename)
}
