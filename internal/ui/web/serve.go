package web

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"mime"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/platform/jsonx"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// maxConnections limits what browsers and others hold open at once.
const maxConnections = 512

// server is one run of the page's web server.
type server struct {
	service  *Service
	instance string // random: what was signed for another run isn't valid
	address  string
	hosts    map[string]bool
	public   *url.URL // nil without a proxy
	tls      bool
	http     *http.Server
	cancel   context.CancelFunc
	nonces   devices.Nonces
	limits   limits
	unsigned *bucket // of requests without a signature that do something
	page     func() served
}

// checkStart says what's wrong with how the page is to be served.
func checkStart(p *wire.WebStartParams) error {
	host, port, err := net.SplitHostPort(p.Listen)
	if err != nil || port == "" {
		return fmt.Errorf("%q isn't an address to listen on; use HOST:PORT, as in %s", p.Listen, DefaultListen)
	}
	if (p.Cert == "") != (p.Key == "") {
		return errors.New("a certificate needs its key, and a key its certificate: use --cert and --key together")
	}
	if p.PublicURL != "" {
		u, err := url.Parse(p.PublicURL)
		if err != nil || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			return fmt.Errorf("%q isn't an address of a whole site, as in https://mac.example.ts.net", p.PublicURL)
		}
		if u.Scheme != "https" && !(u.Scheme == "http" && (p.Insecure || isLoopback(u.Hostname()))) {
			return fmt.Errorf("%s isn't encrypted; use https", p.PublicURL)
		}
		p.PublicURL = strings.TrimSuffix(u.String(), "/")
	}
	if !isLoopback(host) && p.Cert == "" && !p.Insecure {
		return fmt.Errorf("without a certificate the page is served on this machine only, not on %s; "+
			"use --cert and --key, --tailscale or a proxy with --public-url, or --insecure if something else encrypts",
			p.Listen)
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// listen begins to serve.
func listen(s *Service, p wire.WebStartParams) (*server, error) {
	if err := checkStart(&p); err != nil {
		return nil, err
	}
	v := &server{service: s, instance: devices.RandomID(16), hosts: map[string]bool{}, unsigned: newBucket(10, 40),
		tls: p.Cert != ""}
	var secure *tls.Config
	if v.tls {
		pair, err := tls.LoadX509KeyPair(p.Cert, p.Key)
		if err != nil {
			return nil, fmt.Errorf("the certificate can't be used: %w", err)
		}
		secure = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
			NextProtos: []string{"h2", "http/1.1"}}
	}
	v.page = sync.OnceValue(func() served { return pageFor(v.instance) })
	listeners, err := listenAt(p.Listen)
	if err != nil {
		return nil, err
	}
	v.address = listeners[0].Addr().String()
	_, port, _ := net.SplitHostPort(v.address)
	for _, name := range []string{"localhost", "127.0.0.1", "[::1]"} {
		v.hosts[name+":"+port] = true
	}
	if named, _, _ := net.SplitHostPort(p.Listen); named != "" && !isUnspecified(named) {
		v.hosts[net.JoinHostPort(named, port)] = true
	}
	if p.PublicURL != "" {
		v.public, _ = url.Parse(p.PublicURL) // checked above
		v.hosts[strings.ToLower(v.public.Host)] = true
	}
	ctx, cancel := context.WithCancel(s.Context)
	v.cancel = cancel
	v.http = &http.Server{
		Handler: v.handler(), BaseContext: func(net.Listener) context.Context { return ctx }, TLSConfig: secure,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0),
		ConnState: new(connections).note,
	}
	for _, one := range listeners {
		s.Background.Go(func() {
			if v.tls {
				_ = v.http.ServeTLS(one, "", "") // ends with close
				return
			}
			_ = v.http.Serve(one)
		})
	}
	return v, nil
}

// listenAt listens at an address. If browsers take it for localhost, it listens at every
// address they take for that: what another program served at one of them would be the same
// site as the page, and could sign with a device's key.
func listenAt(address string) ([]net.Listener, error) {
	const triesForAnyPort = 20
	for try := 1; ; try++ {
		first, err := net.Listen("tcp", address)
		if err != nil {
			return nil, err
		}
		list := []net.Listener{first}
		taken := ""
		host, port, _ := net.SplitHostPort(first.Addr().String())
		for _, own := range addressesOfLocalhost(host) {
			more, err := net.Listen("tcp", net.JoinHostPort(own, port))
			switch {
			case err == nil:
				list = append(list, more)
			case !errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, syscall.EAFNOSUPPORT): // this machine has none
				taken = net.JoinHostPort(own, port)
			}
		}
		if taken == "" {
			return list, nil
		}
		for _, one := range list {
			one.Close()
		}
		if _, asked, _ := net.SplitHostPort(address); asked != "0" || try == triesForAnyPort {
			return nil, fmt.Errorf("another program listens at %s, which browsers also take for localhost; stop it, or choose another port", taken)
		}
	}
}

// addressesOfLocalhost returns the addresses of localhost that a listener at host doesn't cover.
func addressesOfLocalhost(host string) []string {
	switch ip := net.ParseIP(host); {
	case host == "127.0.0.1" || host == "0.0.0.0":
		return []string{"::1"}
	case host == "::1":
		return []string{"127.0.0.1"}
	case ip.IsLoopback():
		return []string{"127.0.0.1", "::1"}
	}
	return nil // elsewhere, or everywhere
}

func isUnspecified(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsUnspecified()
}

func (v *server) close() {
	v.cancel()
	_ = v.http.Close()
}

// url returns how a browser reaches the page.
func (v *server) url() string {
	if v.public != nil {
		return strings.TrimSuffix(v.public.String(), "/")
	}
	host, port, _ := net.SplitHostPort(v.address)
	if isLoopback(host) || isUnspecified(host) {
		host = "localhost"
	}
	scheme := "http://"
	if v.tls {
		scheme = "https://"
	}
	return scheme + net.JoinHostPort(host, port)
}

// connections limits what is open at once. The oldest idle ones make room: a program that
// holds many open keeps no one out.
type connections struct {
	mu   sync.Mutex
	open int
	idle []net.Conn // the oldest first
}

func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = slices.DeleteFunc(c.idle, func(one net.Conn) bool { return one == conn })
	switch state {
	case http.StateNew:
		c.open++
		c.idle = append(c.idle, conn)
	case http.StateIdle:
		c.idle = append(c.idle, conn)
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
	if state == http.StateNew && c.open > maxConnections {
		oldest := c.idle[0]
		c.idle = c.idle[1:]
		go oldest.Close() // which is noted, too
	}
}

func (v *server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/hello", v.helloHandler)
	mux.HandleFunc("POST /api/pair", v.slowly(v.claimHandler))
	mux.HandleFunc("POST /api/pair/state", v.slowly(v.service.pairedHandler))
	mux.HandleFunc("GET /api/stream", v.signed(wire.ScopeRead, v.streamHandler))
	mux.HandleFunc("POST /api/visible", v.signed(wire.ScopeRead, v.visibleHandler))
	mux.HandleFunc("GET /api/sessions", v.signed(wire.ScopeRead, v.sessionsHandler))
	mux.HandleFunc("GET /api/session", v.signed(wire.ScopeRead, v.sessionHandler))
	mux.HandleFunc("GET /api/events", v.signed(wire.ScopeRead, v.eventsHandler))
	mux.HandleFunc("GET /api/usage", v.signed(wire.ScopeRead, v.usageHandler))
	mux.HandleFunc("GET /api/devices", v.signed(wire.ScopeRead, v.devicesHandler))
	mux.HandleFunc("POST /api/unpair", v.signed(wire.ScopeRead, v.unpairHandler))
	mux.HandleFunc("POST /api/answer", v.signed(wire.ScopeAnswer, v.answerHandler))
	mux.HandleFunc("POST /api/skip", v.signed(wire.ScopeAnswer, v.skipHandler))
	mux.HandleFunc("POST /api/send", v.signed(wire.ScopeAnswer, v.sendHandler))
	mux.HandleFunc("POST /api/resume", v.signed(wire.ScopeAnswer, v.resumeHandler))
	mux.HandleFunc("GET /api/push", v.signed(wire.ScopeRead, v.pushKeyHandler))
	mux.HandleFunc("POST /api/push", v.signed(wire.ScopeRead, v.subscribeHandler))
	mux.HandleFunc("/api/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusNotFound, "unknown", "there's nothing here")
	})
	mux.HandleFunc("GET /{$}", v.pageHandler)
	mux.HandleFunc("/", fileHandler)
	protected := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		h.Set("Cache-Control", "no-store")
		if v.tls || v.public != nil && v.public.Scheme == "https" {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if !v.knowsHost(r) {
			// The name was pointed here by someone else, as in DNS rebinding.
			fail(w, http.StatusMisdirectedRequest, "host", "hookmux isn't served under this name; "+
				"`hookmux web on --public-url` adds one")
			return
		}
		protected.ServeHTTP(w, r)
	})
}

// knowsHost reports whether a request names this server by a name that is its own.
func (v *server) knowsHost(r *http.Request) bool {
	if v.hosts[strings.ToLower(r.Host)] {
		return true
	}
	// With its own IP address, there is no name that someone else could control.
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && local.String() == r.Host
}

// slowly limits requests that carry no signature.
func (v *server) slowly(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !v.unsigned.allow(time.Now()) {
			fail(w, http.StatusTooManyRequests, "rate", "too many requests; wait a moment")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
		next(w, r)
	}
}

// helloHandler says what a device must sign, and what time it is.
func (v *server) helloHandler(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{"instance": v.instance, "time": time.Now().UnixMilli()})
}

// clientAddress returns where a request came from, for display: behind a proxy on this machine
// it's what the proxy says.
func (v *server) clientAddress(r *http.Request) string {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	if forwarded := r.Header.Values("X-Forwarded-For"); v.public != nil && isLoopback(host) && len(forwarded) > 0 {
		list := strings.Split(forwarded[len(forwarded)-1], ",")
		if ip := net.ParseIP(strings.TrimSpace(list[len(list)-1])); ip != nil {
			return ip.String()
		}
	}
	return host
}

// browserName returns a browser in a few words, without its version.
func browserName(agent string) string {
	name := "a browser"
	for _, one := range [][2]string{{"Edg", "Edge"}, {"OPR", "Opera"}, {"Firefox", "Firefox"}, {"FxiOS", "Firefox"},
		{"CriOS", "Chrome"}, {"Chrom", "Chrome"}, {"Safari", "Safari"}} {
		if strings.Contains(agent, one[0]) {
			name = one[1]
			break
		}
	}
	for _, one := range [][2]string{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Mac OS", "Mac"},
		{"Windows", "Windows"}, {"Linux", "Linux"}} {
		if strings.Contains(agent, one[0]) {
			return name + " on " + one[1]
		}
	}
	return name
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the client may be gone
}

// fail says why a request isn't answered: a code for the page, and a text.
func fail(w http.ResponseWriter, status int, code, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "why": termsafe.Line(why, 400)})
}

// failWith is fail for an error of a method.
func failWith(w http.ResponseWriter, bad *wire.Error) {
	status, code := http.StatusBadRequest, "refused"
	switch bad.Code {
	case wire.CodePIN:
		status, code = http.StatusForbidden, "pin"
	case wire.CodeConflict:
		status, code = http.StatusConflict, "changed"
	case wire.CodeGone:
		status, code = http.StatusNotFound, "gone"
	case wire.CodeRefused:
		status = http.StatusForbidden
	case wire.CodeInternal:
		status, code = http.StatusInternalServerError, "failed"
	}
	fail(w, status, code, bad.Message)
}

func readJSON(w http.ResponseWriter, r *http.Request, into any) bool {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		fail(w, http.StatusUnsupportedMediaType, "type", "send JSON")
		return false
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = jsonx.Strict(body, into)
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "body", "that can't be read: "+err.Error())
		return false
	}
	return true
}
