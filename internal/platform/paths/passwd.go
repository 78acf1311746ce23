package paths

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// passwdFile is read directly: os/user would bring its lookups of names and groups into the
// hook client. On macOS it lists only system users, so that a hook there needs HOME, which
// launchd always sets. It is a variable so that tests can link programs that look elsewhere.
var passwdFile = "/etc/passwd"

const maxPasswd = 16 << 20

// passwdHome finds the home directory of a user id.
func passwdHome(file string, uid int) (string, bool) {
	text, err := files.ReadLinked(file, maxPasswd)
	if err != nil {
		return "", false
	}
	want := strconv.Itoa(uid)
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimRight(line, "\r\n"), ":")
		if len(fields) < 6 || fields[2] != want || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if dir := fields[5]; filepath.IsAbs(dir) {
			return filepath.Clean(dir), true
		}
	}
	return "", false
}
