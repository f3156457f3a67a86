package chart

import (
	"image"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/action"
)

// TestActionsOfTheChartInUse checks that actions apply to the focused chart, or else to the one that was last focused
// or pointed at.
func TestActionsOfTheChartInUse(t *testing.T) {
	test.NewTempApp(t)
	var copied string
	keep := Keep{Copy: func(title string, _ image.Image) { copied = title }}
	a, b, bars := New(Config{Title: "A", Series: named("a"), Keep: keep}), New(Config{Title: "B", Series: named("b"), Keep: keep}), NewBars("Bars", "", keep)
	entry := widget.NewEntry()
	w := test.NewTempWindow(t, container.NewPadded(container.NewGridWithRows(4, a, b, bars, entry)))
	w.Resize(fyne.NewSize(500, 900))
	actions := Actions(w.Canvas())
	of := func() string {
		copied = ""
		act := actions[1]
		can := act.Can()
		if act.Do(); can != (copied != "") {
			t.Errorf("enabled: %v, copied %q", can, copied)
		}
		return copied
	}
	point := func(p *pad) { p.MouseMoved(&desktop.MouseEvent{}) }
	for _, step := range []struct {
		what string
		do   func()
		want string
	}{
		{"nothing was used", func() {}, ""},
		{"A is pointed at", func() { point(&a.pad.pad) }, "A"},
		{"the pointer moves on to the bars", func() { point(bars.pad) }, "Bars"},
		{"and leaves them", func() { bars.pad.MouseOut() }, "Bars"},
		{"B gets the focus", func() { w.Canvas().Focus(b) }, "B"},
		{"the way to the menu leads over A", func() { point(&a.pad.pad) }, "B"},
		{"the menu takes the focus", w.Canvas().Unfocus, "B"},
		{"the bars get the focus", func() { w.Canvas().Focus(bars) }, "Bars"},
		{"an entry gets it", func() { w.Canvas().Focus(entry) }, "Bars"},
		{"A is pointed at again", func() { point(&a.pad.pad) }, "A"},
		{"A is hidden", a.Hide, ""},
		{"B gets the focus, and is hidden", func() { w.Canvas().Focus(b); b.Hide() }, ""},
		{"the bars are pointed at", func() { point(bars.pad) }, "Bars"},
		{"another page is shown", func() { w.SetContent(widget.NewLabel("another")) }, ""},
	} {
		if step.do(); of() != step.want {
			t.Errorf("%s: the picture of %q is copied, want %q", step.what, copied, step.want)
		}
	}
}

// TestActionsAreTheMenus checks that the actions in the menu bar do the same as a chart's own menu, and are disabled if
// that menu does not offer them.
func TestActionsAreTheMenus(t *testing.T) {
	test.NewTempApp(t)
	c := New(Config{Title: "Requests", Series: named("shop", "model"), Keep: Keep{Save: func(fyne.CanvasObject, string, image.Image) {}}})
	w := test.NewTempWindow(t, container.NewPadded(c))
	w.Resize(fyne.NewSize(500, 300))
	c.Set(rising())
	w.Canvas().Focus(c)
	actions := map[string]action.Action{}
	for _, act := range Actions(w.Canvas()) {
		actions[act.Name] = act
	}
	values, picture, save := actions["Copy the chart's values"], actions["Copy the chart's picture"], actions["Save the chart's picture…"]
	if !values.Can() || picture.Can() || !save.Can() {
		t.Errorf("values %v, picture %v, save %v, want only the picture not to be copied", values.Can(), picture.Can(), save.Can())
	}
	values.Do()
	if got := fyne.CurrentApp().Clipboard().Content(); !strings.HasPrefix(got, "time\tshop\tmodel\n") || got != string(c.Table()) {
		t.Errorf("copied %q", got)
	}
}
