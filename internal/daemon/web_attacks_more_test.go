package daemon

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// Thirty more ways past the page, by somebody who read its code: confused paths and
// methods, signatures for something else, other programs beside it. Each must fail.
func TestWebMoreAttacks(t *testing.T) {
	w := open(t)
	address := w.servePage()
	phone, reader := w.pairBrowser(address, ""), w.pairBrowser(address, wire.ScopeRead)
	call := w.startCall(permission("s1", "echo one\n\ndata: {\"method\":\"snapshot\"}\n\nevent: x"))
	item := w.waiting()
	yes := wire.InboxReplyParams{ID: item.ID, Choice: "once", SHA256: item.SHA256}
	refused := func(status int) bool { return status >= 400 }
	// resend signs one request and sends another one with its signature.
	resend := func(b *browser, method, path string, body any, change func(r *http.Request)) (int, string) {
		r := b.request(method, path, body)
		var text []byte
		if body != nil {
			text, _ = json.Marshal(body)
		}
		b.authorize(r, text, time.Now(), nonce())
		change(r)
		return send(t, r)
	}
	answer := func(change func(m map[string]any)) int {
		body := phone.answerBody(yes, nonce())
		change(body)
		status, _ := phone.do("POST", "/api/answer", body)
		return status
	}
	other := func(p wire.InboxReplyParams) bool {
		status, text := phone.answer(p)
		return refused(status) || !strings.Contains(text, "delivered")
	}
	authorization := func(change func(words []string) []string) bool {
		status, _ := resend(phone, "GET", "/api/devices", nil, func(r *http.Request) {
			r.Header.Set("Authorization", strings.Join(change(strings.Split(r.Header.Get("Authorization"), " ")), " "))
		})
		return status == http.StatusUnauthorized
	}
	crossOrigin := func(headers map[string]string) bool {
		status, _ := resend(phone, "POST", "/api/answer", phone.answerBody(yes, nonce()), func(r *http.Request) {
			for name, value := range headers {
				r.Header.Set(name, value)
			}
		})
		return status == http.StatusForbidden
	}
	subscribe := func(endpoint string) bool {
		status, _ := phone.do("POST", "/api/push", map[string]string{"endpoint": endpoint, "p256dh": phone.publicKey(), "auth": "AAAAAAAAAAAAAAAAAAAAAA"})
		return status == http.StatusBadRequest
	}
	attacks := map[string]func() bool{
		"the beginning of a request's id": func() bool { p := yes; p.ID = p.ID[:len(p.ID)-1]; return other(p) },
		"a request's id in capitals":      func() bool { p := yes; p.ID = " " + strings.ToUpper(p.ID); return other(p) },
		"no hash of what was shown":       func() bool { p := yes; p.SHA256 = ""; return other(p) },
		"half a hash of what was shown":   func() bool { p := yes; p.SHA256 = p.SHA256[:32]; return other(p) },
		"another case of the hash":        func() bool { p := yes; p.SHA256 = strings.ToUpper(p.SHA256); return other(p) },
		"a PIN in the signed text": func() bool {
			p := yes
			p.PIN = "0000"
			return other(p)
		},
		"a member that nobody knows": func() bool {
			return refused(answer(func(m map[string]any) { m["device"] = reader.device }))
		},
		"a request's signature on an answer": func() bool {
			return refused(answer(func(m map[string]any) {
				r := phone.request("POST", "/api/answer", nil)
				phone.authorize(r, nil, time.Now(), nonce())
				m["signature"] = strings.Split(r.Header.Get("Authorization"), " ")[4]
			}))
		},
		"an answer's signature on a request": func() bool {
			return authorization(func(words []string) []string {
				words[4] = phone.answerBody(yes, words[3])["signature"].(string)
				return words
			})
		},
		"the nonce of a request, in the answer that it carries": func() bool {
			once := nonce()
			r := phone.request("POST", "/api/answer", phone.answerBody(wire.InboxReplyParams{ID: "nothing", Choice: "once", SHA256: item.SHA256}, once))
			text, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(text))
			phone.authorize(r, text, time.Now(), once)
			_, said := send(t, r)
			return !strings.Contains(said, "delivered")
		},
		"an answer of before the page was served again": func() bool {
			return refused(answer(func(m map[string]any) {
				before := *phone
				before.instance = strings.Repeat("0", 32)
				m["signature"] = before.answerBody(yes, nonce())["signature"]
			}))
		},
		"a short nonce": func() bool { return authorization(func(w []string) []string { w[3] = w[3][:8]; return w }) },
		"a nonce without an end": func() bool {
			return authorization(func(w []string) []string { w[3] = strings.Repeat("A", 4000); return w })
		},
		"another scheme":              func() bool { return authorization(func(w []string) []string { w[0] = "Bearer"; return w }) },
		"a word more":                 func() bool { return authorization(func(w []string) []string { return append(w, "x") }) },
		"another device's name":       func() bool { return authorization(func(w []string) []string { w[1] = reader.device; return w }) },
		"the beginning of a device's": func() bool { return authorization(func(w []string) []string { w[1] = w[1][:4]; return w }) },
		"no device":                   func() bool { return authorization(func(w []string) []string { w[1] = ""; return w }) },
		"a signed GET as HEAD": func() bool {
			status, _ := resend(phone, "GET", "/api/devices", nil, func(r *http.Request) { r.Method = "HEAD" })
			return status == http.StatusUnauthorized
		},
		"the same path, spelled differently": func() bool {
			for _, path := range []string{"/api/%64evices", "/api/devices?", "/api/devices%20", "/api/Devices", "/api/devices%00", "/api/devices;x"} {
				status, text := resend(phone, "GET", "/api/devices", nil, func(r *http.Request) {
					r.URL.Opaque = path
				})
				if status == http.StatusOK || strings.Contains(text, phone.device) {
					t.Errorf("%s: %d", path, status)
					return false
				}
			}
			return true
		},
		"a form of another site": func() bool {
			return crossOrigin(map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"})
		},
		"a page on another port of this machine": func() bool {
			return crossOrigin(map[string]string{"Origin": "http://localhost:1", "Sec-Fetch-Site": "same-site"})
		},
		"a sandboxed frame": func() bool {
			return crossOrigin(map[string]string{"Origin": "null", "Sec-Fetch-Site": "cross-site"})
		},
		"a body that's no JSON by its header": func() bool {
			status, _ := resend(phone, "POST", "/api/answer", phone.answerBody(yes, nonce()), func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
			return status == http.StatusUnsupportedMediaType
		},
		"a body without a length that doesn't end": func() bool {
			r := phone.request("POST", "/api/answer", nil)
			phone.authorize(r, nil, time.Now(), nonce())
			r.Body, r.ContentLength = io.NopCloser(io.LimitReader(endless{}, 4<<20)), -1
			response, err := plainHTTP.Do(r)
			if err != nil {
				return true // hung up
			}
			defer response.Body.Close()
			return response.StatusCode == http.StatusRequestEntityTooLarge
		},
		"a frame around an error, or around nothing": func() bool {
			for _, path := range []string{"/", "/nothing", "/api/devices", "/app.js"} {
				response, err := plainHTTP.Get(address + path)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				h := response.Header
				if h.Get("X-Frame-Options") != "DENY" || !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
					h.Get("Access-Control-Allow-Origin") != "" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
					t.Errorf("%s: %v", path, h)
					return false
				}
			}
			return true
		},
		"a page of another device that's made invisible": func() bool {
			lines, leave := phone.streamPage(true)
			defer leave()
			var first struct{ Params struct{ Page string } }
			_ = json.Unmarshal([]byte(awaitLine(t, lines, "snapshot")), &first)
			status, _ := reader.do("POST", "/api/visible", map[string]any{"page": first.Params.Page, "visible": false})
			return status == http.StatusOK && w.h.web.IsVisible()
		},
		"an agent's text that ends the event it's in": func() bool {
			lines, leave := phone.streamPage(false)
			defer leave()
			if !json.Valid([]byte(awaitLine(t, lines, "echo one"))) {
				return false
			}
			for len(lines) > 0 {
				if line := <-lines; !json.Valid([]byte(line)) || strings.HasPrefix(line, `{"method":"snapshot"}`) {
					return false
				}
			}
			return true
		},
		"push services that aren't": func() bool {
			for _, endpoint := range []string{"https://fcm.googleapis.com.evil.example/x", "https://fcm.googleapis.com@evil.example/x",
				"https://fcm.googleapis.com:8443/x", "http://fcm.googleapis.com/x", "https://127.0.0.1/x", "https://evilpush.apple.com/x",
				"https://[::ffff:127.0.0.1]/x", "file:///etc/passwd", "https://fcm.googleapis.com\\@evil.example/", "//fcm.googleapis.com/x"} {
				if !subscribe(endpoint) {
					t.Errorf("%q is subscribed to", endpoint)
					return false
				}
			}
			return true
		},
		"another program at the page's address": func() bool {
			at, _ := url.Parse(address)
			for _, host := range []string{"127.0.0.1", "::1"} {
				l, err := net.Listen("tcp", net.JoinHostPort(host, at.Port()))
				if err == nil {
					l.Close()
					t.Errorf("a program can listen at %s beside the page: browsers may take it for the page", host)
					return false
				}
			}
			return true
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
	no := yes
	no.Choice = "deny"
	if status, text := phone.answer(no); status != 200 || !strings.Contains(text, "delivered") {
		t.Errorf("the device itself gets %d %s", status, text)
	}
	call.answer()
}

// endless gives spaces.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// Where another program already listens at an address that browsers take for localhost,
// the page isn't served: that program could be taken for it.
func TestWebBesideAnotherProgram(t *testing.T) {
	taken, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		if slices.ContainsFunc([]error{syscall.EADDRNOTAVAIL, syscall.EAFNOSUPPORT}, func(e error) bool { return strings.Contains(err.Error(), e.Error()) }) {
			t.Skip("this machine has no IPv6")
		}
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	w := open(t)
	err = w.Call(wire.MethodWebStart, wire.WebStartParams{Listen: "127.0.0.1:" + port}, nil)
	if err == nil || !strings.Contains(err.Error(), "another program listens at [::1]:"+port) {
		t.Errorf("served beside another program: %v", err)
	}
	taken.Close()
	var status wire.WebStatus
	w.MustCall(wire.MethodWebStart, wire.WebStartParams{Listen: "127.0.0.1:" + port}, &status)
	response, err := plainHTTP.Get("http://[::1]:" + port + "/api/hello")
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("by the other address of localhost: %v, error %v", response, err)
	}
	response.Body.Close()
}
