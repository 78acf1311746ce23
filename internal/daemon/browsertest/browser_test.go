// Package browsertest drives hookmux's page in a real Chromium.
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/hookmux/hookmux/internal/daemon"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// world is a daemon that serves the page, and a browser that shows it.
type world struct {
	*daemontest.Bench
	ctx    context.Context
	url    string
	errors []string // what the browser complained about
}

// findBrowser is a Chromium on this machine.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "chromium-headless-shell", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium is installed")
	return ""
}

func newWorld(t *testing.T) *world {
	t.Helper()
	program := findBrowser(t)
	w := &world{}
	w.Bench = daemontest.New(t, func(s daemontest.Setup) (daemontest.Daemon, error) {
		return daemon.New(daemon.Options{Dirs: s.Dirs, Table: s.Processes, Facts: s.Facts, Asker: s.Asker,
			Version: s.Version, PID: s.PID, Log: s.Log, LiveSettings: s.LiveSettings, Person: s.ByPerson})
	})
	w.Up()
	var status wire.WebStatus
	w.MustCall(wire.MethodWebStart, wire.WebStartParams{Listen: freeAddress(t)}, &status)
	w.url = status.URL
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.WindowSize(390, 844), chromedp.Flag("headless", "new"))
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, _ := chromedp.NewContext(allocated)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // waits for the browser's end
	w.ctx = ctx
	chromedp.ListenTarget(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			w.errors = append(w.errors, ev.ExceptionDetails.Error())
		}
	})
	w.resize(390, 844, "light")
	return w
}

// freeAddress is an address that a restarted daemon gets again.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (w *world) run(what string, actions ...chromedp.Action) {
	w.T.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, 20*time.Second)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		var text string
		_ = chromedp.Run(w.ctx, chromedp.Text("body", &text, chromedp.ByQuery))
		w.shot("failed")
		w.T.Fatalf("%s: %v\nthe page: %s\nerrors: %v", what, err, text, w.errors)
	}
}

func (w *world) resize(width, height int64, scheme string) {
	w.T.Helper()
	if err := chromedp.Run(w.ctx, chromedp.EmulateViewport(width, height, chromedp.EmulateScale(1)),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})); err != nil {
		w.T.Fatal(err)
	}
}

// shot keeps a picture, for those who set HOOKMUX_SHOTS to a folder.
func (w *world) shot(name string) {
	dir := os.Getenv("HOOKMUX_SHOTS")
	if dir == "" {
		return
	}
	var b []byte
	if err := chromedp.Run(w.ctx, chromedp.FullScreenshot(&b, 100)); err != nil {
		w.T.Log(err)
		return
	}
	_ = os.WriteFile(filepath.Join(dir, name+".png"), b, 0o600)
}

// shots keeps pictures in every size and colour scheme.
func (w *world) shots(name string) {
	if os.Getenv("HOOKMUX_SHOTS") == "" {
		return
	}
	for _, width := range []int64{390, 1440} {
		for _, scheme := range []string{"light", "dark"} {
			w.resize(width, 844, scheme)
			time.Sleep(400 * time.Millisecond) // animations; only for pictures
			w.shot(fmt.Sprintf("%s-%d-%s", name, width, scheme))
		}
	}
	w.resize(390, 844, "light")
}

// button finds a button of the card by its text.
func button(text string) string {
	return `//article//button[not(@disabled) and contains(., "` + text + `") and not(ancestor-or-self::*[@hidden])]`
}

// pair pairs the browser as you would.
func (w *world) pair() wire.WebDevice {
	w.T.Helper()
	var pairing wire.WebPairing
	w.MustCall(wire.MethodWebPair, wire.WebPairParams{}, &pairing)
	var shown, address string
	w.run("the digits", chromedp.Navigate("about:blank"), chromedp.Navigate(pairing.URL), chromedp.WaitVisible(".digits"),
		chromedp.Text(".digits", &shown), chromedp.Location(&address))
	w.shots("pair")
	var claim wire.WebClaim
	w.MustCall(wire.MethodWebPairWait, wire.WebPairingParams{Pairing: pairing.Pairing}, &claim)
	if strings.Join(strings.Fields(shown), "") != claim.Digits {
		w.T.Fatalf("the browser shows %q, the terminal %s", shown, claim.Digits)
	}
	if strings.Contains(address, "pair=") {
		w.T.Errorf("the code stays in the address: %s", address)
	}
	var device wire.WebDevice
	w.MustCall(wire.MethodWebPairConfirm, wire.WebConfirmParams{Pairing: pairing.Pairing, Digits: claim.Digits,
		Name: claim.Name, Scope: claim.Scope}, &device)
	w.run("the inbox", chromedp.WaitVisible(".home"))
	return device
}

// ask sends a hook call that waits for an answer.
func (w *world) ask(r frame.Request) chan string {
	said := make(chan string, 1)
	go func() {
		reply, err := w.TrySend(r)
		if err != nil {
			said <- "error: " + err.Error()
			return
		}
		said <- string(reply.Stdout)
	}()
	return said
}

// hears waits for what the agent is told.
func (w *world) hears(said chan string, with string) {
	w.T.Helper()
	select {
	case got := <-said:
		if !strings.Contains(got, with) {
			w.T.Errorf("the agent hears %q, want %q in it", got, with)
		}
	case <-time.After(daemontest.Patience):
		w.T.Fatalf("the agent hears nothing, want %q", with)
	}
}

func claude(tool string, input map[string]any) frame.Request {
	return daemontest.SessionEvent("claude", "PermissionRequest", map[string]any{"cwd": "/home/you/shop", "tool_name": tool,
		"tool_input": input})
}

func bash(command string) frame.Request {
	return claude("Bash", map[string]any{"command": command, "description": "Run the tests of the cart"})
}

// The whole way in a real browser: pair, approve, deny with a reason, answer a question,
// a plan, save a permission; reload, a restart of the daemon, and the device removed.
func TestPageInChromium(t *testing.T) {
	w := newWorld(t)
	w.run("without a device", chromedp.Navigate(w.url), chromedp.WaitVisible(`//h1[contains(., "Pair this device")]`))
	device := w.pair()
	w.audit("inbox")

	said := w.ask(bash("npm test -- --grep 'cart total'"))
	w.run("approve", chromedp.WaitVisible(button("Approve")), chromedp.WaitVisible(`//pre[contains(., "cart total")]`))
	w.audit("a request")
	w.run("approve", chromedp.Click(button("Approve")))
	w.hears(said, `"allow"`)
	w.run("it's gone", chromedp.WaitNotPresent("article"))

	said = w.ask(bash("git push --force origin main"))
	w.run("deny", chromedp.WaitVisible(button("Deny")), chromedp.Click(button("Deny")), chromedp.WaitVisible("article textarea"),
		chromedp.SendKeys("article textarea", "open a pull request instead"), chromedp.Click(`//article//form//button[contains(., "Deny")]`))
	w.hears(said, "open a pull request instead")

	said = w.ask(claude("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": "Which database should the shop use?",
		"header": "Database", "multiSelect": false, "options": []any{map[string]any{"label": "PostgreSQL", "description": "One more service, and no limits"},
			map[string]any{"label": "SQLite", "description": "One file, enough for one shop"}}}}}))
	w.run("the question", chromedp.WaitVisible(`//label[contains(., "SQLite")]`))
	w.audit("a question")
	w.shots("question")
	w.run("answer", chromedp.Click(`//label[contains(., "SQLite")]`), chromedp.Click(button("Answer")))
	w.hears(said, "SQLite")

	said = w.ask(claude("ExitPlanMode", map[string]any{"plan": "# Cart totals\n\n1. Add `Money`, which knows its currency\n2. Use it in **every** total\n   - orders\n   - refunds\n\nThen run the tests."}))
	w.run("the plan", chromedp.WaitVisible(".plan-h"))
	w.audit("a plan")
	w.shots("plan")
	w.run("accept", chromedp.Click(button("Approve")))
	w.hears(said, `"allow"`)

	said = w.ask(bash("npm run lint"))
	w.run("save a permission", chromedp.WaitVisible(button("save a permission")), chromedp.Click(button("save a permission")),
		chromedp.WaitVisible(".rule"))
	w.shots("permission")
	w.run("save it", chromedp.Click(`//article//form//button[contains(., "Approve and save")]`))
	w.hears(said, `"allow"`)
	var permissions []wire.PermissionInfo
	w.MustCall(wire.MethodPermissions, nil, &permissions)
	if len(permissions) != 1 || !strings.Contains(permissions[0].By, device.Name) {
		t.Errorf("saved permissions: %+v", permissions)
	}

	if os.Getenv("HOOKMUX_SHOTS") != "" {
		w.pictures()
	}

	w.run("reload", chromedp.Reload(), chromedp.WaitVisible(".home"), chromedp.WaitVisible(".link.live"))
	w.Down()
	w.run("offline", chromedp.WaitVisible(".link.offline"))
	w.Up()
	w.run("back", chromedp.WaitVisible(".link.live"))
	said = w.ask(bash("echo after the restart"))
	w.run("approve after a restart", chromedp.WaitVisible(button("Approve")), chromedp.Click(button("Approve")))
	w.hears(said, `"allow"`)

	w.run("the session", chromedp.Click(".session"), chromedp.WaitVisible(".timeline .ev"))
	w.audit("a session")
	w.run("the devices", chromedp.Click("#nav-devices"), chromedp.WaitVisible(".devices li"))
	w.audit("devices")
	w.MustCall(wire.MethodWebDeviceRemove, wire.WebDeviceParams{Device: device.ID}, nil)
	w.run("removed", chromedp.WaitVisible(`//h1[contains(., "Pair this device")]`))
	var kept int
	w.run("the key is gone", chromedp.Evaluate(`new Promise((done) => { const r = indexedDB.open('hookmux'); r.onsuccess = () => {
		const q = r.result.transaction('device').objectStore('device').count(); q.onsuccess = () => done(q.result) } })`, &kept,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if kept != 0 {
		t.Errorf("%d keys are kept after the device was removed", kept)
	}
	if len(w.errors) > 0 {
		t.Errorf("the page throws: %v", w.errors)
	}
}

// pictures are of a busy day, for the docs.
func (w *world) pictures() {
	project := map[string]string{"claude": "/home/you/shop", "codex": "/home/you/api", "gemini": "/home/you/docs", "opencode": "/home/you/mobile"}
	n := 0
	tell := func(agent, session, event string, more map[string]any) {
		n++
		body := map[string]any{"session_id": session, "hook_event_name": event, "cwd": project[agent]}
		for k, v := range more {
			body[k] = v
		}
		b, _ := json.Marshal(body)
		_, _ = w.TrySend(frame.Request{Agent: agent, Event: event, Payload: b, Cwd: project[agent], Deadline: time.Second})
	}
	tell("codex", "c-1", "UserPromptSubmit", map[string]any{"prompt": "Add pagination to the orders endpoint"})
	tell("claude", "s-2", "UserPromptSubmit", map[string]any{"prompt": "Write the changelog for 2.4"})
	tell("claude", "s-2", "Stop", map[string]any{"last_assistant_message": "The changelog has 14 entries, sorted by what users notice."})
	tell("gemini", "g-1", "BeforeAgent", map[string]any{"prompt": "Translate the guide into German"})
	tell("claude", "s1", "UserPromptSubmit", map[string]any{"prompt": "Fix the rounding of cart totals"})
	one := w.ask(claude("Edit", map[string]any{"file_path": "/home/you/shop/src/cart.ts", "old_string": "const total = items.reduce((sum, i) => sum + i.price * i.count, 0)\nreturn Math.round(total * 100) / 100",
		"new_string": "const cents = items.reduce((sum, i) => sum + toCents(i.price) * i.count, 0)\nreturn cents / 100"}))
	two := w.ask(bash("npm test -- --grep 'cart total' && git diff --stat"))
	w.run("cards", chromedp.WaitVisible(`//article[2]`), chromedp.WaitNotVisible("#toast"))
	w.shots("inbox")
	w.run("session", chromedp.Navigate(w.url+"/#/session/s1"), chromedp.WaitVisible(".timeline .ev"))
	w.shots("session")
	w.run("home", chromedp.Navigate(w.url+"/#/"), chromedp.WaitVisible(`//article[2]`))
	for range 2 {
		w.run("clear", chromedp.Click(button("Approve")))
		select {
		case <-one:
		case <-two:
		}
	}
}

// audit has axe-core look at the page, where HOOKMUX_AXE names its script (npm pack axe-core).
func (w *world) audit(what string) {
	w.T.Helper()
	file := os.Getenv("HOOKMUX_AXE")
	if file == "" {
		return
	}
	script, err := os.ReadFile(file)
	if err != nil {
		w.T.Fatal(err)
	}
	var found string
	for _, scheme := range []string{"light", "dark"} {
		w.resize(390, 844, scheme)
		time.Sleep(300 * time.Millisecond) // colours are measured when nothing moves any more
		w.run("axe", chromedp.Evaluate(string(script)+";0", nil), chromedp.Evaluate(
			`axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html + ' ' + n.failureSummary).join(' | ')).join('\n'))`,
			&found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
		if found != "" {
			w.T.Errorf("axe, %s, %s:\n%s", what, scheme, found)
		}
	}
	w.resize(390, 844, "light")
}

// hostile are texts that would do something in a page that reads markup.
var hostile = []string{
	`<script>window.hit=1</script>`, `<img src=x onerror="window.hit=1">`, `"><svg onload=window.hit=1>`,
	`javascript:window.hit=1`, `</pre></article><iframe srcdoc="<script>parent.hit=1</script>">`, `{{constructor.constructor('window.hit=1')()}}`,
	`${window.hit=1}`, `\u003cscript\u003ewindow.hit=1\u003c/script\u003e`, `' onmouseover='window.hit=1`, `<a href="javascript:window.hit=1">x</a>`,
	"**<img src=x onerror=window.hit=1>**", "`<script>window.hit=1</script>`", "# <script>window.hit=1</script>", "\u202e<b>x</b>\u2066",
	`<style>*{display:none}</style>`, `<form action=/api/unpair method=post><button>x</form>`, `__proto__`, `<base href=//evil.example>`,
}

// Text of an agent stays text in every place of the page.
func TestHostileTextsInChromium(t *testing.T) {
	w := newWorld(t)
	w.pair()
	all := strings.Join(hostile, "\n")
	for i, text := range hostile {
		session := fmt.Sprintf("%s-%d", text, i)
		for _, event := range []map[string]any{
			{"hook_event_name": "SessionStart"}, {"hook_event_name": "UserPromptSubmit", "prompt": text},
			{"hook_event_name": "PostToolUse", "tool_name": text, "tool_input": map[string]any{text: text}, "tool_response": text},
			{"hook_event_name": "Stop", "last_assistant_message": text},
		} {
			event["session_id"], event["cwd"], event["model"] = session, "/home/you/"+text, text
			b, _ := json.Marshal(event)
			if _, err := w.TrySend(frame.Request{Agent: "claude", Event: event["hook_event_name"].(string), Payload: b,
				Deadline: 5 * time.Second}); err != nil {
				t.Fatal(err)
			}
		}
	}
	options := []any{}
	for _, text := range hostile {
		options = append(options, map[string]any{"label": text, "description": text})
	}
	calls := []chan string{
		w.ask(claude("Bash", map[string]any{"command": all, "description": all, all: all})),
		w.ask(claude("Edit", map[string]any{"file_path": "/home/you/" + hostile[1], "old_string": all, "new_string": all})),
		w.ask(claude("ExitPlanMode", map[string]any{"plan": all})),
		w.ask(claude("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": hostile[1], "header": hostile[0], "options": options}}})),
		w.ask(claude("mcp__"+hostile[0]+"__"+hostile[1], map[string]any{hostile[0]: hostile[1]})),
	}
	var found int
	check := func(what string) {
		t.Helper()
		w.run(what, chromedp.Evaluate(`(window.hit ? 1000 : 0) + document.querySelectorAll(
			'main script, main iframe, main style, main base, main img, main form[action], main [onerror], main [onload], main [onmouseover], main a[href^="javascript"]').length`, &found))
		if found != 0 {
			w.shot("hostile")
			t.Errorf("%s: text became markup (%d)", what, found)
		}
	}
	w.run("all cards", chromedp.WaitVisible(`//article[5]`), chromedp.WaitVisible(".session"))
	check("inbox")
	var sessions []string
	w.run("links", chromedp.Evaluate(`[...document.querySelectorAll('.session')].map((a) => a.hash)`, &sessions))
	if len(sessions) < len(hostile) {
		t.Errorf("%d sessions are shown, want %d", len(sessions), len(hostile))
	}
	for _, hash := range sessions[:4] {
		w.run("session "+hash, chromedp.Evaluate(`location.hash = `+fmt.Sprintf("%q", hash), nil), chromedp.WaitVisible(".timeline .ev"))
		check("session " + hash)
	}
	if len(w.errors) > 0 {
		t.Errorf("the page throws: %v", w.errors)
	}
	var list []wire.InboxRequest
	w.MustCall(wire.MethodInboxItems, nil, &list)
	for _, one := range list {
		w.MustCall(wire.MethodInboxRelease, wire.InboxIDParams{ID: one.ID}, nil)
	}
	for _, call := range calls {
		<-call
	}
}
