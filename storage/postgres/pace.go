package postgres

import "time"

// paceSpan is the time over which the rate is measured.
const paceSpan = 10 * time.Second

// pace measures the rate of confirmed rows. The zero value is ready for use.
type pace struct {
	at []reading
}

// reading is the number of confirmed rows at a time.
type reading struct {
	at        time.Time
	confirmed int64
}

// of returns the confirmed rows per second, and the time until the waiting rows are sent. Both are 0 if unknown.
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
