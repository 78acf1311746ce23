package agent

import (
	"path"
	"strings"
)

// This file reads the paths of agents' files as their descriptions write them.

// ExpandFileNames returns the patterns that a path means. "x/*" and "x/*.json" mean
// everything in the folder "x/", "x.json*" is JSON with or without comments. A star
// elsewhere stays.
func ExpandFileNames(file string) []string {
	folder := file
	for strings.HasPrefix(path.Base(folder), "*") && strings.Contains(folder, "/") {
		folder = folder[:strings.LastIndexByte(folder, '/')]
	}
	name, comments := strings.CutSuffix(file, "*")
	switch {
	case folder != file:
		return []string{folder + "/"}
	case comments && name != "":
		return []string{name, name + "c"}
	}
	return []string{file}
}
