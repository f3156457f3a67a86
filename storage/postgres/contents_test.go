package postgres

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
	"github.com/throng-sim/throng/storage/sqlite"
)

// keeper is a local store whose checkpoint contents are sent.
type keeper struct {
	*local
	before func(n int) // called before each read, counted from 1; may be nil
	reads  int
	lose   int // number of confirmations to lose
}

func (k *keeper) Contents(ctx context.Context, run engine.RunID, target string, after *storage.ContentsCursor) (*storage.Contents, error) {
	k.reads++
	if k.before != nil {
		k.before(k.reads)
	}
	return k.local.Contents(ctx, run, target, after, nil)
}

func (k *keeper) ContentsSent(ctx context.Context, run engine.RunID, target string, to storage.ContentsCursor) error {
	if k.lose--; k.lose >= 0 {
		return errors.New("the confirmation is lost")
	}
	return k.local.ContentsSent(ctx, run, target, to)
}

// keep returns a pusher that also sends checkpoint contents.
func (k *keeper) keep(url string) *Pusher {
	k.t.Helper()
	p := k.push(url, onlyWhenAsked, func(c *PusherConfig) { c.Contents, c.Machine = k, "attic" })
	must(k.t, k.SubscribeContents(k.t.Context(), run, p.Target(), true))
	p.Start()
	return p
}

// checkpoint journals a checkpoint in which some agents remember a text of a given size.
func (l *local) checkpoint(cycle int, agents func(yield func(int) bool), size int) {
	l.t.Helper()
	row := engine.CheckpointRow{
		At: epoch, Cycle: cycle, Done: int64(cycle), Total: 1000, Reason: fmt.Sprint("cycle ", cycle), Memory: map[int]*engine.Memory{},
		State: engine.State{Limit: 5, Retired: map[int]int{3: cycle}},
	}
	for agent := range agents {
		text := make([]byte, size)
		for i := range text {
			text[i] = byte('a' + l.random.IntN(26))
		}
		row.Memory[agent] = &engine.Memory{Notes: [][]byte{fmt.Appendf(nil, `"%s"`, text)}}
	}
	must(l.t, l.journal.Commit(l.t.Context(), row))
}

func every(n, step int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i += step {
		}
	}
}

// fetched fetches a checkpoint into a new store.
func fetched(t testing.TB, url string, number int) (*sqlite.Store, error) {
	t.Helper()
	s, err := sqlite.Open(t.TempDir(), sqlite.Options{Logger: quiet()})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s, fetchInto(t, s, url, number)
}

func fetchInto(t testing.TB, s *sqlite.Store, url string, number int) (err error) {
	t.Helper()
	a, err := OpenArchive(t.Context(), Config{URL: url})
	if err != nil {
		return err
	}
	defer func() { must(t, a.Close()) }()
	r, err := a.Run(t.Context(), run)
	if err != nil {
		return err
	}
	state, err := a.State(t.Context(), run, number)
	if err != nil {
		return err
	}
	r.Fetched = &engine.Fetched{Database: a.Target(), Machine: r.Machine, At: epoch}
	in, err := s.Import(t.Context(), r.RunRecord, state)
	if err != nil {
		return err
	}
	defer func() { must(t, in.Close()) }()
	answers, upTo, _, _ := in.Wants()
	if err := errors.Join(a.Parts(t.Context(), run, storage.SourcePart, 0, in.Add), a.Parts(t.Context(), run, storage.AnswerPart, answers, in.Add),
		a.Parts(t.Context(), run, storage.MemoryPart, int64(upTo), in.Add)); err != nil {
		return err
	}
	return in.Finish()
}

// same compares a checkpoint with its fetched copy.
func (l *local) same(s *sqlite.Store, number int) {
	l.t.Helper()
	record1, state1, memory1, err1 := l.Checkpoint(l.t.Context(), run, number)
	record2, state2, memory2, err2 := s.Checkpoint(l.t.Context(), run, number)
	must(l.t, errors.Join(err1, err2))
	record2.Newest = record1.Newest // is not sent
	if record1 != record2 || !reflect.DeepEqual(state1, state2) || !reflect.DeepEqual(memory1, memory2) {
		l.t.Errorf("checkpoint %d: sent %+v with %d agents, fetched %+v with %d", number, record1, len(memory1), record2, len(memory2))
	}
}

// shared journals a shared answer.
func (l *local) shared(n byte) {
	l.t.Helper()
	must(l.t, l.journal.Commit(l.t.Context(), engine.SharedRow{
		Key: engine.SharedKey{n}, Entry: engine.Entry{Path: "ask", Attempts: 1, Output: []byte(`{"n":1}`)}, Record: &engine.StepRecord{Path: "ask", Attempts: 1},
	}))
}

// TestContentsOverOutages stops the server during sending, and loses confirmations: every checkpoint arrives, and each part
// once.
func TestContentsOverOutages(t *testing.T) {
	server := pgtest.New(t, pgtest.Options{})
	url := server.Database(t)
	l := newLocal(t)
	must(t, l.Rename(t.Context(), run, "Friday"))
	_, err := l.Tag(t.Context(), run, []string{"prices", "b2b"}, nil)
	must(t, err)
	l.shared(1)
	l.checkpoint(0, every(3000, 1), 500)
	l.shared(2)
	l.checkpoint(1, every(3000, 7), 500)
	down := make(chan struct{})
	k := &keeper{local: l, lose: 2}
	k.before = func(n int) {
		if n == 3 {
			server.Stop(t)
			close(down)
		}
	}
	p := k.keep(url)
	if err := p.Drain(t.Context(), run); err == nil {
		t.Error("everything arrived without a server")
	}
	<-down
	server.Start(t)
	until(t, "everything is sent", func() bool { return p.Drain(t.Context(), run) == nil })
	for number := 1; number <= 2; number++ {
		s, err := fetched(t, url, number)
		must(t, err)
		l.same(s, number)
	}
	d := &database{pgtest.Connect(t, url), t, url}
	if n := ask[int](d, `SELECT count(*) FROM throng.checkpoint_parts WHERE kind = 'memory'`); n != 3000+429 {
		t.Errorf("%d parts of memory", n)
	}
	if name := ask[string](d, `SELECT machine FROM throng.runs`); name != "attic" {
		t.Errorf("the machine is %q", name)
	}
	if marks := ask[string](d, `SELECT name || ' ' || tags::text FROM throng.runs`); marks != "Friday {b2b,prices}" {
		t.Errorf("the name and the tags are %q", marks)
	}
	must(t, d.Close(t.Context()))
	must(t, p.Close(t.Context()))
}

// TestPrunedContents checks that checkpoints pruned in the store are deleted in the database, and that the others stay
// complete.
func TestPrunedContents(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	settings := engine.DefaultSettings()
	settings.KeepCheckpoints = 2
	must(t, l.Adjust(t.Context(), run, settings))
	must(t, l.journal.Close(t.Context()))
	var err error
	l.journal, err = l.Journal(run)
	must(t, err)
	p := (&keeper{local: l}).keep(d.url)
	for cycle := range 5 {
		l.checkpoint(cycle, every(100, cycle+1), 50)
		until(t, "checkpoints are pruned", func() bool {
			all, err := l.Checkpoints(t.Context(), run)
			return err == nil && len(all) <= 2
		})
		must(t, p.Drain(t.Context(), run))
	}
	until(t, "pruned checkpoints are deleted in the database", func() bool { // memory is deleted after its checkpoint
		must(t, p.Drain(t.Context(), run))
		return ask[string](d, `SELECT string_agg(place::text, ',' ORDER BY place) FROM throng.checkpoint_parts WHERE kind = 'state'`) == "4,5"
	})
	const needed = 100 + 20 // the oldest kept checkpoint, and the changes of the newest
	if n := ask[int](d, `SELECT count(*) FROM throng.checkpoint_parts WHERE kind = 'memory'`); n != needed {
		t.Errorf("%d parts of memory, want %d", n, needed)
	}
	for _, number := range []int{4, 5} {
		s, err := fetched(t, d.url, number)
		must(t, err)
		l.same(s, number)
	}
	if _, err := fetched(t, d.url, 3); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a pruned one: %v", err)
	}
}

// TestContentsWithoutARight checks that rows arrive if the user has no right to send checkpoint contents.
func TestContentsWithoutARight(t *testing.T) {
	server := pgtest.Shared(t)
	l, d := newLocal(t), newDatabase(t, server)
	must(t, migrate(t.Context(), d.Conn))
	role := server.Role(t)
	name := ask[string](d, `SELECT current_database()::text`)
	server.Exec(t, name, "GRANT TEMPORARY ON DATABASE "+name+" TO "+role, "GRANT USAGE ON SCHEMA throng TO "+role,
		"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA throng TO "+role, "REVOKE INSERT ON throng.checkpoint_parts FROM "+role)
	l.add(100)
	l.checkpoint(0, every(10, 1), 10)
	p := (&keeper{local: l}).keep(server.URL(role, name))
	err := p.Drain(t.Context(), run)
	if err == nil || !strings.Contains(err.Error(), "all rows of run") || !strings.Contains(err.Error(), "lacks a right") {
		t.Errorf("got %v", err)
	}
	arrived(t, l, d)
	if s := p.Status(); !s.Connected || !strings.Contains(s.Error, "checkpoint contents are not sent") {
		t.Errorf("got %+v", s)
	}
	server.Exec(t, name, "GRANT INSERT ON throng.checkpoint_parts TO "+role)
	must(t, p.Drain(t.Context(), run))
	s, err := fetched(t, d.url, 1)
	must(t, err)
	l.same(s, 1)
}

// TestDamagedContents damages the contents in the database: they are not imported, and existing runs stay.
func TestDamagedContents(t *testing.T) {
	l, d := newLocal(t), newDatabase(t, pgtest.Shared(t))
	l.shared(1)
	l.checkpoint(0, every(50, 1), 100)
	l.checkpoint(1, every(50, 2), 100)
	must(t, (&keeper{local: l}).keep(d.url).Drain(t.Context(), run))
	s, err := fetched(t, d.url, 1)
	must(t, err)
	for _, c := range []struct{ name, change string }{
		{"memory is missing", `DELETE FROM throng.checkpoint_parts WHERE kind = 'memory' AND place = 7`},
		{"memory is damaged", `UPDATE throng.checkpoint_parts SET data = '\x0209ff' WHERE kind = 'memory' AND place = 8`},
		{"an answer is missing", `DELETE FROM throng.checkpoint_parts WHERE kind = 'answer'`},
		{"files are cut", `UPDATE throng.checkpoint_parts SET data = substr(data, 1, length(data) - 1) WHERE kind = 'source'`},
		{"files are others", `UPDATE throng.checkpoint_parts SET data = set_byte(data, 0, 7) WHERE kind = 'source'`},
		{"the state is another's", `UPDATE throng.checkpoint_parts p SET data = (SELECT data FROM throng.checkpoint_parts WHERE kind = 'state' AND place = 1) WHERE kind = 'state' AND place = 2`},
		{"the state is damaged", `UPDATE throng.checkpoint_parts SET data = '\x01ff' WHERE kind = 'state'`},
		{"it is newer", `UPDATE throng.checkpoint_parts SET number = 99 WHERE kind = 'state'`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tx, err := d.Begin(t.Context())
			must(t, err)
			if tag, err := tx.Exec(t.Context(), `CREATE TABLE IF NOT EXISTS throng.sound AS TABLE throng.checkpoint_parts`); err != nil {
				t.Fatal(tag, err)
			}
			_, err = tx.Exec(t.Context(), c.change)
			must(t, err)
			must(t, tx.Commit(t.Context()))
			none, err := fetched(t, d.url, 2)
			if err == nil || !strings.Contains(err.Error(), "damaged or incomplete") && !errors.Is(err, engine.ErrNewer) {
				t.Errorf("got %v", err)
			}
			if runs, err := none.Runs(t.Context()); err != nil || len(runs) > 0 {
				t.Errorf("the store has %+v %v", runs, err)
			}
			if err := fetchInto(t, s, d.url, 2); err == nil {
				t.Error("the damaged checkpoint was added")
			}
			l.same(s, 1)
			for _, q := range []string{`TRUNCATE throng.checkpoint_parts`, `INSERT INTO throng.checkpoint_parts TABLE throng.sound`} {
				_, err := d.Exec(t.Context(), q)
				must(t, err)
			}
			must(t, fetchInto(t, none, d.url, 2))
			l.same(none, 2)
		})
	}
}

// TestArchiveOfOtherDatabases opens databases without results.
func TestArchiveOfOtherDatabases(t *testing.T) {
	d := newDatabase(t, pgtest.Shared(t))
	if _, err := OpenArchive(t.Context(), Config{URL: d.url}); err == nil || !strings.Contains(err.Error(), "no results of Throng") {
		t.Errorf("an empty database: %v", err)
	}
	must(t, migrate(t.Context(), d.Conn))
	a, err := OpenArchive(t.Context(), Config{URL: d.url})
	must(t, err)
	if all, err := a.Runs(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("got %+v %v", all, err)
	}
	if _, err := a.Run(t.Context(), "20"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	must(t, a.Close())
	_, err = d.Exec(t.Context(), `INSERT INTO throng.runs
		(id, title, scenario, scenario_hash, seed, parameters, settings, cycle, cycles, done, total, fork_cycle, throng_version, changed)
		SELECT '20260101-' || n, 'Run ' || n, '', '', 1, '{}', '{}', 0, 1, 0, 0, 0, '', 1 FROM generate_series(1, 2) n`)
	must(t, err)
	a, err = OpenArchive(t.Context(), Config{URL: d.url})
	must(t, err)
	if _, err := a.Run(t.Context(), "20"); !errors.Is(err, engine.ErrNotFound) || !strings.Contains(err.Error(), "begin with it: 20260101-2 (Run 2) and 20260101-1 (Run 1)") {
		t.Errorf("two runs: %v", err)
	}
	must(t, a.Close())
	_, err = d.Exec(t.Context(), `INSERT INTO throng.migrations VALUES (1000, 'x')`)
	must(t, err)
	if _, err := OpenArchive(t.Context(), Config{URL: d.url}); !errors.Is(err, engine.ErrNewer) || !strings.Contains(err.Error(), "version 1000") {
		t.Errorf("a newer schema: %v", err)
	}
}

// TestArchiveWithOddRuns lists runs among which one has an ending, and another a cause of inexactness, that this program cannot read:
// a newer one with the same schema may have written them.
func TestArchiveWithOddRuns(t *testing.T) {
	d := newDatabase(t, pgtest.Shared(t))
	must(t, migrate(t.Context(), d.Conn))
	_, err := d.Exec(t.Context(), `INSERT INTO throng.runs
		(id, title, scenario, scenario_hash, seed, parameters, settings, cycle, cycles, done, total, fork_cycle, throng_version, changed, ended, ending, inexact)
		SELECT '20260101-00000' || n || '-abcd', 'Run ' || n, '', '', 1, '{}', '{}', 0, 1, 0, 0, 0, '', 1, now(), (ARRAY['finished', 'teleported', 'stopped'])[n],
			(ARRAY[NULL, NULL, '["newer"]'])[n]::json FROM generate_series(1, 3) n`)
	must(t, err)
	a, err := OpenArchive(t.Context(), Config{URL: d.url})
	must(t, err)
	all, err := a.Runs(t.Context())
	if err != nil || len(all) != 3 {
		t.Fatalf("got %+v %v", all, err)
	}
	for _, r := range all {
		if odd := r.Title != "Run 1"; odd != (r.Damage != "") {
			t.Errorf("%s has the damage %q", r.Title, r.Damage)
		}
		if _, err := a.Run(t.Context(), r.ID); (err != nil) != (r.Damage != "") {
			t.Errorf("%s: %v", r.Title, err)
		}
	}
	must(t, a.Close())
}

// BenchmarkContents sends and fetches the checkpoint contents of 100,000 agents with 3 kB each: the first checkpoint, and
// one with 1% changes.
func BenchmarkContents(b *testing.B) {
	server := pgtest.Shared(b)
	for b.Loop() {
		l, d := newLocal(b), newDatabase(b, server)
		l.checkpoint(0, every(100_000, 1), 3000)
		p := (&keeper{local: l}).keep(d.url)
		timed := func(name string, f func()) {
			began := time.Now()
			f()
			b.ReportMetric(time.Since(began).Seconds(), name+"-s")
		}
		megabytes := func(name string) {
			b.ReportMetric(ask[float64](d, `SELECT (pg_total_relation_size('throng.checkpoint_parts') / 1e6)::float8`), name+"-MB")
		}
		timed("send", func() { must(b, p.Drain(b.Context(), run)) })
		megabytes("sent")
		l.checkpoint(1, every(100_000, 100), 3000)
		timed("send-changes", func() { must(b, p.Drain(b.Context(), run)) })
		megabytes("sent-changes")
		timed("fetch", func() {
			s, err := fetched(b, d.url, 2)
			must(b, err)
			l.same(s, 2)
		})
	}
}
