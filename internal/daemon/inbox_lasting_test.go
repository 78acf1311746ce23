package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

func TestPermissions(t *testing.T) {
	w := open(t)
	w.watchInbox()
	call := w.startCall(permission("s", "npm test"))
	item := w.waiting()
	for name, p := range map[string]wire.InboxReplyParams{
		"no rule seen":    {ID: item.ID, Choice: "always"},
		"another rule":    {ID: item.ID, Choice: "always", Rule: "run exactly: npm tes"},
		"no such scope":   {ID: item.ID, Choice: "always", Rule: item.Rule, Scope: "galaxy"},
		"no project":      {ID: item.ID, Choice: "always", Rule: item.Rule, Scope: "project"},
		"no suggestion":   {ID: item.ID, Choice: "always", Suggestion: 1},
		"all, everywhere": {ID: item.ID, Choice: "all", Scope: "everywhere"},
		"not offered":     {ID: item.ID, Choice: "bypass"},
		"no question":     {ID: item.ID, Choice: "answer"},
	} {
		if err := w.Call(wire.MethodInboxReply, p, nil); err == nil {
			t.Errorf("name = %q: got no error, want one", name)
		}
	}
	for _, one := range []struct {
		method string
		params any
	}{{wire.MethodFleetLeave, wire.FleetLeaveParams{}}, {wire.MethodFleetRemove, wire.FleetMemberParams{Member: "build"}},
		{wire.MethodFleetInvite, wire.FleetInviteParams{Role: "member"}}} {
		if err := w.Call(one.method, one.params, nil); err == nil || !strings.Contains(err.Error(), wire.NoFleet) {
			t.Errorf("%s: error %v, want %q", one.method, err, wire.NoFleet)
		}
	}
	if asked := w.Person.Asked(); len(asked) > 0 {
		t.Errorf("the user was asked for a code for what can't succeed: %q", asked)
	}
	result := w.say(wire.InboxReplyParams{ID: item.ID, Choice: "always", Rule: item.Rule, Scope: "everywhere"})
	if result.Permission == nil || result.Permission.Rule != "run exactly: npm test" || result.Permission.Scope != "everywhere" {
		t.Fatalf(`result = %+v, want result.Permission other than nil, result.Permission.Rule = "run exactly: npm test" and `+
			`result.Permission.Scope = "everywhere"`, result)
	}
	call.answer()
	allowed := func(r frame.Request) bool { return strings.Contains(string(w.Send(r).Stdout), `"allow"`) }
	if !allowed(permission("another", "npm test")) {
		t.Error("a standing yes was not given")
	}
	for _, other := range []string{"npm test --all", "npm test; rm x", "npm test && ls", "npm test > x",
		"FOO=1 npm test", "sudo npm test", "npm $X", "npm test &"} {
		call := w.startCall(permission("s", other))
		w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: w.waiting().ID}, nil)
		if got, _ := call.answer(); got != "" {
			t.Errorf("%q was let pass: %s", other, got)
		}
	}
	// It lasts, and it can be taken back.
	w.Down()
	w.Up()
	w.h.approvals.SetGrace(0)
	if !allowed(permission("another", "npm test")) {
		t.Error(`forgotten; want allowed(permission("another", "npm test"))`)
	}
	var list []wire.PermissionInfo
	w.MustCall(wire.MethodPermissions, nil, &list)
	if len(list) != 1 || list[0].Used != 1 {
		t.Fatalf("list = %+v, want 1 of them and list[0].Used = 1", list)
	}
	w.MustCall(wire.MethodPermissionRemove, wire.InboxIDParams{ID: list[0].ID}, nil)
	w.mustAsk(permission("another", "npm test"))
	if err := w.Call(wire.MethodPermissionRemove, wire.InboxIDParams{ID: list[0].ID}, nil); err == nil {
		t.Error("revoked twice; want an error")
	}
}

// A permission never beats a deny, and everything of a session ends with it.
func TestAllOfASession(t *testing.T) {
	w := open(t)
	reader := w.watchInbox()
	_ = reader
	call := w.startCall(permission("s", "one"))
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "all"})
	call.answer()
	if got := w.Send(permission("s", "two | three")); !strings.Contains(string(got.Stdout), `"allow"`) {
		t.Errorf(`got.Stdout = %s, want "allow" in it`, got.Stdout)
	}
	b, _ := json.Marshal("block")
	w.MustCall(wire.MethodConfigSet, wire.ConfigSetParams{Key: "guard.destructive", Value: b}, nil)
	w.MustDeny(permission("s", "git push --force"), "git-history.force-push")
	w.Send(daemontest.SessionEvent("claude", "SessionEnd", map[string]any{"session_id": "s"}))
	w.Eventually("the permission went with the session", func() bool {
		var list []wire.PermissionInfo
		w.MustCall(wire.MethodPermissions, nil, &list)
		return len(list) == 0
	})
}

// Whoever edits our files permissions nothing.
func TestForgedPermissions(t *testing.T) {
	w := newFixture(t)
	forged := `{"content":[{"id":"gaaaa","agent":"claude","scope":"everywhere","rule":{"all":true},"created":"2026-01-01T00:00:00Z"}],"mac":"00"}`
	if err := os.MkdirAll(w.Dirs.State, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.Dirs.State, "permissions.json"), []byte(forged), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Up()
	w.mustAsk(permission("s", "anything"))
	info, err := w.Client.Info(context.Background())
	if err != nil || !strings.Contains(fmt.Sprint(info.Problems), "hookmux didn't write this file") {
		t.Errorf(`info.Problems = %+v, error %v; want no error and "hookmux didn't write this file" in `+
			`fmt.Sprint(info.Problems)`, info.Problems, err)
	}
	// Under a running daemon the file is not read at all.
	if err := os.WriteFile(filepath.Join(w.Dirs.State, "permissions.json"), []byte(forged), 0o600); err != nil {
		t.Fatal(err)
	}
	w.mustAsk(permission("s", "anything"))
}

// Agents may neither answer nor be taken for somebody who could.
func TestAgentsCannotAnswer(t *testing.T) {
	w := open(t)
	w.watchInbox()
	call := w.startCall(permission("s", "make"))
	item := w.waiting()
	w.SetProcesses(daemontest.BelowAgent("claude"))
	for method, params := range map[string]any{
		wire.MethodInboxReply:       wire.InboxReplyParams{ID: item.ID, Choice: "once"},
		wire.MethodInboxSkip:        wire.InboxIDParams{ID: item.ID},
		wire.MethodPermissionRemove: wire.InboxIDParams{ID: "g"},
		wire.MethodAway:             nil,
		wire.MethodBack:             nil,
		wire.MethodPIN:              wire.PINParams{New: "1234"},
		wire.MethodCmuxPermit:       map[string]string{"request_id": item.ID, "mode": "once"},
		wire.MethodCmuxQuestion:     map[string]string{"request_id": item.ID},
		wire.MethodCmuxPlan:         map[string]string{"request_id": item.ID, "mode": "manual"},
	} {
		if err := w.Call(method, params, nil); err == nil || !strings.Contains(err.Error(), "claude") {
			t.Errorf(`%s: error %v, want an error and "claude" in err.Error()`, method, err)
		}
	}
	w.SetProcesses(daemontest.AtTerminal())
	if got := w.waiting(); got.Status != "pending" {
		t.Errorf(`got %+v, want got.Status = "pending"`, got)
	}
	w.Eventually("every attempt is journalled", func() bool {
		n := 0
		for _, r := range w.Rows() {
			if r.Native == "refused" {
				n++
			}
		}
		return n == 9
	})
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	call.answer()
}

// A person sees everything; what cannot answer sees what the journal gets.
func TestOnlyAPersonSeesSecrets(t *testing.T) {
	w := open(t)
	w.watchInbox()
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	call := w.startCall(permission("s", "curl -H 'Authorization: Bearer "+secret+"' x"))
	item := w.waiting()
	if !strings.Contains(item.Shown, secret) || !strings.Contains(string(item.Input), secret) ||
		!strings.Contains(item.Rule, secret) {
		t.Errorf("the user does not see what they decide about: %+v", item)
	}
	w.SetProcesses(proctest.New(proctest.Node{PID: os.Getpid(), Name: "statusbar", Session: true}))
	var seen, list json.RawMessage
	w.MustCall(wire.MethodInboxItems, wire.InboxListParams{All: true}, &seen)
	w.MustCall(wire.MethodCmuxList, nil, &list)
	conn := w.Dial()
	_, _ = conn.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"inbox.stream"}` + "\n"))
	reader := bufio.NewReader(conn)
	_, _ = reader.ReadString('\n')
	line, _ := reader.ReadString('\n')
	for name, text := range map[string]string{"inbox.items": string(seen), "feed.list": string(list),
		"inbox.stream": line} {
		if strings.Contains(text, secret) || !strings.Contains(text, "curl") {
			t.Errorf("%s shows an agent %s", name, text)
		}
	}
	w.SetProcesses(daemontest.AtTerminal())
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	call.answer()
	b, _ := os.ReadFile(filepath.Join(w.Dirs.State, "decisions.jsonl"))
	if strings.Contains(string(b), secret) || !strings.Contains(string(b), item.SHA256) {
		t.Errorf("on record: %s; want no secret in string(b) and item.SHA256 in string(b)", b)
	}
}

func TestAnAgentsStreamIsNoSurface(t *testing.T) {
	w := open(t)
	w.SetProcesses(daemontest.BelowAgent("qwen"))
	w.watchInbox()
	w.MustPass(hiddenPermission("make"))
}

func TestPINForApprovals(t *testing.T) {
	w := open(t)
	w.watchInbox()
	w.MustCall(wire.MethodPIN, wire.PINParams{New: "2468"}, nil)
	call := w.startCall(permission("s", "make"))
	id := w.waiting().ID
	for _, pin := range []string{"", "1111"} {
		var rpc *wire.Error
		err := w.Call(wire.MethodInboxReply, wire.InboxReplyParams{ID: id, Choice: "once", PIN: pin}, nil)
		if !errors.As(err, &rpc) || rpc.Code != wire.CodePIN {
			t.Errorf("%q: error %v, want errors.As(err, &rpc) and rpc.Code = wire.CodePIN", pin, err)
		}
	}
	w.say(wire.InboxReplyParams{ID: id, Choice: "once", PIN: "2468"})
	if got, _ := call.answer(); !strings.Contains(got, "allow") {
		t.Errorf(`call.answer() = %q, want "allow" in it`, got)
	}
	// A no needs none.
	call = w.startCall(permission("s", "make"))
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "deny"})
	call.answer()
	if err := w.Call(wire.MethodPIN, wire.PINParams{New: ""}, nil); err == nil {
		t.Error("dropped without it")
	}
	w.MustCall(wire.MethodPIN, wire.PINParams{PIN: "2468"}, nil)
}
