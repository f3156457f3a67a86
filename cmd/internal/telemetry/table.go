package telemetry

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// Kind is the type of a metric.
type Kind uint8

// The kinds: counters only grow, gauges go up and down, histograms and summaries describe durations.
const (
	Counter Kind = iota
	Gauge
	Histogram
	Summary
)

func (k Kind) String() string { return [...]string{"counter", "gauge", "histogram", "summary"}[k] }

// Metric describes a metric.
type Metric struct {
	Name   string // in Prometheus
	Kind   Kind
	Labels []string
	Help   string

	idle bool // it has samples without a run
	read func(v *view) []sample
}

// sample is one value of a metric, with a value for each label.
type sample struct {
	labels    []string
	value     float64           // of a counter or a gauge
	spread    *engine.Spread    // of a histogram
	quantiles *engine.Quantiles // of a summary
	sum       time.Duration     // sum of the summary's values
}

// samples returns the known values.
func (m *Metric) samples(v *view) []sample {
	if v.s == nil && !m.idle {
		return nil
	}
	return m.read(v)
}

// units are the suffixes of names that denote a unit, with the unit in OpenTelemetry.
var units = []struct{ end, unit string }{
	{"_seconds", "s"}, {"_bytes", "By"}, {"_ratio", "1"},
}

// Other returns the name and unit of the metric in OpenTelemetry: throng_session_duration_seconds is throng.session_duration
// in s. Collectors convert it back for Prometheus.
func (m *Metric) Other() (name, unit string) {
	name = m.Name
	if m.Kind == Counter {
		name = strings.TrimSuffix(name, "_total")
	}
	for _, u := range units {
		if rest, ok := strings.CutSuffix(name, u.end); ok {
			name, unit = rest, u.unit
			break
		}
	}
	return strings.Replace(name, "_", ".", 1), unit
}

// Metrics returns all metrics.
func Metrics() []Metric {
	var all []Metric
	for _, part := range [][]Metric{ofProgress, ofSessions, ofConcurrency, ofServices, ofSteps, ofModels, ofMachine, ofStorage} {
		all = append(all, part...)
	}
	return all
}

// one is a metric with one value; NaN is unknown.
func one(kind Kind, name, help string, of func(s *engine.Snapshot) float64) Metric {
	return Metric{Name: name, Kind: kind, Help: help, read: func(v *view) []sample {
		value := of(v.s)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return nil
		}
		return []sample{{value: value}}
	}}
}

// column returns the metric of a column of the stored metrics: with the same value, in the base unit, and the same help.
func column(name string) Metric {
	c := storage.MetricColumnNamed(name)
	kind := Gauge
	if c.Counter {
		kind = Counter
	}
	return one(kind, c.Metric, c.Help, func(s *engine.Snapshot) float64 {
		if v, ok := c.Measure(&s.Metrics); ok {
			return v
		}
		return math.NaN()
	})
}

// several is a metric with labels.
func several(kind Kind, name string, labels []string, help string, read func(s *engine.Snapshot) []sample) Metric {
	return Metric{Name: name, Kind: kind, Labels: labels, Help: help, read: func(v *view) []sample { return read(v.s) }}
}

// quantilesOf is a summary without labels.
func quantilesOf(name, help string, of func(s *engine.Snapshot) (*engine.Quantiles, time.Duration)) Metric {
	return Metric{Name: name, Kind: Summary, Help: help, read: func(v *view) []sample {
		q, sum := of(v.s)
		return []sample{{quantiles: q, sum: sum}}
	}}
}

// labeled is a value with labels.
func labeled(value float64, labels ...string) sample { return sample{labels: labels, value: value} }

// stateSet returns 1 for the current state and 0 for the others. before are the labels before the label of the state.
func stateSet(now string, all []string, before ...string) (set []sample) {
	for _, state := range all {
		value := 0.
		if state == now {
			value = 1
		}
		set = append(set, labeled(value, append(slices.Clip(before), state)...))
	}
	return set
}

// texts formats values as labels, without spaces.
func texts[T interface{ String() string }](all ...T) []string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = strings.ReplaceAll(one.String(), " ", "_")
	}
	return out
}

// known returns NaN for a negative value, which means unknown.
func known[T int | int64 | float64](n T) float64 {
	if n < 0 {
		return math.NaN()
	}
	return float64(n)
}

// given returns NaN for 0, which means unknown or not set.
func given[T int | int64 | uint64 | float64](n T) float64 {
	if n <= 0 {
		return math.NaN()
	}
	return float64(n)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
