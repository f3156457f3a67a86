package chart

import (
	"slices"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/action"
)

// used is the drawing that was focused last, or pointed at while no other drawing of its window was focused. The UI goroutine owns it.
var used Kept

// Pointed notes that the pointer is at a drawing. It does not replace a focused one, because the way to the menu bar may cross others.
func Pointed(owner fyne.Focusable) {
	o, ok := owner.(Kept)
	if !ok {
		return
	}
	if c := fyne.CurrentApp().Driver().CanvasForObject(o); c != nil {
		if other, has := c.Focused().(Kept); !has || !shown(other, c) {
			used = o
		}
	}
}

// Focused notes that a drawing is focused.
func Focused(owner fyne.Focusable) {
	if o, ok := owner.(Kept); ok {
		used = o
	}
}

// shown reports whether a drawing is visible in a window.
func shown(o Kept, c fyne.Canvas) bool {
	driver := fyne.CurrentApp().Driver()
	return driver.CanvasForObject(o) == c && !driver.AbsolutePositionForObject(o).IsZero()
}

// inUse returns the drawing of a window that is focused or was used last; nil if none is visible.
func inUse(c fyne.Canvas) Kept {
	if o, ok := c.Focused().(Kept); ok && shown(o, c) {
		return o
	}
	if used != nil && shown(used, c) {
		return used
	}
	return nil
}

// Actions returns the actions that copy or save the drawing in use, for a window's menu bar. They are disabled if there is none.
func Actions(c fyne.Canvas) []action.Action {
	return []action.Action{
		ofUsed(c, "Copy values", action.Action{Name: "Copy the chart's values", Menu: "View"}),
		ofUsed(c, "Copy picture", action.Action{Name: "Copy the chart's picture", Menu: "View"}),
		ofUsed(c, "Save picture…", action.Action{Name: "Save the chart's picture…", Menu: "View"}),
	}
}

// ofUsed returns an action on the drawing in use.
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
