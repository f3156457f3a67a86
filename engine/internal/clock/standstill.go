package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// While a watcher is active, a pulse beats every beat. A beat that is later than slack means that the process stood still: it was
// stopped (SIGSTOP, Ctrl+Z), or the machine slept while its steady clock continued.
const (
	beat  = 20 * time.Millisecond
	slack = 50 * time.Millisecond
)

// pulse is the newest beat, with the total standstill up to then.
type pulse struct {
	at   time.Time // zero without a watcher
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

// lostAt returns the total standstill up to now.
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

// Lost returns how long the process stood still while there was a watcher. Only the difference between two calls is meaningful.
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

// Watch makes clocks and timers ignore standstills of the process, until release is called.
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
			if watchers.stop == stop { // no new watcher has started
				newest.Store(&pulse{lost: newest.Load().lost})
			}
			watchers.Unlock()
			return
		}
	}
}

// Timer calls a function after a time in which the process did not stand still. The zero value is a stopped timer.
type Timer struct {
	mu    sync.Mutex
	timer *time.Timer
	d     time.Duration
	began time.Time
	lost  time.Duration // total standstill at the start
	f     func()
}

// Start makes the timer call f once, after d.
func (t *Timer) Start(d time.Duration, f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.d, t.began, t.lost, t.f = d, time.Now(), Lost(), f
	t.timer = time.AfterFunc(d, t.fire)
}

// Again restarts a running timer.
func (t *Timer) Again() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.began, t.lost = time.Now(), Lost()
		t.timer.Reset(t.d)
	}
}

// Stop stops the timer. Its function may be running.
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
