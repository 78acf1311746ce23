//go:build !windows

package userfile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if file := os.Getenv("EDIT_TEST_COUNT_IN"); file != "" {
		for range 10 {
			if err := count(file); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func count(file string) error {
	return WriteFile(file, func(old []byte) ([]byte, error) {
		n, _ := strconv.Atoi(string(old))
		return []byte(strconv.Itoa(n + 1)), nil
	})
}

func TestConcurrentWritersLoseNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "n")
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for range 10 {
				if err := count(file); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "EDIT_TEST_COUNT_IN="+file)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: cmd.CombinedOutput() = %s, want no error", err, out)
			}
		})
	}
	wg.Wait()
	if got, _ := os.ReadFile(file); string(got) != "120" {
		t.Errorf("%s of 120 writes survived", got)
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("left behind: %v; want len(left) == 1", left)
	}
}

func replaceBy(text string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(text), nil }
}

func TestWriteFileKeepsLinkAndMode(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "dots", "real.json")
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink("dots/real.json", link); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(link, replaceBy("new")); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	info, _ := os.Stat(target)
	if got, _ := os.ReadFile(target); string(got) != "new" || info.Mode().Perm() != 0o640 {
		t.Errorf(`got %s, info.Mode() = %v; want string(got) = "new" and info.Mode().Perm() = 0o640`, got, info.Mode())
	}

	dangling := filepath.Join(dir, "dangling")
	os.Symlink("dots/made.json", dangling)
	if err := WriteFile(dangling, replaceBy("x")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "dots", "made.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("made through a link: %v %v", info, err)
	}

	circle := filepath.Join(dir, "circle")
	os.Symlink("circle", circle)
	if err := WriteFile(circle, replaceBy("x")); err == nil {
		t.Error("a circle of links was written to")
	}
}

func TestWriteFileKeepsOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	file := filepath.Join(t.TempDir(), "f")
	os.WriteFile(file, []byte("a"), 0o600)
	if err := os.Chown(file, 12345, 12346); err != nil {
		t.Skip("this place has no other owners:", err)
	}
	if err := WriteFile(file, replaceBy("b")); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(file)
	if st := info.Sys().(*syscall.Stat_t); st.Uid != 12345 || st.Gid != 12346 {
		t.Errorf("owner is %d:%d; want st.Uid == 12345 and st.Gid == 12346", st.Uid, st.Gid)
	}
}

func TestWriteFileLeavesAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "f")
	if err := WriteFile(file, replaceBy("a")); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(file)
	if err := WriteFile(file, replaceBy("a")); err != nil {
		t.Fatal(err)
	}
	after, _ := os.Stat(file)
	if !os.SameFile(before, after) {
		t.Error("an unchanged file was written again")
	}
	oops := errors.New("oops")
	if err := WriteFile(file, func([]byte) ([]byte, error) { return nil, oops }); !errors.Is(err, oops) {
		t.Errorf("error %v, want error %v", err, oops)
	}
	if got, _ := os.ReadFile(file); string(got) != "a" {
		t.Errorf(`got %s, want "a"`, got)
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 1 {
		t.Errorf("left behind: %v; want len(left) == 1", left)
	}
}

func TestReadFileRefusesPipesAndGiants(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatalf("no pipe: %v", err)
	}
	if _, err := ReadFile(pipe, 10); err == nil || !strings.Contains(err.Error(), "regular") {
		t.Errorf(`pipe: %v; want an error and "regular" in err.Error()`, err)
	}
	big := filepath.Join(dir, "big")
	os.WriteFile(big, make([]byte, 11), 0o600)
	if _, err := ReadFile(big, 10); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf(`big: %v; want an error and "larger" in err.Error()`, err)
	}
}

func TestSource(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	s := Source{Path: file, Limit: 10}
	expect := func(want string, wantChanged bool) {
		t.Helper()
		data, changed, err := s.Read()
		if err != nil || string(data) != want || changed != wantChanged {
			t.Errorf("%q %v %v; want %q %v", data, changed, err, want, wantChanged)
		}
	}
	expect("", true)
	expect("", false)
	os.WriteFile(file, []byte("aa"), 0o600)
	expect("aa", true)
	os.WriteFile(file, []byte("bb"), 0o600) // same size, same moment
	expect("bb", true)
	old := time.Now().Add(-time.Hour)
	os.Chtimes(file, old, old)
	expect("bb", false)
	expect("bb", false)
	os.WriteFile(file, make([]byte, 11), 0o600)
	if _, changed, err := s.Read(); err == nil || !changed {
		t.Error("too large a file was read")
	}
	if _, changed, err := s.Read(); err == nil || changed {
		t.Error("the same error counts as new")
	}
	os.Remove(file)
	expect("", true)
}
