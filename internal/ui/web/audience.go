package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/wire"
)

// audience follows requests and sessions once for all pages, while there are any.
type audience struct {
	service *Service

	mu     sync.Mutex
	pages  map[*page]struct{}
	stop   context.CancelFunc // nil while no page is connected
	follow sync.WaitGroup
	ready  chan struct{} // closed when both are followed
	// changed has the newest lines of sessions that weren't sent to pages yet; send sends
	// them soon.
	changed map[string][]byte
	send    *time.Timer
	// list has every session as pages get them first, until one changes: after a restart
	// many pages come back at once. changes counts the changes.
	list    []byte
	changes int

	zipping sync.Mutex
	zipper  *gzip.Writer // kept while there are pages
}

// page is a page that's open in a browser.
type page struct {
	id     string
	device string
	zipped bool // it gets a compressed stream
	events chan []byte
	behind atomic.Int64 // bytes that wait in events
	ctx    context.Context
	end    context.CancelFunc
	left   func() // not nil while a user who may answer looks at it
	gone   bool
}

const (
	maxPages       = 256
	maxDevicePages = 64
	pageLag        = 256              // writes that a slow page may be behind
	pageBehind     = 16 << 20         // and bytes
	heartbeat      = 20 * time.Second // keeps proxies from closing the stream
	streamWrite    = 20 * time.Second
	// sessionPause is how long changes of sessions are collected: many pages cost little then,
	// however many events there are.
	sessionPause = 150 * time.Millisecond
)

// join adds a page and returns once nothing can be missed.
func (h *audience) join(ctx context.Context, device string, zipped bool) (*page, error) {
	h.mu.Lock()
	own := 0
	for p := range h.pages {
		if p.device == device {
			own++
		}
	}
	if len(h.pages) >= maxPages || own >= maxDevicePages {
		h.mu.Unlock()
		return nil, fmt.Errorf("too many pages are open")
	}
	p := &page{id: devices.RandomID(8), device: device, zipped: zipped, events: make(chan []byte, pageLag)}
	p.ctx, p.end = context.WithCancel(ctx)
	h.pages[p] = struct{}{}
	if h.stop == nil {
		h.startLocked()
	}
	ready := h.ready
	h.mu.Unlock()
	select {
	case <-ready:
	case <-p.ctx.Done():
	}
	return p, nil
}

// startLocked begins to follow.
func (h *audience) startLocked() {
	ctx, stop := context.WithCancel(h.service.Context)
	h.stop, h.ready = stop, make(chan struct{})
	var both sync.WaitGroup
	both.Add(2)
	requests, sessions := sync.OnceFunc(both.Done), sync.OnceFunc(both.Done)
	ready := h.ready
	h.service.Background.Go(func() { both.Wait(); close(ready) })
	h.service.Background.Go(func() {
		h.service.Requests.FollowInFull(ctx, func(_ string, line []byte) bool {
			requests()
			h.broadcast(line)
			return ctx.Err() == nil
		})
		requests()
		if ctx.Err() == nil { // it fell behind
			h.endPages(func(*page) bool { return true })
		}
	})
	h.service.Background.Go(func() {
		h.service.Daemon.FollowSessions(ctx, func(line []byte) bool {
			sessions()
			h.noteSession(line)
			return ctx.Err() == nil
		})
		sessions()
	})
}

// broadcast sends a line to every page.
func (h *audience) broadcast(line []byte) {
	if len(line) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tellLocked(appendEvent(nil, line))
}

// tellLocked sends events to every page; one that is too slow begins again.
func (h *audience) tellLocked(events []byte) {
	blocks := storedBlocks(events)
	for p := range h.pages {
		text := events
		if p.zipped {
			text = blocks
		}
		if p.behind.Add(int64(len(text))) > pageBehind {
			p.end()
			continue
		}
		select {
		case p.events <- text:
		default:
			p.end()
		}
	}
}

// noteSession keeps the newest line of a session for the pages.
func (h *audience) noteSession(line []byte) {
	session := jsontext.Get(line, "params", "session")
	if session == nil {
		h.broadcast(line)
		return
	}
	key := string(jsontext.Get(session, "agent")) + string(jsontext.Get(session, "id"))
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = nil
	h.changes++
	if h.stop == nil {
		return // the last page is gone
	}
	if h.changed == nil {
		h.changed = map[string][]byte{}
	}
	if h.changed[key] = line; h.send == nil {
		h.send = time.AfterFunc(sessionPause, h.tellSessions)
	}
}

// tellSessions sends pages the sessions that changed.
func (h *audience) tellSessions() {
	h.mu.Lock()
	defer h.mu.Unlock()
	var events []byte
	for _, line := range h.changed {
		events = appendEvent(events, line)
	}
	clear(h.changed)
	h.send = nil
	if len(events) > 0 {
		h.tellLocked(events)
	}
}

// appendEvent appends a line as a server-sent event.
func appendEvent(dst, line []byte) []byte {
	dst = append(dst, "data: "...)
	dst = append(dst, bytes.TrimSuffix(line, []byte("\n"))...)
	return append(dst, "\n\n"...)
}

// leave removes a page.
func (h *audience) leave(p *page) {
	h.look(p, false)
	h.mu.Lock()
	defer h.mu.Unlock()
	p.gone = true
	p.end()
	delete(h.pages, p)
	if len(h.pages) == 0 && h.stop != nil {
		h.stop()
		h.stop, h.list = nil, nil
		clear(h.changed)
		h.zipping.Lock()
		h.zipper = nil
		h.zipping.Unlock()
	}
}

// look notes whether a page is being looked at. While a device that may answer shows one,
// agents wait as they do for the live view.
func (h *audience) look(p *page, visible bool) {
	d, ok := h.service.browser(p.device)
	h.mu.Lock()
	var left func()
	switch {
	case visible && p.left == nil && !p.gone && ok && d.Scope == wire.ScopeAnswer:
		p.left = h.service.Requests.Watch()
	case !visible && p.left != nil:
		left, p.left = p.left, nil
	}
	h.mu.Unlock()
	if left != nil {
		left()
	}
}

// isVisible reports whether a page is being looked at on a device that may answer.
func (h *audience) isVisible() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.pages {
		if p.left != nil {
			return true
		}
	}
	return false
}

// count returns how many pages a device has open; "" is all devices.
func (h *audience) count(device string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for p := range h.pages {
		if device == "" || p.device == device {
			n++
		}
	}
	return n
}

// endPages ends streams.
func (h *audience) endPages(which func(*page) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.pages {
		if which(p) {
			p.end()
		}
	}
}

// find finds a page of a device.
func (h *audience) find(id, device string) *page {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.pages {
		if p.id == id && p.device == device {
			return p
		}
	}
	return nil
}

// snapshot is everything a page shows first; changes follow.
type snapshot struct {
	Page     string              `json:"page"`
	Time     int64               `json:"time"` // now, in milliseconds
	Device   wire.WebDevice      `json:"device"`
	Home     string              `json:"home"`
	Agents   map[string]string   `json:"agents"`   // their display names
	Requests []wire.InboxRequest `json:"requests"` // and sessions, which come from sessionList
}

// agentTitles returns the display names of all agents.
func (s *Service) agentTitles() map[string]string {
	titles := map[string]string{}
	for _, a := range s.Catalogue.Agents() {
		titles[a.Name] = a.Title
	}
	return titles
}

// sessionList returns every session, for a page that has joined.
func (h *audience) sessionList(ctx context.Context) ([]byte, *wire.Error) {
	h.mu.Lock()
	list, changes := h.list, h.changes
	h.mu.Unlock()
	if list != nil {
		return list, nil
	}
	sessions, bad := h.service.Daemon.Call(ctx, wire.MethodSessions, nil)
	if bad != nil {
		return nil, bad
	}
	list, err := json.Marshal(sessions)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changes == changes && h.stop != nil {
		h.list = list
	}
	return list, nil
}

// streamHandler sends what there is and then every change, until the page is closed. Lines are
// the daemon's own notifications, as server-sent events: proxies pass those on at once.
func (v *server) streamHandler(w http.ResponseWriter, r *http.Request) {
	d, h := deviceOf(r), v.service.audience
	p, err := h.join(r.Context(), d.ID, acceptsGzip(r))
	if err != nil {
		fail(w, http.StatusServiceUnavailable, "busy", err.Error())
		return
	}
	defer h.leave(p)
	if _, still := v.service.browser(d.ID); !still { // removed in this very moment
		fail(w, http.StatusUnauthorized, "unpaired", "this device was removed")
		return
	}
	h.look(p, r.URL.Query().Get("visible") == "1")
	sessions, bad := h.sessionList(r.Context())
	if bad != nil {
		failWith(w, bad)
		return
	}
	first, _ := json.Marshal(snapshot{Page: p.id, Time: time.Now().UnixMilli(), Device: d.Info(h.count(d.ID)), Home: v.service.Dirs.Home,
		Agents: v.service.agentTitles(), Requests: v.service.Requests.WaitingInFull()})
	first = append(first[:len(first)-1], `,"sessions":`...)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	send := func(part []byte) bool {
		_ = control.SetWriteDeadline(time.Now().Add(streamWrite))
		_, err := w.Write(part)
		return err == nil && control.Flush() == nil
	}
	begin := slices.Concat([]byte(`data: {"method":"snapshot","params":`), first, sessions, []byte("}}\n\n"))
	beating := alive
	if p.zipped {
		beating = storedBlocks(alive)
		w.Header().Set("Content-Encoding", "gzip")
		begin = h.zip(begin)
	}
	if !send(begin) {
		return
	}
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		events := beating
		select {
		case <-p.ctx.Done():
			return
		case events = <-p.events:
			p.behind.Add(-int64(len(events)))
		case <-beat.C:
		}
		if p.ctx.Err() != nil || !send(events) {
			return
		}
	}
}

// zip is the beginning of a compressed stream: it shrinks everything that a page shows first to
// a tenth. What follows is small and isn't compressed ([storedBlocks]), because a compressor
// for each page would cost more memory than everything else about it.
func (h *audience) zip(text []byte) []byte {
	h.zipping.Lock()
	defer h.zipping.Unlock()
	var b bytes.Buffer
	if h.zipper == nil {
		h.zipper = gzip.NewWriter(&b)
	}
	h.zipper.Reset(&b)
	_, _ = h.zipper.Write(text)
	_ = h.zipper.Flush()
	return b.Bytes()
}

// storedBlocks returns the blocks of a compressed stream that hold a text as it is. The last
// one is empty: some readers pass on what came before it only then.
func storedBlocks(text []byte) []byte {
	const most = 1<<16 - 1
	out := make([]byte, 0, len(text)+16)
	for part := range slices.Chunk(text, most) {
		n := uint16(len(part))
		out = binary.LittleEndian.AppendUint16(append(out, 0), n)
		out = append(binary.LittleEndian.AppendUint16(out, ^n), part...)
	}
	return append(out, 0, 0, 0, 0xff, 0xff)
}

// alive is a comment, which pages pass over.
var alive = []byte(":\n\n")

// visibleHandler notes whether a page is being looked at, and says until when the requests
// wait: longer if one is.
func (v *server) visibleHandler(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Page    string `json:"page"`
		Visible bool   `json:"visible"`
	}
	if !readJSON(w, r, &in) {
		return
	}
	deadlines := map[string]time.Time{}
	if p := v.service.audience.find(in.Page, deviceOf(r).ID); p != nil {
		v.service.audience.look(p, in.Visible)
		for _, one := range v.service.Requests.WaitingInFull() {
			if !one.Deadline.IsZero() {
				deadlines[one.ID] = one.Deadline
			}
		}
	}
	answer(w, map[string]any{"deadlines": deadlines})
}
