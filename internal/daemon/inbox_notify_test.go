package daemon

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/ui/notify/bustest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// receiver is a webhook that keeps what it is told.
type receiver struct {
	mu    sync.Mutex
	posts []map[string]any
	code  int
}

// startReceiver listens, and has the daemon tell it.
func (w *daemonFixture) startReceiver() *receiver {
	w.T.Helper()
	r := &receiver{code: http.StatusOK}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		b, _ := io.ReadAll(request.Body)
		var post map[string]any
		_ = json.Unmarshal(b, &post)
		r.mu.Lock()
		r.posts = append(r.posts, post)
		code := r.code
		r.mu.Unlock()
		answer.WriteHeader(code)
	}))
	w.T.Cleanup(server.Close)
	w.set("notify.channels", "webhook")
	w.set("notify.webhook", server.URL+"/hook/T0KEN")
	w.set("notify", "on")
	return r
}

func (r *receiver) all() []map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]map[string]any(nil), r.posts...)
}

// told waits for a post about an event ("notice", "over") of a request.
func (r *receiver) told(w *daemonFixture, event, id string) map[string]any {
	w.T.Helper()
	var found map[string]any
	w.Eventually(event+" of "+id+" is told", func() bool {
		for _, post := range r.all() {
			if post["event"] == event && (id == "" || post["id"] == id) {
				found = post
			}
		}
		return found != nil
	})
	return found
}

// A request is told, without secrets, and told to be over once it is answered.
func TestPersonIsTold(t *testing.T) {
	w := open(t)
	heard := w.startReceiver()
	w.set("notify.text", "full")
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	call := w.startCall(permission("s", "deploy "+secret+" \x1b]52;c;aGk=\a #(id) \u202egnp"))
	item := w.waiting()
	post := heard.told(w, "notice", item.ID)
	text, _ := json.Marshal(post)
	for _, bad := range []string{secret, "\x1b", `\u001b`, "\u202e"} {
		if strings.Contains(string(text), bad) {
			t.Errorf("the notice holds %q: %s", bad, text)
		}
	}
	if !strings.Contains(string(text), "deploy") || post["kind"] != "permission" || post["agent"] != "claude" {
		t.Errorf("the notice is %s, want the permission to deploy of claude", text)
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	if got, _ := call.answer(); !strings.Contains(got, `"allow"`) {
		t.Errorf("the hook heard %q, want an allow", got)
	}
	heard.told(w, "over", item.ID)
	var notices int
	for _, post := range heard.all() {
		if post["event"] == "notice" && post["id"] == item.ID {
			notices++
		}
	}
	if notices != 1 {
		t.Errorf("told %d times, want once: %v", notices, heard.all())
	}
	w.Eventually("status says so", func() bool {
		var info wire.NotifyInfo
		w.MustCall(wire.MethodNotifyStatus, nil, &info)
		for _, one := range info.Channels {
			if one.Name == "webhook" {
				return info.On && one.Told > 0 && one.Error == ""
			}
		}
		return false
	})
}

// The address of a webhook is shown to nobody.
func TestWebhookAddressIsSecret(t *testing.T) {
	w := open(t)
	heard := w.startReceiver()
	w.set("notify.webhookSecret", "K3Y-of-mine")
	var list []wire.Setting
	w.MustCall(wire.MethodConfigGet, wire.ConfigListParams{}, &list)
	b, _ := json.Marshal(list)
	if strings.Contains(string(b), "T0KEN") || strings.Contains(string(b), "K3Y-of-mine") {
		t.Errorf("the settings show a secret: %s", b)
	}
	if !strings.Contains(string(b), `"(set)"`) {
		t.Error("the settings do not say that a secret is set")
	}
	heard.mu.Lock()
	heard.code = http.StatusForbidden
	heard.mu.Unlock()
	call := w.startCall(permission("s", "make"))
	w.Eventually("the failure is reported", func() bool {
		p, ok := w.Problem("notify.webhook")
		if strings.Contains(p.What, "T0KEN") {
			t.Fatalf("the problem shows the address: %s", p.What)
		}
		return ok && strings.Contains(p.What, "403")
	})
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "deny"})
	call.answer()
	if w.h.notify.Reaches("claude", "permission") {
		t.Error("a channel that fails counts as one that reaches a person")
	}
}

// codexPermission returns a request of an agent whose own dialog is hidden while a hook
// waits.
func codexPermission(w *daemonFixture) frame.Request {
	return w.reviewedCall("user", "make")
}

// Being told holds what programs push.
func TestBeingToldHoldsWhatIsPushed(t *testing.T) {
	w := open(t)
	heard := w.startReceiver()
	done := make(chan string, 1)
	go func() {
		got, _ := w.cmux(wire.MethodCmuxPush, pushed("claude-s1", "PermissionRequest", "Bash",
			map[string]any{"command": "make"}, "r0"))
		done <- string(got)
	}()
	item := w.waiting()
	heard.told(w, "notice", item.ID)
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	select {
	case got := <-done:
		if !strings.Contains(got, `"resolved"`) {
			t.Errorf("the pushed request ended with %s, want resolved", got)
		}
	case <-time.After(daemontest.Patience):
		t.Error("the pushed request did not end")
	}
}

// A button says no, to the card it was shown with, and never yes.
func TestButtonDenies(t *testing.T) {
	w := open(t)
	w.startReceiver()
	call := w.startCall(permission("s", "make"))
	item := w.waiting()
	notices := approvals.NewNotices(w.h.approvals)
	if err := notices.DenyByButton(item.ID, "another"); err == nil {
		t.Error("a button of another card was taken")
	}
	if err := notices.DenyByButton(item.ID, item.SHA256); err != nil {
		t.Error(err)
	}
	if got, _ := call.answer(); !strings.Contains(got, `"deny"`) {
		t.Errorf("the hook heard %q, want a deny", got)
	}
	if err := notices.DenyByButton(item.ID, item.SHA256); err != nil {
		t.Errorf("a second press: %v", err)
	}
}

// Whatever is pressed on a notification, by whomever: nothing is approved. A button
// that only the bus's own notification server reports is a no at most.
func TestButtonsOfNotificationsApproveNothing(t *testing.T) {
	w, bus := openDesktop(t)
	call := w.startCall(permission("s", "make"))
	item := w.waiting()
	var shown bustest.Bubble
	w.Eventually("the request is shown", func() bool {
		for _, one := range bus.Shown() {
			if slices.Contains(one.Actions, "deny") {
				shown = one
			}
		}
		return shown.ID != 0
	})
	for i := 0; i < len(shown.Actions); i += 2 {
		if strings.Contains(strings.ToLower(strings.Join(shown.Actions[i:i+2], " ")), "approve") {
			t.Errorf("the notification has the button %q, want none that approves", shown.Actions[i:i+2])
		}
	}
	// A program of the user's on the bus, such as an agent's: nobody hears it.
	bus.Signal(":1.99", bustest.Action, shown.ID, "deny")
	// What `dunstctl action` and `makoctl invoke` make the server say.
	for _, button := range []string{"default", "show", "approve", "once", "always", "all", "yes", ""} {
		bus.Signal(bustest.Owner, bustest.Action, shown.ID, button)
	}
	w.Eventually("it still waits", func() bool { return len(w.items()) == 1 && w.items()[0].ID == item.ID })
	if len(call.reply) != 0 {
		t.Fatal("the hook was answered by a button that decides nothing")
	}
	bus.Signal(bustest.Owner, bustest.Action, shown.ID, "deny")
	if got, _ := call.answer(); !strings.Contains(got, `"deny"`) {
		t.Errorf("the hook heard %q, want a deny", got)
	}
	w.Eventually("the notification is withdrawn", func() bool { return len(bus.Shown()) == 0 })
}

// openDesktop returns a daemon that shows requests on a desktop of the test's.
func openDesktop(t *testing.T) (*daemonFixture, *bustest.Bus) {
	t.Helper()
	w := open(t)
	bus := bustest.Start(t)
	w.set("notify.channels", "desktop")
	w.set("notify.bus", bus.Address)
	w.set("notify", "on")
	return w, bus
}

// A request that is answered elsewhere takes its notification along.
func TestNotificationIsWithdrawn(t *testing.T) {
	w, bus := openDesktop(t)
	call := w.startCall(permission("s", "make"))
	item := w.waiting()
	w.Eventually("the request is shown", func() bool { return len(bus.Shown()) == 1 })
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	call.answer()
	w.Eventually("the notification is withdrawn", func() bool { return len(bus.Shown()) == 0 })
}

// A request that is left to the agent's own prompt keeps its notification, without
// the button that would do nothing.
func TestNotificationFollowsToTheWindow(t *testing.T) {
	w, bus := openDesktop(t)
	call := w.startCall(permission("s", "make"))
	item := w.waiting()
	w.Eventually("the request is shown", func() bool { return len(bus.Shown()) == 1 })
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: item.ID}, nil)
	call.answer()
	var shown []bustest.Bubble
	w.Eventually("the notification is that of the window", func() bool {
		shown = bus.Shown()
		return len(shown) == 1 && !slices.Contains(shown[0].Actions, "deny")
	})
	if !strings.Contains(shown[0].Body, "hookmux jump") {
		t.Errorf("the notification says %q, want where to go", shown[0].Body)
	}
}

// What an agent's own reviewer decides is told to nobody.
func TestReviewedIsNotTold(t *testing.T) {
	w := open(t)
	heard := w.startReceiver()
	if got, ok := w.startCall(w.reviewedCall("auto_review", "make install")).answer(); got != "" || !ok {
		t.Errorf("the hook heard %q (%v), want nothing", got, ok)
	}
	call := w.startCall(permission("s", "make"))
	item := w.waiting()
	heard.told(w, "notice", item.ID)
	for _, post := range heard.all() {
		if post["agent"] == "codex" {
			t.Errorf("told %v, which Codex decides by itself", post)
		}
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "deny"})
	call.answer()
}

// The end of a turn is told to who wants to hear of it.
func TestEndOfATurnIsTold(t *testing.T) {
	w := open(t)
	heard := w.startReceiver()
	w.set("notify.kinds", "finished")
	w.set("notify.turn", "0s")
	w.tell("claude", "UserPromptSubmit", "s", map[string]any{"prompt": "go"})
	w.tell("claude", "Stop", "s", nil)
	post := heard.told(w, "notice", "")
	if post["kind"] != "finished" || post["session"] != "s" {
		t.Errorf("told %v, want the end of the turn", post)
	}
}

// A question that outlives its daemon is told once more by the next one, which does not know
// what was told: twice is better than never. What the first one showed goes with it.
func TestToldAgainByTheNextDaemon(t *testing.T) {
	w := open(t)
	heard, bus := w.startReceiver(), bustest.Start(t)
	w.set("notify.bus", bus.Address)
	w.set("notify.channels", "webhook,desktop")
	call := permission("s", "make")
	w.startCall(call)
	heard.told(w, "notice", w.waiting().ID)
	w.Eventually("the request is shown", func() bool { return len(bus.Shown()) == 1 })
	w.Down()
	if shown := bus.Shown(); len(shown) != 0 {
		t.Errorf("%+v are still shown without a daemon", shown)
	}
	before := len(heard.all())
	w.Up()
	again := w.startCall(call)
	item := w.waiting()
	w.Eventually("it is told once more", func() bool { return len(heard.all()) == before+1 && len(bus.Shown()) == 1 })
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	if got, _ := again.answer(); !strings.Contains(got, `"allow"`) {
		t.Errorf("the hook heard %q, want an allow", got)
	}
	w.Eventually("nothing is shown", func() bool { return len(bus.Shown()) == 0 })
}

// The command of notify.command can be a channel like the others: told once, by their rules, and
// without keeping an agent waiting whose own dialog is hidden.
func TestPushIsAChannel(t *testing.T) {
	w := open(t)
	file := filepath.Join(w.Base, "heard")
	w.set("notify.command", "cat >>"+file+"; echo $HOOKMUX_REQUEST >>"+file)
	w.set("notify.channels", "push")
	w.set("notify", "on")
	w.MustPass(hiddenPermission("make"))
	heard := func() string { b, _ := os.ReadFile(file); return string(b) }
	w.Eventually("the command hears of what is at the agent's own prompt", func() bool {
		return strings.Contains(heard(), `"status":"prompt"`)
	})
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	call := w.startCall(permission("s", "deploy "+secret))
	item := w.waiting()
	w.Eventually("the command hears of the request", func() bool { return strings.HasSuffix(heard(), "\n"+item.ID+"\n") })
	if text := heard(); !strings.Contains(text, `"choices":["once"`) || strings.Contains(text, secret) ||
		strings.Count(text, "\n"+item.ID+"\n") != 1 {
		t.Errorf("the command read %q, want the request once, as ever, without the secret", text)
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	call.answer()
	w.set("notify.command", "exit 3")
	call = w.startCall(permission("s", "make"))
	w.Eventually("the failure is reported", func() bool { _, ok := w.Problem("notify.push"); return ok })
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "deny"})
	call.answer()
	// Without notices the setting is what it was.
	w.set("notify", "off")
	w.set("notify.command", "cat >/dev/null")
	call = w.startCall(codexPermission(w))
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "deny"})
	if got, _ := call.answer(); !strings.Contains(got, "deny") {
		t.Errorf("the hook heard %q, want a deny", got)
	}
}

// Many requests are a few notifications, which go with them.
func TestManyRequestsAreFewNotifications(t *testing.T) {
	w := open(t)
	bus := bustest.Start(t)
	w.set("notify.channels", "desktop")
	w.set("notify.bus", bus.Address)
	w.set("notify", "on")
	var calls []*pendingCall
	for i := range 9 {
		calls = append(calls, w.startCall(permission("s"+strconv.Itoa(i), "make")))
	}
	w.Eventually("one notification counts what has none", func() bool {
		shown := bus.Shown()
		return len(shown) == 4 && slices.ContainsFunc(shown, func(b bustest.Bubble) bool {
			return b.Title == "6 more requests wait for you" && !slices.Contains(b.Actions, "deny")
		})
	})
	for _, item := range w.items() {
		w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	}
	for _, call := range calls {
		call.answer()
	}
	w.Eventually("nothing is shown", func() bool { return len(bus.Shown()) == 0 })
}
