package batch

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// batch is one batch, from its first call to its answers. The queue's lock guards what is not set before run begins.
type batch struct {
	queue   *Queue
	journal Journal
	group   group
	number  int
	header  http.Header
	calls   []*Call // in order of arrival; nil after the end, and in a batch of an earlier process
	ids     []string
	bytes   int64
	since   time.Time // arrival of the first call
	idle    func() bool
	sealed  bool // no call may join it
	started bool // run has begun

	earlier bool // an earlier process planned it
	planned time.Time
	made    *made // nil until the provider has it
	due     time.Time
	trouble string // why the provider does not answer now; "" if it does

	done     chan struct{} // closed when it has ended
	err      error         // of all calls
	never    bool          // it was never carried out: its calls join another batch
	outcomes map[string]outcome
}

// outcome is what a batch has for one call: an answer or an error.
type outcome struct {
	answer *Answer
	err    error
}

func newBatch(q *Queue, j Journal, g group) *batch {
	return &batch{queue: q, journal: j, group: g, done: make(chan struct{}), outcomes: map[string]outcome{}}
}

// run carries a batch out, and returns an error that holds for all of its calls.
func (b *batch) run(ctx context.Context) error {
	c := &client{of: b}
	switch {
	case b.made != nil:
	case b.earlier:
		found, err := c.search(ctx)
		if err != nil {
			return err
		}
		if found == nil {
			b.setNever()
			return b.keepMade(&made{})
		}
		if err := b.keepMade(found.made()); err != nil {
			return err
		}
	default:
		if err := b.create(ctx, c); err != nil {
			return err
		}
	}
	return b.collect(ctx, c)
}

func (b *batch) setNever() {
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	b.never = true
}

// create uploads the requests and creates the batch. If the answer to that is lost, it looks for the batch before it tries again.
func (b *batch) create(ctx context.Context, c *client) error {
	if err := b.keepPlan(); err != nil {
		return err
	}
	file, err := c.upload(ctx)
	if err != nil {
		return err
	}
	for wait := new(pauses); ; {
		got, err := c.create(ctx, file)
		if err == nil {
			return b.keepMade(got.made())
		}
		if final(ctx, err) {
			return err
		}
		if err := b.pause(ctx, wait, err); err != nil {
			return err
		}
		if !uncertain(err) {
			continue
		}
		found, err := c.search(ctx)
		if err != nil {
			return err
		}
		if found != nil {
			return b.keepMade(found.made())
		}
	}
}

// collect waits until the batch has ended, and reads the answers.
func (b *batch) collect(ctx context.Context, c *client) error {
	end, err := b.await(ctx, c)
	if err != nil {
		return err
	}
	if end.Status == statusFailed {
		if !end.full() {
			return &Rejected{Message: end.problem()}
		}
		b.note(end.problem())
		if err := sleep(ctx, b.queue.cfg.Poll); err != nil {
			return err
		}
		b.setNever()
		return nil
	}
	got := map[string]outcome{}
	for _, file := range []string{end.Output, end.Errors} {
		if file == "" {
			continue
		}
		if err := c.results(ctx, file, got); err != nil {
			return err
		}
	}
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	for _, id := range b.ids {
		o, ok := got[id]
		if !ok && end.Status != statusCompleted {
			o.err = ErrExpired
		} else if !ok {
			o.err = ErrMissing
		}
		b.outcomes[id] = o
	}
	return nil
}

// mostLost is after how many polls in a row a batch that the provider does not know counts as lost.
const mostLost = 3

// await polls the batch until it has ended. A batch that the provider does not know anymore counts as completed without answers.
func (b *batch) await(ctx context.Context, c *client) (*remote, error) {
	wait, lost := min(firstPoll, b.queue.cfg.Poll), 0
	if b.earlier {
		wait = 0 // it may have ended long ago
	}
	for ; ; wait = min(max(2*wait, firstPoll), b.queue.cfg.Poll) {
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
		got, err := c.poll(ctx)
		rejected, isRejected := errors.AsType[*Rejected](err)
		switch {
		case err == nil && got.ended():
			return got, nil
		case err == nil:
			lost = 0
			b.note("")
		case isRejected && rejected.Status == http.StatusNotFound:
			if lost++; lost == mostLost {
				return &remote{Status: statusCompleted}, nil
			}
		case isRejected || ctx.Err() != nil:
			return nil, err
		default:
			b.note(err.Error())
		}
	}
}

// firstPoll is the time before the first poll. Each later one waits twice as long, up to the configured time.
const firstPoll = time.Second

// note records why the provider does not answer, for display.
func (b *batch) note(trouble string) {
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	b.trouble = trouble
}

// pauses are the waits between attempts at a request of the batch API.
type pauses struct{ last time.Duration }

const (
	firstPause = time.Second
	mostPause  = time.Minute
)

// pause waits after an attempt that failed, at least as long as the provider says.
func (b *batch) pause(ctx context.Context, p *pauses, err error) error {
	b.note(err.Error())
	p.last = min(max(2*p.last, firstPause), mostPause)
	wait := p.last
	if busy, ok := errors.AsType[*unavailable](err); ok {
		wait = max(wait, busy.after)
	}
	return sleep(ctx, wait)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// The metadata of a batch. A search uses it.
const (
	metaRun     = "throng_run"
	metaService = "throng_service"
	metaBatch   = "throng_batch"
)

func (b *batch) metadata() map[string]string {
	return map[string]string{metaRun: string(b.journal.RunID()), metaService: b.queue.service.Name, metaBatch: strconv.Itoa(b.number)}
}
