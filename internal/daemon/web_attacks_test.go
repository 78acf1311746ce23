package daemon

import (
	"bytes"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// Thirty ways to get an answer, a device or somebody else's words past the page, tried by
// somebody who can reach it and has seen everything that a device ever sent. Each must fail,
// and the request must still wait.
func TestWebAttacks(t *testing.T) {
	w := open(t)
	address := w.servePage()
	phone := w.pairBrowser(address, "")
	reader := w.pairBrowser(address, wire.ScopeRead)
	call := w.startCall(permission("s1", "echo one"))
	item := w.waiting()
	yes := wire.InboxReplyParams{ID: item.ID, Choice: "once", SHA256: item.SHA256}
	no := wire.InboxReplyParams{ID: item.ID, Choice: "deny", SHA256: item.SHA256}
	at, _ := url.Parse(address)
	raw := func(request string) string {
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second)) // a connection may be kept open
		_, _ = io.WriteString(conn, request)
		b, _ := io.ReadAll(conn)
		return string(b)
	}
	// signed sends a request whose body and headers are changed after they were signed.
	signed := func(b *browser, method, path string, body any, change func(r *http.Request)) (int, string) {
		r := b.request(method, path, body)
		var text []byte
		if body != nil {
			text, _ = json.Marshal(body)
		}
		b.authorize(r, text, time.Now(), nonce())
		change(r)
		return send(t, r)
	}
	answerWith := func(b *browser, change func(map[string]any)) int {
		body := b.answerBody(no, nonce())
		change(body)
		status, _ := b.do("POST", "/api/answer", body)
		return status
	}
	changed := func(p wire.InboxReplyParams) string { text, _ := json.Marshal(p); return string(text) }
	// mirrored is the other signature of the same message: s and n-s are both good.
	mirrored := func(signature string) string {
		b, _ := base64.RawURLEncoding.DecodeString(signature)
		s := new(big.Int).Sub(elliptic.P256().Params().N, new(big.Int).SetBytes(b[32:]))
		return base64.RawURLEncoding.EncodeToString(append(bytes.Clone(b[:32]), s.FillBytes(make([]byte, 32))...))
	}
	refused := func(status int) bool { return status >= 400 }
	attacks := map[string]func() bool{ // each reports whether it was refused
		"a no that becomes a yes after it was signed": func() bool {
			return refused(answerWith(phone, func(m map[string]any) { m["answer"] = changed(yes) }))
		},
		"a choice beside the signed one, in the same text": func() bool {
			return refused(answerWith(phone, func(m map[string]any) {
				m["answer"] = strings.Replace(m["answer"].(string), `"choice":"deny"`, `"choice":"deny","choice":"once"`, 1)
			}))
		},
		"another case of a member": func() bool {
			return refused(answerWith(phone, func(m map[string]any) {
				m["answer"] = strings.Replace(m["answer"].(string), `"choice":"deny"`, `"choice":"deny","Choice":"once"`, 1)
			}))
		},
		"an answer signed by one device and sent by another": func() bool {
			other := w.pairBrowser(address, "")
			body := phone.answerBody(yes, nonce())
			status, _ := other.do("POST", "/api/answer", body)
			return refused(status)
		},
		"an answer of a device that may read": func() bool { status, _ := reader.answer(yes); return status == http.StatusForbidden },
		"an answer that a device that may answer signed, sent by one that may read": func() bool {
			status, _ := reader.do("POST", "/api/answer", phone.answerBody(yes, nonce()))
			return status == http.StatusForbidden
		},
		"a text to a session, of a device that may read": func() bool {
			status, _ := reader.do("POST", "/api/send", map[string]string{"session": "s1", "text": "yes"})
			return status == http.StatusForbidden
		},
		"a release by a device that may read": func() bool {
			status, _ := reader.do("POST", "/api/skip", map[string]string{"id": item.ID, "sha256": item.SHA256})
			return status == http.StatusForbidden
		},
		"a signature of zeros": func() bool {
			return refused(answerWith(phone, func(m map[string]any) { m["signature"] = base64.RawURLEncoding.EncodeToString(make([]byte, 64)) }))
		},
		"a signature of the curve's order": func() bool {
			n := elliptic.P256().Params().N.Bytes()
			return refused(answerWith(phone, func(m map[string]any) {
				m["signature"] = base64.RawURLEncoding.EncodeToString(append(bytes.Clone(n), n...))
			}))
		},
		"an empty signature": func() bool {
			return refused(answerWith(phone, func(m map[string]any) { m["signature"] = "" }))
		},
		"the mirrored signature of a request that was sent": func() bool {
			r := phone.request("GET", "/api/devices", nil)
			phone.authorize(r, nil, time.Now(), nonce())
			if status, _ := send(t, r); status != 200 {
				t.Fatalf("the request itself gets %d", status)
			}
			words := strings.Split(r.Header.Get("Authorization"), " ")
			words[4] = mirrored(words[4])
			again := phone.request("GET", "/api/devices", nil)
			again.Header.Set("Authorization", strings.Join(words, " "))
			status, _ := send(t, again)
			return refused(status)
		},
		"a time that overflows": func() bool {
			status, _ := signed(phone, "GET", "/api/devices", nil, func(r *http.Request) {
				words := strings.Split(r.Header.Get("Authorization"), " ")
				words[2] = "9223372036854775807"
				r.Header.Set("Authorization", strings.Join(words, " "))
			})
			return refused(status)
		},
		"an answer of tomorrow": func() bool {
			return refused(answerWith(phone, func(m map[string]any) { m["time"] = time.Now().Add(24 * time.Hour).UnixMilli() }))
		},
		"two headers, of which one is good": func() bool {
			status, _ := signed(phone, "GET", "/api/devices", nil, func(r *http.Request) {
				r.Header["Authorization"] = []string{"Hookmux-1 0 0 0 0", r.Header.Get("Authorization")}
			})
			return refused(status)
		},
		"another query than the signed one": func() bool {
			status, _ := signed(phone, "GET", "/api/session?id=nothing", nil, func(r *http.Request) { r.URL.RawQuery = "id=s1" })
			return status == http.StatusUnauthorized
		},
		"a method in a header": func() bool {
			status, _ := signed(phone, "GET", "/api/unpair", nil, func(r *http.Request) { r.Header.Set("X-HTTP-Method-Override", "POST") })
			return refused(status)
		},
		"a choice that no device has: everything from now on": func() bool {
			for _, choice := range []string{"all", "bypass", "", "ONCE", "once ", "accept"} {
				all := yes
				all.Choice = choice
				if status, text := phone.answer(all); status < 400 && strings.Contains(text, "delivered") {
					t.Errorf("the choice %q: %d %s", choice, status, text)
					return false
				}
			}
			return true
		},
		"a permission wider than the one that's shown": func() bool {
			wide := yes
			wide.Choice, wide.Rule, wide.Scope = "always", "Bash(*)", "everywhere"
			status, _ := phone.answer(wide)
			return refused(status)
		},
		"a release of a request that was another when it was shown": func() bool {
			status, _ := phone.do("POST", "/api/skip", map[string]string{"id": item.ID, "sha256": strings.Repeat("0", 64)})
			return status == http.StatusConflict
		},
		"a code in other clothes": func() bool {
			pairing, code := w.beginPairing("")
			fresh := newBrowser(t, address)
			for _, one := range []string{code[:len(code)-1], code + "A", code[1:], "", "*", "%00", strings.Repeat("A", 26)} {
				if status, _, _ := fresh.claim(one, "evil"); !refused(status) {
					t.Errorf("the code %q of %q is taken", one, code)
					return false
				}
			}
			status, _, _ := fresh.claim(code, "evil") // void by now: too many were wrong
			return refused(status) && w.Call(wire.MethodWebPairConfirm, wire.WebConfirmParams{Pairing: pairing.Pairing, Digits: "0000"}, nil) != nil
		},
		"a code that nobody asked for": func() bool {
			status, text := send(t, phone.request("POST", "/api/pair/state", map[string]string{"claim": ""}))
			return status == 200 && strings.Contains(text, "over") && !strings.Contains(text, "device")
		},
		"a key that's no point of the curve": func() bool {
			_, code := w.beginPairing("")
			for _, key := range [][]byte{{}, {0}, append([]byte{4}, make([]byte, 64)...), append([]byte{2}, make([]byte, 32)...), bytes.Repeat([]byte{0xff}, 65)} {
				status, _ := send(t, phone.request("POST", "/api/pair", map[string]string{"code": code, "name": "evil",
					"key": base64.RawURLEncoding.EncodeToString(key)}))
				if !refused(status) {
					return false
				}
			}
			return true
		},
		"a device name that writes on your terminal": func() bool {
			pairing, code := w.beginPairing("")
			if status, _, _ := newBrowser(t, address).claim(code, "\x1b]0;x\x07\r\nsame digits? yes\u202e\x1b[2K"); status != 200 {
				return false
			}
			var got wire.WebClaim
			w.MustCall(wire.MethodWebPairWait, wire.WebPairingParams{Pairing: pairing.Pairing}, &got)
			return !strings.ContainsAny(got.Name, "\x1b\r\n\a\u202e")
		},
		"a request in two lengths": func() bool {
			got := raw("POST /api/answer HTTP/1.1\r\nHost: " + at.Host + "\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
				"GET /api/devices HTTP/1.1\r\nHost: " + at.Host + "\r\nConnection: close\r\n\r\n")
			return !strings.Contains(got, " 200 ")
		},
		"a foreign address in the request's first line": func() bool {
			return !strings.HasPrefix(raw("GET http://evil.example/ HTTP/1.1\r\nHost: "+at.Host+"\r\nConnection: close\r\n\r\n"), "HTTP/1.1 200")
		},
		"our name with a dot, a space or another's port": func() bool {
			for _, host := range []string{"localhost.:" + at.Port(), "localhost", "localhost:" + at.Port() + ":80", "[::1%25lo]:" + at.Port(), ""} {
				if strings.HasPrefix(raw("GET / HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n"), "HTTP/1.1 200") {
					t.Errorf("the host %q is ours", host)
					return false
				}
			}
			return true
		},
		"a path that redirects elsewhere": func() bool {
			got := raw("GET //evil.example/%2e%2e HTTP/1.1\r\nHost: " + at.Host + "\r\nConnection: close\r\n\r\n")
			return !strings.Contains(strings.ToLower(got), "location: //")
		},
		"methods that nobody uses": func() bool {
			for _, method := range []string{"TRACE", "CONNECT", "PUT", "DELETE", "PATCH", "PROPFIND", "OPTIONS"} {
				got := raw(method + " /api/answer HTTP/1.1\r\nHost: " + at.Host + "\r\nX-Secret: mirrored\r\nConnection: close\r\n\r\n")
				if strings.HasPrefix(got, "HTTP/1.1 2") || strings.Contains(got, "mirrored") || strings.Contains(got, "Access-Control-Allow") {
					t.Errorf("%s: %.200s", method, got)
					return false
				}
			}
			return true
		},
		"a bomb of brackets": func() bool {
			body := strings.Repeat("[", 200<<10)
			r, _ := http.NewRequest("POST", address+"/api/answer", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			phone.authorize(r, []byte(body), time.Now(), nonce())
			status, _ := send(t, r)
			return refused(status)
		},
		"a session's name that's a path or a query": func() bool {
			for _, id := range []string{"../../../../etc/passwd", "' OR 1=1 --", "%", "*", "\x00", strings.Repeat("s", 4000)} {
				status, text := phone.do("GET", "/api/events?session="+url.QueryEscape(id), nil)
				if status == 200 && strings.Contains(text, "echo one") || status >= 500 {
					t.Errorf("the session %.40q: %d %.200s", id, status, text)
					return false
				}
			}
			return true
		},
		"cursors that hookmux never gave": func() bool {
			for _, cursor := range []string{"-1", "99999999999999999999", "'; DROP TABLE event; --", "\u202e"} {
				for _, name := range []string{"after", "before"} {
					if status, _ := phone.do("GET", "/api/events?session=s1&"+name+"="+url.QueryEscape(cursor), nil); status >= 500 {
						return false
					}
				}
			}
			return true
		},
		"a page that looks, of a device that may only read": func() bool {
			_, leave := reader.streamPage(true)
			defer leave()
			return !w.h.web.IsVisible()
		},
	}
	if len(attacks) < 30 {
		t.Errorf("only %d attacks", len(attacks))
	}
	for what, attack := range attacks {
		if !attack() {
			t.Errorf("%s succeeds", what)
		}
		if got := w.waiting(); got.ID != item.ID {
			t.Fatalf("after %s, another request waits: %+v", what, got)
		}
		time.Sleep(60 * time.Millisecond) // the rate limits are another test's subject
	}
	if status, text := phone.answer(no); status != 200 || !strings.Contains(text, "delivered") {
		t.Errorf("the device itself gets %d %s", status, text)
	}
	call.answer()
}
