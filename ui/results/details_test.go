package results

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/outcomes"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/uitest"
)

// shop are the details of a run of a shop over two days.
func shop() *view.Details {
	c := outcomes.Collector{Clock: engine.Clock{Start: began, Cycle: time.Hour}, Acted: "order", Persona: func(agent int) ([]engine.Fact, error) {
		return []engine.Fact{{Name: "segment", Value: []string{"loyal", "new"}[agent%2]}}, nil
	}}
	for cycle := range 48 {
		for agent := range 20 {
			s := engine.SessionRow{Place: engine.Place{Cycle: cycle, Agent: agent}}
			if (cycle+agent)%3 == 0 {
				s.Acted = true
				s.Events = []engine.Event{{Name: "order", Data: []byte(`{"total":` + string(rune('1'+cycle%9)) + `4.5,"mood":"` + []string{"happy", "neutral", "sad"}[(cycle*agent)%3] + `"}`)}}
			} else if agent%4 == 0 {
				s.Events = []engine.Event{{Name: "abandoned", Data: []byte(`{"items":2}`)}}
			}
			c.Add(&s)
		}
	}
	o, _ := c.Outcomes()
	d := &view.Details{
		Outcomes: o, Steps: view.StepLines([]engine.StepFigures{
			{Path: "shop.buy", Statuses: [5]int64{engine.StepOK: 320}, Requests: 320, Service: engine.Quantiles{Count: 320, P50: 12 * time.Millisecond, P95: 40 * time.Millisecond, P99: 80 * time.Millisecond}},
			{Path: "shop.pay", Statuses: [5]int64{engine.StepOK: 100, engine.StepFailed: 7}, Size: 250_000, Service: engine.Quantiles{Count: 107, P95: 30 * time.Millisecond}},
		}, map[string]view.StepCall{"shop.buy": {Service: "shop", Endpoint: "POST /orders"}}, 10*time.Second),
		Facts: [][2]string{{"Scenario", "shopping.yaml"}}, Settings: [][2]string{{"seed", "42"}}, Files: []view.File{{Name: "shopping.yaml", Size: "2 kB"}},
		Population: &view.Population{Summary: "20 of 900 rows of panel.parquet, seed 1", Notes: []string{"24 kB"}, Shares: view.Table{
			Head: view.PopulationHead, Rows: [][]string{{"gender female", "58.0%", "51.0%", "20.0%", "±21.9", view.OffTarget}, {"gender male", "42.0%", "49.0%", "80.0%", "±21.9", view.OffTarget}},
		}},
	}
	for _, title := range []string{"Concurrency", "Throughput", "Session time"} {
		ch := view.Chart{Title: title, About: "of the run", Lines: []string{"all"}, Values: [][]float64{nil}}
		for i := range 50 {
			ch.Times, ch.Values[0] = append(ch.Times, float64(began.Unix()+int64(i))), append(ch.Values[0], 20+10*math.Sin(float64(i)/5))
		}
		d.Charts = append(d.Charts, ch)
	}
	return d
}

// TestOutcomesAreShown checks the events, numbers, shares and attributes of a run, and what else the report has.
func TestOutcomesAreShown(t *testing.T) {
	r := record("new", engine.EndFinished)
	r.Verdict = six()[:5]
	q, s := start(t, &fakeDesk{runs: []engine.RunRecord{r}, totals: some(), details: shop()})
	q.Until("the details are read", func() bool { return s.figures.details != nil })
	wantShown(t, s, "All 5 criteria met; 4 of 100 sessions failed or timed out; the result is",
		"480 events from 960 sessions in 2 days of simulated time.", "abandoned", "160", "order: total", "order by mood", "happy", "Sessions with order by segment", "loyal", "Numbers in events",
		"Over time", "Concurrency", "Throughput", "shop.buy", "shop POST /orders", "40 ms", "80 ms", "32/s", "2.5 kB", "shopping.yaml (2 kB)", "seed", "20 of 900 rows of panel.parquet, seed 1\n24 kB")
	q.Fit("outcomes", s.Content(), scaled)
}

// TestARunWithoutEvents checks that a run without events says so, and that an error of its details is shown.
func TestARunWithoutEvents(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()}
	q, s := start(t, desk)
	q.Until("the details are read", func() bool { return s.figures.details != nil })
	wantShown(t, s, "The sessions emitted no events.")
	if s.page.overTime.Visible() || s.page.emitted.some.Visible() {
		t.Error("a run without metrics and events has charts of them")
	}
	desk = &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some(), detailsErr: errors.New("disk I/O error")}
	q, s = start(t, desk)
	q.Until("the error is shown", func() bool { return uitest.Shows(s.Content(), "Cannot read the sessions of the run. Disk I/O error") })
}

// TestFollowsTheLastRun checks that the screen changes to a run that was launched or ended, and stays on one that the user
// chooses.
func TestFollowsTheLastRun(t *testing.T) {
	desk := &fakeDesk{runs: []engine.RunRecord{record("old", engine.EndFinished)}, totals: some()}
	q, s := start(t, desk)
	look := func(want engine.RunID) {
		t.Helper()
		s.load()
		wait(q, s)
		if s.chosen != want {
			t.Errorf("shown is %s, want %s", s.chosen, want)
		}
	}
	fresh := record("fresh", engine.NotEnded)
	fresh.InProgress, fresh.Created = true, began.Add(time.Hour)
	desk.set(func() { desk.runs = []engine.RunRecord{fresh, desk.runs[0]} })
	look("fresh")
	s.Select("old")
	wait(q, s)
	look("old")
	desk.set(func() { desk.runs[0].InProgress, desk.runs[0].Ending = false, engine.EndFinished })
	look("fresh")
	s.Select("old")
	wait(q, s)
	look("old")

	s.pick.SetSelectedIndex(slices.Index(s.picks, "old")) // by hand
	other := record("other", engine.EndFinished)
	other.Created = fresh.Created.Add(time.Hour)
	desk.set(func() { desk.runs = append([]engine.RunRecord{other}, desk.runs...) })
	look("old")
	s.Hide()
	latest := record("latest", engine.EndFinished)
	latest.Created = other.Created.Add(time.Hour)
	desk.set(func() { desk.runs = append([]engine.RunRecord{latest}, desk.runs...) })
	look("latest")
}

// TestDiagnosticsAreFolded checks that diagnostics and inputs are closed until the user opens them.
func TestDiagnosticsAreFolded(t *testing.T) {
	q, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()})
	q.Tap(s.Content(), "Diagnostics")
	if uitest.Shows(s.Content(), "Peaks") {
		t.Error("closed diagnostics are shown")
	}
	q.Tap(s.Content(), "Diagnostics")
	wantShown(t, s, "Peaks")
}

// TestTheScrollBarLiesOnNothing checks that the page leaves room for the scroll bar.
func TestTheScrollBarLiesOnNothing(t *testing.T) {
	_, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("r", engine.EndFinished)}, totals: some()})
	if room := s.scroll.Content.Size().Width - s.page.content.Size().Width; room < 10 {
		t.Errorf("the scroll bar has %v", room)
	}
}

// TestStepsOfResultsAreSorted clicks on titles of the table of steps.
func TestStepsOfResultsAreSorted(t *testing.T) {
	q, s := start(t, &fakeDesk{runs: []engine.RunRecord{record("new", engine.EndFinished)}, totals: some(), details: shop()})
	q.Until("the details are read", func() bool { return s.figures.details != nil })
	first := func(want string) {
		t.Helper()
		for _, text := range uitest.Texts(s.page.steps) {
			if text == "shop.buy" || text == "shop.pay" {
				if text != want {
					t.Errorf("%s is first, want %s", text, want)
				}
				return
			}
		}
	}
	first("shop.buy") // the slowest
	s.page.steps.OnSort(view.StepFailures)
	first("shop.pay")
	s.page.steps.OnSort(view.StepFailures)
	first("shop.buy")
}
