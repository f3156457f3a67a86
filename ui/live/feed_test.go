package live

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/chart"
)

// ticking returns a feed of a run that just began, and a function that adds the next second.
func ticking(t *testing.T, history ...engine.MetricsRow) (*feed, func(change func(s *engine.Snapshot))) {
	t.Helper()
	s := running()
	s.Metrics = engine.MetricsRow{}
	run := newFakeRun(s)
	job := jobOf(run)
	job.History = history
	f := newFeed(job)
	at := began
	return f, func(change func(s *engine.Snapshot)) {
		at = at.Add(time.Second)
		run.change(func(s *engine.Snapshot) {
			s.At, s.Metrics = at, metrics(at)
			if change != nil {
				change(s)
			}
		})
		f.collect(run.Snapshot())
	}
}

func TestFeedTakesEachSecondOnce(t *testing.T) {
	f, next := ticking(t)
	if f.collect(f.snap); f.count != 0 {
		t.Error("a run that has no figures yet returns a row")
	}
	next(nil)
	f.collect(f.snap)
	next(func(s *engine.Snapshot) { s.Metrics.Total, s.Metrics.Connections = engine.Quantiles{}, -1 })
	times, values := f.history.Rows()
	if len(times) != 2 || f.count != 2 {
		t.Fatalf("%d rows of 2 seconds", len(times))
	}
	for series, want := range map[int][2]float64{
		seriesCPU: {42, 42}, seriesMemory: {210e6, 210e6}, seriesP95: {math.NaN(), math.NaN()}, seriesAllP95: {0.81, math.NaN()}, seriesConnections: {2, math.NaN()},
		seriesServer: {math.NaN(), math.NaN()}, seriesSessions: {84, 84}, seriesRequests: {412, 412}, seriesLimit: {50, 50}, seriesInFlight: {48, 48},
	} {
		for i := range want {
			if got := values[series][i]; got != want[i] && !(math.IsNaN(got) && math.IsNaN(want[i])) {
				t.Errorf("series %d, second %d: %v, want %v", series, i, got, want[i])
			}
		}
	}
}

func TestFeedBeginsWithTheHistory(t *testing.T) {
	old, lately := metrics(began.Add(-3*time.Hour)), metrics(began.Add(-20*time.Second))
	lately.Limit = 30
	f, next := ticking(t, old, lately)
	next(nil)
	times, _ := f.history.Rows()
	// A row, a break, a row: rows from before the night are left out.
	if len(times) != 3 || times[0] != float64(lately.At.Unix()) {
		t.Errorf("rows at %v", times)
	}
}

// TestMarksOfEarlierProcesses checks that changes of earlier processes are marked as they were recorded: those of a hand, not those of a
// governor. Where another process resumed the run is marked, too.
func TestMarksOfEarlierProcesses(t *testing.T) {
	job := jobOf(newFakeRun(running()))
	const rows = 2000
	for i := range rows {
		m := metrics(began.Add(time.Duration(i) * 8 * time.Second)) // of a long run, thinned out
		m.Limit = 30 + i%20
		job.History = append(job.History, m)
	}
	resumed := metrics(job.History[rows-1].At.Add(200 * time.Second))
	job.History = append(job.History, resumed)
	job.Changes = []engine.ChangeRow{
		{At: began.Add(8 * time.Second), What: engine.LimitChange, Old: "30", New: "31", Who: "resources"},
		{At: began.Add(20 * time.Second), What: engine.LimitSetting, Old: "32", New: "60", Who: "user"},
		{At: resumed.At.Add(time.Hour), What: engine.LimitSetting, Old: "60", New: "61", Who: "user"},
	}
	f := newFeed(job)
	var got []string
	for _, m := range f.marks {
		got = append(got, m.Text)
	}
	if text := strings.Join(got, "; "); text != "concurrency limit 32 to 60; resumed after 3 min 20 s" {
		t.Errorf("marks: %s", text)
	}
	times, values := f.rows()
	breaks := 0
	for i := range times {
		if math.IsNaN(values[seriesCPU][i]) {
			breaks++
		}
	}
	if breaks != 1 {
		t.Errorf("the lines are broken %d times", breaks)
	}
}

func TestFeedMarksChanges(t *testing.T) {
	f, next := ticking(t)
	change := func(after time.Duration, what, from, to string) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) {
			s.Changes = append(s.Changes, engine.ChangeRow{At: began.Add(after), What: what, Old: from, New: to})
		}
	}
	next(change(time.Second, engine.LimitSetting, "50", "60"))
	next(change(2*time.Second, engine.LimitSetting, "60", "70")) // the slider is still in hand
	next(change(2500*time.Millisecond, "exactness", "exact", "inexact"))
	next(change(10*time.Second, engine.LimitSetting, "70", "80"))
	next(change(11*time.Second, "phase", "running", "paused"))
	next(nil)
	want := []string{"concurrency limit 50 to 70", "concurrency limit 70 to 80", "paused"}
	if len(f.marks) != len(want) {
		t.Fatalf("%d marks: %+v", len(f.marks), f.marks)
	}
	for i, text := range want {
		if f.marks[i].Text != text {
			t.Errorf("mark %d is %q, want %q", i, f.marks[i].Text, text)
		}
	}
	f.mark(&engine.ChangeRow{What: engine.InjectChange, Old: "mara", New: `{"cycle":3}`, At: began.Add(time.Hour)})
	if got := f.marks[len(f.marks)-1].Text; got != "to mara" {
		t.Errorf("a manual message is marked %q", got)
	}
	if at := f.marks[0].At; !at.Equal(began.Add(time.Second)) {
		t.Errorf("limits that are one mark stand at %v", at)
	}
	for i := range 2 * keptMarks {
		next(change(time.Duration(20+5*i)*time.Second, engine.LimitSetting, "1", "2"))
	}
	if len(f.marks) != keptMarks {
		t.Errorf("%d marks are kept", len(f.marks))
	}
}

// TestFeedOfTheFirstSeconds checks that a short run is drawn by its fine rows, even if snapshots are seen rarely, and that the first
// row of a whole second replaces them by seconds.
func TestFeedOfTheFirstSeconds(t *testing.T) {
	run := newFakeRun(running())
	f := newFeed(jobOf(run))
	f.history, f.last, f.count = chart.NewHistory(numSeries, keptRows, gap), time.Time{}, 0
	early := func(n int) {
		run.change(func(s *engine.Snapshot) {
			s.Early = nil
			for i := range n {
				m := metrics(began.Add(time.Duration(i+1) * 100 * time.Millisecond))
				m.Fine, m.SessionsPerSec = true, float64(10*(i%10))
				s.Early = append(s.Early, m)
			}
			s.Metrics = metrics(s.Early[n/10*10-1].At)
		})
		f.collect(run.Snapshot())
	}
	early(13)
	early(29)
	if times, _ := f.rows(); len(times) != 29 {
		t.Fatalf("%d rows of 2.9 s", len(times))
	}
	early(100)
	run.change(func(s *engine.Snapshot) { s.Metrics = metrics(began.Add(11 * time.Second)) })
	f.collect(run.Snapshot())
	times, values := f.rows()
	if len(times) != 11 || times[10]-times[0] != 10 {
		t.Fatalf("%d rows of 11 s", len(times))
	}
	for i := range 10 {
		if got := values[seriesSessions][i]; math.Abs(got-45) > 1e-6 {
			t.Errorf("second %d: %v sessions per second, want the mean of the fine rows", i, got)
		}
	}
	run.change(func(s *engine.Snapshot) {
		s.Metrics, s.Phase = metrics(began.Add(11*time.Second+time.Millisecond)), engine.Ended
		s.Metrics.SessionsPerSec = 1000
	})
	f.collect(run.Snapshot())
	if times, values = f.rows(); len(times) != 11 || values[seriesSessions][10] > 86 {
		t.Errorf("after the last millisecond: %d rows, %v sessions per second", len(times), values[seriesSessions][len(times)-1])
	}
}
