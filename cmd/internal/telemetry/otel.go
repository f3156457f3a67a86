package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/throng-sim/throng/engine"
)

// scope is the instrumentation scope of metrics and spans.
const scope = "github.com/throng-sim/throng"

// producer passes the metrics to the OpenTelemetry SDK.
type producer struct{ x *Sender }

var _ metric.Producer = producer{}

// Produce is part of [metric.Producer].
func (p producer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	run := p.x.runs.Load()
	if run == nil {
		return nil, nil
	}
	v := look(p.x.sending.Version, run)
	out := metricdata.ScopeMetrics{Scope: instrumentation.Scope{Name: scope, Version: p.x.sending.Version}}
	all := Metrics()
	for i := range all {
		m := &all[i]
		if samples := m.samples(v); len(samples) > 0 {
			name, unit := m.Other()
			out.Metrics = append(out.Metrics, metricdata.Metrics{Name: name, Unit: unit, Description: m.Help, Data: m.data(v.s, samples)})
		}
	}
	return []metricdata.ScopeMetrics{out}, nil
}

// Export sends the metrics.
func (f figuresOut) Export(ctx context.Context, all *metricdata.ResourceMetrics) error {
	f.x.export(ctx, &f.x.rounds, 1, func(ctx context.Context) error { return f.Exporter.Export(ctx, all) })
	return nil
}

// data converts the samples of a metric to OpenTelemetry.
func (m *Metric) data(s *engine.Snapshot, samples []sample) metricdata.Aggregation {
	began := s.At.Add(-s.Elapsed)
	switch m.Kind {
	case Histogram:
		h := metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality}
		for i := range samples {
			h.DataPoints = append(h.DataPoints, samples[i].histogram(m.Labels, began, s.At))
		}
		return h
	case Summary:
		var all metricdata.Summary
		for i := range samples {
			of := &samples[i]
			point := metricdata.SummaryDataPoint{
				Attributes: of.attributes(m.Labels), StartTime: began, Time: s.At, Count: uint64(of.quantiles.Count), Sum: of.sum.Seconds(),
			}
			for _, q := range of.shares() {
				point.QuantileValues = append(point.QuantileValues, metricdata.QuantileValue(q))
			}
			all.DataPoints = append(all.DataPoints, point)
		}
		return all
	case Counter, Gauge:
	}
	var points []metricdata.DataPoint[float64]
	for i := range samples {
		points = append(points, metricdata.DataPoint[float64]{
			Attributes: samples[i].attributes(m.Labels), StartTime: began, Time: s.At, Value: samples[i].value,
		})
	}
	if m.Kind == Counter {
		return metricdata.Sum[float64]{DataPoints: points, Temporality: metricdata.CumulativeTemporality, IsMonotonic: true}
	}
	return metricdata.Gauge[float64]{DataPoints: points}
}

// histogram converts a spread to a histogram with separate counts of the buckets.
func (s *sample) histogram(labels []string, began, now time.Time) metricdata.HistogramDataPoint[float64] {
	p := metricdata.HistogramDataPoint[float64]{
		Attributes: s.attributes(labels), StartTime: began, Time: now, Count: uint64(s.spread.Count), Sum: s.spread.Sum.Seconds(),
	}
	below := int64(0)
	for i, bound := range engine.SpreadBounds {
		p.Bounds = append(p.Bounds, bound.Seconds())
		p.BucketCounts = append(p.BucketCounts, uint64(s.spread.UpTo[i]-below))
		below = s.spread.UpTo[i]
	}
	p.BucketCounts = append(p.BucketCounts, uint64(s.spread.Count-below))
	return p
}

// attributes converts the labels of a sample.
func (s *sample) attributes(labels []string) attribute.Set {
	all := make([]attribute.KeyValue, len(labels))
	for i, name := range labels {
		all[i] = attribute.String(name, s.labels[i])
	}
	return attribute.NewSet(all...)
}
