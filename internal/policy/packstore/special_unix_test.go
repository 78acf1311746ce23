//go:build unix

package packstore

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestSpecialFilesAreRefused(t *testing.T) {
	for _, name := range []string{"rules/a.yaml", "beside"} {
		dir := writePack(t, goodPack())
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
			t.Skipf("no pipes here: %v", err)
		}
		if _, err := ReadFolder(dir); err == nil || !strings.Contains(err.Error(), "no regular file") {
			t.Errorf("a pipe %s: want it refused, got %v", name, err)
		}
	}
}
