package fleet

import (
	"runtime"
	"sync"
	"testing"

	"github.com/throng-sim/throng/engine/run/shards"
)

// TestInvitedTwice checks that a worker that is invited twice at the same time, such as when it joins again while the part of another one
// gets free, has that part.
func TestInvitedTwice(t *testing.T) {
	for range 100 {
		p := crew{&Pool{
			c: &Coordinator{}, order: newChannelLock(), clients: map[string]*client{}, dirty: map[string]bool{}, orders: make(chan struct{}, 1),
			book: shards.New(1), more: PoolConfig{Parts: 1},
		}}
		var all sync.WaitGroup
		p.c.mu.Lock() // so that both have begun before either continues
		for range 2 {
			all.Go(func() {
				if why := p.invite("w"); why != "" {
					t.Error(why)
				}
			})
		}
		for range 1000 {
			runtime.Gosched()
		}
		p.c.mu.Unlock()
		all.Wait()
		if t.Failed() {
			return
		}
	}
}
