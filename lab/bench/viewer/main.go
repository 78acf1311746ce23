//go:build linux

// Command viewer is the live view with a clock for each frame: on SIGTERM it writes down the cpu that
// each took, in microseconds, from the message to the frame. Unlike the time, that is the same on a
// busy machine.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/ui/tui"
)

// timed notes how long the view takes.
type timed struct {
	*tui.Model
	began time.Duration
	took  []float64
}

// threadTime returns the cpu that this thread has had.
func threadTime() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now) != nil {
		return 0
	}
	return time.Duration(now.Nano())
}

// Update receives a message; its frame is drawn right afterwards.
func (t *timed) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	runtime.LockOSThread() // frames are drawn where messages are received
	t.began = threadTime()
	_, cmd := t.Model.Update(msg)
	return t, cmd
}

// View draws the frame.
func (t *timed) View() tea.View {
	v := t.Model.View()
	t.took = append(t.took, float64((threadTime()-t.began).Nanoseconds())/1e3)
	return v
}

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "viewer:", err)
		os.Exit(1)
	}
}

func run(socket, out string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	daemon := &client.Client{Socket: socket}
	t := &timed{Model: tui.New(ctx, tui.Options{Daemon: daemon})}
	program := tea.NewProgram(t, tea.WithoutSignalHandler())
	tui.Follow(ctx, daemon, program.Send)
	go func() {
		<-ctx.Done()
		program.Quit()
	}()
	if _, err := program.Run(); err != nil {
		return err
	}
	text, err := json.Marshal(t.took)
	if err != nil {
		return err
	}
	return os.WriteFile(out, text, 0o600)
}
