package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookmux/hookmux/internal/wire"
)

// Names for the values of the inbox.
type (
	Request     = wire.InboxRequest
	InboxReply  = wire.InboxReplyParams
	InboxResult = wire.InboxReplyResult
	Permission  = wire.PermissionInfo
	Digest      = wire.Digest
	InboxReady  = wire.InboxReady
)

// Requests returns the requests that wait for you, oldest first. With all, those
// that ended recently follow.
func (c *Client) Requests(ctx context.Context, all bool) ([]Request, error) {
	var list []Request
	err := c.Call(ctx, wire.MethodInboxItems, wire.InboxListParams{All: all}, &list)
	return list, err
}

// Waiting returns everything that waits for you, oldest first: requests that can
// be answered here (status pending) and questions at agents' own prompts (status
// window). With all, requests that ended recently follow.
func (c *Client) Waiting(ctx context.Context, all bool) ([]Request, error) {
	var list []Request
	err := c.Call(ctx, wire.MethodInboxItems, wire.InboxListParams{All: all, Prompts: true}, &list)
	if isUnknownParam(err) {
		return c.Requests(ctx, all)
	}
	return list, err
}

// isUnknownParam reports whether an older daemon, which keeps running while
// something waits, doesn't know a parameter.
func isUnknownParam(err error) bool {
	var answer *wire.Error
	return errors.As(err, &answer) && answer.Code == wire.CodeParams
}

// Request returns one request, by a unique beginning of its id.
func (c *Client) Request(ctx context.Context, id string) (Request, error) {
	var list []Request
	if err := c.Call(ctx, wire.MethodInboxItems, wire.InboxListParams{ID: id}, &list); err != nil {
		return Request{}, err
	}
	if len(list) != 1 {
		return Request{}, fmt.Errorf("there is no request %q", id)
	}
	return list[0], nil
}

// Reply answers a request. Only your own processes may: an agent's is refused
// ([RefusedError]). The result says whether the answer was delivered or came
// too late.
func (c *Client) Reply(ctx context.Context, reply InboxReply) (InboxResult, error) {
	var result InboxResult
	err := c.Call(ctx, wire.MethodInboxReply, reply, &result)
	return result, err
}

// Skip leaves a request to the agent's own prompt.
func (c *Client) Skip(ctx context.Context, id string) (InboxResult, error) {
	var result InboxResult
	err := c.Call(ctx, wire.MethodInboxSkip, wire.InboxIDParams{ID: id}, &result)
	return result, err
}

// Permissions returns the saved permissions.
func (c *Client) Permissions(ctx context.Context) ([]Permission, error) {
	var list []Permission
	err := c.Call(ctx, wire.MethodPermissions, nil, &list)
	return list, err
}

// Revoke drops a saved permission.
func (c *Client) Revoke(ctx context.Context, id string) (Permission, error) {
	var gone Permission
	err := c.Call(ctx, wire.MethodPermissionRemove, wire.InboxIDParams{ID: id}, &gone)
	return gone, err
}

// Away keeps requests waiting as long as agents let them, until Back.
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

// InboxNote is one message of the inbox's stream: received, resolved, expired or
// withdrawn with the request, or ready once everything that waits was sent.
// [Client.FollowWaiting] adds window and windowOver.
type InboxNote struct {
	Method string
	Item   *Request
	Ready  *InboxReady // with ready: whether agents wait for this listener
}

// Inbox follows the inbox: what waits, then every change, until ctx ends, the
// daemon stops or each returns an error. While one of your processes follows it,
// agents wait for your answer.
func (c *Client) Inbox(ctx context.Context, each func(InboxNote) error) error {
	return c.followInbox(ctx, nil, each)
}

// FollowWaiting is Inbox that also reports questions at agents' own prompts.
func (c *Client) FollowWaiting(ctx context.Context, each func(InboxNote) error) error {
	err := c.followInbox(ctx, wire.InboxStreamParams{Prompts: true}, each)
	if isUnknownParam(err) {
		return c.Inbox(ctx, each)
	}
	return err
}

func (c *Client) followInbox(ctx context.Context, params any, each func(InboxNote) error) error {
	return c.follow(ctx, wire.MethodInboxStream, params, func(line []byte) error {
		note, err := parseInboxNote(line)
		if err != nil || note.Method == "" {
			return err
		}
		return each(note)
	})
}

func parseInboxNote(line []byte) (note InboxNote, err error) {
	note.Method, err = parseStream(line, func(method string) any {
		switch method {
		case wire.NoteInboxReady:
			note.Ready = new(InboxReady)
			return note.Ready
		case wire.NoteInboxReceived, wire.NoteInboxResolved, wire.NoteInboxExpired, wire.NoteInboxWithdrawn,
			wire.NoteInboxPrompt, wire.NoteInboxPromptOver:
			note.Item = new(Request)
			return note.Item
		}
		return nil
	})
	return note, err
}
