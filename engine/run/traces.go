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
	maxWatchedExchanges = 200 // of the watched agent
	maxFailedExchanges  = 50  // of all agents
	// maxFailedPerSecond limits the cost of many failures: at most this many are kept per second.
	maxFailedPerSecond = 50
)

// traces keeps exchanges for people: those of the watched agent, and failed ones. It is safe for concurrent use.
type traces struct {
	tracer         engine.Tracer        // nil if there is none
	content        engine.ContentKeeper // nil if there is none
	watched        atomic.Int64         // the agent's index + 1; 0 if none is watched
	second         atomic.Int64         // the Unix second that noted counts for
	failedInSecond atomic.Int64         // failed exchanges in that second

	mu          sync.Mutex
	watchedRing ring // of the watched agent
	failedRing  ring
}

// wants reports whether an exchange of an agent is wanted.
func (t *traces) wants(agent int, failed bool) bool {
	return t.tracer != nil || t.keeps() || t.watched.Load() == int64(agent)+1 || failed && t.mayKeepFailed(time.Now())
}

// tracing returns whether all exchanges are wanted, and the agent that is watched.
func (t *traces) tracing() (all bool, agent int) {
	return t.tracer != nil || t.keeps(), int(t.watched.Load()) - 1
}

func (t *traces) keeps() bool { return t.content != nil && t.content.Wants() }

// mayKeepFailed reports whether another failed exchange may be kept in this second. If two calls race at the start of a
// second, a few more may be kept.
func (t *traces) mayKeepFailed(now time.Time) bool {
	if second := now.Unix(); t.second.Swap(second) != second {
		t.failedInSecond.Store(0)
	}
	return t.failedInSecond.Load() < maxFailedPerSecond && t.failedInSecond.Add(1) <= maxFailedPerSecond
}

func (t *traces) add(e engine.Exchange, failed bool) {
	if t.tracer != nil {
		t.tracer(e)
	}
	if t.keeps() {
		t.content.Keep(e)
	}
	if !failed && t.watched.Load() == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watched.Load() == int64(e.Agent)+1 {
		t.watchedRing.add(e, maxWatchedExchanges)
	}
	if failed {
		t.failedRing.add(e, maxFailedExchanges)
	}
}

// watch keeps the exchanges of an agent from now on and drops those of the previous one. -1 stops that.
func (t *traces) watch(agent int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watched.Swap(int64(max(agent, -1))+1) != int64(agent)+1 {
		t.watchedRing = ring{}
	}
}

// of returns the exchanges of an agent that are kept, oldest first.
func (t *traces) of(agent int) (all []engine.Exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range []*ring{&t.failedRing, &t.watchedRing} {
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
