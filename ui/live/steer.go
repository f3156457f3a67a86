package live

import (
	"time"

	"github.com/throng-sim/throng/ui/internal/async"
)

// steerEvery is the minimum interval of limits while the user drags the slider.
const steerEvery = 200 * time.Millisecond

// steer sends limits to the run: the first immediately, then the newest a few times a second, and always the last.
type steer struct {
	orders  *orders
	job     *Job
	wanted  int
	waits   bool // wanted is not sent yet
	busy    bool // a limit is on its way
	last    time.Time
	pending *time.Timer
}

func (t *steer) begin(job *Job) {
	if t.pending != nil {
		t.pending.Stop()
	}
	*t = steer{orders: t.orders, job: job}
}

// want requests a limit.
func (t *steer) want(n int) {
	t.wanted, t.waits = n, true
	t.next()
}

// flush sends the last limit without waiting.
func (t *steer) flush() {
	t.last = time.Time{}
	t.next()
}

// settled reports whether the run has received every requested limit.
func (t *steer) settled() bool { return !t.waits && !t.busy }

func (t *steer) next() {
	if !t.waits || t.busy {
		return
	}
	job := t.job
	if early := steerEvery - time.Since(t.last); early > 0 {
		if t.pending != nil {
			t.pending.Stop()
		}
		t.pending = time.AfterFunc(early, func() {
			async.Do(func() {
				if t.job == job {
					t.next()
				}
			})
		})
		return
	}
	n := t.wanted
	t.waits, t.busy, t.last = false, true, time.Now()
	async.Work(func() (struct{}, error) { return struct{}{}, job.SetLimit(n, user, "slider") }, func(_ struct{}, err error) {
		if t.job != job {
			return
		}
		t.busy = false
		if err != nil {
			t.waits = false
			t.orders.say("Setting the limit", err)
		}
		t.orders.again()
		t.next()
	})
}
