package dash

import (
	"math"
	"strings"

	"github.com/throng-sim/throng/engine/view"
)

// mostSeconds is how many seconds of history are kept.
const mostSeconds = 300

// recent holds the history of some figures, with a value per second. Unknown values are NaN.
type recent struct {
	sessions, requests, p95, cpu, memory, inFlight []float64
	last                                           *view.Second
}

// add adds a status if it has a new second.
func (c *recent) add(s *view.Status) {
	if s.LastSecond == nil || c.last != nil && !s.LastSecond.At.After(c.last.At) {
		return
	}
	c.last = s.LastSecond
	p95 := math.NaN()
	if s.LastSecond.Latency != nil {
		p95 = s.LastSecond.Latency.P95
	}
	for _, one := range []struct {
		of    *[]float64
		value float64
	}{
		{&c.sessions, s.LastSecond.SessionRate},
		{&c.requests, s.LastSecond.RequestRate},
		{&c.p95, p95},
		{&c.cpu, s.LastSecond.CPU},
		{&c.memory, float64(s.LastSecond.Memory)},
		{&c.inFlight, float64(s.InFlight)},
	} {
		*one.of = append(*one.of, one.value)
		if over := len(*one.of) - mostSeconds; over > 0 {
			*one.of = append((*one.of)[:0], (*one.of)[over:]...)
		}
	}
}

var steps = []rune("▁▂▃▄▅▆▇█")

// spark draws the newest values that fit, scaled from 0 to most, or to the maximum if most is 0.
func spark(values []float64, width int, most float64) string {
	values = values[max(len(values)-max(width, 0), 0):]
	for _, v := range values {
		if !math.IsNaN(v) && most <= 0 || v > most {
			most = max(most, v)
		}
	}
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", max(width-len(values), 0)))
	for _, v := range values {
		if math.IsNaN(v) {
			b.WriteRune(' ')
			continue
		}
		at := 0
		if most > 0 {
			at = int(math.Round(v / most * float64(len(steps)-1)))
		}
		b.WriteRune(steps[min(max(at, 0), len(steps)-1)])
	}
	return b.String()
}

// bar draws a share as a bar.
func bar(share float64, width int) line {
	if math.IsNaN(share) {
		share = 0
	}
	full := int(math.Round(min(max(share, 0), 1) * float64(width)))
	return line{{strings.Repeat("█", full), accent}, {strings.Repeat("░", width-full), quiet}}
}
