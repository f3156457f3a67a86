package fleet

import "sync"

// inbox has what a worker sends handled, in order. It is safe for concurrent use.
type inbox struct {
	mu      sync.Mutex
	waiting []func()
	wake    chan struct{} // has room for one; closed at the end
}

// inboxSize is how many requests of one worker wait to be handled. Each of its sessions in flight may have some.
const inboxSize = 1 << 17

func newInbox() *inbox {
	b := &inbox{wake: make(chan struct{}, 1)}
	go func() {
		for range b.wake {
			b.mu.Lock()
			all := b.waiting
			b.waiting = nil
			b.mu.Unlock()
			for _, f := range all {
				f()
			}
		}
	}()
	return b
}

// add adds a request. It returns false if there are too many.
func (b *inbox) add(f func()) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) >= inboxSize {
		return false
	}
	b.waiting = append(b.waiting, f)
	select {
	case b.wake <- struct{}{}:
	default:
	}
	return true
}

// close ends the inbox after what was added. Nothing is added afterward.
func (b *inbox) close() { close(b.wake) }
