package wizard

import (
	"errors"
	"fmt"
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// TestNothingIsClipped checks every page in windows of two sizes, at the text sizes of a laptop, in both themes.
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

// fits walks through the pages and checks each.
func fits(t *testing.T, size fyne.Size, look fyne.Theme) {
	t.Helper()
	f := &fake{recorded: true, plan: Plan{Exists: true}}
	st := newStage(t, f)
	st.close()
	fyne.CurrentApp().Settings().SetTheme(look)
	st.win.Resize(size)
	st.Open()
	st.fitting("source")
	f.readErr = errors.New("http://127.0.0.1:8000 has no OpenAPI document, and none is at the usual places below it (openapi.json, openapi.yaml, swagger.json and others); " +
		"import the document's own address or a file, or record requests instead: throngctl record --target http://127.0.0.1:8000")
	st.source.address.SetText("http://127.0.0.1:8000")
	st.tap("Read")
	st.until("usual places")
	st.fitting("problem")
	f.readErr = nil
	st.tap("Record…")
	st.tap("Start")
	st.until("in place of")
	for i := range 30 {
		f.each(Exchange{Request: fmt.Sprintf("GET /api/products/%d/reviews?page=2&sort=newest", i), Status: 200 + 204*(i%2)})
	}
	st.Tick()
	st.fitting("record")
	f.each(Exchange{Request: "GET /api/products/31", Failure: "connection refused"})
	st.Tick()
	st.fitting("record without an answer")
	st.tap("Stop and use")
	st.until("Step 2 of 3")
	st.steps.toggle("GET /products")
	st.settled()
	st.fitting("journey")
	st.steps.words.SetText("fly to the moon")
	st.tap("Apply")
	st.fitting("journey in words")
	st.steps.words.SetText("")
	st.tap("Next")
	st.until("The file exists")
	st.fitting("finish")
	st.finish.path.SetText("")
	st.fitting("finish without a file")
}

// fitting checks the page, and draws it if the pictures are wanted.
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
