package guide

import (
	"fmt"
	"strings"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/ui/internal/prose"
)

// most is how many passages are shown that were found.
const most = 40

func words(text string) []string { return strings.Fields(strings.ToLower(text)) }

// find shows the passages that hold all words of a text, as it is typed.
func (s *Screen) find(text string) {
	now := &s.visits[s.now]
	switch {
	case text == now.query: // it is shown
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

// results are the passages that were found, each below a line that leads to it.
func (s *Screen) results(query string) *prose.Document {
	d := &prose.Document{}
	found := assets.Search(s.pages, query)
	switch {
	case len(found) == 0:
		d.Line("No passage of the guide holds all of these words. Fewer words find more.")
	case len(found) == 1:
		d.Line("One passage. Return opens it.")
	case len(found) > most:
		d.Line(fmt.Sprintf("%d passages, the first %d of them. Return opens the first; another word finds fewer.", len(found), most))
	default:
		d.Line(fmt.Sprintf("%d passages. Return opens the first.", len(found)))
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

// link leads to a passage.
func link(p *assets.Passage) string { return fmt.Sprintf("%s#:%d", p.Page.File, p.Line) }

// readable is a passage as it stands alone: of a row of a table, its cells.
func readable(text string) string {
	if !strings.HasPrefix(text, "|") {
		return text
	}
	return strings.ReplaceAll(strings.Trim(text, "| "), " | ", ": ")
}

// first opens the first passage that was found.
func (s *Screen) first() {
	if found := assets.Search(s.pages, s.visits[s.now].query); len(found) > 0 {
		s.Open(link(&found[0]))
		s.win.Canvas().Unfocus() // the keys scroll now
	}
}
