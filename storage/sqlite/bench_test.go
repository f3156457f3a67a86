package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// benchStore returns a store with a run.
func benchStore(b *testing.B, o Options) (*Store, *Journal) {
	b.Helper()
	o.Logger = quiet()
	s := openStore(b, b.TempDir(), o)
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s, newRun(b, s, "bench")
}

// newRun creates a run and opens its journal.
func newRun(t testing.TB, s *Store, id engine.RunID) *Journal {
	t.Helper()
	r := engine.RunRecord{ID: id, Created: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Settings: engine.DefaultSettings()}
	if err := s.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	j, err := s.Journal(id)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// emptySession returns a session without steps.
func emptySession(r *rand.Rand) engine.SessionRow {
	total := time.Duration(200 + r.Int64N(400))
	return engine.SessionRow{
		Outcome: engine.OK, Started: time.Now(), Queue: time.Duration(r.Int64N(200e3)), Total: total, Service: total - time.Duration(r.Int64N(100)), Acted: true,
	}
}

// shopping returns a session of six steps, like those of the shopping scenario.
func shopping(r *rand.Rand) engine.SessionRow {
	s := engine.SessionRow{Outcome: engine.OK, Started: time.Now(), Queue: time.Millisecond, Acted: true}
	for i, path := range []string{"browse", "choose", "fill_cart[0].add_cart", "fill_cart[1].add_cart", "checkout", "pay"} {
		service := time.Duration(20e6 + r.Int64N(20e6))
		s.Steps = append(s.Steps, engine.StepRecord{Path: path, Attempts: 1, Statuses: []int{200 + i/2}, Service: service})
		s.Service += service
	}
	s.Total = s.Service + 200*time.Microsecond
	s.Events = []engine.Event{
		{Path: "fill_cart[0].add_cart", Name: "added", Data: fmt.Appendf(nil, `{"product":"p%d","price":%d}`, r.IntN(500), r.IntN(9000))},
		{Path: "fill_cart[1].add_cart", Name: "added", Data: fmt.Appendf(nil, `{"product":"p%d","price":%d}`, r.IntN(500), r.IntN(9000))},
		{Path: "pay", Name: "bought", Data: fmt.Appendf(nil, `{"order":"o-%08x","total":%d}`, r.Uint32(), r.IntN(20000))},
	}
	s.Delta = engine.Delta{Set: []engine.Field{{Name: "budget", Value: fmt.Append(nil, r.IntN(20000))}}}
	return s
}

// BenchmarkSessions journals batches of 256 sessions from two goroutines until the last one is durable.
func BenchmarkSessions(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, kind := range []struct {
		name string
		row  func(r *rand.Rand) engine.SessionRow
	}{{"empty", emptySession}, {"shopping", shopping}} {
		b.Run(kind.name, func(b *testing.B) {
			const batch, workers, batches = 256, 2, 32 // different ones, so that nothing repeats within a pack
			s, j := benchStore(b, Options{})
			before := file.Size(s.file.Path()) + s.file.LogSize()
			var all [workers][batches]engine.SessionRows
			for w := range all {
				for k := range all[w] {
					for range batch {
						all[w][k] = append(all[w][k], kind.row(random))
					}
				}
			}
			var next atomic.Int64
			n := int64(b.N)
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					for k := 0; ; k++ {
						first := next.Add(batch) - batch
						if first >= n {
							return
						}
						rows := all[w][k%batches]
						for i := range rows {
							rows[i].Agent = int(first) + i
						}
						j.Append(rows[:min(batch, n-first)])
					}
				})
			}
			wg.Wait()
			if err := j.Commit(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
			if err := j.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
			if _, err := s.file.Writer.ExecContext(b.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(file.Size(s.file.Path())-before)/float64(b.N), "B/row")
		})
	}
}

// BenchmarkCommit measures the time until an intent is durable, while others wait too.
func BenchmarkCommit(b *testing.B) {
	for _, waiters := range []int{1, 50} {
		b.Run(fmt.Sprintf("waiters=%d", waiters), func(b *testing.B) {
			_, j := benchStore(b, Options{})
			var next atomic.Int64
			n := int64(b.N)
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for w := range waiters {
				wg.Go(func() {
					for next.Add(1) <= n {
						err := j.Commit(context.Background(), engine.IntentRow{Place: engine.Place{Agent: w}, Path: "checkout", Hash: 1})
						if err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(b.Elapsed().Seconds()*1e6*float64(waiters)/float64(b.N), "µs/wait")
		})
	}
}

// BenchmarkCheckpoint takes a checkpoint of 100,000 agents with 3 kB of memory each; the memory of 1% changed.
func BenchmarkCheckpoint(b *testing.B) {
	const agents, changed = 100_000, 1000
	_, j := benchStore(b, Options{})
	random := rand.New(rand.NewPCG(1, 1))
	memory := func() *engine.Memory {
		m := &engine.Memory{Fields: []engine.Field{{Name: "budget", Value: fmt.Append(nil, random.IntN(20000))}}}
		for range 30 {
			m.Notes = append(m.Notes, fmt.Appendf(nil, `"bought product %d from shop %d for %d, and %x"`,
				random.IntN(5000), random.IntN(500), random.IntN(90000), random.Uint64()), bytes.Repeat([]byte("x"), random.IntN(60)))
		}
		return m
	}
	all := make(map[int]*engine.Memory, agents)
	one := memory()
	for a := range agents {
		all[a] = one
	}
	if err := j.Commit(b.Context(), engine.CheckpointRow{Cycle: 1, Memory: all}); err != nil {
		b.Fatal(err)
	}
	rows := map[int]*engine.Memory{}
	for len(rows) < changed {
		rows[random.IntN(agents)] = memory()
	}
	var stalled, wait time.Duration
	b.ResetTimer()
	for b.Loop() {
		began := time.Now()
		j.Append(engine.CheckpointRow{Cycle: 1, Memory: rows})
		stalled = max(stalled, time.Since(began))
		began = time.Now()
		if err := j.Commit(b.Context(), engine.IntentRow{Path: "checkout"}); err != nil { // while it is written
			b.Fatal(err)
		}
		wait = max(wait, time.Since(began))
		if err := j.Commit(b.Context(), engine.ChangeRow{}); err != nil { // waits for it
			b.Fatal(err)
		}
	}
	b.ReportMetric(stalled.Seconds()*1e3, "max-stall-ms")
	b.ReportMetric(wait.Seconds()*1e3, "max-intent-ms")
}

// BenchmarkRuns lists a thousand runs, as the window does when it starts.
func BenchmarkRuns(b *testing.B) {
	s, j := benchStore(b, Options{})
	if err := j.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		r := engine.RunRecord{ID: engine.RunID(fmt.Sprint("run", i)), Settings: engine.DefaultSettings(), Source: engine.Source{Files: map[string][]byte{"a": make([]byte, 20_000)}}}
		if err := s.Create(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := s.Runs(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRead reads sessions back in order.
func BenchmarkRead(b *testing.B) {
	const agents = 200_000
	s, j := benchStore(b, Options{})
	random := rand.New(rand.NewPCG(1, 1))
	for a := 0; a < agents; a += 100 {
		var rows engine.SessionRows
		for i := range 100 {
			rows = append(rows, shopping(random))
			rows[i].Agent = a + i
		}
		j.Append(rows)
	}
	if err := j.Commit(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for _, err := range s.Sessions(b.Context(), "bench", 0, 0) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkOpen opens a store of 1,000 runs and 10 million journal rows and lists its runs: NUMBERS 12.
func BenchmarkOpen(b *testing.B) {
	if testing.Short() {
		b.Skip("its store takes a minute to make; make bench-table measures the same")
	}
	s, j := benchStore(b, Options{})
	for i := range 1000 {
		if err := s.Create(b.Context(), engine.RunRecord{ID: engine.RunID(fmt.Sprint("run", i)), Settings: engine.DefaultSettings()}); err != nil {
			b.Fatal(err)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	rows := make(engine.SessionRows, 0, 1000)
	for range cap(rows) {
		rows = append(rows, emptySession(random))
	}
	for batch := range 10_000 {
		for i := range rows {
			rows[i].Agent = batch*len(rows) + i
		}
		j.Append(rows)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s = openStore(b, s.file.Dir(), Options{Logger: quiet()})
		if runs, err := s.Runs(b.Context()); err != nil || len(runs) != 1001 {
			b.Fatal(len(runs), err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(file.Size(s.file.Path()))/1e6, "MB")
}

// BenchmarkListOfRuns lists 10,000 runs of 500 experiments.
func BenchmarkListOfRuns(b *testing.B) {
	s := openStore(b, b.TempDir(), Options{Logger: quiet()})
	for i := range 10_000 {
		r := engine.RunRecord{
			ID: engine.RunID(fmt.Sprintf("20260101-000000-%04d", i)), Title: "Marketplace shoppers", Settings: engine.DefaultSettings(), Created: time.Unix(int64(i), 0),
			Membership: engine.Membership{Experiment: fmt.Sprint("experiment ", i/20), Identity: fmt.Sprint(i)},
		}
		r.Settings.Seed, r.Source.Parameters = uint64(i), map[string]string{"agents": "372", "eagerness": "1", "llm_share": "0", "provider": `"mock"`}
		if err := s.Create(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if all, err := s.Runs(b.Context()); err != nil || len(all) != 10_000 {
			b.Fatalf("%d runs, %v", len(all), err)
		}
	}
	b.StopTimer()
	closeStore(b, s)
}
