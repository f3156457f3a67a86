// Package alarm wakes those who wait close to the instant that they asked for.
//
// On Linux the runtime sleeps in whole milliseconds while nothing is to be done, so a timer there is late by up to one, and
// those that were to run out one after another within it run out together, and then wait for each other. An alarm has the
// system wake the process at the instant itself. On other systems the runtime does that too.
package alarm

import (
	"container/heap"
	"context"
	"sync"
	"time"
)

// Alarm wakes any number of goroutines, each at its time. The zero value is ready; it is safe for concurrent use.
type Alarm struct {
	begun sync.Once
	bell  *bell // nil where the runtime's timers do

	mu      sync.Mutex
	waiting sleepers
	due     time.Time   // of the next ring, were they all a gap apart: the generic cell rate algorithm (ITU-T I.371)
	late    *time.Timer // goes off after the bell
}

// Sleep waits for d. It returns the context's cause if that ends first.
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

// Close frees what the alarm holds of the system. Who still sleeps wakes, though not as close to the time.
func (a *Alarm) Close() {
	a.begun.Do(func() {})
	if a.bell != nil {
		a.bell.close()
	}
}

// begin makes the bell, if the system has one. Within testing/synctest there is none: time is not the system's there.
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
		a.late.Stop() // else it keeps the alarm, and the run that it is part of, in memory until then
	}
}

// wake wakes those whose time has come, some at a time, so that those who wake need not wait for the rest before they
// can sleep again.
func (a *Alarm) wake() {
	now := time.Now()
	for first := true; a.wakeSome(now, first); first = false {
	}
}

// wakeSome reports whether there are more.
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
	// gap is what lies between two rings in the long run, and as many may follow each other at once as have their gaps
	// within burst: where more than that many wake, some of them wake together.
	gap   = 150 * time.Microsecond
	burst = 20 * time.Millisecond
	// lateness is when a timer goes off in place of a bell that was not heard: the runtime looks at its timers whenever
	// it turns to another goroutine, at descriptors only when it has nothing else to run.
	lateness = time.Millisecond
)

// set has the alarm go off for the first of those who wait. mu is held, and may have been long in coming: what the time
// was before is of no use.
func (a *Alarm) set() {
	now := time.Now()
	d := max(a.waiting[0].until.Sub(now), a.due.Add(-burst).Sub(now), 1) // 0 would be never
	a.bell.set(d)
	a.late.Reset(d + lateness)
}

// sleeper is one who waits.
type sleeper struct {
	until time.Time
	awake chan struct{} // closed when its time has come
	index int           // among those who wait; -1 when it does no more
}

// sleepers are a heap, the earliest first.
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
