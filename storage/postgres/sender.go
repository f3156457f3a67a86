package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

const (
	// mostRows is the maximum number of sessions in a batch.
	mostRows = 20_000
	// stagedRows is the maximum while rows may already be in the database, because checking is slower.
	stagedRows = 1000
	// turnTime is how long a run is sent before the next run has its turn.
	turnTime = 10 * time.Second
	// The wait after a failed attempt starts at firstWait and doubles up to lastWait. Half of it is random, so that many
	// clients of a failed server do not reconnect at the same time.
	firstWait, lastWait = time.Second / 2, 15 * time.Second
	// maxNames is the number of runs whose names are cached.
	maxNames = 8
)

// send is the loop of the sender.
func (p *Pusher) send(ctx context.Context) {
	defer close(p.ended)
	defer p.disconnect()
	wait := firstWait
	for {
		err := p.pass(ctx)
		var again <-chan time.Time
		nudged := p.nudged
		if err != nil {
			again, nudged = time.After(wait/2+rand.N(wait/2)), nil
			wait = min(2*wait, lastWait)
		} else {
			wait = firstWait
		}
		select {
		case <-p.open.Done():
			if p.pool.Load() != nil {
				_ = p.pass(ctx) // the error is in the status
			}
			return
		case <-again:
		case <-nudged:
		case <-p.urgent:
		}
	}
}

// pass sends the outbox once. Its error says that the database is unreachable or rejects everything.
func (p *Pusher) pass(ctx context.Context) error {
	r, wanted := p.rounds.begin()
	defer close(r.done)

	r.err = p.connect()
	if r.err == nil {
		r.err = p.drainAll(ctx, r, wanted)
	}
	if r.err == nil {
		p.passed(r)
		return nil
	}
	r.err = explain(r.err, p.server)
	if p.open.Err() == nil {
		p.lost(r.err)
	}
	return r.err
}

// drainAll sends the unsent rows of each run.
func (p *Pusher) drainAll(ctx context.Context, r *round, wanted []engine.RunID) error {
	runs, err := p.config.Outbox.Outbox(ctx, p.target)
	if err != nil {
		return err
	}
	first := slices.DeleteFunc(slices.Clone(runs), func(run engine.RunID) bool { return !slices.Contains(wanted, run) })
	runs = append(first, slices.DeleteFunc(runs, func(run engine.RunID) bool { return slices.Contains(wanted, run) })...)
	for _, run := range runs {
		err := p.pushRun(ctx, run)
		if local, ok := errors.AsType[*localError](err); ok && ctx.Err() == nil {
			if !errors.Is(err, engine.ErrNotFound) { // otherwise it was deleted in the meantime
				r.failed[run] = local.error
			}
			continue
		}
		if err != nil {
			return err
		}
	}
	return p.sendContents(ctx, r)
}

// localError says that one run cannot be read.
type localError struct{ error }

func (e *localError) Unwrap() error { return e.error }

// loaded is a batch that was read while the previous one was sent; nil at the end.
type loaded struct {
	*batch
	err error
}

// pushRun sends the unsent rows of a run. A run that creates rows as fast as they are sent yields to others after a while.
func (p *Pusher) pushRun(ctx context.Context, run engine.RunID) error {
	began := time.Now()
	next := p.load(ctx, run, storage.Cursor{})
	for {
		l := <-next
		if l.err != nil || l.batch == nil {
			return l.err
		}
		next = nil
		switch {
		case l.full && time.Since(began) < turnTime:
			next = p.load(ctx, run, l.cursor)
		case l.full:
			p.Nudge()
		}
		err := p.push(ctx, l.batch)
		p.spare = append(p.spare, l.batch)
		if err != nil || next == nil {
			if next != nil {
				<-next // ends the read
			}
			return err
		}
	}
}

// load reads and encodes the next batch of a run in the background.
func (p *Pusher) load(ctx context.Context, run engine.RunID, after storage.Cursor) <-chan loaded {
	out := make(chan loaded, 1)
	b := &batch{}
	if n := len(p.spare); n > 0 {
		b, p.spare = p.spare[n-1], p.spare[:n-1]
	}
	rows := p.rows
	if p.staged {
		rows = min(rows, stagedRows)
	}
	names, known := p.names[run]
	if !known {
		var err error
		if names, err = p.config.Names(ctx, run); err != nil {
			out <- loaded{err: &localError{fmt.Errorf("names of run %s: %w", run, err)}}
			return out
		}
		if len(p.names) >= maxNames {
			clear(p.names)
		}
		p.names[run] = names
	}
	go func() {
		delivery, err := p.config.Outbox.Delivery(ctx, run, p.target, after, rows)
		if err == nil && delivery.Empty() {
			out <- loaded{}
			return
		}
		if err == nil {
			delivery.Sessions = while(ctx, delivery.Sessions)
			err = b.fill(run, delivery, names, maker{p.config.Version, p.config.Machine})
		}
		if err != nil {
			out <- loaded{err: &localError{err}}
			return
		}
		out <- loaded{batch: b}
	}()
	return out
}

// while yields rows until ctx ends, so that closing the pusher does not wait for the encoding of a large batch.
func while(ctx context.Context, rows iter.Seq2[*engine.SessionRow, error]) iter.Seq2[*engine.SessionRow, error] {
	return func(yield func(*engine.SessionRow, error) bool) {
		for row, err := range rows {
			if ctx.Err() != nil {
				yield(nil, context.Cause(ctx))
				return
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// push sends a batch and confirms it.
func (p *Pusher) push(ctx context.Context, b *batch) error {
	// After a timeout the batch is made smaller.
	batchCtx, cancel := context.WithTimeout(ctx, p.limits.Statement)
	defer cancel()
	batchCtx, giveUp := context.WithCancelCause(batchCtx)
	defer giveUp(nil)
	var s sending
	err := p.withConn(batchCtx, func(conn *pgx.Conn) error {
		p.sending.Store(&currentBatch{conn, giveUp})
		defer p.sending.Store(nil)
		s = sending{batch: b, conn: conn, begin: p.limits.begin(), staged: p.staged}
		return s.send(batchCtx, b.all())
	})
	if s.rows > 0 {
		p.status.set(func(st *Status) { st.Sent += s.rows })
	}
	if err != nil {
		if cause := context.Cause(batchCtx); errors.Is(cause, errSilence) {
			return cause
		}
		if ctx.Err() == nil && (batchCtx.Err() != nil || tookTooLong(err)) {
			p.rows = max(min(p.rows, len(b.names))/2, 1)
		}
		return err
	}
	p.rows = min(2*p.rows, mostRows)
	p.staged = s.rows < b.count()
	p.up()
	p.setAside(b, s.aside)
	p.status.set(func(st *Status) { st.Confirmed += int64(len(b.names)) })
	if err := p.config.Outbox.Sent(ctx, b.run, p.target, b.cursor); err != nil {
		return &localError{err}
	}
	return nil
}

func (p *Pusher) withConn(ctx context.Context, f func(conn *pgx.Conn) error) error {
	acquire, cancel := context.WithTimeout(ctx, p.limits.Acquire)
	defer cancel()
	p.waiting.Add(1)
	c, err := p.pool.Load().Acquire(acquire)
	p.waiting.Add(-1)
	if err != nil {
		return err
	}
	defer c.Release() // closes a connection that is in a transaction
	return f(c.Conn())
}

// setAside reports rows that the server rejected.
func (p *Pusher) setAside(b *batch, rows []aside) {
	for _, r := range rows {
		p.config.Logger.Error("the remote database rejected a row, which is skipped", "run", b.run, "row", b.unit(r.unit), "error", r.err)
		p.status.set(func(s *Status) {
			s.SetAside++
			s.Refused = fmt.Sprintf("%s of run %s: %v", b.unit(r.unit), b.run, r.err)
		})
	}
}
