package tui

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
)

// Hub is what the view needs of a hub; [client.Client] has most of it.
type Hub interface {
	Info(ctx context.Context) (*client.Info, error)
	FollowWaiting(ctx context.Context, each func(client.FeedNote) error) error
	Stream(ctx context.Context, params wire.StreamParams, each func(client.Note) error) error
	Sessions(ctx context.Context, params client.SessionsParams) ([]client.SessionInfo, error)
	Session(ctx context.Context, name string) (*client.SessionDetail, error)
	Reply(ctx context.Context, reply client.FeedReply) (client.FeedResult, error)
	Release(ctx context.Context, id string) (client.FeedResult, error)
	RenameSession(ctx context.Context, name, title string) (*client.SessionInfo, error)
	ForgetSession(ctx context.Context, name string) (*client.SessionInfo, error)
	SendToSession(ctx context.Context, name, text string, typed bool) (*client.SessionSent, error)
	Call(ctx context.Context, method string, params, result any) error
}

// Messages from the hub.
type (
	noteMsg       client.FeedNote          // of the feed
	sessionsMsg   []wire.Session           // all of them, at the beginning of a stream
	sessionMsg    wire.SessionChange       // one changed
	connectionMsg struct{ problem string } // "" when the feed is followed
	detailMsg     struct {
		key    string
		detail *wire.SessionDetail
		err    error
	}
	outcomeMsg struct { // what became of a key, for the last line
		text  string
		aside bool // no answer: one may still be on its way
	}
	infoMsg struct{ info *client.Info }
	tickMsg time.Time
)

// retryPause is how long the view waits before it looks for a hub again.
const retryPause = 300 * time.Millisecond

// Follow tells the program what the hub says, over restarts of the hub, until
// ctx ends.
func Follow(ctx context.Context, hub Hub, send func(tea.Msg)) {
	go repeat(ctx, func() error {
		return hub.FollowWaiting(ctx, func(n client.FeedNote) error {
			send(noteMsg(n))
			return nil
		})
	}, func(err error) { send(connectionMsg{problem: connectionProblem(err)}) })
	go repeat(ctx, func() error {
		return hub.Stream(ctx, wire.StreamParams{Sessions: wire.SessionsOnly}, func(n client.Note) error {
			switch {
			case n.Ready != nil:
				list, err := hub.Sessions(ctx, client.SessionsParams{All: true})
				if err != nil {
					return err
				}
				send(sessionsMsg(list))
				if info, err := hub.Info(ctx); err == nil {
					send(infoMsg{info})
				}
			case n.Session != nil:
				send(sessionMsg(*n.Session))
			}
			return nil
		})
	}, func(error) {})
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
	case errors.Is(err, client.ErrNoHub):
		return "no hub runs; the next event of an agent starts one, or `hookmux hub start`"
	case err == nil:
		return "the hub closed the connection"
	}
	return err.Error()
}
