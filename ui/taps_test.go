package ui

import (
	"fmt"
	"image"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// tapped is an object that the toolkit finds for a click, with what contains it.
type tapped struct {
	object  fyne.CanvasObject
	box     image.Rectangle // the visible part
	parents []fyne.CanvasObject
}

// findTapped lists the visible objects that the window's driver passes clicks to, those above others last. Unlike the test driver's, it also
// passes them to objects without a function for the primary button.
func findTapped(o fyne.CanvasObject, at fyne.Position, clip image.Rectangle, parents []fyne.CanvasObject) (all []tapped) {
	if o == nil || !o.Visible() {
		return nil
	}
	at = at.Add(o.Position())
	box := image.Rect(int(at.X), int(at.Y), int(at.X+o.Size().Width), int(at.Y+o.Size().Height)).Intersect(clip)
	switch o.(type) {
	case fyne.Tappable, fyne.SecondaryTappable, fyne.DoubleTappable, fyne.Focusable, desktop.Mouseable:
		all = append(all, tapped{o, box, parents})
	}
	parents = append(slices.Clip(parents), o)
	var below []fyne.CanvasObject
	switch o := o.(type) {
	case *fyne.Container:
		below = o.Objects
	case *container.Scroll:
		below, clip = []fyne.CanvasObject{o.Content}, box
	case fyne.Widget:
		below = test.WidgetRenderer(o).Objects()
	}
	for _, b := range below {
		all = append(all, findTapped(b, at, clip, parents)...)
	}
	return all
}

// TestClicksReachWhatIsBelow clicks along every object that can be clicked, on all screens: what lies on top of it must not take the click and
// do nothing.
func TestClicksReachWhatIsBelow(t *testing.T) {
	_, a, _ := filledApp(t)
	n := 0
	for _, page := range a.pages {
		a.show(page)
		all := findTapped(a.win.Content(), fyne.Position{}, image.Rect(0, 0, 1280, 800), nil)
		for _, target := range all {
			if _, ok := target.object.(fyne.Tappable); !ok || target.box.Empty() {
				continue
			}
			n++
			for i := 1; i < 10; i++ {
				at := image.Pt(target.box.Min.X+i*target.box.Dx()/10, (target.box.Min.Y+target.box.Max.Y)/2)
				if by := takes(all, target, at); by != nil {
					t.Errorf("%s: %T %q takes the clicks of %T", page.title, by, textOf(by), target.object)
					break
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d objects can be clicked", n)
	}
}

// takes returns the topmost object at a point if it is in the target, and does nothing for a click.
func takes(all []tapped, target tapped, at image.Point) fyne.CanvasObject {
	var top *tapped
	for i := range all {
		if at.In(all[i].box) {
			top = &all[i]
		}
	}
	if top == nil || top.object == target.object {
		return nil
	}
	inside := false
	for _, p := range top.parents {
		inside = inside || p == target.object
	}
	if !inside {
		return nil
	}
	switch o := top.object.(type) {
	case *widgets.Line:
		if o.OnTapped != nil {
			return nil
		}
	case fyne.Tappable, fyne.Focusable, desktop.Mouseable:
		return nil
	}
	return top.object
}

func textOf(o fyne.CanvasObject) string {
	if with, ok := o.(interface{ Text() string }); ok {
		return with.Text()
	}
	return fmt.Sprint(o.Position())
}
