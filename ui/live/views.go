package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// splitView is the choice that shows two views side by side.
const splitView = "Split"

// tab is a view of the run.
type tab struct {
	name   string
	object fyne.CanvasObject
	draw   func(f *feed) // not called while the view is hidden
	alone  bool          // the view takes the room of the lists
}

// breadth is how many views fit side by side.
type breadth uint8

const (
	one     breadth = iota // one view
	two                    // two, if the user chooses that
	columns                // always two: charts and another view
)

// views is the middle of the screen: the charts, another view, or both, and the choice above them.
type views struct {
	content *fyne.Container
	all     []tab // the charts first
	choice  *widgets.Segments
	span    *widget.Select
	saving  *widget.Button
	body    *fyne.Container
	breadth breadth
	chosen  int // index of a view; len(all) is the split view
	other   int // index of the view next to the charts
	changed func()
}

// newViews makes the views. The charts are the first. changed is called when other views become visible.
func newViews(c *charts, save, changed func(), others ...tab) *views {
	v := &views{all: append([]tab{{name: "Charts", object: c.grid, draw: c.draw}}, others...), other: 1, changed: changed}
	v.choice = widgets.NewSegments(nil, v.choose)
	v.span = c.span
	v.saving = widget.NewButtonWithIcon("Save charts…", theme.DocumentSaveIcon(), save)
	v.body = container.NewWithoutLayout()
	for i := range v.all {
		v.body.Add(v.all[i].object)
	}
	v.body.Layout = sideBySide{}
	tools := container.NewHBox(v.choice, layout.NewSpacer(), form.NewCompact(form.NewFrame(v.span)), form.NewCompact(v.saving))
	v.content = container.NewBorder(tools, nil, nil, nil, v.body)
	v.arrange()
	return v
}

// fit adapts to the width of the window.
func (v *views) fit(width float32) {
	now := one
	switch {
	case width >= columnsFrom:
		now = columns
	case width >= splitFrom:
		now = two
	}
	if now != v.breadth {
		v.breadth = now
		v.arrange()
		v.changed()
	}
}

// choose shows the view that the user chooses.
func (v *views) choose(i int) {
	if v.breadth == columns {
		v.other = i + 1
	} else {
		v.chosen = i
		if i > 0 && i < len(v.all) {
			v.other = i
		}
	}
	v.arrange()
	v.changed()
}

// next shows the next view.
func (v *views) next() { v.choice.Pick((v.choice.Chosen() + 1) % len(v.choice.Options())) }

// reveal shows the view with a name, unless it is visible.
func (v *views) reveal(name string) {
	for i, one := range v.all {
		switch {
		case one.name != name || v.shows(i):
		case v.breadth == columns:
			v.choose(i - 1)
		default:
			v.choose(i)
		}
	}
}

// shows reports whether a view is visible.
func (v *views) shows(i int) bool {
	split := v.breadth == columns || v.breadth == two && v.chosen == len(v.all)
	if split {
		return i == 0 || i == v.other
	}
	return i == v.chosen || i == 0 && v.chosen == len(v.all)
}

// alone reports whether a view takes the room of the lists.
func (v *views) alone() bool {
	for i, one := range v.all {
		if one.alone && v.breadth != columns && v.shows(i) {
			return true
		}
	}
	return false
}

// arrange updates the choice and the visible views.
func (v *views) arrange() {
	var names []string
	for _, one := range v.all {
		names = append(names, one.name)
	}
	at := min(v.chosen, len(v.all))
	switch v.breadth {
	case two:
		names = append(names, splitView)
	case columns:
		names, at = names[1:], v.other-1
	case one:
		if at == len(v.all) {
			at = 0
		}
	}
	v.choice.SetOptions(names)
	v.choice.Choose(at)
	v.choice.Hidden = len(names) < 2
	for i, one := range v.all {
		if v.shows(i) {
			one.object.Show()
		} else {
			one.object.Hide()
		}
	}
	able(v.span, v.shows(0))
	able(v.saving, v.shows(0))
	v.body.Refresh()
}

// draw shows a feed. charts says whether the charts need it too.
func (v *views) draw(f *feed, charts bool) {
	for i, one := range v.all {
		if v.shows(i) && (i > 0 || charts) {
			one.draw(f)
		}
	}
}

// sideBySide lays out visible objects with equal widths.
type sideBySide struct{}

// MinSize implements [fyne.Layout].
func (sideBySide) MinSize(objects []fyne.CanvasObject) (size fyne.Size) {
	for _, o := range objects {
		if o.Visible() {
			least := o.MinSize()
			size = fyne.NewSize(size.Width+least.Width+theme.Padding(), max(size.Height, least.Height))
		}
	}
	return size
}

// Layout implements [fyne.Layout].
func (sideBySide) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	count := 0
	for _, o := range objects {
		if o.Visible() {
			count++
		}
	}
	width := (size.Width - theme.Padding()*float32(count-1)) / float32(max(count, 1))
	x := float32(0)
	for _, o := range objects {
		if o.Visible() {
			place(o, x, 0, width, size.Height)
			x += width + theme.Padding()
		}
	}
}
