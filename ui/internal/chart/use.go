package chart

import (
	"slices"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/action"
)

// used is the drawing that had the focus last, or that was pointed at while no other of its window had it. The UI goroutine
// owns it.
var used kept

// pointed notes that a drawing is pointed at. It takes nothing from one that has the focus: the way to the menu bar leads
// over others.
func pointed(owner fyne.Focusable) {
	o, ok := owner.(kept)
	if !ok {
		return
	}
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil {
		if other, has := c.Focused().(kept); !has || !shown(other, c) {
			used = o
		}
	}
}

// focused notes that a drawing got the focus.
func focused(owner fyne.Focusable) {
	if o, ok := owner.(kept); ok {
		used = o
	}
}

// shown reports whether a window shows a drawing. What is not in it, or in a part of it that is hidden, has no place there.
func shown(o kept, c fyne.Canvas) bool {
	driver := fyne.CurrentApp().Driver()
	return driver.CanvasForObject(o) == c && !driver.AbsolutePositionForObject(o).IsZero()
}

// inUse is the drawing of a window that has the focus, or that was used last; nil is none that is shown.
func inUse(c fyne.Canvas) kept {
	if o, ok := c.Focused().(kept); ok && shown(o, c) {
		return o
	}
	if used != nil && shown(used, c) {
		return used
	}
	return nil
}

// Actions are the ways by which a person takes a drawing of a window elsewhere, for its menu bar: the one that has the
// focus, else the one that had it or was pointed at last. They cannot be done while there is none.
func Actions(c fyne.Canvas) []action.Action {
	const alt = action.Command | fyne.KeyModifierAlt
	return []action.Action{
		ofUsed(c, "Copy values", action.Action{Name: "Copy the chart's values", Menu: "View", Key: fyne.KeyV, Modifier: alt}),
		ofUsed(c, "Copy picture", action.Action{Name: "Copy the chart's picture", Menu: "View", Key: fyne.KeyC, Modifier: alt}),
		ofUsed(c, "Save picture…", action.Action{Name: "Save the chart's picture…", Menu: "View", Key: fyne.KeyP, Modifier: alt}),
	}
}

// ofUsed has an action do one of the ways of the drawing that is in use.
func ofUsed(c fyne.Canvas, name string, a action.Action) action.Action {
	find := func() (do func()) {
		if o := inUse(c); o != nil {
			all := ways(o)
			if i := slices.IndexFunc(all, func(w way) bool { return w.name == name }); i >= 0 {
				return all[i].do
			}
		}
		return nil
	}
	a.Enabled = func() bool { return find() != nil }
	a.Do = func() {
		if do := find(); do != nil {
			do()
		}
	}
	return a
}
