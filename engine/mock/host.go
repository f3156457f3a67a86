package mock

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine/mock/wire"
)

// host is what the shop and the model server share: a listener, the simulated network and counters.
type host struct {
	clock     func() time.Time
	started   time.Time
	server    *wire.Server
	network   atomic.Pointer[network] // profile and faults, replaced together
	count     counters
	inFlight  atomic.Int64
	onRequest func(Request) // may be nil
}

// network is the simulated network: latency and faults.
type network struct {
	profile Profile
	faults  Faults
}

// SetProfile changes the latency of requests that arrive from now on.
func (h *host) SetProfile(p Profile) {
	for old := h.network.Load(); !h.network.CompareAndSwap(old, &network{p, old.faults}); old = h.network.Load() {
	}
}

// SetFaults changes the faults of requests that arrive from now on. f must be valid (Faults.Validate). An outage counts from the server's
// start.
func (h *host) SetFaults(f Faults) {
	for old := h.network.Load(); !h.network.CompareAndSwap(old, &network{old.profile, f}); old = h.network.Load() {
	}
}

// out reports whether an outage is in progress.
func (h *host) out() bool {
	return h.network.Load().faults.Outage(h.clock().Sub(h.started))
}

// checkHost reports everything that is wrong with the configuration that all servers share.
func checkHost(addr, secret string, w network) error {
	var errs []error
	if err := wire.LoopbackOnly(addr); err != nil {
		errs = append(errs, err)
	}
	for _, r := range secret {
		if r <= ' ' || r > '~' {
			errs = append(errs, errors.New("the secret must be printable ASCII without spaces"))
			break
		}
	}
	if !w.profile.Known() {
		errs = append(errs, fmt.Errorf("unknown latency profile %d", w.profile))
	}
	return errors.Join(append(errs, w.faults.Validate())...)
}
