package transcript

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrOutside says that a path does not lie in the agent's store.
var ErrOutside = errors.New("lies outside the agent's own store")

// realPathWithin returns the real path of a file if it is below root. For a file that isn't
// there yet, its directory is checked.
func realPathWithin(root, path string) (string, error) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("%q: %w", path, ErrOutside)
	}
	resolved, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		dir, derr := filepath.EvalSymlinks(filepath.Dir(path))
		if derr != nil {
			return "", fmt.Errorf("%s: %w", path, derr)
		}
		resolved, err = filepath.Join(dir, filepath.Base(path)), nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	below, err := filepath.Rel(root, resolved)
	if err != nil || below == "." || below == ".." || strings.HasPrefix(below, ".."+string(filepath.Separator)) {
		return "", fmt.Errorf("%s: %w", path, ErrOutside)
	}
	return resolved, nil
}
