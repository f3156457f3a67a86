package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// write is the loop of the writer. Between two commits of rows it writes a piece of a checkpoint and does a piece of
// maintenance.
func (j *Journal) write() {
	defer close(j.ended)
	defer j.abandon()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-j.halt:
			return
		default:
		}
		runtime.Gosched() // goroutines that are about to queue rows share the commit
		due, queue, closing := j.queue.take()
		began := time.Now()
		if queue != nil && !j.commit(queue) {
			return
		}
		if len(j.jobs) > 0 && !j.advance() {
			return
		}
		if len(j.maintenances) > 0 && !j.doMaintenance(queue != nil) {
			return
		}
		j.store.worked.Add(int64(time.Since(began) - j.waited))
		j.waited = 0
		switch {
		case queue != nil || len(j.maintenances) > 0 || len(j.jobs) > 0 && j.jobs[0].piece != nil:
			continue
		case closing && len(j.jobs) == 0:
			j.scrub()
			return
		}
		timer.Reset(due)
		var pieces <-chan checkpointPiece
		if len(j.jobs) > 0 {
			pieces = j.jobs[0].pieces
		}
		select {
		case <-j.queue.wake:
		case <-timer.C:
		case piece := <-pieces:
			j.jobs[0].piece = &piece
		case <-j.halt:
			return
		}
	}
}

// persist runs f in a transaction until it is durable. It returns false if the error is permanent or the writer is halted.
func (j *Journal) persist(f func(tx file.Tx) error) bool {
	troubled := false
	for {
		var grown int64
		err := j.store.file.Write(func(tx file.Tx) (err error) {
			grown, err = tx.Growth(f)
			return err
		})
		if err == nil {
			j.stored.Add(grown)
			if troubled {
				j.store.options.Logger.Info("the journal can be written again", "run", j.id)
				j.report(nil)
			}
			return true
		}
		if file.Permanent(err) {
			j.fail(err)
			return false
		}
		if !troubled {
			troubled = true
			j.store.options.Logger.Error("the journal cannot be written", "run", j.id, "error", err)
			j.report(troubleOf(err))
		}
		waits := time.Now()
		retry := time.NewTimer(j.store.options.RetryEvery)
		select {
		case <-retry.C:
			j.waited += time.Since(waits)
		case <-j.halt:
			retry.Stop()
			return false
		}
	}
}

// fail ends the journal after a permanent error.
func (j *Journal) fail(err error) {
	err = fmt.Errorf("%w: %w. All rows before are kept: restore a backup of %s, or export its runs and start in another data folder",
		engine.ErrDamaged, err, j.store.file.Path())
	j.store.options.Logger.Error("the journal can no longer be written", "run", j.id, "error", err)
	j.queue.fail(err)
	j.report(err)
}

func troubleOf(err error) error {
	what := file.Advice(err)
	if what == "" {
		what = "the store cannot be written"
	}
	if !errors.Is(err, engine.ErrNoRoom) {
		err = &file.Unwritable{Err: err}
	}
	return fmt.Errorf("%s; the run waits and loses nothing (%w)", what, err)
}

// commit writes the queued rows and wakes the callers that wait for them.
func (j *Journal) commit(queue *batch) bool {
	var w transaction
	if !j.persist(func(tx file.Tx) error {
		w = transaction{journal: j, tx: tx, inexact: j.inexact}
		return w.write(queue)
	}) {
		return false
	}
	j.store.file.ShortenLog(time.Now())
	j.queue.written()
	j.store.written.Add(w.rows)
	for _, c := range w.checkpoints {
		j.begin(c)
	}
	j.maintenances = append(j.maintenances, w.maintenances...)
	j.inexact = w.inexact
	for b := queue; b != nil; {
		switch {
		case b.durable == nil:
		case b.strict && len(j.jobs) > 0:
			last := j.jobs[len(j.jobs)-1]
			last.waiting = append(last.waiting, b.durable)
		default:
			close(b.durable)
		}
		next := b.next
		j.private = j.private || b.private
		b.free()
		b = next
	}
	return true
}

// abandon stops the checkpoints and counts the rows that were not written. Later journals remove private answers that it could not remove.
func (j *Journal) abandon() {
	for _, job := range j.jobs {
		job.cancel()
	}
	j.working.Wait()
	j.store.file.Suspect(j.private)
	j.queue.abandon()
}

// transaction collects the changes of one commit. A commit that failed is repeated with a new transaction.
type transaction struct {
	journal      *Journal
	tx           file.Tx
	rows         int64
	first        int
	events       int
	acted        int
	failed       int
	cycle        int // the current cycle, if moved
	moved        bool
	inexact      *engine.Inexact // of the run so far
	final        *engine.Totals  // of the run that ends; nil if it does not
	checkpoints  []*checkpointJob
	maintenances []maintenance
}

func (w *transaction) write(queue *batch) error {
	p := &w.journal.packs
	p.reset(w.journal)
	if err := p.free.reserve(w.tx, queue); err != nil {
		return err
	}
	for b := queue; b != nil; b = b.next {
		start, deltasStart := 0, 0
		for i := range b.ops {
			o := &b.ops[i]
			if err := w.op(p, o, b.data[start:o.end], b.deltas[deltasStart:o.deltasEnd]); err != nil {
				return err
			}
			start, deltasStart = o.end, o.deltasEnd
		}
		w.rows += int64(b.rows)
	}
	if err := p.flush(w.tx); err != nil {
		return err
	}
	return w.updateRun()
}

func (w *transaction) op(p *packs, o *op, data, deltas []byte) error {
	switch o.kind {
	case sessionsOp:
		w.first += o.first
		w.events += o.events
		w.acted += o.acted
		w.failed += o.failed
		w.suspect(o.inexact)
		if err := p.deltas.add(w.tx, &op{cycle: o.cycle, count: o.deltas}, deltas); err != nil {
			return err
		}
		return p.sessions.add(w.tx, o, data)
	case requestsOp:
		return p.requests.add(w.tx, o, data)
	default:
		if err := p.flush(w.tx); err != nil { // so that positions keep the order
			return err
		}
		return w.row(p.free.take(1), o.row)
	}
}

func (w *transaction) suspect(i *engine.Inexact) { w.inexact = earliest(w.inexact, i) }

// earliest returns the one of two that makes the run inexact first, by cycle and agent. Either may be nil.
func earliest(a, b *engine.Inexact) *engine.Inexact {
	if a == nil || b != nil && (b.Cycle < a.Cycle || b.Cycle == a.Cycle && b.Agent < a.Agent) {
		return b
	}
	return a
}

func (w *transaction) row(pos int64, row engine.Row) (err error) {
	run := w.journal.run
	switch r := row.(type) {
	case engine.BarrierRow:
		w.cycle, w.moved = r.Cycle+1, true
		w.maintenances = append(w.maintenances, &sweep{journal: w.journal, upTo: r.Cycle})
		var work []byte
		if work, err = blob.Marshal(&r.Work, w.journal.encoder); err == nil {
			err = w.tx.Exec(`INSERT INTO barriers (pos, run, cycle, at, active, took, lag, sessions, work, mock) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				pos, run, r.Cycle, micros(r.At), r.Active, int64(r.Took), int64(r.Lag), r.Sessions, work, r.Mock)
		}
	case engine.ChangeRow:
		w.suspect(r.Inexact)
		err = w.tx.Exec(`INSERT INTO changes (pos, run, at, cycle, what, old, new, who, why, inexact) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			pos, run, micros(r.At), r.Cycle, r.What, r.Old, r.New, r.Who, r.Why, inexactText(r.Inexact))
	case engine.MetricsRow:
		at := micros(r.At)
		r.At = time.Time{}
		var data []byte
		if data, err = blob.Marshal(&r, w.journal.encoder); err == nil {
			err = w.tx.Exec(`INSERT INTO metrics (pos, run, at, data) VALUES (?, ?, ?, ?)`, pos, run, at, data)
		}
	case engine.StartRow:
		w.cycle, w.moved = r.Cycle, true
		if err = w.tx.Exec(`INSERT INTO starts (pos, run, at, cycle, resumed) VALUES (?, ?, ?, ?, ?)`, pos, run, micros(r.At), r.Cycle, r.Resumed); err == nil {
			err = w.tx.Exec(`UPDATE runs SET ended = 0, ending = '', reason = '', verdict = NULL, totals = NULL WHERE key = ?`, run)
		}
		if err == nil {
			err = w.cleanupBegins(r.At)
		}
	case engine.EndRow:
		w.suspect(r.Totals.Inexact)
		if err = w.end(&r); err == nil {
			err = w.cleanupEnds(&r)
		}
	case engine.SharedRow:
		err = w.shared(pos, &r)
	case engine.UnconfirmedRow:
		w.suspect(r.Inexact())
		err = w.tx.Exec(`INSERT INTO unconfirmed (pos, run, at, cycle, agent, take, path, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (run, cycle, agent, take, path) DO NOTHING`, pos, run, micros(r.At), r.Cycle, r.Agent, r.Take, r.Path, r.Request)
	case engine.CheckpointRow:
		w.suspect(r.State.Totals.Inexact)
		number := w.journal.number + len(w.checkpoints) + 1
		w.checkpoints = append(w.checkpoints, &checkpointJob{row: r, pos: pos, number: number})
	}
	return err
}

func (w *transaction) end(r *engine.EndRow) error {
	w.final = &r.Totals
	verdict, err := blob.Marshal(r.Verdict, w.journal.encoder)
	if err != nil {
		return err
	}
	totals, err := blob.Marshal(&r.Totals, w.journal.encoder)
	if err != nil {
		return err
	}
	err = w.tx.Exec(`UPDATE runs SET ended = ?, ending = ?, reason = ?, verdict = ?, totals = ?, total = iif(? > 0, ?, total) WHERE key = ?`,
		micros(r.At), r.Ending.String(), r.Reason, verdict, totals, r.Total, r.Total, w.journal.run)
	return err
}

// updateRun updates the row of the run.
func (w *transaction) updateRun() error {
	if w.first > 0 || w.events > 0 || w.failed != 0 || w.inexact != w.journal.inexact {
		if err := w.tx.Exec(`UPDATE runs SET done = done + ?, events = events + ?, acted = acted + ?, failed = failed + ?, inexact = ? WHERE key = ?`,
			w.first, w.events, w.acted, w.failed, inexactText(w.inexact), w.journal.run); err != nil {
			return err
		}
	}
	if t := w.final; t != nil { // they know which takes count
		if err := w.tx.Exec(`UPDATE runs SET acted = ?, failed = ? WHERE key = ?`, t.Acted, t.Outcomes[engine.Failed]+t.Outcomes[engine.TimedOut], w.journal.run); err != nil {
			return err
		}
	}
	if w.moved {
		if err := w.tx.Exec(`UPDATE runs SET cycle = max(cycle, ?) WHERE key = ?`, w.cycle, w.journal.run); err != nil {
			return err
		}
	}
	return nil
}

// inexactText returns i as JSON, or NULL.
func inexactText(i *engine.Inexact) any {
	if i == nil {
		return nil
	}
	text, err := json.Marshal(i)
	if err != nil {
		return nil // cannot fail
	}
	return string(text)
}

func inexactOfText(text sql.NullString) (i *engine.Inexact, err error) {
	if text.Valid {
		err = json.Unmarshal([]byte(text.String), &i)
	}
	return i, err
}
