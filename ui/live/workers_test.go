package live

import (
	"image/png"
	"os"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/fleet/fleettest"
	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/uitest"
)

// withFleet shows a run on four workers, one of them lost two seconds ago.
func withFleet(t *testing.T) (*stage, *fleettest.Fleet) {
	t.Helper()
	st := perform(t, running())
	team := &fleettest.Fleet{}
	job := jobOf(st.run)
	job.Fleet = team
	now := began.Add(time.Minute)
	st.now = func() time.Time { return now }
	st.desk.job = job
	for i := range 90 {
		now = now.Add(time.Second)
		team.Set(fleettest.Four(time.Time{}, i)...)
		st.run.second(func(m *engine.MetricsRow) { m.InFlight = 30 + i%9 })
		st.Collect()
	}
	now = now.Add(2 * time.Second)
	all := fleettest.Four(now, 91)
	team.Set(all...)
	st.run.second(func(*engine.MetricsRow) {})
	st.run.change(func(s *engine.Snapshot) {
		s.Elapsed = 3 * time.Minute
		s.At = now
		s.Changes = append(s.Changes, engine.ChangeRow{At: s.At.Add(-2 * time.Second), Cycle: 2, What: engine.WorkerChange, Old: "ready", New: "lost", Who: all[2].Name, Why: all[2].Why})
	})
	st.tick()
	return st, team
}

func TestAFleetHasATab(t *testing.T) {
	st, team := withFleet(t)
	st.view(workersTab)
	st.tick()
	for _, want := range []string{"4 workers, 1 lost", "rack-1", "lost 2 s ago: no answer for 3 s"} {
		if !uitest.Shows(st.Content(), want) {
			t.Errorf("there is no %q among %q", want, uitest.Texts(st.Content()))
		}
	}
	if text, _ := advice(st.feed); !slices.ContainsFunc([]string{text}, func(s string) bool { return len(s) > 0 }) || st.Help() != "07-dashboard.md#fleet" {
		t.Errorf("the advice is %q, and the help %s", text, st.Help())
	}
	if marks := st.feed.marks; marks[len(marks)-1].Text != "worker rack-2 lost" {
		t.Errorf("the charts mark %q", marks[len(marks)-1].Text)
	}
	st.view("Changes")
	st.tick()
	for _, want := range []string{"rack-2", "worker", "ready to lost", "no answer for 3 s"} {
		if !uitest.Shows(st.Content(), want) {
			t.Errorf("the changes are %q", uitest.Texts(st.changes.content))
		}
	}
	st.view("Overview")
	st.view(workersTab)
	team.Fail = nil
	if st.workers.Asked == nil {
		t.Error("results of orders are shown nowhere")
	}
}

// TestTheHistoryHasWorkers checks that a moment of the history shows the workers as of then, in charts that end there.
func TestTheHistoryHasWorkers(t *testing.T) {
	st, _ := withFleet(t)
	st.view(workersTab)
	st.tick()
	m := &engine.Moment{Snapshot: &engine.Snapshot{At: began.Add(75 * time.Second)}}
	m.Snapshot.Metrics = engine.MetricsRow{At: m.Snapshot.At, Workers: []workers.Sample{{Name: "rack-7", InFlight: 3, PerSecond: 12, CPU: 150}}}
	st.history.feed = st.feed.as(m)
	st.draw()
	for _, want := range []string{"1 worker at " + m.Snapshot.At.Local().Format(time.TimeOnly), "rack-7", "1.5 cores"} {
		if !uitest.Shows(st.Content(), want) {
			t.Errorf("there is no %q among %q", want, uitest.Texts(st.workers.Content))
		}
	}
	if uitest.Shows(st.Content(), "Drain") {
		t.Error("a worker of the history can be drained")
	}
	st.history.feed = nil
	st.draw()
	if !uitest.Shows(st.Content(), "4 workers, 1 lost") || uitest.Shows(st.Content(), "rack-7") {
		t.Errorf("back in the present it shows %q", uitest.Texts(st.workers.Content))
	}
}

// TestNoWorkerTakesSessions checks that a run without a worker that takes sessions says so, and has no estimate of its end.
func TestNoWorkerTakesSessions(t *testing.T) {
	st, team := withFleet(t)
	all := fleettest.Four(time.Time{}, 90)
	for i := range all {
		all[i].Status = workers.Draining
	}
	team.Set(all...)
	later := st.now().Add(time.Minute)
	st.now = func() time.Time { return later }
	st.tick()
	for _, want := range []string{"No worker takes sessions: desk is draining", "waits for a worker"} {
		if !uitest.Shows(st.Content(), want) {
			t.Errorf("there is no %q among %q", want, uitest.Texts(st.header.content))
		}
	}
	all[1].Status = workers.Ready
	team.Set(all...)
	latest := later.Add(time.Minute)
	st.now = func() time.Time { return latest }
	st.tick()
	if uitest.Shows(st.Content(), "takes sessions:") || uitest.Shows(st.Content(), "waits for a worker") {
		t.Errorf("with a ready worker it shows %q", uitest.Texts(st.header.content))
	}
}

// TestOneProcessShowsNoWorkers checks that a run without a fleet has nothing about workers, also after one with a fleet.
func TestOneProcessShowsNoWorkers(t *testing.T) {
	st, _ := withFleet(t)
	st.view(workersTab)
	st.run = newFakeRun(running())
	st.run.id = "20300301-130000-abcd"
	st.desk.job = jobOf(st.run)
	st.tick()
	if slices.Contains(st.tabs.choice.Options(), workersTab) || st.tabs.shown() != "Overview" {
		t.Errorf("the tabs are %q, shown is %s", st.tabs.choice.Options(), st.tabs.shown())
	}
	if uitest.Shows(st.Content(), "rack-1") || uitest.Shows(st.Content(), "orkers") {
		t.Errorf("it shows %q", uitest.Texts(st.Content()))
	}
	if len(st.feed.workers) > 0 {
		t.Error("the health is that of workers of another run")
	}
}

// TestThePictureOfAFleet saves pictures of the screen with a fleet in the folder THRONG_PICTURES, to look at them.
func TestThePictureOfAFleet(t *testing.T) {
	dir := os.Getenv("THRONG_PICTURES")
	if dir == "" {
		t.Skip("THRONG_PICTURES is not set")
	}
	st, _ := withFleet(t)
	for _, look := range []struct {
		name, theme string
		scale       float32
		size        fyne.Size
	}{
		{"1280-light", "light", 1, fyne.NewSize(1130, 760)},
		{"1280-dark", "dark", 1, fyne.NewSize(1130, 760)},
		{"1000-dark", "dark", 1, fyne.NewSize(850, 600)},
		{"1280-large", "light", 1.5, fyne.NewSize(1130, 760)},
		{"1000-large", "dark", 1.5, fyne.NewSize(850, 600)},
	} {
		fyne.CurrentApp().Settings().SetTheme(skin.New(look.theme).Scaled(look.scale))
		st.win.Resize(look.size)
		for _, name := range []string{"Overview", workersTab, "Changes"} {
			st.view(name)
			st.Drain()
			st.tick()
			f, err := os.Create(dir + "/fleet-" + look.name + "-" + name + ".png")
			if err != nil {
				t.Fatal(err)
			}
			_ = png.Encode(f, uitest.Picture(st.win.Canvas(), st.Content()))
			_ = f.Close()
		}
	}
}
