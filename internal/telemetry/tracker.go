package telemetry

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/log"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/services"
)

// Bounds of what the tracker remembers.
const (
	maxTurns  = 512  // turns that run, or ended a moment ago
	maxTools  = 1024 // calls that run
	maxModels = 1024 // model calls that may still get larger
	// maxSeries is how many combinations of attributes an instrument has; what is beyond
	// them is added up in one.
	maxSeries = 1000
	// settled is how long after its end a turn, and after its last change a model call,
	// may still get larger: agents write down what they used a moment later.
	settled = 5 * time.Second
)

// scope is the name of what makes the telemetry.
const scope = "github.com/hookmux/hookmux"

// tracker turns what it is called with into telemetry. One goroutine uses it.
type tracker struct {
	deps    services.Deps
	content bool
	began   time.Time

	traces  *sdktrace.TracerProvider
	logs    *sdklog.LoggerProvider
	meters  *sdkmetric.MeterProvider
	tracer  trace.Tracer
	logger  log.Logger
	tokens  metric.Int64Histogram
	turned  metric.Float64Histogram
	ran     metric.Float64Histogram
	decided metric.Float64Histogram
	waited  metric.Float64Histogram
	cost    metric.Float64Counter

	turns  bounded.Map[place, *turn]
	ended  []*turn // that may still get usage
	tools  bounded.Map[toolKey, *tool]
	models bounded.Map[string, *modelCall]
}

// place is a session.
type place struct{ agent, session string }

type toolKey struct {
	place
	call string // the tool's name where calls have no id
}

// turn is a turn of a session, from a prompt to its end.
type turn struct {
	place
	ctx      context.Context
	span     trace.Span
	began    time.Time
	end      time.Time
	endedAt  time.Time // when it was received
	model    string    // as the agent named it, or the last one on record
	used     Use
	unpriced int64
}

type tool struct {
	span  trace.Span
	ctx   context.Context
	began time.Time
	base  []attribute.KeyValue // what its metric has, too
}

// modelCall holds what a model call used since it was measured last.
type modelCall struct {
	use     Use
	changed time.Time
}

func newTracker(o Options, settings Settings, s *sender) *tracker {
	res := resource.NewSchemaless(attribute.String("service.name", "hookmux"), attribute.String("service.version", o.Version))
	t := &tracker{
		deps: o.Deps, content: settings.Content, began: time.Now(),
		// What an agent doesn't sample, it doesn't send; that decides nothing about what is sent here.
		traces: sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithSpanProcessor(s.queue),
			sdktrace.WithSampler(sdktrace.AlwaysSample())),
		logs: sdklog.NewLoggerProvider(sdklog.WithResource(res), sdklog.WithProcessor(logQueue{s.queue})),
		meters: sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithReader(s.metrics),
			sdkmetric.WithCardinalityLimit(maxSeries), sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter)),
	}
	t.tracer = t.traces.Tracer(scope, trace.WithInstrumentationVersion(o.Version))
	t.logger = t.logs.Logger(scope, log.WithInstrumentationVersion(o.Version))
	m := t.meters.Meter(scope, metric.WithInstrumentationVersion(o.Version))
	seconds := func(name, what string, buckets []float64) metric.Float64Histogram {
		h, _ := m.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what),
			metric.WithExplicitBucketBoundaries(buckets...)) // it fails for names that are none
		return h
	}
	t.tokens, _ = m.Int64Histogram(tokenUsage, metric.WithUnit("{token}"),
		metric.WithDescription("Number of input and output tokens used."), metric.WithExplicitBucketBoundaries(tokenBuckets...))
	t.cost, _ = m.Float64Counter(costCounter, metric.WithUnit("USD"),
		metric.WithDescription("What model calls cost at list price, where the model has one."))
	t.turned = seconds(agentDuration, "The duration of a turn.", agentBuckets)
	t.ran = seconds(toolDuration, "The duration of a tool call.", toolBuckets)
	t.decided = seconds(decisionHistogram, "How long guards, rules and hooks took to decide.", quickBuckets)
	t.waited = seconds(waitHistogram, "How long an agent waited for you.", waitBuckets)
	return t
}

// noteCall handles an answered hook call.
func (t *tracker) noteCall(c *Call) {
	ev := c.Event
	where := place{ev.Agent, ev.Session}
	var in context.Context
	switch ev.Kind {
	case event.TurnStart:
		in = t.beginTurn(where, c)
	case event.ToolBefore:
		in = t.beginTool(where, c)
	default:
		in = t.contextOf(where, ev)
	}
	t.decision(in, c)
	switch ev.Kind {
	case event.ToolAfter:
		t.endTool(where, ev)
	case event.ToolBefore, event.PermissionRequest:
		if c.Decision.Verdict == event.Deny && ev.Tool != nil {
			t.closeTool(keyOf(where, ev), ev.Time.Add(c.Took), errDenied)
		}
	case event.TurnStart:
		if c.Decision.Verdict == event.Deny {
			t.endTurn(where, ev.Time.Add(c.Took), errDenied)
		}
	case event.TurnEnd:
		if c.Decision.KeepGoing || ev.Background > 0 || ev.Subagent != nil {
			return // it goes on
		}
		if turn, ok := t.turns.Get(where); ok && t.content && ev.Message != "" {
			turn.span.SetAttributes(outputMessages.String(t.message("assistant", ev.Message)))
		}
		t.endTurn(where, ev.Time, endOf(ev))
	case event.SessionEnd:
		t.endTurn(where, ev.Time, errUnfinished)
	}
}

// endOf returns the kind of error a turn ended with.
func endOf(ev *event.Event) string {
	switch {
	case ev.Interrupted:
		return errInterrupted
	case ev.Error != "":
		return errFailed
	}
	return ""
}

// contextOf returns the span that something belongs to: its tool call, or else its turn.
func (t *tracker) contextOf(where place, ev *event.Event) context.Context {
	if ev.Tool != nil {
		if one, ok := t.tools.Get(keyOf(where, ev)); ok {
			return one.ctx
		}
	}
	if one, ok := t.turns.Get(where); ok {
		return one.ctx
	}
	return context.Background()
}

func keyOf(where place, ev *event.Event) toolKey {
	if ev.Tool.CallID != "" {
		return toolKey{where, ev.Tool.CallID}
	}
	return toolKey{where, "\x00" + ev.Tool.Name}
}

// withParent returns ctx with the agent's own span, if it reported one. A span of the same trace
// that is known here is closer.
func withParent(ctx context.Context, parent string) context.Context {
	if parent == "" {
		return ctx
	}
	theirs := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": parent})
	if told := trace.SpanContextFromContext(theirs); !told.IsValid() ||
		told.TraceID() == trace.SpanContextFromContext(ctx).TraceID() {
		return ctx
	}
	return theirs
}

func (t *tracker) beginTurn(where place, c *Call) context.Context {
	ev := c.Event
	t.endTurn(where, ev.Time, errUnfinished)
	attributes := append(t.common(ev), operationName.String(invokeAgent), agentName.String(t.title(ev.Agent)))
	if ev.Session != "" {
		attributes = append(attributes, conversationID.String(t.text(ev.Session)))
	}
	if t.content && ev.Prompt != "" {
		attributes = append(attributes, inputMessages.String(t.message("user", ev.Prompt)))
	}
	one := &turn{place: where, began: ev.Time, model: ev.Model}
	one.ctx, one.span = t.tracer.Start(withParent(context.Background(), c.Parent), invokeAgent+" "+t.title(ev.Agent),
		trace.WithTimestamp(ev.Time), trace.WithAttributes(attributes...))
	if _, old, full := t.turns.Put(where, one, maxTurns); full {
		t.finishTurn(old, ev.Time, errUnfinished)
	}
	return one.ctx
}

// endTurn ends the turn of a session, which may get usage for a moment.
func (t *tracker) endTurn(where place, at time.Time, failure string) {
	if one, ok := t.turns.Get(where); ok {
		t.turns.Delete(where)
		t.finishTurn(one, at, failure)
	}
}

func (t *tracker) finishTurn(one *turn, at time.Time, failure string) {
	for key := range t.tools.All() {
		if key.place == one.place {
			t.closeTool(key, at, errUnfinished)
		}
	}
	one.end, one.endedAt = at, time.Now()
	set := []attribute.KeyValue{agentName.String(t.title(one.agent))}
	if one.model != "" {
		set = append(set, requestModel.String(t.text(one.model)))
	}
	if failure != "" {
		one.span.SetStatus(codes.Error, failure)
		one.span.SetAttributes(errorType.String(failure))
		set = append(set, errorType.String(failure))
	}
	t.turned.Record(context.Background(), at.Sub(one.began).Seconds(), metric.WithAttributes(set...))
	if t.ended = append(t.ended, one); len(t.ended) > maxTurns {
		t.sendTurn(t.ended[0])
		t.ended = t.ended[1:]
	}
}

// sendTurn ends the span of a turn, with what it used.
func (t *tracker) sendTurn(one *turn) {
	if u := &one.used; u.Input+u.Output > 0 {
		one.span.SetAttributes(inputTokens.Int64(u.Input), outputTokens.Int64(u.Output), cacheRead.Int64(u.CacheRead),
			cacheCreation.Int64(u.CacheWrite))
		if u.Priced {
			one.span.SetAttributes(ownCost.Float64(u.Dollars))
		}
		if one.unpriced > 0 {
			one.span.SetAttributes(ownUnpriced.Int64(one.unpriced))
		}
	}
	if one.model != "" {
		one.span.SetAttributes(requestModel.String(t.text(one.model)))
	}
	one.span.End(trace.WithTimestamp(one.end))
}

func (t *tracker) beginTool(where place, c *Call) context.Context {
	ev := c.Event
	if ev.Tool == nil {
		return t.contextOf(where, ev)
	}
	key := keyOf(where, ev)
	if one, ok := t.tools.Get(key); ok && ev.Tool.CallID != "" {
		return one.ctx // reported twice
	}
	t.closeTool(key, ev.Time, errUnfinished)
	base := []attribute.KeyValue{toolName.String(t.text(ev.Tool.Name)), toolType.String("function"),
		agentName.String(t.title(ev.Agent))}
	attributes := append(append(t.common(ev), operationName.String(executeTool)), base...)
	if ev.Tool.CallID != "" {
		attributes = append(attributes, toolCallID.String(t.text(ev.Tool.CallID)))
	}
	if t.content && len(ev.Tool.Input) > 0 {
		attributes = append(attributes, toolArguments.String(t.json(ev.Tool.Input)))
	}
	parent := context.Background()
	if turn, ok := t.turns.Get(where); ok {
		parent = turn.ctx
	}
	one := &tool{began: ev.Time, base: base}
	one.ctx, one.span = t.tracer.Start(withParent(parent, c.Parent), executeTool+" "+t.text(ev.Tool.Name),
		trace.WithTimestamp(ev.Time), trace.WithAttributes(attributes...))
	if _, dropped, full := t.tools.Put(key, one, maxTools); full {
		t.finishTool(dropped, ev.Time, errUnfinished)
	}
	return one.ctx
}

func (t *tracker) endTool(where place, ev *event.Event) {
	if ev.Tool == nil {
		return
	}
	key := keyOf(where, ev)
	if one, ok := t.tools.Get(key); ok && t.content && len(ev.Tool.Output) > 0 {
		one.span.SetAttributes(toolResult.String(t.json(ev.Tool.Output)))
	}
	failure := ""
	switch {
	case ev.Interrupted:
		failure = errInterrupted
	case ev.Tool.Failed:
		failure = errFailed
	}
	t.closeTool(key, ev.Time, failure)
}

func (t *tracker) closeTool(key toolKey, at time.Time, failure string) {
	if one, ok := t.tools.Get(key); ok {
		t.tools.Delete(key)
		t.finishTool(one, at, failure)
	}
}

func (t *tracker) finishTool(one *tool, at time.Time, failure string) {
	set := one.base
	if failure != "" {
		one.span.SetStatus(codes.Error, failure)
		one.span.SetAttributes(errorType.String(failure))
		set = append(set[:len(set):len(set)], errorType.String(failure))
	}
	t.ran.Record(context.Background(), at.Sub(one.began).Seconds(), metric.WithAttributes(set...))
	one.span.End(trace.WithTimestamp(at))
}

// decision creates spans for what hooks did and for the time spent waiting for you, and a log
// record of what was decided.
func (t *tracker) decision(in context.Context, c *Call) {
	ev := c.Event
	spoke := c.Decision.Verdict != event.None || c.Ended != ""
	for i := range c.Steps {
		spoke = spoke || c.Steps[i].Err != nil || c.Steps[i].Would != nil
	}
	if !spoke && !ev.Kind.Guarded() {
		return
	}
	thinking := c.Took - c.Waited
	agent := ownAgent.String(ev.Agent)
	verdict := ownVerdict.String(c.Decision.Verdict.Word())
	if len(c.Steps) > 0 {
		t.decided.Record(in, thinking.Seconds(), metric.WithAttributes(agent, verdict))
		t.evaluation(in, c, thinking)
	}
	if c.Ended != "" {
		end := ownEnd.String(c.Ended)
		t.waited.Record(in, c.Waited.Seconds(), metric.WithAttributes(agent, end))
		_, span := t.tracer.Start(in, "hookmux.wait", trace.WithTimestamp(ev.Time.Add(thinking)),
			trace.WithAttributes(append(t.common(ev), end, verdict)...))
		span.End(trace.WithTimestamp(ev.Time.Add(c.Took)))
	}
	if !spoke {
		return
	}
	var r log.Record
	r.SetEventName("hookmux.decision")
	r.SetTimestamp(ev.Time.Add(c.Took))
	r.SetObservedTimestamp(time.Now())
	r.SetSeverity(log.SeverityInfo)
	if c.Decision.Verdict == event.Deny {
		r.SetSeverity(log.SeverityWarn)
	}
	r.SetSeverityText(r.Severity().String())
	r.AddAttributes(t.common(ev)...)
	r.AddAttributes(verdict, agentName.String(t.title(ev.Agent)), ownTook.Float64(c.Took.Seconds()))
	if c.Decision.By != "" {
		r.AddAttributes(ownBy.String(t.text(c.Decision.By)))
	}
	if ev.Session != "" {
		r.AddAttributes(conversationID.String(t.text(ev.Session)))
	}
	if ev.Tool != nil {
		r.AddAttributes(toolName.String(t.text(ev.Tool.Name)))
		if ev.Tool.CallID != "" {
			r.AddAttributes(toolCallID.String(t.text(ev.Tool.CallID)))
		}
	}
	if c.Ended != "" {
		r.AddAttributes(ownEnd.String(c.Ended), ownWaited.Float64(c.Waited.Seconds()))
	}
	if t.content && c.Decision.Reason != "" {
		r.AddAttributes(ownReason.String(t.text(c.Decision.Reason)))
	}
	t.logger.Emit(in, r)
}

// slowStep is how long a hook takes that is worth a span though it had nothing to say.
const slowStep = time.Millisecond

// evaluation adds a span for the guards, rules and hooks that an event was shown to, with
// one in it for each that spoke, failed or was slow. They run one after the other.
func (t *tracker) evaluation(in context.Context, c *Call, thinking time.Duration) {
	ev := c.Event
	ctx, span := t.tracer.Start(in, "hookmux.evaluate", trace.WithTimestamp(ev.Time),
		trace.WithAttributes(append(t.common(ev), ownVerdict.String(c.Decision.Verdict.Word()))...))
	if c.Decision.By != "" {
		span.SetAttributes(ownBy.String(t.text(c.Decision.By)))
	}
	var all time.Duration
	for i := range c.Steps {
		all += c.Steps[i].Took
	}
	at := ev.Time.Add(max(0, thinking-all)) // what comes before them is hookmux's own
	for i := range c.Steps {
		if s := &c.Steps[i]; s.Verdict != event.None || s.Err != nil || s.Would != nil || s.Took >= slowStep {
			t.step(ctx, s, at)
		}
		at = at.Add(c.Steps[i].Took)
	}
	span.End(trace.WithTimestamp(ev.Time.Add(thinking)))
}

func (t *tracker) step(ctx context.Context, s *hook.Step, at time.Time) {
	_, span := t.tracer.Start(ctx, "hookmux.hook "+t.text(s.Hook), trace.WithTimestamp(at), trace.WithAttributes(
		ownHook.String(t.text(s.Hook)), ownMode.String(string(s.Role)), ownVerdict.String(s.Verdict.Word())))
	if s.Err != nil {
		span.SetStatus(codes.Error, "the hook failed")
		span.SetAttributes(errorType.String(errFailed))
	}
	span.End(trace.WithTimestamp(at.Add(s.Took)))
}

// noteUse handles what a model call used. What is older than this run of telemetry is history
// that is read for the first time.
func (t *tracker) noteUse(u *Use) {
	if u.At.Before(t.began) {
		return
	}
	one, ok := t.models.Get(u.ID)
	if !ok {
		one = &modelCall{}
		if _, old, full := t.models.Put(u.ID, one, maxModels); full {
			t.measure(old)
		}
	}
	one.use.add(u)
	one.changed = time.Now()
	where := place{u.Agent, u.Session}
	turn, ok := t.turns.Get(where)
	if !ok || u.At.Before(turn.began) {
		turn = t.endedTurn(where, u.At)
	}
	if turn != nil {
		turn.used.add(u)
		turn.model = cmp.Or(u.Model, turn.model)
		if !u.Priced {
			turn.unpriced += u.Input + u.Output
		}
	}
}

// endedTurn returns the turn of a session that a moment is in, if it ended a moment ago.
func (t *tracker) endedTurn(where place, at time.Time) *turn {
	for _, one := range t.ended {
		if one.place == where && !at.Before(one.began) && !at.After(one.end.Add(settled)) {
			return one
		}
	}
	return nil
}

func (u *Use) add(o *Use) {
	u.Agent, u.Session, u.Model = o.Agent, o.Session, o.Model
	u.Input += o.Input
	u.Output += o.Output
	u.CacheRead += o.CacheRead
	u.CacheWrite += o.CacheWrite
	u.Dollars += o.Dollars
	u.Priced = u.Priced || o.Priced
}

// measure measures a model call that is complete.
func (t *tracker) measure(one *modelCall) {
	u := &one.use
	model := t.text(u.Model)
	set := []attribute.KeyValue{operationName.String(chat), providerName.String(providerOf(model, u.Agent)), ownAgent.String(u.Agent)}
	if model != "" {
		set = append(set, requestModel.String(model))
	}
	for _, each := range []struct {
		kind string
		n    int64
	}{{"input", u.Input}, {"output", u.Output}} {
		if each.n > 0 {
			t.tokens.Record(context.Background(), each.n,
				metric.WithAttributes(append(set[:len(set):len(set)], tokenType.String(each.kind))...))
		}
	}
	if u.Priced {
		t.cost.Add(context.Background(), u.Dollars, metric.WithAttributes(ownAgent.String(u.Agent), requestModel.String(model)))
	}
}

// settle sends turns and measures model calls that don't get larger any more.
func (t *tracker) settle(now time.Time) {
	for len(t.ended) > 0 && now.Sub(t.ended[0].endedAt) >= settled {
		t.sendTurn(t.ended[0])
		t.ended = t.ended[1:]
	}
	for id, one := range t.models.All() {
		if now.Sub(one.changed) >= settled {
			t.measure(one)
			t.models.Delete(id)
		}
	}
}

// end sends what there is.
func (t *tracker) end() {
	for _, one := range t.ended {
		t.sendTurn(one)
	}
	for _, one := range t.models.All() {
		t.measure(one)
	}
	for _, one := range t.tools.All() {
		t.finishTool(one, time.Now(), errUnfinished)
	}
	for _, one := range t.turns.All() {
		one.end = time.Now()
		one.span.SetAttributes(errorType.String(errUnfinished))
		t.sendTurn(one)
	}
}

// close ends the SDK, which has nothing left.
func (t *tracker) close() {
	_ = t.traces.Shutdown(context.Background())
	_ = t.logs.Shutdown(context.Background())
	_ = t.meters.Shutdown(context.Background())
}

// common returns the attributes of everything about an event.
func (t *tracker) common(ev *event.Event) []attribute.KeyValue {
	list := make([]attribute.KeyValue, 0, 12)
	list = append(list, ownAgent.String(ev.Agent), ownEvent.String(ev.ID), ownKind.String(string(ev.Kind)))
	if ev.Session != "" {
		list = append(list, sessionID.String(t.text(ev.Session)))
	}
	if ev.AgentVersion != "" {
		list = append(list, ownVersion.String(t.text(ev.AgentVersion)))
	}
	if ev.Subagent != nil && ev.Subagent.Type != "" {
		list = append(list, ownSubagent.String(t.text(ev.Subagent.Type)))
	}
	return list
}

// title returns an agent's name for display.
func (t *tracker) title(agent string) string {
	if a, ok := t.deps.Catalogue.Agent(agent); ok && a.Title != "" {
		return a.Title
	}
	return agent
}

// longestName is how long a name of a tool, a session or a model is at most.
const longestName = 256

// text returns a name that comes from outside.
func (t *tracker) text(name string) string {
	return t.deps.Redactor.Text(termsafe.CutMarked(name, longestName))
}

// json is JSON without secrets.
func (t *tracker) json(text json.RawMessage) string {
	clean, _ := t.deps.Redactor.AppendJSON(nil, text, redact.DefaultLimits())
	return termsafe.CutMarked(string(clean), maxText)
}

// message returns one message in the form of the conventions, without secrets.
func (t *tracker) message(role, text string) string {
	type part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	message := struct {
		Role   string `json:"role"`
		Parts  []part `json:"parts"`
		Finish string `json:"finish_reason,omitempty"`
	}{Role: role, Parts: []part{{"text", termsafe.CutMarked(t.deps.Redactor.Text(text), maxText)}}}
	if role == "assistant" {
		message.Finish = "stop"
	}
	out, _ := json.Marshal([]any{message}) // of texts
	return string(out)
}
