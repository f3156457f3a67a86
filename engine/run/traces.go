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
	watchedExchanges = 200 // of the agent that is watched, the newest
	failedExchanges  = 50  // of all agents, the newest
	// failedEach bounds what a storm of failures costs: no more than that are looked at in a second.
	failedEach = 50
)

// traces keep exchanges for people: those of the agent that is watched, and those that failed. It is safe for concurrent use.
type traces struct {
	tracer  engine.Tracer // nil is none
	watched atomic.Int64  // the agent's index and 1; 0 is nobody
	second  atomic.Int64  // since 1970, to which noted belongs
	noted   atomic.Int64  // of those that went wrong

	mu     sync.Mutex
	of     ring // of the agent that is watched
	failed ring
}

// wants reports whether an exchange of an agent is wanted.
func (t *traces) wants(agent int, failed bool) bool {
	return t.tracer != nil || t.watched.Load() == int64(agent)+1 || failed && t.mayNote(time.Now())
}

// mayNote reports whether another exchange that went wrong may be kept in this second. Two that come as it begins may
// both take the new one for their own: a few more are kept then.
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

// watch has the exchanges of an agent kept from now on, in the place of those of another; -1 is nobody.
func (t *traces) watch(agent int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watched.Swap(int64(max(agent, -1))+1) != int64(agent)+1 {
		t.of = ring{}
	}
}

// about are the exchanges of an agent that are kept, oldest first.
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
	return slices.Compact(all) // what is in both
}

// ring keeps the newest exchanges, in no order.
type ring struct {
	all  []engine.Exchange
	next int // to be overwritten
}

func (r *ring) add(e engine.Exchange, most int) {
	if len(r.all) < most {
		r.all = append(r.all, e)
		return
	}
	r.all[r.next] = e
	r.next = (r.next + 1) % most
}
