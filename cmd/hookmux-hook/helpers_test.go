//go:build unix

package main

import (
	"bufio"
	"bytes"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// An event of a real agent that is waited for, and one that only observes.
const (
	agent    = "claude"
	deciding = "PreToolUse"
	observed = "Notification"
)

// world is a user's surroundings for one test.
type world struct {
	t    *testing.T
	dirs paths.Dirs
	env  []string
}

func newWorld(t *testing.T, more ...string) *world {
	t.Helper()
	home := sandbox.NewForTest(t, sandbox.Options{})
	env := slices.Concat(home.Env, []string{"PATH=" + home.Bin}, more)
	w := &world{t: t, env: env}
	var err error
	if w.dirs, err = paths.Find(paths.GetenvLast(env)); err != nil {
		t.Fatal(err)
	}
	if err := w.dirs.MakeRuntime(); err != nil {
		t.Fatal(err)
	}
	return w
}

type result struct {
	stdout, stderr string
	exit           int
}

func (w *world) run(stdin string, args ...string) result {
	var stdout, stderr bytes.Buffer
	in := strings.NewReader(stdin)
	exit := runClient(args, w.env, in, &stdout, &stderr)
	if in.Len() > 0 {
		w.t.Errorf("%d bytes of stdin were not read", in.Len())
	}
	return result{stdout.String(), stderr.String(), exit}
}

// spooled gives what lies in the spool.
func (w *world) spooled() []spool.Record {
	w.t.Helper()
	files, err := spool.Sweep(w.dirs.Spool())
	if err != nil {
		w.t.Fatal(err)
	}
	var all []spool.Record
	for _, f := range files {
		recs, skipped, err := spool.ReadFile(f.Path)
		if err != nil || skipped > 0 {
			w.t.Fatalf("skipped = %v, error %v; want no error and skipped = 0", skipped, err)
		}
		all = append(all, recs...)
	}
	return all
}

// daemon is a daemon that does what a test wants it to.
type daemon struct {
	mu   sync.Mutex
	seen []frame.Request
}

func (h *daemon) requests() []frame.Request {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]frame.Request(nil), h.seen...)
}

// listen starts a daemon that reads a request and gives it to answer, together
// with its number; the connection ends when answer returns.
func (w *world) listen(answer func(conn net.Conn, r frame.Request, n int)) *daemon {
	w.t.Helper()
	h := &daemon{}
	stop, err := sandbox.ServeSocket(w.dirs.Socket(), func(conn net.Conn) {
		r, err := frame.ReadRequest(bufio.NewReader(conn), nil, frame.Standard)
		if err != nil {
			return
		}
		h.mu.Lock()
		h.seen = append(h.seen, r)
		n := len(h.seen)
		h.mu.Unlock()
		answer(conn, r, n)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(stop)
	return h
}

func reply(conn net.Conn, r frame.Reply) { _, _ = conn.Write(frame.AppendReply(nil, &r)) }

// untilClosed waits for the client to go away.
func untilClosed(conn net.Conn) { _, _ = conn.Read(make([]byte, 1)) }

func within(t *testing.T, limit time.Duration, what string, do func()) {
	t.Helper()
	start := time.Now()
	do()
	if took := time.Since(start); took > limit {
		t.Errorf("%s took %v; want took <= limit", what, took)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
