package trust

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/edit/userfile"
)

// TSHookDir is the folder of a project whose TypeScript and JavaScript files
// are hooks.
const TSHookDir = dirName + "/hooks"

// IsTSHook reports whether a covered path is a hook of that folder: a file
// right in it, not one below and no type declarations.
func IsTSHook(rel string) bool {
	name, ok := strings.CutPrefix(rel, TSHookDir+"/")
	return ok && !strings.Contains(name, "/") && IsTSHookName(name)
}

// IsTSHookName reports whether a file of that name in a folder is a hook.
func IsTSHookName(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".d.ts") {
		return false
	}
	return strings.HasSuffix(name, ".ts") || strings.HasSuffix(name, ".js")
}

// TSHooks returns the trusted hooks of the project's folder, as paths of the
// trusted copy, in byte order.
func (f *TrustedContent) TSHooks() []string {
	var list []string
	for rel := range f.files {
		if IsTSHook(rel) {
			list = append(list, filepath.Join(f.copy, filepath.FromSlash(rel)))
		}
	}
	slices.Sort(list)
	return list
}

// Covers reports whether a path is in the trusted copy.
func (f *TrustedContent) Covers(path string) bool { return f.isCopy(path) }

// ReadCopy gives a file of the trusted copy, and nothing else: what a hook
// imports must have been seen as well.
func (f *TrustedContent) ReadCopy(path string) ([]byte, error) {
	rel, ok := relativeTo(f.copy, path)
	if !ok || !f.files[filepath.ToSlash(rel)] {
		return nil, fmt.Errorf("%s: was not there when the project was trusted; run `hookmux trust`", f.Shown(path))
	}
	return userfile.ReadFile(path, maxFileSize)
}

// Shown puts the project's own paths where a text names those of the trusted
// copy.
func (f *TrustedContent) Shown(text string) string {
	if f == nil || f.copy == "" {
		return text
	}
	return strings.ReplaceAll(text, f.copy, f.Root)
}
