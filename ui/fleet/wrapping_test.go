package fleet

import (
	"image/color"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// TestWrapping checks that the objects of each row fill the width, and that the minimum height is that of all rows.
func TestWrapping(t *testing.T) {
	test.NewTempApp(t)
	gap := theme.Padding()
	var objects []fyne.CanvasObject
	for range 3 {
		o := canvas.NewRectangle(color.Black)
		o.SetMinSize(fyne.NewSize(100, 40))
		objects = append(objects, o)
	}
	w := &wrapping{}
	for _, c := range []struct {
		width float32
		last  fyne.Position
		size  fyne.Size
	}{
		{300 + 2*gap, fyne.NewPos(200+2*gap, 0), fyne.NewSize(100, 90)},
		{250, fyne.NewPos(0, (90+gap)/2), fyne.NewSize(250, (90-gap)/2)},
		{120, fyne.NewPos(0, 2*(30+gap/3)), fyne.NewSize(120, (90-2*gap)/3)},
	} {
		w.Layout(objects, fyne.NewSize(c.width, 90))
		if last := objects[2]; near(last.Position().X, c.last.X) && near(last.Position().Y, c.last.Y) && near(last.Size().Width, c.size.Width) && near(last.Size().Height, c.size.Height) {
			continue
		}
		t.Errorf("width %v: the last is %v at %v", c.width, objects[2].Size(), objects[2].Position())
	}
	if got, want := w.MinSize(objects), fyne.NewSize(100, 120+2*gap); got != want {
		t.Errorf("in three rows the minimum is %v, want %v", got, want)
	}
	w.Layout(nil, fyne.NewSize(100, 100)) // before the first chart
}

func near(a, b float32) bool { return a-b < 0.1 && b-a < 0.1 }
