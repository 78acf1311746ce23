package web

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/services"
)

// browserKeys are a browser's part of its subscription.
type browserKeys struct {
	key  *ecdh.PrivateKey
	auth []byte
}

// decrypt reads a push as a browser does.
func (b *browserKeys) decrypt(t *testing.T, body []byte) string {
	t.Helper()
	salt, length := body[:16], int(body[20])
	public, sealed := body[21:21+length], body[21+length:]
	sender, err := ecdh.P256().NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := b.key.ECDH(sender)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := hkdf.Key(sha256.New, shared, b.auth, "WebPush: info\x00"+string(b.key.PublicKey().Bytes())+string(public), 32)
	key, _ := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	nonce, _ := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	block, _ := aes.NewCipher(key)
	open, _ := cipher.NewGCM(block)
	text, err := open.Open(nil, nonce, sealed, nil)
	if err != nil {
		t.Fatal(err)
	}
	end := strings.LastIndexByte(string(text), 2)
	return string(text[:end])
}

// A push reaches its service signed and encrypted, and only the browser can read it.
func TestPush(t *testing.T) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	browser := &browserKeys{key: key, auth: randomBytes(16)}
	var got *http.Request
	var body []byte
	status := http.StatusCreated
	service := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		if status == http.StatusFound {
			http.Redirect(w, r, "https://127.0.0.1/", status)
			return
		}
		w.WriteHeader(status)
	}))
	defer service.Close()
	s := &Service{Options: Options{Deps: services.Deps{Dirs: paths.Dirs{State: t.TempDir()}}}}
	p := newPusher(s)
	to := &subscription{Endpoint: service.URL + "/push/abc", P256DH: key.PublicKey().Bytes(), Auth: browser.auth}
	n := &notice{id: "r7", title: "Claude Code asks for permission", body: "shop", urgent: true}

	// As it is: an unknown host, and a private address even if the host were known.
	if err := p.send(t.Context(), to, n, "https://mac.example.ts.net"); err == nil {
		t.Error("a push went to an unknown host")
	}
	p.check = func(string) error { return nil }
	if err := p.send(t.Context(), to, n, "https://mac.example.ts.net"); err == nil || !strings.Contains(err.Error(), "private address") {
		t.Errorf("a push to a private address: %v", err)
	}
	redirects := p.client.CheckRedirect
	p.client = service.Client()
	p.client.CheckRedirect = redirects
	if err := p.send(t.Context(), to, n, "https://mac.example.ts.net"); err != nil {
		t.Fatal(err)
	}
	if text := browser.decrypt(t, body); text != `{"notification":{"body":"shop","navigate":"https://mac.example.ts.net/#/request/r7","tag":"request-r7","title":"Claude Code asks for permission"},"web_push":8030}` {
		t.Errorf("the browser reads %s", text)
	}
	topic := got.Header.Get("Topic")
	if got.Header.Get("TTL") != "3600" || got.Header.Get("Urgency") != "high" || len(topic) > 32 || topic == "" ||
		got.Header.Get("Content-Encoding") != "aes128gcm" {
		t.Errorf("headers: %v", got.Header)
	}
	checkVAPID(t, got.Header.Get("Authorization"), service.URL)

	if err := p.send(t.Context(), to, &notice{id: "r7", withdraw: true}, "https://x"); err != nil {
		t.Fatal(err)
	}
	if text := browser.decrypt(t, body); !strings.Contains(text, `"withdraw":"request-r7"`) || got.Header.Get("Topic") != topic {
		t.Errorf("withdrawn with %s, topic %s, want %s", text, got.Header.Get("Topic"), topic)
	}
	for code, want := range map[int]error{http.StatusGone: errGone, http.StatusNotFound: errGone} {
		status = code
		if err := p.send(context.Background(), to, n, "https://x"); !errors.Is(err, want) {
			t.Errorf("%d: %v, want %v", code, err, want)
		}
	}
	status = http.StatusFound
	if err := p.send(t.Context(), to, n, "https://x"); err == nil || !strings.Contains(err.Error(), "redirect") {
		t.Errorf("a redirect was followed: %v", err)
	}
	// The key outlives the daemon: browsers are subscribed to it.
	first, _ := p.signingKey()
	again, err := newPusher(s).signingKey()
	if err != nil || !first.Equal(again) {
		t.Errorf("another key after a restart: %v", err)
	}
}

// Devices are told while nobody looks at a page, and what they were told is withdrawn once.
func TestPushedWhileNobodyLooks(t *testing.T) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pushed := 0
	service := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		pushed++
		w.WriteHeader(http.StatusCreated)
	}))
	defer service.Close()
	deps := services.Deps{Dirs: paths.Dirs{State: t.TempDir()}}
	s := &Service{Options: Options{Deps: deps, Devices: devices.Open(deps)}, running: &server{address: DefaultListen}}
	s.audience = &audience{service: s, pages: map[*page]struct{}{}}
	s.push = newPusher(s)
	s.push.check, s.push.client = func(string) error { return nil }, service.Client()
	if err := s.Devices.Add(device{ID: "d1", Push: &subscription{Endpoint: service.URL, P256DH: key.PublicKey().Bytes(), Auth: randomBytes(16)}}); err != nil {
		t.Fatal(err)
	}
	looked := &page{left: func() {}}
	tell := func() error { return s.Tell(t.Context(), "r7", "Claude Code asks for permission", "shop", true) }
	withdraw := func() error { return s.Withdraw(t.Context(), "r7") }
	for _, step := range []struct {
		what   string
		before func()
		do     func() error
		want   int
	}{
		{"somebody looks", func() { s.audience.pages[looked] = struct{}{} }, tell, 0},
		{"withdrawn before it was told", nil, withdraw, 0},
		{"nobody looks", func() { delete(s.audience.pages, looked) }, tell, 1},
		{"withdrawn while somebody looks", func() { s.audience.pages[looked] = struct{}{} }, withdraw, 2},
		{"withdrawn again", nil, withdraw, 2},
	} {
		if step.before != nil {
			step.before()
		}
		if err := step.do(); err != nil || pushed != step.want {
			t.Errorf("%s: %d pushes, want %d, error %v", step.what, pushed, step.want, err)
		}
	}
}

func checkVAPID(t *testing.T, header, audience string) {
	t.Helper()
	token, public, ok := strings.Cut(strings.TrimPrefix(header, "vapid t="), ", k=")
	parts := strings.Split(token, ".")
	if !ok || len(parts) != 3 {
		t.Fatalf("Authorization: %s", header)
	}
	decode := func(s string) []byte { b, _ := base64.RawURLEncoding.DecodeString(s); return b }
	key, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), decode(public))
	if err != nil {
		t.Fatal(err)
	}
	sum, signature := sha256.Sum256([]byte(parts[0]+"."+parts[1])), decode(parts[2])
	if !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		t.Error("the token's signature is wrong")
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	_ = json.Unmarshal(decode(parts[1]), &claims)
	if claims.Aud != audience || time.Until(time.Unix(claims.Exp, 0)) > 24*time.Hour || !strings.HasPrefix(claims.Sub, "https://") {
		t.Errorf("the token says %+v", claims)
	}
}

func TestPushServices(t *testing.T) {
	for _, good := range []string{"https://fcm.googleapis.com/fcm/send/x", "https://web.push.apple.com/x",
		"https://updates.push.services.mozilla.com/wpush/v2/x", "https://wns2-par02p.notify.windows.com/w/?token=x"} {
		if err := checkEndpoint(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{"http://fcm.googleapis.com/x", "https://evil.example/x", "https://fcm.googleapis.com.evil.example/x",
		"https://evilnotify.windows.com/", "https://127.0.0.1/x", "https://localhost/x", "https://[::1]/x", "https://169.254.169.254/latest",
		"https://fcm.googleapis.com:8443/x", "https://user@fcm.googleapis.com/x", "file:///etc/passwd", "", "https://fcm.googleapis.com@evil.example/",
		"https://fcm.googleapis.com/" + strings.Repeat("x", 3000)} {
		if err := checkEndpoint(bad); err == nil {
			t.Errorf("%s is a push service", bad)
		}
	}
	for address, public := range map[string]bool{"8.8.8.8": true, "10.0.0.1": false, "127.0.0.1": false, "169.254.169.254": false,
		"192.168.1.1": false, "100.100.100.100": false, "::1": false, "fe80::1": false, "fd00::1": false, "::ffff:10.0.0.1": false,
		"2606:4700::1111": true, "0.0.0.0": false} {
		if got := isPublic(netip.MustParseAddr(address)); got != public {
			t.Errorf("isPublic(%s) = %v", address, got)
		}
	}
}
