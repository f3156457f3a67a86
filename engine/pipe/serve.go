package pipe

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/run"
)

// worker is the end of a pipe that executes sessions.
type worker struct {
	conn *conn
	host *host
	pool run.WorkerPool
	cut  context.CancelCauseFunc
	// cycle is the newest that the pool has begun. It is stored after that, so that no view shows the one before as it.
	cycle atomic.Int64
}

// Serve executes sessions of program for the run at the other end of in and out, until that closes in. Sessions in flight
// are cut then.
func Serve(ctx context.Context, in io.Reader, out io.Writer, program engine.Program) error {
	c := newConn(in, out)
	kind, body, err := c.receive()
	if err != nil || kind != helloFrame {
		return errors.Join(codec.ErrDamaged, err)
	}
	of, err := record[hello](body)
	if err != nil {
		return err
	}
	ctx, cut := context.WithCancelCause(ctx)
	w := &worker{conn: c, host: newHost(c, of, ctx), cut: cut}
	w.cycle.Store(-1)
	w.pool = run.NewLocalPool(run.PoolConfig{
		Program: program, Host: w.host, MemoryBudget: of.MemoryBudget,
		Throttled: func(why string) { _ = c.send(throttledFrame, func(dst []byte) []byte { return append(dst, why...) }) },
	})
	sent := make(chan struct{})
	stop := make(chan struct{})
	go func() {
		defer close(sent)
		w.deliver(stop)
	}()
	err = w.obey()
	cut(engine.ErrCut)
	w.host.close()
	close(stop)
	<-sent
	w.pool.Close()
	return err
}

// obey carries out what the run wants until its end is closed.
func (w *worker) obey() error {
	for {
		kind, body, err := w.conn.receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = w.carryOut(kind, body)
		}
		if err != nil {
			return err
		}
	}
}

// carryOut does what one frame says.
func (w *worker) carryOut(kind byte, body []byte) (err error) {
	var n int64
	switch kind {
	case beginFrame:
		return w.begin(body)
	case againFrame:
		place, err := record[engine.Place](body)
		w.pool.Requeue(place)
		return err
	case endFrame:
		w.pool.End()
	case startFrame:
		s, err := record[start](body)
		w.pool.Start(s.Workers, s.Probe)
		return err
	case useFrame:
		s, err := record[engine.Settings](body)
		w.host.settings.Store(&s)
		w.pool.Use(&s)
		return err
	case cutFrame:
		w.cut(engine.ErrCut)
	case replyFrame:
		return w.host.replied(body)
	case releaseFrame:
		r, err := record[release](body)
		w.pool.Release(r.Count, r.Waited)
		return err
	case holdFrame:
		n, err = number(body)
		w.pool.PauseClock(n != 0)
	case limitFrame:
		n, err = number(body)
		w.pool.SetLimit(int(n))
	case rememberFrame:
		n, err = number(body)
		w.pool.SetMemorySize(n)
	case retireFrame:
		n, err = number(body)
		w.pool.Retire(int(n))
	default:
		return codec.ErrDamaged
	}
	return err
}

// begin opens a cycle.
func (w *worker) begin(body []byte) error {
	s, err := record[run.Shard](body)
	if err != nil {
		return err
	}
	if s.Arrivals != nil {
		s.Arrivals.Order = s.Todo
	}
	w.host.injected.Store(&s.Injected)
	w.pool.Begin(&s)
	w.cycle.Store(int64(s.Cycle))
	return nil
}

// deliver sends what workers finish, and now and then what sessions are at, until stop is closed.
func (w *worker) deliver(stop <-chan struct{}) {
	tick := time.NewTicker(viewEvery)
	defer tick.Stop()
	for {
		select {
		case b := <-w.pool.Results():
			_ = w.conn.send(batchFrame, func(dst []byte) []byte { return appendBatch(dst, b, w.view(0)) })
			w.pool.Recycle(b)
		case <-tick.C:
			_ = w.conn.sendRecord(viewFrame, w.view(mostShown))
		case <-stop:
			return
		}
	}
}

// mostShown is how many sessions in flight a worker shows.
const mostShown = 1000

// view is how far the pool is, with as many of its sessions in flight.
func (w *worker) view(sessions int) view {
	cycle := int(w.cycle.Load())
	return view{cycle, w.pool.Progress(), w.pool.Oldest(sessions)}
}
