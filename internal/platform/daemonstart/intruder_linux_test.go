package daemonstart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/await"
)

func TestHoldersAreReadFromTheKernelsList(t *testing.T) {
	const list = "1: POSIX  ADVISORY  WRITE 11 00:2f:5 0 EOF\n2: FLOCK  ADVISORY  WRITE 22 00:2f:5 0 EOF\n" +
		"2: -> FLOCK  ADVISORY  WRITE 33 00:2f:6 0 EOF\n3: FLOCK  ADVISORY  READ  44 103:02:7 0 EOF\nrubbish\n\n4: " +
		"FLOCK ADVISORY WRITE 0 00:2f:8 0 EOF\n"
	device := func(major, minor uint64) uint64 { return major<<8 | minor }
	for _, c := range []struct {
		device, inode uint64
		want          int
	}{{device(0, 0x2f), 5, 22}, {device(0, 0x2f), 6, 0}, {device(0x103, 2), 7, 44}, {device(0, 0x2f), 8, 0},
		{device(1, 1), 5, 0}} {
		if got := holderIn(list, c.device, c.inode); got != c.want {
			t.Errorf("device %x, file %d: held by %d, want %d", c.device, c.inode, got, c.want)
		}
	}
}

// What stands in a lock's place is set aside: it keeps no daemon from starting.
func TestLockThatIsNoFile(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"folder": func(path string) error { return os.MkdirAll(filepath.Join(path, "inner"), 0o700) },
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link":   func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		for _, lock := range []string{"daemon.lock", "start.lock"} {
			d := place(t)
			if err := d.MakeRuntime(); err != nil {
				t.Fatal(err)
			}
			if err := put(filepath.Join(d.Runtime, lock)); err != nil {
				t.Fatal(err)
			}
			if err := Ensure(d, self(t), options(d), soon(), reach(d)); err != nil {
				t.Errorf("a %s for %s: %v", name, lock, err)
			}
		}
	}
}

// A pipe where daemons and their deaths are noted holds no start up.
func TestPipesForNotes(t *testing.T) {
	d := place(t)
	if err := d.MakeRuntime(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{d.DeathsFile(), d.AliveFile()} {
		if err := syscall.Mkfifo(file, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	go func() { done <- Ensure(d, self(t), options(d), soon(), reach(d)) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the start hangs")
	}
}

// The kernel names whoever took a lock. A hook that started a daemon is gone long
// before the daemon is up, and the daemon has the lock then.
func TestLockOfAStarterThatIsGone(t *testing.T) {
	d := place(t)
	if err := d.MakeRuntime(); err != nil {
		t.Fatal(err)
	}
	gone := exec.Command("/bin/true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	daemon := filepath.Join(t.TempDir(), "hookmux")
	if err := copyFile("/bin/sleep", daemon); err != nil {
		t.Fatal(err)
	}
	starting := exec.Command(daemon, "60")
	if err := starting.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = starting.Process.Kill(); _ = starting.Wait() })
	await.Until(t, "the program has its name", func() bool { return programName(starting.Process.Pid) == "hookmux" })
	for text, want := range map[string]bool{
		"": false, startingMark: false, startingMark + strconv.Itoa(starting.Process.Pid): true,
		strconv.Itoa(starting.Process.Pid): true, startingMark + strconv.Itoa(os.Getpid()): false,
		startingMark + strconv.Itoa(gone.Process.Pid): false,
	} {
		if err := os.WriteFile(d.AliveFile(), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := belongsToDaemon(gone.Process.Pid, d); got != want {
			t.Errorf("mark %q: the lock counts as a daemon's: %v, want %v", text, got, want)
		}
	}
}

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o700)
}

// A daemon in another namespace, which no client believes, does not keep the real one from
// starting.
func TestLockOfADaemonInAnotherNamespace(t *testing.T) {
	for _, program := range []string{"flock", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("needs " + program)
		}
	}
	flock, _ := exec.LookPath("flock")
	text, err := os.ReadFile(flock)
	if err != nil {
		t.Skip(err)
	}
	d := place(t)
	daemon := filepath.Join(t.TempDir(), "hookmux")
	if err := os.WriteFile(daemon, text, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command []string
		daemon  bool
	}{
		{[]string{daemon, d.LifeLock(), "cat"}, true}, {[]string{"unshare", "-Ur", daemon, d.LifeLock(), "cat"}, false},
	} {
		cmd := exec.Command(c.command[0], c.command[1:]...)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = in.Write([]byte("x\n")) // one that did not come up says nothing
		n, _ := out.Read(make([]byte, 2))
		holder, _ := lockHolder(d.LifeLock())
		if n > 0 && holder != 0 && belongsToDaemon(holder, d) != c.daemon {
			t.Errorf("%q is taken for a daemon: %v, want %v", c.command, !c.daemon, c.daemon)
		}
		_ = in.Close()
		_ = cmd.Wait() // where this user may make no namespaces it fails
	}
}
