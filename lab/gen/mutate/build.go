package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

var compilerRow = regexp.MustCompile(`(?m)^(?:\./)?([^\s:]+\.go):(\d+):\d+: `)

// buildSwitched compiles the tests once, with every change that can be switched on at run time. What
// the compiler rejects is removed and compiled by itself.
func (m *mutated) buildSwitched(work string) (string, error) {
	binary := filepath.Join(work, "switched.test")
	for range 20 {
		replaced := map[string][]byte{
			m.dir + "/mutation_switch.go": fmt.Appendf(nil, switchSource, m.name, max(m.places, 1)),
		}
		for _, file := range m.files {
			if file.built {
				replaced[file.name] = rewriteFile(m.set, file.syntax, file.bytes, m.info, file.changes)
			}
		}
		out, err := m.buildTests(work, binary, replaced)
		if err == nil {
			return binary, nil
		}
		if !m.excludeRows(out) {
			return "", fmt.Errorf("the rewritten package does not compile: %w\n%s", err, out)
		}
	}
	return "", fmt.Errorf("the rewritten package does not compile after 20 attempts")
}

// excludeRows marks the changes on lines that the compiler names, and reports whether there were any.
func (m *mutated) excludeRows(output string) bool {
	found := false
	for _, row := range compilerRow.FindAllStringSubmatch(output, -1) {
		line, _ := strconv.Atoi(row[2])
		for _, c := range m.changes {
			if filepath.Base(c.file) == filepath.Base(row[1]) && c.position.Line == line && !c.alone {
				c.alone, found = true, true
			}
		}
	}
	return found
}

// buildAlone compiles the tests with one change; an error means that it does not compile.
func (m *mutated) buildAlone(work, binary string, c *change) error {
	for _, file := range m.files {
		if file.name == c.file {
			_, err := m.buildTests(work, binary, map[string][]byte{c.file: replaceOperator(file.bytes, c)})
			return err
		}
	}
	return fmt.Errorf("no file %s", c.file)
}

// buildTests compiles the package's tests with some files replaced; the tree itself is not touched.
func (m *mutated) buildTests(work, binary string, replaced map[string][]byte) (string, error) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, text := range replaced {
		path := binary + "." + filepath.Base(name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(m.module, name)] = path
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	listPath := filepath.Join(work, filepath.Base(binary)+".json")
	if err := os.WriteFile(listPath, list, 0o600); err != nil {
		return "", err
	}
	command := goCommand(m.module, "test", "-c", "-vet=off", "-trimpath", "-overlay", listPath, "-o", binary,
		"./"+m.dir)
	out, err := command.CombinedOutput()
	return string(out), err
}
