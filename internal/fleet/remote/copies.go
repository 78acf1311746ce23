package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// What hosts journalled is copied into a journal of its own: nothing that counts, guards or
// resumes on this machine ever reads it. Ids are prefixed with the host's name, so that an
// event is stored once however often it comes, and no host can take the id of another's.
const (
	copiesFile = "remote-log.db"
	placesFile = "remote-log.json"

	copiesKeep  = 30 * 24 * time.Hour
	copiesBytes = 1 << 30
	retainEvery = time.Hour
	copyPause   = 500 * time.Millisecond // for changes to come together
	copyRetry   = 15 * time.Second
)

// copies are the events of all hosts.
type copies struct {
	deps services.Deps
	over context.Context // ends with the daemon

	mu      sync.Mutex
	journal *journal.Journal
	places  map[string]place // by host
}

// open opens the journal if it isn't open.
func (c *copies) open() (*journal.Journal, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.journal != nil {
		return c.journal, nil
	}
	if err := c.over.Err(); err != nil {
		return nil, err
	}
	j, err := journal.Open(c.path(copiesFile), journal.Options{Readers: 2})
	if err != nil {
		return nil, err
	}
	c.journal, c.places = j, map[string]place{}
	if b, err := files.Read(c.path(placesFile), 1<<20); err == nil {
		_ = json.Unmarshal(b, &c.places) // else the newest events come again, and are there already
	}
	c.deps.Background.Go(func() { c.keep(j) })
	return j, nil
}

func (c *copies) path(name string) string { return filepath.Join(c.deps.Dirs.State, name) }

// keep deletes what is too old or too much, and closes the journal when the daemon ends.
func (c *copies) keep(j *journal.Journal) {
	defer j.Close()
	tick := time.NewTicker(retainEvery)
	defer tick.Stop()
	for {
		if _, err := j.RetainShared(time.Now(), copiesKeep, copiesBytes, protocol.IDMark); errors.Is(err, journal.ErrClosed) {
			return // the last host was removed
		}
		select {
		case <-c.over.Done():
			return
		case <-tick.C:
		}
	}
}

// place returns how far a host was read.
func (c *copies) place(host string) (place, error) {
	if _, err := c.open(); err != nil {
		return place{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.places[host], nil
}

// take stores a page, then the position after it: after a crash in between the page comes again,
// and its events are there already.
func (c *copies) take(host string, at place, page *logPage) (place, error) {
	j, err := c.open()
	if err != nil {
		return at, err
	}
	next := place{Journal: page.Journal, After: page.Next}
	var items []journal.Item
	switch {
	case at.Journal == 0:
	case at.Journal != page.Journal:
		items = append(items, missing(host, page.Journal, page.Oldest, "the journal there was replaced; what came before it may be missing here"))
	default:
		next.Open, next.Marks = at.Open, at.Marks
		if page.From < at.After {
			items = append(items, missing(host, page.Journal, at.After, "the log there went back, as after a power failure or a restored snapshot"))
			next.backTo(page.From)
		} else if page.Oldest > at.After+1 {
			items = append(items, missing(host, page.Journal, page.Oldest, "events were deleted there before they were copied here"))
		}
	}
	for _, list := range [][]protocol.Event{page.Late, page.Events} {
		for i := range list {
			items = list[i].Items(host, host, items)
		}
	}
	for i := range page.Late {
		if at, found := slices.BinarySearch(next.Open, page.Late[i].Cursor); found {
			next.Open = slices.Delete(slices.Clone(next.Open), at, at+1)
		}
	}
	for i := range page.Events {
		if e := &page.Events[i]; e.Outcome == nil && mayBeDecided(event.Kind(e.Kind)) {
			next.Open = append(slices.Clip(next.Open), e.Cursor)
		}
	}
	next.Open = next.Open[max(0, len(next.Open)-maxOpen):]
	if n := len(page.Events); n > 0 {
		next.pass(mark{page.Events[n-1].Cursor, page.Events[n-1].ID})
	}
	if _, _, err := j.Write(items); err != nil {
		return at, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.places[host] = next
	return next, c.storePlaces()
}

func (c *copies) storePlaces() error {
	b, err := json.Marshal(c.places)
	if err != nil {
		return err
	}
	return files.Write(c.path(placesFile), b)
}

// mayBeDecided reports whether an event of this kind gets an outcome after it was stored.
func mayBeDecided(k event.Kind) bool {
	return k.Guarded() || k.TakesKeepGoing() || k == event.TurnStart || k == event.UserQuestion || k == event.UserPlan
}

// missing returns an event in the log of a host that says what is missing.
func missing(host string, identity, cursor int64, why string) journal.Item {
	body, _ := json.Marshal(map[string]string{"note": host + ": " + why})
	return journal.Item{Row: &journal.Row{ID: fmt.Sprintf("%s%smissing-%d-%d", host, protocol.IDMark, identity, cursor),
		Time: time.Now(), Agent: wire.OwnAgent, Kind: string(event.Other), Native: wire.OwnMissing, Host: host, Body: body}}
}

// forget deletes what is stored about a host; with the last one the files are deleted as well.
func (c *copies) forget(host string, last bool) error {
	j, err := c.open()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.places, host)
	if !last {
		return errors.Join(j.DropOwner(host, protocol.IDMark), c.storePlaces())
	}
	c.journal = nil
	_ = j.Close() // what it has is deleted now
	return c.deleteFiles()
}

// keepOnly deletes the copies of all other hosts: the daemon may have been killed while one was
// removed.
func (c *copies) keepOnly(hosts []string) error {
	if len(hosts) == 0 {
		return c.deleteFiles()
	}
	if _, err := os.Stat(c.path(placesFile)); err != nil {
		return nil
	}
	j, err := c.open()
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for host := range c.places {
		if !slices.Contains(hosts, host) {
			delete(c.places, host)
			err = errors.Join(err, j.DropOwner(host, protocol.IDMark), c.storePlaces())
		}
	}
	return err
}

func (c *copies) deleteFiles() (err error) {
	for _, name := range []string{copiesFile, copiesFile + "-wal", copiesFile + "-shm", placesFile} {
		if gone := os.Remove(c.path(name)); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// Copies reports whether there is a host of this name; "": any.
func (c *Connector) Copies(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.list, func(one host) bool { return name == "" || one.Name == name })
}

// ReadCopies reads events of a host, or with "" of all of them.
func (c *Connector) ReadCopies(ctx context.Context, host string, f journal.Filter) (rows []journal.Stored, more bool,
	bad *wire.Error) {
	if slices.Contains(f.Natives, wire.OwnUsage) {
		rows, bad = c.readUsage(ctx, host, f.Since)
		return rows, false, bad
	}
	switch {
	case host != "":
		f.ID = host + protocol.IDMark + f.ID
	case f.ID != "":
		return nil, false, wire.Errorf(wire.CodeParams, "name the event's machine: --host NAME")
	}
	j, err := c.copies.open()
	if err != nil {
		return nil, false, wire.Errorf(wire.CodeInternal, "the copies of other machines' logs can't be read: %v", err)
	}
	limit, size := f.Limit, 0
	f.Limit++
	for one, err := range j.Query(ctx, f) {
		if err != nil {
			return nil, false, wire.Errorf(wire.CodeInternal, "the copies of other machines' logs can't be read: %v", err)
		}
		if len(rows) == limit || size > pageBytes {
			return rows, true, nil
		}
		one.ID = one.ID[len(one.Host)+len(protocol.IDMark):]
		size += len(one.Body)
		rows = append(rows, one)
	}
	return rows, false, nil
}

// copyLog copies what the machine journals until ctx ends.
func (l *link) copyLog(ctx context.Context, t *talk) {
	at, err := l.copies.place(l.host.Name)
	for {
		if err == nil {
			var page logPage
			if page, err = l.askLog(ctx, t, at); err == nil {
				at, err = l.copies.take(l.host.Name, at, &page)
			}
			if err == nil && page.More {
				continue
			}
		}
		var unknown *wire.Error
		switch {
		case ctx.Err() != nil:
			return
		case errors.As(err, &unknown) && unknown.Code == wire.CodeNoMethod:
			l.deps.Log.Info("hookmux there is too old to send its log", "host", l.host.Name)
			return
		case err != nil:
			l.deps.Log.Warn("the log of a host isn't copied", "host", l.host.Name, "error", err)
			if services.Pause(copyRetry, ctx.Done()) {
				return
			}
			at, err = l.copies.place(l.host.Name)
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-l.stored:
		}
		if services.Pause(copyPause, ctx.Done()) {
			return
		}
	}
}

// askLog asks for what comes after a place, and checks it.
func (l *link) askLog(ctx context.Context, t *talk, at place) (page logPage, err error) {
	params, err := json.Marshal(at)
	if err != nil {
		return page, err
	}
	err = l.callThere(ctx, t, wire.RemoteRequest{Method: wire.RemoteLog, Params: params}, &page)
	if bad := l.checked(t, err, &page); bad != nil {
		return page, bad
	}
	if err := page.check(at); err != nil {
		bad := &brokenRules{err.Error()}
		t.end(bad)
		return page, bad
	}
	return page, nil
}

// check rejects what no honest machine answers.
func (p *logPage) check(at place) error {
	last := p.From
	known := last == 0 || p.Journal == at.Journal && (last == at.After ||
		slices.ContainsFunc(at.Marks, func(m mark) bool { return m.Cursor == last }))
	if p.Journal == 0 || !known || p.Next < last || len(p.Events) > pageEvents || p.More && p.Next == last && len(p.Late) == 0 {
		return errors.New("a part of its log that isn't one")
	}
	for i := range p.Events {
		if p.Events[i].Cursor <= last || p.Events[i].Cursor > p.Next {
			return errors.New("a part of its log in the wrong order")
		}
		last = p.Events[i].Cursor
	}
	for _, list := range [][]protocol.Event{p.Late, p.Events} {
		for i := range list {
			if err := list[i].Check(); err != nil {
				return err
			}
		}
	}
	for i := range p.Late {
		if _, asked := slices.BinarySearch(at.Open, p.Late[i].Cursor); !asked {
			return errors.New("an outcome that wasn't asked for")
		}
	}
	return nil
}
