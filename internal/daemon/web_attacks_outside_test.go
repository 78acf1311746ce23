package daemon

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// The attacks of somebody who didn't build the page, with the status of each. Afterwards the
// request still waits.
func TestWebAttacksFromOutside(t *testing.T) {
	w := open(t)
	address := w.servePage()
	phone := w.pairBrowser(address, "")
	call := w.startCall(permission("s1", "echo one"))
	item := w.waiting()
	at, _ := url.Parse(address)

	// signed is a request that's signed and then changed.
	signed := func(method, path string, body any, when time.Time, change func(*http.Request)) (int, string) {
		r := phone.request(method, path, body)
		var text []byte
		if body != nil {
			text, _ = json.Marshal(body)
		}
		phone.authorize(r, text, when, nonce())
		if change != nil {
			change(r)
		}
		return send(t, r)
	}
	get := func(change func(*http.Request)) (int, string) {
		return signed("GET", "/api/devices", nil, time.Now(), change)
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	authorization := func(change func(words []string)) func(*http.Request) {
		return func(r *http.Request) {
			words := strings.Split(r.Header.Get("Authorization"), " ")
			change(words)
			r.Header.Set("Authorization", strings.Join(words, " "))
		}
	}
	raw := func(request string) (int, string) {
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		_, _ = conn.Write([]byte(request))
		b := make([]byte, 1<<10)
		n, _ := conn.Read(b)
		_, rest, _ := strings.Cut(string(b[:n]), " ")
		status := 0
		for _, c := range rest[:min(3, len(rest))] {
			status = status*10 + int(c-'0')
		}
		return status, rest
	}
	yes := wire.InboxReplyParams{ID: item.ID, Choice: "once", SHA256: item.SHA256}
	answer := func(change func(*wire.InboxReplyParams)) func() (int, string) {
		return func() (int, string) {
			p := yes
			change(&p)
			return phone.answer(p)
		}
	}
	// inside is an answer whose signed text was made by hand.
	inside := func(text string) func() (int, string) {
		return func() (int, string) {
			body := phone.answerText(text, item.ID, item.SHA256, "once", nonce(), time.Now())
			return phone.do("POST", "/api/answer", body)
		}
	}
	goodText, _ := json.Marshal(yes)
	member := func(extra string) string { return strings.TrimSuffix(string(goodText), "}") + "," + extra + "}" }
	bytesOf := func(path, text string) func() (int, string) {
		return func() (int, string) {
			r, _ := http.NewRequest("POST", address+path, strings.NewReader(text))
			r.Header.Set("Content-Type", "application/json")
			phone.authorize(r, []byte(text), time.Now(), nonce())
			return send(t, r)
		}
	}
	type attack struct {
		what   string
		try    func() (int, string)
		status int
	}
	attacks := []attack{
		{"another address after signing", func() (int, string) {
			return get(func(r *http.Request) { r.URL.RawQuery = "all=1" })
		}, 401},
		{"another method after signing", func() (int, string) { return get(func(r *http.Request) { r.Method = "HEAD" }) }, 401},
		{"from ten minutes ago", func() (int, string) { return signed("GET", "/api/devices", nil, time.Now().Add(-10*time.Minute), nil) }, 401},
		{"from ten minutes ahead", func() (int, string) { return signed("GET", "/api/devices", nil, time.Now().Add(10*time.Minute), nil) }, 401},
		{"a device that's a path", func() (int, string) { return get(authorization(func(words []string) { words[1] = "../../x" })) }, 401},
		{"a nonce in capitals", func() (int, string) {
			return get(authorization(func(words []string) { words[3] = strings.ToLower(words[3]) }))
		}, 401},
		{"another address in the first line", func() (int, string) {
			return raw("GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n")
		}, 421},
		{"an address in the name", func() (int, string) { return raw("GET / HTTP/1.1\r\nHost: evil@localhost\r\n\r\n") }, 400},
		{"two lengths", func() (int, string) {
			return raw("POST /api/pair HTTP/1.1\r\nHost: " + at.Host + "\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}")
		}, 400},
		{"another name behind a proxy", func() (int, string) {
			return get(func(r *http.Request) { r.Header.Set("X-Forwarded-Host", "evil.example"); r.Host = "evil.example" })
		}, 421},
		{"an override of the method", func() (int, string) { return get(func(r *http.Request) { r.Method = "DELETE" }) }, 404},
		{"a text that isn't JSON", func() (int, string) {
			return signed("POST", "/api/send", map[string]string{"session": "s1", "text": "x"}, time.Now(), header("Content-Type", "text/plain"))
		}, 415},
		{"a body of 300 kB", bytesOf("/api/send", `{"text":"`+strings.Repeat("x", 300_000)+`"}`), 413},
		{"the method in another form", func() (int, string) { return raw("TRACE / HTTP/1.1\r\nHost: " + at.Host + "\r\n\r\n") }, 405},
		{"the whole address in the first line", func() (int, string) {
			r := phone.request("GET", "/api/devices", nil)
			phone.authorize(r, nil, time.Now(), nonce())
			return raw("GET " + address + "/api/devices HTTP/1.1\r\nHost: " + at.Host + "\r\nAuthorization: " + r.Header.Get("Authorization") + "\r\n\r\n")
		}, 401},
		{"no name at all", func() (int, string) { return raw("GET /api/hello HTTP/1.0\r\n\r\n") }, 421},
		{"our name in letters that look like it", func() (int, string) {
			return raw("GET / HTTP/1.1\r\nHost: l\xd0\xbecalhost:" + at.Port() + "\r\n\r\n")
		}, 400},
		{"HTTP/2 without asking", func() (int, string) { return raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") }, 421},
		{"the stream as a WebSocket", func() (int, string) {
			return raw("GET /api/stream HTTP/1.1\r\nHost: " + at.Host + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
		}, 401},
		{"pieces and a length", func() (int, string) {
			return raw("POST /api/pair HTTP/1.1\r\nHost: " + at.Host + "\r\nContent-Type: application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n")
		}, 501},
		{"a line end in a header", func() (int, string) {
			return raw("GET / HTTP/1.1\r\nHost: " + at.Host + "\r\nX: a\rAuthorization: b\r\n\r\n")
		}, 400},
		{"a text behind a mark of order", bytesOf("/api/skip", "\ufeff"+`{"id":"`+item.ID+`","sha256":"`+item.SHA256+`"}`), 400},
		{"every session resumed", bytesOf("/api/resume", `{"session":"--all"}`), 404},
		{"a pairing that nobody began", func() (int, string) {
			return send(t, phone.request("POST", "/api/pair/state", map[string]any{"claim": nil, "code": ""}))
		}, 400},
		{"the sources one by one", func() (int, string) { return send(t, phone.request("GET", "/key.js", nil)) }, 404},

		{"no hash", answer(func(p *wire.InboxReplyParams) { p.SHA256 = "" }), 400},
		{"another hash", answer(func(p *wire.InboxReplyParams) { p.SHA256 = strings.Repeat("0", 64) }), 409},
		{"the hash in capitals", answer(func(p *wire.InboxReplyParams) { p.SHA256 = strings.ToUpper(p.SHA256) }), 409},
		{"everything", answer(func(p *wire.InboxReplyParams) { p.Choice = "all" }), 403},
		{"a permission without its rule", answer(func(p *wire.InboxReplyParams) { p.Choice = "always" }), 409},
		{"a permission of another rule", answer(func(p *wire.InboxReplyParams) { p.Choice, p.Rule, p.Seconds = "always", "run everything", 1e12 }), 400},
		{"a suggestion that isn't there", answer(func(p *wire.InboxReplyParams) { p.Choice, p.Suggestion = "always", 99 }), 400},
		{"a suggestion before the first", answer(func(p *wire.InboxReplyParams) { p.Choice, p.Suggestion = "always", -1 }), 400},
		{"a plan's way with a command", answer(func(p *wire.InboxReplyParams) { p.Plan = "auto" }), 400},
		{"a rule with a single yes", answer(func(p *wire.InboxReplyParams) { p.Rule = "run everything" }), 400},
		{"a scope with a single yes", answer(func(p *wire.InboxReplyParams) { p.Scope = "everywhere" }), 400},
		{"a time with a single yes", answer(func(p *wire.InboxReplyParams) { p.Seconds = 60 }), 400},
		{"a suggestion with a single yes", answer(func(p *wire.InboxReplyParams) { p.Suggestion = 1 }), 400},
		{"answers to no question", answer(func(p *wire.InboxReplyParams) { p.Choice = "answer" }), 400},
		{"the PIN inside of what's signed", inside(member(`"pin":"1234"`)), 400},
		{"the choice twice", inside(member(`"choice":"deny"`)), 400},
		{"the choice in another case", inside(member(`"Choice":"deny"`)), 400},
		{"the id in another case", inside(strings.Replace(string(goodText), `"id"`, `"ID"`, 1)), 400},
		{"another answer behind it", inside(string(goodText) + `{"choice":"deny"}`), 400},
		{"an answer of an hour ago", func() (int, string) {
			return phone.do("POST", "/api/answer", phone.answerText(string(goodText), item.ID, item.SHA256, "once", nonce(), time.Now().Add(-time.Hour)))
		}, 403},
		{"a skip of what wasn't shown", func() (int, string) {
			return phone.do("POST", "/api/skip", map[string]string{"id": item.ID, "sha256": strings.Repeat("0", 64)})
		}, 409},
		{"a skip, and something behind it", bytesOf("/api/skip", `{"id":"`+item.ID+`","sha256":"`+item.SHA256+`"}{"a":1}`), 400},
		{"a session twice", bytesOf("/api/send", `{"session":"s1","session":"s2","text":"x"}`), 400},
		{"a member in another case", bytesOf("/api/send", `{"Session":"s1","text":"x"}`), 400},
		{"a member that isn't known", bytesOf("/api/send", `{"session":"s1","text":"x","type":true}`), 400},

		{"a shell command past every hook", bytesOf("/api/send", `{"session":"s1","text":"!rm -rf ~"}`), 403},
		{"the same behind signs that aren't seen", bytesOf("/api/send", `{"session":"s1","text":" \u200b\n!rm -rf ~"}`), 403},
		{"a command to the agent", bytesOf("/api/send", `{"session":"s1","text":"/permissions"}`), 403},
		{"behind a sign that's never typed", bytesOf("/api/send", `{"session":"s1","text":"\ufffd!rm -rf ~"}`), 403},
		{"behind half a character", bytesOf("/api/send", `{"session":"s1","text":"\ud83d/permissions"}`), 403},
		{"behind a sign that isn't seen and is a letter", bytesOf("/api/send", `{"session":"s1","text":"\u3164!rm -rf ~"}`), 403},
		{"behind an accent of nothing", bytesOf("/api/send", `{"session":"s1","text":"\ufe0f\u0301/permissions"}`), 403},
		{"on a line of its own", bytesOf("/api/send", `{"session":"s1","text":"go on\n\u2800 !rm -rf ~"}`), 403},
		{"a byte that's no character", bytesOf("/api/send", "{\"session\":\"s1\",\"text\":\"\xff!rm -rf ~\"}"), 403},
		{"a key in a text", bytesOf("/api/send", `{"session":"s1","text":"go on\u001b[Z"}`), 400},
		{"Enter in a text", bytesOf("/api/send", `{"session":"s1","text":"go on\r1\r"}`), 400},
	}
	for _, one := range attacks {
		if status, text := one.try(); status != one.status {
			t.Errorf("%s: %d, want %d: %.200s", one.what, status, one.status, text)
		}
	}

	// With a PIN, a text needs it as an approval does.
	w.MustCall(wire.MethodPIN, wire.PINParams{New: "4321"}, nil)
	for pin, want := range map[string]string{"": `"pin"`, "1111": `"pin"`, "4321": `"changed"`} { // with it, that the session waits is what's left
		status, text := phone.do("POST", "/api/send", map[string]string{"session": "s1", "text": "go on", "pin": pin})
		if status < 400 || !strings.Contains(text, want) {
			t.Errorf("a text with the PIN %q: %d %s, want %s in it", pin, status, text, want)
		}
	}
	if got := w.waiting(); got.ID != item.ID || got.Status != wire.InboxPending {
		t.Errorf("the request is %+v, want it to wait", got)
	}
	w.MustCall(wire.MethodInboxReply, wire.InboxReplyParams{ID: item.ID, Choice: "deny"}, nil)
	call.answer()
}
