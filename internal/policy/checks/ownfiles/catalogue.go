package ownfiles

import (
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/agent"
)

// ownFolders are hookmux's own, as endings of paths.
var ownFolders = []string{
	".hookmux/", ".config/hookmux/", ".local/state/hookmux/", ".local/share/hookmux/", "/etc/hookmux/",
	"library/application support/hookmux/", ".agents/plugins/hookmux/",
}

// sharedFolders hold hooks of agents next to files of other programs.
var sharedFolders = []string{".config", ".local", ".github", ".vscode", ".agents"}

// editorFolder holds what an editor keeps about a project, mostly not about agents. A file in
// it is guarded in projects that have hooks ([inspect.Options.OwnPaths]), not wherever it is.
const editorFolder = ".vscode/"

// hookConfigs are hookmux's folders and the hook configurations of all agents, as endings
// of paths: most exist in the home directory and in projects alike. An ending with "/"
// means everything below. inspect.Options.OwnPaths adds where they are on this machine.
var hookConfigs = sync.OnceValue(func() []string {
	list := slices.Clone(ownFolders)
	for _, known := range agent.Builtin().AllMarks() {
		for _, f := range known.Files {
			list = append(list, endingsOf(f.Path)...)
		}
		list = append(list, known.Guarded.Hooks...)
	}
	slices.Sort(list)
	return slices.Compact(list)
})

// endingsOf returns the endings by which a file of an entry is recognised wherever it is. What
// only differs from other files by its place has none: a bare name, a part that may be
// anything, or one below a folder of the user's own.
func endingsOf(file string) []string {
	var list []string
	for _, name := range agent.ExpandFileNames(strings.ToLower(file)) {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "~/"), "./")
		switch {
		case strings.HasPrefix(name, editorFolder), strings.Contains(name, "*"):
		case !strings.Contains(strings.TrimSuffix(name, "/"), "/"), name[0] != '.' && name[0] != '/':
		default:
			list = append(list, name)
		}
	}
	return list
}

// ownRoots are folders whose loss takes a hook configuration with it.
var ownRoots = sync.OnceValue(func() map[string]bool {
	roots := map[string]bool{"hookmux": true}
	for _, ending := range hookConfigs() {
		first, _, below := strings.Cut(ending, "/")
		if below && strings.HasPrefix(first, ".") && !slices.Contains(sharedFolders, first) {
			roots[first] = true
		}
	}
	return roots
})
