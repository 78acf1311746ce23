package browsertest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// holdButton holds down the button of a request that's risky; a click alone does nothing.
func (w *world) holdButton() {
	w.T.Helper()
	at := button("Hold to approve")
	var box []float64
	w.run("a click alone", chromedp.WaitVisible(at), chromedp.Evaluate(`new Promise((done) => { const b = document.querySelector('.hold')
		for (const type of ['pointerdown', 'pointerup']) b.dispatchEvent(new PointerEvent(type))
		b.click()
		const at = b.getBoundingClientRect()
		setTimeout(() => done([at.x + at.width / 2, at.y + at.height / 2]), 1000) })`, &box, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }), chromedp.WaitVisible(at))
	press := func(kind input.MouseType) chromedp.Action {
		return input.DispatchMouseEvent(kind, box[0], box[1]).WithButton(input.Left).WithClickCount(1)
	}
	w.run("held", press(input.MousePressed), chromedp.WaitNotPresent(at), press(input.MouseReleased))
}

// The whole way in a real browser: pair, approve, deny with a reason, answer a question,
// a plan, save a permission; reload, a restart of the daemon, and the device removed.
func TestPageInChromium(t *testing.T) {
	w := newWorld(t)
	w.run("without a device", chromedp.Navigate(w.url), chromedp.WaitVisible(`//h1[contains(., "Pair this device")]`))
	// An installed app on an iPhone has storage of its own: the link is pasted there.
	device := w.pairBy(wire.WebPairParams{}, func(link string) chromedp.Action {
		return chromedp.Tasks{chromedp.SendKeys("#code", link, chromedp.ByQuery), chromedp.Click(`//form//button[.="Pair"]`)}
	}, func() {})
	w.audit("inbox")

	said := w.ask(bash("npm test -- --grep 'cart total'"))
	w.run("approve", chromedp.WaitVisible(button("Approve")), chromedp.WaitVisible(`//pre[contains(., "cart total")]`))
	w.audit("a request")
	w.run("approve", chromedp.Click(button("Approve")))
	w.hears(said, `"allow"`)
	w.run("it's gone", chromedp.WaitNotPresent("article", chromedp.ByQuery))

	said = w.ask(bash("git push --force origin main"))
	w.run("deny", chromedp.WaitVisible(button("Deny")), chromedp.Click(button("Deny")), chromedp.WaitVisible("article textarea", chromedp.ByQuery),
		chromedp.SendKeys("article textarea", "open a pull request instead", chromedp.ByQuery), chromedp.Click(`//article//form//button[contains(., "Deny")]`))
	w.hears(said, "open a pull request instead")

	said = w.ask(question())
	w.run("the question", chromedp.WaitVisible(option("SQLite")))
	w.audit("a question")
	w.run("answer", chromedp.Click(option("SQLite")), chromedp.Click(button("Answer")))
	w.hears(said, "SQLite")

	said = w.ask(claude("ExitPlanMode", map[string]any{"plan": "# Cart totals\n\n1. Add `Money`, which knows its currency\n2. Use it in **every** total\n   - orders\n   - refunds\n\nThen run the tests."}))
	w.run("the plan", chromedp.WaitVisible(".plan-h", chromedp.ByQuery))
	w.audit("a plan")
	w.run("accept", chromedp.Click(button("Accept")))
	w.hears(said, `"allow"`)

	said = w.ask(bash("npm run lint"))
	w.run("save a permission", chromedp.WaitVisible(button("save a permission")), chromedp.Click(button("save a permission")),
		chromedp.WaitVisible(".rule", chromedp.ByQuery))
	w.run("save it", chromedp.Click(`//article//form//button[contains(., "Approve and save")]`))
	w.hears(said, `"allow"`)
	var permissions []wire.PermissionInfo
	w.MustCall(wire.MethodPermissions, nil, &permissions)
	if len(permissions) != 1 || !strings.Contains(permissions[0].By, device.Name) {
		t.Errorf("saved permissions: %+v", permissions)
	}

	w.run("reload", chromedp.Reload(), chromedp.WaitVisible(".home", chromedp.ByQuery), chromedp.WaitVisible(".link.live", chromedp.ByQuery))
	w.Down()
	w.run("offline", chromedp.WaitVisible(".link.offline", chromedp.ByQuery), chromedp.WaitVisible(`//h1[contains(., "reach hookmux")]`), chromedp.WaitVisible(`//button[.="Retry"]`))
	w.audit("offline")
	w.Up()
	w.run("back", chromedp.WaitVisible(".link.live", chromedp.ByQuery), chromedp.WaitVisible(`//h1[contains(., "all caught up")]`))
	said = w.ask(bash("echo after the restart"))
	w.run("approve after a restart", chromedp.WaitVisible(button("Approve")), chromedp.Click(button("Approve")))
	w.hears(said, `"allow"`)

	w.run("the sessions", chromedp.Click("#nav-sessions", chromedp.ByQuery), chromedp.WaitVisible(".session.is-idle", chromedp.ByQuery)) // once its request has ended, it moves there
	w.audit("sessions")
	w.run("the session", chromedp.Click(".session", chromedp.ByQuery), chromedp.WaitVisible(".timeline .ev", chromedp.ByQuery))
	w.audit("a session")
	w.run("search", chromedp.Click(".seek", chromedp.ByQuery), chromedp.SendKeys(".tools input", "force", chromedp.ByQuery),
		chromedp.Poll(`((found) => found.length && found.every((one) => one.textContent.includes('--force')))([...document.querySelectorAll('.timeline .ev')])`, nil),
		chromedp.Evaluate(`{ const search = document.querySelector('.tools input'); search.value = ''; search.dispatchEvent(new Event('input')) }`, nil),
		chromedp.Poll(`document.querySelectorAll('.timeline .ev').length > 2`, nil))
	said = w.ask(bash("rm -rf build"))
	w.run("a session that asks", chromedp.WaitVisible(".dock .risk-high .hold", chromedp.ByQuery), chromedp.WaitNotVisible(".send", chromedp.ByQuery))
	w.audit("a session that asks")
	w.holdButton()
	w.hears(said, `"allow"`)
	w.run("back", chromedp.Click(".back", chromedp.ByQuery), chromedp.WaitVisible(".session", chromedp.ByQuery), chromedp.Click("#nav-home", chromedp.ByQuery), chromedp.WaitVisible(".home", chromedp.ByQuery))
	w.run("usage", chromedp.Click("#nav-usage", chromedp.ByQuery), chromedp.WaitVisible(".tiles", chromedp.ByQuery))
	w.audit("usage")
	w.run("the devices", chromedp.Click("#nav-devices", chromedp.ByQuery), chromedp.WaitVisible(".devices li", chromedp.ByQuery))
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

// A form has several questions: one answer, more than one, your own words, and none where
// that's allowed.
func TestFormInChromium(t *testing.T) {
	w := newWorld(t)
	w.pair()
	choice := func(label string) map[string]any {
		return map[string]any{"label": label, "description": "Ships with " + label}
	}
	said := w.ask(claude("AskUserQuestion", map[string]any{"questions": []any{
		map[string]any{"question": "Which payments?", "header": "Payments", "multiSelect": true, "options": []any{choice("cards"), choice("invoices"), choice("vouchers")}},
		map[string]any{"question": "Which currency?", "header": "Currency", "multiSelect": false, "options": []any{choice("EUR"), choice("USD")}},
	}}))
	w.run("half of it", chromedp.WaitVisible(option("cards")), chromedp.Click(option("cards")), chromedp.Click(option("vouchers")), chromedp.Click(button("Answer")),
		chromedp.WaitVisible(`//article//p[@role="alert" and contains(., "“Which currency?” has no answer yet.")]`))
	w.audit("a form")
	w.run("the rest", chromedp.SendKeys(`//article//fieldset[2]//input[@type="text"]`, "Swiss francs"), chromedp.Click(button("Answer")))
	heard := <-said
	for _, want := range []string{"cards", "vouchers", "Swiss francs"} {
		if !strings.Contains(heard, want) {
			t.Errorf("the agent hears %q, want %q in it", heard, want)
		}
	}
	if strings.Contains(heard, `"Which payments?":"cards, invoices`) {
		t.Errorf("the agent hears what wasn't chosen: %q", heard)
	}
	if len(w.errors) > 0 {
		t.Errorf("the page throws: %v", w.errors)
	}
}

// What moves under your finger takes no click for a moment: an agent that withdraws its
// request must not have you approve the next one. And what's longer than its place can be
// approved only once you've scrolled to its end.
func TestCarefulInChromium(t *testing.T) {
	w := newWorld(t)
	w.pair()
	first := w.ask(bash("echo first"))
	w.run("one", chromedp.WaitVisible(`//article//pre[contains(., "first")]`))
	second := w.ask(bash("echo second"))
	w.run("two", chromedp.WaitVisible(`//button[contains(@class, "queued") and contains(., "second")]`), chromedp.WaitNotPresent(".settling", chromedp.ByQuery),
		chromedp.Evaluate(`new MutationObserver((_, own) => {
			if (document.querySelectorAll('article').length !== 1) return
			own.disconnect()
			const at = document.querySelector('article .yes').getBoundingClientRect()
			window.under = document.elementFromPoint(at.x + 5, at.y + 5).closest('article') ? 'a button' : 'nothing'
		}).observe(document.querySelector('.cards'), { childList: true }); 0`, nil))
	var list []wire.InboxRequest
	w.MustCall(wire.MethodInboxItems, nil, &list)
	for _, one := range list {
		if strings.Contains(one.Shown, "first") {
			w.MustCall(wire.MethodInboxReply, wire.InboxReplyParams{ID: one.ID, SHA256: one.SHA256, Choice: "deny"}, nil)
		}
	}
	w.hears(first, `"deny"`)
	var under string
	w.run("it moves", chromedp.Poll(`window.under`, &under))
	if under != "nothing" {
		t.Errorf("under a finger that meant the first request is %s of the second", under)
	}
	w.run("after a moment", chromedp.Click(button("Approve")))
	w.hears(second, `"allow"`)

	said := w.ask(claude("Write", map[string]any{"file_path": "/home/you/shop/long.txt", "content": strings.Repeat("a line\n", 300)}))
	w.run("a long one", chromedp.WaitVisible("article", chromedp.ByQuery), chromedp.Evaluate(`location.hash = '#/session/s1'`, nil),
		chromedp.WaitVisible(".dock .read-on", chromedp.ByQuery), chromedp.WaitNotVisible(`//div[@class="dock"]//button[contains(., "Approve")]`))
	w.audit("a long request")
	w.run("to its end", chromedp.Evaluate(`document.querySelector('.dock .read').scrollTop = 1e6`, nil), chromedp.Click(button("Approve")))
	w.hears(said, `"allow"`)
}

// On a desktop the keys are the terminal's, a request says how long it still waits, and its
// card takes the session's title when that comes later.
func TestKeysInChromium(t *testing.T) {
	w := newWorld(t)
	w.pair()
	w.resize(1440, 900, "light")
	settled := chromedp.WaitNotPresent(".settling", chromedp.ByQuery)

	said := w.ask(question())
	w.run("a choice by its number", chromedp.WaitVisible(option("SQLite")), chromedp.WaitVisible(`//label[contains(., "SQLite")]/kbd[.="2"]`), settled,
		chromedp.KeyEvent("2"), chromedp.Poll(`document.querySelectorAll('.option input')[1].checked`, nil))
	w.run("and the answer", chromedp.KeyEvent("a"))
	w.hears(said, "SQLite")

	said = w.ask(claude("ExitPlanMode", map[string]any{"plan": "# Cart totals\n\n1. Add `Money`"}))
	w.run("a plan's way", chromedp.WaitVisible(`//button[contains(., "allow all edits")]/kbd[.="U"]`), chromedp.WaitVisible(`//button[contains(., "review each edit")]/kbd[.="M"]`),
		settled, chromedp.KeyEvent("u"), chromedp.Evaluate(`document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'u', bubbles: true }))`, nil)) // a press alone does nothing
	w.hears(said, `"acceptEdits"`)

	body, _ := json.Marshal(map[string]any{"session_id": "s1", "hook_event_name": "UserPromptSubmit", "cwd": "/home/you/shop", "prompt": "Lint the shop"})
	if _, err := w.TrySend(frame.Request{Agent: "claude", Event: "UserPromptSubmit", Payload: body, Deadline: w.patience}); err != nil {
		t.Fatal(err)
	}
	said = w.ask(bash("npm run lint"))
	var left string
	w.run("the permission that's shown first", chromedp.WaitVisible(button("save a permission")), settled, chromedp.Text(".left", &left, chromedp.ByQuery),
		chromedp.KeyEvent("A"), chromedp.WaitVisible(".rule", chromedp.ByQuery), chromedp.KeyEvent("\x1b"), chromedp.WaitNotVisible(".rule", chromedp.ByQuery))
	if !strings.HasPrefix(left, "Goes back to Claude Code in ") {
		t.Errorf("how long it waits: %q", left)
	}
	w.run("its session's title", chromedp.WaitVisible(`//article//header//a[contains(., "Lint the shop")]`), chromedp.WaitVisible(`//div[@class="group-waiting"]//button[contains(., "Lint the shop")]`))
	w.run("left to the terminal", chromedp.Evaluate(`document.activeElement.blur()`, nil), settled, chromedp.KeyEvent("r"), chromedp.WaitNotPresent("article.status-pending", chromedp.ByQuery))
	if got := <-said; strings.Contains(got, "allow") || strings.Contains(got, "deny") {
		t.Errorf("the agent hears %q of a request that was left to the terminal", got)
	}
	if len(w.errors) > 0 {
		t.Errorf("the page throws: %v", w.errors)
	}
}
