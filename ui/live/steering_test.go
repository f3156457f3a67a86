package live

import (
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/uitest"
)

// governedRun is a run whose limit a governor moves.
func governedRun() engine.Snapshot {
	s := running()
	s.Governor, s.Floor, s.Ceiling, s.Limit = "adaptive", 1, 100, 20
	s.Steer, s.SteerBy, s.Steered = "25 → 20: CPU 91% for 3 s, above 80%", "resources", time.Date(2030, 3, 1, 12, 0, 3, 0, time.Local)
	return s
}

func TestGovernorIsShown(t *testing.T) {
	st := perform(t, governedRun())
	st.shows(t, "Automatic", "Manual", "48 active, limit 20", "Lowered from 25 to 20 at 12:00:03: CPU 91% for 3 s, above 80%.")
	st.hides(t, "Return to automatic")
	if st.limit.slider.Value() != 20 || st.limit.mode.Chosen() != automaticMode {
		t.Errorf("the slider is at %d, the mode %d", st.limit.slider.Value(), st.limit.mode.Chosen())
	}
	st.run.change(func(s *engine.Snapshot) { s.Binds = "latency" })
	st.tick()
	test.Tap(st.limit.why)
	top := st.win.Canvas().Overlays().Top()
	for _, want := range []string{"Adaptive", "between 1 and 100", "CPU and memory", "Now limited by: Latency", "To do: drag the slider"} {
		if !uitest.Shows(top, want) {
			t.Errorf("%q is not shown: %q", want, uitest.Texts(top))
		}
	}
	st.Tap(top, "OK")
	st.run.change(func(s *engine.Snapshot) { s.Governor, s.Limit = engine.Manual, 40 })
	st.tick()
	st.shows(t, "Fixed at 40.", "48 active, limit 40", "Return to automatic")
	if st.limit.slider.Value() != 40 || st.limit.mode.Chosen() != manualMode {
		t.Errorf("in manual mode the slider is at %d, the mode %d", st.limit.slider.Value(), st.limit.mode.Chosen())
	}
}

func TestAlarm(t *testing.T) {
	st := perform(t, running())
	if got := st.header.banner.Text(); got != "" {
		t.Errorf("without problems: got %q", got)
	}
	at := time.Date(2030, 3, 1, 12, 5, 0, 0, time.Local)
	st.run.change(func(s *engine.Snapshot) {
		s.Breaker, s.BreakerWhy, s.NextProbe = engine.BreakerOpen, "60% of cycle 3 failed", at
		s.Services = []engine.ServiceState{{Name: "shop", Breaker: engine.BreakerOpen, BreakerWhy: "unavailable since 12:04; next try in 7 s", NextProbe: at, Bound: 200, InFlight: 3, LimiterState: engine.LimiterState{Rate: 10, MaxRate: 50, RateWhy: "after a 429"}, Buckets: []engine.BucketState{
			{Name: "POST /orders", LimiterState: engine.LimiterState{Waiting: 31, Refused: 7, Blocked: s.At.Add(time.Minute)}},
		}}}
		s.Stall = &engine.Stall{Why: "5 sessions wait for shop"}
		s.Budget = engine.BudgetState{Budget: engine.Budget{Dollars: 5, Requests: 1000}, Spent: engine.Amount{Cost: 1_230_000_000, Requests: 640}, Forecast: engine.Amount{Cost: 6e9}, Short: "the budget will not last"}
	})
	st.tick()
	want := "The run's breaker is open: 60% of cycle 3 failed, next try at 12:05:00  ·  shop does not answer, and requests to it wait: unavailable since 12:04; next try in 7 s  ·  5 sessions wait for shop  ·  the budget will not last"
	if got := st.header.banner.Text(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if text, worst := advice(st.feed); worst < health.Warning || !strings.HasPrefix(text, "Shop does not answer.") {
		t.Errorf("the figures: %v, %q", worst, text)
	}
	st.header.banner.probe.OnTapped()
	st.Until("the order is carried out", func() bool { return len(st.orders.waiting) == 0 })
	if got, want := st.run.orders(), "apply shop.breaker=probe user by hand"; got != want {
		t.Errorf("orders %q, want %q", got, want)
	}
	st.list("Figures")
	st.shows(t, "budget $1.23 of $5.00, 640 of 1,000 requests, about $6.00 at the end")
	st.win.Resize(fyne.NewSize(1280, 800)) // room for all of the last column
	st.list("Services")
	st.shows(t, "3 of 200", "10/s of 50/s", "open", "unavailable since 12:04; next try in 7 s  ·  after a 429", "POST /orders", "31", "unlimited", "a 429: next request at")
	st.run.change(func(s *engine.Snapshot) { s.Breaker, s.Services, s.Stall, s.Budget = 0, nil, nil, engine.BudgetState{} })
	st.tick()
	st.hides(t, "next try", "budget $")
}

func TestChangesAreListed(t *testing.T) {
	s := running()
	at := time.Date(2030, 3, 1, 12, 0, 1, 0, time.Local)
	s.Changes = []engine.ChangeRow{
		{At: at, Cycle: 1, What: engine.LimitChange, Old: "50", New: "20", Who: "resources", Why: "50 → 20: CPU 95%"},
		{At: at.Add(time.Second), Cycle: 2, What: engine.InjectChange, Old: "everybody", New: `{"cycle":3}`, Who: "user"},
	}
	s.Changes = append(s.Changes, engine.ChangeRow{At: at, Cycle: 2, What: engine.RetireChange, Old: "lena", New: `{"cycle":3,"agent":17}`, Who: "user"})
	st := perform(t, s)
	st.view("Changes")
	st.hides(t, "{")
	st.shows(t, "lena", "12:00:01", "resources", "50 to 20", "50 to 20: CPU 95%", "to everybody")
	rows := changes(s.Changes)
	if rows[1].Cells[0].Text != "12:00:02" {
		t.Errorf("the newest is not the first: %+v", rows)
	}
}

// TestAResumedRunShowsItsWholeHistory shows a fork that was killed and resumed: what earlier processes changed, the interruption, the
// resume, and the run that it continues, with the progress that counts what it kept.
func TestAResumedRunShowsItsWholeHistory(t *testing.T) {
	s := running()
	s.Ended, s.Total, s.Kept, s.Cycle, s.Cycles = 202, 6324, 2604, 7, 24
	s.Changes = []engine.ChangeRow{{At: s.At, Cycle: 7, What: engine.LimitSetting, Old: "35", New: "48", Who: "user"}}
	st := perform(t, s)
	st.desk.job = jobOf(st.run)
	st.desk.job.Title, st.desk.job.Origin = "Marketplace shoppers", "continues Marketplace shoppers from 09:51:12"
	st.desk.job.Changes = []engine.ChangeRow{
		{At: s.At.Add(-5 * time.Minute), Cycle: 6, What: engine.LimitChange, Old: "40", New: "35", Who: "resources", Why: "40 → 35: CPU 95%"},
		{At: s.At.Add(-4 * time.Minute), Cycle: 7, What: engine.RestartChange, Old: "running", New: "interrupted", Who: "Throng"},
		{At: s.At.Add(-time.Minute), Cycle: 7, What: engine.RestartChange, Old: "interrupted", New: "resumed", Who: "Throng"},
	}
	st.Show()
	st.shows(t, "continues Marketplace shoppers from 09:51:12", "2,806 of 8,928 sessions, 7 of 24 cycles done", "31%")
	st.view("Changes")
	st.shows(t, "40 to 35", "running to interrupted", "interrupted to resumed", "35 to 48")
	st.hides(t, "No changes during the run")
}

// TestAgentIsRetired retires the agent of a session that hangs, from the list of sessions in flight.
func TestAgentIsRetired(t *testing.T) {
	s := running()
	s.Oldest = []engine.Activity{
		{Place: engine.Place{Cycle: 2, Agent: 17}, Name: "lena", Began: s.At.Add(-130 * time.Second), Path: "pay", Service: "shop", Since: s.At.Add(-2 * time.Minute)},
		{Place: engine.Place{Cycle: 2, Agent: 18}, Began: s.At.Add(-20 * time.Second), ThrottledBy: "rate limiter", Since: s.At.Add(-3 * time.Second)},
	}
	st := perform(t, s)
	st.list("In flight")
	st.shows(t, "lena", "2 min 10 s", "pay", "shop", "2 min", "18", "rate limiter", "3 s")
	st.lists.askAbout("17")
	for _, want := range []string{"Agent lena", "Step pay", "calls shop", "cancels the session"} {
		if !uitest.Shows(st.win.Canvas().Overlays().Top(), want) {
			t.Errorf("%q is not shown: %q", want, uitest.Texts(st.win.Canvas().Overlays().Top()))
		}
	}
	st.Tap(st.win.Canvas().Overlays().Top(), "Retire the agent")
	st.Until("the agent is retired", func() bool { return st.run.orders() != "" && len(st.orders.waiting) == 0 })
	if got := st.run.orders(); got != "retire 17 user" {
		t.Errorf("got calls %q", got)
	}
	st.shows(t, "Agent lena is retired.")
}

// TestSessionIsRequeued checks that the last failure of the current cycle can be retried, but not one of an earlier
// cycle.
func TestSessionIsRequeued(t *testing.T) {
	st := perform(t, running())
	st.lists.explain("server_error") // of cycle 1
	if uitest.Shows(st.win.Canvas().Overlays().Top(), "Run this session again") {
		t.Error("a session of a cycle that is over can run again")
	}
	if !uitest.Shows(st.win.Canvas().Overlays().Top(), "Look at its log") {
		t.Errorf("nothing says what helps: %q", uitest.Texts(st.win.Canvas().Overlays().Top()))
	}
	st.Tap(st.win.Canvas().Overlays().Top(), "Show agent")
	if st.agents.inspector.agent != 17 || st.win.Canvas().Overlays().Top() != nil {
		t.Errorf("agent %d is open", st.agents.inspector.agent)
	}
	st.lists.explain("timeout")
	st.Tap(st.win.Canvas().Overlays().Top(), "Run this session again")
	st.Until("it is requeued", func() bool { return st.run.orders() != "" && len(st.orders.waiting) == 0 })
	if got := st.run.orders(); got != "requeue 301 user" {
		t.Errorf("got calls %q", got)
	}
}

// TestErrorsBeforeAResume checks that errors from before a resume are only counted, without details.
func TestErrorsBeforeAResume(t *testing.T) {
	s := running()
	s.Errors = []engine.ErrorNote{{Class: engine.Timeout, Count: 15}}
	s.Cycle = 0
	st := perform(t, s)
	st.shows(t, "before the run was resumed")
	if st.lists.explain("timeout"); st.win.Canvas().Overlays().Top() != nil {
		t.Error("an unrelated agent is shown and can be requeued")
	}
}

func TestSettingsAreAdjusted(t *testing.T) {
	st := perform(t, running())
	st.run.tunables = []engine.Tunable{{Name: engine.LimitSetting, Value: "50"}, {Name: "budget", Value: "5", Help: "what model calls may cost"}, {Name: "model.rate", Value: "10"}, {Name: "governor", Value: "adaptive"}}
	st.run.set = func(name, value string) error {
		if name == "model.rate" {
			return &engine.FieldError{Field: name, Problem: "-1 requests per second", Hint: "above 0"}
		}
		return nil
	}
	st.pick(t, "More", "Adjust…")
	f := st.orders.adjusting
	if len(f.fields) != 3 || f.Row(engine.LimitSetting) != nil {
		t.Fatalf("%d settings are offered", len(f.fields))
	}
	f.fields[0].put(" 10 ")
	f.fields[1].put("-1")
	test.Tap(f.change)
	st.Until("they are changed", func() bool { return len(st.orders.waiting) == 0 })
	if got, want := st.run.orders(), "apply budget=10 model.rate=-1 user by hand"; got != want {
		t.Errorf("got calls %q, want %q", got, want)
	}
	st.hides(t, "Changed: ")
	if got := f.Row("model.rate").Problem(); !strings.Contains(got, "-1 requests per second") {
		t.Errorf("next to the field: %q", got)
	}
	f.fields[1].put("10")
	f.fields[2].object.(*form.Frame).Parts()[0].(*widget.Select).SetSelected("latency")
	test.Tap(f.change)
	st.Until("it is changed", func() bool { return len(st.orders.waiting) == 0 && st.win.Canvas().Overlays().Top() == nil })
	if got, want := st.run.orders(), "apply budget=10 model.rate=-1 user by hand; apply budget=10 governor=latency user by hand"; got != want {
		t.Errorf("got calls %q, want %q", got, want)
	}
	st.shows(t, "Changed: budget 5 to 10, governor adaptive to latency.")
}

// TestChartsAreSaved reads the saved picture and checks that it contains the lines of the series.
func TestChartsAreSaved(t *testing.T) {
	st := perform(t, running())
	for range 20 {
		st.run.second(func(m *engine.MetricsRow) { m.Host.CPU = 60 })
		st.tick()
	}
	dir := t.TempDir()
	st.pickPath = func(_, _ string, then func(string)) { then(dir) }
	empty := newCharts(chart.Keep{}, nil)
	empty.all = newCurves(false, chart.Keep{})
	blank := colors(empty.picture("372 shoppers", "run"))
	st.orders.saveCharts()
	st.Until("it is saved", func() bool { return len(st.orders.waiting) == 0 })
	path := filepath.Join(dir, "throng-20300301-120000-abcd-charts.png")
	st.shows(t, "Saved "+path)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size != image.Pt(pictureWidth*pictureScale, pictureHeight*pictureScale) {
		t.Errorf("the picture is %v", size)
	}
	if got := colors(img); got <= blank {
		t.Errorf("%d colored pixels, %d without data", got, blank)
	}
	st.orders.saveCharts()
	st.Until("it is saved again", func() bool { return len(st.orders.waiting) == 0 })
	st.shows(t, "Saved "+filepath.Join(dir, "throng-20300301-120000-abcd-charts-2.png"))
	st.run.fail = errors.New("not used")
	st.pickPath = func(_, _ string, then func(string)) { then(filepath.Join(dir, "nowhere")) }
	st.orders.saveCharts()
	st.Until("it is tried", func() bool { return len(st.orders.waiting) == 0 })
	st.shows(t, "Saving the charts failed")
}

// colors counts the pixels that are not gray.
func colors(img image.Image) (n int) {
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			if max(r, g, b)-min(r, g, b) > 0x3000 {
				n++
			}
		}
	}
	return n
}

// TestErrorsOfTheLog checks the notice about errors that were logged during the run.
func TestErrorsOfTheLog(t *testing.T) {
	st := perform(t, running())
	st.hides(t, "in the log")
	st.desk.logged++
	st.tick()
	st.shows(t, "An error is in the log, the last of")
	st.desk.logged++
	st.tick()
	st.shows(t, "2 errors are in the log", "the disk is full")
}
