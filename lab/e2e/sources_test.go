package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSources looks at every source file the programs are built from. go test
// takes a result from its cache only while the files a test looked at are the
// same: without this a change of the daemon would leave these tests unrun.
func TestSources(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "bin"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".yaml") ||
			strings.HasSuffix(path, "_test.go"):
			return nil
		}
		seen++
		_, err = os.Stat(path)
		return err
	})
	if err != nil || seen < 100 {
		t.Fatalf("%d files: %v; want no error and seen >= 100", seen, err)
	}
}
