package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// How sending is paced.
const (
	sendWithin   = 10 * time.Second // one request
	gather       = time.Second      // spans come in groups
	metricsEvery = 30 * time.Second
	firstRetry   = time.Second
	longestRetry = time.Minute
	// patience is how many tries fail before `status` says so.
	patience = 3

	maxAnswer = 64 << 10
)

const problemKey = "telemetry"

// sender posts what is in its queue, over HTTP. The official exporters for HTTP link
// gRPC, which would add megabytes and milliseconds to every start; so the requests are
// made here, of the SDK's data in OTLP's own types.
type sender struct {
	deps     services.Deps
	endpoint string
	headers  http.Header
	queue    *queue
	client   *http.Client
	traces   *otlptrace.Exporter
	metrics  *sdkmetric.ManualReader

	mu       sync.Mutex
	failures int // since something arrived
	last     string
}

func newSender(o Options, settings Settings) *sender {
	transport := o.Transport
	if transport == nil {
		transport = &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 1, IdleConnTimeout: 2 * metricsEvery,
			MaxResponseHeaderBytes: maxAnswer}
	}
	s := &sender{deps: o.Deps, endpoint: strings.TrimSuffix(settings.Endpoint, "/"), headers: ParseHeaders(settings.Headers),
		queue: newQueue(), metrics: sdkmetric.NewManualReader(),
		client: &http.Client{Transport: transport, Timeout: sendWithin,
			// An address that sends elsewhere would take everything there.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	s.traces = otlptrace.NewUnstarted(traceClient{s})
	return s
}

// ParseHeaders reads name=value pairs, divided by commas, as OTEL_EXPORTER_OTLP_HEADERS
// has them. A value may be escaped as in an address.
func ParseHeaders(text string) http.Header {
	headers := http.Header{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			continue
		}
		value = strings.TrimSpace(value)
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		headers.Set(name, value)
	}
	return headers
}

// traceClient hands the exporter of the SDK's spans to the sender.
type traceClient struct{ *sender }

func (traceClient) Start(context.Context) error { return nil }
func (traceClient) Stop(context.Context) error  { return nil }

func (c traceClient) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	return c.post(ctx, "/v1/traces", &tracepb.TracesData{ResourceSpans: spans})
}

// passing is an error that another try may not have.
type passing struct {
	err   error
	after time.Duration // as the collector asks
}

func (e *passing) Error() string { return e.err.Error() }
func (e *passing) Unwrap() error { return e.err }

// post sends one message. The messages of OTLP's requests look like those of its files.
func (s *sender) post(ctx context.Context, path string, message proto.Message) error {
	body, err := proto.Marshal(message)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(body) // into memory
	_ = w.Close()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.endpoint+path, &packed)
	if err != nil {
		return errors.New("the endpoint can't be used")
	}
	for name, values := range s.headers {
		request.Header[name] = values
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("Content-Encoding", "gzip")
	request.Header.Set("User-Agent", "hookmux")
	response, err := s.client.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the address, which may have a key in it
		}
		return &passing{err: err}
	}
	answer, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	_ = response.Body.Close()
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		if n := rejected(answer); n > 0 {
			return &partial{n}
		}
		return nil
	}
	err = fmt.Errorf("the collector answered %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
		return &passing{err: err, after: min(max(0, time.Duration(seconds)*time.Second), longestRetry)}
	}
	return err
}

// partial says that a collector accepted a message and dropped some of it.
type partial struct{ rejected int64 }

func (e *partial) Error() string { return fmt.Sprintf("the collector rejected %d", e.rejected) }

// rejected reads how much a collector left out: field 1 of partial_success, which is
// field 1 of every answer.
func rejected(answer []byte) int64 {
	inner, ok := firstField(answer, protowire.BytesType)
	if !ok {
		return 0
	}
	success, _ := protowire.ConsumeBytes(inner)
	number, ok := firstField(success, protowire.VarintType)
	if !ok {
		return 0
	}
	n, _ := protowire.ConsumeVarint(number)
	return int64(n)
}

// firstField returns what follows the tag of field 1.
func firstField(message []byte, kind protowire.Type) ([]byte, bool) {
	for len(message) > 0 {
		number, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, false
		}
		if message = message[n:]; number == 1 && typ == kind {
			return message, true
		}
		if n = protowire.ConsumeFieldValue(number, typ, message); n < 0 {
			return nil, false
		}
		message = message[n:]
	}
	return nil, false
}

// run sends until ctx ends.
func (s *sender) run(ctx context.Context) {
	tick := time.NewTicker(metricsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.sendMetrics(ctx)
		case <-s.queue.filled:
			if services.Pause(gather, ctx.Done()) || !s.sendAll(ctx) {
				return
			}
		}
	}
}

// sendAll sends what is queued, again and again while the collector is away. It is false
// when ctx ended before.
func (s *sender) sendAll(ctx context.Context) bool {
	for {
		spans, logs := s.queue.take()
		if len(spans)+len(logs) == 0 {
			return true
		}
		spansLeft, logsLeft := s.persist(ctx, spans, logs)
		if ctx.Err() != nil {
			s.queue.putBack(spansLeft, logsLeft)
			return false
		}
	}
}

// persist sends a batch until it's accepted or rejected. It returns what was left when ctx ended.
func (s *sender) persist(ctx context.Context, spans []sdktrace.ReadOnlySpan, logs []sdklog.Record) (
	[]sdktrace.ReadOnlySpan, []sdklog.Record) {
	wait := firstRetry
	for {
		var err error
		if len(spans) > 0 {
			if err = s.settleBatch(s.traces.ExportSpans(ctx, spans), len(spans)); err == nil {
				spans = nil
			}
		}
		if err == nil && len(logs) > 0 {
			if err = s.settleBatch(s.post(ctx, "/v1/logs", logsData(logs)), len(logs)); err == nil {
				logs = nil
			}
		}
		if err == nil {
			return nil, nil
		}
		span := wait/2 + rand.N(wait/2)
		if later := (*passing)(nil); errors.As(err, &later) {
			span = max(span, later.after)
		}
		if services.Pause(span, ctx.Done()) {
			return spans, logs
		}
		wait = min(2*wait, longestRetry)
	}
}

// settleBatch counts a batch as sent or dropped. It returns an error only if another try may
// succeed.
func (s *sender) settleBatch(err error, n int) error {
	some, later := (*partial)(nil), (*passing)(nil)
	switch {
	case err == nil:
		s.queue.count(int64(n), 0)
	case errors.As(err, &some):
		s.queue.count(int64(n)-some.rejected, some.rejected)
		err = nil
	case errors.As(err, &later):
		s.failed(err)
		return err
	default:
		s.queue.count(0, int64(n))
		s.failed(err)
		return nil // another try would be rejected as well
	}
	s.arrived()
	return err
}

// sendMetrics sends what instruments have. They are sums, so that nothing is lost when a
// request is.
func (s *sender) sendMetrics(ctx context.Context) {
	var data metricdata.ResourceMetrics
	if s.metrics.Collect(ctx, &data) != nil || len(data.ScopeMetrics) == 0 {
		return
	}
	if err := s.post(ctx, "/v1/metrics", metricsData(&data)); err != nil && !errors.As(err, new(*partial)) {
		if ctx.Err() == nil {
			s.failed(err)
		}
		return
	}
	s.arrived()
}

// sendRest tries once to send what is left, and counts what it can't send.
func (s *sender) sendRest(ctx context.Context) {
	for {
		spans, logs := s.queue.take()
		if len(spans)+len(logs) == 0 {
			break
		}
		if len(spans) > 0 && s.settleBatch(s.traces.ExportSpans(ctx, spans), len(spans)) != nil ||
			len(logs) > 0 && s.settleBatch(s.post(ctx, "/v1/logs", logsData(logs)), len(logs)) != nil {
			return
		}
	}
	s.sendMetrics(ctx)
	s.close()
}

func (s *sender) close() { s.client.CloseIdleConnections() }

// check sends an empty message.
func (s *sender) check(ctx context.Context) error {
	return s.post(ctx, "/v1/traces", &tracepb.TracesData{})
}

func (s *sender) arrived() {
	s.mu.Lock()
	s.failures, s.last = 0, ""
	s.mu.Unlock()
	if s.deps.Problems.Any() {
		s.deps.Problems.Clear(problemKey)
	}
}

func (s *sender) failed(err error) {
	s.mu.Lock()
	s.failures++
	s.last = err.Error()
	tell := s.failures >= patience
	s.mu.Unlock()
	if tell {
		queued, _, dropped := s.queue.state()
		s.deps.Problems.Set(problemKey, fmt.Sprintf("telemetry doesn't reach %s: %v (%d waiting, %d dropped)",
			shownEndpoint(s.endpoint), err, queued, dropped), "start the collector, or `hookmux config unset telemetry.endpoint`")
	}
}

func (s *sender) info() *wire.TelemetryInfo {
	queued, sent, dropped := s.queue.state()
	s.mu.Lock()
	defer s.mu.Unlock()
	return &wire.TelemetryInfo{Endpoint: shownEndpoint(s.endpoint), Queued: queued, Sent: sent, Dropped: dropped, Problem: s.last}
}

// shownEndpoint returns an endpoint without what may be secret in it.
func shownEndpoint(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "the endpoint"
	}
	return u.Scheme + "://" + u.Host
}
