//go:build unix

package files

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestReadTakesRegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("good"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("large"), bytes.Repeat([]byte("x"), 101), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": at("good"), "zero": "/dev/zero", "loop": at("loop"),
		"dangling": at("none")} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(at("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // the path of a socket must be short
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for name, want := range map[string]error{
		"good": nil, "large": ErrTooLarge, "link": ErrNotRegular, "zero": ErrNotRegular, "loop": ErrNotRegular,
		"dangling": ErrNotRegular, "pipe": ErrNotRegular, "folder": ErrNotRegular, "socket": ErrNotRegular, "missing": os.ErrNotExist,
	} {
		got, err := Read(at(name), 100)
		if !errors.Is(err, want) || want == nil && string(got) != "text" {
			t.Errorf("Read(%s) = %q, %v; want error %v", name, got, err, want)
		}
		if unfit := want != nil && !errors.Is(want, os.ErrNotExist); IsNotPlainFile(err) != unfit {
			t.Errorf("IsNotPlainFile(%v) = %v, want %v", err, IsNotPlainFile(err), unfit)
		}
		f, err := Open(at(name))
		if name == "large" {
			want = nil // Open has no limit
		}
		if !errors.Is(err, want) {
			t.Errorf("Open(%s) = %v, want %v", name, err, want)
		}
		if err == nil {
			f.Close()
		}
	}
}

func TestReadTakesExactlyTheLimit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	for _, size := range []int{0, 1, 99, 100} {
		if err := os.WriteFile(file, bytes.Repeat([]byte("y"), size), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(file, 100); err != nil || len(got) != size {
			t.Errorf("a file of %d bytes: %d bytes, %v", size, len(got), err)
		}
	}
	// Files of the kernel say that they are empty.
	if got, err := Read("/proc/self/status", 1<<20); err == nil && len(got) == 0 {
		t.Error("/proc/self/status was read as empty")
	}
}

func TestSetAside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	aside, err := SetAside(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", file, err)
	}
	if info, err := os.Lstat(aside); err != nil || !info.IsDir() {
		t.Errorf("%s: info = %v, error %v; want no error and info.IsDir()", aside, info, err)
	}
	if _, err := SetAside(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("setting nothing aside: %v", err)
	}
}

func TestSweepFolderSetsMisfitsAside(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, folder := range []string{"intake", "deep/deeper"} {
		if err := os.MkdirAll(at(folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"journal.db", "intake/intake-1.log"} {
		if err := os.WriteFile(at(file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bad := map[string]bool{"zero": true, "intake/dangling": true, "pipe": true, "intake/intake-98.log": true}
	for name, target := range map[string]string{"zero": "/dev/zero", "intake/dangling": at("none"), "moved": elsewhere,
		"deep/deeper/link": "/dev/zero"} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"pipe", "intake/intake-98.log"} {
		if err := syscall.Mkfifo(at(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := SweepFolder(dir)
	if len(found) != len(bad) {
		t.Errorf("set aside %v, want %v", found, bad)
	}
	for _, m := range found {
		name, err := filepath.Rel(dir, m.Path)
		if err != nil || m.Err != nil || !bad[name] {
			t.Errorf("m = %+v, error %v; want no error, no error and bad[name]", m, err)
		}
		if _, err := os.Lstat(m.Path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", m.Path, err)
		}
		if _, err := os.Lstat(m.Aside); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"journal.db", "intake/intake-1.log", "moved", "deep/deeper/link"} {
		if _, err := os.Lstat(at(name)); err != nil {
			t.Errorf("%s should have stayed: %v", name, err)
		}
	}
	if again := SweepFolder(dir); len(again) > 0 {
		t.Errorf("set aside once more: %v", again)
	}
	if none := SweepFolder(at("none")); len(none) > 0 {
		t.Errorf("a folder that is not there holds %v", none)
	}
}
