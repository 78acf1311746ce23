package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/wire"
)

// A device signs every request: "Authorization: Hookmux-1 DEVICE TIME NONCE SIGNATURE",
// where the signature is over the lines of [requestMessage]. The instance is random for each
// run of the server, so that nothing that was signed for another one is valid: neither what
// was recorded before a restart nor what was signed for some other program that listened on
// the same port in the meantime.

const (
	authScheme = "Hookmux-1"
	maxBody    = 256 << 10
)

func requestMessage(instance, method, uri string, body []byte, at, nonce string) string {
	sum := sha256.Sum256(body)
	return strings.Join([]string{"hookmux-request-1", instance, method, uri, hex.EncodeToString(sum[:]), at, nonce}, "\n")
}

// signedBy is the device whose signature a request carries.
type contextKey struct{}

func deviceOf(r *http.Request) device { return r.Context().Value(contextKey{}).(device) }

// errClock says that the browser's clock is wrong; the page asks for the time then.
var errClock = errors.New("the clock of this device is wrong")

// errRate says that a device asks too often. Its requests aren't remembered then.
var errRate = errors.New("too many requests; wait a moment")

// errUnpaired says that a request isn't signed by a paired device.
var errUnpaired = errors.New("this needs a paired device; `hookmux web pair` pairs one")

// authorizationWords returns the five words of a request's authorization; empty ones if it
// isn't hookmux's.
func authorizationWords(r *http.Request) []string {
	if words := strings.Split(r.Header.Get("Authorization"), " "); len(words) == 5 && words[0] == authScheme {
		return words
	}
	return make([]string, 5)
}

// isNamed reports whether a request names a paired device.
func (v *server) isNamed(r *http.Request) bool {
	_, ok := v.service.browser(authorizationWords(r)[1])
	return ok
}

// authenticate finds out whose signature a request carries.
func (v *server) authenticate(r *http.Request, body []byte, now time.Time) (device, error) {
	words := authorizationWords(r)
	if len(words[3]) < 16 || len(words[3]) > 64 {
		return device{}, errUnpaired
	}
	d, ok := v.service.browser(words[1])
	if !ok {
		return device{}, errUnpaired
	}
	signature, err := base64.RawURLEncoding.DecodeString(words[4])
	if err != nil || !d.Verify(requestMessage(v.instance, r.Method, r.RequestURI, body, words[2], words[3]), signature) {
		return device{}, errUnpaired
	}
	ms, err := strconv.ParseInt(words[2], 10, 64)
	if at := time.UnixMilli(ms); err != nil || at.Sub(now).Abs() > devices.ClockSkew {
		return device{}, errClock
	}
	if !v.limits.of(d.ID).allow(now) {
		return device{}, errRate
	}
	if !v.nonces.Take(d.ID+" "+words[3], now) {
		return device{}, errors.New("this request was sent before")
	}
	return d, nil
}

// signed only lets requests of paired devices through; with scope answer only those that may
// answer.
func (v *server) signed(scope string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !v.isNamed(r) {
			if r.ContentLength != 0 { // it may be slow, and isn't waited for
				w.Header().Set("Connection", "close")
				_ = http.NewResponseController(w).SetReadDeadline(time.Now())
			}
			fail(w, http.StatusUnauthorized, "unpaired", errUnpaired.Error())
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			fail(w, http.StatusRequestEntityTooLarge, "size", "that's too large or too slow")
			return
		}
		now := time.Now()
		d, err := v.authenticate(r, body, now)
		switch {
		case errors.Is(err, errClock):
			fail(w, http.StatusUnauthorized, "clock", err.Error())
			return
		case errors.Is(err, errRate):
			fail(w, http.StatusTooManyRequests, "rate", err.Error())
			return
		case err != nil:
			fail(w, http.StatusUnauthorized, "unpaired", err.Error())
			return
		case scope == wire.ScopeAnswer && d.Scope != wire.ScopeAnswer:
			fail(w, http.StatusForbidden, "scope", "This device may only read; `hookmux web devices scope "+d.ID+
				" answer` changes that.")
			return
		}
		address, browser := v.clientAddress(r), browserName(r.UserAgent())
		if before, elsewhere := v.service.Devices.NoteUse(d.ID, address, browser, now); elsewhere {
			d.Address, d.Browser = address, browser
			v.service.reportElsewhere(before, d)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next(w, r.WithContext(context.WithValue(r.Context(), contextKey{}, d)))
	}
}

// bucket limits how often something may happen: rate a second, with bursts.
type bucket struct {
	mu          sync.Mutex
	rate, burst float64
	left        float64
	at          time.Time
}

func newBucket(rate, burst float64) *bucket { return &bucket{rate: rate, burst: burst, left: burst} }

func (b *bucket) allow(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.at.IsZero() {
		b.left = min(b.burst, b.left+now.Sub(b.at).Seconds()*b.rate)
	}
	b.at = now
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// limits are the buckets of devices.
type limits struct {
	mu   sync.Mutex
	each map[string]*bucket
}

func (l *limits) of(device string) *bucket {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.each == nil {
		l.each = map[string]*bucket{}
	}
	if l.each[device] == nil { // there are no more than devices.Max, and a few that were removed
		l.each[device] = newBucket(20, 60)
	}
	return l.each[device]
}
