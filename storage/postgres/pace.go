package postgres

import "time"

// paceSpan is over how long the rate of sending is measured.
const paceSpan = 10 * time.Second

// pace is how fast rows have been confirmed of late. The zero value is ready for use.
type pace struct {
	at []reading
}

// reading is how many rows were confirmed at a time.
type reading struct {
	at        time.Time
	confirmed int64
}

// of returns the rows per second, of those that were confirmed so far, and when those that wait will be there. Both are 0
// while that is not known.
func (p *pace) of(now time.Time, confirmed, waiting int64) (rate int64, left time.Duration) {
	p.at = append(p.at, reading{now, confirmed})
	for len(p.at) > 2 && now.Sub(p.at[0].at) > paceSpan {
		p.at = p.at[1:]
	}
	first := p.at[0]
	took := now.Sub(first.at)
	if took <= 0 || confirmed == first.confirmed {
		return 0, 0
	}
	perSecond := float64(confirmed-first.confirmed) / took.Seconds()
	return int64(perSecond + 0.5), time.Duration(float64(waiting) / perSecond * float64(time.Second))
}
