package widgets

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
)

// TestTitleShowsItsWholeText checks that the pointer shows the text of a title only if it is cut.
func TestTitleShowsItsWholeText(t *testing.T) {
	test.NewTempApp(t)
	title := NewTitle(theme.SizeNameSubHeadingText)
	win := test.NewTempWindow(t, nil)
	win.SetContent(container.NewStack(title, NewTips(win)))
	win.Resize(fyne.NewSize(300, 100))
	tip := tips[win.Canvas()]
	long := strings.Repeat("Marketplace shoppers ", 6) + "of May"
	at := &desktop.MouseEvent{PointEvent: fyne.PointEvent{AbsolutePosition: fyne.NewPos(20, 20)}}
	title.Set(long, Neutral)
	title.MouseIn(at)
	if tip.Text() != long {
		t.Errorf("the tip is %q", tip.Text())
	}
	if got := win.Canvas().Content().MinSize().Width; got > 100 {
		t.Errorf("with the tip, the window is at least %v wide", got)
	}
	title.MouseOut()
	if tip.Text() != "" {
		t.Errorf("the tip stays: %q", tip.Text())
	}
	title.Set("Shoppers", Neutral)
	title.MouseIn(at)
	if tip.Text() != "" {
		t.Errorf("a title that is shown has the tip %q", tip.Text())
	}
	title.Set(long, Neutral)
	title.MouseMoved(at)
	HideTips(win.Canvas())
	if tip.Text() != "" {
		t.Error("the tip of a screen that is left stays")
	}
	Forget(win)
	title.MouseMoved(at) // the window is gone
}
