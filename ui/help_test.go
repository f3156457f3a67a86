package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/prose"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

// TestHelpIsAboutTheScreen presses F1 on each screen and over a dialog, and checks that one window shows the page about
// the screen.
func TestHelpIsAboutTheScreen(t *testing.T) {
	_, a, _ := filledApp(t)
	titles := map[string]string{}
	for _, p := range assets.Pages() {
		titles[p.File] = p.Title
	}
	for _, p := range append([]*page{a.editor.page}, a.pages...) {
		a.editor.page.item = a.pages[0].item
		a.show(p)
		pressed(a.frame, fyne.KeyF1)
		if a.manual == nil || len(a.others) != 1 {
			t.Fatalf("%s: F1 opens no guide, or a second one", p.title)
		}
		file, heading, anchored := strings.Cut(p.help, "#")
		if !slices.ContainsFunc(prose.Parse(pageText(t, file)).Headings(), func(h prose.Heading) bool { return !anchored || h.Anchor == heading }) {
			t.Errorf("%s: %s has no heading %s", p.title, file, heading)
		}
		if got := a.manual.screen.Page(); got != titles[file] {
			t.Errorf("%s: the guide is open at %s", p.title, got)
		}
	}
	widgets.Tell(a.win, "A question", widget.NewLabel("Why?"))
	a.manual.win.Close()
	if a.manual != nil || len(a.others) != 0 {
		t.Error("closed, the guide's window stays")
	}
	if pressed(a.frame, fyne.KeyF1); a.manual == nil || a.manual.screen.Page() != "The window" {
		t.Error("over a dialog F1 opens no guide")
	}
	pressed(a.frame, fyne.KeyEscape)
	test.Tap(navigationTo(t, a.frame, guideTitle))
	if len(a.others) != 1 {
		t.Errorf("there are %d windows", len(a.others))
	}
}

// TestHelpIsAboutTheWorstFigure checks that the page about the dashboard has a heading for each health metric.
func TestHelpIsAboutTheWorstFigure(t *testing.T) {
	uitest.Start(t)
	anchors := map[string]bool{}
	for _, h := range prose.Parse(pageText(t, "07-dashboard.md")).Headings() {
		anchors[h.Anchor] = true
	}
	found := health.Judge(&engine.Snapshot{}, &health.Vitals{}, time.Minute)
	for _, f := range found {
		if !anchors[prose.Anchor(string(f.Metric))] {
			t.Errorf("the page has no heading for %s", f.Metric)
		}
	}
	if len(found) < 12 {
		t.Errorf("there are only %d metrics", len(found))
	}
}

// pageText returns the text of a page of the guide.
func pageText(t *testing.T, file string) string {
	t.Helper()
	for _, p := range assets.Pages() {
		if p.File == file {
			return p.Text
		}
	}
	t.Fatalf("the guide has no page %s", file)
	return ""
}

func navigationTo(t *testing.T, f *frame, title string) (found *navItem) {
	t.Helper()
	uitest.Walk(f.win.Canvas().Content(), func(o fyne.CanvasObject) bool {
		if n, ok := o.(*navItem); ok && n.title == title {
			found = n
		}
		return found == nil
	})
	if found == nil {
		t.Fatalf("no way to %s", title)
	}
	return found
}

// TestKeysOfTheGuide searches, pages through, copies and closes the guide by keyboard, and checks that Tab reaches its
// links.
func TestKeysOfTheGuide(t *testing.T) {
	_, a, _ := filledApp(t)
	pressed(a.frame, fyne.KeyF3)
	m := a.manual
	if m == nil || m.screen.Page() != "First steps" || m.win.Canvas().Focused() == nil {
		t.Fatal("F3 does not open the guide's search")
	}
	if err := clash(m.commands); err != nil {
		t.Error(err)
	}
	m.win.Canvas().Unfocus()
	pressed(m.frame, fyne.KeyF1)
	m.screen.Open("07-dashboard.md")
	typed(t, m.frame, fyne.KeyLeftBracket, action.Command)
	if got := m.screen.Page(); got != "First steps" {
		t.Errorf("back is %s", got)
	}
	c := m.win.Canvas()
	shortcuts := canvasOf(m.frame)
	shortcuts.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyRight, Modifier: fyne.KeyModifierAlt})
	if got := m.screen.Page(); got != "Reading the dashboard" {
		t.Errorf("forward is %s", got)
	}
	shortcuts.TypedShortcut(&fyne.ShortcutSelectAll{})
	shortcuts.TypedShortcut(&fyne.ShortcutCopy{})
	if got := fyne.CurrentApp().Clipboard().Content(); !strings.HasPrefix(got, "Reading the dashboard") || !strings.Contains(got, "Unsent rows") {
		t.Errorf("copied is %.60q", got)
	}
	want := focusable(c.Content())
	reached := map[fyne.Focusable]bool{}
	for range 2 * len(want) {
		c.FocusNext()
		reached[c.Focused()] = true
	}
	for _, o := range want {
		if !reached[o] {
			t.Errorf("%s is not reached", said(o))
		}
	}
	typed(t, m.frame, fyne.KeySlash, action.Command)
	if c.Overlays().Top() == nil {
		t.Error("the list of keys does not open")
	}
	pressed(m.frame, fyne.KeyEscape)
	typed(t, m.frame, fyne.KeyN, action.Command)
	if got := a.others[len(a.others)-1].win.Title(); got != "Throng 2" {
		t.Errorf("a window opened next to the guide is titled %q", got)
	}
	typed(t, m.frame, fyne.KeyW, action.Command)
	if a.manual != nil || a.overlay() != nil {
		t.Error("the guide is not closed, or asks")
	}
	a.tick()
}

// TestMenuKeysInTheGuide checks that menu shortcuts work in the guide. On a Mac, the first window's menu has the
// shortcuts of all windows.
func TestMenuKeysInTheGuide(t *testing.T) {
	_, a, _ := filledApp(t)
	a.showGuide(firstPage)
	a.manual.screen.Open("07-dashboard.md")
	a.manual.native = &placed{} // has the focus
	for _, d := range a.commands {
		if d.Name == "Previous cycle" {
			a.chosen(d)
		}
	}
	if got := a.manual.screen.Page(); got != "First steps" {
		t.Errorf("Ctrl+[ in the guide shows %s", got)
	}
}
