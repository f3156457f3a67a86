package govern

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

const (
	probeDepth  = 0.7              // of the limit: the limit of a probe
	baseLasts   = 15 * time.Minute // until the base is measured again
	probeSpends = 20               // a scheduled probe comes after at least this many durations of the previous one
)

// probe is a temporarily lowered limit.
type probe struct {
	back  int     // the limit to return to
	top   measure // of the limit before
	began time.Time
}

// due reports whether a probe should measure the base again: sooner if the base is imprecise.
func (l *latency) due(now time.Time) bool {
	if l.base.doubt > exact {
		return now.Sub(l.based) > probeSpends/3*l.probed
	}
	return now.Sub(l.based) > max(baseLasts, probeSpends*l.probed)
}

// dip starts a probe at a fraction of the limit. At the floor there is no probe: the measure becomes the base.
func (l *latency) dip(r *engine.Reading, b bounds, m measure, share float64, why string) {
	if !l.served() {
		l.window.halve()
		return
	}
	level := max(b.floor, int(float64(r.Limit)*share))
	if level >= r.Limit {
		l.base, l.based = m, r.At
		return
	}
	l.probe = &probe{back: r.Limit, top: m, began: r.At}
	l.want, l.why = level, why
	l.window.clear(r.Limit, r.InFlight)
}

// compare ends a probe, or probes deeper if sessions became faster in proportion to their number: then the service is still full.
func (l *latency) compare(r *engine.Reading, b bounds, m measure) {
	p := l.probe
	share := m.mean / p.top.mean
	room := p.top.load * share // sessions that keep the service busy without a queue, if m has no queue
	l.window.clear(r.Limit, r.InFlight)
	if level := max(b.floor, r.Limit/2); share < 0.93 && room < 1.15*m.load && level < r.Limit {
		l.want, p.began = level, r.At
		return
	}
	l.learn(r.At, m)
	l.probe, l.probed, l.growths, l.top = nil, r.At.Sub(p.began), 0, measure{}
	if share > min(0.95, 1-1.5*math.Hypot(m.doubt, p.top.doubt)) {
		if !l.full {
			l.learn(r.At, p.top)
		}
		l.want = p.back
		l.why = fmt.Sprintf("sessions take %s with fewer concurrent ones too", seconds(m.mean))
		return
	}
	to := aim * room
	if l.full && to*struck > float64(p.back) { // half way, because half of the difference may be chance
		to = (to + float64(p.back)) / 2
	}
	l.full, l.room = true, room
	l.want = max(1, int(math.Round(to)))
	l.why = fmt.Sprintf("sessions take %s, and %s with %d concurrent ones", seconds(m.mean), seconds(p.top.mean), p.back)
}
