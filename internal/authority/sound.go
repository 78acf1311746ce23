package authority

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Sound reports whether a running program is what its path says and is where programs are
// installed: in one of the usual places, or below directories that only root can write
// (which says nothing to a daemon that is root).
func Sound(daemonUID int, p proc.Process, program string) bool {
	if !path.IsAbs(program) || path.Clean(program) != program {
		return false
	}
	installed := slices.ContainsFunc(installPlaces, func(place string) bool {
		return strings.HasPrefix(program,
			place)
	})
	if !installed && (daemonUID == 0 || !onlyRootWrites(program)) {
		return false
	}
	return runsFile(p.PID, program)
}

// onlyRootWrites reports whether a file and every directory above it belong to root and no
// one else may write them.
func onlyRootWrites(file string) bool {
	for {
		info, err := os.Lstat(file)
		if err != nil || !ownedByRoot(info) || info.Mode()&os.ModeSymlink == 0 && info.Mode().Perm()&0o022 != 0 {
			return false
		}
		if file == "/" {
			return true
		}
		file = path.Dir(file)
	}
}

func ownedByRoot(info os.FileInfo) bool {
	uid, _, ok := files.Owner(info)
	return ok && uid == 0
}
