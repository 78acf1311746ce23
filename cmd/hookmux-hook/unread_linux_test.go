package main

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/wire/frame"
)

// An agent that reads nothing more of a hook that has exited gets the answer
// all the same: the hook is there until the answer was read.
func TestStaysUntilRead(t *testing.T) {
	w := newWorld(t)
	w.listen(func(conn net.Conn, r frame.Request, _ int) { reply(conn, frame.Reply{ID: r.ID, Stdout: r.Payload}) })
	socket := func() (r, w *os.File, err error) { // as Node gives its children
		pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
		return os.NewFile(uintptr(pair[0]), "r"), os.NewFile(uintptr(pair[1]), "w"), err
	}
	for name, c := range map[string]struct {
		agent string
		make  func() (r, w *os.File, err error)
		stays bool
	}{
		"pipe":   {"codebuddy", os.Pipe, true},
		"socket": {"codebuddy", socket, true},
		"other":  {agent, os.Pipe, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, out, err := c.make()
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cmd := w.command(c.agent, deciding)
			cmd.Stdin, cmd.Stdout = strings.NewReader("the answer"), out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = out.Close()
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			if c.stays {
				select {
				case <-ended:
					t.Fatal("it went before anybody read its answer")
				case <-time.After(longestUnread / 10):
				}
			} else if err := <-ended; err != nil {
				t.Fatal(err)
			}
			got := make([]byte, 100)
			n, err := r.Read(got)
			if string(got[:n]) != "the answer" || err != nil {
				t.Errorf(`got[:n] = %q, error %v; want string(got[:n]) = "the answer" and no error`, got[:n], err)
			}
			if c.stays {
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A reader that never reads does not keep us.
func TestStaysOnlySoLong(t *testing.T) {
	w := newWorld(t)
	w.listen(func(conn net.Conn, r frame.Request, _ int) { reply(conn, frame.Reply{ID: r.ID, Stdout: r.Payload}) })
	r, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer out.Close()
	cmd := w.command("codebuddy", deciding)
	cmd.Stdin, cmd.Stdout = strings.NewReader("the answer"), out
	within(t, 20*time.Second, "an answer nobody reads", func() {
		if err := cmd.Run(); err != nil {
			t.Error(err)
		}
	})
}
