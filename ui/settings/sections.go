package settings

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Titles of the sections with a panel of their own.
const (
	General       = "General"
	Notifications = "Notifications"
	Storage       = "Storage"
	Database      = "Database"
	Privacy       = "Privacy"
)

// defaultsTitle is the caption above the groups of run settings.
const defaultsTitle = "Defaults of new runs"

// item is what a search finds: a setting's label and its help.
type item struct{ label, help string }

// section is a page of the settings.
type section struct {
	title string
	panel fyne.CanvasObject // nil for a group of run settings
	items []item
}

// found returns the labels of the settings of a section that have all words of a search in their label, help or section.
func (s *section) found(looked string) (labels []string) {
	for _, i := range s.items {
		if hasWords(s.title+" "+i.label+" "+i.help, looked) {
			labels = append(labels, i.label)
		}
	}
	return labels
}

// hasWords reports whether a text has all words of a search.
func hasWords(text, looked string) bool {
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(looked)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// sections shows one section at the right of their list, and a search above the list.
type sections struct {
	content  fyne.CanvasObject
	look     *form.Entry // the search
	index    *index
	none     *form.Note // shown if the search finds nothing
	hits     *form.Note // names what the search finds in the open section, if that also shows other settings
	problem  *form.Note // why the run settings cannot be read
	panels   []section
	defaults *defaults
	body     *fyne.Container // of all panels; one is visible
	page     *container.Scroll
	list     *container.Scroll // of the index
	chosen   string
}

func newSections(d *defaults, panels ...section) *sections {
	s := &sections{look: form.NewEntry(), none: form.NewNote("No matching settings. Try fewer words, or a part of a word."), hits: form.NewNote(""), panels: panels, defaults: d, body: container.NewStack(), chosen: panels[0].title}
	s.look.SetPlaceHolder("Search settings")
	s.look.OnChanged = func(string) { s.search() }
	s.look.Escaped = func() { s.look.SetText("") }
	s.look.Arrowed = func(by int) { s.index.move(by) }
	s.index = newIndex(s.open)
	s.problem = form.NewNote("Loading settings…")
	s.none.Hide()
	for _, p := range panels {
		s.body.Add(p.panel)
	}
	s.body.Add(d.panel)
	s.page = container.NewVScroll(container.New(capped{}, form.NewStack(s.hits, s.body)))
	s.list = container.NewVScroll(form.NewStack(s.none, s.index, s.problem))
	s.look.Page = s.list
	side := widgets.NewPanel("", container.NewBorder(container.NewVBox(s.look), nil, nil, nil, s.list))
	s.content = container.New(listAndPage{}, side, s.page)
	s.search()
	return s
}

// all returns the sections: the panels, then the groups of run settings.
func (s *sections) all() []section {
	all := append([]section{}, s.panels...)
	for _, p := range grouped(s.defaults.shown) {
		one := section{title: p.title}
		for _, of := range p.settings {
			one.items = append(one.items, item{of.Title, of.Name + " " + of.Help + " " + of.Value + " " + of.From})
		}
		all = append(all, one)
	}
	return all
}

// read shows the settings that were read, or why they could not be read.
func (s *sections) read(err error) {
	s.problem.SetProblem("")
	if s.problem.Hidden = err == nil; err != nil {
		s.problem.SetProblem("Cannot read the defaults of runs. " + words.Trouble(err))
	}
	s.search()
}

// search lists the sections with settings that match the search, and opens the first if the open one has none.
func (s *sections) search() {
	var entries []entry
	here, titled := false, false
	for _, one := range s.all() {
		n := len(one.found(s.look.Text))
		if n == 0 {
			continue
		}
		if one.panel == nil && !titled {
			entries, titled = append(entries, entry{title: defaultsTitle, caption: true}), true
		}
		e := entry{title: one.title}
		if strings.TrimSpace(s.look.Text) != "" {
			e.found = n
		}
		entries, here = append(entries, e), here || one.title == s.chosen
	}
	s.none.Hidden = len(entries) > 0
	s.index.set(entries)
	if !here && len(entries) > 0 {
		s.index.choose(firstOf(entries))
		return
	}
	s.show()
}

// firstOf returns the title of the first entry that can be chosen.
func firstOf(entries []entry) string {
	for _, e := range entries {
		if !e.caption {
			return e.title
		}
	}
	return ""
}

// open opens a section.
func (s *sections) open(title string) {
	if s.chosen != title {
		s.chosen = title
		s.page.ScrollToTop()
	}
	s.show()
}

// show shows the open section.
func (s *sections) show() {
	s.index.mark(s.chosen)
	if at := s.index.line(s.chosen); at != nil {
		form.Reveal(s.list, at)
	}
	own, hits := false, ""
	for _, p := range s.panels {
		visible := p.title == s.chosen
		own = own || visible
		if visible && s.none.Hidden && strings.TrimSpace(s.look.Text) != "" {
			hits = "Found here: " + strings.Join(p.found(s.look.Text), ", ") + "."
		}
		see(p.panel, visible && s.none.Hidden)
	}
	see(s.defaults.panel, !own && s.none.Hidden)
	if !own {
		s.defaults.open(s.chosen, s.look.Text)
	}
	s.hits.Hidden = hits == ""
	s.hits.SetText(hits)
	s.body.Refresh()
	s.page.Refresh()
}

// see shows or hides an object.
func see(o fyne.CanvasObject, visible bool) {
	switch {
	case o.Visible() == visible:
	case visible:
		o.Show()
	default:
		o.Hide()
	}
}

// Widths in text heights.
const (
	listEms     = 15
	leastPage   = 24 // of the section; narrower windows have a narrower list
	leastList   = 9
	mostPageEms = 72
)

// listAndPage lays out the list of the sections, and the open section at its right.
type listAndPage struct{}

// Layout implements [fyne.Layout].
func (listAndPage) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	em, between := theme.TextSize(), 2*theme.Padding()
	width := max(min(listEms*em, size.Width-between-leastPage*em), leastList*em)
	objects[0].Move(fyne.Position{})
	objects[0].Resize(fyne.NewSize(width, size.Height))
	objects[1].Move(fyne.NewPos(width+between, 0))
	objects[1].Resize(fyne.NewSize(max(size.Width-width-between, 0), size.Height))
}

// MinSize implements [fyne.Layout].
func (listAndPage) MinSize(objects []fyne.CanvasObject) fyne.Size {
	page := objects[1].MinSize()
	return fyne.NewSize(leastList*theme.TextSize()+2*theme.Padding()+page.Width, max(page.Height, objects[0].MinSize().Height))
}

// capped limits the width of a section, so that its lines are easy to read.
type capped struct{}

// Layout implements [fyne.Layout].
func (capped) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	form.Fit(objects[0], min(size.Width, mostPageEms*theme.TextSize()))
}

// MinSize implements [fyne.Layout]. The height is for the width of the last layout.
func (capped) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }
