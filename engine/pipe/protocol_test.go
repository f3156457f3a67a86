package pipe

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// TestSendersWaitForAReader checks that senders wait for a slow reader like for anything else: in a test with simulated time, the clock
// continues. A lock that synctest does not know as waiting would stop it forever.
func TestSendersWaitForAReader(t *testing.T) {
	stuck := time.AfterFunc(time.Minute, func() { panic("the clock stands still while two senders wait for a reader") })
	defer stuck.Stop()
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		to, from := newConn(nil, w), newConn(r, nil)
		const frames = 3
		sent := make(chan error, frames)
		for n := range int64(frames) {
			go func() { sent <- to.sendNumber(limitFrame, n) }()
		}
		time.Sleep(time.Second) // the reader is busy
		seen := map[int64]bool{}
		for range frames {
			kind, body, err := from.receive()
			if err != nil || kind != limitFrame {
				t.Fatalf("received %d, %v", kind, err)
			}
			n, err := number(body)
			if err != nil {
				t.Fatal(err)
			}
			seen[n] = true
			if err := <-sent; err != nil {
				t.Error(err)
			}
		}
		if len(seen) != frames {
			t.Errorf("received %v", seen)
		}
	})
}
