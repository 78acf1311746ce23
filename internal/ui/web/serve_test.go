package web

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Somebody who holds more connections open than there's room for keeps nobody out.
func TestConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ConnState: new(connections).note, ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	first := make([]net.Conn, 0, maxConnections+10)
	for range cap(first) {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if _, err := conn.Read(make([]byte, 1<<10)); err != nil {
			t.Fatalf("connection %d isn't served: %v", len(first), err)
		}
		first = append(first, conn)
	}
	if n, err := first[0].Read(make([]byte, 1)); err == nil || n > 0 {
		t.Error("the oldest idle connection stays open")
	}
}

// The body of somebody who isn't paired isn't waited for.
func TestStrangersBody(t *testing.T) {
	deps := services.Deps{Dirs: paths.Dirs{State: t.TempDir()}}
	v := &server{service: &Service{Options: Options{Deps: deps, Devices: devices.Open(deps)}}}
	server := httptest.NewServer(v.signed(wire.ScopeRead, func(http.ResponseWriter, *http.Request) { t.Error("a stranger gets in") }))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute)) // the test server itself waits forever
	_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	if got, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 401 ") {
		t.Errorf("half a body gets %.100q, error %v", got, err)
	}
}

// Where a request came from is what a proxy says, if you said that there's one.
func TestClientAddress(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "127.0.0.1:4000"
	r.Header.Set("X-Forwarded-For", "10.0.0.1, 192.168.1.23")
	for want, v := range map[string]*server{"127.0.0.1": {}, "192.168.1.23": {public: &url.URL{Host: "mac.example.ts.net"}}} {
		if got := v.clientAddress(r); got != want {
			t.Errorf("it comes from %s, want %s", got, want)
		}
	}
}

// Your terminal hears that somebody guessed at the code.
func TestGuessedCode(t *testing.T) {
	s := &Service{}
	one := s.pairings.begin(wire.ScopeAnswer, "", time.Now())
	for range pairTries {
		s.pairings.use("AAAA", claim{}, time.Now())
	}
	params, _ := json.Marshal(wire.WebPairingParams{Pairing: one.id})
	if _, bad := s.waitMethod(t.Context(), params, proc.Cred{}); bad == nil || !strings.Contains(bad.Message, "5 wrong codes were tried") {
		t.Errorf("it hears %v", bad)
	}
}
