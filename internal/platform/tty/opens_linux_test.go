package tty

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"
)

// Another program that opens a watched terminal is noticed; this process's own writes aren't.
func TestOpensAreNoticed(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	device := fmt.Sprintf("/dev/pts/%d", number)
	opened := func() bool {
		t.Helper()
		at, watched := OpenedAt(device)
		if !watched {
			t.Fatal("the terminal isn't watched")
		}
		return !at.IsZero()
	}
	if _, watched := OpenedAt(device); watched {
		t.Error("a terminal is watched that nobody asked about")
	}
	if err := WatchOpens(device); err != nil {
		t.Fatal(err)
	}
	fd, err := Open(device, unix.O_WRONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if opened() {
		t.Error("this process's own open counts")
	}
	if out, err := exec.Command("sh", "-c", ": >"+device).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !opened() {
		t.Error("another program opened the terminal, and nothing shows it")
	}
	if err := WatchOpens(device); err != nil || !opened() {
		t.Errorf("watching again forgets it (%v)", err)
	}
}
