package mock

import (
	"sync"
	"time"
)

// limit identifies the rate limit of a route.
type limit uint8

const (
	limitNone limit = iota
	limitProducts
	limitSearch
	limitCoupons
	limitCount
)

// perMinute is the number of calls that each limit admits from one address in a minute.
var perMinute = [limitCount]int{limitProducts: 60, limitSearch: 30, limitCoupons: 30}

// tooManyAddresses is the number of addresses at which expired minutes are dropped. Loopback has few addresses.
const tooManyAddresses = 1024

// limits counts calls by address and limit, in minutes that start with the first call.
type limits struct {
	mu      sync.Mutex
	minutes map[caller]*minute
}

type caller struct {
	address string
	limit   limit
}

type minute struct {
	from  time.Time
	calls int
}

func newLimits() *limits { return &limits{minutes: map[caller]*minute{}} }

// take counts a call. If it exceeds the limit, take returns the seconds to wait.
func (l *limits) take(who caller, now time.Time) (retryAfter int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.minutes[who]
	if m == nil || now.Sub(m.from) >= time.Minute {
		if len(l.minutes) >= tooManyAddresses {
			for other, m := range l.minutes {
				if now.Sub(m.from) >= time.Minute {
					delete(l.minutes, other)
				}
			}
		}
		m = &minute{from: now}
		l.minutes[who] = m
	}
	if m.calls == perMinute[who.limit] {
		return int((time.Minute - now.Sub(m.from) + time.Second - 1) / time.Second)
	}
	m.calls++
	return 0
}
