package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Pairing, in order: `hookmux web pair` gets a code (pairMethod) and shows it; the browser
// makes a key and sends the code with it (claimHandler), once; both show four digits; you
// compare them and confirm at your terminal (confirmMethod), which asks you for a code as
// everything does that removes protection; the browser is notified (pairedHandler).

const (
	pairTime  = 2 * time.Minute
	pairTries = 5 // wrong codes before all codes are void
)

// pairing is one code and what became of it.
type pairing struct {
	id     string
	code   string
	scope  string
	name   string
	until  time.Time
	claim  *claim
	used   chan struct{} // closed when the code was used, or is void
	void   bool          // someone guessed
	device string        // id, once it's confirmed
}

// claim is a browser that used the code.
type claim struct {
	id      string // with which the browser asks what became of it
	key     []byte
	name    string
	digits  string
	browser string
	address string
}

type pairings struct {
	mu    sync.Mutex
	open  map[string]*pairing
	wrong int
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

func newCode() string {
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(randomBytes(16))
}

// begin makes a code. An earlier one that wasn't used is void.
func (p *pairings) begin(scope, name string, now time.Time) *pairing {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open, p.wrong = map[string]*pairing{}, 0
	one := &pairing{id: devices.RandomID(16), code: newCode(), scope: scope, name: name, until: now.Add(pairTime),
		used: make(chan struct{})}
	p.open[one.id] = one
	return one
}

func (p *pairings) get(id string) (*pairing, *wire.Error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.open[id]
	if one == nil || id == "" {
		return nil, wire.Errorf(wire.CodeGone, "this pairing is over; begin again with `hookmux web pair`")
	}
	return one, nil
}

// use takes a code, once. Of two browsers with the same code the first gets it.
func (p *pairings) use(code string, c claim, now time.Time) (*pairing, string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.open {
		if one.claim != nil || one.void || now.After(one.until) || subtle.ConstantTimeCompare([]byte(one.code), []byte(code)) != 1 {
			continue
		}
		nonce := devices.RandomID(16)
		c.id, c.digits = devices.RandomID(16), pairDigits(code, c.key, nonce)
		if one.name != "" {
			c.name = one.name
		}
		one.claim = &c
		close(one.used)
		return one, nonce, true
	}
	if p.wrong++; p.wrong >= pairTries {
		for _, one := range p.open {
			if one.claim == nil && !one.void {
				one.void = true
				close(one.used)
			}
		}
	}
	return nil, "", false
}

// pairDigits returns the digits that both sides show. The nonce is chosen after the key
// arrived, so that no one can search for a key with the same digits as another one.
func pairDigits(code string, key []byte, nonce string) string {
	sum := sha256.Sum256([]byte("hookmux-pair-1\n" + code + "\n" + base64.RawURLEncoding.EncodeToString(key) + "\n" + nonce))
	return fmt.Sprintf("%04d", binary.BigEndian.Uint32(sum[:4])%10000)
}

func (s *Service) pairMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.WebPairParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	switch p.Scope {
	case "":
		p.Scope = wire.ScopeAnswer
	case wire.ScopeRead, wire.ScopeAnswer:
	default:
		return nil, wire.Errorf(wire.CodeParams, "%q isn't a scope; use %s or %s", p.Scope, wire.ScopeRead, wire.ScopeAnswer)
	}
	s.mu.Lock()
	running := s.running
	s.mu.Unlock()
	if running == nil {
		return nil, wire.Errorf(wire.CodeConflict, "the page isn't served; `hookmux web on` serves it")
	}
	if len(s.Devices.List()) >= devices.Max {
		return nil, wire.Errorf(wire.CodeConflict, "%d devices are paired already; `hookmux web devices remove` one first",
			devices.Max)
	}
	if p.Name != "" {
		p.Name = devices.CleanName(p.Name, "browser")
	}
	one := s.pairings.begin(p.Scope, p.Name, time.Now())
	return wire.WebPairing{Pairing: one.id, URL: running.url() + "/#pair=" + one.code, Until: one.until}, nil
}

func (s *Service) waitMethod(ctx context.Context, params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.WebPairingParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	one, bad := s.pairings.get(p.Pairing)
	if bad != nil {
		return nil, bad
	}
	over := time.NewTimer(time.Until(one.until))
	defer over.Stop()
	select {
	case <-one.used:
		if one.claim == nil {
			return nil, wire.Errorf(wire.CodeGone, "%d wrong codes were tried, so this one no longer works: if that wasn't you, "+
				"a program on this machine guesses; begin again with `hookmux web pair`", pairTries)
		}
		return wire.WebClaim{Digits: one.claim.digits, Name: one.claim.name, Browser: one.claim.browser,
			Address: one.claim.address, Scope: one.scope}, nil
	case <-over.C:
		return nil, wire.Errorf(wire.CodeGone, "no device used the code within %s; begin again with `hookmux web pair`",
			pairTime)
	case <-ctx.Done():
		return nil, wire.Errorf(wire.CodeGone, "hookmux is no longer waiting for the device")
	}
}

// confirmMethod lets a device in. You were asked for a code before this runs.
func (s *Service) confirmMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.WebConfirmParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	one, bad := s.pairings.get(p.Pairing)
	if bad != nil {
		return nil, bad
	}
	s.pairings.mu.Lock()
	defer s.pairings.mu.Unlock()
	c := one.claim
	switch {
	case c == nil:
		return nil, wire.Errorf(wire.CodeConflict, "no device used the code yet")
	case time.Now().After(one.until.Add(pairTime)):
		return nil, wire.Errorf(wire.CodeGone, "that took too long; begin again with `hookmux web pair`")
	case c.digits != p.Digits || c.name != p.Name || one.scope != p.Scope:
		return nil, wire.Errorf(wire.CodeConflict, "another device used the code than the one you confirmed")
	case one.device != "":
		return nil, wire.Errorf(wire.CodeConflict, "the device is paired already")
	}
	fresh := device{ID: devices.RandomID(4), Name: c.name, Scope: one.scope, Key: c.key, Paired: time.Now().UTC(),
		Address: c.address, Browser: c.browser}
	if err := s.Devices.Add(fresh); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "the device isn't paired, because that couldn't be written down: %v", err)
	}
	one.device = fresh.ID
	s.record("paired", fresh)
	return fresh.Info(0), nil
}

// claimHandler takes a code and a browser's new key.
func (v *server) claimHandler(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Code string `json:"code"`
		Key  string `json:"key"`
		Name string `json:"name"`
	}
	if !readJSON(w, r, &in) {
		return
	}
	key, err := base64.RawURLEncoding.DecodeString(in.Key)
	d := device{Key: key}
	if err == nil {
		_, err = d.PublicKey()
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "key", "that isn't a P-256 key")
		return
	}
	one, nonce, ok := v.service.pairings.use(strings.ToUpper(strings.TrimSpace(in.Code)), claim{key: key, name: devices.CleanName(in.Name, "browser"),
		browser: browserName(r.UserAgent()), address: v.clientAddress(r)}, time.Now())
	if !ok {
		fail(w, http.StatusForbidden, "code", "This code was used already, is too old or isn't one. "+
			"Run `hookmux web pair` again.")
		return
	}
	answer(w, map[string]string{"nonce": nonce, "claim": one.claim.id})
}

// pairedHandler says what became of a claim.
func (s *Service) pairedHandler(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Claim string `json:"claim"`
	}
	if !readJSON(w, r, &in) {
		return
	}
	s.pairings.mu.Lock()
	defer s.pairings.mu.Unlock()
	for _, one := range s.pairings.open {
		if one.claim == nil || subtle.ConstantTimeCompare([]byte(one.claim.id), []byte(in.Claim)) != 1 {
			continue
		}
		if one.device != "" {
			answer(w, map[string]string{"state": "paired", "device": one.device, "scope": one.scope, "name": one.claim.name})
			return
		}
		if time.Now().Before(one.until.Add(pairTime)) {
			answer(w, map[string]string{"state": "waiting"})
			return
		}
	}
	answer(w, map[string]string{"state": "over"})
}
