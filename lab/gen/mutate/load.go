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
	"time"
)

// mutated is one package and all changes of it.
type mutated struct {
	module, name, dir string // dir is relative to the module
	set               *token.FileSet
	files             []*source
	info              *types.Info
	changes           []*change
	places            int
	patience          time.Duration // how long tests may take in addition to the time without a change
}

// source is one file; built says whether it is compiled on this system.
type source struct {
	name    string // relative to the module
	bytes   []byte
	syntax  *ast.File
	changes []*change
	built   bool
}

type listed struct {
	Name, Dir, ImportPath, Export string
	GoFiles, IgnoredGoFiles       []string
}

// loadPackage reads the package in dir with its types, and lists its changes.
func loadPackage(module, dir string) (*mutated, error) {
	packages, err := listPackages(module, "./"+dir)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	own := packages[len(packages)-1]
	m := &mutated{
		module: module, name: own.Name, dir: dir, set: token.NewFileSet(),
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}},
	}
	if err := m.readFiles(own); err != nil {
		return nil, err
	}
	var built []*ast.File
	for _, file := range m.files {
		if file.built {
			built = append(built, file.syntax)
		}
	}
	config := types.Config{Importer: importer.ForCompiler(m.set, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})}
	if _, err := config.Check(own.ImportPath, m.set, built, m.info); err != nil {
		return nil, err
	}
	for _, file := range m.files {
		m.listChanges(file)
	}
	return m, nil
}

func (m *mutated) readFiles(own listed) error {
	for i, name := range append(append([]string(nil), own.GoFiles...), own.IgnoredGoFiles...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(own.Dir, name))
		if err != nil {
			return err
		}
		relative := m.dir + "/" + name
		syntax, err := parser.ParseFile(m.set, relative, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		m.files = append(m.files, &source{name: relative, bytes: text, syntax: syntax, built: i < len(own.GoFiles)})
	}
	return nil
}

func (m *mutated) listChanges(file *source) {
	info := m.info
	if !file.built {
		info = nil
	}
	file.changes = findChanges(m.set, file.syntax, file.name, file.bytes, info)
	last := -1
	for _, c := range file.changes {
		if c.position.Offset != last {
			last = c.position.Offset
			m.places++
		}
		c.place = m.places - 1
	}
	m.changes = append(m.changes, file.changes...)
}

func listPackages(module, pattern string) ([]listed, error) {
	command := goCommand(module, "list", "-export", "-deps", "-trimpath",
		"-json=Name,Dir,ImportPath,Export,GoFiles,IgnoredGoFiles", pattern)
	out, err := command.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go list %s: %s", pattern, exit.Stderr)
		}
		return nil, err
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

func goCommand(module string, arguments ...string) *exec.Cmd {
	command := exec.Command("go", arguments...)
	command.Dir = module
	return command
}
