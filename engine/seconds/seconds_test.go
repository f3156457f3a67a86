package seconds_test

import (
	"errors"
	"iter"
	"math"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/seconds"
)

var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// row returns a row at a time after the start, of an interval in which n sessions ended.
func row(at, span time.Duration, n int64, fine bool) engine.MetricsRow {
	q := engine.Quantiles{Count: n, Mean: 10 * time.Millisecond, P50: 8 * time.Millisecond, P95: time.Duration(n) * time.Millisecond, P99: 40 * time.Millisecond, Max: time.Duration(n) * time.Second}
	return engine.MetricsRow{
		At: start.Add(at), Ended: 10 * n, SecondTimes: engine.SecondTimes{Total: q, Active: q}, SecondRates: engine.SecondRates{SessionsPerSec: float64(n) / span.Seconds()},
		Host: engine.HostMetrics{CPU: float64(n), CoreWait: time.Duration(n)}, Late: engine.Late{Tick: time.Duration(n)}, Fine: fine,
	}
}

// run returns the rows of a run of a length, fine ones for the first ten seconds.
func run(length time.Duration) (all []engine.MetricsRow) {
	at := time.Duration(0)
	for at < min(length, seconds.Fine) {
		at += seconds.Each
		all = append(all, row(at, seconds.Each, 1+int64(len(all)%3), true))
	}
	for at < length {
		at += time.Second
		all = append(all, row(at, time.Second, 20, false))
	}
	return all
}

func collect(t *testing.T, all iter.Seq2[*engine.MetricsRow, error]) (rows []engine.MetricsRow) {
	t.Helper()
	for m, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, *m)
	}
	return rows
}

// TestMergeOfUnevenRows checks that rates are weighted by time, means and quantiles by sessions, and that counters are the last ones.
func TestMergeOfUnevenRows(t *testing.T) {
	rows := []engine.MetricsRow{row(250*time.Millisecond, 250*time.Millisecond, 30, true), row(time.Second, 750*time.Millisecond, 10, true)}
	m := seconds.Merge(start, rows)
	if !m.At.Equal(start.Add(time.Second)) || m.Fine || m.Ended != 100 || math.Abs(m.SessionsPerSec-40) > 1e-9 || math.Abs(m.Host.CPU-15) > 1e-9 || m.Host.CoreWait != 15 || m.Late.Tick != 30 {
		t.Errorf("%+v", m)
	}
	if q := m.Total; q.Count != 40 || q.Mean != 10*time.Millisecond || q.P95 != 25*time.Millisecond || q.Max != 30*time.Second {
		t.Errorf("%+v", q)
	}
}

// TestLongRunIsShownInSeconds checks that the sessions of the fine rows are in rows of a second, none lost.
func TestLongRunIsShownInSeconds(t *testing.T) {
	all := run(14 * time.Second)
	rows := collect(t, seconds.Shown(seconds.Of(all)))
	if len(rows) != 14 {
		t.Fatalf("%d rows of 14 s", len(rows))
	}
	var shown, recorded int64
	for i := range rows {
		shown += rows[i].Total.Count
		if at := rows[i].At.Sub(start); at != time.Duration(i+1)*time.Second || math.Abs(rows[i].SessionsPerSec-float64(rows[i].Total.Count)) > 1e-6 {
			t.Errorf("row %d is at %v with %v sessions per second of %d", i, at, rows[i].SessionsPerSec, rows[i].Total.Count)
		}
	}
	for i := range all {
		recorded += all[i].Total.Count
	}
	if shown != recorded {
		t.Errorf("%d sessions shown, %d recorded", shown, recorded)
	}
}

// TestShortRunIsShownInTenths checks that a short run keeps its fine rows, and that one in two processes is not merged across the gap.
func TestShortRunIsShownInTenths(t *testing.T) {
	all := run(3 * time.Second)
	if rows := collect(t, seconds.Shown(seconds.Of(all))); len(rows) != 30 || rows[29].Ended != all[29].Ended {
		t.Errorf("%d rows of 3 s", len(rows))
	}
	gap := append(run(1500*time.Millisecond), row(time.Hour, seconds.Each, 7, true))
	rows := collect(t, seconds.Whole(seconds.Of(gap)))
	if len(rows) != 3 || rows[1].At.Sub(start) != 1500*time.Millisecond || math.Abs(rows[2].SessionsPerSec-70) > 1e-6 {
		t.Errorf("with a gap: %d rows, the last with %v sessions per second", len(rows), rows[len(rows)-1].SessionsPerSec)
	}
}

// TestLastPartOfAnIntervalIsNoPeak checks that one session in the last millisecond does not show as a thousand per second.
func TestLastPartOfAnIntervalIsNoPeak(t *testing.T) {
	for _, length := range []time.Duration{2 * time.Second, 12 * time.Second} {
		all := run(length)
		n := len(all)
		all = append(all, row(length+time.Millisecond, time.Millisecond, 1, length < seconds.Fine))
		rows := collect(t, seconds.Shown(seconds.Of(all)))
		last := rows[len(rows)-1]
		if got, want := last.Total.Count, all[n-1].Total.Count+1; got != want || last.SessionsPerSec > 40 || !last.At.Equal(all[n].At) {
			t.Errorf("after %v: %d sessions, %v per second", length, got, last.SessionsPerSec)
		}
	}
}

// TestErrorsArePassed checks that a failed read is reported, also while rows are held.
func TestErrorsArePassed(t *testing.T) {
	bad := errors.New("no disk")
	broken := func(yield func(*engine.MetricsRow, error) bool) {
		all := run(2 * time.Second)
		for i := range all {
			if !yield(&all[i], nil) {
				return
			}
		}
		yield(nil, bad)
	}
	for name, all := range map[string]iter.Seq2[*engine.MetricsRow, error]{"Shown": seconds.Shown(broken), "Whole": seconds.Whole(broken)} {
		var got error
		for _, err := range all {
			got = errors.Join(got, err)
		}
		if !errors.Is(got, bad) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
