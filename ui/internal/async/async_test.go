package async

import (
	"runtime"
	"sync"
	"testing"
)

// TestEnd checks that no call reaches the toolkit once End has returned. The toolkit closes its queue then, and a call that is put in the
// closed queue ends the process.
func TestEnd(t *testing.T) {
	former := toolkit
	t.Cleanup(func() {
		toolkit = former
		over.Store(false)
	})
	for range 200 {
		queue := make(chan func(), 1<<16)
		toolkit = func(f func()) {
			runtime.Gosched() // the toolkit also does something before it sends
			queue <- f
		}
		over.Store(false)
		begin, done := make(chan struct{}), make(chan struct{})
		var senders sync.WaitGroup
		for range 4 {
			senders.Go(func() {
				<-begin
				for range 1000 {
					Do(func() { t.Error("a call was made after the end") })
				}
			})
		}
		go func() {
			defer close(done)
			senders.Wait()
		}()
		close(begin)
		for len(queue) < 10 {
			runtime.Gosched()
		}
		End()
		close(queue)
		<-done
		for f := range queue {
			f()
		}
	}
}
