package uitest

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// TestMisfitsAreFound checks objects that fit and objects that do not.
func TestMisfitsAreFound(t *testing.T) {
	Start(t)
	word := func(text string) *canvas.Text {
		o := canvas.NewText(text, theme.Color(theme.ColorNameForeground))
		o.TextSize = 14
		return o
	}
	at := func(o fyne.CanvasObject, x, y, w, h float32) fyne.CanvasObject {
		o.Move(fyne.NewPos(x, y))
		o.Resize(fyne.NewSize(w, h))
		return o
	}
	long := strings.Repeat("word ", 30)
	for _, c := range []struct {
		name string
		o    fyne.CanvasObject
		want string // "" is that all fits
	}{
		{"a word", at(word("word"), 10, 10, 80, 20), ""},
		{"a narrow place", at(word("a longer word"), 10, 10, 20, 20), "takes"},
		{"beyond the edge", at(word("word"), 190, 10, 80, 20), "cut off"},
		{"on each other", container.NewWithoutLayout(at(word("one"), 10, 10, 80, 20), at(word("two"), 15, 12, 80, 20)), "overlap"},
		{"below each other", container.NewWithoutLayout(at(word("one"), 10, 10, 80, 20), at(word("two"), 10, 30, 80, 20)), ""},
		{"a button on another", container.NewWithoutLayout(at(widget.NewButton("one", nil), 10, 10, 80, 40), at(widget.NewButton("two", nil), 60, 10, 80, 40)), "overlap"},
		{"out of its widget", at(newBox(at(word("a longer word"), 0, 0, 120, 20)), 70, 10, 40, 40), "sticks out"},
		{"scrolled out of view", at(container.NewVScroll(widget.NewLabel(strings.Repeat("line\n", 50))), 0, 0, 200, 100), ""},
		{"scrolled sideways", at(container.NewScroll(widget.NewLabel(long)), 0, 0, 200, 100), "sideways"},
		{"typed", at(widget.NewEntry(), 0, 0, 200, 40), ""},
	} {
		if e, ok := c.o.(*widget.Entry); ok {
			e.SetText(long)
		}
		box := container.NewWithoutLayout(c.o)
		box.Resize(fyne.NewSize(200, 100))
		got := strings.Join(Misfits(box), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: found is %q, want %q", c.name, got, c.want)
		}
	}
}

// box is a widget without a size of its own.
type box struct {
	widget.BaseWidget
	inside fyne.CanvasObject
}

func newBox(inside fyne.CanvasObject) *box {
	b := &box{inside: inside}
	b.ExtendBaseWidget(b)
	return b
}

func (b *box) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewWithoutLayout(b.inside))
}
