// Package guide shows the guide: a list of its pages, one page, and search results.
package guide

import (
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/prose"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Screen is the guide. Call its methods on the UI goroutine.
type Screen struct {
	win           fyne.Window
	pages         []assets.Page
	parsed        map[string]*prose.Document // by the page's file
	view          *prose.View
	scroll        *container.Scroll
	contents      *contents
	search        *form.Entry
	back, forward *widget.Button
	content       fyne.CanvasObject

	visits []visit
	now    int    // index of the current visit
	marked string // the marked heading or line
	want   func() // scrolls to the position of the visit, once the page has a height
}

// visit is a visited page with its scroll position, or a search.
type visit struct {
	page   *assets.Page
	query  string // "" for a page
	offset float32
}

// New returns the guide, opened at a target of [Screen.Open].
func New(win fyne.Window, target string) *Screen {
	s := &Screen{win: win, pages: assets.Pages(), parsed: map[string]*prose.Document{}}
	s.view = prose.NewView(prose.Ways{Follow: s.Open, Picture: s.picture, Scroll: s.key, Height: s.resized})
	margin := 3 * theme.Padding()
	s.scroll = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(margin, 2*margin, margin, margin), s.view))
	s.search = form.NewEntry()
	s.search.SetPlaceHolder("Search the guide")
	s.search.OnChanged = s.find
	s.search.OnSubmitted = func(string) { s.first() }
	s.search.Escaped = func() { s.Leave() }
	s.back = widget.NewButtonWithIcon("Back", theme.NavigateBackIcon(), func() { s.Turn(-1) })
	s.forward = widget.NewButtonWithIcon("Forward", theme.NavigateNextIcon(), func() { s.Turn(1) })
	s.contents = newContents(s.Open)
	bar := container.NewBorder(nil, nil, container.NewHBox(s.back, s.forward), nil, s.search)
	sheet := container.New(fitted{s, margin}, s.scroll)
	s.content = container.NewPadded(container.NewBorder(bar, nil, form.NewSized(widest, s.contents), nil, sheet))
	s.Open(target)
	return s
}

// widest is the text that sets the width of the contents.
const widest = "Your own backend in ten minutes and"

// Content returns the screen's content.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Show does nothing, like Hide and Tick, because a page does not change.
func (s *Screen) Show() {}

// Hide does nothing.
func (s *Screen) Hide() {}

// Tick does nothing.
func (s *Screen) Tick() {}

// Actions returns the actions on the guide, for the menus and shortcuts.
func (s *Screen) Actions() []action.Action {
	return []action.Action{
		{Name: "Find…", Menu: "Edit", Key: fyne.KeyF, Modifier: action.Command, Do: s.Find},
		action.Press(s.back, action.Action{Name: "Back", Menu: "View", Key: fyne.KeyLeftBracket, Modifier: action.Command}),
		action.Press(s.forward, action.Action{Name: "Forward", Menu: "View", Key: fyne.KeyRightBracket, Modifier: action.Command}),
	}
}

// Leave returns from a search to the page; it returns false if there is no search.
func (s *Screen) Leave() bool {
	searching := s.visits[s.now].query != ""
	if !searching && s.marked == "" {
		return false
	}
	s.win.Canvas().Unfocus()
	if searching {
		s.Turn(-1)
		return true
	}
	s.marked = ""
	s.view.Mark(nil)
	return true
}

// Find focuses the search field.
func (s *Screen) Find() {
	s.win.Canvas().Focus(s.search)
	s.search.TypedShortcut(&fyne.ShortcutSelectAll{})
}

// Copy copies the selected text of the page.
func (s *Screen) Copy() { s.view.Copy() }

// SelectAll selects the whole page.
func (s *Screen) SelectAll() { s.view.SelectAll() }

// Page returns the title of the open page.
func (s *Screen) Page() string { return s.visits[s.now].page.Title }

// Open opens a page by its file, at a heading (#name) or a line (#:number); a file to save; or a web address.
func (s *Screen) Open(target string) {
	if u, err := url.Parse(target); err == nil && u.Scheme != "" {
		if err := fyne.CurrentApp().OpenURL(u); err != nil {
			widgets.Complain(s.win, err)
		}
		return
	}
	name, place, _ := strings.Cut(target, "#")
	page := s.page(name)
	if page == nil {
		s.save(name)
		return
	}
	s.marked = ""
	if len(s.visits) > 0 {
		s.marked = s.visits[s.now].query
	}
	s.visit(visit{page: page})
	s.want = func() { s.goTo(place) }
	s.show(place)
}

// visit adds a visit after the current one.
func (s *Screen) visit(v visit) {
	s.leave()
	s.visits = append(s.visits[:min(s.now+1, len(s.visits))], v)
	s.now = len(s.visits) - 1
}

func (s *Screen) page(file string) *assets.Page {
	for i := range s.pages {
		if s.pages[i].File == file {
			return &s.pages[i]
		}
	}
	return nil
}

// leave stores the scroll position of the current visit.
func (s *Screen) leave() {
	if len(s.visits) > 0 {
		s.visits[s.now].offset = s.scroll.Offset.Y
	}
}

// Turn moves back or forward in the visits.
func (s *Screen) Turn(by int) {
	to := s.now + by
	if to < 0 || to >= len(s.visits) {
		return
	}
	s.leave()
	s.now, s.marked = to, ""
	offset := s.visits[to].offset
	s.want = func() { s.scroll.ScrollToOffset(fyne.NewPos(0, offset)) }
	s.show("")
}

// show shows the page or the search of the current visit; place is the chosen heading.
func (s *Screen) show(place string) {
	v := s.visits[s.now]
	if s.marked == "" {
		s.search.SetText(v.query)
	}
	if v.query != "" {
		s.view.Set(s.results(v.query), words(v.query))
	} else {
		d := s.document(v.page)
		s.view.Set(d, words(s.marked))
		s.contents.set(s.pages, v.page, d.Headings(), place)
	}
	able(s.back, s.now > 0)
	able(s.forward, s.now < len(s.visits)-1)
	s.settle()
}

func able(b *widget.Button, can bool) {
	if can {
		b.Enable()
	} else {
		b.Disable()
	}
}

// settle scrolls to the position of the visit, once the page has a height.
func (s *Screen) settle() {
	if s.want != nil && s.scroll.Size().Height > 0 {
		s.want()
		s.want = nil
	}
}

// goTo scrolls to a heading or a line.
func (s *Screen) goTo(place string) {
	y, _ := s.view.Anchor(place)
	if number, ok := strings.CutPrefix(place, ":"); ok {
		if line, err := strconv.Atoi(number); err == nil {
			y = s.view.Line(line) - 2*theme.TextSize() // with some context above
		}
	}
	s.scroll.ScrollToOffset(fyne.NewPos(0, y))
}

// resized keeps the text that is being read in view when the text size or the width of the window changes.
func (s *Screen) resized(now func(y float32) float32) {
	offset := s.scroll.Offset.Y
	s.scroll.Refresh()
	if offset > 0 {
		s.scroll.ScrollToOffset(fyne.NewPos(0, now(offset)))
	}
}

func (s *Screen) document(page *assets.Page) *prose.Document {
	d := s.parsed[page.File]
	if d == nil {
		d = prose.Parse(page.Text)
		d.Lead(func(link string) string { return target(page, link) })
		s.parsed[page.File] = d
	}
	return d
}

// target resolves a link of a page.
func target(page *assets.Page, link string) string {
	if u, err := url.Parse(link); err == nil && u.Scheme != "" {
		return link
	}
	name, place, anchored := strings.Cut(link, "#")
	if name == "" {
		name = path.Base(page.File)
	}
	name = path.Join(path.Dir(page.File), name)
	if anchored {
		name += "#" + place
	}
	return name
}

// picture reads a picture by its path relative to the pages.
func (s *Screen) picture(name string) fyne.Resource {
	data, err := assets.Linked(name)
	if err != nil { // a test checks that all pictures exist
		return nil
	}
	return fyne.NewStaticResource(name, data)
}

// save saves a file of the guide in a folder that the user picks.
func (s *Screen) save(name string) {
	data, err := assets.Linked(name)
	if err != nil {
		widgets.Complain(s.win, err)
		return
	}
	widgets.PickSave(s.win, "Save "+path.Base(name), path.Base(name), func(to string) {
		if err := os.WriteFile(to, data, 0o600); err != nil {
			widgets.Complain(s.win, err)
		}
	})
}

// key scrolls the page.
func (s *Screen) key(key fyne.KeyName) {
	page := s.scroll.Size().Height
	by, known := map[fyne.KeyName]float32{
		fyne.KeyUp: -3 * theme.TextSize(), fyne.KeyDown: 3 * theme.TextSize(), fyne.KeyPageUp: -0.9 * page, fyne.KeyPageDown: 0.9 * page, fyne.KeySpace: 0.9 * page,
		fyne.KeyHome: -s.scroll.Content.Size().Height, fyne.KeyEnd: s.scroll.Content.Size().Height,
	}[key]
	if known {
		s.scroll.ScrollToOffset(fyne.NewPos(0, s.scroll.Offset.Y+by))
	}
}

// Typed scrolls the page. It receives keys that no widget handles.
func (s *Screen) Typed(key fyne.KeyName) { s.key(key) }

// fitted sets the width of the page before its height is needed.
type fitted struct {
	screen *Screen
	margin float32
}

// MinSize implements [fyne.Layout].
func (f fitted) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSquareSize(20 * theme.TextSize())
}

// Layout implements [fyne.Layout].
func (f fitted) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	f.screen.view.SetWidth(size.Width - 2*f.margin)
	objects[0].Resize(size)
	f.screen.settle()
}
