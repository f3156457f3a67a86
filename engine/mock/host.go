package mock

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// host is what the shop and the model server have in common: a listener, the weather on the way to it, and figures.
type host struct {
	clock     func() time.Time
	started   time.Time
	server    *server
	weather   atomic.Pointer[weather] // profile and faults, replaced whole
	count     counters
	inFlight  atomic.Int64
	onRequest func(Request) // may be nil
}

// weather is what the network does to requests.
type weather struct {
	profile Profile
	faults  Faults
}

// SetProfile changes the latency of requests that arrive from now on.
func (h *host) SetProfile(p Profile) {
	for old := h.weather.Load(); !h.weather.CompareAndSwap(old, &weather{p, old.faults}); old = h.weather.Load() {
	}
}

// SetFaults changes the faults of requests that arrive from now on. f is valid (Faults.Validate); an outage counts
// from the server's start.
func (h *host) SetFaults(f Faults) {
	for old := h.weather.Load(); !h.weather.CompareAndSwap(old, &weather{old.profile, f}); old = h.weather.Load() {
	}
}

// out says whether an outage holds now.
func (h *host) out() bool {
	return h.weather.Load().faults.outage(h.clock().Sub(h.started))
}

// checkHost says what is wrong with what every server is configured by, all of it.
func checkHost(addr, secret string, w weather) error {
	var errs []error
	if err := loopbackOnly(addr); err != nil {
		errs = append(errs, err)
	}
	for _, r := range secret {
		if r <= ' ' || r > '~' {
			errs = append(errs, errors.New("the secret must be printable ASCII without spaces"))
			break
		}
	}
	if _, known := profiles[w.profile]; !known {
		errs = append(errs, fmt.Errorf("unknown latency profile %d", w.profile))
	}
	return errors.Join(append(errs, w.faults.Validate())...)
}
