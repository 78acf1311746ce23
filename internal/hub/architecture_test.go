package hub

import (
	"os"
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
	page, err := os.ReadFile(filepath.Join(root, "internal", "pipeline", "pipeline.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), ") process(") {
		t.Error("ARCHITECTURE.md sends the reader to the function process in internal/pipeline/pipeline.go, which " +
			"is not there")
	}
}
