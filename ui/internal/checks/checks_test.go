package checks

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/uitest"
)

var all = []engine.Check{
	{Name: "Service shop", Grade: engine.GradeProblem, Text: "it does not answer\nconnection refused", Hint: "start it", Fix: "again"},
	{Name: "Server's connections", Grade: engine.GradeWarning, Text: strings.Repeat("many of them are in use ", 6), Fix: "connections 4"},
	{Name: "Disk", Grade: engine.GradeOK, Text: "69 GB free"},
	{Name: "Power", Grade: engine.GradeUnknown, Text: "no one tells"},
	{Name: "Service a_service_with_a_long_name_of_the_department", Grade: engine.GradeProblem, Text: "it does not answer"},
}

// TestListSaysEachGradeByAWord checks that each grade is shown as a word, that passed checks are shown on request, and
// that buttons appear only if they have a handler.
func TestListSaysEachGradeByAWord(t *testing.T) {
	q := uitest.Start(t)
	l := New()
	w := test.NewTempWindow(t, l)
	w.Resize(fyne.NewSize(1000, 600))
	l.Set(all)
	for _, want := range []string{"problem", "warning", "ok", engine.GradeUnknown.String(), "Service shop", "connection refused", "start it", "69 GB free"} {
		if !uitest.Shows(l, want) {
			t.Errorf("it does not show %q", want)
		}
	}
	if uitest.Button(l, "Check again") != nil {
		t.Error("there is a button without a handler")
	}
	var mended []engine.Check
	l.OnMend = func(c engine.Check) { mended = append(mended, c) }
	l.Set(all[:3])
	q.Tap(l, "Lower to 4 connections")
	if len(mended) != 1 || mended[0] != all[1] {
		t.Errorf("mended %+v", mended)
	}
	l.SetBrief(true)
	if l.Shown() != 2 || uitest.Shows(l, "69 GB free") || len(l.Checks()) != 3 {
		t.Errorf("in brief %d lines: %q", l.Shown(), uitest.Texts(l))
	}
	if got, want := Summary(all), "2 problems, 1 warning, 1 ok, 1 unknown"; got != want {
		t.Errorf("the summary is %q, want %q", got, want)
	}
	if got, want := Summary(append(all[:2:2], engine.Check{})), "checking: 2 of 3"; got != want {
		t.Errorf("the summary is %q, want %q", got, want)
	}
}

// TestLinesFit checks that at any width the parts of a line neither overlap nor extend beyond it.
func TestLinesFit(t *testing.T) {
	uitest.Start(t)
	l := New()
	l.OnMend = func(engine.Check) {}
	l.Set(all)
	page := form.NewStack(l)
	w := test.NewTempWindow(t, page)
	w.SetPadded(false)
	for _, width := range []float32{300, 500, 800, 1600} {
		w.Resize(fyne.NewSize(width, 900))
		w.Resize(fyne.NewSize(width+1, 900))
		for _, misfit := range uitest.Misfits(page) {
			t.Errorf("%v wide: %s", width, misfit)
		}
		for i, r := range l.rows {
			parts := []fyne.CanvasObject{r.word, r.text, r.hint, r.mend}
			for j, o := range parts {
				if !o.Visible() {
					continue
				}
				at, size := whereIs(o), o.MinSize()
				if _, note := o.(*form.Note); note {
					size = o.Size()
				}
				if at.X < 0 || at.X+size.Width > width+2 {
					t.Errorf("%v wide: part %d of line %d reaches from %v to %v", width, j, i, at.X, at.X+size.Width)
				}
				for _, other := range parts[j+1:] {
					if other.Visible() && overlap(o, other) {
						t.Errorf("%v wide: %T lies over %T in line %d", width, o, other, i)
					}
				}
			}
		}
	}
}

func whereIs(o fyne.CanvasObject) fyne.Position {
	return fyne.CurrentApp().Driver().AbsolutePositionForObject(o)
}

func overlap(a, b fyne.CanvasObject) bool {
	if _, button := b.(*widget.Button); !button {
		return false
	}
	p, q := whereIs(a), whereIs(b)
	return p.X < q.X+b.Size().Width && q.X < p.X+a.Size().Width && p.Y < q.Y+b.Size().Height && q.Y < p.Y+a.Size().Height
}
