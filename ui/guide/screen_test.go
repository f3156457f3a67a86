package guide

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/ui/internal/prose"
	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/uitest"
)

const start = "01-first-steps.md"

// opened returns the guide in a window.
func opened(t *testing.T) (*Screen, fyne.Window) {
	t.Helper()
	uitest.Start(t)
	fyne.CurrentApp().Settings().SetTheme(skin.New("light"))
	w := test.NewTempWindow(t, nil)
	s := New(w, start)
	w.SetContent(s.Content())
	w.Resize(fyne.NewSize(1100, 800))
	return s, w
}

// text returns all texts of the page or of the search results.
func (s *Screen) text() string {
	s.view.SelectAll()
	return s.view.Selected()
}

// TestEveryPageIsShown draws each page at two widths, with its pictures, and checks its text and its headings.
func TestEveryPageIsShown(t *testing.T) {
	s, w := opened(t)
	for i := range s.pages {
		p := &s.pages[i]
		for _, width := range []float32{1100, 640} {
			w.Resize(fyne.NewSize(width, 800))
			s.Open(p.File)
			if s.Page() != p.Title || !strings.HasPrefix(s.text(), p.Title) {
				t.Errorf("%s shows %.60q", p.File, s.text())
			}
			if high := s.view.MinSize().Height; high < 500 {
				t.Errorf("%s is only %v high", p.File, high)
			}
		}
		d := s.document(p)
		if len(d.Headings()) < 3 {
			t.Errorf("%s has only %d headings", p.File, len(d.Headings()))
		}
		for _, name := range d.Pictures() {
			if s.picture(name) == nil {
				t.Errorf("%s has no picture %s", p.File, name)
			}
		}
	}
}

// TestEveryLinkLeadsSomewhere checks that every link leads to a heading of a page or to an embedded file.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	s, _ := opened(t)
	n := 0
	for i := range s.pages {
		p := &s.pages[i]
		for _, link := range s.document(p).Links() {
			n++
			name, place, anchored := strings.Cut(link, "#")
			switch to := s.page(name); {
			case strings.HasPrefix(link, "https://"):
			case to == nil:
				if _, err := assets.Linked(name); err != nil {
					t.Errorf("%s leads to %s: %v", p.File, link, err)
				}
			default:
				s.Open(link)
				_, ok := s.view.Anchor(place)
				if s.Page() != to.Title || anchored && !ok {
					t.Errorf("%s leads to %s, which shows %s", p.File, link, s.Page())
				}
				if anchored && s.scroll.Offset.Y == 0 {
					t.Errorf("%s: the page is not scrolled to %s", p.File, place)
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("there are only %d links", n)
	}
}

// TestPicturesAreDrawn checks that a picture is drawn at most as wide as the text.
func TestPicturesAreDrawn(t *testing.T) {
	s, _ := opened(t)
	n := 0
	uitest.Walk(s.Content(), func(o fyne.CanvasObject) bool {
		if i, ok := o.(*canvas.Image); ok && i.Resource != nil && i.Resource.Name() == "../pictures/live.png" {
			n++
			if size := i.Size(); size.Width < 300 || size.Width > s.view.Size().Width || size.Height < 150 {
				t.Errorf("the picture is %v on a page of %v", size, s.view.Size())
			}
		}
		return true
	})
	if n != 1 {
		t.Errorf("%d pictures are drawn", n)
	}
}

// TestSearching types a query, opens a result with Return, goes back, and closes the search with Escape.
func TestSearching(t *testing.T) {
	s, w := opened(t)
	s.Find()
	test.Type(s.search, "full disk")
	text := s.text()
	for _, want := range []string{"Running a study overnight: What Throng does by itself", "It pauses on a full disk", "Checkpoints and recovery: How a run ends"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not among the results:\n%s", want, text)
		}
	}
	s.search.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if s.Page() != "Running a study overnight" || s.scroll.Offset.Y == 0 || w.Canvas().Focused() != nil {
		t.Errorf("Return opens %s at %v", s.Page(), s.scroll.Offset)
	}
	if marks := words(s.marked); len(marks) != 2 {
		t.Errorf("marked is %q", marks)
	}
	test.Tap(s.back)
	if s.text() != text || s.search.Text != "full disk" {
		t.Errorf("back leads to %.60q, searched for is %q", s.text(), s.search.Text)
	}
	if !s.Leave() || s.Page() != "First steps" || s.search.Text != "" || s.Leave() {
		t.Errorf("left, it shows %s and searches %q", s.Page(), s.search.Text)
	}
	test.Type(s.search, "xyzzy")
	if !strings.Contains(s.text(), "No results") {
		t.Errorf("without results it shows %q", s.text())
	}
	s.search.SetText("")
	if s.Page() != "First steps" || !strings.HasPrefix(s.text(), "First steps") {
		t.Errorf("without a query it shows %.40q", s.text())
	}
}

// TestWhatIsFoundIsOpened checks that each search result opens the page at its passage.
func TestWhatIsFoundIsOpened(t *testing.T) {
	s, _ := opened(t)
	for _, query := range []string{"429", "acted event", "checkpoint interval"} {
		found := assets.Search(s.pages, query)
		if len(found) == 0 {
			t.Errorf("%q is not found", query)
		}
		for i := range found {
			p := &found[i]
			s.Open(link(p))
			if s.Page() != p.Page.Title {
				t.Errorf("%s opens %s", link(p), s.Page())
			}
			first, _, _ := strings.Cut(p.Text, "\n")
			if line := strings.Split(p.Page.Text, "\n")[p.Line]; line != first {
				t.Errorf("%q is reported in line %q", first, line)
			}
		}
	}
}

// TestBackAndForward checks that going back and forward restores the scroll position of each page.
func TestBackAndForward(t *testing.T) {
	s, _ := opened(t)
	if !s.back.Disabled() || !s.forward.Disabled() {
		t.Error("Back or Forward is enabled at the start")
	}
	s.key(fyne.KeyPageDown)
	read := s.scroll.Offset.Y
	s.Open("07-dashboard.md#cpu")
	test.Tap(s.back)
	if s.Page() != "First steps" || s.scroll.Offset.Y != read || read == 0 {
		t.Errorf("back is %s at %v, was read to %v", s.Page(), s.scroll.Offset, read)
	}
	test.Tap(s.forward)
	if s.Page() != "Reading the dashboard" || s.scroll.Offset.Y == 0 {
		t.Errorf("forward is %s at %v", s.Page(), s.scroll.Offset)
	}
	s.Turn(1)
	s.Open("09-checkpoints.md")
	if !s.forward.Disabled() || len(s.visits) != 3 {
		t.Errorf("there are %d visits", len(s.visits))
	}
}

// TestContents opens pages and headings by mouse and by keyboard.
func TestContents(t *testing.T) {
	s, w := opened(t)
	w.Canvas().Focus(s.contents)
	for _, want := range []string{"First steps", "First steps", "First steps", "First steps", "Your backend in ten minutes"} {
		s.contents.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
		if s.Page() != want {
			t.Errorf("%s is open, want %s", s.Page(), want)
		}
		s.contents.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDown})
	}
	for i, e := range s.contents.entries {
		if s.page(strings.Split(e.link, "#")[0]) == nil || e.page != (path.Ext(e.link) == ".md") {
			t.Errorf("line %d, %q, leads to %s", i, e.text, e.link)
		}
	}
	var items []fyne.Tappable
	uitest.Walk(s.contents, func(o fyne.CanvasObject) bool {
		if _, ok := o.(fyne.SecondaryTappable); ok {
			t.Errorf("%T covers the list and takes its taps", o)
		}
		if item, ok := o.(fyne.Tappable); ok && fmt.Sprintf("%T", o) == "*widget.listItem" {
			items = append(items, item)
		}
		return true
	})
	if len(items) < 15 {
		t.Fatalf("only %d lines are shown", len(items))
	}
	test.Tap(items[len(items)-1])
	if last := s.pages[len(s.pages)-1].Title; s.Page() != last {
		t.Errorf("a tap on the last line opens %s, want %s", s.Page(), last)
	}
}

// TestLargerText checks that a larger text size keeps the current passage in view.
func TestLargerText(t *testing.T) {
	s, _ := opened(t)
	s.Open("07-dashboard.md#failed-sessions")
	at, _ := s.view.Anchor("failed-sessions")
	high := s.view.MinSize().Height
	fyne.CurrentApp().Settings().SetTheme(skin.New("dark").Scaled(1.5))
	s.Content().Refresh()
	larger, _ := s.view.Anchor("failed-sessions")
	if larger < at*1.3 || s.view.MinSize().Height < high*1.3 {
		t.Errorf("the heading is at %v after %v", larger, at)
	}
	if off := s.scroll.Offset.Y - larger; off > 120 || off < -120 {
		t.Errorf("the heading is at %v, the page is scrolled to %v", larger, s.scroll.Offset.Y)
	}
}

// BenchmarkOpen opens each page in turn.
func BenchmarkOpen(b *testing.B) {
	test.NewTempApp(b).Settings().SetTheme(skin.New("light"))
	w := test.NewTempWindow(b, nil)
	s := New(w, start)
	w.SetContent(s.Content())
	w.Resize(fyne.NewSize(1100, 800))
	for i := range s.pages {
		s.parsed[s.pages[i].File] = prose.Parse(s.pages[i].Text)
	}
	for i := 0; b.Loop(); i++ {
		s.Open(s.pages[i%len(s.pages)].File)
	}
}
