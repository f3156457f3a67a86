package postgres

import (
	"fmt"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// batch is an encoded delivery. Its units are its head, its sessions with their events, and its seconds of metrics.
type batch struct {
	run    engine.RunID
	cursor storage.Cursor
	full   bool

	head     []statement // the row of the run and its checkpoints
	sessions copyRows
	events   copyRows // a unit is the events of a session
	metrics  copyRows
	trails   trails
	names    []unitName // of sessions and metrics
	emitted  int64      // number of events
}

// statement is an upsert of the head.
type statement struct {
	query string
	args  []any
}

// unitName identifies a row for users.
type unitName struct {
	engine.Place
	at time.Time // of metrics
}

func (n unitName) String() string {
	if !n.at.IsZero() {
		return "metrics of " + n.at.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("session of cycle %d, agent %d, take %d", n.Cycle, n.Agent, n.Take)
}

// headUnits returns the number of units of the head.
func (b *batch) headUnits() int { return min(len(b.head), 1) }

// count returns the number of rows.
func (b *batch) count() int64 { return int64(len(b.head)+len(b.names)) + b.emitted }

func (b *batch) all() span { return span{0, b.headUnits() + len(b.names)} }

// unit returns the name of a unit.
func (b *batch) unit(i int) string {
	if i < b.headUnits() {
		return "the row of the run or of a checkpoint"
	}
	return b.names[i-b.headUnits()].String()
}

// span is the units from to to-1 of a batch.
type span struct{ from, to int }

func (s span) len() int { return s.to - s.from }

func (s span) halves() [2]span {
	middle := s.from + s.len()/2
	return [2]span{{s.from, middle}, {middle, s.to}}
}

// maker is the version of Throng and the name of the machine that send a run.
type maker struct{ version, machine string }

// fill encodes a delivery.
func (b *batch) fill(run engine.RunID, p *storage.Delivery, names storage.Names, maker maker) error {
	b.run, b.cursor, b.full = run, p.Cursor, p.Full
	b.head, b.names, b.emitted = b.head[:0], b.names[:0], 0
	b.trails.reset()
	for _, r := range []*copyRows{&b.sessions, &b.events, &b.metrics} {
		r.reset()
	}
	if p.Record != nil {
		if err := b.addRun(p, maker); err != nil {
			return err
		}
	}
	for i := range p.Checkpoints {
		b.addCheckpoint(&p.Checkpoints[i])
	}
	id := string(run)
	for s, err := range p.Sessions {
		if err != nil {
			return err
		}
		agent, err := names.Agent(s.Agent)
		if err != nil {
			return err
		}
		session := names.Session(s.Cycle, s.Agent)
		b.sessions.session(id, s, agent, session)
		b.sessions.trail(b.trails.of(s))
		b.sessions.end()
		b.events.events(id, s, agent, session)
		b.events.end()
		b.emitted += int64(len(s.Events))
		b.names = append(b.names, unitName{Place: s.Place})
	}
	for i := range p.Metrics {
		b.metrics.metrics(id, &p.Metrics[i])
		b.metrics.end()
		b.names = append(b.names, unitName{at: p.Metrics[i].At})
	}
	return nil
}

// A newer state of a run is not replaced by an older state that another process read earlier.
const upsertRun = `INSERT INTO throng.runs AS r (id, title, scenario, scenario_hash, seed, parameters, settings, created, ended, ending, reason,
		cycle, cycles, done, total, parent, fork_cycle, inexact, verdict, totals, throng_version, changed, machine, name, tags)
	VALUES ($1, $2, $3, $4, $5::text::numeric, $6::text::json, $7::text::json, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
		$18::text::json, $19::text::json, $20::text::json, $21, $22, $23, $24, $25)
	ON CONFLICT (id) DO UPDATE SET title = excluded.title, settings = excluded.settings, ended = excluded.ended, ending = excluded.ending,
		reason = excluded.reason, cycle = excluded.cycle, cycles = excluded.cycles, done = excluded.done, total = excluded.total, inexact = excluded.inexact,
		verdict = excluded.verdict, totals = coalesce(excluded.totals, r.totals), throng_version = excluded.throng_version, changed = excluded.changed,
		machine = coalesce(r.machine, excluded.machine), name = excluded.name, tags = excluded.tags
	WHERE r.changed <= excluded.changed`

func (b *batch) addRun(p *storage.Delivery, maker maker) error {
	r := p.Record
	s, err := storage.Summarize(r, p.Totals)
	if err != nil {
		return err
	}
	b.head = append(b.head, statement{upsertRun, []any{
		string(b.run), sanitize(r.Title), sanitize(r.Source.Name), sanitize(r.Source.Hash), strconv.FormatUint(r.Settings.Seed, 10),
		jsonText(s.Parameters), jsonText(s.Settings), moment(r.Created), moment(r.Ended), optional(r.Ending.String()), optional(r.Reason),
		r.Cycle, r.Cycles, r.Done, r.Total, optional(string(r.Parent)), r.ForkCycle, jsonText(s.Inexact), jsonText(s.Verdict), jsonText(s.Totals),
		sanitize(maker.version), p.Cursor.Change, optional(maker.machine), optional(r.Name), append([]string{}, r.Tags...),
	}})
	return nil
}

const upsertCheckpoint = `INSERT INTO throng.checkpoints (run, number, at, cycle, done, total, kept, reason, size_bytes, took_ms)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
	ON CONFLICT (run, number) DO UPDATE SET at = excluded.at, cycle = excluded.cycle, done = excluded.done, total = excluded.total,
		kept = excluded.kept, reason = excluded.reason, size_bytes = excluded.size_bytes, took_ms = excluded.took_ms`

func (b *batch) addCheckpoint(c *engine.CheckpointRecord) {
	b.head = append(b.head, statement{upsertCheckpoint, []any{
		string(b.run), c.Number, moment(c.At), c.Cycle, c.Done, c.Total, c.Kept, sanitize(c.Reason), c.SizeBytes, took(c.Took),
	}})
}

// took returns a duration in milliseconds; NULL if it is unknown.
func took(d time.Duration) any {
	if d <= 0 {
		return nil
	}
	return float64(d.Microseconds()) / 1000
}

// optional returns a text; NULL if it is empty.
func optional(s string) any {
	if s == "" {
		return nil
	}
	return sanitize(s)
}

// moment returns a time; NULL if it is zero.
func moment(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return at.UTC()
}

func jsonText(data []byte) any {
	if len(data) == 0 {
		return nil
	}
	return string(sanitizeJSON(data))
}
