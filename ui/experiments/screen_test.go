package experiments

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

// shows checks that the screen shows all texts.
func shows(t *testing.T, s *Screen, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !uitest.Shows(s.Content(), text) {
			t.Errorf("%q is not shown in %q", text, uitest.Texts(s.Content()))
		}
	}
}

// asked returns the question over the window.
func asked(t *testing.T, q *uitest.Queue, s *Screen) fyne.CanvasObject {
	t.Helper()
	q.Until("a question is asked", func() bool { return s.win.Canvas().Overlays().Top() != nil })
	return s.win.Canvas().Overlays().Top()
}

// picked answers the dialogs of the operating system with a path.
type picked string

func (p picked) Folder(context.Context, string) (string, error)         { return string(p), nil }
func (p picked) File(context.Context, string, []string) (string, error) { return string(p), nil }
func (p picked) Save(context.Context, string, string) (string, error)   { return string(p), nil }

func answers(t *testing.T, path string) {
	t.Helper()
	widgets.UseDialogs(picked(path))
	t.Cleanup(func() { widgets.UseDialogs(nil) })
}

func TestExperimentsAreListed(t *testing.T) {
	d := three()
	q, s, _ := start(t, d)
	reads(q, s, d)
	shows(t, s, "Does eagerness pay?", "34 of 60", "complete", "mistakes", "34 of 60 runs, 1 failed, about 12 min left", "running")
	s.list.table.OnSelected(otherFile)
	reads(q, s, d)
	shows(t, s, "Which model answers best, and at what price?", "60 of 60 runs", "raises acted by")
	if uitest.Button(s.Content(), "Pause") != nil {
		t.Error("a complete experiment can be paused")
	}
}

// TestButtonsFollowTheState checks which buttons each state has, that at most one of them is filled, and what they order.
func TestButtonsFollowTheState(t *testing.T) {
	for _, c := range []struct {
		state     State
		elsewhere bool
		enabled   string // of the buttons that depend on the state
		order     string // of the first one
	}{
		{Ready, false, "Run", "run " + pricesFile + " "},
		{Queued, false, "Stop", "stop " + pricesFile},
		{Running, false, "Pause Stop", "pause " + pricesFile},
		{Running, true, "Pause Stop", "pause " + pricesFile},
		{Paused, false, "Continue Stop", "continue " + pricesFile},
		{Stopping, false, "Stop now", "stop " + pricesFile},
		{Partial, false, "Continue", "run " + pricesFile + " "},
		{Complete, false, "", ""},
	} {
		d := three()
		d.entries[0].State, d.entries[0].Elsewhere = c.state, c.elsewhere
		q, s, _ := start(t, d)
		reads(q, s, d)
		var enabled []string
		filled := 0
		for _, name := range []string{"Run", "Continue", "Pause", "Stop", "Stop now"} {
			b := uitest.Button(s.Content(), name)
			if b == nil || b.Disabled() {
				continue
			}
			enabled = append(enabled, name)
			if name == "Run" || name == "Continue" {
				filled++
			}
		}
		if got := strings.Join(enabled, " "); got != c.enabled || filled > 1 {
			t.Errorf("%s, elsewhere %v: enabled are %q, want %q", looks[c.state].word, c.elsewhere, got, c.enabled)
			continue
		}
		if c.order != "" {
			q.Tap(s.Content(), enabled[0])
			var got []string
			q.Until("the order", func() bool { got = append(got, d.ordered()...); return len(got) > 0 })
			if got[0] != c.order {
				t.Errorf("%s: ordered is %q, want %q", enabled[0], got, c.order)
			}
		}
	}
}

// TestRunAsksForAddresses checks that nothing runs before the user allows the addresses.
func TestRunAsksForAddresses(t *testing.T) {
	d := three()
	d.entries[0].State = Partial
	d.outside = []engine.Destination{{Service: "shop", Host: "shop.example:443"}}
	q, s, _ := start(t, d)
	reads(q, s, d)
	q.Tap(s.Content(), "Continue")
	q.Tap(asked(t, q, s), "Cancel")
	if got := d.ordered(); len(got) > 0 {
		t.Errorf("without permission, ordered is %q", got)
	}
	q.Tap(s.Content(), "Continue")
	q.Tap(asked(t, q, s), "Allow and run")
	reads(q, s, d)
	if got := d.ordered(); len(got) != 1 || !strings.Contains(got[0], "shop.example") {
		t.Errorf("ordered is %q", got)
	}
}

// TestRunIsOrderedOnce presses Run while the first press is still answered.
func TestRunIsOrderedOnce(t *testing.T) {
	d := three()
	d.entries[0].State = Ready
	q, s, _ := start(t, d)
	reads(q, s, d)
	s.head.run.OnTapped()
	s.head.run.OnTapped()
	reads(q, s, d)
	if got := d.ordered(); len(got) != 1 {
		t.Errorf("ordered is %q", got)
	}
}

func TestAnOrderFails(t *testing.T) {
	d := three()
	d.err = errors.New("the disk is gone")
	q, s, _ := start(t, d)
	reads(q, s, d)
	q.Tap(s.Content(), "Pause")
	q.Until("the failure", func() bool { return uitest.Shows(s.Content(), "Not paused. The disk is gone.") })
	s.Select(otherFile)
	reads(q, s, d)
	if uitest.Shows(s.Content(), "Not paused.") {
		t.Error("the failure is shown at another experiment")
	}
}

func TestMoreSeeds(t *testing.T) {
	d := three()
	q, s, _ := start(t, d)
	reads(q, s, d)
	q.Tap(s.Content(), "More seeds…")
	question := asked(t, q, s)
	if !uitest.Shows(question, "Seeds to add to the 10 that each point has") || !uitest.Shows(question, "5 seeds at each point: 30 more runs. The file is changed.") {
		t.Errorf("the question is %q", uitest.Texts(question))
	}
	q.Tap(question, "Add")
	reads(q, s, d)
	if got := d.ordered(); !slices.Equal(got, []string{"seeds " + pricesFile + " 5"}) {
		t.Errorf("ordered is %q", got)
	}
}

func TestReportAndExport(t *testing.T) {
	d := three()
	q, s, _ := start(t, d)
	reads(q, s, d)
	answers(t, "/out/prices")
	q.Tap(s.Content(), "Report…")
	q.Until("the report", func() bool { return uitest.Shows(s.Content(), "Saved the report to /out/prices.html.") })
	if !s.head.reveal.Visible() {
		t.Error("the folder of the report cannot be opened")
	}
	q.Tap(s.Content(), "Export…")
	q.Until("the export", func() bool { return uitest.Shows(s.Content(), "Exported to /out/prices/prices") })
	if got := d.ordered(); !slices.Equal(got, []string{"report " + pricesFile + " /out/prices.html", "export " + pricesFile + " /out/prices"}) {
		t.Errorf("ordered is %q", got)
	}
}

func TestAnExperimentIsForgotten(t *testing.T) {
	d := three()
	q, s, w := start(t, d)
	s.Select(otherFile)
	reads(q, s, d)
	s.head.edit.OnTapped()
	s.head.text.OnTapped()
	if w.edited != otherFile || w.text != otherFile {
		t.Errorf("edited is %q, opened as text %q", w.edited, w.text)
	}
	s.head.forget.OnTapped()
	q.Tap(asked(t, q, s), "Forget")
	q.Until("it is forgotten", func() bool { return len(s.entries) == 2 && s.chosen == pricesFile && s.shown != nil })
	if uitest.Shows(s.Content(), "Which model") {
		t.Error("a forgotten experiment is shown")
	}
	if s.head.forget.Disabled() == false {
		t.Error("an experiment in progress can be forgotten")
	}
}

// TestNoExperiments checks that the empty screen explains itself, makes experiments and opens files.
func TestNoExperiments(t *testing.T) {
	d := &fakeDesk{details: map[string]*Details{otherFile: details(otherFile)}, tables: map[string]*findings.Table{otherFile: prices(60)}}
	q, s, w := start(t, d)
	q.Until("the explanation", func() bool { return uitest.Shows(s.Content(), "An experiment runs a scenario many times") })
	q.Tap(s.Content(), "New experiment…")
	if w.created != 1 {
		t.Errorf("%d experiments are being made", w.created)
	}
	answers(t, otherFile)
	q.Tap(s.Content(), "Open file…")
	q.Until("the opened one", func() bool { return s.chosen == otherFile && s.shown != nil && s.entry() != nil })
	shows(t, s, "raises acted by")
	if uitest.Shows(s.Content(), "No experiments yet") {
		t.Error("the screen still says that there are none")
	}
}

// TestResultsAreProvisional checks what is shown before the first complete block, and from then on.
func TestResultsAreProvisional(t *testing.T) {
	d := three()
	d.tables[pricesFile] = prices(4)
	q, s, _ := start(t, d)
	reads(q, s, d)
	shows(t, s, "Results appear as soon as each point has a run: 4 of 6 points so far.")
	if uitest.Shows(s.Content(), "Estimates") {
		t.Error("estimates are shown")
	}
	s.tabs.Pick(1)
	shows(t, s, "4 of 6 points so far.")
	d.set(func() { d.tables[pricesFile] = prices(7) })
	reads(q, s, d)
	s.tabs.Pick(0)
	shows(t, s, "Provisional: 53 of 60 runs are missing, so figures will still change.", "Estimates", "So far (7 of 60 runs)")
	d.set(func() { d.tables[pricesFile] = prices(60) })
	reads(q, s, d)
	if uitest.Shows(s.Content(), "Provisional") {
		t.Error("complete results are provisional")
	}
}

// TestASentenceShowsItsMeasure checks that a tap on a sentence shows the effects on its measure, on all tabs.
func TestASentenceShowsItsMeasure(t *testing.T) {
	d := three()
	q, s, _ := start(t, d)
	s.Select(otherFile)
	reads(q, s, d)
	p := s.pages[0].(*findingsPage)
	for i, one := range s.shown.sentences {
		p.sentences.Objects[i].(*fyne.Container).Objects[0].(fyne.Tappable).Tapped(nil)
		if want := s.shown.comparison.Table.Measures[one.Measure].Name; p.measure.field.Selected != want {
			t.Errorf("sentence %d shows %s, want %s", i, p.measure.field.Selected, want)
		}
	}
	shows(t, s, "No clear difference in request_p95")
	p.pick(1)
	s.tabs.Pick(1)
	if got := s.pages[1].(*responsePage).measure.field.Selected; got != "events.order" {
		t.Errorf("Response shows %s", got)
	}
}

// TestRealData checks that the nearest point is shown, for all columns and for each.
func TestRealData(t *testing.T) {
	d := three()
	q, s, _ := start(t, d)
	s.Select(otherFile)
	reads(q, s, d)
	p := s.pages[0].(*findingsPage).real
	shows(t, s, "Real data", "eagerness=1, model.model=large is nearest to real.csv in spend")
	cells := func(i int) []string {
		var all []string
		for _, c := range p.rows()[i].Cells {
			all = append(all, c.Text)
		}
		return all
	}
	if got := cells(3); got[5] != "nearest" || got[4] != "" {
		t.Errorf("all columns: %q", got)
	}
	p.sentences.Objects[1].(*fyne.Container).Objects[0].(fyne.Tappable).Tapped(nil)
	if got := cells(3); p.column.Selected != "spend" || got[1] != "10" || got[3] != "" || got[4] != "0 of 10" || got[5] != "nearest" {
		t.Errorf("%s: %q", p.column.Selected, got)
	}
	if got := cells(0); got[4] != "10 of 10" || !strings.HasPrefix(got[3], "0.1") || !strings.HasPrefix(got[5], "0.0") {
		t.Errorf("%q", got)
	}
	p.column.SetSelected("home")
	shows(t, s, "No point is nearest to real.csv in home by more than chance.")
	d.set(func() { d.tables[otherFile].Real = nil })
	reads(q, s, d)
	if p.panel.Visible() || uitest.Shows(s.Content(), "real.csv") {
		t.Error("an experiment without real data shows some")
	}
}

// TestResponse checks the selections, and that the second factor is never the first.
func TestResponse(t *testing.T) {
	d := three()
	q, s, _ := start(t, d)
	s.Select(otherFile)
	reads(q, s, d)
	s.tabs.Pick(1)
	p := s.pages[1].(*responsePage)
	q.Until("the curves", func() bool { return uitest.Shows(s.Content(), "small") && uitest.Shows(s.Content(), "0.5") })
	shows(t, s, "large", "params.eagerness")
	p.factor.SetSelected("service.model.model")
	if p.by.Selected != oneLine || slices.Contains(p.by.Options, "service.model.model") {
		t.Errorf("a line for each is %q of %q", p.by.Selected, p.by.Options)
	}
	shows(t, s, "averaged over the other factors")
	p.by.SetSelected("params.eagerness")
	q.Until("other curves", func() bool { return uitest.Shows(p.curves, "0.5") && uitest.Shows(p.curves, "large") })
}

// TestAnExperimentHasOnePath opens a file under another path than the one in the list.
func TestAnExperimentHasOnePath(t *testing.T) {
	d := three()
	q, s, _ := start(t, d)
	s.Select("/experiments/../experiments/other.experiment.yaml")
	q.Until("it is shown", func() bool { return uitest.Shows(s.Content(), "60 of 60 runs") })
	if s.Chosen() != otherFile || len(s.entries) != 3 || s.list.table.Selected() != otherFile {
		t.Errorf("chosen is %s of %d", s.Chosen(), len(s.entries))
	}
}

func TestFactors(t *testing.T) {
	d := three()
	q, s, _ := start(t, d)
	s.Select(otherFile)
	reads(q, s, d)
	s.tabs.Pick(2)
	q.Until("the analysis", func() bool { return uitest.Shows(s.Content(), "The share of the variance between points") })
	shows(t, s, "eagerness", "model.model", "eagerness with model.model")
	d.set(func() {
		d.tables[otherFile] = prices(60)
		d.tables[otherFile].Design = "zip"
	})
	reads(q, s, d)
	q.Until("the reason", func() bool {
		return uitest.Shows(s.Content(), `The design "zip" has no analysis of factors. Use grid, one-at-a-time, morris or sobol.`)
	})
	d.set(func() { d.tables[otherFile] = prices(3) })
	reads(q, s, d)
	q.Until("the reason", func() bool { return uitest.Shows(s.Content(), "The analysis needs more runs.") })
}

// TestARunIsSteered chooses runs in the matrix.
func TestARunIsSteered(t *testing.T) {
	d := three()
	q, s, w := start(t, d)
	reads(q, s, d)
	s.tabs.Pick(3)
	p := s.pages[3].(*runsPage)
	shows(t, s, "33 done", "1 failed", "No run is chosen.")
	for _, c := range []struct {
		point, replicate int
		state, button    string
		order            string
	}{
		{5, 9, "waiting", "Run next", "first " + pricesFile + " 21-9"},
		{5, 9, "waiting", "Skip", "skip " + pricesFile + " 21-9 false"},
		{5, 5, "skipped", "Take back in", "skip " + pricesFile + " 21-5 true"},
	} {
		p.matrix.OnChosen(p.matrix.Place(c.point, c.replicate))
		shows(t, s, c.state)
		q.Tap(s.Content(), c.button)
		reads(q, s, d)
		if got := d.ordered(); !slices.Equal(got, []string{c.order}) {
			t.Errorf("%s ordered %q, want %q", c.button, got, c.order)
		}
	}
	p.matrix.OnChosen(p.matrix.Place(3, 4))
	shows(t, s, "eagerness=1, model.model=large, seed 5: failed", "Run r-27. All sessions failed: connection refused.")
	if uitest.Button(s.Content(), "Skip").Disabled() == false {
		t.Error("a failed run can be skipped")
	}
	q.Tap(s.Content(), "Open in Results")
	if w.results != "r-27" {
		t.Errorf("opened is %q", w.results)
	}
}

func TestMistakesAreShown(t *testing.T) {
	d := three()
	q, s, w := start(t, d)
	s.Select(brokenFile)
	reads(q, s, d)
	shows(t, s, "Line 4, column 3: no parameter is called eagernes: did you mean eagerness?", "Line 9, column 1: the measure cost is always 0")
	if uitest.Shows(s.Content(), "Response") {
		t.Error("a file with mistakes has tabs")
	}
	q.Tap(s.faults.content, "Open as text")
	if w.text != brokenFile {
		t.Errorf("opened as text is %q", w.text)
	}
	d.mu.Lock()
	d.details[brokenFile], d.tables[brokenFile] = details(brokenFile), prices(0)
	d.entries[2].State, d.entries[2].Problem = Ready, ""
	d.mu.Unlock()
	q.Tap(s.faults.content, "Check again")
	q.Until("it is read again", func() bool { return uitest.Shows(s.Content(), "60 runs take about 12 min") })
	shows(t, s, "Response")
}

// TestMistakesOfAnExperimentInProgress checks that it keeps its tabs, which are those of the old file.
func TestMistakesOfAnExperimentInProgress(t *testing.T) {
	d := three()
	mistaken := *details(pricesFile)
	mistaken.Mistakes, mistaken.Continues = d.details[brokenFile].Mistakes, true
	d.details[pricesFile] = &mistaken
	q, s, _ := start(t, d)
	reads(q, s, d)
	shows(t, s, "Does eagerness pay?", "Response", "34 of 60 runs", "The experiment continues as it was before its file had mistakes. Correct the file: Line 4, column 3: no parameter is called eagernes")
	d.set(func() { mistaken.Mistakes, mistaken.Continues = nil, false })
	reads(q, s, d)
	if uitest.Shows(s.Content(), "Correct the file") {
		t.Error("the mistakes are still shown")
	}
}

// TestProgress checks the line below the title.
func TestProgress(t *testing.T) {
	for want, e := range map[string]Entry{
		"43 of 45 runs, 1 skipped":                                      {State: Partial, Done: 43, Total: 45, Skipped: 1},
		"0 of 4 runs, waits until this has ended: run r is in progress": {State: Queued, Total: 4, Waits: "run r is in progress"},
		"waits for other runs to end":                                   {State: Queued},
	} {
		if got := e.line(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	table := prices(59)
	if got := provisional(table); got != "Provisional: 1 of 60 runs is missing, so figures will still change." {
		t.Errorf("got %q", got)
	}
	for _, row := range table.Runs {
		for i := range row {
			if row[i].State == findings.Waiting {
				row[i].State = findings.Skipped
			}
		}
	}
	if got := provisional(table); got != "" {
		t.Errorf("a skipped run is missing: %q", got)
	}
	for file, want := range map[string]string{"/a/win.experiment.yaml": "win", "/a/win.yaml.experiment.yaml": "win", "win.yaml": "win", "win.yml": "win"} {
		if got := Name(file); got != want {
			t.Errorf("%s is named %q", file, got)
		}
	}
}

// TestChangesAreShown checks that a change is read, and only when the screen is visible.
func TestChangesAreShown(t *testing.T) {
	d := three()
	q, s, _ := start(t, d)
	reads(q, s, d)
	before := d.listings.Load()
	for range 5 {
		s.Tick()
	}
	q.Drain()
	if got := d.listings.Load(); got != before {
		t.Errorf("%d reads without a change", got-before)
	}
	d.set(func() { d.entries[0].Done = 35 })
	reads(q, s, d)
	shows(t, s, "35 of 60 runs")
	d.set(func() { d.entries[0].Done, d.entries[0].Total = 4200, 8000 })
	reads(q, s, d)
	shows(t, s, "52%", "4,200 of 8,000 runs")
}

func TestReadingFails(t *testing.T) {
	d := three()
	d.readErr = errors.New("the store is gone")
	q, s, _ := start(t, d)
	q.Until("the failure", func() bool { return uitest.Shows(s.Content(), "Cannot read the experiments.") })
	d.set(func() { d.readErr = nil })
	reads(q, s, d)
	if uitest.Shows(s.Content(), "Cannot read") {
		t.Error("the failure is still shown")
	}
	s.Select("/missing.experiment.yaml")
	q.Until("the failure", func() bool { return uitest.Shows(s.Content(), "Cannot read /missing.experiment.yaml.") })
}
