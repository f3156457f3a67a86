package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// While somebody watches, a pulse beats every beat. One that is later than slack says that the process stood still: it was
// stopped (SIGSTOP, Ctrl+Z), or the machine slept where its steady clock goes on.
const (
	beat  = 20 * time.Millisecond
	slack = 50 * time.Millisecond
)

// pulse is the newest beat, and for how long the process stood still until then.
type pulse struct {
	at   time.Time // zero while nobody watches
	lost time.Duration
}

var (
	newest   atomic.Pointer[pulse]
	watchers struct {
		sync.Mutex
		n    int
		stop chan struct{}
	}
)

// lostAt is for how long the process stood still until now.
func (p *pulse) lostAt(now time.Time) time.Duration {
	if p == nil {
		return 0
	}
	if late := now.Sub(p.at) - beat; !p.at.IsZero() && late > slack {
		return p.lost + late
	}
	return p.lost
}

// virtual reports whether a time is that of testing/synctest, where nothing stands still.
func virtual(now time.Time) bool { return now.Unix() < 1e9 }

// Lost returns for how long the process stood still while somebody watched. Only the difference between two calls means
// something.
func Lost() time.Duration {
	p := newest.Load()
	if p == nil {
		return 0
	}
	now := time.Now()
	if virtual(now) {
		return 0
	}
	return p.lostAt(now)
}

// Watch has clocks and timers not count the time in which the process stands still, until release is called.
func Watch() (release func()) {
	if virtual(time.Now()) {
		return func() {}
	}
	watchers.Lock()
	defer watchers.Unlock()
	if watchers.n++; watchers.n == 1 {
		watchers.stop = make(chan struct{})
		newest.Store(&pulse{time.Now(), newest.Load().lostAt(time.Time{})})
		go beats(watchers.stop)
	}
	return sync.OnceFunc(func() {
		watchers.Lock()
		defer watchers.Unlock()
		if watchers.n--; watchers.n == 0 {
			close(watchers.stop)
		}
	})
}

func beats(stop <-chan struct{}) {
	t := time.NewTicker(beat)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			watchers.Lock()
			if watchers.stop == stop {
				now := time.Now()
				newest.Store(&pulse{now, newest.Load().lostAt(now)})
			}
			watchers.Unlock()
		case <-stop:
			watchers.Lock()
			if watchers.stop == stop { // nobody has begun to watch again
				newest.Store(&pulse{lost: newest.Load().lost})
			}
			watchers.Unlock()
			return
		}
	}
}

// Timer calls a function after a time in which the process did not stand still. The zero value is one that does not run.
type Timer struct {
	mu    sync.Mutex
	timer *time.Timer
	d     time.Duration
	began time.Time
	lost  time.Duration // until then
	f     func()
}

// Start has f called, once, after d.
func (t *Timer) Start(d time.Duration, f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.d, t.began, t.lost, t.f = d, time.Now(), Lost(), f
	t.timer = time.AfterFunc(d, t.fire)
}

// Again starts the time anew, unless the timer does not run.
func (t *Timer) Again() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.began, t.lost = time.Now(), Lost()
		t.timer.Reset(t.d)
	}
}

// Stop ends the timer. Its function may be under way.
func (t *Timer) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}

func (t *Timer) fire() {
	t.mu.Lock()
	if t.timer == nil {
		t.mu.Unlock()
		return
	}
	if left := t.d - (time.Since(t.began) - (Lost() - t.lost)); left > 0 {
		t.timer.Reset(left)
		t.mu.Unlock()
		return
	}
	t.mu.Unlock()
	t.f()
}
