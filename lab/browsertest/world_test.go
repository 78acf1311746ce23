// Package browsertest drives hookmux's page in a real Chromium.
package browsertest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
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
	*daemontest.Bench // nil where a real agent's daemon serves it
	T                 *testing.T
	call              func(method string, params, result any) error
	patience          time.Duration
	ctx               context.Context
	url               string
	errors            []string // what the browser complained about
	writing           sync.WaitGroup
}

// MustCall calls a method of the daemon, as you do at your terminal.
func (w *world) MustCall(method string, params, result any) {
	w.T.Helper()
	if err := w.call(method, params, result); err != nil {
		w.T.Fatalf("%s: %v", method, err)
	}
}

// findBrowser returns a Chromium on this machine.
func findBrowser(t *testing.T) string {
	t.Helper()
	notShort(t)
	for _, name := range []string{"chromium", "chromium-browser", "chromium-headless-shell", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "Chromium")
	return ""
}

// notShort leaves browsers to `make browser` and `make long`.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("no browser is started with -short")
	}
}

// missing skips a test that has no browser; where browsers are what's tested, it fails.
func missing(t *testing.T, browser string) {
	t.Helper()
	if os.Getenv("HOOKMUX_ALONE") != "" {
		t.Fatalf("no %s is installed", browser)
	}
	t.Skipf("no %s is installed", browser)
}

func newDaemon(s daemontest.Setup) (daemontest.Daemon, error) {
	return daemon.New(daemon.Options{Dirs: s.Dirs, Table: s.Processes, Facts: s.Facts, Asker: s.Asker,
		Version: s.Version, PID: s.PID, Log: s.Log, LiveSettings: s.LiveSettings, Person: s.ByUser})
}

func newWorld(t *testing.T) *world {
	t.Helper()
	findBrowser(t)
	bench := daemontest.New(t, newDaemon)
	bench.Up()
	w := &world{Bench: bench, T: t, call: bench.Call, patience: daemontest.Patience}
	w.servePage()
	w.startBrowser()
	return w
}

func (w *world) servePage() {
	w.T.Helper()
	var status wire.WebStatus
	w.MustCall(wire.MethodWebStart, wire.WebStartParams{Listen: freeAddress(w.T)}, &status)
	w.url = status.URL
}

func (w *world) startBrowser() {
	w.T.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(findBrowser(w.T)), chromedp.NoSandbox,
		chromedp.WindowSize(390, 844), chromedp.Flag("headless", "new"), chromedp.Flag("font-render-hinting", "none"), chromedp.Flag("disable-lcd-text", true))
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	w.T.Cleanup(stop)
	ctx, _ := chromedp.NewContext(allocated)
	w.T.Cleanup(func() { _ = chromedp.Cancel(ctx) }) // waits for the browser's end
	w.ctx = ctx
	chromedp.ListenTarget(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			w.errors = append(w.errors, ev.ExceptionDetails.Error())
		}
	})
	w.resize(390, 844, "light")
}

// freeAddress returns an address that a restarted daemon gets again.
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
	ctx, cancel := context.WithTimeout(w.ctx, w.patience)
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
	w.resizeTo(width, height, 1, scheme)
}

// resizeTo is resize for a screen that has several pixels a point.
func (w *world) resizeTo(width, height, scale int64, scheme string) {
	w.T.Helper()
	if err := chromedp.Run(w.ctx, chromedp.EmulateViewport(width, height, chromedp.EmulateScale(float64(scale))),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "reduce"}})); err != nil {
		w.T.Fatal(err)
	}
}

// shot keeps a picture of what failed, for those who set HOOKMUX_SHOTS to a folder.
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

// button finds a button of the card that's open by its text.
func button(text string) string {
	return `//article[contains(@class, "selected") or ancestor::*[@class="dock"]]//button[not(@disabled) and contains(., "` + text + `") and not(ancestor-or-self::*[@hidden or contains(@class, "settling")])]`
}

// option finds an option of a question by its text, once it takes clicks.
func option(text string) string {
	return `//label[contains(., "` + text + `") and not(ancestor::*[contains(@class, "settling")])]`
}

// pair pairs the browser as you would.
func (w *world) pair() wire.WebDevice {
	w.T.Helper()
	return w.pairAs(wire.WebPairParams{}, func() {})
}

// pairAs pairs the browser, and does something while it shows the digits.
func (w *world) pairAs(p wire.WebPairParams, meanwhile func()) wire.WebDevice {
	w.T.Helper()
	return w.pairBy(p, func(link string) chromedp.Action {
		return chromedp.Tasks{chromedp.Navigate("about:blank"), chromedp.Navigate(link)}
	}, meanwhile)
}

// pairBy is pairAs where the link comes to the page in some way.
func (w *world) pairBy(p wire.WebPairParams, bring func(link string) chromedp.Action, meanwhile func()) wire.WebDevice {
	w.T.Helper()
	var pairing wire.WebPairing
	w.MustCall(wire.MethodWebPair, p, &pairing)
	var shown, address string
	w.run("the digits", bring(pairing.URL), chromedp.WaitVisible(".digits", chromedp.ByQuery),
		chromedp.Text(".digits", &shown, chromedp.ByQuery), chromedp.Location(&address))
	var claim wire.WebClaim
	w.MustCall(wire.MethodWebPairWait, wire.WebPairingParams{Pairing: pairing.Pairing}, &claim)
	if strings.Join(strings.Fields(shown), "") != claim.Digits {
		w.T.Fatalf("the browser shows %q, the terminal %s", shown, claim.Digits)
	}
	if strings.Contains(address, "pair=") {
		w.T.Errorf("the code stays in the address: %s", address)
	}
	meanwhile()
	var device wire.WebDevice
	w.MustCall(wire.MethodWebPairConfirm, wire.WebConfirmParams{Pairing: pairing.Pairing, Digits: claim.Digits,
		Name: claim.Name, Scope: claim.Scope}, &device)
	w.run("the inbox", chromedp.WaitVisible(".home", chromedp.ByQuery))
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
	for _, size := range sizes {
		for _, scheme := range []string{"light", "dark"} {
			w.resize(size.width, size.height, scheme)
			time.Sleep(300 * time.Millisecond) // colours are measured when nothing moves any more
			w.run("axe", chromedp.Evaluate(string(script)+";0", nil), chromedp.Evaluate(
				`axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.map((n) => n.html + ' ' + n.failureSummary).join(' | ')).join('\n'))`,
				&found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }))
			if found != "" {
				w.T.Errorf("axe, %s, %d, %s:\n%s", what, size.width, scheme, found)
			}
		}
	}
	w.resize(390, 844, "light")
	// What the other size moved takes no click for a moment.
	w.run("as before", chromedp.Evaluate(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))`, nil,
		func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }), chromedp.WaitNotPresent(".settling", chromedp.ByQuery))
}
