package live

import (
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
)

// settleAfter is how long after the last key a limit chosen with the keyboard is sent, so that several keys are one change.
const settleAfter = 600 * time.Millisecond

// steer sends limits to the run: one for each movement of the hand. It remembers the limits before, for undo.
type steer struct {
	orders  *orders
	job     *Job
	wanted  string // a number or [engine.Automatic]; "" if nothing is left to send
	undone  bool   // wanted is from the past
	busy    bool   // a limit is on its way
	pending *time.Timer
	past    []string // limits before each change by hand, oldest first
}

func (t *steer) begin(job *Job) {
	if t.pending != nil {
		t.pending.Stop()
	}
	*t = steer{orders: t.orders, job: job}
}

// later sends a limit once no other follows.
func (t *steer) later(n int) {
	t.wanted, t.undone = strconv.Itoa(n), false
	job := t.job
	if t.pending != nil {
		t.pending.Stop()
	}
	t.pending = time.AfterFunc(settleAfter, func() {
		async.Do(func() {
			if t.job == job {
				t.next()
			}
		})
	})
}

// now sends a limit.
func (t *steer) now(limit string) {
	if t.pending != nil {
		t.pending.Stop()
	}
	t.wanted, t.undone = limit, false
	t.next()
}

// undo returns to the limit before the last change by hand.
func (t *steer) undo() {
	if !t.canUndo() {
		return
	}
	last := t.past[len(t.past)-1]
	t.past = t.past[:len(t.past)-1]
	t.wanted, t.undone = last, true
	t.next()
}

func (t *steer) canUndo() bool { return len(t.past) > 0 && t.settled() && t.orders.live() }

// settled reports whether the run has received every chosen limit.
func (t *steer) settled() bool { return t.wanted == "" && !t.busy }

func (t *steer) next() {
	if t.wanted == "" || t.busy {
		return
	}
	job, limit, undone, before := t.job, t.wanted, t.undone, limitOf(t.job.Snapshot())
	t.wanted, t.busy = "", true
	why := "by hand"
	if undone {
		why = "undo"
	}
	async.Work(func() (struct{}, error) {
		_, err := job.Apply([]engine.Assignment{{Name: engine.LimitSetting, Value: limit}}, user, why)
		return struct{}{}, err
	}, func(_ struct{}, err error) {
		if t.job != job {
			return
		}
		t.busy = false
		switch {
		case err != nil:
			t.wanted = ""
			t.orders.say("Setting the limit", err)
		case !undone && before != limit:
			t.past = append(t.past, before)
		}
		t.orders.again()
		t.next()
	})
}

// limitOf returns the limit as the run takes it: a number, or automatic.
func limitOf(s *engine.Snapshot) string {
	if governed(s) {
		return engine.Automatic
	}
	return strconv.Itoa(s.Limit)
}
