package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/polkit"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

func asksFor(tool string, input map[string]any) frame.Request {
	return daemontest.SessionEvent("claude", "PermissionRequest", map[string]any{"tool_name": tool, "tool_input": input})
}

// setProof changes a setting about proofs, as a person does.
func (w *daemonFixture) setProof(key, value, pin string) error {
	return w.Call(wire.MethodConfigSet, wire.ConfigSetParams{Key: key, Value: json.RawMessage(value), PIN: pin}, nil)
}

func isRefused(err error) bool {
	var refused *client.RefusedError
	return errors.As(err, &refused)
}

func TestProofOfChosenKinds(t *testing.T) {
	w := open(t)
	w.watchInbox()
	w.MustCall(wire.MethodPIN, wire.PINParams{New: "2468"}, nil)
	for _, pin := range []string{"", "1111"} {
		if err := w.setProof("approvals.kinds", `["file_write","plan"]`, pin); !client.NeedsPIN(err) {
			t.Errorf("changed with the PIN %q: error %v, want one that asks for the PIN", pin, err)
		}
	}
	if err := w.setProof("approvals.kinds", `["file_write","plan"]`, "2468"); err != nil {
		t.Fatal(err)
	}
	shell := permission("s", "make")
	write := asksFor("Write", map[string]any{"file_path": "/tmp/x", "content": "y"})
	edit := asksFor("Edit", map[string]any{"file_path": "/tmp/x", "old_string": "y", "new_string": "z"})
	plan := asksFor("ExitPlanMode", map[string]any{"plan": "1. do it"})
	mcp := asksFor("mcp__db__drop", map[string]any{"table": "x"})
	for _, c := range []struct {
		name  string
		call  frame.Request
		reply wire.InboxReplyParams
		asks  bool
	}{
		{"a command", shell, wire.InboxReplyParams{Choice: "once"}, false},
		{"a command for good", shell, wire.InboxReplyParams{Choice: "always", Rule: "run exactly: make"}, true},
		{"everything", shell, wire.InboxReplyParams{Choice: "all"}, true},
		{"a refused command", shell, wire.InboxReplyParams{Choice: "deny"}, false},
		{"a written file", write, wire.InboxReplyParams{Choice: "once"}, true},
		{"a file not written", write, wire.InboxReplyParams{Choice: "deny"}, false},
		// An edit writes a file, whatever the tool is called.
		{"an edited file", edit, wire.InboxReplyParams{Choice: "once"}, true},
		{"a plan", plan, wire.InboxReplyParams{Choice: "plan", Plan: "manual"}, true},
		{"no plan", plan, wire.InboxReplyParams{Choice: "plan", Plan: "reject"}, false},
		{"a tool of a server", mcp, wire.InboxReplyParams{Choice: "once"}, false},
	} {
		call := w.startCall(c.call)
		c.reply.ID = w.waiting().ID
		err := w.Call(wire.MethodInboxReply, c.reply, nil)
		if c.asks != client.NeedsPIN(err) || !c.asks && err != nil {
			t.Errorf("%s: error %v, want it to ask for the PIN: %v", c.name, err, c.asks)
		}
		if c.asks {
			w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: c.reply.ID}, nil)
		}
		call.answer()
	}
	// It lasts, and goes with nothing but a person's word.
	w.Down()
	w.Up()
	if got := w.h.approvals.Proofs().PIN().Proof().Kinds; strings.Join(got, " ") != "file_write plan" {
		t.Errorf("after a restart the kinds are %q, want those that were set", got)
	}
	w.MustCall(wire.MethodPIN, wire.PINParams{PIN: "2468"}, nil)
	if got := w.h.approvals.Proofs().PIN().Proof().Kinds; strings.Join(got, " ") != "file_write plan" {
		t.Errorf("without a PIN the kinds are %q, want those that were set", got)
	}
	if err := w.Call(wire.MethodConfigSet, wire.ConfigSetParams{Key: "approvals.kinds"}, nil); err != nil {
		t.Fatal(err)
	}
	if got := w.h.approvals.Proofs().PIN().Proof().Kinds; got != nil {
		t.Errorf("taken back the kinds are %q, want all", got)
	}
}

func TestProofSettingsThatCannotBe(t *testing.T) {
	w := open(t)
	for name, c := range map[string]struct {
		p    wire.ConfigSetParams
		want string
	}{
		"no kind":    {wire.ConfigSetParams{Key: "approvals.kinds", Value: json.RawMessage(`["shel"]`)}, `approvals.kinds can't be "shel"`},
		"Touch ID":   {wire.ConfigSetParams{Key: "approvals.proof", Value: json.RawMessage(`"touchid"`)}, "LocalAuthentication"},
		"no way":     {wire.ConfigSetParams{Key: "approvals.proof", Value: json.RawMessage(`"none"`)}, "choose from pin, polkit"},
		"a project":  {wire.ConfigSetParams{Key: "approvals.kinds", Value: json.RawMessage(`[]`), Project: w.Dirs.Home}, "by a project"},
		"a PIN here": {wire.ConfigSetParams{Key: "approvals.pin", Value: json.RawMessage(`"off"`)}, "asks for the PIN itself"},
	} {
		if err := w.Call(wire.MethodConfigSet, c.p, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	err := w.setProof("approvals.proof", `"polkit"`, "")
	if root := os.Getuid() == 0; root != (err != nil && strings.Contains(err.Error(), "proves nothing for root")) {
		t.Errorf("polkit: error %v, want one about root if and only if this is root (%v)", err, root)
	}
}

// playedPolkit answers for polkit.
type playedPolkit struct {
	mu     sync.Mutex
	answer func(ctx context.Context) error
	asked  []polkit.Process
	texts  []string
}

func (p *playedPolkit) Check(ctx context.Context, who polkit.Process, text string) error {
	p.mu.Lock()
	p.asked, p.texts = append(p.asked, who), append(p.texts, text)
	answer := p.answer
	p.mu.Unlock()
	return answer(ctx)
}

func (p *playedPolkit) setAnswer(answer func(ctx context.Context) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer
}

// mustBeAsked gives the last question, and fails where there were not that many.
func (p *playedPolkit) mustBeAsked(t *testing.T, times int) (who polkit.Process, text string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.asked) != times {
		t.Fatalf("polkit was asked %d times, want %d", len(p.asked), times)
	}
	if times == 0 {
		return polkit.Process{}, ""
	}
	return p.asked[times-1], p.texts[times-1]
}

// openPolkit returns a daemon whose approvals ask polkit.
func openPolkit(t *testing.T) (*daemonFixture, *playedPolkit) {
	w := open(t)
	p := &playedPolkit{answer: func(context.Context) error { return nil }}
	w.h.approvals.Proofs().Polkit = p
	if err := w.h.approvals.Proofs().PIN().ChangeProof("", func(p *ledger.Proof) { p.Way = ledger.ByPolkit }); err != nil {
		t.Fatal(err)
	}
	w.watchInbox()
	return w, p
}

func TestPolkitForApprovals(t *testing.T) {
	w, p := openPolkit(t)
	call := w.startCall(permission("s", "make"))
	id := w.waiting().ID
	p.setAnswer(func(context.Context) error { return errors.New("the dialog was dismissed") })
	for _, reply := range []wire.InboxReplyParams{{Choice: "once"}, {Choice: "all"}, {Choice: "once", PIN: "2468"}} {
		reply.ID = id
		err := w.Call(wire.MethodInboxReply, reply, nil)
		if !isRefused(err) || !strings.Contains(err.Error(), "the dialog was dismissed") {
			t.Errorf("%+v: error %v, want a refusal that says why", reply, err)
		}
	}
	p.setAnswer(func(context.Context) error { return nil })
	w.say(wire.InboxReplyParams{ID: id, Choice: "once"})
	if got, _ := call.answer(); !strings.Contains(got, "allow") {
		t.Errorf("the agent hears %q, want it allowed", got)
	}
	who, text := p.mustBeAsked(t, 4)
	me, err := w.h.deps.Processes.Lookup(os.Getpid())
	if want := (polkit.Process{PID: me.PID, Start: me.Start, UID: os.Getuid()}); err != nil || who != want {
		t.Errorf("polkit was asked about %+v, want %+v, who answered (%v)", who, want, err)
	}
	if !strings.Contains(text, "make") {
		t.Errorf("polkit was asked for %q, want the request in it", text)
	}
	// Refusing and releasing ask nobody.
	call = w.startCall(permission("s", "make"))
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "deny"})
	call.answer()
	call = w.startCall(permission("s", "make"))
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: w.waiting().ID}, nil)
	call.answer()
	p.mustBeAsked(t, 4)
	// It comes in addition to the trusted terminal, not in its place.
	call = w.startCall(permission("s", "make"))
	id = w.waiting().ID
	w.SetProcesses(daemontest.BelowAgent("claude"))
	if err := w.Call(wire.MethodInboxReply, wire.InboxReplyParams{ID: id, Choice: "once"}, nil); err == nil {
		t.Error("an agent approved, as polkit would have")
	}
	p.mustBeAsked(t, 4)
	_ = call.conn.Close()
}

// Nobody types a password for what is over, nor two
// at once.
func TestPolkitEndsWithTheRequest(t *testing.T) {
	w, p := openPolkit(t)
	call := w.startCall(permission("s", "make"))
	id := w.waiting().ID
	asking, ended := make(chan struct{}), make(chan error, 1)
	p.setAnswer(func(ctx context.Context) error {
		close(asking)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return context.Cause(ctx)
	})
	said := make(chan error, 1)
	go func() { said <- w.Call(wire.MethodInboxReply, wire.InboxReplyParams{ID: id, Choice: "once"}, nil) }()
	<-asking
	err := w.Call(wire.MethodInboxReply, wire.InboxReplyParams{ID: id, Choice: "once"}, nil)
	if !isRefused(err) || !strings.Contains(err.Error(), "another answer already") {
		t.Errorf("a second answer: error %v, want a refusal, as one dialog is open", err)
	}
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: id}, nil)
	if got, _ := call.answer(); strings.Contains(got, "allow") {
		t.Errorf("the agent hears %q, want nothing", got)
	}
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "the request ended") {
		t.Errorf("the dialog ended for %v, want because the request did", err)
	}
	if err := <-said; !isRefused(err) {
		t.Errorf("the answer: error %v, want a refusal", err)
	}
}

// Neither does a dialog outlive who wanted it, nor
// hold up a daemon that stops.
func TestPolkitEndsWithItsCaller(t *testing.T) {
	w, p := openPolkit(t)
	w.startCall(permission("s", "make"))
	id := w.waiting().ID
	ended := make(chan struct{}, 1)
	asking := make(chan struct{}, 1)
	p.setAnswer(func(ctx context.Context) error {
		asking <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return ctx.Err()
	})
	reply, _ := json.Marshal(wire.InboxReplyParams{ID: id, Choice: "once"})
	line := `{"jsonrpc":"2.0","id":1,"method":"inbox.reply","params":` + string(reply) + "}\n"
	conn := w.Dial()
	if _, err := conn.Write([]byte(line)); err != nil {
		t.Fatal(err)
	}
	<-asking
	_ = conn.Close()
	<-ended
	said := make(chan error, 1)
	go func() {
		for {
			err := w.Call(wire.MethodInboxReply, wire.InboxReplyParams{ID: id, Choice: "once"}, nil)
			if err == nil || !strings.Contains(err.Error(), "another answer already") {
				said <- err
				return
			}
		}
	}()
	<-asking
	w.Down()
	<-ended
	if err := <-said; err == nil {
		t.Error("a daemon that stops approved")
	}
}

// A later hookmux may know other ways.
func TestUnknownWayApprovesNothing(t *testing.T) {
	w, p := openPolkit(t)
	if err := w.h.approvals.Proofs().PIN().ChangeProof("", func(p *ledger.Proof) { p.Way = "iris" }); err != nil {
		t.Fatal(err)
	}
	w.startCall(permission("s", "make"))
	err := w.Call(wire.MethodInboxReply, wire.InboxReplyParams{ID: w.waiting().ID, Choice: "once"}, nil)
	if !isRefused(err) || !strings.Contains(err.Error(), "iris") {
		t.Errorf("error %v, want a refusal that names the way", err)
	}
	p.mustBeAsked(t, 0)
}
