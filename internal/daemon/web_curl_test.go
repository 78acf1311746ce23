package daemon

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
)

// An agent with a real curl, on the same machine and with everything that can be copied of
// your browser but its key: it learns nothing about the request that waits, can't answer it
// and doesn't become a device.
func TestWebAgentWithCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl isn't installed")
	}
	w := open(t)
	address := w.servePage()
	phone := w.pairBrowser(address, "")
	call := w.startCall(permission("s1", "echo one"))
	item := w.waiting()
	at, _ := url.Parse(address)
	port := at.Port()
	pairing, code := w.beginPairing("")
	w.SetProcesses(daemontest.BelowAgent("claude"))

	yes := wire.InboxReplyParams{ID: item.ID, Choice: "once", SHA256: item.SHA256}
	authorize := func(b *browser, method, path string, body []byte) string {
		r := b.request(method, path, nil)
		b.authorize(r, body, time.Now(), nonce())
		return "Authorization: " + r.Header.Get("Authorization")
	}
	body := func(v any) []byte { text, _ := json.Marshal(v); return text }
	// get runs curl and returns the last status, 0 without an answer, and everything it was told.
	get := func(args ...string) (status, told string) {
		out, _ := exec.Command(curl, append([]string{"-s", "-i", "--max-time", "20", "-w", "\n%{http_code}"}, args...)...).Output()
		told, status = string(out), ""
		if i := strings.LastIndexByte(told, '\n'); i >= 0 {
			told, status = told[:i], told[i+1:]
		}
		return status, told
	}
	json1 := "Content-Type: application/json"
	answer := body(phone.answerBody(yes, nonce())) // even an answer that you signed once and that never arrived
	seen := authorize(phone, "GET", "/api/devices", nil)
	if status, told := get("-H", seen, address+"/api/devices"); status != "200" || !strings.Contains(told, phone.device) {
		t.Fatalf("your browser's own request gets %s %s", status, told)
	}
	thief := newBrowser(t, address) // all of the browser's storage, with a key of its own
	thief.device = phone.device
	const refused, foreign, nothing, bad = "401", "421", "404", "400"
	for what, one := range map[string]struct {
		want []string
		args []string
	}{
		"nothing but the address":        {[]string{refused}, []string{address + "/api/stream?visible=1"}},
		"the devices":                    {[]string{refused}, []string{address + "/api/devices"}},
		"an answer without a signature":  {[]string{refused}, []string{"-H", json1, "-d", string(body(yes)), address + "/api/answer"}},
		"your signed answer":             {[]string{refused}, []string{"-H", json1, "-d", string(answer), address + "/api/answer"}},
		"your signed answer, resigned":   {[]string{refused}, []string{"-H", json1, "-H", authorize(thief, "POST", "/api/answer", answer), "-d", string(answer), address + "/api/answer"}},
		"a request that it saw":          {[]string{refused}, []string{"-H", seen, address + "/api/devices"}},
		"the same elsewhere":             {[]string{refused}, []string{"-H", seen, address + "/api/stream"}},
		"copied storage without the key": {[]string{refused}, []string{"-H", authorize(thief, "GET", "/api/stream", nil), address + "/api/stream"}},
		"a cookie":                       {[]string{refused}, []string{"-H", "Cookie: device=" + phone.device + "; own=" + phone.publicKey(), address + "/api/stream"}},
		"a bearer":                       {[]string{refused}, []string{"-H", "Authorization: Bearer " + phone.device, address + "/api/stream"}},
		"a user and a password":          {[]string{refused}, []string{"-u", phone.device + ":" + phone.publicKey(), address + "/api/stream"}},
		"a proxy's headers": {[]string{refused}, []string{"-H", "X-Forwarded-For: 127.0.0.1", "-H", "X-Forwarded-Host: " + at.Host, "-H", "X-Forwarded-Proto: https",
			"-H", "X-Forwarded-User: you", "-H", "Forwarded: for=127.0.0.1;host=localhost", "-H", "X-Real-IP: 127.0.0.1", address + "/api/stream"}},
		"another path in a header":      {[]string{refused, nothing}, []string{"-H", "X-Original-URL: /api/hello", "-H", "X-Rewrite-URL: /api/hello", address + "/api/stream"}},
		"a browser's headers":           {[]string{refused}, []string{"-H", "Origin: " + address, "-H", "Sec-Fetch-Site: same-origin", "-A", "Mozilla/5.0", address + "/api/stream"}},
		"another site's name":           {[]string{foreign}, []string{"-H", "Host: evil.example", address + "/api/hello"}},
		"our name without the port":     {[]string{foreign}, []string{"-H", "Host: localhost", address + "/api/hello"}},
		"our address as a number":       {[]string{foreign}, []string{"-H", "Host: 2130706433:" + port, address + "/api/hello"}},
		"no name":                       {[]string{foreign}, []string{"--http1.0", "-H", "Host:", address + "/api/hello"}},
		"another address, first line":   {[]string{foreign}, []string{"--request-target", "http://evil.example/api/hello", address}},
		"our own, in the first line":    {[]string{refused}, []string{"--request-target", "http://" + at.Host + "/api/stream", address}},
		"an older HTTP":                 {[]string{refused}, []string{"--http1.0", address + "/api/stream"}},
		"an upgrade to HTTP/2":          {[]string{refused}, []string{"--http2", address + "/api/stream"}},
		"HTTP/2 at once":                {[]string{"000", bad}, []string{"--http2-prior-knowledge", address + "/api/stream"}},
		"a web socket":                  {[]string{refused}, []string{"-H", "Connection: Upgrade", "-H", "Upgrade: websocket", "-H", "Sec-WebSocket-Version: 13", "-H", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", address + "/api/stream"}},
		"a request inside of another":   {[]string{refused, bad}, []string{"-H", "Transfer-Encoding: chunked", "-H", "Content-Length: 4", "-H", json1, "--data-binary", "0\r\n\r\nGET /api/stream HTTP/1.1\r\nHost: " + at.Host + "\r\n\r\n", address + "/api/answer"}},
		"a header that goes on":         {[]string{refused, bad}, []string{"-H", "X-A: b\r\nAuthorization: x", address + "/api/stream"}},
		"a path above":                  {[]string{nothing}, []string{"--path-as-is", "-L", address + "/../../../etc/passwd"}},
		"a way around the path":         {[]string{refused, nothing}, []string{"--path-as-is", "-L", address + "//api/./devices"}},
		"an answer by GET":              {[]string{nothing, "405"}, []string{"-G", "-d", "id=" + item.ID + "&choice=once&sha256=" + item.SHA256, address + "/api/answer"}},
		"a file of its own":             {[]string{"405"}, []string{"-X", "PUT", "-d", "x", address + "/app.webmanifest"}},
		"an answer as a form":           {[]string{refused, "415"}, []string{"-d", "id=" + item.ID + "&choice=once", address + "/api/answer"}},
		"the address of a notification": {[]string{refused}, []string{"-H", json1, "-d", `{"endpoint":"https://fcm.googleapis.com/x"}`, address + "/api/push"}},
		"a text to the session":         {[]string{refused}, []string{"-H", json1, "-d", `{"session":"s1","text":"go on"}`, address + "/api/send"}},
		"the daemon's socket":           {[]string{"000"}, []string{"--http0.9", "--unix-socket", w.Dirs.Socket(), "http://localhost/api/devices"}},
		"a guessed code":                {[]string{bad, "403", "404", "410"}, []string{"-H", json1, "-d", `{"code":"AAAAAAAAAAAAAAAAAAAAAAAAAA","name":"x","key":"` + thief.publicKey() + `"}`, address + "/api/pair"}},
	} {
		status, told := get(one.args...)
		if !slices.Contains(one.want, status) {
			t.Errorf("%s gets %s, want %v: %.300s", what, status, one.want, told)
		}
		if strings.Contains(told, "echo one") || strings.Contains(told, item.ID) || strings.Contains(told, phone.device) {
			t.Errorf("%s is told %.300s", what, told)
		}
	}

	// A code that it read from your screen makes it no device: you compare the digits, at a
	// terminal where it can't confirm them itself.
	status, told := get("-H", json1, "-d", string(body(map[string]string{"code": code, "name": "your phone", "key": thief.publicKey()})), address+"/api/pair")
	if status != "200" {
		t.Errorf("the right code gets %s %s", status, told)
	}
	for method, params := range map[string]any{
		wire.MethodWebPair:         wire.WebPairParams{},
		wire.MethodWebPairConfirm:  wire.WebConfirmParams{Pairing: pairing.Pairing, Digits: "0000", Name: "your phone", Scope: wire.ScopeAnswer},
		wire.MethodWebDeviceScope:  wire.WebDeviceParams{Device: phone.device, Scope: wire.ScopeAnswer},
		wire.MethodWebDeviceRemove: wire.WebDeviceParams{Device: phone.device},
		wire.MethodInboxReply:      yes,
	} {
		if err := w.Call(method, params, nil); err == nil {
			t.Errorf("an agent may do %s", method)
		}
	}

	w.SetProcesses(daemontest.AtTerminal())
	var devices []wire.WebDevice
	w.MustCall(wire.MethodWebDevices, nil, &devices)
	if len(devices) != 1 || devices[0].ID != phone.device {
		t.Errorf("the devices are %+v, want the one that you paired", devices)
	}
	if got := w.waiting(); got.ID != item.ID || got.Status != wire.InboxPending {
		t.Errorf("the request is %+v, want it to wait", got)
	}
	no := yes
	no.Choice = "deny"
	if status, text := phone.answer(no); status != http.StatusOK || !strings.Contains(text, "delivered") {
		t.Errorf("your browser's answer gets %d %s", status, text)
	}
	call.answer()
}
