// Package telemetry sends what agents did, and what was decided about it, to an OpenTelemetry
// collector: spans for turns, tool calls, evaluations and the time spent waiting for you, a log
// record for each decision, and metrics for tokens, cost and durations.
//
//   - telemetry.go  the service: what it is called with, its settings, its goroutines
//   - tracker.go    calls and usage become spans, log records and measurements
//   - names.go      names of attributes and instruments
//   - queue.go      what waits to be sent; it's bounded, and counts what it drops
//   - sender.go     sends it, retrying while the collector is away
//   - otlp.go       log records and metrics in OTLP's form
//
// Contract: nothing here delays an answer, and nothing runs or is kept while there's no
// endpoint. Texts of prompts and calls are left out unless you ask for them, and redacted then.
package telemetry

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Options configures the service.
type Options struct {
	Deps    services.Deps
	Version string
	// Settings are those in force.
	Settings func() Settings
	// Transport sends requests; nil: the system's network.
	Transport http.RoundTripper
}

// Settings say where telemetry goes.
type Settings struct {
	Endpoint string // "" is off
	Headers  string // name=value, divided by commas
	Content  bool   // texts of prompts, calls and results too
}

// Call is one answered hook call.
type Call struct {
	Event    *event.Event
	Took     time.Duration // until the answer
	Decision event.Decision
	Steps    []hook.Step
	// Waited is how long the call waited for you, Ended how that ended; "" if no one was asked.
	Waited time.Duration
	Ended  string
	// Parent is the agent's own trace context (TRACEPARENT).
	Parent string
}

// Use holds what a model call used in addition to what was reported of it before.
type Use struct {
	Agent, Session, Model string
	ID                    string // of the model call
	At                    time.Time
	Input, Output         int64 // the input with what was read from and written to the cache
	CacheRead, CacheWrite int64
	Dollars               float64
	Priced                bool
}

// Service is the service.
type Service struct {
	o       Options
	changed chan struct{}
	running atomic.Pointer[run]
}

// run exists while there's an endpoint.
type run struct {
	settings Settings
	heard    chan func(*tracker)
	unheard  atomic.Int64 // what came too fast
	sender   *sender
}

// maxHeard is how much waits for the tracker, which is quick.
const maxHeard = 1024

// New returns the service. Nothing is sent before Run.
func New(o Options) *Service {
	return &Service{o: o, changed: make(chan struct{}, 1)}
}

// ReadSettings is called when settings changed.
func (s *Service) ReadSettings() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Wanted reports whether calls are heard.
func (s *Service) Wanted() bool { return s.running.Load() != nil }

// Note records a call. It never waits.
func (s *Service) Note(c Call) {
	r := s.running.Load()
	if r == nil {
		return
	}
	kept := c // c itself stays off the heap while telemetry is off
	kept.Event = slim(c.Event, r.settings.Content)
	r.hear(func(t *tracker) { t.noteCall(&kept) })
}

// NoteUse records what was used. It never waits.
func (s *Service) NoteUse(u Use) {
	if r := s.running.Load(); r != nil {
		kept := u
		r.hear(func(t *tracker) { t.noteUse(&kept) })
	}
}

func (r *run) hear(what func(*tracker)) {
	select {
	case r.heard <- what:
	default:
		r.unheard.Add(1)
	}
}

// slim returns an event without what isn't sent: payloads may be long.
func slim(ev *event.Event, content bool) *event.Event {
	short := event.Event{
		ID: ev.ID, Time: ev.Time, Agent: ev.Agent, AgentVersion: ev.AgentVersion, Kind: ev.Kind, Native: ev.Native,
		Session: ev.Session, Turn: ev.Turn, Model: ev.Model, Subagent: ev.Subagent, Interrupted: ev.Interrupted, Error: ev.Error,
		Background: ev.Background,
	}
	if ev.Tool != nil {
		short.Tool = &event.Tool{Name: ev.Tool.Name, Kind: ev.Tool.Kind, CallID: ev.Tool.CallID, Failed: ev.Tool.Failed,
			Duration: ev.Tool.Duration, MCP: ev.Tool.MCP}
	}
	if content {
		short.Prompt, short.Message = cut(ev.Prompt), cut(ev.Message)
		if ev.Tool != nil {
			short.Tool.Input, short.Tool.Output = cutJSON(ev.Tool.Input), cutJSON(ev.Tool.Output)
		}
	}
	return &short
}

// maxText is how much of a text is sent at most; it's redacted from a longer piece, so
// that no secret is cut in two.
const maxText, maxRaw = 4 << 10, 64 << 10

func cut(text string) string {
	if len(text) > maxRaw {
		return strings.Clone(text[:maxRaw])
	}
	return text
}

// cutJSON leaves out what is too long: a part of it is no JSON.
func cutJSON(text json.RawMessage) json.RawMessage {
	if len(text) > maxRaw {
		return nil
	}
	return slices.Clone(text)
}

// Run receives and sends until ctx ends.
func (s *Service) Run(ctx context.Context) {
	for ctx.Err() == nil {
		settings := s.o.Settings()
		if settings.Endpoint == "" {
			s.o.Deps.Problems.Clear(problemKey)
			select {
			case <-s.changed:
			case <-ctx.Done():
			}
			continue
		}
		s.runWith(ctx, settings)
	}
}

// settleEvery is how often the tracker looks for what is complete.
const settleEvery = time.Second

// runWith receives and sends until the settings change.
func (s *Service) runWith(ctx context.Context, settings Settings) {
	r := &run{settings: settings, heard: make(chan func(*tracker), maxHeard)}
	r.sender = newSender(s.o, settings)
	t := newTracker(s.o, settings, r.sender)
	sending, stop := context.WithCancel(ctx)
	var background services.Background
	background.Go(func() { r.sender.run(sending) })
	s.running.Store(r)
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for going := true; going; {
		select {
		case what := <-r.heard:
			what(t)
		case now := <-tick.C:
			t.settle(now)
			r.sender.queue.drop(&r.unheard)
		case <-s.changed:
			going = s.o.Settings() == settings
		case <-ctx.Done():
			going = false
		}
	}
	s.running.Store(nil)
	for len(r.heard) > 0 { // from here on only calls that had already begun add to it
		(<-r.heard)(t)
	}
	t.end()
	stop()
	background.Wait(context.Background())
	last, enough := context.WithTimeout(context.WithoutCancel(ctx), lastSend)
	defer enough()
	r.sender.sendRest(last)
	t.close()
}

// lastSend bounds how long a daemon that ends, or settings that change, wait for the
// collector.
const lastSend = time.Second

// Info describes how sending goes; nil while it's off.
func (s *Service) Info() *wire.TelemetryInfo {
	r := s.running.Load()
	if r == nil {
		return nil
	}
	return r.sender.info()
}

// LongMethods returns what programs can ask.
func (s *Service) LongMethods() map[string]services.LongMethod {
	return map[string]services.LongMethod{wire.MethodTelemetryCheck: s.checkMethod}
}

// checkWithin bounds how long the collector may take to answer a check.
const checkWithin = 5 * time.Second

// checkMethod sends nothing to the collector and returns how it answers.
func (s *Service) checkMethod(ctx context.Context, _ json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	settings := s.o.Settings()
	if settings.Endpoint == "" {
		return wire.TelemetryCheck{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	check := wire.TelemetryCheck{Endpoint: shownEndpoint(settings.Endpoint)}
	sender := newSender(s.o, settings)
	defer sender.close()
	if err := sender.check(ctx); err != nil {
		check.Problem = err.Error()
	}
	return check, nil
}
