package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookmux/hookmux/internal/wire"
)

// Names for the values of the feed.
type (
	Request    = wire.FeedItem
	FeedReply  = wire.FeedReplyParams
	FeedResult = wire.FeedReplyResult
	Grant      = wire.GrantInfo
	Digest     = wire.Digest
	FeedReady  = wire.FeedReady
)

// Requests are those that wait for a person, oldest first; with all, behind
// those that ended lately.
func (c *Client) Requests(ctx context.Context, all bool) ([]Request, error) {
	var list []Request
	err := c.Call(ctx, wire.MethodFeedItems, wire.FeedListParams{All: all}, &list)
	return list, err
}

// Waiting is everything that waits for a person, oldest first: requests that can
// be answered here (status pending) and questions in agents' own windows (status
// window). With all, behind requests that ended lately.
func (c *Client) Waiting(ctx context.Context, all bool) ([]Request, error) {
	var list []Request
	err := c.Call(ctx, wire.MethodFeedItems, wire.FeedListParams{All: all, Windows: true}, &list)
	if isUnknownParam(err) {
		return c.Requests(ctx, all)
	}
	return list, err
}

// isUnknownParam tells that a hub of an older version, which goes on until nothing
// waits, does not know a parameter.
func isUnknownParam(err error) bool {
	var answer *wire.Error
	return errors.As(err, &answer) && answer.Code == wire.CodeParams
}

// Request is one request, by a unique beginning of its id.
func (c *Client) Request(ctx context.Context, id string) (Request, error) {
	var list []Request
	if err := c.Call(ctx, wire.MethodFeedItems, wire.FeedListParams{ID: id}, &list); err != nil {
		return Request{}, err
	}
	if len(list) != 1 {
		return Request{}, fmt.Errorf("there is no request %q", id)
	}
	return list[0], nil
}

// Reply answers a request. Only a person's process may: an agent's is refused
// ([RefusedError]). The result says whether the answer was delivered or came
// too late.
func (c *Client) Reply(ctx context.Context, reply FeedReply) (FeedResult, error) {
	var result FeedResult
	err := c.Call(ctx, wire.MethodFeedReply, reply, &result)
	return result, err
}

// Release leaves a request to the agent's own prompt.
func (c *Client) Release(ctx context.Context, id string) (FeedResult, error) {
	var result FeedResult
	err := c.Call(ctx, wire.MethodFeedRelease, wire.FeedIDParams{ID: id}, &result)
	return result, err
}

// Grants are the standing grants.
func (c *Client) Grants(ctx context.Context) ([]Grant, error) {
	var list []Grant
	err := c.Call(ctx, wire.MethodGrants, nil, &list)
	return list, err
}

// Revoke drops a standing grant.
func (c *Client) Revoke(ctx context.Context, id string) (Grant, error) {
	var gone Grant
	err := c.Call(ctx, wire.MethodGrantRevoke, wire.FeedIDParams{ID: id}, &gone)
	return gone, err
}

// Away holds requests as long as agents let them, until Back.
func (c *Client) Away(ctx context.Context) error { return c.Call(ctx, wire.MethodAway, nil, nil) }

// Back ends being away and says what happened meanwhile.
func (c *Client) Back(ctx context.Context) (Digest, error) {
	var digest Digest
	err := c.Call(ctx, wire.MethodBack, nil, &digest)
	return digest, err
}

// NeedsPIN reports whether an approval failed because it needs the PIN, or
// another one.
func NeedsPIN(err error) bool {
	var e *wire.Error
	return errors.As(err, &e) && e.Code == wire.CodePIN
}

// FeedNote is one message of the feed's stream: received, resolved, expired or
// withdrawn with the request, or ready once everything that waits was sent.
// [Client.FollowWaiting] also tells of window and windowOver.
type FeedNote struct {
	Method string
	Item   *Request
	Ready  *FeedReady // with ready: whether agents are held for this listener
}

// Feed follows the feed: what waits, then every change, until ctx ends, the
// hub goes or each returns an error. While a person's process follows it,
// agents are held for them.
func (c *Client) Feed(ctx context.Context, each func(FeedNote) error) error {
	return c.followFeed(ctx, nil, each)
}

// FollowWaiting is Feed that also tells what stands in agents' own windows.
func (c *Client) FollowWaiting(ctx context.Context, each func(FeedNote) error) error {
	err := c.followFeed(ctx, wire.FeedStreamParams{Windows: true}, each)
	if isUnknownParam(err) {
		return c.Feed(ctx, each)
	}
	return err
}

func (c *Client) followFeed(ctx context.Context, params any, each func(FeedNote) error) error {
	return c.follow(ctx, wire.MethodFeedStream, params, func(line []byte) error {
		note, err := parseFeedNote(line)
		if err != nil || note.Method == "" {
			return err
		}
		return each(note)
	})
}

func parseFeedNote(line []byte) (note FeedNote, err error) {
	note.Method, err = parseStream(line, func(method string) any {
		switch method {
		case wire.NoteFeedReady:
			note.Ready = new(FeedReady)
			return note.Ready
		case wire.NoteFeedReceived, wire.NoteFeedResolved, wire.NoteFeedExpired, wire.NoteFeedWithdrawn,
			wire.NoteFeedWindow, wire.NoteFeedWindowOver:
			note.Item = new(Request)
			return note.Item
		}
		return nil
	})
	return note, err
}
