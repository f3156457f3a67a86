package form

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

// countingTheme counts the requests for fonts. A font is requested when it is loaded.
type countingTheme struct {
	fyne.Theme
	fonts int
}

func (c *countingTheme) Font(style fyne.TextStyle) fyne.Resource {
	c.fonts++
	return c.Theme.Font(style)
}

// TestCompactIsSmaller adds a button to an existing compact row, and checks that all its buttons are smaller than a
// plain one.
func TestCompactIsSmaller(t *testing.T) {
	start(t)
	plain := widget.NewButton("Reset", nil)
	first, second := widget.NewButton("Reset", nil), widget.NewButton("Reset", nil)
	row := container.NewHBox(first)
	compact := NewCompact(row)
	test.NewTempWindow(t, container.NewVBox(plain, compact))
	row.Add(second)
	compact.Refresh()
	for i, b := range []*widget.Button{first, second} {
		if got, most := b.MinSize(), plain.MinSize(); got.Height >= most.Height || got.Width >= most.Width {
			t.Errorf("button %d: %v, want less than %v", i, got, most)
		}
	}
}

// TestCompactSharesFonts checks that of many compact buttons, only the first one loads fonts.
func TestCompactSharesFonts(t *testing.T) {
	start(t)
	all := container.NewVBox(NewCompact(widget.NewButton("Reset", nil)))
	test.NewTempWindow(t, all)
	counting := &countingTheme{Theme: fyne.CurrentApp().Settings().Theme()}
	fyne.CurrentApp().Settings().SetTheme(counting)
	all.Refresh()
	counting.fonts = 0
	for range 20 {
		all.Add(NewCompact(widget.NewButton("Reset", nil)))
	}
	all.Refresh()
	if counting.fonts > 0 {
		t.Errorf("fonts were loaded %d times for further buttons", counting.fonts)
	}
}
