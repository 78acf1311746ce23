package launch

import (
	"fmt"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// HookPath returns where hookmux-hook must be: next to the program itself.
func HookPath(self string) (string, error) {
	if resolved, err := filepath.EvalSymlinks(self); err == nil {
		self = resolved
	}
	file, err := filepath.Abs(filepath.Join(filepath.Dir(self), "hookmux-hook"))
	if err != nil {
		return "", err
	}
	if !paths.Runnable(file) {
		return "", fmt.Errorf("%s: not there, and agents call it at their hooks; install both programs in one "+
			"directory", file)
	}
	return file, nil
}
