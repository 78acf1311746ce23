package install

import (
	"fmt"
	"os"

	diskfiles "github.com/hookmux/hookmux/internal/platform/files"
)

// ForeignHomeWarning says that root works in the home of somebody else: what is made
// there would belong to root, and that person's agents could not change it. Else "".
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
