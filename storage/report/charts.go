package report

import (
	"html/template"
	"math"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage"
)

// spec describes a chart.
type spec struct {
	title, about string
	unit         unit
	lines        []lineSpec
	some         bool // left out unless a value is above 0
}

// lineSpec is a line of a chart.
type lineSpec struct {
	name, look string
	of         value
}

// specs are the charts in the order of the page.
var specs = []spec{
	{"Concurrency", "sessions in flight, and the limit", wholes, []lineSpec{
		{"in flight", "s1 area", column("in_flight")},
		{"limit", "limit", column("limit")},
	}, false},
	{"Throughput", "sessions that ended, per second", counts, []lineSpec{
		{"sessions/s", "s1", column("sessions_per_sec")},
	}, false},
	{"Session time", "of the sessions that ended in a second", durations, []lineSpec{
		{"p50", "s1", column("latency_p50_ms")},
		{"p95", "s2", column("latency_p95_ms")},
		{"p99", "s3", column("latency_p99_ms")},
	}, false},
	{"Requests", "per second, with answers of status 429", counts, []lineSpec{
		{"requests/s", "s1", column("requests_per_sec")},
		{"429s/s", "s2", perSecond(column("rate_limited"))},
		{"retries/s", "s3", perSecond(column("retries"))},
	}, false},
	{"Failed or timed out", "per second", counts, []lineSpec{
		{"failed/s", "s2 area", perSecond(failed)},
	}, true},
	{"CPU", "of the machine", percents, []lineSpec{
		{"all programs", "s1", percent("cpu_percent")},
		{"Throng", "s2", func(m, _ *engine.MetricsRow) float64 { return m.Host.ProcessCPU / cores(m) }},
	}, false},
	{"Memory", "of Throng", sizes, []lineSpec{
		{"in use", "s1 area", column("memory_mb")},
	}, false},
	{"Database connections", "in use", wholes, []lineSpec{
		{"by Throng", "s1", database(column("db_connections"))},
		{"all clients", "s2", column("db_server_connections")},
		{"max_connections", "limit", func(m, _ *engine.MetricsRow) float64 { return known(float64(m.ServerMax)) }},
	}, true},
	{"Model cost", "so far", dollars, []lineSpec{
		{"cost", "s1 area", func(m, _ *engine.MetricsRow) float64 { return float64(m.Usage.Cost) / 1e9 }},
	}, true},
	{"Model calls", "per second", counts, []lineSpec{
		{"calls/s", "s1", perSecond(column("model_calls"))},
	}, true},
}

// database returns a value that is known only if the run used a database other than the local store.
func database(of value) value {
	return func(m, before *engine.MetricsRow) float64 {
		if m.Pool.Size == 0 && m.ServerConnections < 0 {
			return math.NaN()
		}
		return of(m, before)
	}
}

// value is a value of a row; before is the row of the second before, or the same row if it is the first.
type value func(m, before *engine.MetricsRow) float64

// column returns the values of a metric column in its base unit; NaN is unknown.
func column(name string) value {
	c := storage.MetricColumnNamed(name)
	return func(m, _ *engine.MetricsRow) float64 {
		if v, ok := c.Measure(m); ok {
			return v
		}
		return math.NaN()
	}
}

// percent returns the values of a metric column as percentages.
func percent(name string) value {
	ratio := column(name)
	return func(m, before *engine.MetricsRow) float64 { return 100 * ratio(m, before) }
}

// perSecond returns the rate at which a counter grows.
func perSecond(counter value) value {
	return func(m, before *engine.MetricsRow) float64 {
		span := m.At.Sub(before.At).Seconds()
		if span <= 0 || span > longestGap.Seconds() {
			return math.NaN()
		}
		return (counter(m, m) - counter(before, before)) / span
	}
}

func failed(m, _ *engine.MetricsRow) float64 {
	var all int64
	for _, n := range m.Errors {
		all += n
	}
	return float64(all)
}

// cores returns the number of cores of the machine; NaN if unknown.
func cores(m *engine.MetricsRow) float64 { return known(float64(m.Host.Cores)) }

func known(v float64) float64 {
	if v <= 0 {
		return math.NaN()
	}
	return v
}

// charts collects the values of all charts from rows.
type charts struct {
	axis   *axis
	lines  [][]*line // by spec
	before engine.MetricsRow
}

func newCharts(x *axis) *charts {
	c := &charts{axis: x}
	for _, s := range specs {
		var all []*line
		for range s.lines {
			all = append(all, newLine(x))
		}
		c.lines = append(c.lines, all)
	}
	return c
}

// see adds the next row.
func (c *charts) see(m *engine.MetricsRow) {
	if c.before.At.IsZero() {
		c.before = *m
	}
	since, ok := c.axis.since(m.At)
	for i, s := range specs {
		for k, l := range s.lines {
			if v := l.of(m, &c.before); ok && v >= 0 && !math.IsInf(v, 0) { // not NaN and not unknown
				c.lines[i][k].add(since, v)
			}
		}
	}
	c.before = *m
}

// chartView is a chart on the page.
type chartView struct {
	Title, About string
	Keys         []chartKey
	Picture      template.HTML
}

// chartKey is an entry of a chart's legend, with the maximum of its line.
type chartKey struct{ Look, Name, Most string }

// views returns the charts that have values.
func (c *charts) views(marks []markView) (all []chartView) {
	for i, s := range specs {
		most, shown := 0.0, []*line{}
		v := chartView{Title: s.title, About: s.about}
		for k, l := range c.lines[i] {
			if l.empty() {
				continue
			}
			look := s.lines[k].look
			v.Keys = append(v.Keys, chartKey{look, s.lines[k].name, s.unit.text(l.most)})
			l.look = look
			shown, most = append(shown, l), max(most, l.most)
		}
		if len(shown) == 0 || s.some && most == 0 {
			continue
		}
		v.Picture = draw(&picture{title: s.title, unit: s.unit, lines: shown, most: most, axis: c.axis, marks: marks})
		all = append(all, v)
	}
	return all
}

// mostRows is the number of rows from which two rows of a chart are merged into one, with the higher values.
const mostRows = 4000

// overTime collects the values of charts for a screen.
type overTime struct {
	charts []view.Chart
	before engine.MetricsRow
	stride int // rows that are merged into one
	n      int // rows merged into the last one
}

// see adds the next row.
func (o *overTime) see(m *engine.MetricsRow) {
	if o.charts == nil {
		o.before, o.stride = *m, 1
		for _, s := range specs {
			c := view.Chart{Title: s.title, About: s.about, Unit: s.unit.of, Values: make([][]float64, len(s.lines))}
			for _, l := range s.lines {
				c.Lines = append(c.Lines, l.name)
			}
			o.charts = append(o.charts, c)
		}
	}
	merged := o.n > 0 && o.n < o.stride
	for i, s := range specs {
		c := &o.charts[i]
		if !merged {
			c.Times = append(c.Times, float64(m.At.UnixMicro())/1e6)
		}
		for k := range s.lines {
			v := s.lines[k].of(m, &o.before)
			if !(v >= 0) || math.IsInf(v, 0) {
				v = math.NaN()
			}
			if last := len(c.Values[k]) - 1; merged {
				c.Values[k][last] = higher(c.Values[k][last], v)
			} else {
				c.Values[k] = append(c.Values[k], v)
			}
		}
	}
	o.before = *m
	if o.n++; o.n >= o.stride {
		o.n = 0
		if len(o.charts[0].Times) >= mostRows {
			o.halve()
		}
	}
}

// halve merges pairs of rows.
func (o *overTime) halve() {
	o.stride *= 2
	for i := range o.charts {
		c := &o.charts[i]
		n := len(c.Times) / 2
		for at := range n {
			c.Times[at] = c.Times[2*at+1]
			for k := range c.Values {
				c.Values[k][at] = higher(c.Values[k][2*at], c.Values[k][2*at+1])
			}
		}
		c.Times = c.Times[:n]
		for k := range c.Values {
			c.Values[k] = c.Values[k][:n]
		}
	}
}

// higher returns the higher of two values; NaN is unknown.
func higher(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// shown returns the charts that have values.
func (o *overTime) shown() (all []view.Chart) {
	for i, c := range o.charts {
		most, some := 0.0, false
		for _, values := range c.Values {
			for _, v := range values {
				if v >= 0 {
					most, some = max(most, v), true
				}
			}
		}
		if some && (most > 0 || !specs[i].some) {
			all = append(all, c)
		}
	}
	return all
}
