package paths

import "strings"

// IsWithin reports whether a clean path is a folder or is below it.
func IsWithin(folder, path string) bool {
	folder = strings.TrimSuffix(folder, "/")
	return path == folder || strings.HasPrefix(path, folder) && path[len(folder)] == '/'
}

// EscapeGlob returns a path as a pattern that fits it alone.
func EscapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
