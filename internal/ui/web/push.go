package web

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/wire"
)

// Web Push: a notice is encrypted to the browser (RFC 8291), signed with a key of this
// installation (VAPID, RFC 8292) and passed to the browser vendor's service, which only sees
// its size and time.

// pushFile keeps the key that signs pushes, sealed.
const pushFile = "web-push.json"

// pushHosts are the push services of browsers. A subscription anywhere else is rejected: the
// daemon would send requests wherever a device says.
var pushHosts = []string{
	"fcm.googleapis.com", "web.push.apple.com", "updates.push.services.mozilla.com", ".push.services.mozilla.com",
	".push.apple.com", ".notify.windows.com",
}

// subscription is where a device wants to be notified.
type subscription = devices.Subscription

// checkEndpoint returns what is wrong with where a device wants to be notified.
func checkEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Port() != "" && u.Port() != "443" || len(endpoint) > 2048 {
		return errors.New("that isn't the address of a push service")
	}
	host := strings.ToLower(u.Hostname())
	for _, known := range pushHosts {
		if host == known || strings.HasPrefix(known, ".") && strings.HasSuffix(host, known) {
			return nil
		}
	}
	return fmt.Errorf("hookmux doesn't know %s as a push service of a browser", host)
}

// IsVisible reports whether the page is being looked at on a device that may answer.
func (s *Service) IsVisible() bool { return s.audience.isVisible() }

// Tell notifies the devices that want it.
func (s *Service) Tell(ctx context.Context, id, title, body string, urgent bool) error {
	return s.pushNotice(ctx, notice{id: id, title: title, body: body, urgent: urgent})
}

// Withdraw takes back a notice from devices.
func (s *Service) Withdraw(ctx context.Context, id string) error {
	return s.pushNotice(ctx, notice{id: id, withdraw: true})
}

// notice is sent to a device: as little as is needed to decide whether to look.
type notice struct {
	id       string // of the request; a later push about it replaces the one before
	title    string
	body     string
	withdraw bool // it was answered
	urgent   bool
}

// pusher sends pushes.
type pusher struct {
	service *Service
	check   func(endpoint string) error
	client  *http.Client

	mu   sync.Mutex
	key  *ecdsa.PrivateKey
	sent map[string]map[string]bool // devices that were notified of a request
}

func newPusher(s *Service) *pusher {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !isPublic(at.Addr()) {
			return errors.New("a push service isn't at a private address")
		}
		return nil
	}}
	return &pusher{service: s, check: checkEndpoint, sent: map[string]map[string]bool{}, client: &http.Client{
		Timeout:       20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("a push service doesn't redirect") },
		Transport: &http.Transport{DialContext: dialer.DialContext, TLSHandshakeTimeout: 10 * time.Second,
			DisableKeepAlives: true, Proxy: nil},
	}}
}

// isPublic reports whether an address is one of the internet's.
func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	return a.IsGlobalUnicast() && !a.IsPrivate() && !a.IsLoopback() && !a.IsLinkLocalUnicast() &&
		!netip.MustParsePrefix("100.64.0.0/10").Contains(a) && !netip.MustParsePrefix("192.0.0.0/24").Contains(a)
}

// signingKey returns the key of this installation, made when it's first needed.
func (p *pusher) signingKey() (*ecdsa.PrivateKey, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.key != nil {
		return p.key, nil
	}
	var kept struct {
		Key []byte `json:"key"`
	}
	state := p.service.Dirs.State
	if sealed.Load(state, pushFile, &kept) == nil && len(kept.Key) > 0 {
		if key, err := x509.ParseECPrivateKey(kept.Key); err == nil {
			p.key = key
			return key, nil
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if kept.Key, err = x509.MarshalECPrivateKey(key); err != nil {
		return nil, err
	}
	if err := sealed.Store(state, pushFile, kept); err != nil {
		return nil, err
	}
	p.key = key
	return key, nil
}

// authorization returns the VAPID header for a push service.
func authorization(key *ecdsa.PrivateKey, endpoint, subject string, now time.Time) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	claims, _ := json.Marshal(map[string]any{"aud": u.Scheme + "://" + u.Host, "exp": now.Add(12 * time.Hour).Unix(),
		"sub": subject})
	text := encode([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		return "", err
	}
	signature := append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	public, err := key.PublicKey.Bytes()
	if err != nil {
		return "", err
	}
	return "vapid t=" + text + "." + encode(signature) + ", k=" + encode(public), nil
}

// encrypt encrypts a text to a browser, as RFC 8291 and RFC 8188 say: one record.
func encrypt(to *subscription, text []byte) ([]byte, error) {
	browser, err := ecdh.P256().NewPublicKey(to.P256DH)
	if err != nil {
		return nil, err
	}
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	shared, err := own.ECDH(browser)
	if err != nil {
		return nil, err
	}
	public, salt := own.PublicKey().Bytes(), randomBytes(16)
	info := "WebPush: info\x00" + string(to.P256DH) + string(public)
	secret, err := hkdf.Key(sha256.New, shared, to.Auth, info, 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, secret, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	seal, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	record := append(bytes.Clone(text), 2) // the delimiter of the last record
	for len(record) < 512 {                // the length says nothing
		record = append(record, 0)
	}
	out := append(bytes.Clone(salt), binary.BigEndian.AppendUint32(nil, 4096)...)
	out = append(append(out, byte(len(public))), public...)
	return seal.Seal(out, nonce, record, nil), nil
}

// encode returns a push as browsers read it: the members of Declarative Web Push, and the tag
// that hookmux's worker uses.
func (n *notice) encode(page string) []byte {
	tag := "request-" + n.id
	if n.withdraw {
		b, _ := json.Marshal(map[string]any{"withdraw": tag, "web_push": 8030,
			"notification": map[string]any{"title": "Answered", "navigate": page + "/", "tag": tag, "silent": true}})
		return b
	}
	b, _ := json.Marshal(map[string]any{"web_push": 8030, "notification": map[string]any{
		"title": n.title, "body": n.body, "navigate": page + "/#/request/" + url.PathEscape(n.id), "tag": tag,
	}})
	return b
}

// topic is at most 32 characters of base64url, and the same for each push about a request.
func (n *notice) topic() string {
	sum := sha256.Sum256([]byte(n.id))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:32]
}

// errGone says that a subscription is over.
var errGone = errors.New("the browser ended its subscription")

// send hands one push to a device's service.
func (p *pusher) send(ctx context.Context, to *subscription, n *notice, page string) error {
	if err := p.check(to.Endpoint); err != nil {
		return err
	}
	key, err := p.signingKey()
	if err != nil {
		return err
	}
	sealed, err := encrypt(to, n.encode(page))
	if err != nil {
		return err
	}
	subject := "https://github.com/hookmux/hookmux"
	if strings.HasPrefix(page, "https://") {
		subject = page
	}
	signed, err := authorization(key, to.Endpoint, subject, time.Now())
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Endpoint, bytes.NewReader(sealed))
	if err != nil {
		return err
	}
	life, urgency := 300, "normal"
	if n.urgent {
		life, urgency = 3600, "high"
	}
	for name, value := range map[string]string{"Authorization": signed, "Content-Encoding": "aes128gcm",
		"Content-Type": "application/octet-stream", "TTL": strconv.Itoa(life), "Urgency": urgency, "Topic": n.topic()} {
		r.Header.Set(name, value)
	}
	response, err := p.client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 4<<10))
	switch {
	case response.StatusCode == http.StatusNotFound || response.StatusCode == http.StatusGone:
		return errGone
	case response.StatusCode >= 300:
		return fmt.Errorf("the push service answers %s", response.Status)
	}
	return nil
}

// CanPush reports whether any device wants to be notified.
func (s *Service) CanPush() bool {
	s.mu.Lock()
	on := s.running != nil
	s.mu.Unlock()
	if !on {
		return false
	}
	for _, one := range s.browsers() {
		if one.Push != nil {
			return true
		}
	}
	return false
}

// pushNotice notifies every device that wants it, unless a page is being looked at: it shows
// the notice already. What was sent is withdrawn even then.
func (s *Service) pushNotice(ctx context.Context, n notice) error {
	s.mu.Lock()
	page := ""
	if s.running != nil {
		page = s.running.url()
	}
	s.mu.Unlock()
	if page == "" || !n.withdraw && s.audience.isVisible() {
		return nil
	}
	var failed error
	for _, one := range s.browsers() {
		if one.Push == nil || n.withdraw && !s.push.wasTold(n.id, one.ID) {
			continue
		}
		err := s.push.send(ctx, one.Push, &n, page)
		switch {
		case errors.Is(err, errGone):
			_ = s.Devices.Update(one.ID, func(d *device) { d.Push = nil }) // it's asked again when that can't be written
		case err != nil:
			failed = fmt.Errorf("%s: %w", one.Name, err)
		default:
			s.push.noteTold(n.id, one.ID, !n.withdraw)
		}
	}
	return failed
}

func (p *pusher) wasTold(request, device string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent[request][device]
}

// noteTold notes which devices show a notice. There are few: it's forgotten when it ends.
func (p *pusher) noteTold(request, device string, told bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !told {
		delete(p.sent[request], device)
		if len(p.sent[request]) == 0 {
			delete(p.sent, request)
		}
		return
	}
	if len(p.sent) > 1000 {
		clear(p.sent)
	}
	if p.sent[request] == nil {
		p.sent[request] = map[string]bool{}
	}
	p.sent[request][device] = true
}

// pushKeyHandler says with which key pushes are signed.
func (v *server) pushKeyHandler(w http.ResponseWriter, _ *http.Request) {
	key, err := v.service.push.signingKey()
	if err != nil {
		fail(w, http.StatusInternalServerError, "failed", err.Error())
		return
	}
	public, err := key.PublicKey.Bytes()
	if err != nil {
		fail(w, http.StatusInternalServerError, "failed", err.Error())
		return
	}
	answer(w, map[string]string{"key": base64.RawURLEncoding.EncodeToString(public)})
}

// subscribeHandler notes where a device wants to be notified; an empty address ends it.
func (v *server) subscribeHandler(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Endpoint string `json:"endpoint"`
		P256DH   string `json:"p256dh"`
		Auth     string `json:"auth"`
	}
	if !readJSON(w, r, &in) {
		return
	}
	var fresh *subscription
	if in.Endpoint != "" {
		if err := v.service.push.check(in.Endpoint); err != nil {
			fail(w, http.StatusBadRequest, "push", err.Error())
			return
		}
		read := func(s string) []byte { b, _ := base64.RawURLEncoding.DecodeString(strings.TrimRight(s, "=")); return b }
		fresh = &subscription{Endpoint: in.Endpoint, P256DH: read(in.P256DH), Auth: read(in.Auth)}
		if _, err := ecdh.P256().NewPublicKey(fresh.P256DH); err != nil || len(fresh.Auth) != 16 {
			fail(w, http.StatusBadRequest, "push", "the browser's keys can't be used")
			return
		}
	}
	if err := v.service.Devices.Update(deviceOf(r).ID, func(d *device) { d.Push = fresh }); err != nil {
		fail(w, http.StatusInternalServerError, "failed", err.Error())
		return
	}
	status, _ := v.service.Daemon.Call(r.Context(), wire.MethodNotifyStatus, nil) // without it: as if they were off
	info, _ := status.(wire.NotifyInfo)
	answer(w, map[string]bool{"on": fresh != nil, "notify": info.On})
}
