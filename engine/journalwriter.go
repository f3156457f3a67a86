package engine

import "context"

// maxNotes is how many rows wait for the journal writer before figures give way to what happened.
const maxNotes = 4096

// note is a row that the loop wants journaled.
type note struct {
	row  Row
	ctx  context.Context // of the wait until it is durable; nil does not wait
	then func(error)     // hears in the loop that it is queued or, with ctx, durable; may be nil
	sent func()          // hears in the loop that the journal writer has it; may be nil
}

// append has a row journaled.
func (l *loop) append(row Row, then func()) {
	n := note{row: row}
	if then != nil {
		n.then = func(error) { then() }
	}
	l.backlog = append(l.backlog, n)
}

// commit has a row journaled and hears when it is durable.
func (l *loop) commit(ctx context.Context, row Row, then func(error)) {
	l.backlog = append(l.backlog, note{row: row, ctx: ctx, then: then})
}

// outgoing is the oldest note and where it goes; nowhere when there is none.
func (l *loop) outgoing() (chan<- note, note) {
	if len(l.backlog) == 0 {
		return nil, note{}
	}
	return l.journalWriter, l.backlog[0]
}

func (l *loop) sent() {
	if hear := l.backlog[0].sent; hear != nil {
		hear()
	}
	l.backlog[0] = note{}
	if l.backlog = l.backlog[1:]; len(l.backlog) == 0 {
		l.backlog = nil
	}
}

// write journals the loop's notes one by one, in the order in which they were made, until the loop ends. Neither a
// full queue nor a slow disk holds the loop up, and a checkpoint never overtakes a barrier.
func (l *loop) write() {
	defer l.r.rescue()
	for n := range l.journalWriter {
		var err error
		if n.ctx == nil {
			l.r.journal.Append(n.row)
		} else {
			err = l.r.journal.Commit(n.ctx, n.row)
		}
		if n.then != nil {
			l.comeBack(func() { n.then(err) })
		}
	}
}

// aside runs work in a goroutine and then has the loop carry out after.
func (l *loop) aside(work, after func()) {
	go func() {
		defer l.r.rescue()
		work()
		l.comeBack(after)
	}()
}

// comeBack has the loop carry out f, unless it has ended.
func (l *loop) comeBack(f func()) {
	select {
	case l.r.orders <- func(*loop) { f() }:
	case <-l.r.done:
	}
}
