package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

const (
	viewSessions = 100
	viewRate     = 500 // events each second
	viewLoad     = 20 * time.Second
	viewIdle     = 60 * time.Second
	viewKeys     = 150
	// viewSettle is longer than a request must have been shown before a key is accepted.
	viewSettle = 550 * time.Millisecond
	// viewTold is longer than the view takes to be notified of a request.
	viewTold = 250 * time.Millisecond
	// frameGap is the least time between two frames: what comes sooner belongs
	// to the same one.
	frameGap = 5 * time.Millisecond
)

// view measures the live view in a terminal: its cpu, frames and memory while a
// hundred sessions work and while nothing happens, how long a frame takes, and how
// long it takes from a key to the hook that waits for it.
func (b *bench) view(ctx context.Context) error {
	for name, pkg := range map[string]string{"inboxdaemon": "./lab/bench/inboxdaemon", "viewer": "./lab/bench/viewer"} {
		if err := b.build(ctx, name, pkg); err != nil {
			return err
		}
	}
	p, err := b.startDaemonProgram(ctx, "view", b.tools+"/inboxdaemon", nil)
	if err != nil {
		return err
	}
	defer p.stop()
	l, err := b.newLoad(ctx, p)
	if err != nil {
		return err
	}
	work := &oneSession{l: l, p: p}
	if err := work.fill(viewSessions); err != nil {
		return err
	}
	if err := p.listed(ctx, viewSessions); err != nil {
		return err
	}
	if err := b.viewFrames(ctx, p, work); err != nil {
		return err
	}
	up, err := openTerminal(p, filepath.Join(b.bin, "hookmux"), "up")
	if err != nil {
		return err
	}
	defer up.stop()
	if err := up.awaits(ctx, "running"); err != nil {
		return err
	}
	if err := b.viewUnderLoad(ctx, up, work); err != nil {
		return err
	}
	if err := b.viewAtRest(ctx, up); err != nil {
		return err
	}
	return b.viewKey(ctx, p, up)
}

// viewFrames measures how long a frame takes.
func (b *bench) viewFrames(ctx context.Context, p *place, work *oneSession) error {
	file := filepath.Join(p.dir, "frames.json")
	viewer, err := openTerminal(p, b.tools+"/viewer", p.dirs.Socket(), file)
	if err != nil {
		return err
	}
	defer viewer.stop()
	if err := viewer.awaits(ctx, "running"); err != nil {
		return err
	}
	if _, err := work.keepBusy(ctx, viewLoad); err != nil {
		return err
	}
	if err := viewer.stop(); err != nil {
		return err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var took []float64
	if err := json.Unmarshal(text, &took); err != nil {
		return err
	}
	if len(took) < 50 {
		return fmt.Errorf("%d frames were measured, expected 50 and more", len(took))
	}
	b.table.note("view: cpu of a frame, p50", percentile(took, 50)/1e3, "ms")
	b.table.atMost("view: cpu of a frame, p95", percentile(took, 95)/1e3, 3, "ms")
	return nil
}

func (b *bench) viewUnderLoad(ctx context.Context, up *terminal, work *oneSession) error {
	before, _, err := usage(up.pid())
	if err != nil {
		return err
	}
	frames, began := up.frames(), time.Now()
	rate, err := work.keepBusy(ctx, viewLoad)
	if err != nil {
		return err
	}
	after, resident, err := usage(up.pid())
	if err != nil {
		return err
	}
	took := time.Since(began).Seconds()
	b.table.atLeast("view: events of 100 sessions", rate, 0.95*viewRate, "/s")
	b.table.atMost("view: cpu under that load", 100*(after-before).Seconds()/took, 5, "%")
	b.table.atMost("view: frames under that load", float64(up.frames()-frames)/took, 10, "/s")
	b.table.atMost("view: memory", float64(resident)/1e6, 60, "MB")
	return nil
}

func (b *bench) viewAtRest(ctx context.Context, up *terminal) error {
	time.Sleep(3 * time.Second) // what the load left to draw is not this one's
	before, _, err := usage(up.pid())
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(viewIdle):
	}
	after, _, err := usage(up.pid())
	if err != nil {
		return err
	}
	b.table.atMost("view: cpu while nothing happens", 100*(after-before).Seconds()/viewIdle.Seconds(), 0.2, "%")
	return nil
}

// viewKey measures from a key to the hook that waits, against a bare round trip.
func (b *bench) viewKey(ctx context.Context, p *place, up *terminal) error {
	echo, err := b.startEcho("view-echo")
	if err != nil {
		return err
	}
	defer echo.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ids, ready := make(chan received, 1), make(chan error, 2)
	go func() {
		ready <- p.client.Inbox(ctx, func(n client.InboxNote) error {
			switch n.Method {
			case wire.NoteInboxReady:
				ready <- nil
			case wire.NoteInboxReceived:
				ids <- received{n.Item.EventID, n.Item.ID, n.Item.SHA256}
			}
			return nil
		})
	}()
	if err := <-ready; err != nil {
		return err
	}
	f := &inboxLoad{p: p, ids: ids, open: map[string]*waitingHook{}}
	var keys, trips []float64
	for i := range viewKeys {
		if err := f.ask(); err != nil {
			return err
		}
		if err := f.registered(ctx, 1); err != nil {
			return err
		}
		time.Sleep(viewTold)
		if err := up.press("\x1b[H"); err != nil { // Home: requests are at the top
			return err
		}
		time.Sleep(viewSettle)
		trip, err := roundTrip(echo.socket)
		if err != nil {
			return err
		}
		took, err := f.answerByKey(up)
		if err != nil {
			return err
		}
		if i >= viewKeys/20 { // the first ones warm up
			trips, keys = append(trips, micros(trip)), append(keys, micros(took))
		}
	}
	b.table.note("view: bare round trip, p50", percentile(trips, 50), "µs")
	b.table.note("view: key → waiting hook, p50", percentile(keys, 50), "µs")
	b.table.note("view: bare round trip, p99", percentile(trips, 99), "µs")
	b.table.note("view: key → waiting hook, p99", percentile(keys, 99), "µs")
	b.table.note("view: key ÷ round trip, p50", percentile(keys, 50)/percentile(trips, 50), "×")
	b.table.atMost("view: key ÷ round trip, p99", percentile(keys, 99)/percentile(trips, 99), 10, "×")
	return nil
}

// answerByKey presses the key of a yes and measures until the oldest hook receives it.
func (f *inboxLoad) answerByKey(up *terminal) (time.Duration, error) {
	h := f.ready[0]
	f.ready = f.ready[1:]
	defer h.conn.Close()
	if err := h.conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := up.press("a"); err != nil {
		return 0, err
	}
	if _, err := frame.ReadReply(bufio.NewReader(h.conn), frame.Standard); err != nil {
		return 0, fmt.Errorf("the key brought no answer: %w; the view wrote last:\n%s", err, up.tail())
	}
	return time.Since(began), nil
}

// keepBusy lets every session make calls for a while, at viewRate per second, and returns the rate
// that was reached.
func (o *oneSession) keepBusy(ctx context.Context, span time.Duration) (rate float64, err error) {
	w := worker{target: toDaemon(o.p), answer: make([]byte, 64<<10)}
	began := time.Now()
	n := 0
	for ; time.Since(began) < span && ctx.Err() == nil; n++ {
		time.Sleep(time.Until(began.Add(time.Duration(n) * time.Second / viewRate)))
		call := n / viewSessions
		tool := map[string]any{"tool_name": "Bash", "tool_use_id": fmt.Sprint("v", began.Unix(), call/2),
			"tool_input": map[string]any{"command": fmt.Sprint("go test ./pkg", call/2)}}
		event := "PreToolUse"
		if call%2 == 1 {
			event = "PostToolUse"
			tool["tool_response"] = map[string]any{"stdout": "ok"}
		}
		if err := o.call(&w, event, sessionName(uint64(n%viewSessions)), tool); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(began).Seconds(), ctx.Err()
}

// terminal is a program in a terminal of its own.
type terminal struct {
	cmd    *exec.Cmd
	master *os.File

	mu    sync.Mutex
	wrote bytes.Buffer
	count int // frames
	last  time.Time
	done  chan struct{}
}

// openTerminal starts a program in a terminal of 120 columns and 40 lines.
func openTerminal(p *place, name string, args ...string) (*terminal, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, err
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}); err != nil {
		return nil, err
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	t := &terminal{cmd: exec.Command(name, args...), master: master, done: make(chan struct{})}
	t.cmd.Env, t.cmd.Dir = p.Env, p.dir
	t.cmd.Stdin, t.cmd.Stdout, t.cmd.Stderr = slave, slave, slave
	t.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	go t.read()
	return t, nil
}

// read records what the program writes, and counts the frames.
func (t *terminal) read() {
	defer close(t.done)
	buffer := make([]byte, 64<<10)
	for {
		n, err := t.master.Read(buffer)
		if err != nil {
			return // the program ended
		}
		t.mu.Lock()
		if time.Since(t.last) > frameGap {
			t.count++
		}
		t.last = time.Now()
		if t.wrote.Len() > 1<<20 {
			t.wrote.Reset()
		}
		t.wrote.Write(buffer[:n])
		t.mu.Unlock()
	}
}

func (t *terminal) pid() int { return t.cmd.Process.Pid }

func (t *terminal) frames() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

func (t *terminal) press(key string) error {
	_, err := t.master.WriteString(key)
	return err
}

func (t *terminal) tail() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := t.wrote.String()
	return text[max(0, len(text)-3000):]
}

// awaits waits until the program has written a word.
func (t *terminal) awaits(ctx context.Context, word string) error {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(5 *
		time.Millisecond) {
		t.mu.Lock()
		found := bytes.Contains(t.wrote.Bytes(), []byte(word))
		t.mu.Unlock()
		if found {
			return nil
		}
	}
	return fmt.Errorf("the view does not show %q; it wrote last:\n%s", word, t.tail())
}

// stop ends the program; twice does no harm.
func (t *terminal) stop() error {
	if t.cmd == nil {
		return nil
	}
	cmd := t.cmd
	t.cmd = nil
	_ = cmd.Process.Signal(syscall.SIGTERM)
	sure := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	defer sure.Stop()
	_ = cmd.Wait() // by a signal
	_ = t.master.Close()
	<-t.done
	return nil
}
