package widgets

import (
	"image/color"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/uitest"
)

func TestBadge(t *testing.T) {
	themedApp(t)
	b := NewBadge("", Neutral)
	if size := b.MinSize(); !size.IsZero() {
		t.Errorf("an empty badge takes %v", size)
	}
	b.Set("finished", Good)
	if got := uitest.Texts(b); !slices.Equal(got, []string{"finished"}) {
		t.Errorf("shown: %q", got)
	}
	r := test.WidgetRenderer(b).(*badgeRenderer)
	if got, want := r.face.text.Color, theme.Color(theme.ColorNameSuccess); got != want {
		t.Errorf("the word is in %v, want %v", got, want)
	}
	word := fyne.MeasureText("finished", theme.CaptionTextSize(), fyne.TextStyle{Bold: true})
	if size := b.MinSize(); size.Width <= word.Width || size.Height <= word.Height {
		t.Errorf("the badge takes %v, its word alone %v", size, word)
	}
	b.Resize(fyne.NewSize(500, 100))
	if got := r.face.back.Size(); got != b.MinSize() {
		t.Errorf("in a large room its ground is %v, want %v", got, b.MinSize())
	}
	b.Set("failed", Bad)
	if got, want := r.face.text.Color, theme.Color(theme.ColorNameError); got != want {
		t.Errorf("the word is in %v, want %v", got, want)
	}
}

func TestBadgeFollowsTheTheme(t *testing.T) {
	themedApp(t)
	b := NewBadge("finished", Good)
	win := test.NewTempWindow(t, b)
	colorOf := func() color.Color { return test.WidgetRenderer(b).(*badgeRenderer).face.text.Color }
	before := colorOf()
	test.ApplyTheme(t, test.NewTheme())
	win.Content().Refresh()
	if after := colorOf(); after == before {
		t.Errorf("the word is in %v with one theme and another", after)
	}
}

func TestNotice(t *testing.T) {
	themedApp(t)
	n := NewNotice()
	if n.Visible() {
		t.Error("an empty notice is shown")
	}
	win := test.NewTempWindow(t, n)
	win.Resize(fyne.NewSize(400, 200))
	n.Say("nothing was changed", Bad)
	if !n.Visible() || n.icon.Hidden || !uitest.Shows(n, "nothing was changed") {
		t.Errorf("got %q, visible %v, without an icon %v", uitest.Texts(n), n.Visible(), n.icon.Hidden)
	}
	n.Say("all is well", Quiet)
	if !n.icon.Hidden || n.Text() != "all is well" {
		t.Errorf("got %q, without an icon %v", n.Text(), n.icon.Hidden)
	}
	n.Say("", Quiet)
	if n.Visible() {
		t.Error("a cleared notice is shown")
	}
}
