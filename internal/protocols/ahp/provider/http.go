package provider

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/protocols/ahp"
)

// Listen opens an address of this machine; other machines cannot reach it.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no address; write it like 127.0.0.1:8765", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%q is not an address of this machine alone; write it like 127.0.0.1:8765", address)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if at, ok := listener.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() { // whatever localhost means here
		listener.Close()
		return nil, fmt.Errorf("%q leads outside of this machine; write 127.0.0.1", address)
	}
	return listener, nil
}

// ServeHTTP answers requests that bring the token, until ctx is done.
func (p *Provider) ServeHTTP(ctx context.Context, listener net.Listener, token string, wait time.Duration) error {
	server := &http.Server{
		Handler:           p.handler(token, wait),
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
		BaseContext:    func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (p *Provider) handler(token string, wait time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status := checkRequest(r, token); status != 0 {
			http.Error(w, http.StatusText(status), status)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, ahp.MaxMessage))
		if err != nil {
			http.Error(w, "the message is too long, or was cut", http.StatusRequestEntityTooLarge)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), wait) // it ends when the agent hangs up
		defer cancel()
		answer := p.Take(ctx, body)
		if answer == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer()) // whoever hung up hears nothing
	})
}

// checkRequest is the status by which a request is refused; 0 for none. A page in a
// browser cannot come this far: it has no token.
func checkRequest(r *http.Request, token string) int {
	given, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found || !sameSecret(given, token) || len(r.Header.Values("Authorization")) != 1 {
		return http.StatusUnauthorized
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed
	case err != nil || kind != "application/json":
		return http.StatusUnsupportedMediaType
	}
	return 0
}

func sameSecret(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return b != "" && subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
