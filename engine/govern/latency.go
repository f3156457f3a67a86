package govern

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// The ratio of a mean to that of an empty service. The band corresponds to a queue of 4% of the sessions in flight.
const (
	flat   = 1.01 // below, there is no queue: it grows
	queued = 1.07 // above, there is a queue: it shrinks
	aim    = 1.03 // times the limit at which the queue would be empty
	struck = 1.20 // above, the service itself may be slower
	step   = 0.03 // of the limit: the first increase
)

const (
	exact      = 0.025            // standard error of a precise mean
	rough      = 0.08             // before the limit is known approximately
	coarse     = 0.15             // on the way back to a known limit
	first      = 0.04             // for the first probe, which others follow
	firstCount = 60               // sessions for the first base
	patience   = time.Minute      // of a window; after that, larger errors are accepted in proportion to its length
	remembered = 3000             // maximum weight of a base, in sessions
	fewAtOnce  = 8                // sessions that are assumed not to queue until a queue is seen
	shortest   = time.Millisecond // sessions shorter than this have no usable latency
)

// latency keeps the limit at the point from which more concurrent sessions only make each of them slower. Like TCP Vegas (Brakmo,
// Peterson: TCP Vegas, 1995) and the Vegas and Gradient2 limits of Netflix's concurrency-limits, it estimates the queue as n·(1 −
// base/recent), for n sessions in flight. Unlike in Gradient2, the base is not a long-term average, which would learn the latency of an
// overload and drift. It is measured at a lower limit, as Envoy's gradient controller measures its minRTT. If a lower limit changes
// nothing, the service itself is slower.
type latency struct {
	want   int
	why    string
	window window

	base    measure // of sessions without a queue; zero if unknown
	based   time.Time
	full    bool    // a queue was seen
	room    float64 // sessions in flight at which the queue would have been empty
	idle    bool    // sessions wait for nothing: this policy is silent
	growths int     // in a row
	top     measure // before the first of a series of decreases

	probe  *probe        // nil: no probe
	probed time.Duration // duration of the last one
}

func (l *latency) afresh() { l.window.clear(l.window.limit, l.window.limit) }

func (l *latency) restart(limit int) {
	l.want, l.why, l.probe, l.growths, l.top = limit, "", nil, 0, measure{}
	l.window.clear(limit, limit) // of sessions that start together, the shortest end first
}

func (l *latency) next(r *engine.Reading, b bounds) (int, string) {
	switch p := l.probe; {
	case p == nil:
		l.want = max(l.want, r.Limit)
	case r.Limit < l.want || r.Limit > p.back: // the limit was changed, so it is no longer a probe
		l.want, l.probe = max(p.back, r.Limit), nil
	}
	if l.window.add(r) && r.Ended > 0 {
		l.look(r, b)
	}
	if l.idle {
		return silent, ""
	}
	return l.want, l.why
}

// look decides once the window is conclusive.
func (l *latency) look(r *engine.Reading, b bounds) {
	w := &l.window
	m := w.measure()
	l.idle = l.idle && m.mean < shortest.Seconds()
	switch {
	case float64(w.failed) > 0.1*float64(w.ended): // failures are faster or slower for reasons of their own
		l.afresh()
	case l.base.mean == 0 && l.probe == nil && l.few(r.Limit+1) && r.Limit < b.ceiling:
		if m.count >= max(3, m.load) {
			l.higher(r, 2)
		}
	case w.readings < 5 || m.count < max(10, 2*m.load):
	case m.mean < shortest.Seconds():
		l.idle = true
		w.halve()
	case l.clear(b, m):
		l.decide(r, b, m)
	}
}

// few reports whether a limit is so low that, as far as is known, nothing queues.
func (l *latency) few(limit int) bool { return limit <= fewAtOnce && l.room == 0 }

// clear reports whether a measure is conclusive: far off, or precise enough for the time spent on it.
func (l *latency) clear(b bounds, m measure) bool {
	if l.probe == nil && l.base.mean > 0 && math.Abs(m.mean/l.base.mean-aim) > 0.25+4*m.doubt {
		return true
	}
	if l.probe == nil && !l.full && l.base.count+m.count < firstCount {
		return false
	}
	need := exact
	switch {
	case l.probe != nil && l.base.mean == 0:
		need = first
	case l.probe == nil && l.full && l.seeking(l.window.limit):
		need = coarse
	case l.probe == nil && !l.full && (l.base.mean == 0 || l.window.limit < b.ceiling):
		need = rough
	}
	return l.window.whole && m.doubt <= need*max(1, l.window.span/patience.Seconds())
}

// decide adjusts the wanted limit after a measure at the limit in force.
func (l *latency) decide(r *engine.Reading, b bounds, m measure) {
	if l.probe != nil {
		l.compare(r, b, m)
		return
	}
	if l.base.mean == 0 {
		if r.Limit <= b.floor || l.few(r.Limit) {
			l.learn(r.At, m)
		} else {
			l.dip(r, b, m, 0.5, "to measure fewer concurrent sessions")
			return
		}
	}
	if l.inVain(r.At, m) {
		l.window.halve()
		return
	}
	ratio := m.mean / l.base.mean
	doubt := math.Hypot(m.doubt, l.base.doubt)
	switch {
	case 1-ratio > max(0.05, 3*doubt): // the service became faster, perhaps in this window
		l.base = measure{}
		l.window.clear(r.Limit, 0)
	case ratio > queued && r.Limit <= b.floor: // no lower limit to measure at
		l.base, l.based = m, r.At
		l.window.halve()
	case l.full && ratio > max(struck, l.tolerable(r.Limit, b, doubt)):
		why := fmt.Sprintf("sessions take %s instead of %s: to check whether fewer concurrent ones are faster", seconds(m.mean), seconds(l.base.mean))
		l.dip(r, b, m, aim*probeDepth/ratio, why)
	case ratio > l.tolerable(r.Limit, b, doubt):
		l.full, l.growths = true, 0
		l.lower(r, m, ratio)
	case !l.full:
		if ratio < 1+doubt {
			l.learn(r.At, m)
		}
		l.higher(r, 2)
	case l.seeking(r.Limit):
		l.higher(r, 2)
	case r.Limit > b.floor && l.due(r.At):
		l.dip(r, b, m, probeDepth, "to measure fewer concurrent sessions again")
	case ratio < flat:
		l.full = float64(r.Limit) < 1.3*l.room // otherwise there is no queue where one was expected
		l.higher(r, 1+step*math.Pow(2, float64(max(0, l.growths-1))))
	default:
		l.growths = 0
		l.window.halve()
	}
}

// seeking reports whether a limit is far below the one at which a queue was seen.
func (l *latency) seeking(limit int) bool { return !l.full || float64(limit) < 0.9*l.room }

// tolerable returns how far a mean may be above the base. It is more while the limit grows, where a window has few sessions and the next
// step would show a queue clearly.
func (l *latency) tolerable(limit int, b bounds, doubt float64) float64 {
	switch {
	case !l.full && limit < b.ceiling:
		return max(1.4, 1+3*doubt)
	case l.full && l.seeking(limit):
		return max(queued, 1+3*doubt)
	default:
		return max(queued, 1+2*doubt)
	}
}

// inVain detects that a lower limit made sessions no faster: nothing queues, and the base was too low.
func (l *latency) inVain(now time.Time, m measure) bool {
	if l.top.mean == 0 || m.load > 0.85*l.top.load {
		return false
	}
	top := l.top
	l.top = measure{}
	if m.mean/top.mean < (1+m.load/top.load)/2 {
		return false
	}
	l.base, l.based, l.room = m, now, max(l.room, top.load)
	l.learn(now, top)
	return true
}

func (l *latency) lower(r *engine.Reading, m measure, ratio float64) {
	if l.top.mean == 0 {
		l.top = m
	}
	l.room = m.load / ratio
	to := aim * l.room
	if ratio < struck { // half way, because half of the difference may be chance
		to = (to + float64(r.Limit)) / 2
	}
	l.want = min(r.Limit-1, max(1, int(math.Round(to))))
	l.why = fmt.Sprintf("sessions take %s, %s with fewer concurrent ones", seconds(m.mean), seconds(l.base.mean))
	l.window.clear(r.Limit, r.InFlight)
}

// higher grows if the limit is what keeps sessions waiting.
func (l *latency) higher(r *engine.Reading, factor float64) {
	w := &l.window
	if r.Limit < l.want || w.busy < busyEnough*w.span || !l.served() {
		w.halve()
		return
	}
	if l.seeking(r.Limit) {
		factor = 2
	}
	l.want = grown(r.Limit, min(factor, 2))
	if l.full && r.Limit < int(l.room) {
		l.want = min(l.want, int(l.room))
	}
	l.why = fmt.Sprintf("sessions take %s, %s with fewer concurrent ones", seconds(w.sum/w.count), seconds(l.base.mean))
	if l.base.mean == 0 {
		l.want, l.why = min(l.want, fewAtOnce), fmt.Sprintf("%d concurrent sessions are too few to see a queue", r.Limit)
	}
	l.growths++
	l.top = measure{}
	w.clear(r.Limit, r.InFlight)
}

// served reports whether sessions are served for most of their time. Otherwise they are throttled inside the engine, for a rate or a
// quota, and another number in flight would change nothing.
func (l *latency) served() bool { return l.window.sum > 0.5*l.window.held }

// learn adds a measure to the base, or replaces the base if they disagree.
func (l *latency) learn(now time.Time, m measure) {
	l.based = now
	if l.base.mean == 0 || math.Abs(m.mean/l.base.mean-1) > 2*math.Hypot(m.doubt, l.base.doubt) {
		l.base = m
		return
	}
	old := min(l.base.count, remembered)
	n := old + m.count
	l.base.mean = (old*l.base.mean + m.count*m.mean) / n
	l.base.doubt = math.Hypot(old*l.base.doubt, m.count*m.doubt) / n
	l.base.count = n
}

func seconds(s float64) string { return engine.FormatDuration(time.Duration(s * float64(time.Second))) }
