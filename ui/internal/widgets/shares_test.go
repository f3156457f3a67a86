package widgets

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/uitest"
)

// TestShares checks that the bar fills its width, that parts are proportional to their counts, that the smallest part
// is visible, and that names wrap.
func TestShares(t *testing.T) {
	themedApp(t)
	s := NewShares()
	if size := s.MinSize(); !size.IsZero() {
		t.Errorf("without parts its size is %v", size)
	}
	s.Set([]Share{
		{Name: "ok", Count: 1_000_000, Text: "1,000,000 (100%)", Tone: Good, Icon: theme.ConfirmIcon()},
		{Name: "stopped", Count: 0, Text: "0", Tone: Quiet, Icon: theme.MediaStopIcon()},
		{Name: "failed", Count: 1, Text: "1 (0%)", Tone: Bad, Icon: theme.CancelIcon()},
	})
	win := test.NewTempWindow(t, s)
	win.SetPadded(false)
	win.Resize(fyne.NewSize(600, 100))
	if got := uitest.Texts(s); !slices.Equal(got, []string{"ok 1,000,000 (100%)", "failed 1 (0%)"}) {
		t.Errorf("shown: %q", got)
	}
	r := test.WidgetRenderer(s).(*sharesRenderer)
	ok, failed := r.parts[0].bar, r.parts[1].bar
	if end := failed.Position().X + failed.Size().Width; end < 599 || end > 601 {
		t.Errorf("the bar ends at %v of 600", end)
	}
	if failed.Size().Width < 3 || ok.Size().Width < 580 || failed.Position().X <= ok.Position().X+ok.Size().Width {
		t.Errorf("the parts are %v and %v at %v", ok.Size(), failed.Size(), failed.Position())
	}
	one := s.MinSize().Height
	win.Resize(fyne.NewSize(s.MinSize().Width, 100))
	if two := s.MinSize().Height; two <= one || r.parts[1].text.Position().Y <= r.parts[0].text.Position().Y {
		t.Errorf("in little room it is %v high, in much %v", two, one)
	}
}
