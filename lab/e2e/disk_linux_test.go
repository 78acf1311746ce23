package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hookmux/hookmux/internal/audit"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

func getsid(pid int) (int, error) { return unix.Getsid(pid) }

// A full disk never stops deciding; it is shown, and what was acknowledged
// while there was room is stored once there is some again.
func TestAFullDisk(t *testing.T) {
	w := newWorld(t)
	if err := os.MkdirAll(w.Dirs.State, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", w.Dirs.State, "tmpfs", 0, "size=8m,mode=0700"); err != nil {
		t.Skipf("a small disk cannot be made here: %v", err)
	}
	t.Cleanup(func() {
		w.stop()
		if err := syscall.Unmount(w.Dirs.State, 0); err != nil {
			_ = syscall.Unmount(w.Dirs.State, syscall.MNT_DETACH)
		}
	})
	w.guard("")
	w.up()
	if !w.mustCall(w.Env, "PreToolUse", before("s", "make deploy")).Denies() {
		t.Fatal("it does not guard")
	}
	filler := filepath.Join(w.Dirs.State, "filler")
	fill(t, filler)
	big := strings.Repeat("x", 8<<10)
	for i := range 100 {
		r := frame.Request{ID: fmt.Sprint("full-", i), Agent: "claude", Event: "PreToolUse",
			Payload: []byte(before("s", "make deploy "+big)), Deadline: patience}
		reply, err := w.ask(&r)
		if err != nil || !strings.Contains(string(reply.Stdout), "no deploys today") {
			t.Fatalf(`%d: reply.Stdout = %q, error %v; want no error and "no deploys today" in string(reply.Stdout)`,
				i, reply.Stdout, err)
		}
	}
	w.eventually("it is shown", func() bool { return len(w.info().Problems) > 0 })
	w.eventually("import and search stopped, and said so", func() bool {
		log, _ := os.ReadFile(w.Dirs.Log())
		return strings.Contains(string(log), "what agents use isn't counted right now") &&
			strings.Contains(string(log), "events aren't added to the search index, because the disk is full")
	})
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	w.eventually("it is mended", func() bool {
		r := frame.Request{ID: "after", Agent: "claude", Event: "Notification", Payload: []byte(note("after"))}
		if err := w.send(&r); err != nil {
			t.Fatal(err)
		}
		for _, p := range w.info().Problems {
			if p.Key == "journal" || p.Key == "intake" || p.Key == "audit" || p.Key == "search" {
				return false
			}
		}
		return true
	})
	w.settle()
	trail, err := audit.Verify(w.Dirs, nil)
	if err != nil || trail.Problem != nil {
		t.Errorf("the audit trail doesn't fit: %v, error %v", trail.Problem, err)
	}
	missed := int64(0)
	for _, gap := range trail.Gaps {
		missed += gap.Missed
	}
	if missed+trail.Records < 100 {
		t.Errorf("the trail has %d records and says that %d are missing; want those of 100 decisions", trail.Records, missed)
	}
	ids, _ := w.stored()
	for id, n := range ids {
		if n != 1 {
			t.Errorf("%s is stored %d times", id, n)
		}
	}
	if ids["after"] != 1 || len(ids) < 80 {
		t.Errorf("%d events are stored", len(ids))
	}
}

func fill(t *testing.T, file string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for {
		if _, err := f.Write(block); err != nil {
			return
		}
	}
}
