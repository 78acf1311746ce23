package browsertest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// A day with several agents, in every size and colour scheme. The docs' pictures are
// these (HOOKMUX_UPDATE=1 writes them), and testdata has one of each: the page must look
// like it. The fonts, times and places in them are the same on every machine (stage.js).
func TestPictures(t *testing.T) {
	w := newWorld(t)
	defer w.writing.Wait()
	w.setStage()
	device := w.pairAs(wire.WebPairParams{Name: "Pixel 9"}, func() {
		w.run("the same digits each time", chromedp.Evaluate(`[...document.querySelectorAll('.digits span')].forEach((one, i) => { one.textContent = '4408'[i] })`, nil))
		w.pictures("pair")
	})
	w.writeUsage()
	w.MustCall(wire.MethodConfigSet, wire.ConfigSetParams{Key: "inbox.wait.codex", Value: json.RawMessage(`"30m"`)}, nil)
	waiting := w.busyDay()
	w.run("cards", chromedp.WaitVisible("article .yes", chromedp.ByQuery), chromedp.WaitReady(`//article[3]`))
	w.pictures("inbox")
	w.seesChanges("inbox-390-light")
	w.run("the red one", chromedp.Evaluate(choose(1), nil))
	w.pictures("risky")
	w.run("held for a while", chromedp.Evaluate(`{ const at = (one, name, value) => { one.style.transition = 'none'; one.style[name] = value }
		const button = document.querySelector('.selected .hold')
		at(button.querySelector('.fill'), 'transform', 'scaleX(.6)')
		at(button.querySelector('.ring path + path'), 'strokeDashoffset', '.4') }`, nil))
	w.pictures("hold")
	w.run("the change", chromedp.Evaluate(choose(2), nil))
	w.pictures("change")
	w.run("the permission", chromedp.Click(button("save a permission")), chromedp.WaitVisible(".rule", chromedp.ByQuery),
		chromedp.Evaluate(`document.querySelector('article.selected').scrollIntoView({block: 'center'})`, nil))
	w.pictures("permission", 390)
	w.resize(1440, 900, "light")
	w.run("all of it", chromedp.Evaluate(`scrollTo(0, 0)`, nil))
	w.pictures("permission", 1440)
	w.run("not now", chromedp.Click(button("Cancel")))
	w.run("the sessions", chromedp.Navigate(w.url+"/#/sessions"), chromedp.WaitVisible(".sessions", chromedp.ByQuery))
	w.pictures("sessions", 390) // they're beside everything else on a desktop
	w.run("the session", chromedp.Navigate(w.url+"/#/session/s1"), chromedp.WaitVisible(".timeline .said", chromedp.ByQuery), chromedp.WaitVisible("article", chromedp.ByQuery),
		chromedp.WaitVisible(`//dl[@class="facts"]//dd[contains(., "$")]`)) // the cost comes a little later
	w.pictures("session")
	w.run("the session that doesn't ask", chromedp.Navigate(w.url+"/#/session/s-2"), chromedp.WaitVisible(".timeline .said", chromedp.ByQuery), chromedp.WaitVisible(".send", chromedp.ByQuery))
	w.pictures("composer")
	w.run("usage", chromedp.Navigate(w.url+"/#/usage"), chromedp.WaitVisible(".tiles", chromedp.ByQuery))
	w.pictures("usage")
	w.run("devices", chromedp.Navigate(w.url+"/#/devices"), chromedp.WaitVisible(".push li", chromedp.ByQuery))
	w.pictures("devices", 390)
	w.resize(1440, 900, "light") // there it's another device
	w.run("devices of a desktop", chromedp.Reload(), chromedp.WaitVisible(".push li", chromedp.ByQuery))
	w.pictures("devices", 1440)
	w.run("home", chromedp.Navigate(w.url+"/#/"), chromedp.WaitVisible("article.selected", chromedp.ByQuery))
	w.denyAll(waiting)
	w.run("nothing waits", chromedp.WaitVisible(".empty", chromedp.ByQuery))
	w.pictures("empty")
	said := w.ask(bash("rm -rf build"))
	w.run("to deny", chromedp.WaitVisible(button("Deny")), chromedp.Click(button("Deny")), chromedp.SendKeys("article textarea", "use make clean", chromedp.ByQuery), chromedp.Blur("article textarea", chromedp.ByQuery))
	w.pictures("deny")
	w.denyAll([]chan string{said})
	said = w.ask(claude("ExitPlanMode", map[string]any{"plan": "# Cart totals\n\n1. Add `Money`, which knows its currency\n2. Use it in **every** total\n   - orders\n   - refunds\n3. Keep the old field for a release\n\nThen run the tests."}))
	w.run("the plan", chromedp.WaitVisible(".plan-h", chromedp.ByQuery))
	w.pictures("plan")
	w.denyAll([]chan string{said})
	said = w.ask(claude("Write", map[string]any{"file_path": "/home/you/shop/src/money.ts", "content": strings.Repeat("export const cents = (value) => Math.round(value * 100)\n", 60)}))
	w.resize(1440, 900, "light")
	w.run("a long one", chromedp.WaitVisible("article.unread .read-on", chromedp.ByQuery))
	w.pictures("long", 1440)
	w.denyAll([]chan string{said})
	said = w.ask(question())
	w.run("the question", chromedp.WaitVisible(option("SQLite")), chromedp.Click(option("SQLite")))
	w.pictures("question")
	w.denyAll([]chan string{said})
	w.MustCall(wire.MethodWebDeviceScope, wire.WebDeviceParams{Device: device.ID, Scope: wire.ScopeRead}, nil)
	said = w.ask(bash("npm test -- --grep 'cart total'"))
	w.run("only to read", chromedp.WaitVisible(`//article//p[contains(., "view-only")]`))
	w.pictures("read")
	w.MustCall(wire.MethodWebDeviceScope, wire.WebDeviceParams{Device: device.ID, Scope: wire.ScopeAnswer}, nil)
	w.run("to answer", chromedp.WaitVisible(button("Approve")))
	w.MustCall(wire.MethodWebStop, nil, nil)
	w.run("offline", chromedp.WaitVisible(".link.offline", chromedp.ByQuery), chromedp.WaitNotVisible(button("Approve")))
	w.pictures("offline")
	w.MustCall(wire.MethodInboxReply, wire.InboxReplyParams{ID: w.waiting().ID, SHA256: w.waiting().SHA256, Choice: "deny"}, nil)
	<-said
}

// choose opens one of the requests in the list of all.
func choose(i int) string {
	return fmt.Sprintf(`document.querySelectorAll('.cards .queued')[%d].click()`, i)
}

// setStage gives the page fonts of its own, and times and places that are always the same.
func (w *world) setStage() {
	w.T.Helper()
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			w.T.Fatal(err)
		}
		if filepath.Ext(name) == ".woff2" {
			return base64.StdEncoding.EncodeToString(b)
		}
		return string(b)
	}
	script := strings.NewReplacer("INTER", read("fonts/inter.woff2"), "MONO", read("fonts/jetbrains-mono.woff2")).Replace(read("stage.js"))
	w.run("the stage", chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	}))
}

func question() frame.Request {
	return claude("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": "Which database should the shop use?",
		"header": "Database", "multiSelect": false, "options": []any{map[string]any{"label": "PostgreSQL", "description": "One more service, and no limits"},
			map[string]any{"label": "SQLite", "description": "One file, enough for one shop"}}}}})
}

// busyDay has several agents at work, three of which wait: for a command, for one that
// deletes files, and with a change.
func (w *world) busyDay() []chan string {
	w.T.Helper()
	models := map[string]string{"claude": "claude-opus-4-6", "codex": "gpt-5.5", "gemini": "gemini-3-pro-preview"}
	project := map[string]string{"claude": "/home/you/shop", "codex": "/home/you/api", "gemini": "/home/you/docs", "opencode": "/home/you/mobile"}
	tell := func(agent, session, event string, more map[string]any) {
		w.T.Helper()
		body := map[string]any{"session_id": session, "hook_event_name": event, "cwd": project[agent], "model": models[agent]}
		for k, v := range more {
			body[k] = v
		}
		b, _ := json.Marshal(body)
		if _, err := w.TrySend(frame.Request{Agent: agent, Event: event, Payload: b, Cwd: project[agent], Deadline: time.Second}); err != nil {
			w.T.Fatal(err)
		}
	}
	call := func(session, id, tool string, input, output any) {
		// Without PreToolUse: the daemon may or may not ask you then, as the page was just opened.
		tell("claude", session, "PostToolUse", map[string]any{"tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_response": output})
	}
	tell("claude", "s-2", "UserPromptSubmit", map[string]any{"prompt": "Write the changelog for 2.4"})
	tell("claude", "s-2", "Stop", map[string]any{"last_assistant_message": "The changelog has 14 entries, sorted by what users notice."})
	tell("gemini", "g-1", "BeforeAgent", map[string]any{"prompt": "Translate the guide into German"})
	tell("codex", "c-1", "UserPromptSubmit", map[string]any{"prompt": "Add pagination to the orders endpoint"})
	tell("codex", "c-2", "UserPromptSubmit", map[string]any{"prompt": "Speed up the orders endpoint"})
	tell("claude", "p1", "UserPromptSubmit", map[string]any{"prompt": "Upgrade the parser to the new grammar", "cwd": "/home/you/parser"})
	tell("claude", "s1", "UserPromptSubmit", map[string]any{"prompt": "Fix the rounding of cart totals"})
	call("s1", "c1", "Read", map[string]any{"file_path": "/home/you/shop/src/cart.ts"}, map[string]any{})
	call("s1", "c2", "Grep", map[string]any{"pattern": "Math.round", "path": "/home/you/shop/src"}, map[string]any{})
	answer := func(r frame.Request, choose wire.InboxReplyParams) {
		w.T.Helper()
		said := w.ask(r)
		one := w.waiting()
		choose.ID, choose.SHA256 = one.ID, one.SHA256
		w.MustCall(wire.MethodInboxReply, choose, nil)
		<-said
	}
	answer(bash("git push --force origin main"), wire.InboxReplyParams{Choice: "deny", Reason: "Open a pull request instead."})
	call("s1", "c3", "Bash", map[string]any{"command": "git switch -c cart-totals"}, map[string]any{"stdout": ""})
	answer(bash("npm test -- --grep 'cart total'"), wire.InboxReplyParams{Choice: "once"})
	var said []chan string
	for i, r := range []frame.Request{
		daemontest.SessionEvent("codex", "PermissionRequest", map[string]any{"session_id": "c-2", "cwd": "/home/you/api", "tool_name": "Bash",
			"tool_input": map[string]any{"command": "npm run bench -- orders", "description": "Measure the orders endpoint"}}),
		daemontest.SessionEvent("claude", "PermissionRequest", map[string]any{"session_id": "p1", "cwd": "/home/you/parser", "tool_name": "Bash",
			"tool_input": map[string]any{"command": "rm -rf build && make -j8 all", "description": "Build from scratch"}}),
		claude("Edit", map[string]any{"file_path": "/home/you/shop/src/cart.ts",
			"old_string": "export function total(items) {\n  const total = items.reduce((sum, i) => sum + i.price * i.count, 0)\n  return Math.round(total * 100) / 100\n}",
			"new_string": "export function total(items) {\n  const cents = items.reduce((sum, i) => sum + toCents(i.price) * i.count, 0)\n  return cents / 100\n}"}),
	} {
		r.Deadline = 10 * time.Minute // pictures take a while
		said = append(said, w.ask(r))
		w.run("another", chromedp.WaitReady(fmt.Sprintf("//article[%d]", i+1)))
	}
	return said
}

// writeUsage leaves records of a week, as Claude Code and Codex write them, what's left of their plans, and a budget.
func (w *world) writeUsage() {
	w.T.Helper()
	var b bytes.Buffer
	for back, tokens := range []int{410_000, 880_000, 260_000, 0, 640_000, 1_150_000, 520_000} {
		at := time.Now().AddDate(0, 0, -back).UTC().Format(time.RFC3339)
		counted := fmt.Sprintf(`{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d}`, tokens/2, tokens/3, tokens/30)
		w.Write(filepath.Join(w.Dirs.Home, fmt.Sprintf(".codex/sessions/rollout-%d.jsonl", back)), fmt.Sprintf(
			`{"timestamp":%[1]q,"type":"session_meta","payload":{"id":"c%[2]d","cwd":"/home/you/api","timestamp":%[1]q}}`+"\n"+
				`{"timestamp":%[1]q,"type":"turn_context","payload":{"turn_id":"t%[2]d","model":"gpt-5.5"}}`+"\n"+
				`{"timestamp":%[1]q,"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":%[3]s,"last_token_usage":%[3]s}}}`+"\n", at, back, counted))
		for i, project := range []string{"shop", "docs"} {
			session := "earlier"
			if back == 0 && project == "shop" {
				session = "s1"
			}
			fmt.Fprintf(&b, `{"type":"assistant","timestamp":%q,"sessionId":%q,"requestId":"r%d-%d","cwd":"/home/you/%s",`+
				`"message":{"id":"m%d-%d","model":"claude-opus-4-6","usage":{"input_tokens":%d,"output_tokens":%d,`+
				`"cache_creation_input_tokens":0,"cache_read_input_tokens":%d}}}`+"\n", at, session, back, i, project, back, i, tokens/(8+9*i), tokens/(20+9*i), tokens*2)
		}
	}
	w.Write(filepath.Join(w.Dirs.Home, ".claude/projects/-home-you-shop/s1.jsonl"), b.String())
	w.MustCall(wire.MethodBudgetAdd, wire.BudgetParams{Budget: " day=40usd ask=80% block=100%"}, nil)
	fiveHours, days := time.Now().Add(2*time.Hour), time.Now().Add(4*24*time.Hour)
	for agent, used := range map[string][2]float64{"claude": {84, 31}, "codex": {46, 12}} {
		w.MustCall(wire.MethodUsageWindows, wire.UsageWindowsParams{Agent: agent, Windows: []wire.UsageWindow{
			{Window: "5h", Used: used[0], Resets: &fiveHours}, {Window: "7d", Used: used[1], Resets: &days}}}, nil)
	}
}

// waiting returns the one request that waits.
func (w *world) waiting() wire.InboxRequest {
	w.T.Helper()
	var list []wire.InboxRequest
	w.Eventually("a request waits", func() bool {
		w.MustCall(wire.MethodInboxItems, nil, &list)
		return len(list) == 1
	})
	return list[0]
}

// denyAll denies what waits.
func (w *world) denyAll(calls []chan string) {
	w.T.Helper()
	var list []wire.InboxRequest
	w.MustCall(wire.MethodInboxItems, nil, &list)
	for _, one := range list {
		w.MustCall(wire.MethodInboxReply, wire.InboxReplyParams{ID: one.ID, SHA256: one.SHA256, Choice: "deny"}, nil)
	}
	for _, call := range calls {
		<-call
	}
	w.run("they're gone", chromedp.WaitNotPresent("article", chromedp.ByQuery))
}

// inDocs are the pictures that README and docs show.
var inDocs = map[string]string{"inbox-390-light": "web-inbox", "change-1440-dark": "web-desktop", "session-390-dark": "web-session"}

// sizes are those of a phone and of a desktop, with how many pixels a point has in docs.
var sizes = []struct{ width, height, scale int64 }{{390, 844, 3}, {1440, 900, 2}}

// pictures takes a picture in every size and colour scheme and compares it.
func (w *world) pictures(name string, widths ...int64) {
	w.T.Helper()
	for _, size := range sizes {
		if len(widths) > 0 && !slices.Contains(widths, size.width) {
			continue
		}
		for _, scheme := range []string{"light", "dark"} {
			name := fmt.Sprintf("%s-%d-%s", name, size.width, scheme)
			w.resize(size.width, size.height, scheme)
			w.compare(name, w.picture())
			if dir := os.Getenv("HOOKMUX_SHOTS"); dir != "" || update() && inDocs[name] != "" {
				w.resizeTo(size.width, size.height, size.scale, scheme)
				w.keep(name, w.picture())
			}
		}
	}
	w.resize(390, 844, "light")
}

func update() bool { return os.Getenv("HOOKMUX_UPDATE") == "1" }

// picture captures what the browser shows once nothing moves and no message covers the page.
func (w *world) picture() image.Image {
	w.T.Helper()
	var b []byte
	w.run("a picture", input.DispatchMouseEvent(input.MouseMoved, 1, 1), chromedp.Poll(`document.getElementById('toast').hidden && document.fonts.status === 'loaded' && !document.querySelector('.settling') &&
		document.getAnimations().every((a) => a.playState === 'finished' || a.effect.getTiming().iterations === Infinity)`, nil), chromedp.CaptureScreenshot(&b))
	full, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		w.T.Fatal(err)
	}
	return full
}

// keep writes a large picture for docs, or for you to look at.
func (w *world) keep(name string, picture image.Image) {
	w.T.Helper()
	w.writing.Go(func() { w.write(name, picture) })
}

func (w *world) write(name string, picture image.Image) {
	b := encode(picture)
	if dir := os.Getenv("HOOKMUX_SHOTS"); dir != "" {
		_ = os.WriteFile(filepath.Join(dir, "w-"+name+".png"), b, 0o600)
	}
	if doc := inDocs[name]; doc != "" && update() {
		if err := os.WriteFile(filepath.Join(projectRoot, "docs/pictures", doc+".png"), b, 0o644); err != nil {
			w.T.Error(err)
		}
	}
}

// projectRoot is the folder of the whole project.
const projectRoot = "../.."

// compare compares a picture with the one that's kept.
func (w *world) compare(name string, picture image.Image) {
	w.T.Helper()
	file := filepath.Join("testdata/pictures", name+".png")
	if update() {
		w.writing.Go(func() {
			if err := os.WriteFile(file, encode(picture), 0o644); err != nil {
				w.T.Error(err)
			}
		})
		return
	}
	if at, size := difference(w.kept(name), picture); size > 0 {
		w.shot(name)
		w.T.Errorf("%s looks different around %v (%d cells); HOOKMUX_UPDATE=1 accepts it, HOOKMUX_SHOTS=FOLDER keeps the pictures", name, at, size)
	}
}

// kept returns the picture that another one must look like.
func (w *world) kept(name string) image.Image {
	w.T.Helper()
	f, err := os.Open(filepath.Join("testdata/pictures", name+".png"))
	if err != nil {
		w.T.Fatal(err)
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		w.T.Fatal(err)
	}
	return picture
}

// seesChanges proves that the comparison sees what it's for: a button of another colour, a
// word that's cut, and a line that moved.
func (w *world) seesChanges(name string) {
	w.T.Helper()
	if update() {
		return
	}
	for what, change := range map[string][2]string{
		"a button of another colour": {`document.querySelector('article .yes').style.background = '#0a7d4f'`, `document.querySelector('article .yes').style.background = ''`},
		"a word that's cut":          {`document.querySelector('article h2 a').firstChild.data = 'Speed up the or…'`, `document.querySelector('article h2 a').firstChild.data = 'Speed up the orders endpoint'`},
		"a line that moved":          {`document.querySelector('.body').style.paddingTop = '6px'`, `document.querySelector('.body').style.paddingTop = ''`},
	} {
		w.run(what, chromedp.Evaluate(change[0]+";0", nil))
		if _, size := difference(w.kept(name), w.picture()); size == 0 {
			w.T.Errorf("the comparison doesn't see %s", what)
		}
		w.run("not "+what, chromedp.Evaluate(change[1]+";0", nil))
	}
}
