//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookmux/hookmux/internal/wire/frame"
)

// openMany opens connections to the daemon and writes to each; they stay open
// until done.
func (w *world) openMany(count int, text []byte) (done func()) {
	var mu sync.Mutex
	var open []net.Conn
	var writing sync.WaitGroup
	for range count {
		conn, err := net.DialTimeout("unix", w.Dirs.Socket(), time.Second)
		if err != nil {
			break // a daemon need not let everybody in
		}
		mu.Lock()
		open = append(open, conn)
		mu.Unlock()
		writing.Go(func() { _, _ = conn.Write(text) }) // the daemon may hang up meanwhile
	}
	return func() {
		for _, conn := range open {
			conn.Close()
		}
		writing.Wait()
	}
}

func sendHalves(w *world) error {
	header := frame.AppendRequestHeader(nil, &frame.Request{
		ID: frame.NewID(), Agent: "claude", Event: "PreToolUse", Payload: make([]byte, 16<<20-1),
	})
	done := w.openMany(60, append(header, make([]byte, 4<<20)...))
	w.waitCalm()
	done()
	return nil
}

func openSilent(w *world) error {
	done := w.openMany(500, nil)
	w.waitCalm()
	done()
	return nil
}

func sendRubbish(w *world) error {
	texts := []string{
		"rubbish\n", strings.Repeat("x", 1<<20), `{"v":1,`, `{"v":1,"payload":99999999999}` + "\n", "\x00\xff\n", "{}\n",
		`{"jsonrpc":"2.0","id":1,"method":"events.subscribe"}` + "\n", strings.Repeat("[", 1<<16) + "\n",
	}
	var done []func()
	for _, text := range texts {
		done = append(done, w.openMany(20, []byte(text)))
	}
	w.waitCalm()
	for _, closeAll := range done {
		closeAll()
	}
	return nil
}

// callFromOtherVersions calls as clients of earlier and later versions do. A
// newer client makes the daemon look whether it should make room for a newer one.
func callFromOtherVersions(w *world) error {
	for _, version := range []string{"0.0.1", "999.0.0", "", "no version"} {
		call := w.load.choose(w.recording.reports, callPrefix)
		if w.sendFrame(call, version) {
			w.acknowledged.noteAcknowledged(call.id)
		}
	}
	// The protocol before versions and environments were sent.
	call := w.load.choose(w.recording.reports, callPrefix)
	header := fmt.Sprintf(`{"v":1,"id":%q,"agent":%q,"event":%q,"len":%d}`, call.id, call.agent, call.event,
		len(call.payload))
	conn, err := net.DialTimeout("unix", w.Dirs.Socket(), time.Second)
	if err != nil {
		return nil // no daemon right now
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	_, _ = io.WriteString(conn, header+"\n"+string(call.payload))
	return nil
}

// limitDaemon lowers a limit of the daemon's process, as any program of the user may.
func limitDaemon(w *world) error {
	pid := w.daemonProcess()
	if pid == 0 {
		return nil
	}
	limits := []struct {
		name     string
		resource int
		value    uint64
	}{
		{"no more descriptors", unix.RLIMIT_NOFILE, 8}, {"no file may grow", unix.RLIMIT_FSIZE, 0},
		{"no more memory", unix.RLIMIT_AS, 1 << 20}, {"no more processes", unix.RLIMIT_NPROC, 0},
		{"no more time", unix.RLIMIT_CPU, 1},
	}
	l := limits[w.random.IntN(len(limits))]
	w.describeFault(l.name)
	return ignoreGone(unix.Prlimit(pid, l.resource, &unix.Rlimit{Cur: l.value, Max: l.value}, nil))
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// startLimited kills the daemon and starts another under limits in which it could
// not do its work.
func startLimited(w *world) error {
	limit := []string{"-n 32", "-v 200000", "-f 4", "-n 12"}[w.random.IntN(4)]
	w.describeFault("ulimit " + limit)
	w.signalDaemon(syscall.SIGKILL)
	cmd := exec.Command("/bin/sh", "-c", "ulimit "+limit+" && exec "+w.Program("hookmux")+" daemon")
	cmd.Env = w.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // whatever it comes to
	w.waitCalm()
	return nil
}
