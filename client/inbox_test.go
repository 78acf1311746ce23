package client

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/wire"
)

// inboxDaemon answers each method of the inbox with a fixed result.
func inboxDaemon(t *testing.T) *Client {
	t.Helper()
	daemon := startDaemon(t, func(request wire.Request, conn net.Conn) {
		response := wire.Response{Version: "2.0", ID: request.ID}
		switch request.Method {
		case wire.MethodInboxItems:
			response.Result = json.RawMessage(`[{"id":"abcd","status":"pending","shown":"x","choices":["once"]}]`)
			if strings.Contains(string(request.Params), "zz") {
				response.Result, response.Error = nil, wire.Errorf(wire.CodeGone, "there is no request")
			}
		case wire.MethodInboxReply:
			response.Result = json.RawMessage(`{"id":"abcd","outcome":"delivered","by":"me"}`)
			if strings.Contains(string(request.Params), `"bypass"`) {
				response.Result, response.Error = nil, wire.Errorf(wire.CodePIN, "approvals ask for your PIN")
			}
		case wire.MethodPermissions:
			response.Result = json.RawMessage(`[{"id":"gabcd","rule":"run exactly: ls"}]`)
		case wire.MethodInboxStream:
			b, _ := wire.Line(nil, wire.Response{Version: "2.0", ID: request.ID,
				Result: json.RawMessage(`{"ok":true}`)})
			b = append(b, `{"jsonrpc":"2.0","method":"inbox.received","params":{"id":"abcd","status":"pending"}}`+
				"\n"...)
			b = append(b, `{"jsonrpc":"2.0","method":"inbox.ready","params":{"away":false,"attached":true}}`+"\n"...)
			b = append(b, `{"jsonrpc":"2.0","method":"inbox.later","params":{}}`+"\n"...)
			_, _ = conn.Write(b)
			return
		case wire.MethodAway:
			response.Error = wire.Errorf(wire.CodeRefused, "this command runs below claude")
		default:
			response.Result = json.RawMessage(`{"id":"abcd","outcome":"delivered","wasAway":true}`)
		}
		b, _ := wire.Line(nil, response)
		_, _ = conn.Write(b)
	})
	return &Client{Socket: daemon.socket}
}

func TestInboxMethods(t *testing.T) {
	c := inboxDaemon(t)
	ctx := context.Background()
	if list, err := c.Requests(ctx, true); err != nil || len(list) != 1 || list[0].ID != "abcd" {
		t.Errorf(`list = %+v, error %v; want no error, len(list) = 1 and list[0].ID = "abcd"`, list, err)
	}
	if item, err := c.Request(ctx, "ab"); err != nil || item.Shown != "x" {
		t.Errorf(`item = %+v, error %v; want no error and item.Shown = "x"`, item, err)
	}
	if _, err := c.Request(ctx, "zz"); err == nil {
		t.Error("found; want an error")
	}
	if result, err := c.Reply(ctx, InboxReply{ID: "abcd", Choice: "once"}); err != nil ||
		result.Outcome != "delivered" || result.By != "me" {
		t.Errorf(`result = %+v, error %v; want no error, result.Outcome = "delivered" and result.HiddenBy = "me"`,
			result, err)
	}
	if _, err := c.Reply(ctx, InboxReply{ID: "abcd", Choice: "bypass"}); !NeedsPIN(err) || NeedsPIN(nil) ||
		NeedsPIN(errors.New("x")) {
		t.Errorf(`error %v, want NeedsPIN(err), not NeedsPIN(nil) and not NeedsPIN(errors.New("x"))`, err)
	}
	if result, err := c.Skip(ctx, "abcd"); err != nil || result.ID != "abcd" {
		t.Errorf(`result = %+v, error %v; want no error and result.ID = "abcd"`, result, err)
	}
	if list, err := c.Permissions(ctx); err != nil || list[0].ID != "gabcd" {
		t.Errorf(`list = %+v, error %v; want no error and list[0].ID = "gabcd"`, list, err)
	}
	if gone, err := c.Revoke(ctx, "gabcd"); err != nil || gone.ID != "abcd" {
		t.Errorf(`gone = %+v, error %v; want no error and gone.ID = "abcd"`, gone, err)
	}
	var refused *RefusedError
	if err := c.Away(ctx); !errors.As(err, &refused) {
		t.Errorf("error %v, want errors.As(err, &refused)", err)
	}
	if digest, err := c.Back(ctx); err != nil || !digest.WasAway {
		t.Errorf("digest = %+v, error %v; want no error and digest.WasAway", digest, err)
	}
}

func TestInboxStream(t *testing.T) {
	c := inboxDaemon(t)
	var got []string
	enough := errors.New("enough")
	err := c.Inbox(context.Background(), func(n InboxNote) error {
		word := n.Method
		if n.Item != nil {
			word += " " + n.Item.ID
		}
		if n.Ready != nil && n.Ready.Attached {
			word += " attached"
		}
		if got = append(got, word); len(got) == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || strings.Join(got, ", ") != "inbox.received abcd, inbox.ready attached, inbox.later" {
		t.Errorf(`got %q, error %v; want error %v and strings.Join(got, ", ") = "inbox.received abcd, inbox.ready `+
			`attached, inbox.later"`, got, err, enough)
	}
	if err := c.Inbox(context.Background(), func(InboxNote) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "hung up") {
		t.Errorf(`error %v, want an error and "hung up" in err.Error()`, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Inbox(ctx, func(InboxNote) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want error context.Canceled", err)
	}
	if err := (&Client{Socket: "/nowhere/daemon.sock"}).Inbox(context.Background(), nil); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("error %v, want error ErrNoDaemon", err)
	}
	for _, line := range []string{"no json", `{"method":"inbox.received","params":7}`,
		`{"method":"inbox.ready","params":7}`, `{"error":{"code":-32001,"message":"no"}}`,
		`{"error":{"code":-32602,"message":"bad"}}`} {
		if _, err := parseInboxNote([]byte(line)); err == nil {
			t.Errorf("line = %q: got no error, want one", line)
		}
	}
}
