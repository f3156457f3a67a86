package form

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

// TestABarGoesOnInFurtherLines makes a line of buttons narrower and wider again.
func TestABarGoesOnInFurtherLines(t *testing.T) {
	start(t)
	one, two, three := widget.NewButton("Resume", nil), widget.NewButton("Fork", nil), widget.NewButton("Delete", nil)
	bar := NewBar([]fyne.CanvasObject{one, two}, []fyne.CanvasObject{three})
	rest := widget.NewLabel("below")
	w := test.NewTempWindow(t, NewHeaded(NewStack(bar), rest))
	w.SetPadded(false)
	for _, c := range []struct {
		width float32
		lines int
	}{{400, 1}, {one.MinSize().Width + 4, 3}, {400, 1}} {
		w.Resize(fyne.NewSize(c.width, 300))
		lines := map[float32]bool{}
		for _, o := range bar.Objects {
			lines[o.Position().Y] = true
			if right := o.Position().X + o.Size().Width; right > c.width {
				t.Errorf("%v wide: a button ends at %v", c.width, right)
			}
		}
		if len(lines) != c.lines {
			t.Errorf("%v wide: %d lines, want %d", c.width, len(lines), c.lines)
		}
		if c.lines == 1 && three.Position().X+three.Size().Width != c.width {
			t.Errorf("the last ends at %v, not at the right end", three.Position().X+three.Size().Width)
		}
		if rest.Position().Y < bar.MinSize().Height {
			t.Errorf("%v wide: what is below begins at %v, under the buttons, which end at %v", c.width, rest.Position().Y, bar.MinSize().Height)
		}
	}
	two.Hide()
	if w.Resize(fyne.NewSize(401, 300)); two.Visible() || three.Position().X+three.Size().Width != 401 {
		t.Error("one that is hidden takes room")
	}
}

// TestASizedEntryFollowsTheText holds what fits into it.
func TestASizedEntryFollowsTheText(t *testing.T) {
	start(t)
	short, long := NewSized("100", NewEntry()).MinSize(), NewSized("1,000,000", NewEntry()).MinSize()
	if short.Width >= long.Width || short.Height != long.Height {
		t.Errorf("three digits take %v, seven %v", short, long)
	}
}
