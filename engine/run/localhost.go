package run

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
)

// localHost is the engine.Host of sessions in the run's own process.
type localHost struct{ run *Run }

var _ engine.Host = localHost{}

func (h localHost) Context() context.Context     { return h.run.ctx }
func (h localHost) Settings() *engine.Settings   { return h.run.settings.Load() }
func (h localHost) Injected() []engine.Injection { return h.run.injected }

func (h localHost) Run() engine.HostRun {
	r := engine.HostRun{ID: h.run.id, Lineage: h.run.lineage}
	if h.run.recording != nil {
		r.Recording = h.run.recording.Run()
	}
	return r
}

func (h localHost) Recorded(ctx context.Context, cycle, agent int) (engine.Prefix, error) {
	if h.run.recording == nil {
		return nil, nil
	}
	return h.run.recording.Session(ctx, cycle, agent)
}

func (h localHost) Sleep(ctx context.Context, d time.Duration) error {
	return h.run.alarm.Sleep(ctx, d)
}

func (h localHost) Append(rows ...engine.Row) { h.run.journal.Append(rows...) }
func (h localHost) Keeps() bool               { return h.run.journal != engine.Discard }

func (h localHost) Commit(ctx context.Context, rows ...engine.Row) error {
	return h.run.journal.Commit(ctx, rows...)
}

func (h localHost) Doubt(since *engine.Inexact) bool { return h.run.inexact.add(since) }

func (h localHost) TryClaim(a engine.Outlay) bool { return h.run.ledger.TryReserve(a) }
func (h localHost) Claim(ctx context.Context, a engine.Outlay) error {
	return h.run.ledger.Reserve(ctx, a)
}
func (h localHost) Settle(claimed, spent engine.Outlay) { h.run.ledger.Settle(claimed, spent) }

func (h localHost) Recall(key engine.SharedKey) (engine.Entry, bool) { return h.run.shared.answer(key) }

func (h localHost) AwaitShared(_ context.Context, key engine.SharedKey) (e engine.Entry, known bool, release func(), err error) {
	e, known = h.Recall(key) // in this process, one session requests it for all
	return e, known, func() {}, nil
}

func (h localHost) TakeIntent(key engine.SharedKey, path string) (engine.Entry, bool) {
	return h.run.shared.takeIntent(key, path)
}

func (h localHost) SettleShared(row engine.SharedRow, spent engine.Outlay) error {
	r, counted := h.run, engine.Outlay{}
	defer func() { r.ledger.Note(spent.Minus(counted)) }()
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if err := r.journal.Commit(r.ctx, row); err != nil {
		return err
	}
	r.shared.add(&row)
	counted = row.Record.Outlay()
	return nil
}

func (h localHost) Traced(agent int, failed bool) bool   { return h.run.traces.wants(agent, failed) }
func (h localHost) Tracing() (all bool, agent int)       { return h.run.traces.tracing() }
func (h localHost) Trace(e engine.Exchange, failed bool) { h.run.traces.add(e, failed) }
