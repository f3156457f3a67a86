package sqlite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// remote simulates a database behind an outbox: it counts the rows that it receives.
type remote struct {
	target      string
	sessions    map[engine.Place]int
	metrics     map[time.Time]int
	checkpoints []int
	record      engine.RunRecord
	totals      *engine.Totals
	records     int
}

func newRemote(t testing.TB, s *Store, run engine.RunID, target string) *remote {
	t.Helper()
	if err := s.Subscribe(t.Context(), run, target); err != nil {
		t.Fatal(err)
	}
	return &remote{target: target, sessions: map[engine.Place]int{}, metrics: map[time.Time]int{}}
}

// fataler is a test of testing or rapid.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// take receives one delivery without confirming it.
func (r *remote) take(t testing.TB, f fataler, s *Store, run engine.RunID, rows int) *storage.Delivery {
	f.Helper()
	p, err := s.Delivery(t.Context(), run, r.target, storage.Cursor{}, rows)
	if err != nil {
		f.Fatal(err)
	}
	n := 0
	for row, err := range p.Sessions {
		if err != nil {
			f.Fatal(err)
		}
		r.sessions[row.Place]++
		n++
	}
	if n != p.Count {
		f.Fatalf("got %d sessions, the delivery counts %d", n, p.Count)
	}
	for i := range p.Metrics {
		r.metrics[p.Metrics[i].At]++
	}
	for _, c := range slices.Backward(p.Checkpoints) {
		r.checkpoints = append(r.checkpoints, c.Number)
	}
	if p.Record != nil {
		r.record = *p.Record
		r.records++
	}
	if p.Totals != nil {
		r.totals = p.Totals
	}
	return p
}

// drain receives and confirms deliveries until nothing is left.
func (r *remote) drain(t testing.TB, f fataler, s *Store, run engine.RunID, rows int) {
	f.Helper()
	for {
		p := r.take(t, f, s, run, rows)
		if p.Empty() {
			break
		}
		if err := s.Sent(t.Context(), run, r.target, p.Cursor); err != nil {
			f.Fatal(err)
		}
	}
	if runs, err := s.Outbox(t.Context(), r.target); err != nil || slices.Contains(runs, run) {
		f.Fatalf("outbox after everything was sent: %v, %v", runs, err)
	}
}

func unsent(t testing.TB, s *Store, run engine.RunID, target string) int64 {
	t.Helper()
	n, err := s.Unsent(t.Context(), run, target)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOutboxGivesEverythingOnce journals batches of all sizes, and drains two outboxes in deliveries of all sizes, across
// restarts: each receives every take of every session, and every second of metrics, once.
func TestOutboxGivesEverythingOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := openStore(t, t.TempDir(), Options{Logger: quiet()})
		defer func() { closeStore(t, s) }()
		j := newRun(t, s, "r")
		remotes := []*remote{newRemote(t, s, "r", "a:1/x"), newRemote(t, s, "r", "b:2/y")}
		sessions, seconds := 0, 0
		for range rapid.IntRange(1, 8).Draw(rt, "pieces") {
			rows := make(engine.SessionRows, rapid.IntRange(0, 1500).Draw(rt, "sessions"))
			for i := range rows {
				rows[i] = engine.SessionRow{Place: engine.Place{Agent: sessions / 3, Take: sessions % 3}, Outcome: engine.OK}
				sessions++
			}
			for range rapid.IntRange(0, 20).Draw(rt, "metrics") {
				seconds++
				j.Append(engine.MetricsRow{At: time.Unix(int64(seconds), 0)})
			}
			if err := j.Commit(t.Context(), rows, engine.BarrierRow{}); err != nil {
				rt.Fatal(err)
			}
			switch which := rapid.IntRange(0, 3).Draw(rt, "then"); which {
			case 0, 1:
				remotes[which].drain(t, rt, s, "r", rapid.IntRange(1, 4000).Draw(rt, "rows"))
			case 2:
				closeStore(t, s)
				s = openStore(t, s.file.Dir(), Options{Logger: quiet()})
				var err error
				if j, err = s.Journal("r"); err != nil {
					rt.Fatal(err)
				}
			}
		}
		for _, r := range remotes {
			r.drain(t, rt, s, "r", rapid.IntRange(1, 4000).Draw(rt, "rows"))
			if len(r.sessions) != sessions || len(r.metrics) != seconds {
				rt.Errorf("%s got %d sessions and %d metrics, want %d and %d", r.target, len(r.sessions), len(r.metrics), sessions, seconds)
			}
			for place, n := range r.sessions {
				if n != 1 {
					rt.Errorf("%s got session %v %d times", r.target, place, n)
				}
			}
			if n := unsent(t, s, "r", r.target); n != 0 {
				rt.Errorf("%s lacks %d rows after everything was sent", r.target, n)
			}
		}
	})
}

// TestOutboxRows checks that a delivery has the journaled rows, and a second one only the rows after it.
func TestOutboxRows(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	r := newRemote(t, s, "r", "a:1/x")
	var want engine.SessionRows
	random := rand.New(rand.NewPCG(1, 2))
	for agent := range 40 {
		row := shopping(random)
		row.Place, row.Delta = engine.Place{Cycle: 2, Agent: agent, Take: agent % 2}, engine.Delta{}
		row.Started = row.Started.UTC().Truncate(time.Microsecond)
		want = append(want, row)
	}
	want[3].Outcome, want[3].Class, want[3].Path, want[3].Error = engine.Failed, engine.Network, "pay", "no way"
	metrics := engine.MetricsRow{At: time.Unix(7, 0).UTC(), Ended: 40, DatabaseUse: engine.DatabaseUse{Unsent: -1}, Counters: engine.Counters{Errors: engine.Errors{engine.Network: 1}}}
	if err := j.Commit(t.Context(), want, metrics); err != nil {
		t.Fatal(err)
	}
	if n := unsent(t, s, "r", r.target); n != 41 {
		t.Errorf("%d rows are unsent, want 41", n)
	}
	p, err := s.Delivery(t.Context(), "r", r.target, storage.Cursor{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // it can be iterated again
		i := 0
		for row, err := range p.Sessions {
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(*row, want[i]) {
				t.Errorf("session %d: got  %+v\nwant %+v", i, *row, want[i])
			}
			i++
		}
		if i != len(want) {
			t.Errorf("got %d sessions, want %d", i, len(want))
		}
	}
	if !reflect.DeepEqual(p.Metrics, []engine.MetricsRow{metrics}) {
		t.Errorf("got metrics %+v", p.Metrics)
	}
	for _, err := range p.Sessions { // a loop may end early
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if next, err := s.Delivery(t.Context(), "r", r.target, p.Cursor, 1000); err != nil || !next.Empty() {
		t.Errorf("after all rows: got %+v, %v", next, err)
	}
}

// TestOutboxLateCheckpoint sends sessions that were journaled after a checkpoint whose row is written later.
func TestOutboxLateCheckpoint(t *testing.T) {
	looking := false
	var look func()
	s := openStore(t, t.TempDir(), Options{CommitEvery: time.Hour, Logger: quiet(), OnCommit: func(int64) {
		if looking {
			looking = false
			look()
		}
	}})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	r := newRemote(t, s, "r", "a:1/x")
	look = func() { // after the commit with the position of the checkpoint
		r.drain(t, t, s, "r", 1000)
		if len(r.sessions) != 2 || len(r.checkpoints) != 0 {
			t.Errorf("at first: got %d sessions, checkpoints %v", len(r.sessions), r.checkpoints)
		}
	}
	looking = true
	session := func(agent int) engine.SessionRows {
		return engine.SessionRows{{Place: engine.Place{Agent: agent}, Outcome: engine.OK}}
	}
	totals := engine.Totals{Acted: 17}
	err := j.Commit(t.Context(), session(1), engine.CheckpointRow{Reason: "by hand", State: engine.State{Totals: totals}}, session(2))
	if err != nil {
		t.Fatal(err)
	}
	if pos := ask[int](t, s.file.Reader, `SELECT pos FROM checkpoints`); pos >= ask[int](t, s.file.Reader, `SELECT pos FROM outbox`) {
		t.Fatal("the position of the checkpoint was not passed: nothing was tested")
	}
	r.drain(t, t, s, "r", 1000)
	if !slices.Equal(r.checkpoints, []int{1}) || len(r.sessions) != 2 || r.totals == nil || r.totals.Acted != 17 {
		t.Errorf("then: got %d sessions, checkpoints %v, totals %+v", len(r.sessions), r.checkpoints, r.totals)
	}
}

// TestOutboxRecord checks that the row of a run is sent when it changed, and has an ending only after all rows were sent.
func TestOutboxRecord(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	r := newRemote(t, s, "r", "a:1/x")
	r.drain(t, t, s, "r", 10)
	if r.records != 1 || r.record.ID != "r" {
		t.Fatalf("a new run: got %d records, of %q", r.records, r.record.ID)
	}
	for agent := range 3 {
		row := engine.SessionRow{Place: engine.Place{Agent: agent}, Outcome: engine.OK}
		if err := j.Commit(t.Context(), engine.SessionRows{row}); err != nil {
			t.Fatal(err)
		}
	}
	end := engine.EndRow{At: time.Unix(9, 0).UTC(), Ending: engine.EndFinished, Reason: "done", Totals: engine.Totals{Acted: 3}, Verdict: []engine.Judgment{{Shown: "3"}}}
	if err := j.Commit(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	fresh := newRemote(t, s, "r", "b:2/y")
	for sent := range 3 {
		p := fresh.take(t, t, s, "r", 1)
		if last := sent == 2; p.Full == last || (fresh.record.Ending == engine.EndFinished) != last || (fresh.totals != nil) != last {
			t.Errorf("delivery %d: got full %v, %v, totals %v", sent, p.Full, fresh.record.Ending, fresh.totals)
		}
		if err := s.Sent(t.Context(), "r", fresh.target, p.Cursor); err != nil {
			t.Fatal(err)
		}
	}
	r.drain(t, t, s, "r", 10)
	for _, r := range []*remote{r, fresh} {
		if r.record.Done != 3 || r.record.Reason != "done" || !r.record.Ended.Equal(end.At) || r.totals.Acted != 3 || !reflect.DeepEqual(r.record.Verdict, end.Verdict) {
			t.Errorf("%s: got %+v, %+v", r.target, r.record, r.totals)
		}
	}

	records := r.records
	r.drain(t, t, s, "r", 10)
	if r.records != records {
		t.Error("the run was sent again without a change")
	}
	if err := j.Commit(t.Context(), engine.StartRow{At: time.Unix(10, 0), Resumed: true}); err != nil {
		t.Fatal(err)
	}
	r.drain(t, t, s, "r", 10)
	if r.record.Ending != engine.NotEnded || r.records != records+1 {
		t.Errorf("resumed: got %v, %d times", r.record.Ending, r.records-records)
	}
	// The run ended, was sent, and is resumed: it has no ending while rows are missing.
	if err := j.Commit(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	r.drain(t, t, s, "r", 10)
	for _, row := range []engine.Row{engine.StartRow{At: time.Unix(10, 0), Resumed: true}, engine.MetricsRow{}, engine.MetricsRow{}} {
		if err := j.Commit(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	if p := r.take(t, t, s, "r", 1); !p.Full || r.record.Ending != engine.NotEnded {
		t.Errorf("resumed, in parts: got full %v, %v", p.Full, r.record.Ending)
	}
	if err := s.Adjust(t.Context(), "r", engine.Settings{Concurrency: engine.Concurrency{Limit: 7}}); err != nil {
		t.Fatal(err)
	}
	r.drain(t, t, s, "r", 10)
	if r.record.Settings.Limit != 7 {
		t.Error("new settings were not sent")
	}
}

// TestOutboxLargeRows checks that rows that are large after decompression are sent in several deliveries.
func TestOutboxLargeRows(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	r := newRemote(t, s, "r", "a:1/x")
	const rows, size = 100, 1 << 20
	for agent := range rows {
		data := fmt.Appendf(nil, `"%s %d"`, strings.Repeat("the same again, ", size/16), agent)
		row := engine.SessionRow{Place: engine.Place{Agent: agent}, Outcome: engine.OK, Events: []engine.Event{{Name: "said", Data: data}}}
		if err := j.Commit(t.Context(), engine.SessionRows{row}); err != nil {
			t.Fatal(err)
		}
	}
	p := r.take(t, t, s, "r", 10*rows)
	if want := deliveryBytes/size + 1; !p.Full || p.Count > want || p.Count < want/2 {
		t.Errorf("got %d sessions of 1 MiB, full %v; want about %d", p.Count, p.Full, want)
	}
	r.drain(t, t, s, "r", 10*rows)
	if len(r.sessions) != rows {
		t.Errorf("got %d sessions, want %d", len(r.sessions), rows)
	}
}

func TestOutboxCursor(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	j := newRun(t, s, "r")
	newRun(t, s, "s")
	for _, target := range []string{"a:1/x", "b:2/y"} {
		for range 2 { // the second call does nothing
			newRemote(t, s, "r", target)
		}
	}
	newRemote(t, s, "s", "a:1/x")
	if err := j.Commit(t.Context(), make(engine.SessionRows, 10), engine.MetricsRow{At: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	runs, err := s.Outbox(t.Context(), "a:1/x")
	if err != nil || !slices.Equal(runs, []engine.RunID{"s", "r"}) {
		t.Errorf("got runs %v, %v, want s, r", runs, err)
	}
	p, err := s.Delivery(t.Context(), "r", "a:1/x", storage.Cursor{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []storage.Cursor{p.Cursor, {Pos: 1, Change: 1}, {}} {
		if err := s.Sent(t.Context(), "r", "a:1/x", to); err != nil {
			t.Fatal(err)
		}
		if a, b := unsent(t, s, "r", "a:1/x"), unsent(t, s, "r", "b:2/y"); a != 0 || b != 11 {
			t.Errorf("after %+v: %d and %d rows are unsent, want 0 and 11", to, a, b)
		}
	}
	if runs, err := s.Outbox(t.Context(), "a:1/x"); err != nil || !slices.Equal(runs, []engine.RunID{"s"}) {
		t.Errorf("got runs %v, %v, want s", runs, err)
	}
	if err := s.Resend(t.Context(), "a:1/x"); err != nil {
		t.Fatal(err)
	}
	if a, b := unsent(t, s, "r", "a:1/x"), unsent(t, s, "r", "b:2/y"); a != 11 || b != 11 {
		t.Errorf("sent again: %d and %d rows are unsent, want 11 and 11", a, b)
	}
	if again, err := s.Delivery(t.Context(), "r", "a:1/x", storage.Cursor{}, 100); err != nil || again.Record == nil || again.Cursor != p.Cursor {
		t.Errorf("sent again: got %+v, %v, want the first delivery", again, err)
	}
	if err := s.Sent(t.Context(), "r", "a:1/x", p.Cursor); err != nil {
		t.Fatal(err)
	}
	if runs, err := s.Outbox(t.Context(), "nowhere"); err != nil || len(runs) > 0 {
		t.Errorf("an unknown target: got %v, %v", runs, err)
	}
	for what, err := range map[string]error{
		"unsent of an unknown target": errorOf(s.Unsent(t.Context(), "r", "nowhere")),
		"a delivery of one":           errorOf(s.Delivery(t.Context(), "r", "nowhere", storage.Cursor{}, 1)),
		"an unknown run":              s.Subscribe(t.Context(), "unknown", "a:1/x"),
	} {
		if !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", what, err)
		}
	}

	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	if n := ask[int](t, s.file.Reader, `SELECT count(*) FROM outbox`); n != 1 {
		t.Errorf("%d rows are in the outbox after a deletion, want 1", n)
	}
	if err := s.Sent(t.Context(), "r", "a:1/x", p.Cursor); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("sent of a deleted run: got %v, want ErrNotFound", err)
	}
}

func errorOf[T any](_ T, err error) error { return err }

// TestOutboxReadsNoPacks checks that frequent queries use indexes.
func TestOutboxReadsNoPacks(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	rows, err := s.file.Reader.QueryContext(t.Context(), `EXPLAIN QUERY PLAN `+unsentRows, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&plan, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{"sessions_sent", "metrics_sent"} {
		if !strings.Contains(plan.String(), "USING COVERING INDEX "+index) {
			t.Errorf("%s is not used:\n%s", index, &plan)
		}
	}
}
