package live

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// chartTexts returns the texts of the chart with the given title, which becomes the large one.
func (st *stage) chartTexts(t *testing.T, title string) map[string]bool {
	t.Helper()
	if st.charts.picker.Selected != title {
		st.large(title)
	}
	for _, one := range st.charts.all {
		if one.title == title && one.Visible() {
			one.Point(st.charts.feed.last)
			defer one.Point(time.Time{})
			texts := map[string]bool{}
			for _, text := range uitest.Texts(one.Chart) {
				texts[text] = true
			}
			return texts
		}
	}
	t.Fatalf("there is no chart %q", title)
	return nil
}

func TestChartsShowTheNewestSecond(t *testing.T) {
	st := perform(t, running())
	st.desk.job = jobOf(st.run)
	st.desk.job.Remote = "db.example.com:5432/throng"
	st.Tick()
	st.run.second(func(m *engine.MetricsRow) {
		m.Host.CPU, m.Host.Memory, m.Limit, m.InFlight = 63, 350e6, 80, 77
		m.Connections, m.ServerConnections, m.ServerMax, m.Pool = 8, 44, 60, engine.Pool{Size: 12, InUse: 5, Idle: 3, Waiting: 21}
		m.SessionsPerSec, m.RequestsPerSec = 91, 455
		m.Total.P50, m.Total.P95, m.Total.P99 = 250*time.Millisecond, 1200*time.Millisecond, 3*time.Second
	})
	st.tick()
	for title, texts := range map[string][]string{
		"CPU":            {"machine", "63%", "Throng"},
		"Memory":         {"350 MB"},
		"Latency":        {"p50", "250 ms", "p95", "1.2 s", "p99", "3 s"},
		"Concurrency":    {"limit", "80", "in flight", "77"},
		"Throughput":     {"sessions", "91/s", "requests", "455/s"},
		"DB connections": {"8", "44", "max 60", "in use", "5", "waiting", "21"},
	} {
		shown := st.chartTexts(t, title)
		for _, text := range texts {
			if !shown[text] {
				t.Errorf("%s does not show %q: %v", title, text, shown)
			}
		}
	}
}

// TestChartsCollectWhileHidden checks that a hidden screen collects every second but draws nothing.
func TestChartsCollectWhileHidden(t *testing.T) {
	st := perform(t, running())
	st.large("CPU")
	st.Hide()
	for i := range 30 {
		st.run.second(func(m *engine.MetricsRow) { m.Host.CPU = float64(60 + i) })
		st.Collect()
	}
	if shown := uitest.Texts(st.charts.small[2]); !slices.Contains(shown, "42%") {
		t.Errorf("while it is hidden it shows %q", shown)
	}
	st.Show()
	if shown := st.chartTexts(t, "CPU"); !shown["89%"] {
		t.Errorf("visible again it shows %v", shown)
	}
	if times, _ := st.feed.history.Rows(); len(times) != 31 {
		t.Errorf("it has %d rows of 31 seconds", len(times))
	}
}

// TestChartsAreDrawnOnceASecond checks that a chart is not redrawn until there is a new second.
func TestChartsAreDrawnOnceASecond(t *testing.T) {
	st := perform(t, running())
	st.large("CPU")
	unseen := make([]float64, numSeries)
	unseen[seriesCPU] = 99
	st.feed.history.Add(st.feed.last.Add(time.Second), unseen...)
	for range 4 {
		st.run.change(func(s *engine.Snapshot) { s.Events++ })
		st.tick()
	}
	if shown := st.chartTexts(t, "CPU"); !shown["42%"] || shown["99%"] {
		t.Errorf("without a new second it is drawn again: %v", shown)
	}
	st.run.change(func(s *engine.Snapshot) {
		s.Metrics = metrics(st.feed.last.Add(2 * time.Second))
		s.Metrics.Host.CPU = 12
	})
	st.tick()
	if shown := st.chartTexts(t, "CPU"); !shown["12%"] {
		t.Errorf("the next second is not drawn: %v", shown)
	}
}

func TestChartsSpan(t *testing.T) {
	st := perform(t, running())
	for range 20 * 60 {
		st.run.second(func(*engine.MetricsRow) {})
		st.Collect()
	}
	st.tick()
	if shown := st.chartTexts(t, "CPU"); !shown[stamp(began.Add(5*time.Minute))] {
		t.Errorf("the whole run does not show its beginning: %v", shown)
	}
	st.charts.span.SetSelected(lastMinutes)
	if shown := st.chartTexts(t, "CPU"); shown[stamp(began.Add(5*time.Minute))] || !shown[stamp(began.Add(20*time.Minute))] {
		t.Errorf("the last 10 minutes show %v", shown)
	}
}

func stamp(t time.Time) string { return t.Local().Format("15:04") }

// TestSmallCharts checks that a click on a small chart makes it the large one, and that one about the database needs a database.
func TestSmallCharts(t *testing.T) {
	st := perform(t, running())
	var titles []string
	for _, s := range st.charts.small {
		if s != nil {
			titles = append(titles, s.Title())
		}
	}
	if got, want := strings.Join(titles, ", "), "Throughput, Latency p95, CPU, Memory, Concurrency"; got != want {
		t.Errorf("without a database: %s, want %s", got, want)
	}
	for i, tile := range st.tiles.shown[:2] {
		if small := uitest.Texts(st.charts.small[i]); tile.Value == "" || !slices.Contains(small, tile.Value) {
			t.Errorf("the tile shows %q, the small chart %q", tile.Value, small)
		}
	}
	test.Tap(st.charts.small[2])
	if st.charts.all[0].Visible() || !st.charts.all[2].Visible() || st.charts.picker.Selected != "CPU" {
		t.Errorf("the picker shows %s", st.charts.picker.Selected)
	}
	if plot := st.charts.all[2].Size().Height; plot < 184 {
		t.Errorf("the large chart is only %v high", plot)
	}
	st.desk.job = jobOf(newFakeRun(running()))
	st.desk.job.Remote = "db.example.com:5432/throng"
	st.tick()
	if got := st.charts.small[4].Title(); got != "DB connections" {
		t.Errorf("with a database, the last one is %s", got)
	}
}

// TestLatencyOfActiveSessions checks that sessions that did nothing do not hide the latency of the others.
func TestLatencyOfActiveSessions(t *testing.T) {
	st := perform(t, running())
	for range 3 {
		st.run.second(func(m *engine.MetricsRow) {
			m.Total = engine.Quantiles{Count: 100, P50: time.Millisecond, P95: 2 * time.Millisecond, P99: 3 * time.Millisecond, Mean: time.Millisecond}
			m.Active = engine.Quantiles{Count: 5, P50: 700 * time.Millisecond, P95: 800 * time.Millisecond, P99: 900 * time.Millisecond, Mean: 700 * time.Millisecond}
		})
		st.Collect()
	}
	st.tick()
	if shown := st.chartTexts(t, "Latency"); !shown["700 ms"] || shown["1 ms"] {
		t.Errorf("active sessions: %v", shown)
	}
	st.charts.whose.Pick(everyLatency)
	if shown := st.chartTexts(t, "Latency"); !shown["1 ms"] || shown["700 ms"] {
		t.Errorf("all sessions: %v", shown)
	}
}

// TestResetZoom checks that a zoom has a visible way back.
func TestResetZoom(t *testing.T) {
	st := perform(t, running())
	for range 60 {
		st.run.second(func(*engine.MetricsRow) {})
		st.Collect()
	}
	st.tick()
	if st.charts.reset.Visible() {
		t.Error("nothing is zoomed, and there is a way back")
	}
	st.charts.all[0].TypedRune('+')
	if !st.charts.reset.Visible() {
		t.Fatal("a zoom has no visible way back")
	}
	test.Tap(st.charts.reset)
	if st.charts.reset.Visible() || st.charts.group.Zoomed() {
		t.Error("it is still zoomed")
	}
}
