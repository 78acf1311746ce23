package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/wire/frame"
)

// HookCommand prepares a call of the installed hook client in the project.
func (h *Home) HookCommand(ctx context.Context, agent, event, payload string, more ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, h.Program("hookmux-hook"), append([]string{agent, event, "60"}, more...)...)
	cmd.Env, cmd.Dir, cmd.Stdin = h.Env, h.Project, strings.NewReader(payload)
	return cmd
}

// Answer holds the output of a program that ended.
type Answer struct {
	Stdout, Stderr string
	Exit           int
}

func (a Answer) String() string {
	return fmt.Sprintf("exit %d, stdout %q, stderr %q", a.Exit, a.Stdout, a.Stderr)
}

// Denies reports whether the answer refuses, in the words of most agents.
func (a Answer) Denies() bool { return strings.Contains(a.Stdout, `"deny"`) }

// RunToEnd runs a command to its end. Ending with another exit code than 0 is no error.
func RunToEnd(cmd *exec.Cmd) (Answer, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		err = nil
	}
	return Answer{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}, err
}

// SendFrame speaks for the hook client: it sends one frame and gives what is answered.
func SendFrame(socket string, r *frame.Request, limit time.Duration) (frame.Reply, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return frame.Reply{}, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(limit))
	if _, err := conn.Write(frame.AppendRequest(nil, r)); err != nil {
		return frame.Reply{}, err
	}
	reply, err := frame.ReadReply(bufio.NewReader(conn), frame.Standard)
	if err == nil && reply.ID != r.ID {
		err = errors.New("the reply is to " + reply.ID + ", not to " + r.ID)
	}
	return reply, err
}

// ServeSocket stands in for a daemon: every connection is given to serve and closed when
// serve returns. The function it gives ends it and waits for every connection.
func ServeSocket(socket string, serve func(net.Conn)) (stop func(), err error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				serve(conn)
			})
		}
	})
	return func() { _ = listener.Close(); serving.Wait() }, nil
}
