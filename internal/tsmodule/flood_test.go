package tsmodule

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
)

// endless is a program's output that does not end by itself.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	e.left -= len(p)
	return copy(p, bytes.Repeat([]byte("y"), len(p))), nil
}

// TestOutputIsBounded: what is kept of a process's output has an end, however
// it is copied.
func TestOutputIsBounded(t *testing.T) {
	var b bounded
	if _, err := io.Copy(&b, &endless{left: 2 * maxOutput}); err != nil || len(b.bytes()) != maxOutput {
		t.Errorf("kept %d bytes, want %d: %v", len(b.bytes()), maxOutput, err)
	}
}

// TestProcessesThatSayTooMuch: a process that says more than a hook can take
// waits, and leaves the hub and the file's other events alone.
func TestProcessesThatSayTooMuch(t *testing.T) {
	s := newStage(t, nil)
	m := s.load("flood.ts", `import { spawn } from "node:child_process";
export default (hooks: any) => hooks.on("tool_call", async (event: any) => {
  if (event.input.command === "ls") return { block: true, reason: "fine" };
  let n = 0;
  const p = spawn("sh", ["-c", "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"]);
  p.stdout.on("data", (d: any) => { n += d.length; });
  await new Promise((r) => setTimeout(r, 300));
  p.kill();
  return { block: true, reason: n > 0 ? "heard" : "nothing" };
});`)
	if d := s.must(m, s.bash("flood")); d.Reason != "heard" {
		t.Errorf("%+v %s", d, s.troubles())
	}
	if d := s.must(m, s.bash("ls")); d.Reason != "fine" {
		t.Errorf("%+v %s", d, s.troubles())
	}
	// Whoever has more to say while much waits, waits.
	o := New2(&fileOwner{m: m, g: &generation{}})
	full := &Machine{waiting: maxWaiting + 1}
	o.engine = full
	told := make(chan struct{})
	go func() {
		_, _ = stream{o, "stdout", func(any) {}}.Write([]byte("more"))
		close(told)
	}()
	select {
	case <-told:
		t.Error("written although much waits")
	case <-time.After(50 * time.Millisecond):
	}
	full.mu.Lock()
	full.waiting = 0
	full.mu.Unlock()
	<-told
	if strings.Contains(s.troubles(), "interrupted") {
		t.Error(s.troubles())
	}
}
