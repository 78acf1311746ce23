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

// feedHub answers each method of the feed with a fixed result.
func feedHub(t *testing.T) *Client {
	t.Helper()
	hub := startHub(t, func(request wire.Request, conn net.Conn) {
		response := wire.Response{Version: "2.0", ID: request.ID}
		switch request.Method {
		case wire.MethodFeedItems:
			response.Result = json.RawMessage(`[{"id":"abcd","status":"pending","shown":"x","choices":["once"]}]`)
			if strings.Contains(string(request.Params), "zz") {
				response.Result, response.Error = nil, wire.Errorf(wire.CodeGone, "there is no request")
			}
		case wire.MethodFeedReply:
			response.Result = json.RawMessage(`{"id":"abcd","outcome":"delivered","by":"me"}`)
			if strings.Contains(string(request.Params), `"bypass"`) {
				response.Result, response.Error = nil, wire.Errorf(wire.CodePIN, "approvals ask for your PIN")
			}
		case wire.MethodGrants:
			response.Result = json.RawMessage(`[{"id":"gabcd","rule":"run exactly: ls"}]`)
		case wire.MethodFeedStream:
			b, _ := wire.Line(nil, wire.Response{Version: "2.0", ID: request.ID,
				Result: json.RawMessage(`{"ok":true}`)})
			b = append(b, `{"jsonrpc":"2.0","method":"feed.received","params":{"id":"abcd","status":"pending"}}`+
				"\n"...)
			b = append(b, `{"jsonrpc":"2.0","method":"feed.ready","params":{"away":false,"attached":true}}`+"\n"...)
			b = append(b, `{"jsonrpc":"2.0","method":"feed.later","params":{}}`+"\n"...)
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
	return &Client{Socket: hub.socket}
}

func TestFeedMethods(t *testing.T) {
	c := feedHub(t)
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
	if result, err := c.Reply(ctx, FeedReply{ID: "abcd", Choice: "once"}); err != nil ||
		result.Outcome != "delivered" || result.By != "me" {
		t.Errorf(`result = %+v, error %v; want no error, result.Outcome = "delivered" and result.HiddenBy = "me"`,
			result, err)
	}
	if _, err := c.Reply(ctx, FeedReply{ID: "abcd", Choice: "bypass"}); !NeedsPIN(err) || NeedsPIN(nil) ||
		NeedsPIN(errors.New("x")) {
		t.Errorf(`error %v, want NeedsPIN(err), not NeedsPIN(nil) and not NeedsPIN(errors.New("x"))`, err)
	}
	if result, err := c.Release(ctx, "abcd"); err != nil || result.ID != "abcd" {
		t.Errorf(`result = %+v, error %v; want no error and result.ID = "abcd"`, result, err)
	}
	if list, err := c.Grants(ctx); err != nil || list[0].ID != "gabcd" {
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

func TestFeedStream(t *testing.T) {
	c := feedHub(t)
	var got []string
	enough := errors.New("enough")
	err := c.Feed(context.Background(), func(n FeedNote) error {
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
	if !errors.Is(err, enough) || strings.Join(got, ", ") != "feed.received abcd, feed.ready attached, feed.later" {
		t.Errorf(`got %q, error %v; want error %v and strings.Join(got, ", ") = "feed.received abcd, feed.ready `+
			`attached, feed.later"`, got, err, enough)
	}
	if err := c.Feed(context.Background(), func(FeedNote) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "hung up") {
		t.Errorf(`error %v, want an error and "hung up" in err.Error()`, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Feed(ctx, func(FeedNote) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want error context.Canceled", err)
	}
	if err := (&Client{Socket: "/nowhere/hub.sock"}).Feed(context.Background(), nil); !errors.Is(err, ErrNoHub) {
		t.Errorf("error %v, want error ErrNoHub", err)
	}
	for _, line := range []string{"no json", `{"method":"feed.received","params":7}`,
		`{"method":"feed.ready","params":7}`, `{"error":{"code":-32001,"message":"no"}}`,
		`{"error":{"code":-32602,"message":"bad"}}`} {
		if _, err := parseFeedNote([]byte(line)); err == nil {
			t.Errorf("line = %q: got no error, want one", line)
		}
	}
}
