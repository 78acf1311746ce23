//go:build unix

package tshook

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What is no file keeps neither a hook nor the loading of
// hooks waiting.
func TestPipesAndDevices(t *testing.T) {
	s := newHarness(t, nil)
	pipe := filepath.Join(s.dir, "pipe.ts")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal("no pipe: ", err)
	}
	zero := filepath.Join(s.dir, "zero.ts")
	if err := os.Symlink("/dev/zero", zero); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, zero} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		if _, err := s.engine.Load(ctx, Source{Path: path}); err == nil ||
			!strings.Contains(err.Error(), "no regular file") {
			t.Errorf(`%s was loaded: %v; want an error and "no regular file" in err.Error()`, path, err)
		}
		cancel()
	}
	if got := readRecord(pipe); got != nil {
		t.Errorf("a record was read from a pipe: %v", got)
	}
	m := s.load("reads.ts", `import { readFileSync, writeFileSync, copyFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
const code = async (f: () => unknown) => { try { return "said " + String(await f()).length; } catch (e) { return (e as any).code; } };
export default (hooks: any) => hooks.on("tool_call", async () => ({ block: true, reason: [
  await code(() => readFileSync("`+pipe+`", "utf8")), await code(() => readFile("`+pipe+`", "utf8")), await code(() => writeFileSync("`+pipe+`", "x")),
  await code(() => copyFileSync("`+zero+`", "`+pipe+`")), await code(() => readFileSync("/dev/null", "utf8")), await code(() => readFileSync("`+zero+`")),
].join(" ") }));`)
	d, err := s.handle(m, s.bash("ls"))
	if want := "EAGAIN EAGAIN ENXIO EINVAL said 0 ERR_FS_FILE_TOO_LARGE"; err != nil || d.Reason != want {
		t.Errorf("%q %v, want %q", d.Reason, err, want)
	}
}

// An error that reads differently each time is told a few
// times, not for ever.
func TestVaryingErrors(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("varies.ts", `let n = 0; export default (hooks: any) => hooks.on("tool_call", () => { throw new Error("number " + n++); });`)
	for i := range 10 {
		if _, err := s.handle(m, s.bash("ls")); err == nil || !strings.Contains(err.Error(), fmt.Sprint("number ", i)) {
			t.Fatalf(`not refused: %v; want an error and fmt.Sprint("number ", i) in err.Error()`, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.problems); n != perPlace {
		t.Errorf("told %d times, want %d", n, perPlace)
	}
}
