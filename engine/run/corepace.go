package run

import (
	"math"
	"time"
)

// pace estimates the sessions a second from the whole run of this process, with more weight on its recent part. Cycles begin
// and end slowly, so the time of a few cycles counts.
type pace struct{ sessions, seconds float64 }

const (
	paceFirst = 3 * time.Second  // without an estimate
	paceShort = 20 * time.Second // the weights fall to a third over a quarter of the time so far, within these bounds
	paceLong  = 10 * time.Minute
)

// add adds a span in which a number of sessions ended, some time after the start. A cycle takes the time cycle.
func (p *pace) add(span, since, cycle time.Duration, ended int64) {
	over := max(min(since/4, paceLong), paceShort, 2*cycle)
	kept := math.Exp(-span.Seconds() / over.Seconds())
	p.sessions = p.sessions*kept + float64(ended)
	p.seconds = p.seconds*kept + span.Seconds()
}

// perSecond returns 0 while too little is known.
func (p *pace) perSecond() float64 {
	if p.seconds < paceFirst.Seconds() {
		return 0
	}
	return p.sessions / p.seconds
}
