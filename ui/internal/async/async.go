// Package async is the only way to the UI goroutine. Fyne's queue is an unbounded FIFO, so never queue a call per event: a [Pulse] has at
// most one call waiting, and [Work] one for each action of the user.
package async

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
)

var (
	do      atomic.Pointer[func(func())]
	toolkit = fyne.Do
	// sending is held for reading while a call is handed to the toolkit.
	sending sync.RWMutex
	over    atomic.Bool
)

// Do calls a function on the UI goroutine.
func Do(f func()) {
	if way := do.Load(); way != nil {
		(*way)(f)
		return
	}
	sending.RLock()
	defer sending.RUnlock()
	if over.Load() {
		return
	}
	toolkit(func() {
		if !over.Load() {
			f()
		}
	})
}

// End drops further calls. Call it on the UI goroutine just before the toolkit quits: the toolkit closes its queue then, and panics if
// another goroutine still puts a call in it.
func End() {
	over.Store(true)
	sending.Lock() // waits for calls that are being handed over
	defer sending.Unlock()
}

// Replace sets another way to the UI goroutine, for tests.
func Replace(way func(func())) { do.Store(&way) }

// Work calls work on a new goroutine, and then calls then with the result on the UI goroutine.
func Work[T any](work func() (T, error), then func(T, error)) {
	go func() {
		defer rescue()
		result, err := work()
		Do(func() { then(result, err) })
	}()
}

// Panic is a panic of work on its way to the UI goroutine, which handles panics.
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

// Pulse calls a function on the UI goroutine repeatedly.
type Pulse struct {
	stop, stopped chan struct{}
}

// Start starts a pulse. It skips a call while the previous one is waiting.
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

// Stop stops the pulse; one more call may follow.
func (p *Pulse) Stop() {
	close(p.stop)
	<-p.stopped
}
