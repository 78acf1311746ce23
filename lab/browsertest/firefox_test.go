package browsertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
)

// firefox is a Firefox, driven by WebDriver BiDi.
type firefox struct {
	t    *testing.T
	send func(method string, params any) json.RawMessage
	tab  string
}

func startFirefox(t *testing.T) *firefox {
	t.Helper()
	notShort(t)
	program := ""
	for _, name := range []string{"firefox-esr", "firefox"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		missing(t, "Firefox")
	}
	home := t.TempDir()
	cmd := exec.Command(program, "--headless", "--no-remote", "--profile", home, "--remote-debugging-port", "0", "about:blank")
	cmd.Env = append(cmd.Environ(), "HOME="+home, "MOZ_HEADLESS=1")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	address := make(chan string, 1)
	go func() {
		defer close(ended)
		listens := regexp.MustCompile(`WebDriver BiDi listening on (ws://\S+)`)
		lines := bufio.NewScanner(said)
		for lines.Scan() {
			if m := listens.FindStringSubmatch(lines.Text()); m != nil {
				address <- m[1]
			}
		}
		_ = cmd.Wait() // it's killed
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var at string
	select {
	case at = <-address:
	case <-ended:
		t.Fatal("Firefox ended")
	case <-ctx.Done():
		t.Fatal("Firefox doesn't say where it listens")
	}
	conn, _, _, err := ws.Dial(ctx, at+"/session")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	f := &firefox{t: t}
	id := 0
	f.send = func(method string, params any) json.RawMessage {
		t.Helper()
		id++
		text, _ := json.Marshal(map[string]any{"id": id, "method": method, "params": params})
		_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
		if err := wsutil.WriteClientText(conn, text); err != nil {
			t.Fatal(err)
		}
		for {
			b, err := wsutil.ReadServerText(conn)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				ID      int             `json:"id"`
				Type    string          `json:"type"`
				Result  json.RawMessage `json:"result"`
				Message string          `json:"message"`
			}
			if json.Unmarshal(b, &got) != nil || got.ID != id {
				continue // an event
			}
			if got.Type == "error" {
				t.Fatalf("%s: %s", method, got.Message)
			}
			return got.Result
		}
	}
	f.send("session.new", map[string]any{"capabilities": map[string]any{}})
	var tree struct {
		Contexts []struct {
			Context string `json:"context"`
		} `json:"contexts"`
	}
	_ = json.Unmarshal(f.send("browsingContext.getTree", map[string]any{}), &tree)
	if len(tree.Contexts) == 0 {
		t.Fatal("Firefox has no tab")
	}
	f.tab = tree.Contexts[0].Context
	return f
}

func (f *firefox) open(url string) {
	f.t.Helper()
	f.send("browsingContext.navigate", map[string]any{"context": f.tab, "url": url, "wait": "complete"})
}

// await waits until an expression of the page is true, or text, and gives that.
func (f *firefox) await(what, expression string) string {
	f.t.Helper()
	var got struct {
		Type   string `json:"type"`
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
		Details struct {
			Text string `json:"text"`
		} `json:"exceptionDetails"`
	}
	poll := `new Promise((done) => { const since = Date.now(); const look = () => { const v = (() => ` + expression + `)()
		if (v || Date.now() - since > 60000) done(v ? String(v) : ''); else setTimeout(look, 30) }; look() })`
	_ = json.Unmarshal(f.send("script.evaluate", map[string]any{"expression": poll, "awaitPromise": true,
		"target": map[string]string{"context": f.tab}}), &got)
	value, _ := got.Result.Value.(string)
	if value == "" {
		f.t.Fatalf("%s: never so (%s)", what, got.Details.Text)
	}
	return value
}

// click presses the button that has a text, once it's there.
func (f *firefox) click(text string) {
	f.t.Helper()
	f.await("click "+text, fmt.Sprintf(`{ const b = [...document.querySelectorAll('article button')].find((b) => !b.disabled && b.offsetParent && b.textContent.includes(%q)); b?.click(); return b && 'clicked' }`, text))
}

// The main way in a real Firefox: pair, approve, deny with a reason, answer a question,
// reload, and the device removed.
func TestPageInFirefox(t *testing.T) {
	bench := daemontest.New(t, newDaemon)
	f := startFirefox(t)
	bench.Up()
	w := &world{Bench: bench, T: t, call: bench.Call}
	w.servePage()
	var pairing wire.WebPairing
	w.MustCall(wire.MethodWebPair, wire.WebPairParams{}, &pairing)
	f.open(pairing.URL)
	shown := f.await("the digits", `document.querySelector('.digits')?.textContent`)
	var claim wire.WebClaim
	w.MustCall(wire.MethodWebPairWait, wire.WebPairingParams{Pairing: pairing.Pairing}, &claim)
	if shown != claim.Digits || !strings.HasPrefix(claim.Browser, "Firefox on ") {
		t.Errorf("Firefox shows %s, the terminal %s of %s", shown, claim.Digits, claim.Browser)
	}
	var device wire.WebDevice
	w.MustCall(wire.MethodWebPairConfirm, wire.WebConfirmParams{Pairing: pairing.Pairing, Digits: claim.Digits,
		Name: claim.Name, Scope: claim.Scope}, &device)
	f.await("the inbox", `document.querySelector('.home') && document.querySelector('.link.live')`)

	said := w.ask(bash("npm test"))
	f.click("Approve")
	w.hears(said, `"allow"`)
	f.await("it's gone", `!document.querySelector('article')`)

	said = w.ask(bash("git push --force"))
	f.click("Deny")
	f.await("the reason", `{ const text = document.querySelector('article textarea'); if (!text) return
		text.value = 'open a pull request'; text.form.requestSubmit(); return 'sent' }`)
	w.hears(said, "open a pull request")

	said = w.ask(question())
	f.await("the question", `{ const option = [...document.querySelectorAll('.option')].find((o) => o.textContent.includes('SQLite')); option?.click(); return option && 'chosen' }`)
	f.click("Answer")
	w.hears(said, "SQLite")

	f.open(w.url + "/")
	f.await("after a reload", `document.querySelector('.link.live') && document.querySelectorAll('.session').length`)
	if key := f.await("the key", `{ if (!window.asked) { window.asked = true; const r = indexedDB.open('hookmux'); r.onsuccess = () => {
		const q = r.result.transaction('device').objectStore('device').get('own'); q.onsuccess = () => { window.kept = q.result.key.extractable ? 'extractable' : 'sealed' } } } return window.kept }`); key != "sealed" {
		t.Errorf("the key is %s", key)
	}
	w.MustCall(wire.MethodWebDeviceRemove, wire.WebDeviceParams{Device: device.ID}, nil)
	f.await("removed", `document.querySelector('main h1')?.textContent.includes('Pair this device')`)
}
