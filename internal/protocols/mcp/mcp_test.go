package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
)

// fakeDaemon answers with what it is given and notes what it was asked.
type fakeDaemon struct {
	sessions []wire.Session
	page     wire.QueryResult
	err      error
	asked    wire.QueryParams
}

func (d *fakeDaemon) ProjectSessions(context.Context, wire.SessionsParams) ([]client.SessionInfo, error) {
	return d.sessions, d.err
}

func (d *fakeDaemon) ProjectHistory(_ context.Context, q wire.QueryParams) (wire.QueryResult, error) {
	d.asked = q
	return d.page, d.err
}

func (d *fakeDaemon) ProjectBudgets(context.Context) ([]wire.Budget, error) {
	used := 62.5
	return []wire.Budget{{ID: "day-10usd", Text: "day=10usd ask=80% block=100%", Percent: &used}, {ID: "unreadable", Text: "x"}}, d.err
}

// serve runs the server as `hookmux mcp` does, over two pipes.
func serve(t *testing.T, daemon Daemon) (call func(tool, args string) string) {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- Serve(t.Context(), daemon, "1.2.3", in, out) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = toServer.Close()
		_ = session.Close()
		if err := <-done; err != nil {
			t.Errorf("the server ended with %v; want no error when its input ends", err)
		}
	})
	return func(tool, args string) string {
		t.Helper()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
		if err != nil {
			return err.Error()
		}
		b, _ := json.Marshal(result)
		return string(b)
	}
}

func TestTools(t *testing.T) {
	at := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	d := &fakeDaemon{
		sessions: []wire.Session{{ID: "s1", Agent: "codex", Status: "running", Since: at, Title: "fix\x1b[31m it", Cwd: "/p"}},
		page: wire.QueryResult{Next: "7", Entries: []wire.Entry{{
			Event:   json.RawMessage(`{"id":"e1","time":"2026-11-18T12:00:00Z","agent":"codex","session":"s1","kind":"turn.start","prompt":"go on"}`),
			Outcome: &wire.Outcome{Decision: json.RawMessage(`{"verdict":"deny","reason":"not that","by":"team"}`)},
		}}},
	}
	call := serve(t, d)
	if got := call("sessions", `{}`); !strings.Contains(got, `"id":"s1"`) || strings.Contains(got, `\u001b`) {
		t.Errorf("sessions: %s; want the session, without control characters", got)
	}
	got := call("history", `{"text":" go ","session":"s1","agent":"codex","decision":"deny","hours":2,"limit":5000,"before":"9"}`)
	for _, want := range []string{`"id":"e1"`, `"decision":"deny"`, `"reason":"not that"`, `"earlier":"7"`, "go on"} {
		if !strings.Contains(got, want) {
			t.Errorf("history: want %s in %s", want, got)
		}
	}
	if q := d.asked; q.Limit != mostEvents || q.Text != "go" || q.Session != "s1" || fmt.Sprint(q.Agents) != "[codex]" || q.Verdict != "deny" ||
		q.Before != "9" || !q.Newest || q.Since.IsZero() {
		t.Errorf("the daemon was asked for %+v", q)
	}
	if call("history", `{}`); d.asked.Limit != defaultEvents || !d.asked.Since.IsZero() {
		t.Errorf("without arguments the daemon was asked for %+v", d.asked)
	}
	if got := call("history", `{"decision":"maybe"}`); !strings.Contains(got, "there's no decision") {
		t.Errorf("an unknown decision: %s", got)
	}
	if got := call("budgets", `{}`); !strings.Contains(got, `"leftPercent":37.5`) || !strings.Contains(got, `"askAt":80`) ||
		!strings.Contains(got, `"usedPercent":null`) {
		t.Errorf("budgets: %s", got)
	}
	d.err = client.ErrNoDaemon
	if got := call("sessions", `{}`); !strings.Contains(got, "daemon isn't running") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("without a daemon: %s", got)
	}
}
