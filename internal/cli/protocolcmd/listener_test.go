//go:build linux

package protocolcmd

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// Whoever listens on the daemon's socket is believed only if it runs the installed
// program.
func TestAnotherProgramOnTheSocketIsNotBelieved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for program, good := range map[string]bool{"": true, self: true, "/bin/sh": false} {
		if err := checkListener(conn, program); (err == nil) != good {
			t.Errorf("installed program %q: %v, want it to be believed: %v", program, err, good)
		}
	}
}
