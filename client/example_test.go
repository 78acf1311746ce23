package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"strings"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
)

// docs/contributing/sdk.md shows these very functions.

// follow prints what every agent does from now on.
func follow(ctx context.Context) error {
	var daemon client.Client
	return daemon.Stream(ctx, client.StreamParams{}, func(note client.Note) error {
		if note.Entry == nil {
			return nil // ready, an outcome, a problem, a trace
		}
		var ev event.Event
		if err := json.Unmarshal(note.Entry.Event, &ev); err != nil {
			return err
		}
		fmt.Println(ev.Time.Format("15:04:05"), ev.Agent, ev.Kind, ev.Session)
		return nil
	})
}

// ask reports a tool call and does what the answer says.
func ask(ctx context.Context, command string) (allowed bool, err error) {
	payload, err := json.Marshal(map[string]any{
		"session_id": "my-run", "tool_name": "Bash", "tool_input": map[string]string{"command": command},
	})
	if err != nil {
		return false, err
	}
	var daemon client.Client
	result, err := daemon.Push(ctx, client.PushParams{
		Agent: "claude", Event: "PreToolUse", Payload: payload, Timeout: 60,
	})
	if err != nil {
		return false, err
	}
	var decision event.Decision
	if err := json.Unmarshal(result.Decision, &decision); err != nil {
		return false, err
	}
	return decision.Verdict != event.Deny && decision.Verdict != event.Ask, nil
}

// denials prints what was refused, oldest first.
func denials(ctx context.Context) error {
	var daemon client.Client
	query := client.QueryParams{Filter: client.Filter{Verdict: "deny"}, Limit: 100}
	return daemon.Query(ctx, query, func(entry client.Entry) bool {
		fmt.Printf("%s %s\n", entry.Cursor, entry.Event)
		return true
	})
}

// refuseDeploys answers what agents ask, where a person would: agents wait for
// it as long as it runs.
func refuseDeploys(ctx context.Context) error {
	var daemon client.Client
	return daemon.Inbox(ctx, func(note client.InboxNote) error {
		if note.Item == nil || note.Item.Status != "pending" || !strings.Contains(note.Item.Shown, "deploy") {
			return nil
		}
		result, err := daemon.Reply(ctx, client.InboxReply{
			ID: note.Item.ID, Choice: "deny", Reason: "deploys are for people", SHA256: note.Item.SHA256,
		})
		if err == nil {
			fmt.Println(note.Item.ID, result.Outcome)
		}
		return err
	})
}

// scriptDaemon stands for the daemon of this user: it answers each method with its
// line and hangs up. What it returns ends it.
func scriptDaemon(answers map[string]string) (end func()) {
	dir, err := sandbox.ShortDir()
	if err != nil {
		log.Fatal(err)
	}
	os.Setenv("HOOKMUX_RUNTIME_DIR", dir)
	stop, err := sandbox.ServeSocket(dir+"/daemon.sock", func(conn net.Conn) {
		var request struct{ Method string }
		if err := json.NewDecoder(conn).Decode(&request); err == nil {
			fmt.Fprintln(conn, answers[request.Method])
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	return func() {
		stop()
		os.Unsetenv("HOOKMUX_RUNTIME_DIR")
		os.RemoveAll(dir)
	}
}

func ExampleClient_Inbox() {
	end := scriptDaemon(map[string]string{
		"inbox.stream": `{"method":"inbox.received","params":{"id":"kefu","status":"pending","shown":"$ make deploy"}}`,
		"inbox.reply":  `{"id":1,"result":{"id":"kefu","outcome":"delivered"}}`,
	})
	defer end()
	if err := refuseDeploys(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// kefu delivered
	// the daemon hung up: EOF
}

func ExampleClient_Stream() {
	end := scriptDaemon(map[string]string{
		"events.stream": `{"method":"events.event","params":{"cursor":"1","event":` +
			`{"time":"2026-01-02T15:04:05Z","agent":"claude","kind":"turn.end","session":"s1"}}}`,
	})
	defer end()
	if err := follow(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 15:04:05 claude turn.end s1
	// the daemon hung up: EOF
}

func ExampleClient_Push() {
	end := scriptDaemon(map[string]string{"event.push": `{"id":1,"result":{"id":"e1","decision":{"verdict":"deny"}}}`})
	defer end()
	fmt.Println(ask(context.Background(), "make deploy"))
	// Output: false <nil>
}

func ExampleClient_Query() {
	end := scriptDaemon(map[string]string{
		"journal.query": `{"id":1,"result":{"entries":[{"cursor":"7","event":{"kind":"tool.before"}}]}}`,
	})
	defer end()
	if err := denials(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output: 7 {"kind":"tool.before"}
}

// Without a daemon there is one error to look for.
func ExampleClient_Info() {
	dir, err := sandbox.ShortDir()
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	daemon := client.Client{Socket: dir + "/daemon.sock"} // the zero Client finds this user's
	if _, err := daemon.Info(context.Background()); errors.Is(err, client.ErrNoDaemon) {
		fmt.Println(err)
	}
	// Output: the daemon isn't running; start it with `hookmux daemon start`
}
