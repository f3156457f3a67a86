// Package alarm wakes sleeping goroutines close to the instant that they asked for.
//
// On Linux an idle runtime sleeps in whole milliseconds. A timer is then late by up to 1 ms, and timers that should fire one at a
// time within that millisecond fire together, so that their goroutines wait for each other. An alarm has the system wake the
// process at the instant itself. On other systems the runtime does that too.
package alarm

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// Alarm wakes any number of goroutines, each at its time. The zero value is ready to use. It is safe for concurrent use.
type Alarm struct {
	begun sync.Once
	bell  *bell // nil if the runtime's timers are precise

	mu      sync.Mutex
	waiting sleepers
	due     time.Time   // theoretical time of the next ring, with rings a gap apart: the generic cell rate algorithm (ITU-T I.371)
	late    *time.Timer // fires after the bell
}

// Sleep waits for d. If ctx ends first, it returns the cause.
func (a *Alarm) Sleep(ctx context.Context, d time.Duration) error {
	a.begun.Do(a.begin)
	if a.bell == nil {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	s := &sleeper{until: time.Now().Add(d), awake: make(chan struct{})}
	a.add(s)
	select {
	case <-s.awake:
		return nil
	case <-ctx.Done():
		a.remove(s)
		return context.Cause(ctx)
	}
}

// Close releases the alarm's system resources. Goroutines that still sleep wake less precisely.
func (a *Alarm) Close() {
	a.begun.Do(func() {})
	if a.bell != nil {
		a.bell.close()
	}
}

// begin creates the bell, if the system has one. testing/synctest has none: its time is not the system's.
func (a *Alarm) begin() {
	if a.bell = newBell(); a.bell == nil {
		return
	}
	a.late = time.AfterFunc(time.Hour, a.wake)
	go func() {
		for a.bell.wait() {
			a.wake()
		}
	}()
}

func (a *Alarm) add(s *sleeper) {
	a.mu.Lock()
	defer a.mu.Unlock()
	heap.Push(&a.waiting, s)
	if s.index == 0 {
		a.set()
	}
}

func (a *Alarm) remove(s *sleeper) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.index >= 0 {
		heap.Remove(&a.waiting, s.index)
	}
	if len(a.waiting) == 0 {
		a.late.Stop() // otherwise the timer would keep the alarm, and its run, in memory until it fires
	}
}

// wake wakes the sleepers whose time has come, a few at a time, so that they can sleep again before all others have woken.
func (a *Alarm) wake() {
	now := time.Now()
	for first := true; a.wakeSome(now, first); first = false {
	}
}

// wakeSome wakes a few sleepers and reports whether there are more.
func (a *Alarm) wakeSome(now time.Time, first bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if first {
		if a.due.Before(now) {
			a.due = now
		}
		a.due = a.due.Add(gap)
	}
	for range atOnce {
		if len(a.waiting) == 0 {
			return false
		}
		if a.waiting[0].until.After(now) {
			a.set()
			return false
		}
		close(heap.Pop(&a.waiting).(*sleeper).awake)
	}
	return true
}

const (
	atOnce = 64
	// gap is the average time between two rings. Rings may follow each other immediately as long as their gaps add up to at most
	// burst. If more goroutines wake than that, some of them wake together.
	gap   = 150 * time.Microsecond
	burst = 20 * time.Millisecond
	// lateness is the delay of the timer that fires if the bell was not noticed: the runtime checks its timers whenever it switches
	// goroutines, but descriptors only if it has nothing else to run.
	lateness = time.Millisecond
)

// set sets the alarm for the first sleeper. mu is held, and may have taken long to acquire, so that an earlier time must not be
// used.
func (a *Alarm) set() {
	now := time.Now()
	d := max(a.waiting[0].until.Sub(now), a.due.Add(-burst).Sub(now), 1) // 0 would mean never
	a.bell.set(d)
	a.late.Reset(d + lateness)
}

// sleeper is a sleeping goroutine.
type sleeper struct {
	until time.Time
	awake chan struct{} // closed when its time has come
	index int           // in the heap; -1 if it is not in it
}

// sleepers are a heap by time.
type sleepers []*sleeper

func (s sleepers) Len() int           { return len(s) }
func (s sleepers) Less(i, j int) bool { return s[i].until.Before(s[j].until) }

func (s sleepers) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

func (s *sleepers) Push(x any) {
	one := x.(*sleeper)
	one.index = len(*s)
	*s = append(*s, one)
}

func (s *sleepers) Pop() any {
	last := len(*s) - 1
	one := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	one.index = -1
	return one
}
