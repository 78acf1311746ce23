package install

import (
	"fmt"
	"os"

	diskfiles "github.com/hookmux/hookmux/internal/platform/files"
)

// ForeignHomeWarning returns a warning if root works in another user's home: files created
// there would belong to root, and that user's agents couldn't change them. Otherwise "".
func ForeignHomeWarning(home string) string {
	info, err := os.Stat(home)
	if err != nil || os.Geteuid() != 0 {
		return ""
	}
	if owner, _, ok := diskfiles.Owner(info); ok && owner != 0 {
		return fmt.Sprintf("%s: is the home of another user (%d), and you are root: files that are made there "+
			"belong to root; run the command as that user", home, owner)
	}
	return ""
}
