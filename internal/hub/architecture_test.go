package hub

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pathInText is a file or folder of this repository, as ARCHITECTURE.md writes
// it.
var pathInText = regexp.MustCompile("`((?:agent|event|hook|client|cmd|internal|docs)/[^` ]*)`")

func TestArchitectureNamesWhatExists(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := pathInText.FindAllStringSubmatch(string(text), -1)
	if len(found) < 40 {
		t.Errorf("found %d paths in ARCHITECTURE.md, expected at least 40; does the test read it as it is written?",
			len(found))
	}
	for _, m := range found {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(strings.TrimSuffix(m[1], "/")))); err != nil {
			t.Errorf("ARCHITECTURE.md names %s: %v", m[1], err)
		}
	}
	folders, err := os.ReadDir(filepath.Join(root, "internal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if f.IsDir() && !strings.Contains(string(text), "`internal/"+f.Name()+"/") {
			t.Errorf("ARCHITECTURE.md does not say what internal/%s is", f.Name())
		}
	}
}

// nameInText is a function, as ARCHITECTURE.md writes it.
var nameInText = regexp.MustCompile("`([A-Za-z]+)`")

// The walk through one PermissionRequest goes through one file of each service, which
// has the functions that the walk names.
func TestArchitectureWalk(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| Step | Read |")
	table, _, _ = strings.Cut(table, "\n\n")
	read, rows, names := map[string]string{}, 0, 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.Contains(cells[2], "`") {
			continue
		}
		rows++
		files := pathInText.FindAllStringSubmatch(cells[2], -1)
		if len(files) != 1 {
			t.Errorf("the row %q has %d files to read, want one", line, len(files))
			continue
		}
		file := files[0][1]
		folder := path.Dir(file)
		if other := read[folder]; other != "" && other != file && strings.HasPrefix(folder, "internal/") {
			t.Errorf("the walk goes through %s and %s, want one file of a service", other, file)
		}
		read[folder] = file
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Error(err)
		}
		for _, m := range nameInText.FindAllStringSubmatch(cells[3], -1) {
			names++
			if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + m[1] + `\(`).Match(source) {
				t.Errorf("the walk names %s, which is not in %s", m[1], file)
			}
		}
	}
	if rows < 12 || names < 12 {
		t.Errorf("the walk has %d rows and %d names, want at least 12 of each; is it read as it is written?", rows, names)
	}
}
