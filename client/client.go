// Package client talks to a running daemon from Go: call a method, follow the
// stream of events, report an event.
//
//	c := client.Client{}
//	info, err := c.Info(ctx)
//
// The zero Client talks to the daemon of this user. One connection serves one
// call or one stream, so that a slow one never holds up another.
package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// ErrNoDaemon means that no daemon answers on the socket.
var ErrNoDaemon = errors.New("the daemon isn't running; start it with `hookmux daemon start`")

// ErrElsewhere means that the process on the socket runs in another user or mount
// namespace than this one, or in a sandbox: its settings and records may be other files.
var ErrElsewhere = errors.New("the daemon runs in another namespace (a container or sandbox) than this program; end it " +
	"and start one here with `hookmux daemon start`")

// RefusedError means that the daemon refused because of who asked.
type RefusedError struct{ Message string }

func (e *RefusedError) Error() string { return e.Message }

// Client reaches a daemon. The zero value finds the socket as the daemon does.
type Client struct {
	// Socket is the daemon's socket; "" means this user's.
	Socket string
	// Timeout bounds a call; zero means 10 s, or 3 minutes for a call that you
	// may have to confirm at your terminal first. Only their context bounds
	// streams.
	Timeout time.Duration
}

// Entry is an event with what came of it, as stored and streamed.
type Entry = wire.Entry

// Info describes a daemon.
type Info = wire.Info

// Filter narrows a stream or a query.
type Filter = wire.Filter

func (c *Client) socket() (string, error) {
	if c.Socket != "" {
		return c.Socket, nil
	}
	dirs, err := paths.Find(os.Getenv)
	if err != nil {
		return "", err
	}
	return dirs.Socket(), nil
}

func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	socket, err := c.socket()
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
			return nil, ErrNoDaemon
		}
		return nil, fmt.Errorf("%s: %w", socket, err)
	}
	if who, err := proc.Peer(conn.(*net.UnixConn)); err == nil && daemonstart.IsConfinedElsewhere(who.PID) {
		_ = conn.Close() // nothing was said
		return nil, fmt.Errorf("%s: %w (process %d)", socket, ErrElsewhere, who.PID)
	}
	return conn, nil
}

// Call runs one method and reads its result into result, which may be nil.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout(method))
	defer cancel()
	started := time.Now()
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	request, err := encode(method, params)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	_, sendErr := conn.Write(request)
	// Even when the daemon did not take all of it, it may have said why.
	line, err := bufio.NewReaderSize(conn, 64<<10).ReadBytes('\n')
	if err != nil {
		switch cause := ctx.Err(); {
		case errors.Is(cause, context.DeadlineExceeded):
			return fmt.Errorf("%s: no answer from the daemon within %s: %w", method,
				time.Since(started).Round(time.Millisecond), cause)
		case cause != nil:
			return fmt.Errorf("%s: %w", method, cause)
		case sendErr != nil:
			err = sendErr
		}
		return fmt.Errorf("%s: the daemon hung up: %w", method, err)
	}
	return read(line, result)
}

func (c *Client) timeout(method string) time.Duration {
	switch {
	case c.Timeout > 0:
		return c.Timeout
	case wire.AsksUser(method):
		return 3 * time.Minute
	}
	return 10 * time.Second
}

func encode(method string, params any) ([]byte, error) {
	request := wire.Request{Version: "2.0", ID: json.RawMessage("1"), Method: method}
	if params != nil {
		b, err := json.Marshal(params)
		if err != nil {
			return nil, err
		}
		request.Params = b
	}
	return wire.Line(nil, request)
}

func read(line []byte, result any) error {
	var response wire.Response
	if err := json.Unmarshal(line, &response); err != nil {
		return fmt.Errorf("the daemon's answer cannot be read: %w", err)
	}
	if e := response.Error; e != nil {
		if e.Code == wire.CodeRefused {
			return &RefusedError{e.Message}
		}
		return e
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(response.Result, result); err != nil {
		return fmt.Errorf("the daemon's answer cannot be read: %w; if it is of another version, `hookmux daemon stop` "+
			"makes room for this one", err)
	}
	return nil
}

// Info asks the daemon about itself.
func (c *Client) Info(ctx context.Context) (*Info, error) {
	var info Info
	if err := c.Call(ctx, wire.MethodInfo, nil, &info); err != nil {
		return nil, err
	}
	return &info, nil
}

// Query reads stored events, oldest first, a page at a time, until the filter
// is exhausted or each returns false. Limit 0 means all. With Newest it is the
// last Limit events, also oldest first.
func (c *Client) Query(ctx context.Context, params wire.QueryParams, each func(Entry) bool) error {
	_, err := c.Search(ctx, params, each)
	return err
}

// Search is [Client.Query] that also says how many events it didn't look at for
// params.Text, because they are not in the search index: while a daemon makes it, on a
// full disk, and where the index reached its greatest size.
func (c *Client) Search(ctx context.Context, params wire.QueryParams, each func(Entry) bool) (unsearched int64,
	err error) {
	note := func(page *wire.QueryResult) { unsearched = max(unsearched, page.Unsearched) }
	err = c.queryPages(ctx, params, each, note)
	return unsearched, err
}

func (c *Client) queryPages(ctx context.Context, params wire.QueryParams, each func(Entry) bool,
	note func(*wire.QueryResult)) error {
	if params.Newest {
		page, start, err := c.findNewest(ctx, params, note)
		if err != nil {
			return err
		}
		if start == "" {
			for _, entry := range page {
				if !each(entry) {
					return nil
				}
			}
			return nil
		}
		params.Newest, params.After = false, start
	}
	left := params.Limit
	for {
		page := params
		page.Limit = pageSize
		if left > 0 {
			page.Limit = min(left, pageSize)
		}
		var result wire.QueryResult
		if err := c.Call(ctx, wire.MethodQuery, page, &result); err != nil {
			return err
		}
		note(&result)
		for _, entry := range result.Entries {
			if !each(entry) {
				return nil
			}
		}
		if left > 0 {
			if left -= len(result.Entries); left <= 0 {
				return nil
			}
		}
		if result.Next == "" || result.Next == params.After {
			return nil
		}
		params.After = result.Next
	}
}

// findNewest reads the last events. When they are one page, it returns them.
// When they are more, it goes back page by page, keeps none of them, and returns
// the cursor behind which they begin: a journal does not fit into memory.
func (c *Client) findNewest(ctx context.Context, params wire.QueryParams, note func(*wire.QueryResult)) (page []Entry,
	start string, err error) {
	left := params.Limit
	for {
		if params.Limit = left; left > wire.MaxQueryPage {
			params.Limit = wire.MaxQueryPage
		}
		var result wire.QueryResult
		if err := c.Call(ctx, wire.MethodQuery, params, &result); err != nil {
			return nil, "", err
		}
		note(&result)
		if len(result.Entries) > 0 {
			first, err := strconv.ParseInt(result.Entries[0].Cursor, 10, 64)
			if err != nil {
				return nil, "", fmt.Errorf("the daemon gave an event the cursor %q, which is not a number",
					result.Entries[0].Cursor)
			}
			start = strconv.FormatInt(first-1, 10)
		}
		if params.Before == "" {
			page = result.Entries
		} else {
			page = nil
		}
		left -= len(result.Entries)
		if result.Next == "" || left <= 0 || result.Next == params.Before {
			if params.Before == "" {
				return page, "", nil
			}
			return nil, start, nil
		}
		params.Before = result.Next
	}
}

// pageSize is how many events one answer of the daemon brings.
const pageSize = 500

// Note is one message of a stream.
type Note struct {
	Method  string
	Entry   *wire.Entry
	Outcome *wire.Outcome
	Ready   *wire.Ready
	Problem *wire.Problem
	Trace   *wire.Trace
	Session *wire.SessionChange // what became of a session
}

// Stream follows events as they happen and calls each for every message, until
// ctx ends, the daemon goes (ErrNoDaemon or a network error) or each returns an
// error. With params.After it first replays what came after that cursor.
func (c *Client) Stream(ctx context.Context, params wire.StreamParams, each func(Note) error) error {
	return c.follow(ctx, wire.MethodStream, params, func(line []byte) error {
		note, err := parseNote(line)
		if err != nil || note.Method == "" {
			return err
		}
		return each(note)
	})
}

// follow asks for a stream and hands on its lines until ctx ends, the daemon goes
// or each returns an error.
func (c *Client) follow(ctx context.Context, method string, params any, each func(line []byte) error) error {
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	request, err := encode(method, params)
	if err != nil {
		return err
	}
	if _, err := conn.Write(request); err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	// A write that failed shows as a hang-up below, after what the daemon said.
	reader := bufio.NewReaderSize(conn, 64<<10)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("the daemon hung up: %w", err)
		}
		if err := each(line); err != nil {
			return err
		}
	}
}

// parseStream reads a line of a stream: its method, and its parameters into what the
// method has; nil leaves them unread.
func parseStream(line []byte, target func(method string) any) (method string, err error) {
	var message struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
		Error  *wire.Error     `json:"error"`
	}
	if err := json.Unmarshal(line, &message); err != nil {
		return "", fmt.Errorf("the daemon's stream cannot be read: %w", err)
	}
	if e := message.Error; e != nil {
		if e.Code == wire.CodeRefused {
			return "", &RefusedError{e.Message}
		}
		return "", e
	}
	if into := target(message.Method); into != nil {
		if err := json.Unmarshal(message.Params, into); err != nil {
			return "", fmt.Errorf("the daemon's stream cannot be read: %s: %w", message.Method, err)
		}
	}
	return message.Method, nil
}

func parseNote(line []byte) (note Note, err error) {
	note.Method, err = parseStream(line, func(method string) any {
		switch method {
		case wire.NoteEvent:
			note.Entry = new(wire.Entry)
			return note.Entry
		case wire.NoteOutcome:
			note.Outcome = new(wire.Outcome)
			return note.Outcome
		case wire.NoteReady:
			note.Ready = new(wire.Ready)
			return note.Ready
		case wire.NoteProblem:
			note.Problem = new(wire.Problem)
			return note.Problem
		case wire.NoteTrace:
			note.Trace = new(wire.Trace)
			return note.Trace
		case wire.NoteSession:
			note.Session = new(wire.SessionChange)
			return note.Session
		}
		return nil
	})
	return note, err
}

// Push reports an event on behalf of an agent and returns the agent's native
// answer. params.Timeout limits how long the daemon may take; without one, the
// client's timeout does.
func (c *Client) Push(ctx context.Context, params wire.PushParams) (*wire.PushResult, error) {
	patient := *c
	if params.Timeout <= 0 {
		params.Timeout = c.timeout(wire.MethodPush).Seconds()
	}
	// The daemon answers when its time is over; that answer must still arrive.
	patient.Timeout = max(c.timeout(wire.MethodPush), time.Duration(params.Timeout*float64(time.Second))) + wayBack
	var result wire.PushResult
	if err := patient.Call(ctx, wire.MethodPush, params, &result); err != nil {
		return nil, err
	}
	return &result, nil
}

// wayBack is the time between the daemon's last moment and the client's.
const wayBack = 2 * time.Second

// Names for the values of the protocol, so that programs can spell them.
type (
	QueryParams  = wire.QueryParams
	StreamParams = wire.StreamParams
	PushParams   = wire.PushParams
	PushResult   = wire.PushResult
	Outcome      = wire.Outcome
	Problem      = wire.Problem
	Ready        = wire.Ready
	Trace        = wire.Trace
	Step         = wire.Step
)
