package sources

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/trust"
)

// FolderTSHooks lists the TypeScript hooks of the user's folder that count,
// whether they are still there or not.
func (s *Sources) FolderTSHooks() []string {
	return FolderTSHooks(filepath.Join(s.Dirs.Config, "hooks"), s.Accepted)
}

// FolderTSHooks lists the files of a folder that are hooks: those that are there, and
// accepted ones that something removed.
func FolderTSHooks(folder string, store *accepted.Store) []string {
	var names []string
	entries, err := os.ReadDir(folder)
	if err == nil {
		for _, e := range entries {
			if !e.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	if store != nil {
		names = append(names, store.KnownIn(folder)...)
	}
	slices.Sort(names)
	var list []string
	for _, name := range slices.Compact(names) {
		if trust.IsTSHookName(name) {
			list = append(list, filepath.Join(folder, name))
		}
	}
	return list
}

// TSHookPath returns the file that a setting means by a name: one of the user's
// folder of hooks, unless it is absolute or begins with ~/.
func TSHookPath(dirs paths.Dirs, name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(dirs.Home, rest)
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dirs.Config, "hooks", name)
}

// OnlyLogsTSHook reports whether the settings let a TypeScript hook only
// only log. file is absolute or begins with ~/.
func OnlyLogsTSHook(dirs paths.Dirs, settings *config.Settings, file string) bool {
	file = TSHookPath(dirs, file)
	return slices.ContainsFunc(settings.Strings(config.ModulesLog), func(name string) bool {
		return TSHookPath(dirs, name) == file
	})
}
