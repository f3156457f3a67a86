package guide

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/ui/internal/prose"
)

// most is the maximum number of search results.
const most = 40

func words(text string) []string { return strings.Fields(strings.ToLower(text)) }

// find shows the passages with all words of a text, while it is being typed.
func (s *Screen) find(text string) {
	now := &s.visits[s.now]
	switch {
	case text == now.query: // already shown
		return
	case len(words(text)) == 0:
		if now.query != "" {
			s.Turn(-1)
		}
		return
	case now.query == "":
		s.visit(visit{page: now.page, query: text})
	default:
		now.query = text
	}
	s.marked, s.want = "", nil
	s.show("")
	s.scroll.ScrollToTop()
}

// results returns a page with the search results as links.
func (s *Screen) results(query string) *prose.Document {
	d := &prose.Document{}
	found := assets.Search(s.pages, query)
	switch {
	case len(found) == 0:
		d.Line("No results. Try fewer words.")
	case len(found) == 1:
		d.Line("1 result. Press Return to open it.")
	case len(found) > most:
		d.Line(fmt.Sprintf("%d results, showing the first %d. Press Return to open the first, or add a word to the search.", len(found), most))
	default:
		d.Line(fmt.Sprintf("%d results. Press Return to open the first.", len(found)))
	}
	for i := range found[:min(len(found), most)] {
		p := &found[i]
		title := p.Page.Title
		if p.Heading != title {
			title += ": " + p.Heading
		}
		d.Title(title, link(p))
		text := prose.Parse(readable(p.Text))
		text.Lead(func(link string) string { return target(p.Page, link) })
		d.Add(text)
	}
	return d
}

// link returns the link to a passage.
func link(p *assets.Passage) string { return fmt.Sprintf("%s#:%d", p.Page.File, p.Line) }

// readable returns a passage as text; a table row becomes its cells.
func readable(text string) string {
	if !strings.HasPrefix(text, "|") {
		return text
	}
	return strings.ReplaceAll(strings.Trim(text, "| "), " | ", ": ")
}

// first opens the first search result.
func (s *Screen) first() {
	if found := assets.Search(s.pages, s.visits[s.now].query); len(found) > 0 {
		s.Open(link(&found[0]))
		s.win.Canvas().Unfocus() // so that keys scroll the page
	}
}
