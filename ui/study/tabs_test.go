package study

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/uitest"
)

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }

// TestVoices shows the figures of a crowd, and the warning when it speaks with one voice.
func TestVoices(t *testing.T) {
	f := newFake()
	var v *Voices
	q := start(t, func(win fyne.Window) fyne.CanvasObject {
		v = NewVoices(f, win)
		return v.Content
	})
	v.Show(record("a"))
	q.Until("it is read", func() bool { return v.crowd != nil })
	wantShown(t, v.Content, "The answers of the agents differ: no step has a warning.", "Step opinion", "Effective number", "region", "Mean distance by attribute")
	q.Fit("voices", v.Content, scaled)
	f.same = true
	v.Show(record("b"))
	q.Until("it is read", func() bool { return v.crowd != nil })
	wantShown(t, v.Content, "opinion: Many agents answer alike", "“i like the new”")
}

// TestRules shows how often model and rule agree, by answer and over cycles.
func TestRules(t *testing.T) {
	f := newFake()
	var v *Rules
	q := start(t, func(win fyne.Window) fyne.CanvasObject {
		v = NewRules(f, win)
		return v.Content
	})
	v.Show(record("a"))
	q.Until("it is read", func() bool { return v.result != nil })
	wantShown(t, v.Content, "Model and rule answer the same in 50.5% of 200 pairs.", "Same answer, by cycle", "offer.buys", "price: mean", "Kappa")
	q.Fit("rules", v.Content, scaled)
	if rows := v.result.Sheet().Rows; len(rows) != 6 || rows[0][0] != "offer" || rows[0][3] != "101" || rows[2][2] != "0" {
		t.Errorf("the table is %q", rows)
	}
}

// TestRealData compares with the file that the user chooses, and keeps it until another run is shown.
func TestRealData(t *testing.T) {
	f := newFake()
	var d *RealData
	q := start(t, func(win fyne.Window) fyne.CanvasObject {
		d = NewRealData(f, win)
		return d.Content
	})
	d.Show(record("a"))
	q.Until("nothing is found", func() bool { return uitest.Shows(d.Content, "No real data to compare with.") })
	if !d.export.Disabled() {
		t.Error("nothing can be exported")
	}
	d.pick = func(then func(string)) { then("/real.csv") }
	q.Tap(d.Content, "Compare with real data…")
	q.Until("it is compared", func() bool { return d.result != nil })
	wantShown(t, d.Content, "1 of 1 measure differs from the real data.", "real.csv (SHA-256 0123456789ab)", "region: the shares differ", "price was not compared", "Column region has no value for 1 of 11 rows", "real data")
	q.Fit("real data", d.Content, scaled)
	d.pairs.SetText("where = agent.region , price=memory.price,")
	d.pairs.OnSubmitted(d.pairs.Text)
	q.Until("it is compared", func() bool { return d.result != nil })
	d.pick = func(then func(string)) { then("/broken.csv") }
	d.Choose()
	q.Until("it is refused", func() bool { return uitest.Shows(d.Content, "he file has no rows") })
	d.Show(record("b"))
	q.Until("nothing is found", func() bool { return uitest.Shows(d.Content, "No real data to compare with.") })
	want := []string{"a  []", "a /real.csv []", "a /real.csv [where = agent.region price=memory.price]", "a /broken.csv [where = agent.region price=memory.price]", "b  []"}
	if !slices.Equal(f.compared, want) {
		t.Errorf("asked %q, want %q", f.compared, want)
	}
}

// TestSurveys shows the newest survey among the agents of a run, by a segment, and lets agents be asked.
func TestSurveys(t *testing.T) {
	f := newFake()
	asked := engine.RunID("")
	var v *Surveys
	q := start(t, func(win fyne.Window) fyne.CanvasObject {
		v = NewSurveys(f, win, func(run engine.RunID) { asked = run })
		return v.Content
	})
	v.Show(record("study"))
	q.Until("there are none", func() bool { return uitest.Shows(v.Content, "No surveys among these agents yet.") })
	q.Tap(v.Content, "Ask agents…")
	if asked != "study" {
		t.Errorf("the agents of %q are asked", asked)
	}
	f.surveys, f.result = []engine.RunRecord{*record("new"), *record("old")}, answered(t)
	v.Show(record("old"))
	q.Until("it is counted", func() bool { return v.result != nil })
	wantShown(t, v.Content, "20 of 20 agents answered.", "run old: finished", "Would you buy it?", "yes, today, north", "region south", "100% [72%, 100%]", "9.50", "north: “It is number 0.”", "95% intervals")
	q.Fit("surveys", v.Content, scaled)
	v.by.SetSelected(allAgents)
	if uitest.Shows(v.Content, "region south") {
		t.Error("segments are shown among all agents")
	}
	running := record("old")
	running.InProgress, running.Done = true, 10
	f.surveys[1] = *running
	v.Show(running)
	q.Until("it is counted again", func() bool { return uitest.Shows(v.Content, "Asking…") })
	if share := v.progress.Share(); share != 0.5 {
		t.Errorf("%g of the agents are done", share)
	}
	q.Tap(v.Content, "Stop")
	q.Until("it is stopped", func() bool { return strings.Contains(v.said.Text(), "The survey stops when") })
	q.Until("the survey is read again", func() bool { v.readAnswers(); return !v.stop.Disabled() })
	q.Tap(v.Content, "Stop")
	q.Until("it is not stopped", func() bool { return strings.Contains(v.said.Text(), "not in progress here") })
	if len(f.stopped) != 2 || f.stopped[0] != "old" {
		t.Errorf("stopped %v", f.stopped)
	}
}

// TestTablesAreSaved writes what a tab shows, and says why it cannot.
func TestTablesAreSaved(t *testing.T) {
	f := newFake()
	var v *Voices
	q := start(t, func(win fyne.Window) fyne.CanvasObject {
		v = NewVoices(f, win)
		return v.Content
	})
	v.Show(record("a"))
	q.Until("it is read", func() bool { return v.crowd != nil })
	v.write("/voices.csv", v.crowd.Sheet())
	q.Until("it is written", func() bool { return uitest.Shows(v.Content, "Exported to /voices.csv.") })
	if s := f.saved["/voices.csv"]; len(s.Rows) < 10 || s.Rows[0][0] != "opinion" {
		t.Errorf("the table is %+v", s)
	}
	f.refuse = errors.New("the disk is full")
	v.write("/voices.csv", v.crowd.Sheet())
	q.Until("it is refused", func() bool { return strings.Contains(v.said.Text(), "he disk is full") })
}
