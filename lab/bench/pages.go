//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

const (
	openPages     = 200
	pageSessions  = 1000
	pageDevices   = 8 // each may make 20 requests a second
	pageEvents    = 2000
	pageAnswers   = 400
	pageRequests  = 50
	pageReplyRest = 16 * time.Millisecond
)

// pages measures what open pages of browsers cost: the daemon's cpu for an event and its
// memory, with none and with many of them, and how long an answer on a page takes to the
// waiting hook, against one over the socket.
func (b *bench) pages(ctx context.Context) error {
	if err := b.build(ctx, "inboxdaemon", "./lab/bench/inboxdaemon"); err != nil {
		return err
	}
	p, err := b.startDaemonProgram(ctx, "pages", b.tools+"/inboxdaemon", nil)
	if err != nil {
		return err
	}
	defer p.stop()
	l, err := b.newLoad(ctx, p)
	if err != nil {
		return err
	}
	one := &oneSession{l: l, p: p}
	if err := one.fill(pageSessions); err != nil {
		return err
	}
	if err := p.listed(ctx, pageSessions); err != nil {
		return err
	}
	devices, err := p.pairDevices(ctx, pageDevices)
	if err != nil {
		return err
	}
	if err := b.costOfPages(ctx, p, one, devices); err != nil {
		return err
	}
	return b.pageAnswers(ctx, p, devices)
}

// costOfPages compares the cpu of events, and the memory, with and without pages.
func (b *bench) costOfPages(ctx context.Context, p *place, one *oneSession, devices []*device) error {
	var without, with, each []float64
	for range 3 {
		v, err := one.eventsOfAll(ctx)
		if err != nil {
			return err
		}
		without = append(without, v)
		before, err := residentOf(p)
		if err != nil {
			return err
		}
		shown, err := openAll(ctx, devices)
		if err != nil {
			return err
		}
		after, err := residentOf(p)
		if err == nil {
			each = append(each, (after-before)/openPages)
			v, err = one.eventsOfAll(ctx)
		}
		with = append(with, v)
		if err := errors.Join(err, shown.close()); err != nil {
			return err
		}
	}
	b.table.note("pages: cpu of the daemon per event, 1,000 sessions, no page", median(without), "µs")
	b.table.note("pages: cpu of the daemon per event, 1,000 sessions, 200 pages", median(with), "µs")
	b.table.atMost("pages: 200 ÷ 0 pages, cpu per event", median(with)/median(without), 1.5, "×")
	// The first pages also make the daemon's heap larger for good.
	b.table.atMost("pages: memory of the daemon for each page", each[0]/1e3, 100, "kB")
	return nil
}

// eventsOfAll returns the daemon's cpu for one event, in microseconds, over events of all
// sessions in turn.
func (o *oneSession) eventsOfAll(ctx context.Context) (float64, error) {
	time.Sleep(time.Second)
	w := worker{target: toDaemon(o.p), answer: make([]byte, 64<<10)}
	before, _, err := usage(o.p.pid())
	if err != nil {
		return 0, err
	}
	for i := range pageEvents {
		tool := map[string]any{"tool_name": "Bash", "tool_use_id": fmt.Sprint("c", i), "tool_input": map[string]any{"command": "go test ./..."}}
		event := "PreToolUse"
		if i/pageSessions%2 == 1 {
			event, tool["tool_response"] = "PostToolUse", map[string]any{"stdout": "ok"}
		}
		if err := o.call(&w, event, sessionName(uint64(i%pageSessions)), tool); err != nil {
			return 0, err
		}
	}
	if err := o.p.drained(ctx); err != nil {
		return 0, err
	}
	after, _, err := usage(o.p.pid())
	return micros(after-before) / pageEvents, err
}

// pageAnswers measures answers over the socket and on pages, in turns.
func (b *bench) pageAnswers(ctx context.Context, p *place, devices []*device) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	shown, err := openAll(ctx, devices)
	if err != nil {
		return err
	}
	defer shown.close()
	ids := make(chan received, pageRequests)
	if err := p.watchAll(ctx, ids); err != nil {
		return err
	}
	f := &inboxLoad{p: p, ids: ids, open: map[string]*waitingHook{}}
	for range pageRequests {
		if err := f.ask(); err != nil {
			return err
		}
	}
	if err := f.registered(ctx, pageRequests); err != nil {
		return err
	}
	var socket, page []float64
	for i := range pageAnswers {
		time.Sleep(pageReplyRest)
		answer, into := f.overSocket, &socket
		if i%2 == 1 {
			answer, into = devices[i/2%len(devices)].answer, &page
		}
		took, err := f.measure(ctx, answer)
		if err != nil {
			return err
		}
		if i >= pageAnswers/20 { // the first ones warm up
			*into = append(*into, micros(took))
		}
		if err := f.ask(); err != nil {
			return err
		}
		if err := f.registered(ctx, pageRequests); err != nil {
			return err
		}
	}
	for _, at := range []int{50, 99} {
		b.table.note(fmt.Sprintf("pages: answer over the socket → waiting hook, p%d", at), percentile(socket, at), "µs")
		b.table.note(fmt.Sprintf("pages: answer on a page → waiting hook, p%d", at), percentile(page, at), "µs")
	}
	b.table.atMost("pages: answer on a page ÷ over the socket, p99", percentile(page, 99)/percentile(socket, 99), 3, "×")
	return nil
}

// device is a paired browser without the browser.
type device struct {
	url, id, instance string
	key               *ecdsa.PrivateKey
	http              *http.Client
}

// pairDevices serves the page and pairs devices, as you do.
func (p *place) pairDevices(ctx context.Context, n int) ([]*device, error) {
	var status wire.WebStatus
	if err := p.client.Call(ctx, wire.MethodWebStart, wire.WebStartParams{Listen: "127.0.0.1:0"}, &status); err != nil {
		return nil, err
	}
	var list []*device
	for range n {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		d := &device{url: status.URL, key: key, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}}
		if err := d.pair(ctx, p); err != nil {
			return nil, fmt.Errorf("pairing: %w", err)
		}
		list = append(list, d)
	}
	return list, nil
}

func (d *device) pair(ctx context.Context, p *place) error {
	var pairing wire.WebPairing
	if err := p.client.Call(ctx, wire.MethodWebPair, wire.WebPairParams{Scope: wire.ScopeAnswer}, &pairing); err != nil {
		return err
	}
	_, code, _ := strings.Cut(pairing.URL, "#pair=")
	raw, err := d.key.PublicKey.Bytes()
	if err != nil {
		return err
	}
	var claimed struct{ Claim string }
	if err := d.post("/api/pair", map[string]string{"code": code, "key": base64.RawURLEncoding.EncodeToString(raw), "name": "bench"},
		false, &claimed); err != nil {
		return err
	}
	var claim wire.WebClaim
	if err := p.client.Call(ctx, wire.MethodWebPairWait, wire.WebPairingParams{Pairing: pairing.Pairing}, &claim); err != nil {
		return err
	}
	var paired wire.WebDevice
	if err := p.client.Call(ctx, wire.MethodWebPairConfirm, wire.WebConfirmParams{Pairing: pairing.Pairing, Digits: claim.Digits,
		Name: claim.Name, Scope: claim.Scope}, &paired); err != nil {
		return err
	}
	d.id = paired.ID
	return d.hello()
}

// hello asks what to sign, as the page does before each answer.
func (d *device) hello() error {
	response, err := d.http.Get(d.url + "/api/hello")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var hello struct{ Instance string }
	err = json.NewDecoder(response.Body).Decode(&hello)
	d.instance = hello.Instance
	return err
}

func (d *device) sign(message ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(message, "\n")))
	r, s, err := ecdsa.Sign(rand.Reader, d.key, sum[:])
	if err != nil {
		panic(err) // of the random source
	}
	return base64.RawURLEncoding.EncodeToString(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (d *device) authorize(r *http.Request, body []byte) {
	at, nonce := strconv.FormatInt(time.Now().UnixMilli(), 10), rand.Text()
	r.Header.Set("Authorization", "Hookmux-1 "+d.id+" "+at+" "+nonce+" "+
		d.sign("hookmux-request-1", d.instance, r.Method, r.URL.RequestURI(), hashOf(body), at, nonce))
}

func (d *device) post(path string, body any, signed bool, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, d.url+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if signed {
		d.authorize(r, text)
	}
	response, err := d.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s %w", path, response.Status, said, err)
	}
	return json.Unmarshal(said, into)
}

// answer approves a request as the page does, with a signature over what was shown.
func (d *device) answer(_ context.Context, h *waitingHook) (string, error) {
	if err := d.hello(); err != nil {
		return "", err
	}
	text, err := json.Marshal(wire.InboxReplyParams{ID: h.request, Choice: "once", SHA256: h.sha256})
	if err != nil {
		return "", err
	}
	at, nonce := time.Now().UnixMilli(), rand.Text()
	var result wire.InboxReplyResult
	err = d.post("/api/answer", map[string]any{"answer": string(text), "time": at, "nonce": nonce,
		"signature": d.sign("hookmux-answer-1", "instance "+d.instance, "device "+d.id, "request "+h.request, "shown "+h.sha256, "choice once",
			"answer "+hashOf(text), "nonce "+nonce, fmt.Sprint("time ", at))}, true, &result)
	return result.Outcome, err
}

// shownPages are streams that are open.
type shownPages struct {
	end     context.CancelFunc
	readers sync.WaitGroup
	mu      sync.Mutex
	failed  error
}

// openAll opens pages that are being looked at, and returns once each shows everything.
func openAll(ctx context.Context, devices []*device) (*shownPages, error) {
	ctx, end := context.WithCancel(ctx)
	s := &shownPages{end: end}
	for i := range openPages {
		if err := s.open(ctx, devices[i%len(devices)]); err != nil {
			end()
			return nil, err
		}
		time.Sleep(10 * time.Millisecond) // a device makes 20 requests a second
	}
	return s, nil
}

func (s *shownPages) open(ctx context.Context, d *device) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+"/api/stream?visible=1", nil)
	if err != nil {
		return err
	}
	d.authorize(r, nil)
	response, err := d.http.Do(r)
	if err != nil {
		return err
	}
	first := make([]byte, 64)
	if _, err := io.ReadFull(response.Body, first); err != nil || response.StatusCode != http.StatusOK {
		response.Body.Close()
		return fmt.Errorf("a page answers %s: %s %w", response.Status, first, err)
	}
	s.readers.Go(func() {
		defer response.Body.Close()
		_, err := io.Copy(io.Discard, response.Body)
		if ctx.Err() == nil {
			s.mu.Lock()
			s.failed = errors.Join(s.failed, fmt.Errorf("a page lost its stream: %w", err))
			s.mu.Unlock()
		}
	})
	return nil
}

// close closes the pages, and returns which were lost before.
func (s *shownPages) close() error {
	s.mu.Lock()
	failed := s.failed
	s.mu.Unlock()
	s.end()
	s.readers.Wait()
	return failed
}
