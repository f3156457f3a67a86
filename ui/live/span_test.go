package live

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/chartmark"
)

// TestZoomingHoldsForAllCharts zooms one chart with the keyboard, continues for some seconds, and resets the zoom by
// the selection.
func TestZoomingHoldsForAllCharts(t *testing.T) {
	st := perform(t, running())
	for range 20 * 60 {
		st.run.second(func(*engine.MetricsRow) {})
		st.Collect()
	}
	st.tick()
	first := st.charts.all[0].Chart
	st.win.Canvas().Focus(first)
	first.TypedKey(&fyne.KeyEvent{Name: fyne.KeyHome})
	for range 5 {
		first.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageDown})
	}
	first.TypedRune('+')
	choice := st.charts.span
	if choice.Selected != "" || !strings.Contains(choice.PlaceHolder, " – ") {
		t.Errorf("zoomed, the selection shows %q %q", choice.Selected, choice.PlaceHolder)
	}
	middle := stamp(began.Add(11 * time.Minute))
	for range 3 {
		for _, title := range []string{"CPU", "Throughput"} {
			if shown := st.chartTexts(t, title); shown[stamp(began.Add(2*time.Minute))] || !shown[middle] && !shown[stamp(began.Add(10*time.Minute))] {
				t.Errorf("zoomed, %s shows %v", title, shown)
			}
		}
		st.run.second(func(*engine.MetricsRow) {})
		st.tick()
	}
	choice.SetSelected(wholeRun)
	if shown := st.chartTexts(t, "CPU"); !shown[stamp(began.Add(5*time.Minute))] || st.charts.group.Zoomed() {
		t.Errorf("the whole run shows %v", shown)
	}
	first.TypedRune('+')
	first.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if choice.Selected != wholeRun {
		t.Errorf("after Escape the selection shows %q", choice.Selected)
	}
	choice.SetSelected(lastMinute)
	if shown := st.chartTexts(t, "CPU"); !shown[began.Add(20*time.Minute+30*time.Second).Local().Format(time.TimeOnly)] {
		t.Errorf("the last minute shows %v", shown)
	}
}

// TestShortRunFillsTheCharts checks that charts span at least a minute while a run is in progress, and exactly the run
// if it ended within seconds.
func TestShortRunFillsTheCharts(t *testing.T) {
	st := perform(t, running())
	for range 4 {
		st.run.second(func(*engine.MetricsRow) {})
		st.Collect()
	}
	st.tick()
	span := func(f *feed) time.Duration {
		from, to := st.charts.ends(f, stamped(f))
		return to.Sub(from)
	}
	if got := span(st.feed); got != leastSpan {
		t.Errorf("in progress the charts span %v, want %v", got, leastSpan)
	}
	st.run.change(func(s *engine.Snapshot) { s.Phase, s.Ending = engine.Ended, engine.EndFinished })
	st.Collect()
	times, _ := st.feed.rows()
	length := time.Duration((times[len(times)-1] - times[0]) * float64(time.Second)).Round(time.Second)
	if got := span(st.feed).Round(time.Second); got != length || length < leastWhole {
		t.Errorf("after %v the charts span %v", length, got)
	}
	then := st.feed.as(&engine.Moment{Snapshot: &engine.Snapshot{At: st.feed.last.Add(-2 * time.Second)}})
	if got := span(then).Round(time.Second); got != length {
		t.Errorf("in the history the charts span %v, want %v", got, length)
	}
}

// stamped returns the time of a feed's first row.
func stamped(f *feed) float64 {
	times, _ := f.rows()
	return times[0]
}

func TestChartsHaveTheBandsOfHealth(t *testing.T) {
	st := perform(t, running())
	st.desk.job = jobOf(st.run)
	st.desk.job.Remote = "db.example.com:5432/throng"
	st.run.second(func(m *engine.MetricsRow) {
		m.ServerConnections, m.ServerMax = 58, 60
		m.Total.Mean, m.Total.P99 = 1500*time.Millisecond, 3*time.Second
	})
	st.tick()
	for title, want := range map[string][]string{
		"Latency": {"mean", "1.5 s"}, "DB connections": {"max 60"},
	} {
		shown := st.chartTexts(t, title)
		for _, text := range want {
			if !shown[text] {
				t.Errorf("%s does not show %q: %v", title, text, shown)
			}
		}
	}
	if got := appendBands(nil, seriesCPU, st.feed.snap); len(got) != 2 {
		t.Errorf("CPU has the bands %+v", got)
	}
	got := appendBands(nil, seriesConnections, st.feed.snap)
	if len(got) != 2 || got[0].From != 50 || got[0].To != 55 || got[1].From != 55 {
		t.Errorf("60 connections: the bands are %+v", got)
	}
	if got := appendBands(nil, seriesP50, st.feed.snap); len(got) > 0 {
		t.Errorf("latency without a criterion has the bands %+v", got)
	}
	if got := appendBands(nil, seriesLimit, st.feed.snap); len(got) > 0 {
		t.Errorf("concurrency has the bands %+v", got)
	}
}

func TestMarksHaveKinds(t *testing.T) {
	for _, c := range []struct {
		engine.ChangeRow
		want chart.MarkerKind
	}{
		{engine.ChangeRow{What: engine.LimitSetting, Old: "50", New: "60", Who: "user"}, chart.Raised},
		{engine.ChangeRow{What: engine.CeilingSetting, Old: "50", New: "40", Who: "user"}, chart.Lowered},
		{engine.ChangeRow{What: engine.PhaseChange, Old: "running", New: engine.Paused.String()}, chart.Paused},
		{engine.ChangeRow{What: engine.PhaseChange, Old: "paused", New: engine.Running.String()}, chart.Resumed},
		{engine.ChangeRow{What: engine.PhaseChange, Old: "running", New: engine.Draining.String()}, chart.Ended},
		{engine.ChangeRow{What: "model rate", Old: "20", New: "16", Who: "rate limiter"}, chart.Refused},
		{engine.ChangeRow{What: "shop breaker", Old: "closed", New: "open", Who: "breaker"}, chart.Troubled},
		{engine.ChangeRow{What: engine.StallChange, New: "shop"}, chart.Troubled},
		{engine.ChangeRow{What: engine.InjectChange, Old: "all"}, chart.Told},
		{engine.ChangeRow{What: "budget", Old: "5", New: "10", Who: "user"}, chart.Changed},
		{engine.ChangeRow{What: engine.LimitSetting, Old: "?", New: "60"}, chart.Changed},
	} {
		if got := chartmark.Kind(&c.ChangeRow); got != c.want {
			t.Errorf("%s %s to %s by %s is %d, want %d", c.What, c.Old, c.New, c.Who, got, c.want)
		}
	}
}

// TestOneMarkForAHand checks that a limit set by hand has one mark, and that moves of the governor have none.
func TestOneMarkForAHand(t *testing.T) {
	st := perform(t, running())
	before := len(st.feed.marks)
	st.run.change(func(s *engine.Snapshot) {
		at := began.Add(70 * time.Second)
		s.Changes = []engine.ChangeRow{
			{At: at, What: engine.LimitChange, Old: "40", New: "50", Who: "resources"},
			{At: at.Add(time.Second), What: engine.LimitSetting, Old: engine.Automatic, New: "200", Who: "user"},
			{At: at.Add(20 * time.Second), What: engine.LimitSetting, Old: "200", New: engine.Automatic, Who: "user"},
		}
	})
	st.Collect()
	marks := st.feed.marks[before:]
	if len(marks) != 2 || marks[0].Text != "concurrency limit automatic to 200" || marks[0].Kind != chart.Raised || marks[1].Text != "concurrency limit 200 to automatic" {
		t.Errorf("marked: %+v", marks)
	}
}

func TestCheckpointsAreMarkedOnce(t *testing.T) {
	st := perform(t, running())
	if len(st.feed.marks) > 0 {
		t.Errorf("a checkpoint from before the charts begin is marked: %v", st.feed.marks)
	}
	for range 3 {
		st.run.second(func(*engine.MetricsRow) {})
		st.run.change(func(s *engine.Snapshot) { s.LastCheckpoint, s.Checkpoints = began.Add(62*time.Second), 3 })
		st.Collect()
	}
	// A slider that moves over a checkpoint is still one change.
	for i, limit := range []string{"60", "70"} {
		st.run.change(func(s *engine.Snapshot) {
			at := began.Add(70*time.Second + time.Duration(i)*time.Second)
			s.Changes = append(slices.Clone(s.Changes), engine.ChangeRow{At: at, What: engine.LimitSetting, Old: "50", New: limit, Who: "user"})
			s.LastCheckpoint, s.Checkpoints = at, 4+i
		})
		st.Collect()
	}
	var got []string
	for _, m := range st.feed.marks {
		got = append(got, m.Text)
	}
	if want := "checkpoint 3, concurrency limit 50 to 70, checkpoint 4, checkpoint 5"; strings.Join(got, ", ") != want {
		t.Errorf("marked are %q, want %s", got, want)
	}
}
