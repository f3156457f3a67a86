package compare

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/uitest"
)

// fakeDesk knows four runs and compares any of them.
type fakeDesk struct {
	runs  []engine.RunRecord
	asked chan []engine.RunID
	err   error

	curvesErr error
}

func (d *fakeDesk) Runs(context.Context) ([]engine.RunRecord, error) {
	return slices.Clone(d.runs), nil
}

// Curves returns a run of ten seconds, and others of twenty.
func (d *fakeDesk) Curves(_ context.Context, runs []engine.RunID) (all []*view.Curves, err error) {
	for i := range runs {
		c := &view.Curves{Zone: time.UTC, Charts: []view.Chart{
			{Title: "Throughput", Lines: []string{"sessions/s"}, Values: [][]float64{nil}},
			{Title: "Session time", Unit: view.Seconds, Lines: []string{"p50", "p95"}, Values: [][]float64{nil, nil}},
		}}
		for k := range 10 * (1 + min(i, 1)) {
			c.Elapsed = append(c.Elapsed, float64(k+1))
			c.Simulated = append(c.Simulated, float64(time.Date(2030, 1, 4, 0, 0, 0, 0, time.UTC).Unix()+int64(k)*3600))
			c.Charts[0].Values[0] = append(c.Charts[0].Values[0], float64(100*(i+1)+k))
			for line := range 2 {
				c.Charts[1].Values[line] = append(c.Charts[1].Values[line], float64(line+1))
			}
		}
		all = append(all, c)
	}
	return all, d.curvesErr
}

func (d *fakeDesk) Compare(_ context.Context, runs []engine.RunID, seeds bool) (*Comparison, error) {
	d.asked <- runs
	if d.err != nil {
		return nil, d.err
	}
	c := &Comparison{From: 3, To: 5, Method: "as one does", Rows: []Row{{Group: "share of sessions", Name: "ended ok", First: "10.00%"}}}
	shares := Series{Name: "Sessions that acted", Kind: Counts}
	times := Series{Name: "Session time, p95", Kind: Seconds}
	for i, id := range runs {
		r := Run{ID: id, Name: "run " + string(id), Sessions: 744, Exact: i > 0, Seeds: 1}
		if seeds {
			r.Seeds = 12
		}
		if i > 0 {
			r.Differences = []string{"seed 1 → 2"}
			c.Rows[0].Others = append(c.Rows[0].Others, Cell{"20.00%", "+10.00%", "< 0.001", true})
		}
		c.Runs = append(c.Runs, r)
		shares.Values, times.Values = append(shares.Values, []float64{10, math.NaN()}), append(times.Values, []float64{1, 2})
	}
	c.Series = []Series{shares, times}
	return c, nil
}

func start(t *testing.T, d *fakeDesk) (*uitest.Queue, *Screen) {
	t.Helper()
	q := uitest.Start(t)
	d.asked = make(chan []engine.RunID, 10)
	s := New(d)
	win := test.NewTempWindow(t, s.Content())
	win.Resize(fyne.NewSize(1130, 780))
	s.Show()
	return q, s
}

func four() *fakeDesk {
	var all []engine.RunRecord
	for i, id := range []engine.RunID{"d", "c", "b", "a"} {
		all = append(all, engine.RunRecord{ID: id, Title: "Shoppers", Created: time.Date(2026, 1, 9-i, 12, 0, 0, 0, time.Local), Source: engine.Source{Name: "shop.yaml"}, Cycle: 5})
	}
	all[0].Parent, all[0].ForkCycle = "b", 3
	return &fakeDesk{runs: all}
}

// wants waits until the desk is asked to compare the given runs, and shows the result.
func wants(t *testing.T, q *uitest.Queue, s *Screen, d *fakeDesk, runs ...engine.RunID) {
	t.Helper()
	q.Until("the comparison", func() bool { return len(d.asked) > 0 })
	if got := <-d.asked; !slices.Equal(got, runs) {
		t.Errorf("compared are %v, want %v", got, runs)
	}
	q.Until("it is shown", func() bool {
		return s.result.shown != nil && len(s.result.shown.Runs) == len(runs) && s.result.shown.Runs[0].ID == runs[0] || d.err != nil
	})
}

// TestAForkIsComparedWithItsParent checks that a fork is compared with its parent unless other runs are selected.
func TestAForkIsComparedWithItsParent(t *testing.T) {
	d := four()
	q, s := start(t, d)
	wants(t, q, s, d, "b", "d")
	for _, text := range []string{"2 cycles (3 to 4), which all runs have completed.", "A: run b, 744 sessions, inexact.", "B: run d, 744 sessions, different from A: seed 1 to 2.", "ended ok", "+10.00%", "differs", "as one does"} {
		if !uitest.Shows(s.Content(), text) {
			t.Errorf("%q is not shown in %q", text, uitest.Texts(s.Content()))
		}
	}
	s.picks[2].SetSelected(s.optionOf("a"))
	wants(t, q, s, d, "b", "d", "a")
	s.picks[1].SetSelected(noRun)
	wants(t, q, s, d, "b", "a")
	s.picks[0].SetSelected(s.optionOf("a")) // which is picked twice now
	q.Until("what is missing is said", func() bool { return uitest.Shows(s.Content(), "Choose a second run") })
	if s.result.content.Visible() {
		t.Error("an old comparison is shown")
	}
}

func TestAnotherFigure(t *testing.T) {
	d := four()
	q, s := start(t, d)
	wants(t, q, s, d, "b", "d")
	if len(s.result.charts) != 1 || !s.result.charts[drawing{overCycles, chart.Count, 2}].Visible() {
		t.Error("a chart other than the shares is shown")
	}
	s.result.measures.SetSelected("Session time, p95")
	if s.result.charts[drawing{overCycles, chart.Count, 2}].Visible() || !s.result.chart(drawing{overCycles, chart.Duration, 2}).Visible() {
		t.Error("a chart other than the times is shown")
	}
}

func TestNothingToCompare(t *testing.T) {
	d := &fakeDesk{}
	q, s := start(t, d)
	q.Until("what is missing is said", func() bool { return uitest.Shows(s.Content(), "No runs yet") })

	d = four()
	d.err = errors.New("no cycle in common")
	q, s = start(t, d)
	wants(t, q, s, d, "b", "d")
	q.Until("the mistake", func() bool {
		return uitest.Shows(s.Content(), "The two newest runs cannot be compared.")
	})
	s.picks[0].SetSelected(s.optionOf("c"))
	wants(t, q, s, d, "c", "d")
	q.Until("the mistake of the user", func() bool {
		return uitest.Shows(s.Content(), "These runs cannot be compared. Choose others. No cycle in common")
	})
	if s.result.content.Visible() {
		t.Error("something is compared")
	}
}

// TestOpensCalmly checks what the screen shows with too few runs, and that it opens with the two newest comparable runs.
func TestOpensCalmly(t *testing.T) {
	d := four()
	d.runs = d.runs[1:2]
	q, s := start(t, d)
	opened := 0
	s.Lead(func() { opened++ })
	q.Until("what is missing", func() bool { return uitest.Shows(s.Content(), "One run so far") })
	q.Tap(s.Content(), "Open Setup")
	if opened != 1 || s.trouble.Visible() {
		t.Errorf("Setup was opened %d times; trouble %q", opened, s.trouble.Text())
	}

	d = four()
	d.runs[0].Parent, d.runs[0].Cycle, d.runs[0].ForkCycle = "", 0, 0 // has not completed a cycle
	d.runs[2].Source.Name = "other.yaml"
	q, s = start(t, d)
	wants(t, q, s, d, "a", "c")

	for i := range d.runs {
		d.runs[i].Cycle = 0
	}
	q, s = start(t, d)
	q.Until("what is missing", func() bool { return uitest.Shows(s.Content(), "Two runs must have completed a common cycle.") })
}

// TestDifferencesOnly checks that the switch leaves out measures without a significant difference, for two and three runs.
func TestDifferencesOnly(t *testing.T) {
	d := four()
	q, s := start(t, d)
	wants(t, q, s, d, "b", "d")
	c := *s.result.shown
	c.Rows = append(slices.Clone(c.Rows), Row{Group: "share of sessions", Name: "ended stopped", First: "7% (5 to 9)", Others: []Cell{{"7%", "the same", "", false}}},
		Row{Group: "per session", Name: "orders", First: "3", Others: []Cell{{"3", "+0.1", "0.4", false}}})
	s.result.show(&c)
	shows := func(want bool, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if uitest.Shows(s.result.measured, text) != want {
				t.Errorf("%q is shown: %v, among %q", text, !want, uitest.Texts(s.result.measured))
			}
		}
	}
	shows(true, "ended ok", "ended stopped", "orders", "7% (5 to 9)", "A run b", "B run d", "B − A", "differs")
	s.result.only.SetChecked(true)
	shows(true, "ended ok")
	shows(false, "ended stopped", "orders", "per session")
	s.result.only.SetChecked(false)
	c.Runs = append(slices.Clone(c.Runs), Run{ID: "x"})
	for i := range c.Rows {
		c.Rows[i].Others = append(slices.Clone(c.Rows[i].Others), Cell{"9%", "+2% (1% to 3%)", "0.01", i == 1})
	}
	s.result.show(&c)
	shows(true, "C − A", "+2%", "7%")
	shows(false, "(5 to 9)")
}

// TestPinnedBaseline checks that a pinned baseline stays when another run is compared.
func TestPinnedBaseline(t *testing.T) {
	d := four()
	q, s := start(t, d)
	wants(t, q, s, d, "b", "d")
	s.pinned.SetChecked(true)
	s.Select("c")
	wants(t, q, s, d, "b", "c")
	s.pinned.SetChecked(false)
	s.Select("a")
	wants(t, q, s, d, "d", "a")
}

func TestSelect(t *testing.T) {
	d := four()
	q, s := start(t, d)
	wants(t, q, s, d, "b", "d")
	s.Select("c")
	wants(t, q, s, d, "d", "c")
}

// TestZoomIntoTheCycles zooms into some cycles with the keyboard, selects another measure, and zooms out again.
func TestZoomIntoTheCycles(t *testing.T) {
	_, s := start(t, four())
	c := &Comparison{From: 0, To: 100, Runs: []Run{{ID: "a"}, {ID: "b"}}}
	for _, name := range []string{"Sessions", "Requests"} {
		values := [][]float64{make([]float64, 100), make([]float64, 100)}
		for i := range values[0] {
			values[0][i], values[1][i] = float64(i), 7
		}
		c.Series = append(c.Series, Series{Name: name, Kind: Counts, Values: values})
	}
	s.result.show(c)
	s.Content().Resize(s.Content().Size().AddWidthHeight(1, 0)) // lays out what was hidden
	drawn := s.result.chart(drawing{overCycles, chart.Count, 2})
	shows := func(want bool, text string) {
		t.Helper()
		if uitest.Shows(drawn, text) != want {
			t.Errorf("%q is shown: %v, among %q", text, !want, uitest.Texts(drawn))
		}
	}
	shows(true, "80")
	for range 5 {
		drawn.TypedKey(&fyne.KeyEvent{Name: fyne.KeyPageUp})
	}
	shows(true, "cycle 49")
	drawn.TypedRune('+')
	shows(false, "cycle 20")
	shows(true, "70")
	s.result.measures.SetSelected("Requests")
	shows(true, "70")
	if !s.result.group.Zoomed() {
		t.Error("another measure shows all cycles again")
	}
	s.result.show(c)
	if s.result.group.Zoomed() {
		t.Error("another comparison is zoomed")
	}
}

// TestOverTime overlays both runs on elapsed and on simulated time, with the figure that was chosen, and zooms.
func TestOverTime(t *testing.T) {
	d := four()
	q, s := start(t, d)
	wants(t, q, s, d, "b", "d")
	r := s.result
	r.over.Pick(overElapsed)
	q.Until("the metrics are read", func() bool { return r.measures.Selected == "Throughput" })
	drawn := r.chart(drawing{overElapsed, chart.Count, 2})
	s.Content().Resize(s.Content().Size().AddWidthHeight(1, 0)) // lays out what was hidden
	if !drawn.Visible() || !uitest.Shows(drawn, "Over elapsed time") || !uitest.Shows(drawn, "0:10") {
		t.Errorf("the chart shows %q", uitest.Texts(drawn))
	}
	r.measures.SetSelected("Session time, p95")
	r.over.Pick(overSimulated)
	if r.measures.Selected != "Session time, p95" || !r.chart(drawing{overSimulated, chart.Duration, 2}).Visible() || drawn.Visible() {
		t.Errorf("over simulated time, %q is chosen", r.measures.Selected)
	}
	if r.reset.Visible() {
		t.Error("nothing is zoomed, and Reset zoom is visible")
	}
	over := r.chart(drawing{overSimulated, chart.Duration, 2})
	over.TypedRune('+')
	if !r.reset.Visible() {
		t.Error("Reset zoom is hidden")
	}
	q.Tap(s.Content(), "Reset zoom")
	if r.reset.Visible() || r.group.Zoomed() {
		t.Error("Reset zoom does not reset")
	}
	r.over.Pick(overCycles)
	if r.measures.Selected != "Session time, p95" || !r.chart(drawing{overCycles, chart.Duration, 2}).Visible() {
		t.Errorf("over the cycles, %q is chosen", r.measures.Selected)
	}
	d.curvesErr = errors.New("disk I/O error")
	s.Select("c")
	wants(t, q, s, d, "d", "c")
	r.over.Pick(overElapsed)
	q.Until("the error is shown", func() bool { return uitest.Shows(s.Content(), "Cannot read the metrics of the runs. Disk I/O error") })
}

// TestSampled checks that lines of runs of different length and density share their times: means of dense values, straight lines between
// sparse ones, and nothing before the first and after the last.
func TestSampled(t *testing.T) {
	grid := []float64{0, 1, 2, 3, 4, 5}
	got := sampled([]float64{0.9, 1.1, 2, 4}, []float64{10, 20, math.NaN(), 40}, grid)
	for i, want := range []float64{math.NaN(), 15, 20 + 20*0.9/2.9, 20 + 20*1.9/2.9, 40, math.NaN()} {
		if math.Abs(got[i]-want) > 1e-9 || math.IsNaN(got[i]) != math.IsNaN(want) {
			t.Errorf("at %v: %v, want %v", grid[i], got[i], want)
		}
	}
}

// TestAllSeeds checks that each run can stand for all runs of its setup.
func TestAllSeeds(t *testing.T) {
	d := four()
	q, s := start(t, d)
	wants(t, q, s, d, "b", "d")
	if uitest.Shows(s.Content(), "sessions of ") {
		t.Error("a single run has several seeds")
	}
	test.Tap(s.seeds)
	wants(t, q, s, d, "b", "d")
	q.Until("all seeds are shown", func() bool { return uitest.Shows(s.Content(), "B: run d, 744 sessions of 12 seeds") })
}

// TestAnExperimentLimitsTheRuns checks that the runs of one experiment are offered, until runs of others are wanted.
func TestAnExperimentLimitsTheRuns(t *testing.T) {
	d := four()
	for i := range d.runs[:2] {
		d.runs[i].Experiment = "Prices"
	}
	q, s := start(t, d)
	wants(t, q, s, d, "b", "d")
	s.within.SetSelected("Prices")
	wants(t, q, s, d, "c", "d")
	if len(s.picks[0].Options) != 3 {
		t.Errorf("%q are offered", s.picks[0].Options)
	}
	s.Select("b", "d")
	wants(t, q, s, d, "b", "d")
	if s.within.Selected != anyRun || len(s.picks[0].Options) != 5 {
		t.Errorf("%q are offered of %q", s.picks[0].Options, s.within.Selected)
	}
}
