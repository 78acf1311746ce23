package telemetry

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// collector is a receiver of OTLP over HTTP.
type collector struct {
	*httptest.Server
	mu       sync.Mutex
	spans    []*tracepb.Span
	logs     []*logspb.LogRecord
	metrics  map[string]*metricspb.Metric
	service  string
	resource []*commonpb.KeyValue
	headers  http.Header
	came     chan struct{}
	// answer is its reply to everything but "yes": a status, or how many it rejects.
	status, reject int
}

func newCollector(t *testing.T) *collector {
	c := &collector{metrics: map[string]*metricspb.Metric{}, came: make(chan struct{}, 1000)}
	c.Server = httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) serve(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers = r.Header.Clone()
	if c.status != 0 {
		w.WriteHeader(c.status)
		return
	}
	unpacked, err := gzip.NewReader(r.Body)
	if err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(unpacked)
	if err == nil {
		err = c.read(r.URL.Path, body)
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
	if c.reject > 0 {
		partial := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(c.reject))
		_, _ = w.Write(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial))
	}
	c.came <- struct{}{}
}

func (c *collector) read(path string, body []byte) error {
	switch path {
	case "/v1/traces":
		var data tracepb.TracesData
		if err := proto.Unmarshal(body, &data); err != nil {
			return err
		}
		for _, r := range data.ResourceSpans {
			c.resource = r.Resource.Attributes
			c.service = find(r.Resource.Attributes, "service.name").GetStringValue()
			for _, s := range r.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
	case "/v1/logs":
		var data logspb.LogsData
		if err := proto.Unmarshal(body, &data); err != nil {
			return err
		}
		for _, r := range data.ResourceLogs {
			for _, s := range r.ScopeLogs {
				c.logs = append(c.logs, s.LogRecords...)
			}
		}
	case "/v1/metrics":
		var data metricspb.MetricsData
		if err := proto.Unmarshal(body, &data); err != nil {
			return err
		}
		for _, r := range data.ResourceMetrics {
			for _, s := range r.ScopeMetrics {
				for _, m := range s.Metrics {
					c.metrics[m.Name] = m
				}
			}
		}
	}
	return nil
}

func find(list []*commonpb.KeyValue, key string) *commonpb.AnyValue {
	for _, kv := range list {
		if kv.Key == key {
			return kv.Value
		}
	}
	return nil
}

func (c *collector) span(t *testing.T, name string) *tracepb.Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name {
			return s
		}
	}
	var names []string
	for _, s := range c.spans {
		names = append(names, s.Name)
	}
	t.Fatalf("no span %q in %q", name, names)
	return nil
}

func testDeps() services.Deps {
	return services.Deps{Catalogue: agent.Builtin(), Redactor: redact.New(), Problems: services.NewProblems(func(wire.Problem) {})}
}

// started returns a service that sends to an endpoint, and how to end it, which sends the rest.
func started(t *testing.T, settings Settings, transport http.RoundTripper) (s *Service, end func()) {
	t.Helper()
	s = New(Options{Deps: testDeps(), Version: "1", Settings: func() Settings { return settings }, Transport: transport})
	ctx, cancel := context.WithCancel(t.Context())
	var running services.Background
	running.Go(func() { s.Run(ctx) })
	for !s.Wanted() {
		runtime.Gosched()
	}
	end = func() {
		cancel()
		running.Wait(context.Background())
	}
	t.Cleanup(end)
	return s, end
}
