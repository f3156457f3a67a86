package govern

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

const (
	probeDepth  = 0.7              // of the limit, at which an empty service is measured again
	baseLasts   = 15 * time.Minute // before it is
	probeSpends = 20               // times what a probe took go by before the next that nothing asks for
)

// probe is a limit lowered for a moment.
type probe struct {
	back  int     // the limit to go back to
	top   measure // of the limit before
	began time.Time
}

// due reports whether the base is to be measured again at the price of a probe: sooner while it is not known well.
func (l *latency) due(now time.Time) bool {
	if l.base.doubt > exact {
		return now.Sub(l.based) > probeSpends/3*l.probed
	}
	return now.Sub(l.based) > max(baseLasts, probeSpends*l.probed)
}

// dip begins a probe at a share of the limit. At the floor there is none, and what is measured is the base.
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

// compare ends a probe, or goes deeper where sessions became faster in the measure in which they are fewer: the service
// is still full then.
func (l *latency) compare(r *engine.Reading, b bounds, m measure) {
	p := l.probe
	share := m.mean / p.top.mean
	room := p.top.load * share // as many keep an empty service busy, if m is of one
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
		l.why = fmt.Sprintf("sessions take %s with fewer at once too", seconds(m.mean))
		return
	}
	to := aim * room
	if l.full && to*struck > float64(p.back) { // half of the way: half of what is seen may be chance
		to = (to + float64(p.back)) / 2
	}
	l.full, l.room = true, room
	l.want = max(1, int(math.Round(to)))
	l.why = fmt.Sprintf("sessions take %s, and %s with %d at once", seconds(m.mean), seconds(p.top.mean), p.back)
}
