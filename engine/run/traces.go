package run

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
)

const (
	watchedExchanges = 200 // of the watched agent
	failedExchanges  = 50  // of all agents
	// failedEach limits the cost of many failures: at most this many are kept per second.
	failedEach = 50
)

// traces keeps exchanges for people: those of the watched agent, and failed ones. It is safe for concurrent use.
type traces struct {
	tracer  engine.Tracer // nil if there is none
	watched atomic.Int64  // the agent's index + 1; 0 if none is watched
	second  atomic.Int64  // the Unix second that noted counts for
	noted   atomic.Int64  // failed exchanges in that second

	mu     sync.Mutex
	of     ring // of the watched agent
	failed ring
}

// wants reports whether an exchange of an agent is wanted.
func (t *traces) wants(agent int, failed bool) bool {
	return t.tracer != nil || t.watched.Load() == int64(agent)+1 || failed && t.mayNote(time.Now())
}

// mayNote reports whether another failed exchange may be kept in this second. If two calls race at the start of a second, a
// few more may be kept.
func (t *traces) mayNote(now time.Time) bool {
	if second := now.Unix(); t.second.Swap(second) != second {
		t.noted.Store(0)
	}
	return t.noted.Load() < failedEach && t.noted.Add(1) <= failedEach
}

func (t *traces) add(e engine.Exchange, failed bool) {
	if t.tracer != nil {
		t.tracer(e)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watched.Load() == int64(e.Agent)+1 {
		t.of.add(e, watchedExchanges)
	}
	if failed {
		t.failed.add(e, failedExchanges)
	}
}

// watch keeps the exchanges of an agent from now on and drops those of the previous one. -1 stops that.
func (t *traces) watch(agent int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watched.Swap(int64(max(agent, -1))+1) != int64(agent)+1 {
		t.of = ring{}
	}
}

// about returns the exchanges of an agent that are kept, oldest first.
func (t *traces) about(agent int) (all []engine.Exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range []*ring{&t.failed, &t.of} {
		for _, e := range r.all {
			if e.Agent == agent {
				all = append(all, e)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b engine.Exchange) int {
		return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Path, b.Path), a.Attempt-b.Attempt)
	})
	return slices.Compact(all) // an exchange may be in both rings
}

// ring keeps the newest exchanges, in no particular order.
type ring struct {
	all  []engine.Exchange
	next int // index to overwrite next
}

func (r *ring) add(e engine.Exchange, most int) {
	if len(r.all) < most {
		r.all = append(r.all, e)
		return
	}
	r.all[r.next] = e
	r.next = (r.next + 1) % most
}
