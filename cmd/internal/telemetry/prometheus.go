package telemetry

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/throng-sim/throng/engine"
)

// collector collects the metrics of the run that look returns.
type collector struct {
	look    func() *view
	metrics []Metric
	descs   []*prometheus.Desc // of the metrics
}

var _ prometheus.Collector = (*collector)(nil)

func newCollector(look func() *view) *collector {
	c := &collector{look: look, metrics: Metrics()}
	for i := range c.metrics {
		m := &c.metrics[i]
		c.descs = append(c.descs, prometheus.NewDesc(m.Name, m.Help, m.Labels, nil))
	}
	return c
}

// Describe is part of [prometheus.Collector].
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		out <- d
	}
}

// Collect is part of [prometheus.Collector].
func (c *collector) Collect(out chan<- prometheus.Metric) {
	v := c.look()
	for i := range c.metrics {
		for _, s := range c.metrics[i].samples(v) {
			m, err := s.metric(c.descs[i], c.metrics[i].Kind)
			if err != nil {
				m = prometheus.NewInvalidMetric(c.descs[i], err)
			}
			out <- m
		}
	}
}

// metric converts a sample to Prometheus.
func (s *sample) metric(desc *prometheus.Desc, kind Kind) (prometheus.Metric, error) {
	switch kind {
	case Histogram:
		buckets := make(map[float64]uint64, len(engine.SpreadBounds))
		for i, bound := range engine.SpreadBounds {
			buckets[bound.Seconds()] = uint64(s.spread.UpTo[i])
		}
		return prometheus.NewConstHistogram(desc, uint64(s.spread.Count), s.spread.Sum.Seconds(), buckets, s.labels...)
	case Summary:
		quantiles := map[float64]float64{}
		for _, q := range s.shares() {
			quantiles[q.Quantile] = q.Value
		}
		return prometheus.NewConstSummary(desc, uint64(s.quantiles.Count), s.sum.Seconds(), quantiles, s.labels...)
	case Counter:
		return prometheus.NewConstMetric(desc, prometheus.CounterValue, s.value, s.labels...)
	default:
		return prometheus.NewConstMetric(desc, prometheus.GaugeValue, s.value, s.labels...)
	}
}

// share is a quantile, with its value in seconds.
type share struct{ Quantile, Value float64 }

// shares returns the quantiles of a summary, or nil without values.
func (s *sample) shares() []share {
	q := s.quantiles
	if q.Count == 0 {
		return nil
	}
	return []share{{0.5, q.P50.Seconds()}, {0.95, q.P95.Seconds()}, {0.99, q.P99.Seconds()}, {1, q.Max.Seconds()}}
}
