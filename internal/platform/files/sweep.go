package files

import (
	"os"
	"path/filepath"
	"strings"
)

// Misfit is something in one of hookmux's folders that is neither a file nor a folder.
type Misfit struct {
	Path  string // where it was
	Aside string // where it is now; "" when it could not be moved
	Err   error  // why not
}

// maxEntries limits how much of a folder is looked at.
const maxEntries = 10_000

// SweepFolder sets aside what in a folder, and in the folders in it, is neither a regular file
// nor a folder: pipes, sockets, devices and links that don't lead to a folder. After that,
// programs that open files without this package's care (databases, logs that are appended to)
// are safe from them.
func SweepFolder(dir string) []Misfit { return sweepFolder(dir, 1) }

func sweepFolder(dir string, deeper int) []Misfit {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	entries, _ := d.ReadDir(maxEntries)
	_ = d.Close() // only read from
	var found []Misfit
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch kind := e.Type(); {
		case kind.IsRegular():
		case kind.IsDir():
			if deeper > 0 {
				found = append(found, sweepFolder(path, deeper-1)...)
			}
		case strings.Contains(e.Name(), asideMark): // at an earlier look
		case kind&os.ModeSymlink != 0 && leadsToFolder(path):
		default:
			aside, err := SetAside(path)
			found = append(found, Misfit{path, aside, err})
		}
	}
	return found
}

// leadsToFolder reports whether a link leads to a folder: users move folders to other disks.
func leadsToFolder(link string) bool {
	info, err := os.Stat(link)
	return err == nil && info.IsDir()
}
