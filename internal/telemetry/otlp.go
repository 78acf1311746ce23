package telemetry

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
)

// The SDK's own transformation of spans is used; those of log records and metrics are
// internal to exporters that link gRPC.

// logsData returns a batch of log records of one logger.
func logsData(records []sdklog.Record) *logspb.LogsData {
	var list []*logspb.LogRecord
	for i := range records {
		r := &records[i]
		one := &logspb.LogRecord{
			TimeUnixNano: nanos(r.Timestamp()), ObservedTimeUnixNano: nanos(r.ObservedTimestamp()),
			SeverityNumber: logspb.SeverityNumber(r.Severity()), SeverityText: r.SeverityText(), EventName: r.EventName(),
			Flags: uint32(r.TraceFlags()),
		}
		if body := r.Body(); body.Type() != attribute.EMPTY {
			one.Body = valueOf(body)
		}
		if id := r.TraceID(); id.IsValid() {
			one.TraceId = id[:]
		}
		if id := r.SpanID(); id.IsValid() {
			one.SpanId = id[:]
		}
		r.WalkAttributes(func(kv attribute.KeyValue) bool {
			one.Attributes = append(one.Attributes, &commonpb.KeyValue{Key: string(kv.Key), Value: valueOf(kv.Value)})
			return true
		})
		list = append(list, one)
	}
	first := &records[0]
	return &logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{
		Resource:  resourceOf(first.Resource()),
		ScopeLogs: []*logspb.ScopeLogs{{Scope: scopeOf(first.InstrumentationScope()), LogRecords: list}},
	}}}
}

// metricsData returns the instruments that the tracker has: sums and histograms.
func metricsData(data *metricdata.ResourceMetrics) *metricspb.MetricsData {
	var scopes []*metricspb.ScopeMetrics
	for _, scope := range data.ScopeMetrics {
		one := &metricspb.ScopeMetrics{Scope: scopeOf(scope.Scope)}
		for _, m := range scope.Metrics {
			metric := &metricspb.Metric{Name: m.Name, Unit: m.Unit, Description: m.Description}
			switch d := m.Data.(type) {
			case metricdata.Sum[float64]:
				metric.Data = sumOf(d)
			case metricdata.Histogram[float64]:
				metric.Data = histogramOf(d)
			case metricdata.Histogram[int64]:
				metric.Data = histogramOf(d)
			default:
				continue
			}
			one.Metrics = append(one.Metrics, metric)
		}
		scopes = append(scopes, one)
	}
	return &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{
		Resource: resourceOf(data.Resource), ScopeMetrics: scopes,
	}}}
}

const cumulative = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE

func sumOf(d metricdata.Sum[float64]) *metricspb.Metric_Sum {
	sum := &metricspb.Sum{IsMonotonic: d.IsMonotonic, AggregationTemporality: cumulative}
	for _, p := range d.DataPoints {
		sum.DataPoints = append(sum.DataPoints, &metricspb.NumberDataPoint{
			Attributes: attributesOf(p.Attributes.Iter()), StartTimeUnixNano: nanos(p.StartTime), TimeUnixNano: nanos(p.Time),
			Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: p.Value},
		})
	}
	return &metricspb.Metric_Sum{Sum: sum}
}

func histogramOf[N int64 | float64](d metricdata.Histogram[N]) *metricspb.Metric_Histogram {
	histogram := &metricspb.Histogram{AggregationTemporality: cumulative}
	for _, p := range d.DataPoints {
		sum := float64(p.Sum)
		one := &metricspb.HistogramDataPoint{
			Attributes: attributesOf(p.Attributes.Iter()), StartTimeUnixNano: nanos(p.StartTime), TimeUnixNano: nanos(p.Time),
			Count: p.Count, Sum: &sum, BucketCounts: p.BucketCounts, ExplicitBounds: p.Bounds,
		}
		if v, ok := p.Min.Value(); ok {
			least := float64(v)
			one.Min = &least
		}
		if v, ok := p.Max.Value(); ok {
			most := float64(v)
			one.Max = &most
		}
		histogram.DataPoints = append(histogram.DataPoints, one)
	}
	return &metricspb.Metric_Histogram{Histogram: histogram}
}

func nanos(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(t.UnixNano())
}

func resourceOf(r *resource.Resource) *resourcepb.Resource {
	return &resourcepb.Resource{Attributes: attributesOf(r.Iter())}
}

func scopeOf(s instrumentation.Scope) *commonpb.InstrumentationScope {
	return &commonpb.InstrumentationScope{Name: s.Name, Version: s.Version}
}

func attributesOf(i attribute.Iterator) (list []*commonpb.KeyValue) {
	for i.Next() {
		kv := i.Attribute()
		list = append(list, &commonpb.KeyValue{Key: string(kv.Key), Value: valueOf(kv.Value)})
	}
	return list
}

// valueOf returns a value of a kind that the tracker uses.
func valueOf(v attribute.Value) *commonpb.AnyValue {
	switch v.Type() {
	case attribute.BOOL:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: v.AsBool()}}
	case attribute.INT64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: v.AsInt64()}}
	case attribute.FLOAT64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: v.AsFloat64()}}
	default:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: v.AsString()}}
	}
}
