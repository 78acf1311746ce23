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
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// oneWayTrees are the trees in whose packages files may not use each other in a circle:
// there a reader follows an event from file to file.
var oneWayTrees = []string{"internal/pipeline", "internal/approvals", "internal/sessions", "internal/recorder"}

// listedPackage is what "go list" says about a package.
type listedPackage struct {
	Dir, ImportPath, Export string
	GoFiles                 []string
	DepOnly                 bool
}

// measureFileCycles finds, in each package of the trees, the groups of files that
// use each other's declarations, directly or through others.
func measureFileCycles(root string, trees []string) ([]measure, error) {
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
		cycles, err := findFileCycles(p, exports)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(absRoot, p.Dir)
		if err != nil {
			return nil, err
		}
		for _, cycle := range cycles {
			subject := filepath.ToSlash(rel) + ":" + strings.Join(cycle, "+")
			measures = append(measures, measure{"files-use-each-other", subject, len(cycle), 0})
		}
	}
	return measures, nil
}

// findFileCycles type-checks a package and names the groups of its files in which
// each file uses, directly or through others, every other one.
func findFileCycles(p listedPackage, exports map[string]string) ([][]string, error) {
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
	uses := map[string]map[string]bool{}
	for id, object := range info.Uses {
		if object.Pkg() == nil || object.Pkg().Path() != p.ImportPath || !object.Pos().IsValid() {
			continue
		}
		from, to := baseName(set, id.Pos()), baseName(set, object.Pos())
		if uses[from] == nil {
			uses[from] = map[string]bool{}
		}
		uses[from][to] = true
	}
	return cyclesIn(uses), nil
}

// cyclesIn returns the groups of nodes that reach each other, in order.
func cyclesIn(uses map[string]map[string]bool) [][]string {
	reached := map[string]map[string]bool{}
	for from := range uses {
		reached[from] = map[string]bool{}
		for open := []string{from}; len(open) > 0; {
			last := open[len(open)-1]
			open = open[:len(open)-1]
			for to := range uses[last] {
				if !reached[from][to] {
					reached[from][to] = true
					open = append(open, to)
				}
			}
		}
	}
	var cycles [][]string
	grouped := map[string]bool{}
	for _, from := range slices.Sorted(maps.Keys(uses)) {
		if grouped[from] {
			continue
		}
		group := []string{from}
		for to := range reached[from] {
			if to != from && reached[to][from] {
				group = append(group, to)
				grouped[to] = true
			}
		}
		if len(group) > 1 {
			slices.Sort(group)
			cycles = append(cycles, group)
		}
	}
	return cycles
}

func baseName(set *token.FileSet, pos token.Pos) string {
	return filepath.Base(set.Position(pos).Filename)
}
