package study

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/survey"
	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

// stage is a window with the dialog.
type stage struct {
	*Asker
	t     *testing.T
	q     *uitest.Queue
	desk  *fake
	asked []engine.RunID
}

func newStage(t *testing.T) *stage {
	t.Helper()
	st := &stage{t: t, desk: newFake()}
	st.q = start(t, func(win fyne.Window) fyne.CanvasObject {
		st.Asker = NewAsker(st.desk, win, func(run engine.RunID) { st.asked = append(st.asked, run) })
		return canvas.NewRectangle(nil)
	})
	return st
}

// top returns the dialog.
func (st *stage) top() fyne.CanvasObject { return st.win.Canvas().Overlays().Top() }

func (st *stage) until(text string) {
	st.t.Helper()
	st.q.Until(text, func() bool { return st.top() != nil && uitest.Shows(st.top(), text) })
}

func (st *stage) open() {
	st.t.Helper()
	st.Open("study")
	st.until("Type each question")
}

// TestAsk types questions, and asks them at an earlier moment.
func TestAsk(t *testing.T) {
	st := newStage(t)
	st.open()
	if !st.ask.Disabled() {
		t.Error("nothing can be asked yet")
	}
	st.fields.questions[0].ask.SetText("Would you move?")
	st.check()
	st.until("A choice needs its options")
	st.fields.questions[0].options.SetText("yes; no, never")
	st.fields.moment.SetSelectedIndex(1)
	st.fields.filter.SetText("agent.nothing")
	st.check()
	st.until("gents have no nothing")
	if !st.ask.Disabled() {
		t.Error("a mistake can be asked")
	}
	st.fields.filter.SetText("agent.region == 'north'")
	st.fields.segments.SetText("region, name")
	st.q.Tap(st.top(), "Add question")
	second := st.fields.questions[1]
	second.kind.SetSelected("Scale")
	second.ask.SetText("How content are you?")
	second.high.SetText("7")
	st.check()
	st.until("Asks 20 agents 2 questions.")
	st.desk.refuse = errors.New("another program has a run in progress")
	st.q.Tap(st.top(), "Ask")
	st.until("Nothing was asked. Another program has a run in progress")
	st.desk.refuse = nil
	st.q.Tap(st.top(), "Ask")
	st.q.Until("it is asked", func() bool { return len(st.asked) == 1 })
	want := survey.Order{Run: "study", Cycle: 1, Agents: "agent.region == 'north'", Survey: &survey.Survey{Segments: []string{"region", "name"}, Questions: []survey.Question{
		{Name: "question_1", Ask: "Would you move?", Kind: survey.Choice, Options: []string{"yes", "no, never"}},
		{Name: "question_2", Ask: "How content are you?", Kind: survey.Scale, Low: 1, High: 7},
	}}}
	if !reflect.DeepEqual(st.desk.order, want) || st.asked[0] != "asked" || st.top() != nil {
		t.Errorf("asked %+v, %+v; %v", st.desk.order, st.desk.order.Survey, st.asked)
	}
	st.Open("study") // with the questions of the last time
	st.until("Asks 20 agents 2 questions.")
	st.fields.questions[0].remove.OnTapped()
	if len(st.fields.questions) != 1 || !st.fields.questions[0].remove.Disabled() {
		t.Errorf("%d questions are left", len(st.fields.questions))
	}
}

// TestFileOfQuestions opens a file, and writes it again as it was.
func TestFileOfQuestions(t *testing.T) {
	st := newStage(t)
	st.open()
	st.pick = func(then func(string)) { then("/questions.yaml") }
	st.q.Tap(st.top(), "Open…")
	st.until("Asks 20 agents 4 questions.")
	st.pickNew = func(then func(string)) { then("/other.yaml") }
	st.q.Tap(st.top(), "Save…")
	st.until("Saved to /other.yaml.")
	if !reflect.DeepEqual(st.desk.written, questions()) {
		t.Errorf("written: %+v", st.desk.written)
	}
	st.pick = func(then func(string)) { then("/broken.yaml") }
	st.q.Tap(st.top(), "Open…")
	st.until("The file was not opened. It has no questions")
}

// TestNoAgentsToAsk says why a run cannot be asked.
func TestNoAgentsToAsk(t *testing.T) {
	for want, change := range map[string]func(*survey.Subject){
		"The run has no checkpoint":               func(s *survey.Subject) { s.Moments = nil },
		"The scenario has no service of kind llm": func(s *survey.Subject) { s.Models = nil },
	} {
		st := newStage(t)
		change(&st.desk.subject)
		st.Open("study")
		st.until(want)
		if !st.ask.Disabled() {
			t.Errorf("%s, and can be asked", want)
		}
		st.close()
	}
}

// TestNothingIsClipped checks the dialog in windows of two sizes, in both themes and at two text sizes.
func TestNothingIsClipped(t *testing.T) {
	for _, size := range []fyne.Size{fyne.NewSize(1000, 640), fyne.NewSize(1280, 800)} {
		for _, look := range []string{"dark", "light"} {
			for _, scale := range []float32{1, 1.5} {
				t.Run(fmt.Sprintf("%.0fx%.0f-%s-%.1f", size.Width, size.Height, look, scale), func(t *testing.T) {
					st := newStage(t)
					fyne.CurrentApp().Settings().SetTheme(skin.New(look).Scaled(scale))
					st.win.Resize(size)
					st.open()
					st.fitting("new")
					st.pick = func(then func(string)) { then("/questions.yaml") }
					st.openFile()
					st.until("Asks 20 agents 4 questions.")
					st.fitting("file")
					st.fields.scroll.ScrollToBottom()
					st.fitting("end")
				})
			}
		}
	}
}

// fitting checks the dialog, and draws it if the pictures are wanted.
func (st *stage) fitting(name string) {
	st.t.Helper()
	for range 3 { // widths of columns and heights of texts depend on the first layouts
		st.fit()
		st.q.Drain()
		st.top().Refresh()
	}
	if box := widgets.DialogSize(st.win.Canvas()); box.Width > st.room.Width || box.Height > st.room.Height {
		st.t.Errorf("%s: the dialog is %.0f × %.0f in a window of %.0f × %.0f", name, box.Width, box.Height, st.room.Width, st.room.Height)
	}
	st.q.FitDialog(name, st.win.Canvas(), st.top())
}
