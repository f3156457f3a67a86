package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/throng-sim/throng/engine"
)

// write is the journal's writer. Between two commits of rows it writes a piece of a checkpoint, and does a piece of a
// maintenance task.
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
		runtime.Gosched() // those who are about to queue rows as well do so first, and share the commit
		due, queue, closing := j.take()
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
		case <-j.wake:
		case <-timer.C:
		case piece := <-pieces:
			j.jobs[0].piece = &piece
		case <-j.halt:
			return
		}
	}
}

// take takes the queue if it is to be written now; else it says in how long.
func (j *Journal) take() (due time.Duration, queue *batch, closing bool) {
	room := make(chan struct{})
	j.mu.Lock()
	if j.queue == nil {
		defer j.mu.Unlock()
		return time.Hour, nil, j.closing
	}
	due = j.store.options.CommitEvery - time.Since(j.since)
	if due > 0 && !j.urgent && !j.closing && j.rows < j.store.options.CommitRows {
		defer j.mu.Unlock()
		return due, nil, false
	}
	queue, closing = j.queue, j.closing
	j.lost = j.rows // until they are written
	j.queue, j.newest, j.rows, j.bytes, j.urgent = nil, nil, 0, 0, false
	j.room, room = room, j.room
	j.mu.Unlock()
	close(room) // without the lock, before which those who wait for it come next
	return 0, queue, closing
}

// pressed reports whether somebody waits for rows to be durable, and what began then has held them up for long enough.
func (j *Journal) pressed(began time.Time) bool {
	if time.Since(began) < pieceTime {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.urgent
}

// persist runs f in a transaction until it is durable, and reports whether it was. Only being halted ends the trying.
func (j *Journal) persist(f func(tx txn) error) bool {
	troubled := false
	for {
		err := j.store.write(f)
		if err == nil {
			if troubled {
				j.store.options.Logger.Info("the journal can be written again", "run", j.id)
				j.tell(nil)
			}
			return true
		}
		if hopeless(err) {
			j.fail(err)
			return false
		}
		if !troubled {
			troubled = true
			j.store.options.Logger.Error("the journal cannot be written", "run", j.id, "error", err)
			j.tell(troubleOf(err))
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

// fail ends the journal: nothing can be written any more.
func (j *Journal) fail(err error) {
	err = fmt.Errorf("%w: %w. What was journaled until now is kept: restore a backup of %s, or export its runs and start in another data folder",
		engine.ErrDamaged, err, j.store.path())
	j.store.options.Logger.Error("the journal cannot be written any more", "run", j.id, "error", err)
	j.mu.Lock()
	j.failure = err
	j.mu.Unlock()
	j.tell(err)
}

func troubleOf(err error) error {
	what := advice(err)
	if what == "" {
		what = "the store cannot be written"
	}
	if !errors.Is(err, engine.ErrNoRoom) {
		err = &unwritable{err}
	}
	return fmt.Errorf("%s; the run waits and loses nothing (%w)", what, err)
}

// commit writes what was queued and tells those who wait.
func (j *Journal) commit(queue *batch) bool {
	var w transaction
	if !j.persist(func(tx txn) error {
		w = transaction{journal: j, tx: tx, inexact: j.inexact}
		if err := w.write(queue); err != nil {
			return err
		}
		return j.measure(tx, w.moved)
	}) {
		return false
	}
	j.store.shortenLog(time.Now())
	j.mu.Lock()
	j.lost = 0
	j.mu.Unlock()
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

// abandon counts what was not written when the writer ends.
func (j *Journal) abandon() {
	for _, job := range j.jobs {
		job.cancel()
	}
	j.working.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closing = true
	j.lost += j.rows
	close(j.room) // whoever waits to queue something learns that it is too late
	j.room = make(chan struct{})
}

// transaction collects what one commit of rows changes. It may be run again, with a new one, if it fails.
type transaction struct {
	journal      *Journal
	tx           txn
	rows         int64
	first        int
	events       int
	cycle        int // the open cycle, if moved
	moved        bool
	inexact      *engine.Inexact // of the run so far
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
		w.suspect(o.inexact)
		if err := p.deltas.add(w.tx, &op{cycle: o.cycle, count: o.deltas}, deltas); err != nil {
			return err
		}
		return p.sessions.add(w.tx, o, data)
	case requestsOp:
		return p.requests.add(w.tx, o, data)
	default:
		if err := p.flush(w.tx); err != nil { // so that positions tell before from after
			return err
		}
		return w.row(p.free.take(1), o.row)
	}
}

func (w *transaction) suspect(i *engine.Inexact) { w.inexact = earliest(w.inexact, i) }

// earliest returns which of two makes the run inexact first, by cycle and agent; either may be nil.
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
		if work, err = encode(&r.Work, w.journal.folder); err == nil {
			err = w.tx.exec(`INSERT INTO barriers (pos, run, cycle, at, active, took, lag, sessions, work, mock) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				pos, run, r.Cycle, micros(r.At), r.Active, int64(r.Took), int64(r.Lag), r.Sessions, work, r.Mock)
		}
	case engine.ChangeRow:
		w.suspect(r.Inexact)
		err = w.tx.exec(`INSERT INTO changes (pos, run, at, cycle, what, old, new, who, why, inexact) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			pos, run, micros(r.At), r.Cycle, r.What, r.Old, r.New, r.Who, r.Why, inexactText(r.Inexact))
	case engine.MetricsRow:
		at := micros(r.At)
		r.At = time.Time{}
		var data []byte
		if data, err = encode(&r, w.journal.folder); err == nil {
			err = w.tx.exec(`INSERT INTO metrics (pos, run, at, data) VALUES (?, ?, ?, ?)`, pos, run, at, data)
		}
	case engine.StartRow:
		w.cycle, w.moved = r.Cycle, true
		if err = w.tx.exec(`INSERT INTO starts (pos, run, at, cycle, resumed) VALUES (?, ?, ?, ?, ?)`, pos, run, micros(r.At), r.Cycle, r.Resumed); err == nil {
			err = w.tx.exec(`UPDATE runs SET ended = 0, ending = '', reason = '', verdict = NULL, totals = NULL WHERE key = ?`, run)
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
		err = w.tx.exec(`INSERT INTO unconfirmed (pos, run, at, cycle, agent, take, path, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (run, cycle, agent, take, path) DO NOTHING`, pos, run, micros(r.At), r.Cycle, r.Agent, r.Take, r.Path, r.Request)
	case engine.CheckpointRow:
		w.suspect(r.State.Totals.Inexact)
		number := w.journal.number + len(w.checkpoints) + 1
		w.checkpoints = append(w.checkpoints, &checkpointJob{row: r, pos: pos, number: number})
	}
	return err
}

func (w *transaction) end(r *engine.EndRow) error {
	verdict, err := encode(r.Verdict, w.journal.folder)
	if err != nil {
		return err
	}
	totals, err := encode(&r.Totals, w.journal.folder)
	if err != nil {
		return err
	}
	err = w.tx.exec(`UPDATE runs SET ended = ?, ending = ?, reason = ?, verdict = ?, totals = ?, total = iif(? > 0, ?, total) WHERE key = ?`,
		micros(r.At), r.Ending.String(), r.Reason, verdict, totals, r.Total, r.Total, w.journal.run)
	return err
}

// updateRun brings the run's own row up to date.
func (w *transaction) updateRun() error {
	if w.first > 0 || w.events > 0 || w.inexact != w.journal.inexact {
		if err := w.tx.exec(`UPDATE runs SET done = done + ?, events = events + ?, inexact = ? WHERE key = ?`,
			w.first, w.events, inexactText(w.inexact), w.journal.run); err != nil {
			return err
		}
	}
	if w.moved {
		if err := w.tx.exec(`UPDATE runs SET cycle = max(cycle, ?) WHERE key = ?`, w.cycle, w.journal.run); err != nil {
			return err
		}
	}
	return nil
}

// inexactText is the JSON of i, or NULL.
func inexactText(i *engine.Inexact) any {
	if i == nil {
		return nil
	}
	text, err := json.Marshal(i)
	if err != nil {
		return nil // a struct of texts and numbers cannot fail
	}
	return string(text)
}

func inexactOfText(text sql.NullString) (i *engine.Inexact, err error) {
	if text.Valid {
		err = json.Unmarshal([]byte(text.String), &i)
	}
	return i, err
}
