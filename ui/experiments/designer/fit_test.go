package designer

import (
	"errors"
	"fmt"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// TestNothingIsClipped checks the dialog in windows of two sizes, at the text sizes of a laptop, in both themes.
func TestNothingIsClipped(t *testing.T) {
	for _, size := range []fyne.Size{fyne.NewSize(1000, 640), fyne.NewSize(1280, 800)} {
		for _, look := range []string{"dark", "light"} {
			for _, scale := range []float32{1, 1.5} {
				t.Run(fmt.Sprintf("%.0fx%.0f-%s-%.1f", size.Width, size.Height, look, scale), func(t *testing.T) {
					fits(t, size, skin.New(look).Scaled(scale))
				})
			}
		}
	}
}

func fits(t *testing.T, size fyne.Size, look fyne.Theme) {
	t.Helper()
	st := newStage(t)
	fyne.CurrentApp().Settings().SetTheme(look)
	st.win.Resize(size)
	st.create()
	st.fitting("new")
	st.page.factors.rows[0].levels.SetText("0 to 5")
	st.until("a range has no levels")
	st.fitting("mistakes")
	st.page.scroll.ScrollToBottom()
	st.fitting("end")
	st.close()
	st.Edit(pricesFile)
	st.settled()
	st.page.scroll.ScrollToOffset(fyne.NewPos(0, st.page.scroll.Content.Size().Height/3))
	st.fitting("file")
	st.page.scroll.ScrollToBottom()
	st.fitting("file end")
	st.desk.saveErr = errors.New("/experiments/prices.experiment.yaml changed in the meantime; nothing was written: open it again")
	st.q.Tap(st.top(), "Save")
	st.until("nothing was written")
	st.fitting("refused")
}

// fitting checks the dialog, and draws it if the pictures are wanted.
func (st *stage) fitting(name string) {
	st.t.Helper()
	for range 3 { // widths of columns and heights of texts depend on the first layouts
		st.fit()
		st.q.Drain()
		st.top().Refresh()
	}
	if box := widgets.DialogSize(st.win.Canvas()); box.Width > st.room.Width || box.Height > st.room.Height {
		st.t.Errorf("%s: the dialog is %.0f × %.0f in a window of %.0f × %.0f", name, box.Width, box.Height, st.room.Width, st.room.Height)
	}
	st.q.FitDialog(name, st.win.Canvas(), st.top())
}
