package tui

import (
	"context"
	"errors"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
)

// Daemon is the part of a daemon that the view needs; [client.Client] has all of it.
type Daemon interface {
	Info(ctx context.Context) (*client.Info, error)
	FollowWaiting(ctx context.Context, each func(client.InboxNote) error) error
	Stream(ctx context.Context, params wire.StreamParams, each func(client.Note) error) error
	Query(ctx context.Context, params wire.QueryParams, each func(client.Entry) bool) error
	Sessions(ctx context.Context, params client.SessionsParams) ([]client.SessionInfo, error)
	Session(ctx context.Context, name string) (*client.SessionDetail, error)
	Reply(ctx context.Context, reply client.InboxReply) (client.InboxResult, error)
	Skip(ctx context.Context, id string) (client.InboxResult, error)
	RenameSession(ctx context.Context, name, title string) (*client.SessionInfo, error)
	ForgetSession(ctx context.Context, name string) (*client.SessionInfo, error)
	SendToSession(ctx context.Context, name, text string, typed bool) (*client.SessionSent, error)
	Away(ctx context.Context) error
	Back(ctx context.Context) (client.Digest, error)
	Call(ctx context.Context, method string, params, result any) error
}

// Messages from the daemon.
type (
	daemonMsg     []tea.Msg                // what it said since the last one, in its order
	noteMsg       client.InboxNote         // of the inbox
	sessionsMsg   []wire.Session           // all of them, at the beginning of a stream
	sessionMsg    wire.SessionChange       // one changed
	connectionMsg struct{ problem string } // "" when the inbox is followed
	silenceMsg    struct{}                 // it does not answer, and has not hung up
	detailMsg     struct {
		key      string
		session  *wire.SessionDetail
		timeline timeline
		err      error
	}
	historyMsg struct {
		decided []*decided
		err     error
	}
	outcomeMsg struct { // what became of a key, for the last line
		text  string
		aside bool // no answer: one may still be on its way
		// returned says that the screen was left to the daemon until now.
		returned bool
	}
	pageMsg struct { // something to read
		title string
		lines []string
	}
	infoMsg struct{ info *client.Info }
	tickMsg struct{ n int }
)

const (
	// retryPause is how long the view waits before it looks for a daemon again.
	retryPause = 300 * time.Millisecond
	// gatherTime is how often the view gets what the daemon says: more frames can't be read.
	gatherTime = 125 * time.Millisecond
	// infoPause is how often the daemon is asked how it is.
	infoPause = 10 * time.Second
)

// Follow sends the program what the daemon says, across restarts of the daemon, until ctx
// ends.
func Follow(ctx context.Context, daemon Daemon, send func(tea.Msg)) {
	said := &gatherer{send: send}
	go repeat(ctx, func() error {
		return daemon.FollowWaiting(ctx, func(n client.InboxNote) error {
			said.add(noteMsg(n))
			return nil
		})
	}, func(err error) { said.add(connectionMsg{problem: connectionProblem(err)}) })
	go repeat(ctx, func() error {
		return daemon.Stream(ctx, wire.StreamParams{Sessions: wire.SessionsOnly}, func(n client.Note) error {
			switch {
			case n.Ready != nil:
				list, err := daemon.Sessions(ctx, client.SessionsParams{All: true})
				if err != nil {
					return err
				}
				said.add(sessionsMsg(list))
			case n.Session != nil:
				said.add(sessionMsg(*n.Session))
			}
			return nil
		})
	}, func(error) {})
	go watchDaemon(ctx, daemon, said)
}

// watchDaemon asks the daemon how it is. One that neither answers nor hangs up is silent: a
// stopped process, or a machine that has no time for it.
func watchDaemon(ctx context.Context, daemon Daemon, said *gatherer) {
	for ctx.Err() == nil {
		asked, cancel := context.WithTimeout(ctx, silenceTime)
		info, err := daemon.Info(asked)
		silent := asked.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			said.add(infoMsg{info})
		case silent:
			said.add(silenceMsg{})
		}
		pause := infoPause
		if err != nil {
			pause = retryPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// gatherer hands messages on together, at most once in gatherTime; the first after
// a pause at once.
type gatherer struct {
	send func(tea.Msg)

	mu      sync.Mutex
	waiting daemonMsg
	planned bool
	last    time.Time
}

func (g *gatherer) add(msg tea.Msg) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = append(g.waiting, msg)
	if !g.planned {
		g.planned = true
		time.AfterFunc(max(0, gatherTime-time.Since(g.last)), g.handOn)
	}
}

func (g *gatherer) handOn() {
	g.mu.Lock()
	waiting := g.waiting
	g.waiting, g.planned, g.last = nil, false, time.Now()
	g.mu.Unlock()
	g.send(waiting)
}

func repeat(ctx context.Context, run func() error, failed func(error)) {
	for ctx.Err() == nil {
		err := run()
		if ctx.Err() != nil {
			return
		}
		failed(err)
		select {
		case <-ctx.Done():
		case <-time.After(retryPause):
		}
	}
}

func connectionProblem(err error) string {
	var refused *client.RefusedError
	switch {
	case errors.As(err, &refused):
		return refused.Message
	case errors.Is(err, client.ErrNoDaemon):
		return "No daemon is running. The next thing an agent does starts one, or `hookmux daemon start`."
	case err == nil:
		return "The daemon closed the connection."
	}
	return err.Error()
}
