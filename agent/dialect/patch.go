package dialect

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

// patchHeads start the lines of an apply_patch text that name a file.
var patchHeads = []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "}

// PatchPaths lists the paths a text in apply_patch format touches, in order
// and each once. Lines of a hunk start with a blank, + or -, so that file
// contents cannot pose as a heading; leading blanks are cut all the same, as
// Codex's own reader does, because a guard must see at least what the agent
// sees.
func PatchPaths(patch string) []string {
	var paths []string
	for line := range strings.SplitSeq(patch, "\n") {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "*** ") {
			continue
		}
		for _, head := range patchHeads {
			path, ok := strings.CutPrefix(line, head)
			if path = strings.TrimSpace(path); !ok || path == "" {
				continue
			}
			seen := false
			for _, p := range paths {
				seen = seen || p == path
			}
			if !seen {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// CommandLine makes one command line of a command given as a list of words. The text that a
// shell gets with -c is unwrapped.
func CommandLine(words []string) string {
	if len(words) >= 3 && strings.HasPrefix(words[1], "-") && !strings.HasPrefix(words[1], "--") &&
		strings.HasSuffix(words[1], "c") {
		switch words[0][strings.LastIndexByte(words[0], '/')+1:] {
		case "sh", "bash", "zsh", "dash", "ksh", "fish":
			return words[2]
		}
	}
	return shellquote.Arguments(words)
}

var (
	patchProgram = lazyregexp.New(`\bapply_?patch\b`)
	changeFolder = lazyregexp.New(`(?:^|[\s;&|({])cd\s+("[^"]*"|'[^']*'|[^\s;&|)]+)`)
)

// PatchedBy lists the paths that a command line changes by apply_patch, which Codex
// puts on the PATH of what it runs. A path that is not whole may be one below any
// folder that the line goes to.
func PatchedBy(command string) []string {
	if !strings.Contains(command, "*** Begin Patch") || !patchProgram.MatchString(command) {
		return nil
	}
	paths := PatchPaths(command)
	for _, folder := range changeFolder.FindAllStringSubmatch(command, 8) {
		at := strings.TrimSuffix(strings.Trim(folder[1], `"'`), "/")
		for _, name := range paths[:len(paths):len(paths)] {
			if !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "~") {
				paths = append(paths, at+"/"+name)
			}
		}
	}
	return paths
}
