//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/wire/frame"
)

// client measures what one hook call costs the agent that makes it.
func (b *bench) client(ctx context.Context) error {
	observed, err := b.stretched("Notification.idle_prompt", "message")
	if err != nil {
		return err
	}
	decided, err := b.stretched("PreToolUse.Bash", "tool_input", "description")
	if err != nil {
		return err
	}
	echo, err := b.startEcho("client-echo")
	if err != nil {
		return err
	}
	defer echo.stop()
	p, err := b.startDaemon(ctx, "client", nil)
	if err != nil {
		return err
	}
	defer p.stop()

	observing, deciding := p.hook(b, "Notification", observed), p.hook(b, "PreToolUse", decided)
	empty, ref := *deciding, *deciding
	empty.args = []string{filepath.Join(b.tools, "empty")}
	ref.args = []string{filepath.Join(b.tools, "ref"), echo.socket}
	ref.check = func(stdout []byte) error {
		if !bytes.Equal(stdout, decided) {
			return fmt.Errorf("the echo is %q", stdout)
		}
		return nil
	}
	results, err := interleave(ctx, b.rounds, []contender{
		{"empty", empty.run}, {"ref", ref.run}, {"observing", observing.run}, {"deciding", deciding.run},
	})
	if err != nil {
		return err
	}
	if err := p.heard(ctx, 2*(warmUp+b.rounds)); err != nil {
		return err
	}
	base, plain, names := results[0], results[1], []string{"observing", "deciding"}
	b.table.note("client: empty program", median(wallTimes(base)), "µs")
	b.table.note("client: reference client", median(wallTimes(plain)), "µs")
	for i, bar := range []float64{1.15, 1.25} {
		b.table.atMost("client: "+names[i]+" ÷ reference", median(ratios(wallTimes(results[2+i]),
			wallTimes(plain))), bar, "×")
	}
	b.table.note("client: cpu of reference ÷ empty", median(ratios(cpus(plain), cpus(base))), "×")
	for i := range names {
		b.table.atMost("client: cpu "+names[i]+" ÷ empty", median(ratios(cpus(results[2+i]), cpus(base))), 1.5, "×")
	}
	if err := b.manyClients(ctx, &ref, deciding); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(b.bin, "hookmux-hook"))
	if err != nil {
		return err
	}
	b.table.atMost("client: size on disk", float64(info.Size())/1e6, 2.7, "MB")
	resident, err := b.clientResident(decided)
	if err != nil {
		return err
	}
	b.table.atMost("client: resident", float64(resident)/1e6, 4, "MB")
	return nil
}

const (
	callsAtOnce  = 200
	burstsOfEach = 10
)

// manyClients measures how long it takes until calls that begin together have all
// been answered.
func (b *bench) manyClients(ctx context.Context, ref, deciding *program) error {
	burst := func(p *program) (float64, error) {
		began := time.Now()
		var calls sync.WaitGroup
		failures := make([]error, callsAtOnce)
		for i := range failures {
			calls.Go(func() { _, failures[i] = p.run() })
		}
		calls.Wait()
		return micros(time.Since(began)), errors.Join(failures...)
	}
	var plain, hooks []float64
	for range burstsOfEach {
		if err := ctx.Err(); err != nil {
			return err
		}
		one, err := burst(ref)
		if err != nil {
			return err
		}
		other, err := burst(deciding)
		if err != nil {
			return err
		}
		plain, hooks = append(plain, one), append(hooks, other)
		time.Sleep(10 * breather)
	}
	b.table.note(fmt.Sprintf("client: %d reference clients at once", callsAtOnce), median(plain)/1e3, "ms")
	b.table.atMost(fmt.Sprintf("client: %d deciding at once ÷ reference", callsAtOnce), median(ratios(hooks, plain)),
		1.4, "×")
	return nil
}

// clientResident returns the most memory that the client had resident. What wait(2) reports is
// useless on Linux: it includes the parent's pages, which the child has between fork and exec. So a
// daemon of our own lets the client wait for its answer, once it has sent everything, and looks at
// it there.
func (b *bench) clientResident(payload []byte) (int64, error) {
	p, err := b.newPlace("resident", nil)
	if err != nil {
		return 0, err
	}
	if err := p.dirs.MakeRuntime(); err != nil {
		return 0, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.dirs.Socket(), Net: "unix"})
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	hook := p.hook(b, "PreToolUse", payload)
	in, inbox, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if _, err := inbox.Write(payload); err != nil {
		return 0, err
	}
	inbox.Close()
	process, err := os.StartProcess(hook.args[0], hook.args,
		&os.ProcAttr{Dir: hook.dir, Env: hook.env, Files: []*os.File{in, os.Stderr, os.Stderr}})
	if err != nil {
		return 0, err
	}
	most, err := lookAtCaller(listener, process.Pid)
	if err != nil {
		_ = process.Kill()
	}
	state, waitErr := process.Wait()
	if err != nil {
		return 0, err
	}
	if waitErr != nil {
		return 0, fmt.Errorf("hookmux-hook: %w", waitErr)
	}
	if !state.Success() {
		return 0, fmt.Errorf("hookmux-hook: %v", state)
	}
	if runtime.GOOS != "linux" {
		if used, ok := state.SysUsage().(*syscall.Rusage); ok {
			most = used.Maxrss // bytes on macOS
		}
	}
	return most, nil
}

func lookAtCaller(listener *net.UnixListener, pid int) (int64, error) {
	if err := listener.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return 0, err
	}
	conn, err := listener.AcceptUnix()
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	request, err := frame.ReadRequest(bufio.NewReader(conn), nil, frame.Limits{})
	if err != nil {
		return 0, err
	}
	var most int64
	if runtime.GOOS == "linux" {
		if most, err = residentNow(pid); err != nil {
			return 0, err
		}
		peak, err := kilobytesIn(fmt.Sprintf("/proc/%d/status", pid), "VmHWM:")
		if err != nil {
			return 0, err
		}
		most = max(most, peak)
	}
	_, err = conn.Write(frame.AppendReply(nil, &frame.Reply{ID: request.ID}))
	return most, err
}
