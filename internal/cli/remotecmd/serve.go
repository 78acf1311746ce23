package remotecmd

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/wire"
)

// served are the methods that are passed on: the daemon checks a signature in each.
var served = []string{wire.MethodRemoteHello, wire.MethodRemoteFollow, wire.MethodRemoteCall, wire.MethodRemoteAnswer}

// What the other machine may send.
const (
	maxRequest  = 1 << 20
	maxInFlight = 16
)

// ServeCommand is `hookmux remote-serve`, the far end of a link.
func ServeCommand(app *cmdutil.App) *cobra.Command {
	return &cobra.Command{
		Use:    "remote-serve",
		Short:  "Pass a paired machine's messages on to the daemon",
		Hidden: true, // a daemon on another machine starts it over ssh
		Long: `Reads messages of a paired machine from stdin, passes them on to the daemon, and writes
its answers to stdout. The daemon on the other machine starts it over ssh; in
authorized_keys it can be the only command of a key: command="hookmux remote-serve".
It proves nothing: the daemon answers only what a paired machine signed.`,
		Example: "  hookmux remote-serve",
		Args:    cmdutil.ExactArgs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return serve(cmd.Context(), app) },
	}
}

// serve passes lines on until either end goes.
func serve(ctx context.Context, app *cmdutil.App) error {
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	if _, err := app.ConnectDaemon(ctx); err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	s := &serving{out: app.Stdout, socket: dirs.Socket(), end: end, room: make(chan struct{}, maxInFlight)}
	go func() { // ends with the program: a read cannot be called back
		err := s.read(ctx, app.Stdin)
		if errors.Is(err, io.EOF) {
			s.asked.Wait() // what was asked is answered
		}
		end(err)
	}()
	<-ctx.Done()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

type serving struct {
	socket string
	end    context.CancelCauseFunc
	room   chan struct{}
	asked  sync.WaitGroup // what has one answer

	mu  sync.Mutex
	out io.Writer
}

var errTooLong = cmdutil.FailWith(cmdutil.ExitFailed, "a message of more than 1 MB came")

// read takes requests until stdin ends.
func (s *serving) read(ctx context.Context, in io.Reader) error {
	reader := bufio.NewReaderSize(in, maxRequest)
	for {
		line, err := reader.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return errTooLong
		}
		if err != nil {
			return err
		}
		var request wire.Request
		if json.Unmarshal(line, &request) != nil || !slices.Contains(served, request.Method) {
			bad, _ := wire.Line(nil, wire.Response{Version: "2.0", ID: idOf(&request),
				Error: wire.Errorf(wire.CodeNoMethod, "that can't be asked over a link")})
			s.write(bad)
			continue
		}
		select {
		case s.room <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		line, stream := slices.Clone(line), request.Method == wire.MethodRemoteFollow
		if stream {
			go s.pass(ctx, line, true)
		} else {
			s.asked.Go(func() { s.pass(ctx, line, false) })
		}
	}
}

func idOf(request *wire.Request) json.RawMessage {
	if request.ID == nil {
		return json.RawMessage("null")
	}
	return request.ID
}

// pass asks the daemon one thing, and passes on its answer. When the daemon ends a stream,
// the link ends with it: the other machine connects again.
func (s *serving) pass(ctx context.Context, line []byte, stream bool) {
	release := sync.OnceFunc(func() { <-s.room })
	defer release()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", s.socket)
	if err != nil {
		s.end(cmdutil.FailWith(cmdutil.ExitNoDaemon, "the daemon is gone"))
		return
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if _, err := conn.Write(line); err != nil {
		s.end(cmdutil.FailWith(cmdutil.ExitNoDaemon, "the daemon is gone"))
		return
	}
	if stream {
		release() // it lasts
	}
	reader := bufio.NewReaderSize(conn, 64<<10)
	for {
		out, err := reader.ReadBytes('\n')
		if err != nil {
			if ctx.Err() == nil {
				s.end(cmdutil.FailWith(cmdutil.ExitNoDaemon, "the daemon hung up"))
			}
			return
		}
		s.write(out)
		if !stream {
			return
		}
	}
}

func (s *serving) write(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.out.Write(line); err != nil {
		s.end(io.EOF)
	}
}
