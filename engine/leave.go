package engine

import (
	"cmp"
	"context"
	"runtime/debug"
	"time"
)

const (
	// Haste is how long at most a run takes to end by [Run.Leave], whatever its sessions and its disk do: the time that
	// its sessions get, and then what remains for their being cut and for the last rows.
	Haste = cutPatience + hastyPatience + hastyWords

	cutPatience   = 2500 * time.Millisecond
	hastyPatience = time.Second
	hastyWords    = time.Second

	// crashTime is how long what is done after a panic may take.
	crashTime = 2 * time.Second
)

// PanicReason is the reason of a checkpoint that was taken because a goroutine of the run panicked.
const PanicReason = "panic"

// Leave ends the run within [Haste] since the program has to end, as why says, such as "SIGTERM". At first a checkpoint
// is taken, with why as its reason; then the sessions in flight may end for half of that time, and what is left is cut.
func (r *Run) Leave(why string) error {
	return r.insist(func(l *loop) error { return l.hurry(why) })
}

func (l *loop) hurry(why string) error {
	if l.hasty || l.phase == Ended {
		return nil
	}
	l.hasty, l.lastCheckpoint = true, true
	if !l.finishing && !l.abandoned {
		l.checkpoint(why, nil)
	}
	if l.phase != Draining {
		if err := l.stop("throng", why); err != nil {
			return err
		}
	}
	if l.isCut { // it has its own time already, which is longer
		l.last.Reset(hastyPatience)
		return nil
	}
	go func() {
		late := time.NewTimer(cutPatience)
		defer late.Stop()
		select {
		case <-late.C:
			_ = l.r.insist(func(l *loop) error { l.cutShort(why); return nil }) // else it has ended
		case <-l.r.done:
		}
	}()
	return nil
}

// patience is how long a run that is cut waits for its sessions and rows.
func (l *loop) patience() time.Duration {
	if l.hasty {
		return hastyPatience
	}
	return patience
}

// lastWords is how long its end may take then.
func (l *loop) lastWords() time.Duration {
	if l.hasty {
		return hastyWords
	}
	return lastWords
}

// rescue is deferred by the goroutines of the run but for its loop. A panic of theirs leaves the loop in order.
func (r *Run) rescue() {
	if r.crashed == nil {
		return // it takes its course
	}
	if p := recover(); p != nil {
		stack := debug.Stack()
		ctx, cancel := context.WithTimeout(context.Background(), crashTime)
		defer cancel()
		_ = r.Checkpoint(ctx, PanicReason) // the run goes on from the journal's end all the same
		r.crashed(p, stack)
	}
}

// rescue is deferred by the loop.
func (l *loop) rescue() {
	if l.r.crashed == nil {
		return
	}
	if p := recover(); p != nil {
		stack := debug.Stack()
		l.savePanicked()
		l.r.crashed(p, stack)
		l.r.result.Ending = EndFailed
		l.r.result.Reason = cmp.Or(l.r.result.Reason, "a mistake in Throng itself")
	}
}

// savePanicked takes a checkpoint after the loop has panicked, unless that was while memory moved on to the next cycle.
// For that it only carries out what comes back from the journal.
func (l *loop) savePanicked() {
	defer func() { _ = recover() }() // once more: nothing more can be done
	if l.turning || l.finishing || l.phase == Ended {
		return
	}
	saved := make(chan struct{})
	l.checkpoint(PanicReason, func(error) { close(saved) })
	late := time.NewTimer(crashTime)
	defer late.Stop()
	for {
		journalWriter, next := l.outgoing()
		select {
		case journalWriter <- next:
			l.sent()
		case order := <-l.r.orders:
			order(l)
		case <-saved:
			return
		case <-late.C:
			return
		}
	}
}
