package telemetry

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is one that redaction knows.
const secret = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"

const parentTrace, parentSpan = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

// oneTurn is a turn with a call that runs after you approved it, one that fails, and one
// that a guard denies.
func oneTurn(s *Service, at time.Time) {
	event1 := func(kind event.Kind, after time.Duration, call string) *event.Event {
		ev := &event.Event{ID: fmt.Sprint(kind, call), Time: at.Add(after), Agent: "claude", AgentVersion: "2.1", Kind: kind,
			Session: "session-1"}
		if call != "" {
			ev.Tool = &event.Tool{Name: "Bash", CallID: call, Input: json.RawMessage(`{"command":"echo ` + secret + `"}`)}
		}
		return ev
	}
	prompt := event1(event.TurnStart, 0, "")
	prompt.Prompt = "use " + secret
	s.Note(Call{Event: prompt, Took: time.Millisecond, Parent: "00-" + parentTrace + "-" + parentSpan + "-00"})
	s.NoteUse(Use{Agent: "claude", Session: "session-1", Model: "claude-opus-5-5", ID: "1", At: at.Add(time.Second), Input: 1000,
		CacheRead: 900, CacheWrite: 50, Output: 20, Dollars: 0.25, Priced: true})
	s.NoteUse(Use{Agent: "claude", Session: "session-1", Model: "claude-opus-5-5", ID: "1", At: at.Add(time.Second), Output: 30,
		Dollars: 0.5, Priced: true})

	s.Note(Call{Event: event1(event.ToolBefore, time.Second, "call-1"), Took: 21 * time.Second, Waited: 20 * time.Second,
		Ended: "answered", Decision: event.Decision{Verdict: event.Allow, By: "you"},
		Steps: []hook.Step{{Hook: "guard.destructive", Role: hook.Guard, Took: time.Millisecond}}})
	ran := event1(event.ToolAfter, 30*time.Second, "call-1")
	ran.Tool.Output = json.RawMessage(`{"stdout":"` + secret + `"}`)
	s.Note(Call{Event: ran})

	s.Note(Call{Event: event1(event.ToolBefore, 31*time.Second, "call-2"), Took: time.Millisecond,
		Steps: []hook.Step{{Hook: "mine", Role: hook.Guard, Took: time.Millisecond, Err: errors.New("no")}}})
	failed := event1(event.ToolAfter, 32*time.Second, "call-2")
	failed.Tool.Failed = true
	s.Note(Call{Event: failed})

	s.Note(Call{Event: event1(event.ToolBefore, 33*time.Second, "call-3"), Took: 2 * time.Millisecond,
		Decision: event.Decision{Verdict: event.Deny, By: "guard.destructive", Reason: "deletes " + secret},
		Steps:    []hook.Step{{Hook: "guard.destructive", Role: hook.Guard, Took: time.Millisecond, Verdict: event.Deny}}})
	done := event1(event.TurnEnd, 40*time.Second, "")
	done.Message = "done with " + secret
	s.Note(Call{Event: done})
}

func TestTurnArrives(t *testing.T) {
	c := newCollector(t)
	s, end := started(t, Settings{Endpoint: c.URL, Headers: "api-key=a%20b, x=y"}, nil)
	at := time.Now()
	oneTurn(s, at)
	end()
	if c.service != "hookmux" || c.headers.Get("api-key") != "a b" || c.headers.Get("x") != "y" {
		t.Errorf("service %q, headers %v", c.service, c.headers)
	}
	turn := c.span(t, "invoke_agent Claude Code")
	if fmt.Sprintf("%x %x", turn.TraceId, turn.ParentSpanId) != parentTrace+" "+parentSpan {
		t.Errorf("the turn isn't below the agent's own span: %x %x", turn.TraceId, turn.ParentSpanId)
	}
	for key, want := range map[string]any{"gen_ai.conversation.id": "session-1", "session.id": "session-1",
		"gen_ai.usage.input_tokens": int64(1000), "gen_ai.usage.output_tokens": int64(50),
		"gen_ai.usage.cache_read.input_tokens": int64(900), "gen_ai.usage.cache_creation.input_tokens": int64(50),
		"hookmux.cost.usd": 0.75, "hookmux.agent": "claude"} {
		if got := plain(find(turn.Attributes, key)); got != want {
			t.Errorf("%s of the turn is %v, want %v", key, got, want)
		}
	}
	if got := time.Duration(turn.EndTimeUnixNano - turn.StartTimeUnixNano); got != 40*time.Second {
		t.Errorf("the turn took %v", got)
	}
	calls := map[string]*tracepb.Span{}
	for _, one := range c.spans {
		if one.Name == "execute_tool Bash" {
			calls[find(one.Attributes, "gen_ai.tool.call.id").GetStringValue()] = one
		}
	}
	for id, want := range map[string]string{"call-1": "", "call-2": "failed", "call-3": "denied"} {
		one := calls[id]
		if one == nil || find(one.Attributes, "error.type").GetStringValue() != want || string(one.ParentSpanId) != string(turn.SpanId) ||
			(one.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR) != (want != "") {
			t.Errorf("%s: want error %q in\n%v", id, want, one)
		}
	}
	wait := c.span(t, "hookmux.wait")
	if got := time.Duration(wait.EndTimeUnixNano - wait.StartTimeUnixNano); got != 20*time.Second ||
		string(wait.ParentSpanId) != string(calls["call-1"].SpanId) {
		t.Errorf("waited %v below %x", got, wait.ParentSpanId)
	}
	evaluated := 0
	for _, one := range c.spans {
		if one.Name == "hookmux.evaluate" {
			evaluated++
		}
	}
	c.span(t, "hookmux.hook guard.destructive")
	if evaluated != 3 || len(c.logs) != 3 {
		t.Errorf("%d evaluations and %d decisions, want 3 and 3", evaluated, len(c.logs))
	}
	denied := c.logs[2]
	if denied.EventName != "hookmux.decision" || find(denied.Attributes, "hookmux.decision.verdict").GetStringValue() != "deny" ||
		find(denied.Attributes, "gen_ai.tool.call.id").GetStringValue() != "call-3" || denied.SeverityText != "WARN" ||
		string(denied.TraceId) != string(turn.TraceId) || string(denied.SpanId) != string(calls["call-3"].SpanId) {
		t.Errorf("the decision is\n%v", denied)
	}
	cost := c.metrics["hookmux.cost"].GetSum()
	if cost == nil || !cost.IsMonotonic || cost.DataPoints[0].GetAsDouble() != 0.75 {
		t.Errorf("cost is %v", cost)
	}
	for name, want := range map[string]uint64{"gen_ai.client.token.usage": 2, "gen_ai.invoke_agent.duration": 1,
		"gen_ai.execute_tool.duration": 3, "hookmux.decision.duration": 3, "hookmux.wait.duration": 1} {
		if got := countOf(c.metrics[name]); got != want {
			t.Errorf("%s has %d measurements, want %d", name, got, want)
		}
	}
	all := fmt.Sprint(c.spans, c.logs, c.metrics)
	for _, text := range []string{"ghp_", "echo", "deletes", "done with"} {
		if strings.Contains(all, text) {
			t.Errorf("%q is sent though content is off", text)
		}
	}
}

func TestContentIsRedacted(t *testing.T) {
	c := newCollector(t)
	s, end := started(t, Settings{Endpoint: c.URL, Content: true}, nil)
	oneTurn(s, time.Now())
	end()
	all := fmt.Sprint(c.spans, c.logs)
	if strings.Contains(all, secret) {
		t.Error("a secret is sent")
	}
	for _, text := range []string{"echo", "deletes", "done with", "stdout", `\"role\":\"user\"`} {
		if !strings.Contains(all, text) {
			t.Errorf("%q isn't sent though content is on", text)
		}
	}
	checkConventions(t, c)
}

// conventions are facts about the GenAI conventions at a commit.
type conventions struct {
	Spans map[string]struct {
		Operation, Kind, Name string
		Attributes            map[string]convention
	}
	Metrics map[string]struct {
		Instrument, Unit string
		Buckets          []float64
		Attributes       map[string]convention
	}
	Operations, Providers []string
}

type convention struct {
	Level, Type string
	Values      []string
}

func TestConventions(t *testing.T) {
	c := newCollector(t)
	s, end := started(t, Settings{Endpoint: c.URL}, nil)
	oneTurn(s, time.Now())
	end()
	checkConventions(t, c)
	for _, one := range providers {
		if got := providerOf("x/"+one.begins+"-1", ""); got != one.provider || !slices.Contains(readConventions(t).Providers, got) {
			t.Errorf("%s is of %q", one.begins, got)
		}
	}
}

func readConventions(t *testing.T) (conv conventions) {
	t.Helper()
	b, err := os.ReadFile("testdata/conventions.json")
	if err == nil {
		err = json.Unmarshal(b, &conv)
	}
	if err != nil {
		t.Fatal(err)
	}
	return conv
}

func checkConventions(t *testing.T, c *collector) {
	t.Helper()
	conv := readConventions(t)
	met := map[string]bool{}
	for _, one := range c.spans {
		operation := find(one.Attributes, "gen_ai.operation.name").GetStringValue()
		known := false
		for name, want := range conv.Spans {
			if want.Operation != operation {
				continue
			}
			known, met[name] = true, true
			title := want.Name
			for _, kv := range one.Attributes {
				title = strings.ReplaceAll(title, "{"+kv.Key+"}", kv.Value.GetStringValue())
			}
			if one.Name != title || one.Kind != tracepb.Span_SPAN_KIND_INTERNAL || want.Kind != "internal" {
				t.Errorf("%s %v, want %s %s", one.Name, one.Kind, title, want.Kind)
			}
			failed := one.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR
			checkAttributes(t, name, one.Attributes, want.Attributes, failed)
		}
		if !known {
			for _, kv := range one.Attributes {
				if strings.HasPrefix(kv.Key, "gen_ai.") {
					t.Errorf("%s isn't of the conventions and has %s", one.Name, kv.Key)
				}
			}
		}
		if operation != "" && !slices.Contains(conv.Operations, operation) {
			t.Errorf("%q is no operation", operation)
		}
	}
	for name, m := range c.metrics {
		want, known := conv.Metrics[name]
		if !known {
			if strings.HasPrefix(name, "gen_ai.") {
				t.Errorf("%s isn't in the conventions", name)
			}
			continue
		}
		met[name] = true
		h := m.GetHistogram()
		if h == nil || m.Unit != want.Unit || want.Instrument != "histogram" {
			t.Errorf("%s is a %T in %q", name, m.Data, m.Unit)
			continue
		}
		for _, p := range h.DataPoints {
			if diff := cmp.Diff(want.Buckets, p.ExplicitBounds); diff != "" {
				t.Errorf("buckets of %s: %s", name, diff)
			}
			checkAttributes(t, name, p.Attributes, want.Attributes, find(p.Attributes, "error.type") != nil)
		}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(conv.Spans)), slices.Collect(maps.Keys(conv.Metrics))) {
		if !met[name] {
			t.Errorf("no %s was sent", name)
		}
	}
}

func checkAttributes(t *testing.T, where string, list []*commonpb.KeyValue, want map[string]convention, failed bool) {
	t.Helper()
	for _, kv := range list {
		is, known := want[kv.Key]
		if !known {
			if !strings.HasPrefix(kv.Key, "hookmux.") && kv.Key != "session.id" {
				t.Errorf("%s has %s, which the conventions don't", where, kv.Key)
			}
			continue
		}
		kind := map[string]string{"*v1.AnyValue_StringValue": "string", "*v1.AnyValue_IntValue": "int",
			"*v1.AnyValue_DoubleValue": "double"}[fmt.Sprintf("%T", kv.Value.Value)]
		if kind != is.Type && is.Type != "any" {
			t.Errorf("%s of %s is a %q, want %q", kv.Key, where, kind, is.Type)
		}
		if is.Values != nil && !slices.Contains(is.Values, kv.Value.GetStringValue()) {
			t.Errorf("%s of %s is %v, want one of %q", kv.Key, where, kv.Value, is.Values)
		}
	}
	for key, is := range want {
		if (is.Level == "required" || is.Level == "on_error" && failed) && find(list, key) == nil {
			t.Errorf("%s lacks %s", where, key)
		}
	}
}

func plain(v *commonpb.AnyValue) any {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_IntValue:
		return v.IntValue
	case *commonpb.AnyValue_DoubleValue:
		return v.DoubleValue
	}
	return nil
}

func countOf(m *metricspb.Metric) (n uint64) {
	for _, p := range m.GetHistogram().GetDataPoints() {
		n += p.Count
	}
	return n
}

// away is a collector that can't be reached, and later can.
type away struct {
	tries atomic.Int64
	back  atomic.Bool
}

func (a *away) RoundTrip(r *http.Request) (*http.Response, error) {
	a.tries.Add(1)
	if !a.back.Load() {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

// For an hour of a busy day nothing arrives: memory is bounded, what is dropped is
// counted, tries get rarer, and afterwards the newest arrives.
func TestCollectorAwayForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := &away{}
		s, end := started(t, Settings{Endpoint: "http://collector", Content: true}, network)
		long := json.RawMessage(`{"text":"` + strings.Repeat("word ", 4000) + `"}`)
		const each = 5 // calls a second
		var after10, after60 uint64
		for second := range 3600 {
			for i := range each {
				at := time.Now()
				ev := &event.Event{ID: fmt.Sprint(second, i), Time: at, Agent: "claude", Kind: event.ToolBefore,
					Session: fmt.Sprint("session", second/60), Tool: &event.Tool{Name: "Bash", CallID: fmt.Sprint(second, "-", i), Input: long}}
				s.Note(Call{Event: ev, Took: time.Millisecond, Steps: []hook.Step{{Hook: "guard.destructive", Role: hook.Guard, Verdict: event.Deny}},
					Decision: event.Decision{Verdict: event.Deny, By: "guard.destructive", Reason: "no"}})
				s.NoteUse(Use{Agent: "claude", Session: ev.Session, Model: fmt.Sprint("model", i), ID: ev.ID, At: at, Input: 1})
			}
			time.Sleep(time.Second)
			switch second {
			case 600:
				after10 = heap()
			case 3599:
				after60 = heap()
			}
		}
		info := s.Info()
		made := int64(3600 * each * 4) // a tool span, an evaluation, a hook's span, a record
		if total := info.Dropped + int64(info.Queued); total < made-3*maxQueued || total > made || info.Sent != 0 || info.Problem == "" {
			t.Errorf("%+v of %d", info, made)
		}
		if info.Queued > 2*maxQueued {
			t.Errorf("%d wait", info.Queued)
		}
		if after60 > after10+8<<20 {
			t.Errorf("the heap grew from %d to %d MB", after10>>20, after60>>20)
		}
		if n := network.tries.Load(); n < 50 || n > 150 {
			t.Errorf("%d tries in an hour", n)
		}
		if list := s.o.Deps.Problems.All(); len(list) != 1 || !strings.Contains(list[0].What, "connection refused") {
			t.Errorf("problems: %v", list)
		}
		network.back.Store(true)
		time.Sleep(2 * longestRetry)
		if now := s.Info(); now.Queued != 0 || now.Sent < maxQueued || now.Problem != "" || len(s.o.Deps.Problems.All()) != 0 {
			t.Errorf("after it came back: %+v", now)
		}
		end()
	})
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// What a collector refuses for good is dropped and counted, and so is what it leaves out.
func TestRefusedByTheCollector(t *testing.T) {
	for name, set := range map[string]func(c *collector){
		"bad request": func(c *collector) { c.status = http.StatusBadRequest },
		"in part":     func(c *collector) { c.reject = 3 },
	} {
		c := newCollector(t)
		set(c)
		s, end := started(t, Settings{Endpoint: c.URL}, nil)
		oneTurn(s, time.Now())
		r := s.running.Load()
		end()
		if info := r.sender.info(); info.Dropped == 0 || info.Queued != 0 || name == "in part" && info.Dropped != 6 {
			t.Errorf("%s: %+v", name, info)
		}
	}
}

func TestOffKeepsNothing(t *testing.T) {
	s := New(Options{Deps: testDeps(), Settings: func() Settings { return Settings{} }})
	ev := &event.Event{Agent: "claude", Kind: event.TurnStart}
	if n := testing.AllocsPerRun(100, func() { s.Note(Call{Event: ev}); s.NoteUse(Use{}) }); n != 0 || s.Wanted() || s.Info() != nil {
		t.Errorf("%v allocations", n)
	}
}

func TestSettingsChange(t *testing.T) {
	first, second := newCollector(t), newCollector(t)
	var settings atomic.Pointer[Settings]
	settings.Store(&Settings{Endpoint: first.URL})
	s := New(Options{Deps: testDeps(), Settings: func() Settings { return *settings.Load() }})
	done := make(chan struct{})
	go func() { defer close(done); s.Run(t.Context()) }()
	t.Cleanup(func() { <-done })
	until := func(what func() bool) {
		for !what() {
			runtime.Gosched()
		}
	}
	until(s.Wanted)
	oneTurn(s, time.Now())
	settings.Store(&Settings{Endpoint: second.URL})
	s.ReadSettings()
	until(func() bool { r := s.running.Load(); return r != nil && r.settings.Endpoint == second.URL })
	oneTurn(s, time.Now())
	settings.Store(&Settings{})
	s.ReadSettings()
	until(func() bool { return !s.Wanted() })
	first.span(t, "invoke_agent Claude Code")
	for len(second.came) < 3 { // spans, records, metrics
		runtime.Gosched()
	}
	second.span(t, "invoke_agent Claude Code")
}
