package see

import (
	"os/exec"
	"strings"
	"testing"
)

// A window in which ssh fails shows why until you press Enter; one you left closes.
func TestWindowStaysOpenWhereSSHFails(t *testing.T) {
	for _, c := range []struct{ script, typed, want string }{
		{"echo 'no route to host'; exit 255", "\n", "no route to host\n\nPress Enter to close this window."},
		{"echo '[detached]'", "", "[detached]\n"},
	} {
		cmd := exec.Command("sh", "-c", windowCommand([]string{"sh", "-c", c.script}))
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Write([]byte(c.typed)); err != nil {
			t.Fatal(err)
		}
		// Nothing else is typed and stdin stays open: a window that waits for more never ends.
		if err := cmd.Wait(); err != nil || out.String() != c.want {
			t.Errorf("%q shows %q (%v), want %q", c.script, out.String(), err, c.want)
		}
	}
}
