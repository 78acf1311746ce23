package daemon

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
)

// browser is a paired device as a program: what the page does, without the page.
type browser struct {
	t        *testing.T
	url      string
	key      *ecdsa.PrivateKey
	device   string
	instance string
}

var plainHTTP = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}

// servePage switches the page on, on a port of its own.
func (w *daemonFixture) servePage() string {
	w.T.Helper()
	var status wire.WebStatus
	w.MustCall(wire.MethodWebStart, wire.WebStartParams{Listen: "127.0.0.1:0"}, &status)
	return status.URL
}

func newBrowser(t *testing.T, url string) *browser {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t, url: url, key: key}
	b.hello()
	return b
}

func (b *browser) hello() {
	b.t.Helper()
	var hello struct {
		Instance string `json:"instance"`
	}
	response, err := plainHTTP.Get(b.url + "/api/hello")
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&hello); err != nil {
		b.t.Fatal(err)
	}
	b.instance = hello.Instance
}

func (b *browser) publicKey() string {
	raw, _ := b.key.PublicKey.Bytes()
	return base64.RawURLEncoding.EncodeToString(raw)
}

func (b *browser) sign(message string) string {
	sum := sha256.Sum256([]byte(message))
	r, s, err := ecdsa.Sign(rand.Reader, b.key, sum[:])
	if err != nil {
		b.t.Fatal(err)
	}
	return base64.RawURLEncoding.EncodeToString(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

func nonce() string { return rand.Text() }

// authorize signs a request as the page does.
func (b *browser) authorize(r *http.Request, body []byte, at time.Time, nonce string) {
	sum := sha256.Sum256(body)
	ms := strconv.FormatInt(at.UnixMilli(), 10)
	message := strings.Join([]string{"hookmux-request-1", b.instance, r.Method, r.URL.RequestURI(),
		hex.EncodeToString(sum[:]), ms, nonce}, "\n")
	r.Header.Set("Authorization", "Hookmux-1 "+b.device+" "+ms+" "+nonce+" "+b.sign(message))
}

func (b *browser) request(method, path string, body any) *http.Request {
	b.t.Helper()
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body)
	}
	r, err := http.NewRequest(method, b.url+path, bytes.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// do sends a signed request and gives the status and the body.
func (b *browser) do(method, path string, body any) (int, string) {
	b.t.Helper()
	r := b.request(method, path, body)
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body)
	}
	b.authorize(r, text, time.Now(), nonce())
	return send(b.t, r)
}

func send(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	response, err := plainHTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// answerBody returns a signed answer.
func (b *browser) answerBody(p wire.InboxReplyParams, nonce string) map[string]any {
	text, _ := json.Marshal(p)
	choice := p.Choice
	if p.Plan != "" {
		choice += " " + p.Plan
	}
	return b.answerText(string(text), p.ID, p.SHA256, choice, nonce, time.Now())
}

// answerText returns an answer that says anything, signed.
func (b *browser) answerText(text, id, shown, choice, nonce string, at time.Time) map[string]any {
	sum := sha256.Sum256([]byte(text))
	message := strings.Join([]string{"hookmux-answer-1", "instance " + b.instance, "device " + b.device, "request " + id,
		"shown " + shown, "choice " + choice, "answer " + hex.EncodeToString(sum[:]), "nonce " + nonce,
		fmt.Sprintf("time %d", at.UnixMilli())}, "\n")
	return map[string]any{"answer": text, "time": at.UnixMilli(), "nonce": nonce, "signature": b.sign(message)}
}

func (b *browser) answer(p wire.InboxReplyParams) (int, string) {
	b.t.Helper()
	return b.do("POST", "/api/answer", b.answerBody(p, nonce()))
}

// claim uses a code with the browser's key.
func (b *browser) claim(code, name string) (status int, digits, claim string) {
	b.t.Helper()
	status, text := send(b.t, b.request("POST", "/api/pair", map[string]string{"code": code, "key": b.publicKey(), "name": name}))
	var got struct{ Nonce, Claim string }
	_ = json.Unmarshal([]byte(text), &got)
	sum := sha256.Sum256([]byte("hookmux-pair-1\n" + code + "\n" + b.publicKey() + "\n" + got.Nonce))
	return status, fmt.Sprintf("%04d", new(big.Int).SetBytes(sum[:4]).Int64()%10000), got.Claim
}

// beginPairing gets a code, as `hookmux web pair` does.
func (w *daemonFixture) beginPairing(scope string) (pairing wire.WebPairing, code string) {
	w.T.Helper()
	w.MustCall(wire.MethodWebPair, wire.WebPairParams{Scope: scope}, &pairing)
	_, code, ok := strings.Cut(pairing.URL, "#pair=")
	if !ok {
		w.T.Fatalf("the address %s has no code", pairing.URL)
	}
	return pairing, code
}

// pairBrowser pairs a new browser.
func (w *daemonFixture) pairBrowser(url, scope string) *browser {
	w.T.Helper()
	b := newBrowser(w.T, url)
	pairing, code := w.beginPairing(scope)
	status, digits, claim := b.claim(code, "test phone")
	if status != http.StatusOK {
		w.T.Fatalf("the code isn't taken: %d", status)
	}
	var got wire.WebClaim
	w.MustCall(wire.MethodWebPairWait, wire.WebPairingParams{Pairing: pairing.Pairing}, &got)
	if got.Digits != digits {
		w.T.Fatalf("the terminal shows %s, the device %s", got.Digits, digits)
	}
	var device wire.WebDevice
	w.MustCall(wire.MethodWebPairConfirm, wire.WebConfirmParams{Pairing: pairing.Pairing, Digits: got.Digits,
		Name: got.Name, Scope: got.Scope}, &device)
	_, text := send(w.T, b.request("POST", "/api/pair/state", map[string]string{"claim": claim}))
	if !strings.Contains(text, device.ID) {
		w.T.Fatalf("the device doesn't hear that it's paired: %s", text)
	}
	b.device = device.ID
	return b
}

// streamPage opens the page's stream and gives its lines; it ends with the test.
func (b *browser) streamPage(visible bool) (lines chan string, leave func()) {
	b.t.Helper()
	path := "/api/stream"
	if visible {
		path += "?visible=1"
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := b.request("GET", path, nil).WithContext(ctx)
	b.authorize(r, nil, time.Now(), nonce())
	response, err := (&http.Client{Transport: plainHTTP.Transport}).Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		b.t.Fatalf("the stream answers %d", response.StatusCode)
	}
	lines = make(chan string, 1000)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(lines)
		reader := bufio.NewReaderSize(response.Body, 1<<20)
		for {
			line, err := reader.ReadString('\n')
			if err != nil {
				return
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				lines <- data
			}
		}
	}()
	leave = sync.OnceFunc(func() { cancel(); response.Body.Close(); <-ended })
	b.t.Cleanup(leave)
	return lines, leave
}

// awaitLine waits for a line of the stream.
func awaitLine(t *testing.T, lines chan string, with ...string) string {
	t.Helper()
	late := time.After(daemontest.Patience)
	for {
		select {
		case line, ok := <-lines:
			if !ok {
				t.Fatalf("the stream ended before a line with %q", with)
			}
			fits := true
			for _, one := range with {
				fits = fits && strings.Contains(line, one)
			}
			if fits {
				return line
			}
		case <-late:
			t.Fatalf("no line with %q", with)
		}
	}
}

// A paired device sees a request in full, answers it, and its signature is kept with the
// decision.
func TestWebAnswers(t *testing.T) {
	w := open(t)
	url := w.servePage()
	phone := w.pairBrowser(url, "")
	lines, _ := phone.streamPage(true)
	awaitLine(t, lines, `"snapshot"`)
	call := w.startCall(permission("s1", "echo from the phone"))
	awaitLine(t, lines, "inbox.received", "echo from the phone")
	item := w.waiting()
	if status, text := phone.answer(wire.InboxReplyParams{ID: item.ID, Choice: "once", SHA256: item.SHA256}); status != 200 {
		t.Fatalf("the answer gets %d %s", status, text)
	}
	if got, _ := call.answer(); !strings.Contains(got, `"allow"`) {
		t.Errorf("the agent hears %q, want allow", got)
	}
	awaitLine(t, lines, "inbox.resolved", item.ID)

	last, err := ledger.NewDecisions(w.Dirs.State).Last(1)
	if err != nil || len(last) != 1 || last[0].Signed == nil {
		t.Fatalf("no signature is kept: %+v, %v", last, err)
	}
	signed := last[0].Signed
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), signed.Key)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(signed.Message))
	if !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(signed.Signature[:32]), new(big.Int).SetBytes(signed.Signature[32:])) {
		t.Error("the kept signature doesn't fit the kept message")
	}
	for _, want := range []string{"request " + item.ID, "shown " + item.SHA256, "choice once"} {
		if !strings.Contains(signed.Message, want) {
			t.Errorf("the signed message lacks %q:\n%s", want, signed.Message)
		}
	}
	if !strings.Contains(last[0].By, "test phone") {
		t.Errorf("decided by %q, want the device's name", last[0].By)
	}

	call = w.startCall(permission("s1", "rm -r build"))
	item = w.waiting()
	phone.answer(wire.InboxReplyParams{ID: item.ID, Choice: "deny", Reason: "keep the build", SHA256: item.SHA256})
	if got, _ := call.answer(); !strings.Contains(got, "keep the build") {
		t.Errorf("the agent hears %q, want the reason", got)
	}
}

// What isn't what was shown is refused: another request, another text, another choice
// than was signed.
func TestWebAnswersOnlyWhatWasShown(t *testing.T) {
	w := open(t)
	phone := w.pairBrowser(w.servePage(), "")
	call := w.startCall(permission("s1", "echo one"))
	item := w.waiting()
	good := wire.InboxReplyParams{ID: item.ID, Choice: "once", SHA256: item.SHA256}
	refused := func(what string, body any) {
		t.Helper()
		if status, text := phone.do("POST", "/api/answer", body); status < 400 {
			t.Errorf("%s: got %d %s, want a refusal", what, status, text)
		}
	}
	other := good
	other.SHA256 = strings.Repeat("0", 64)
	refused("another text", phone.answerBody(other, nonce()))
	other.SHA256 = ""
	refused("no text", phone.answerBody(other, nonce()))
	other = good
	other.ID = item.ID[:2]
	refused("the beginning of an id", phone.answerBody(other, nonce()))
	for _, choice := range []string{"all", "bypass"} {
		other = good
		other.Choice = choice
		refused("everything: "+choice, phone.answerBody(other, nonce()))
	}
	changed := phone.answerBody(wire.InboxReplyParams{ID: item.ID, Choice: "deny", SHA256: item.SHA256}, nonce())
	text, _ := json.Marshal(good)
	changed["answer"] = string(text)
	refused("another choice than was signed", changed)
	stranger := newBrowser(t, phone.url)
	stranger.device = phone.device
	refused("another key", stranger.answerBody(good, nonce()))
	withPIN := good
	withPIN.PIN = "1234"
	refused("a PIN in what is kept", phone.answerBody(withPIN, nonce()))

	// The same answer twice: the second is a replay, even for another request.
	body := phone.answerBody(good, nonce())
	if status, text := phone.do("POST", "/api/answer", body); status != 200 {
		t.Fatalf("got %d %s", status, text)
	}
	if got, _ := call.answer(); !strings.Contains(got, `"allow"`) {
		t.Errorf("the agent hears %q", got)
	}
	refused("a replay", body)
}

// An agent that reaches the port gets nothing but the page's own files.
func TestWebGivesNothingToWhoIsntPaired(t *testing.T) {
	w := open(t)
	url := w.servePage()
	phone := w.pairBrowser(url, "")
	call := w.startCall(permission("s1", "echo secret-plan"))
	item := w.waiting()
	body, _ := json.Marshal(phone.answerBody(wire.InboxReplyParams{ID: item.ID, Choice: "once", SHA256: item.SHA256}, nonce()))
	paths := map[string][]string{
		"GET":  {"/api/stream", "/api/sessions", "/api/session?id=s1", "/api/events?session=s1", "/api/devices", "/api/push"},
		"POST": {"/api/answer", "/api/skip", "/api/send", "/api/visible", "/api/unpair", "/api/push"},
	}
	stolen := newBrowser(t, url) // has everything that is stored but the key
	stolen.device = phone.device
	for method, list := range paths {
		for _, path := range list {
			attempts := map[string]func(r *http.Request){
				"nothing":   func(*http.Request) {},
				"a device":  func(r *http.Request) { r.Header.Set("Authorization", "Hookmux-1 "+phone.device) },
				"a token":   func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+phone.device) },
				"a cookie":  func(r *http.Request) { r.Header.Set("Cookie", "device="+phone.device) },
				"other key": func(r *http.Request) { stolen.authorize(r, body, time.Now(), nonce()) },
				"old":       func(r *http.Request) { phone.authorize(r, body, time.Now().Add(-5*time.Minute), nonce()) },
				"other body": func(r *http.Request) {
					phone.authorize(r, []byte("other"), time.Now(), nonce())
				},
				"other path": func(r *http.Request) {
					other := phone.request(r.Method, "/api/hello", nil)
					phone.authorize(other, body, time.Now(), nonce())
					r.Header.Set("Authorization", other.Header.Get("Authorization"))
				},
				"other run": func(r *http.Request) {
					earlier := *phone
					earlier.instance = strings.Repeat("0", 32)
					earlier.authorize(r, body, time.Now(), nonce())
				},
			}
			for what, prepare := range attempts {
				r, err := http.NewRequest(method, url+path, bytes.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				r.Header.Set("Content-Type", "application/json")
				prepare(r)
				if status, text := send(t, r); status != http.StatusUnauthorized || strings.Contains(text, "secret-plan") {
					t.Errorf("%s %s with %s: got %d %s, want 401", method, path, what, status, text)
				}
			}
		}
	}
	// A recorded request is good for one time.
	r := phone.request("GET", "/api/devices", nil)
	phone.authorize(r, nil, time.Now(), nonce())
	if status, _ := send(t, r); status != 200 {
		t.Fatalf("a signed request gets %d", status)
	}
	if status, _ := send(t, r.Clone(t.Context())); status != http.StatusUnauthorized {
		t.Errorf("a replayed request gets %d, want 401", status)
	}
	if w.waiting().ID != item.ID {
		t.Error("the request doesn't wait any more")
	}
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: item.ID}, nil)
	call.answer()
}

// A code is good once, for two minutes, and for few tries; of several who race for it one
// gets in, and the terminal shows which.
func TestWebPairing(t *testing.T) {
	w := open(t)
	url := w.servePage()
	pairing, code := w.beginPairing("")
	var racing sync.WaitGroup
	type result struct {
		browser *browser
		digits  string
	}
	won := make(chan result, 8)
	for range 4 {
		b := newBrowser(t, url)
		racing.Go(func() {
			if status, digits, _ := b.claim(code, "racer"); status == 200 {
				won <- result{b, digits}
			}
		})
	}
	racing.Wait()
	if len(won) != 1 {
		t.Fatalf("%d browsers got in with one code", len(won))
	}
	var claim wire.WebClaim
	w.MustCall(wire.MethodWebPairWait, wire.WebPairingParams{Pairing: pairing.Pairing}, &claim)
	if first := <-won; first.digits != claim.Digits {
		t.Errorf("the terminal shows %s, the device that was first %s", claim.Digits, first.digits)
	}
	for _, wrong := range []wire.WebConfirmParams{
		{Pairing: pairing.Pairing, Digits: "00000", Name: claim.Name, Scope: claim.Scope},
		{Pairing: pairing.Pairing, Digits: claim.Digits, Name: "mother's phone", Scope: claim.Scope},
		{Pairing: pairing.Pairing, Digits: claim.Digits, Name: claim.Name, Scope: wire.ScopeRead},
		{Pairing: "", Digits: claim.Digits, Name: claim.Name, Scope: claim.Scope},
	} {
		if err := w.Call(wire.MethodWebPairConfirm, wrong, nil); err == nil {
			t.Errorf("%+v was confirmed", wrong)
		}
	}
	asked := len(w.Person.Asked())
	w.MustCall(wire.MethodWebPairConfirm, wire.WebConfirmParams{Pairing: pairing.Pairing, Digits: claim.Digits,
		Name: claim.Name, Scope: claim.Scope}, nil)
	if list := w.Person.Asked(); len(list) != asked+1 || !strings.Contains(list[asked], claim.Digits) {
		t.Errorf("you were asked %q, want for a code, with the digits %s", list, claim.Digits)
	}

	// Guessing: after five wrong codes the right one is void.
	_, code = w.beginPairing("")
	for range 5 {
		if status, _, _ := newBrowser(t, url).claim(strings.Repeat("A", 26), "guesser"); status != http.StatusForbidden {
			t.Errorf("a guessed code gets %d", status)
		}
	}
	if status, _, _ := newBrowser(t, url).claim(code, "late"); status != http.StatusForbidden {
		t.Errorf("a code that was guessed at gets %d, want 403", status)
	}

	// An agent can't begin or confirm.
	w.SetProcesses(daemontest.BelowAgent("claude"))
	for method, params := range map[string]any{
		wire.MethodWebPair:  wire.WebPairParams{},
		wire.MethodWebStart: wire.WebStartParams{Listen: "127.0.0.1:0"},
		wire.MethodWebPairConfirm: wire.WebConfirmParams{Pairing: pairing.Pairing, Digits: claim.Digits, Name: claim.Name,
			Scope: claim.Scope},
		wire.MethodWebDeviceScope: wire.WebDeviceParams{Device: "x", Scope: wire.ScopeAnswer},
		wire.MethodWebStop:        nil,
		// Nor can it read the digits, or where the page is and who uses it.
		wire.MethodWebPairWait: wire.WebPairingParams{Pairing: pairing.Pairing},
		wire.MethodWebStatus:   nil,
		wire.MethodWebDevices:  nil,
	} {
		var answer json.RawMessage
		if err := w.Call(method, params, &answer); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("an agent calls %s: %s, error %v; want a refusal", method, answer, err)
		}
	}
}

// A device that may only read can't answer; removing one ends its streams at once.
func TestWebScopesAndRemoval(t *testing.T) {
	w := open(t)
	url := w.servePage()
	phone := w.pairBrowser(url, wire.ScopeRead)
	call := w.startCall(permission("s1", "echo one"))
	item := w.waiting()
	yes := wire.InboxReplyParams{ID: item.ID, Choice: "once", SHA256: item.SHA256}
	if status, text := phone.answer(yes); status != http.StatusForbidden || !strings.Contains(text, `"scope"`) {
		t.Errorf("a device that may only read answers: %d %s", status, text)
	}
	if status, _ := phone.do("POST", "/api/send", map[string]string{"session": "s1", "text": "hi"}); status != http.StatusForbidden {
		t.Errorf("a device that may only read sends a text: %d", status)
	}
	lines, _ := phone.streamPage(true)
	awaitLine(t, lines, `"snapshot"`, "echo one")
	w.MustCall(wire.MethodWebDeviceScope, wire.WebDeviceParams{Device: "test phone", Scope: wire.ScopeAnswer}, nil)
	for range lines { // it ends, so that the page comes back with what it may do now
	}
	lines, _ = phone.streamPage(true)
	awaitLine(t, lines, `"snapshot"`, `"scope":"answer"`)
	w.MustCall(wire.MethodWebDeviceRename, wire.WebDeviceParams{Device: phone.device, Name: "pocket"}, nil)
	w.MustCall(wire.MethodWebDeviceRemove, wire.WebDeviceParams{Device: "pocket"}, nil)
	for range lines {
	}
	if status, _ := phone.answer(yes); status != http.StatusUnauthorized {
		t.Errorf("a removed device answers: %d", status)
	}
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: item.ID}, nil)
	call.answer()
	if err := w.Call(wire.MethodWebDeviceRemove, wire.WebDeviceParams{Device: "pocket"}, nil); err == nil {
		t.Error("a device that isn't there was removed")
	}
}

// Devices and where the page is served outlive the daemon; a file that hookmux didn't
// write pairs nothing.
func TestWebOutlivesTheDaemon(t *testing.T) {
	w := open(t)
	first := w.servePage()
	phone := w.pairBrowser(first, "")
	w.Down()
	w.Up()
	var status wire.WebStatus
	w.MustCall(wire.MethodWebStatus, nil, &status)
	if !status.On || status.Devices != 1 {
		t.Fatalf("after a restart: %+v", status)
	}
	r := phone.request("GET", "/api/devices", nil)
	phone.authorize(r, nil, time.Now(), nonce())
	moved, _ := url.Parse(status.URL) // its port is another one
	r.URL.Host, r.Host = moved.Host, moved.Host
	if code, _ := send(t, r); code != http.StatusUnauthorized {
		t.Errorf("what was signed for the daemon before gets %d, want 401", code)
	}
	phone.url = status.URL
	phone.hello()
	if code, text := phone.do("GET", "/api/devices", nil); code != 200 {
		t.Errorf("the device gets %d %s after a restart", code, text)
	}
	w.Down()
	file := filepath.Join(w.Dirs.State, "web-devices.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, bytes.Replace(b, []byte("test phone"), []byte("evil phone"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Up()
	w.MustCall(wire.MethodWebStatus, nil, &status)
	if _, found := w.Problem("web.devices"); status.Devices != 0 || !found {
		t.Errorf("a changed file pairs %d devices, reported: %v", status.Devices, found)
	}
	w.MustCall(wire.MethodWebStop, nil, &status)
	if _, err := net.Dial("tcp", moved.Host); status.On || err == nil {
		t.Errorf("after --stop: %+v, still reached: %v", status, err == nil)
	}
}

// While somebody looks at a page, an agent waits that otherwise wouldn't; once nobody
// does, it isn't kept.
func TestWebPageIsSomebodyWatching(t *testing.T) {
	w := open(t)
	url := w.servePage()
	phone := w.pairBrowser(url, "")
	w.MustPass(hiddenPermission("echo nobody"))
	lines, leave := phone.streamPage(false)
	page := awaitLine(t, lines, `"snapshot"`)
	w.MustPass(hiddenPermission("echo hidden page"))
	var first struct{ Params struct{ Page string } }
	if err := json.Unmarshal([]byte(page), &first); err != nil {
		t.Fatal(err)
	}
	phone.do("POST", "/api/visible", map[string]any{"page": first.Params.Page, "visible": true})
	call := w.startCall(hiddenPermission("echo seen"))
	item := w.waiting()
	phone.answer(wire.InboxReplyParams{ID: item.ID, Choice: "once", SHA256: item.SHA256})
	if got, _ := call.answer(); !strings.Contains(got, "allow") {
		t.Errorf("the agent hears %q", got)
	}
	leave()
	w.Eventually("nobody is there any more", func() bool {
		var info wire.Info
		w.MustCall(wire.MethodInfo, nil, &info)
		return !info.Inbox.CanAnyoneAnswer
	})
	_, again := phone.streamPage(true)
	again()
}

// Requests that a foreign page, name or program sends are refused before anything looks
// at them, and every answer carries the headers that keep the page from being framed.
func TestWebRefusesForeignRequests(t *testing.T) {
	w := open(t)
	address := w.servePage()
	phone := w.pairBrowser(address, "")
	at, _ := url.Parse(address)
	for what, prepare := range map[string]func(r *http.Request){
		"a foreign host":                func(r *http.Request) { r.Host = "evil.example" },
		"a rebound name with our port":  func(r *http.Request) { r.Host = "evil.example:" + at.Port() },
		"localhost with another port":   func(r *http.Request) { r.Host = "localhost:1" },
		"a name that ends like ours":    func(r *http.Request) { r.Host = "evil-localhost:" + at.Port() },
		"another address of the family": func(r *http.Request) { r.Host = "127.0.0.2:" + at.Port() },
	} {
		r := phone.request("GET", "/", nil)
		prepare(r)
		if status, _ := send(t, r); status != http.StatusMisdirectedRequest {
			t.Errorf("%s: got %d, want 421", what, status)
		}
	}
	for what, prepare := range map[string]func(r *http.Request){
		"another origin":   func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"no origin at all": func(r *http.Request) { r.Header.Set("Origin", "null") },
		"another site":     func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"another port":     func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
	} {
		body := []byte(`{}`)
		r := phone.request("POST", "/api/unpair", map[string]string{})
		phone.authorize(r, body, time.Now(), nonce())
		prepare(r)
		if status, _ := send(t, r); status != http.StatusForbidden {
			t.Errorf("a request from %s: got %d, want 403", what, status)
		}
	}
	// A form can't send JSON, and nothing changes by GET.
	r, _ := http.NewRequest("POST", address+"/api/pair", strings.NewReader(`{"code":"x"}`))
	r.Header.Set("Content-Type", "text/plain")
	if status, _ := send(t, r); status != http.StatusUnsupportedMediaType {
		t.Errorf("a form gets %d, want 415", status)
	}
	for _, path := range []string{"/api/answer", "/api/send", "/api/skip", "/api/unpair", "/api/pair", "/api/visible"} {
		if status, _ := phone.do("GET", path, nil); status != http.StatusNotFound {
			t.Errorf("GET %s: got %d, want 404", path, status)
		}
	}
	response, err := plainHTTP.Get(address + "/")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	for header, want := range map[string]string{
		"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		"Content-Security-Policy": "frame-ancestors 'none'",
	} {
		if got := response.Header.Get(header); !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q in it", header, got, want)
		}
	}
	policy := response.Header.Get("Content-Security-Policy")
	for _, never := range []string{"unsafe", "http:", "https:", "*", "data:"} {
		if strings.Contains(policy, never) {
			t.Errorf("the content policy allows %s: %s", never, policy)
		}
	}
	if !strings.Contains(policy, "require-trusted-types-for 'script'") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("the content policy is too loose: %s", policy)
	}
}

// Paths lead to the page's own files only, and what is too large or too slow is cut off.
func TestWebBounds(t *testing.T) {
	w := open(t)
	address := w.servePage()
	phone := w.pairBrowser(address, "")
	at, _ := url.Parse(address)
	raw := func(request string) string {
		t.Helper()
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(daemontest.Patience))
		_, _ = io.WriteString(conn, request)
		b, _ := io.ReadAll(conn)
		return string(b)
	}
	for _, path := range []string{"/../service.go", "/..%2fservice.go", "/%2e%2e/service.go", "//etc/passwd", "/page/index.html",
		"/./../../../../etc/passwd", "/index.html/../../serve.go", "/\\..\\serve.go", "/.git/config"} {
		got := raw("GET " + path + " HTTP/1.1\r\nHost: " + at.Host + "\r\nConnection: close\r\n\r\n")
		if strings.HasPrefix(got, "HTTP/1.1 200") || strings.Contains(got, "package web") || strings.Contains(got, "root:") {
			t.Errorf("GET %s: %.200s", path, got)
		}
	}
	if got := raw("GET / HTTP/1.1\r\nHost: " + at.Host + "\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n"); !strings.Contains(got, "431") {
		t.Errorf("large headers: %.100s", got)
	}
	if status, _ := phone.do("POST", "/api/send", map[string]string{"session": "s1", "text": strings.Repeat("x", 300<<10)}); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a large body gets %d, want 413", status)
	}
	status, _ := send(t, phone.request("POST", "/api/pair", map[string]string{"code": strings.Repeat("x", 20<<10)}))
	if status != http.StatusBadRequest {
		t.Errorf("a large code gets %d, want 400", status)
	}
	began := time.Now()
	if got := raw("GET / HTTP/1.1\r\nHost: " + at.Host + "\r\nX: slow"); time.Since(began) > 9*time.Second || strings.Contains(got, "200 OK") {
		t.Errorf("half a request is waited for %s, and gets %.100s", time.Since(began), got)
	}
	limited := false
	for range 200 {
		if status, _ := phone.do("GET", "/api/devices", nil); status == http.StatusTooManyRequests {
			limited = true
			break
		}
	}
	if !limited {
		t.Error("a device may ask as often as it likes")
	}
}

// How the page may be served.
func TestWebStartChecks(t *testing.T) {
	w := open(t)
	for _, wrong := range []wire.WebStartParams{
		{Listen: "0.0.0.0:0"}, {Listen: ":0"}, {Listen: "nonsense"}, {Listen: "127.0.0.1:0", Cert: "x"},
		{Listen: "127.0.0.1:0", Cert: "/nowhere.pem", Key: "/nowhere.pem"},
		{Listen: "127.0.0.1:0", PublicURL: "http://example.com"}, {Listen: "127.0.0.1:0", PublicURL: "https://example.com/path"},
		{Listen: "127.0.0.1:0", PublicURL: "javascript:alert(1)"}, {Listen: "127.0.0.1:0", PublicURL: "https://u:p@example.com"},
	} {
		if err := w.Call(wire.MethodWebStart, wrong, nil); err == nil {
			t.Errorf("%+v is served", wrong)
		}
	}
	var status wire.WebStatus
	asked := len(w.Person.Asked())
	w.MustCall(wire.MethodWebStart, wire.WebStartParams{Listen: "0.0.0.0:0", Insecure: true}, &status)
	if len(w.Person.Asked()) == asked {
		t.Error("you weren't asked before the page is served without encryption")
	}
	w.MustCall(wire.MethodWebStart, wire.WebStartParams{Listen: "127.0.0.1:0", PublicURL: "https://mac.example.ts.net/"}, &status)
	if status.URL != "https://mac.example.ts.net" {
		t.Errorf("served as %s", status.URL)
	}
	r, _ := http.NewRequest("GET", "http://"+status.Listen+"/", nil)
	r.Host = "mac.example.ts.net"
	if code, _ := send(t, r); code != 200 {
		t.Errorf("by its public name: %d", code)
	}
}

// With a certificate of its own the page is served encrypted, and browsers are told to
// stay with that.
func TestWebWithCertificate(t *testing.T) {
	w := open(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "EC PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var status wire.WebStatus
	w.MustCall(wire.MethodWebStart, wire.WebStartParams{Listen: "127.0.0.1:0", Cert: cert, Key: keyFile}, &status)
	if !status.TLS || !strings.HasPrefix(status.URL, "https://localhost:") {
		t.Fatalf("served as %+v", status)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}}}
	response, err := client.Get(status.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != 200 || response.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("got %d %v", response.StatusCode, response.Header)
	}
	if response, err := plainHTTP.Get(strings.Replace(status.URL, "https", "http", 1)); err == nil {
		response.Body.Close()
		if response.StatusCode == 200 {
			t.Error("the page is served without encryption, too")
		}
	}
}

// A push subscription is accepted for a browser's own service only, and belongs to the
// device that made it.
func TestWebPushSubscription(t *testing.T) {
	w := open(t)
	phone := w.pairBrowser(w.servePage(), wire.ScopeRead)
	status, text := phone.do("GET", "/api/push", nil)
	if status != 200 || !strings.Contains(text, `"key"`) {
		t.Fatalf("the key: %d %s", status, text)
	}
	auth := base64.RawURLEncoding.EncodeToString(make([]byte, 16))
	for endpoint, want := range map[string]int{
		"https://evil.example/push": 400, "https://127.0.0.1/push": 400, "http://fcm.googleapis.com/x": 400,
		"https://fcm.googleapis.com/fcm/send/x": 200,
	} {
		if status, text := phone.do("POST", "/api/push", map[string]string{"endpoint": endpoint, "p256dh": phone.publicKey(), "auth": auth}); status != want {
			t.Errorf("%s: got %d %s, want %d", endpoint, status, text, want)
		}
	}
	if status, _ := phone.do("POST", "/api/push", map[string]string{"endpoint": "https://fcm.googleapis.com/x", "p256dh": "AAAA", "auth": auth}); status != 400 {
		t.Errorf("a key that is none gets %d", status)
	}
	var list []wire.WebDevice
	w.MustCall(wire.MethodWebDevices, nil, &list)
	if len(list) != 1 || !list[0].Push || list[0].Used.IsZero() || list[0].Address == "" {
		t.Errorf("devices: %+v", list)
	}
	phone.do("POST", "/api/push", map[string]string{"endpoint": "", "p256dh": "", "auth": ""})
	var after []wire.WebDevice
	w.MustCall(wire.MethodWebDevices, nil, &after)
	if after[0].Push {
		t.Error("the subscription isn't ended")
	}
	if status, _ := phone.do("POST", "/api/unpair", map[string]string{}); status != 200 {
		t.Errorf("a device removes itself: %d", status)
	}
	if status, _ := phone.do("GET", "/api/devices", nil); status != http.StatusUnauthorized {
		t.Errorf("a removed device gets %d", status)
	}
}

// A device's key that is used with another browser is in the journal: the profile may
// have been copied.
func TestWebUseFromElsewhere(t *testing.T) {
	w := open(t)
	heard := w.startReceiver()
	address := w.servePage()
	phone := w.pairBrowser(address, "")
	lines, _ := w.pairBrowser(address, "").streamPage(false)
	for _, agent := range []string{"Mozilla/5.0 (iPhone) Safari/605", "Mozilla/5.0 (iPhone) Safari/606", "Mozilla/5.0 (X11; Linux) Firefox/153"} {
		r := phone.request("GET", "/api/devices", nil)
		r.Header.Set("User-Agent", agent)
		phone.authorize(r, nil, time.Now(), nonce())
		if status, text := send(t, r); status != 200 {
			t.Fatalf("%d %s", status, text)
		}
	}
	w.Eventually("it's in the journal", func() bool {
		n := 0
		for _, row := range w.Rows() {
			if row.Native == wire.OwnDevice && strings.Contains(string(row.Raw), "Firefox on Linux") {
				n++
			}
		}
		return n == 1
	})
	awaitLine(t, lines, "device.elsewhere", "Firefox on Linux")
	heard.told(w, "notice", "device-"+phone.device)
}

// Behind a real proxy requests, answers and the stream work as they do without one.
func TestWebBehindCaddy(t *testing.T) {
	caddy, err := exec.LookPath("caddy")
	if err != nil {
		t.Skip("no Caddy is installed")
	}
	w := open(t)
	free := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		return port
	}
	port := free()
	var status wire.WebStatus
	w.MustCall(wire.MethodWebStart, wire.WebStartParams{Listen: "127.0.0.1:0", PublicURL: "http://localhost:" + port}, &status)
	dir := t.TempDir()
	config := filepath.Join(dir, "Caddyfile")
	text := "{\n\tadmin off\n}\nhttp://localhost:" + port + " {\n\treverse_proxy " + status.Listen + "\n}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	proxy := exec.Command(caddy, "run", "--config", config, "--adapter", "caddyfile")
	proxy.Env = []string{"HOME=" + dir, "XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir}
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Process.Kill(); _ = proxy.Wait() })
	w.Eventually("Caddy listens", func() bool {
		conn, err := net.Dial("tcp", "localhost:"+port)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	phone := w.pairBrowser(status.URL, "")
	lines, _ := phone.streamPage(true)
	awaitLine(t, lines, `"snapshot"`)
	call := w.startCall(permission("s1", "echo through the proxy"))
	awaitLine(t, lines, "inbox.received", "echo through the proxy")
	item := w.waiting()
	if status, text := phone.answer(wire.InboxReplyParams{ID: item.ID, Choice: "once", SHA256: item.SHA256}); status != 200 {
		t.Errorf("got %d %s", status, text)
	}
	if got, _ := call.answer(); !strings.Contains(got, `"allow"`) {
		t.Errorf("the agent hears %q", got)
	}
}
