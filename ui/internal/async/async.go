// Package async is the one way to the UI goroutine. Fyne's queue is unbounded and first in, first out, so nothing may
// put a call into it per event: a [Pulse] has at most one waiting, and [Work] one for each thing that a person did.
package async

import (
	"runtime/debug"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
)

var do atomic.Pointer[func(func())]

// Do has the UI goroutine call a function soon.
func Do(f func()) {
	if way := do.Load(); way != nil {
		(*way)(f)
		return
	}
	fyne.Do(func() {
		if !over.Load() {
			f()
		}
	})
}

var over atomic.Bool

// End leaves out what is still to come when the windows are closed: the toolkit would call it on the goroutine that it
// comes from.
func End() { over.Store(true) }

// Replace gives tests another way to the UI goroutine.
func Replace(way func(func())) { do.Store(&way) }

// Work calls work on a goroutine of its own and then, on the UI goroutine, then with what it returned.
func Work[T any](work func() (T, error), then func(T, error)) {
	go func() {
		defer rescue()
		result, err := work()
		Do(func() { then(result, err) })
	}()
}

// Panic is a panic of work, on its way to the UI goroutine, where the program guards itself.
type Panic struct {
	Value any
	Stack []byte
}

func rescue() {
	if p := recover(); p != nil {
		stack := debug.Stack()
		Do(func() { panic(Panic{p, stack}) })
	}
}

// Pulse calls a function on the UI goroutine again and again.
type Pulse struct {
	stop, stopped chan struct{}
}

// Start begins a pulse. A beat that finds the one before still waiting is left out.
func Start(every time.Duration, beat func()) *Pulse {
	p := &Pulse{stop: make(chan struct{}), stopped: make(chan struct{})}
	var waiting atomic.Bool
	go func() {
		defer close(p.stopped)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
			}
			if waiting.CompareAndSwap(false, true) {
				Do(func() {
					waiting.Store(false)
					beat()
				})
			}
		}
	}()
	return p
}

// Stop ends the pulse; one beat may still come.
func (p *Pulse) Stop() {
	close(p.stop)
	<-p.stopped
}
