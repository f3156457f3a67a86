package lending

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/admission"
)

const (
	pollTime = 2 * time.Second // how long an ask waits before the worker must repeat it
	// A waiting ask compares its cause with the one that the worker shows after firstCause, and then every causeTime.
	firstCause = 20 * time.Millisecond
	causeTime  = 250 * time.Millisecond
	calmTime   = 5 * time.Second // how long a service must be without limits before its requests need no admission
)

// Lending admits the requests of workers with the limits of the coordinator's clients. It is safe for concurrent use.
type Lending struct {
	changed func(Lent)
	running sync.WaitGroup

	mu       sync.Mutex
	services map[string]*lentService
	members  map[string]*member
	most     int
	version  uint64
	joined   uint64        // number of the member that joined last
	number   uint64        // of the last admission
	followed chan struct{} // closed when a worker follows a newer version, or is gone
	closed   bool
}

type lentService struct {
	control *admission.Controller
	free    bool      // its requests need no admission
	since   uint64    // version since which they do
	busy    time.Time // when something limited it last
}

// member is a worker.
type member struct {
	id      uint64
	follows uint64 // version of Lent
	number  uint64 // of the last notes
	over    uint64 // no ask up to this one is repeated
	asks    map[uint64]*ask
	held    map[uint64]*held
	began   map[string]int // requests without an admission that are counted as in flight, by service
}

// held is an admission.
type held struct {
	control *admission.Controller
	request admission.Request
}

// drop returns an admission whose request was not sent.
func (h *held) drop() {
	h.control.GiveBack(&h.request)
	h.control.Leave(&h.request)
}

// ask is an [Ask] in progress, or its answer.
type ask struct {
	Ask
	of    *lentService
	ctx   context.Context // ends when the ask is withdrawn
	end   context.CancelFunc
	cause atomic.Uint32
	held  atomic.Bool   // it has waited
	done  chan struct{} // closed when grant is set
	grant Grant
}

// Hold implements [admission.Holder]: the worker pauses the clocks.
func (k *ask) Hold(at engine.ThrottleCause, wait func() (engine.ThrottleCause, error)) error {
	k.cause.Store(uint32(at))
	k.held.Store(true)
	_, err := wait()
	return err
}

// Config configures a [Lending].
type Config struct {
	Services map[string]*admission.Controller // by name
	// Most is the highest number of requests in flight over all workers and services, as follows from the concurrency limit; 0 if it
	// is not known. While nothing limits a service and Most fits its limits, its requests need no admission.
	Most int
	// Changed is called when [Lent] changes, and must not block. Calls may arrive out of order: the highest version applies. Nil
	// leaves workers to find out from answers.
	Changed func(Lent)
}

// New returns a lending without workers.
func New(c Config) *Lending {
	l := &Lending{most: c.Most, services: map[string]*lentService{}, members: map[string]*member{}, followed: make(chan struct{})}
	for name, control := range c.Services {
		l.services[name] = &lentService{control: control}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh(time.Now())
	l.changed = c.Changed
	return l
}

// Join adds a worker, and returns what its [Borrower] must use. A worker that is there already is forgotten first.
func (l *Lending) Join(worker string) Lent {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(worker)
	l.joined++
	l.members[worker] = &member{id: l.joined, asks: map[uint64]*ask{}, held: map[uint64]*held{}, began: map[string]int{}}
	lent := l.lent()
	lent.Member = l.joined
	return lent
}

// Forget takes back everything that a lost worker held.
func (l *Lending) Forget(worker string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(worker)
}

// forget is Forget. mu is held.
func (l *Lending) forget(worker string) {
	m := l.members[worker]
	if m == nil {
		return
	}
	delete(l.members, worker)
	for _, k := range m.asks {
		k.end()
	}
	for _, h := range m.held { // the requests may have been sent
		h.control.Leave(&h.request)
	}
	for service, n := range m.began {
		for range n {
			l.services[service].control.Leave(nil)
		}
	}
	l.follow()
}

// follow wakes the asks that wait for workers to follow. mu is held.
func (l *Lending) follow() {
	close(l.followed)
	l.followed = make(chan struct{})
}

// Close withdraws all asks and waits until they have ended.
func (l *Lending) Close() {
	l.mu.Lock()
	l.closed = true
	for worker := range l.members {
		l.forget(worker)
	}
	l.mu.Unlock()
	l.running.Wait()
}

// Expect changes [Config.Most]. Call it before the concurrency limit of the run is raised, and let each worker use the result before
// its share of the limit is raised.
func (l *Lending) Expect(most int) Lent {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most = most
	l.refresh(time.Now())
	return l.lent()
}

// Refresh decides again which services' requests need no admission. Call it about once a second, and after a limit or a rate was
// changed by hand.
func (l *Lending) Refresh() Lent {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refresh(time.Now())
	return l.lent()
}

// refresh is Refresh. mu is held.
func (l *Lending) refresh(now time.Time) {
	changed := false
	for _, s := range l.services {
		if l.most == 0 || !s.control.Calm(now, l.most) {
			s.busy = now
		}
		free := now.Sub(s.busy) >= calmTime
		if free == s.free {
			continue
		}
		if !changed {
			changed = true
			l.version++
		}
		if s.free = free; !free {
			s.since = l.version
		}
	}
	if changed && l.changed != nil && !l.closed {
		lent := l.lent()
		l.running.Go(func() { l.changed(lent) })
	}
}

// lent returns the present [Lent]. mu is held.
func (l *Lending) lent() Lent {
	lent := Lent{Version: l.version}
	for name, s := range l.services {
		if s.free {
			lent.Free = append(lent.Free, name)
		}
	}
	slices.Sort(lent.Free)
	return lent
}
