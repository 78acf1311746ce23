package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/audit"
	"github.com/hookmux/hookmux/internal/wire"
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
	used := func(call string) string {
		return fmt.Sprintf(`{"type":"assistant","sessionId":"s","requestId":%[1]q,"message":{"id":%[1]q,"model":"claude-opus-4-6",`+
			`"usage":{"input_tokens":1000,"output_tokens":0}}}`+"\n", call)
	}
	record := filepath.Join(w.Dirs.Home, ".claude/projects/p/s.jsonl")
	w.write(record, used("a"))
	w.up()
	if report := w.usage(); report.Problem != "" {
		t.Fatalf("nothing is counted before the disk is full: %s", report.Problem)
	}
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
	w.write(record, used("a")+strings.Repeat(used("b"), 10))
	w.eventually("it is shown", func() bool { return len(w.info().Problems) > 0 })
	w.eventually("import and search stopped, and said so", func() bool {
		log, _ := os.ReadFile(w.Dirs.Log())
		return strings.Contains(string(log), "what agents use isn't counted right now") &&
			strings.Contains(string(log), "events aren't added to the search index, because the disk is full")
	})
	w.eventually("usage says that nothing is counted", func() bool { return w.usage().Problem != "" })
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
	w.eventually("usage is counted again", func() bool { return w.usage().Problem == "" })
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

// usage asks what agents used. An answer must come, whatever the disk does; without one
// the daemon's stacks go into its log. What's in it is what an agent may see: this process
// calls hooks.
func (w *world) usage() (report wire.UsageReport) {
	w.t.Helper()
	c := client.Client{Socket: w.Dirs.Socket(), Timeout: patience}
	if err := c.Call(context.Background(), wire.MethodUsage, wire.UsageParams{}, &report); err != nil {
		_ = syscall.Kill(w.info().PID, syscall.SIGQUIT)
		w.t.Fatalf("usage isn't answered: %v", err)
	}
	return report
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
