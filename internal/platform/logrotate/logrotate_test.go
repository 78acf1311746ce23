//go:build unix

package logrotate

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("DAEMONLOG_TEST_CRASH"); path != "" {
		w := New(os.Stderr, path, 1000)
		for n := range 100 {
			fmt.Fprintf(w, "line %d of a daemon that will crash\n", n)
		}
		fmt.Println("said on standard output")
		panic("the crash")
	}
	os.Exit(m.Run())
}

func open(t *testing.T) (*os.File, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "daemon.log")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f, path
}

func text(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestALongLogIsSetAside(t *testing.T) {
	f, path := open(t)
	w := New(f, path, 1000)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for n := range 100 {
				fmt.Fprintf(w, "line %d.%03d\n", g, n)
			}
		})
	}
	all.Wait()
	for _, p := range []string{path, path + ".1"} {
		info, err := os.Stat(p)
		if err != nil || info.Size() > 1000 || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: info = %v, error %v; want no error, info.Size() at most 1000, info.Size() other than 0 "+
				"and info.Mode().Perm() = 0o600", p, info, err)
		}
		for line := range strings.Lines(text(t, p)) {
			if len(line) != len("line 0.000\n") {
				t.Errorf("%q is no whole line", line)
			}
		}
	}
	if n := strings.Count(text(t, path+".1")+text(t, path), "\n"); n < 91 {
		t.Errorf("only %d lines are left", n)
	}
}

func TestOtherOutputIsLeftAlone(t *testing.T) {
	f, path := open(t)
	for name, out := range map[string]io.Writer{"buffer": &bytes.Buffer{}, "nil": nil, "another file": f} {
		if got := New(out, path+"-else", 10); got != out {
			t.Errorf(`%s: New(out, path+"-else", 10) = %T, want %v`, name, got, out)
		}
	}
	link := path + "-link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if got := New(f, link, 10); got != io.Writer(f) {
		t.Errorf("through a link: %T", got)
	}
}

// Where the log was deleted, a new one is begun.
func TestDeletedLog(t *testing.T) {
	f, path := open(t)
	w := New(f, path, 20)
	fmt.Fprintln(w, "the first line")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(w, "the second line")
	if got := text(t, path); got != "the second line\n" {
		t.Errorf(`text(t, path) = %q, want "the second line\n"`, got)
	}
	if _, err := os.Stat(path + ".1"); err == nil {
		t.Error("something was set aside")
	}
}

// What cannot be set aside is written on, and no link is followed.
func TestLogThatCannotBeSetAside(t *testing.T) {
	f, path := open(t)
	victim := filepath.Join(t.TempDir(), "victim")
	w := New(f, path, 20)
	if err := os.Mkdir(path+".1", 0o700); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		fmt.Fprintln(w, "one more line")
	}
	if n := strings.Count(text(t, path), "\n"); n != 10 {
		t.Errorf("%d lines, want 10", n)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, path); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := fmt.Fprintln(w, "one more line"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(victim); err == nil {
		t.Error("a link was followed")
	}
}

// What the runtime says at a crash is in the log that counts then.
func TestCrashIsLogged(t *testing.T) {
	f, path := open(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal("the test cannot find itself:", err)
	}
	cmd := exec.Command(self, "-test.run=^$")
	cmd.Env = append(os.Environ(), "DAEMONLOG_TEST_CRASH="+path)
	cmd.Stdout, cmd.Stderr = f, f
	if err := cmd.Run(); err == nil {
		t.Fatal("it did not crash")
	}
	got := text(t, path)
	for _, want := range []string{"line 99 of", "panic: the crash", "said on standard output"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if strings.Contains(got, "line 0 of") {
		t.Error("nothing was set aside")
	}
}
