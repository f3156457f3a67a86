package designer

import (
	"errors"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/ui/uitest"
)

// TestTheCountFollows types levels and sees the number of runs.
func TestTheCountFollows(t *testing.T) {
	st := newStage(t)
	st.create()
	st.until("30 runs")
	st.until("3 points × 10 seeds")
	st.page.factors.rows[0].levels.SetText("0.5, 1")
	st.until("20 runs")
	st.page.factors.rows[1].levels.SetText("0, 0.5, 1") // typing ticks it
	st.until("60 runs")
	if !st.page.factors.rows[1].varied.Checked {
		t.Error("typing values does not tick the factor")
	}
	test.Tap(st.page.factors.rows[0].varied)
	st.until("30 runs")
	for _, text := range []string{"about 12 min", "44 MB", "The prompt of ask_model"} {
		if !uitest.Shows(st.top(), text) {
			t.Errorf("%q is not shown", text)
		}
	}
}

// TestMistakesAreAtTheirFields types what is wrong, and corrects it.
func TestMistakesAreAtTheirFields(t *testing.T) {
	st := newStage(t)
	st.create()
	row := st.page.factors.rows[0]
	row.levels.SetText("")
	st.until("Before it can be saved")
	if row.row.Problem() == "" || !st.save.Disabled() || !uitest.Shows(st.top(), "Not known yet") {
		t.Errorf("the field says %q", row.row.Problem())
	}
	row.levels.SetText("1, ")
	if row.levels.Text != "1, " {
		t.Errorf("what is typed became %q", row.levels.Text)
	}
	st.settled()
	if row.row.Problem() != "" || st.save.Disabled() || row.levels.Text != "1, " {
		t.Errorf("the field says %q of %q", row.row.Problem(), row.levels.Text)
	}
	st.page.measures.further.SetText("luck")
	st.until("there is no measure luck")
	if st.page.measures.row.Problem() == "" {
		t.Error("the measures are not marked")
	}
	st.page.measures.further.SetText("")
	st.settled()
	st.form.Draft.Until.AtMost = "few"
	st.check()
	st.settled()
	if !st.page.until.Opened() {
		t.Error("the fold hides a mistake")
	}
}

// TestUnfitDesignsSayWhy chooses a design that needs levels for a range.
func TestUnfitDesignsSayWhy(t *testing.T) {
	st := newStage(t)
	st.create()
	if !uitest.Shows(st.top(), "Morris: params.eagerness: has one level only") {
		t.Errorf("Morris is not explained: %q", uitest.Texts(st.side.content))
	}
	st.page.factors.rows[0].levels.SetText("0 to 5")
	st.until("a range has no levels")
	if st.page.design.row.Problem() == "" {
		t.Error("the design is not marked")
	}
	st.page.design.pick.SetSelected("Latin hypercube")
	st.settled()
	if st.page.design.row.Problem() != "" || st.form.Draft.Design.N != "40" || !st.page.design.count.Visible() {
		t.Errorf("the design is %+v: %s", st.form.Draft.Design, st.page.design.row.Problem())
	}
	st.page.design.pick.SetSelected("Morris")
	if d := st.form.Draft.Design; d.N != "10" || st.page.design.number.Text != "10" || st.page.design.count.Title() != "Trajectories" {
		t.Errorf("the design is %+v", d)
	}
	st.page.design.number.SetText("12")
	st.page.design.pick.SetSelected("Halton")
	if d := st.form.Draft.Design; d.N != "12" {
		t.Errorf("a number that was typed became %s", d.N)
	}
	st.page.design.pick.SetSelected("Grid")
	if st.form.Draft.Design.N != "" || st.page.design.count.Visible() {
		t.Errorf("the design is %+v", st.form.Draft.Design)
	}
}

// TestSaveANewOne saves by the keyboard.
func TestSaveANewOne(t *testing.T) {
	st := newStage(t)
	st.create()
	if st.win.Canvas().Focused() != fyne.Focusable(st.page.title) {
		t.Error("the title is not focused")
	}
	st.page.title.SetText("Prices")
	test.Tap(st.page.measures.checks[5])
	st.key(fyne.KeyReturn)
	st.q.Until("saved", func() bool { return len(st.went) > 0 })
	const path = "/mine/new.experiment.yaml"
	saved := st.desk.saved[path]
	if st.IsOpen() || st.went[0] != "saved "+path || st.asked[0] != "shopping.experiment.yaml" {
		t.Errorf("it went to %v, proposed %v", st.went, st.asked)
	}
	if saved.Title != "Prices" || !slices.Equal(saved.Measures, []string{"acted", "events.order", "latency_p95", "cost"}) {
		t.Errorf("saved: %+v", saved)
	}
}

// TestEditAFile changes a file, and is refused at first.
func TestEditAFile(t *testing.T) {
	st := newStage(t)
	st.Edit(pricesFile)
	st.settled()
	if !st.page.until.Opened() || !st.page.limits.Opened() || !uitest.Shows(st.top(), "warm-up") {
		t.Error("what the file has is not shown")
	}
	if st.changed() {
		t.Error("an untouched form has changed")
	}
	st.desk.saveErr = errors.New("the file changed in the meantime")
	st.page.title.SetText("Better")
	st.settled()
	st.q.Tap(st.top(), "Save")
	st.until("The file changed in the meantime")
	st.desk.saveErr = nil
	st.q.Tap(st.top(), "Save")
	st.q.Until("saved", func() bool { return len(st.went) > 0 })
	if got := st.desk.saved[pricesFile]; got.Title != "Better" || got.Measures != nil || len(st.asked) > 0 {
		t.Errorf("saved: %+v, after asking for %v", got, st.asked)
	}
}

// TestNothingIsLost checks the questions before something is discarded.
func TestNothingIsLost(t *testing.T) {
	st := newStage(t)
	st.Edit(pricesFile)
	st.settled()
	st.key(fyne.KeyEscape)
	if st.IsOpen() {
		t.Fatal("an untouched form asks")
	}
	st.Edit(pricesFile)
	st.settled()
	st.page.title.SetText("Better")
	st.key(fyne.KeyEscape)
	st.until("Discard the changes?")
	st.q.Tap(st.top(), "Continue")
	if !st.IsOpen() || st.page.title.Text != "Better" {
		t.Fatal("the changes are lost")
	}
	st.q.Tap(st.top(), "Open as text")
	st.until("Discard the changes?")
	st.q.Tap(st.top(), "Discard")
	if st.IsOpen() || !slices.Equal(st.went, []string{"text " + pricesFile}) {
		t.Errorf("it went to %v", st.went)
	}
}

// TestAnotherScenario keeps what is not about the scenario.
func TestAnotherScenario(t *testing.T) {
	st := newStage(t)
	st.create()
	st.form.Draft.Seeds = "5"
	st.page.title.SetText("Mine")
	st.page.w.choose("/my/shop.throng.yaml")
	st.q.Until("loaded", func() bool { return st.form.Scenario == "/my/shop.throng.yaml" && st.checked != nil })
	if d := st.form.Draft; d.Title != "Mine" || d.Seeds != "5" || st.page.title.Text != "Mine" {
		t.Errorf("the form is %+v", d)
	}
	st.desk.loadErr = errors.New("the scenario has a mistake")
	st.choose("shopping")
	st.until("The scenario has a mistake")
	if st.form.Scenario != "/my/shop.throng.yaml" || uitest.Shows(st.top(), "Marketplace shoppers") {
		t.Error("the form is that of a scenario that cannot be read")
	}
	st.settled()
	if st.save.Disabled() || !uitest.Shows(st.top(), "The scenario has a mistake") {
		t.Error("the form before cannot be saved, or the reason is gone")
	}
}

// TestVaryAnother adds a setting.
func TestVaryAnother(t *testing.T) {
	st := newStage(t)
	st.create()
	st.page.factors.add.SetSelected("settings.max-concurrent")
	row := st.page.factors.rows[3]
	if st.win.Canvas().Focused() != fyne.Focusable(row.levels) || slices.Contains(st.page.factors.add.Options, "settings.max-concurrent") {
		t.Error("the new factor is not ready to be typed")
	}
	row.levels.SetText("10, 50")
	st.until("60 runs")
	if f := st.form.Draft.Factors[3]; f.Name != "settings.max-concurrent" || !f.Varied || f.Levels != "10, 50" {
		t.Errorf("the factor is %+v", f)
	}
}

// TestAFileThatCannotBeRead offers the file as text.
func TestAFileThatCannotBeRead(t *testing.T) {
	st := newStage(t)
	st.desk.loadErr = errors.New("line 3: a bracket is not closed")
	st.Edit(pricesFile)
	st.until("a bracket is not closed")
	if !st.save.Disabled() {
		t.Error("nothing can be saved")
	}
	st.key(fyne.KeyReturn)
	st.q.Tap(st.top(), "Open as text")
	if st.IsOpen() || !slices.Equal(st.went, []string{"text " + pricesFile}) {
		t.Errorf("it went to %v", st.went)
	}
}
