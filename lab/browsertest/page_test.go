package browsertest

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/hookmux/hookmux/internal/wire"
)

// holdButton holds down the button of a request that's risky; a click alone does nothing.
func (w *world) holdButton() {
	w.T.Helper()
	at := button("Hold to approve")
	var box []float64
	w.run("a click alone", chromedp.Click(at), chromedp.Sleep(time.Second), chromedp.WaitVisible(at),
		chromedp.Evaluate(`(() => { const b = document.querySelector('.hold').getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2] })()`, &box))
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

	said = w.ask(question())
	w.run("the question", chromedp.WaitVisible(`//label[contains(., "SQLite")]`))
	w.audit("a question")
	w.run("answer", chromedp.Click(`//label[contains(., "SQLite")]`), chromedp.Click(button("Answer")))
	w.hears(said, "SQLite")

	said = w.ask(claude("ExitPlanMode", map[string]any{"plan": "# Cart totals\n\n1. Add `Money`, which knows its currency\n2. Use it in **every** total\n   - orders\n   - refunds\n\nThen run the tests."}))
	w.run("the plan", chromedp.WaitVisible(".plan-h"))
	w.audit("a plan")
	w.run("accept", chromedp.Click(button("Approve")))
	w.hears(said, `"allow"`)

	said = w.ask(bash("npm run lint"))
	w.run("save a permission", chromedp.WaitVisible(button("save a permission")), chromedp.Click(button("save a permission")),
		chromedp.WaitVisible(".rule"))
	w.run("save it", chromedp.Click(`//article//form//button[contains(., "Approve and save")]`))
	w.hears(said, `"allow"`)
	var permissions []wire.PermissionInfo
	w.MustCall(wire.MethodPermissions, nil, &permissions)
	if len(permissions) != 1 || !strings.Contains(permissions[0].By, device.Name) {
		t.Errorf("saved permissions: %+v", permissions)
	}

	w.run("reload", chromedp.Reload(), chromedp.WaitVisible(".home"), chromedp.WaitVisible(".link.live"))
	w.Down()
	w.run("offline", chromedp.WaitVisible(".link.offline"))
	w.Up()
	w.run("back", chromedp.WaitVisible(".link.live"))
	said = w.ask(bash("echo after the restart"))
	w.run("approve after a restart", chromedp.WaitVisible(button("Approve")), chromedp.Click(button("Approve")))
	w.hears(said, `"allow"`)

	w.run("the sessions", chromedp.Click("#nav-sessions"), chromedp.WaitVisible(".session"))
	w.audit("sessions")
	w.run("the session", chromedp.Click(".session"), chromedp.WaitVisible(".timeline .ev"))
	w.audit("a session")
	said = w.ask(bash("rm -rf build"))
	w.run("a session that asks", chromedp.WaitVisible(".dock .risk-high .hold"), chromedp.WaitVisible(".send textarea:disabled"))
	w.audit("a session that asks")
	w.holdButton()
	w.hears(said, `"allow"`)
	w.run("back", chromedp.Click(".back"), chromedp.WaitVisible(".session"), chromedp.Click("#nav-home"), chromedp.WaitVisible(".home"))
	w.run("usage", chromedp.Click("#nav-usage"), chromedp.WaitVisible(".tiles"))
	w.audit("usage")
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
