package designer

import (
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/draft"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// mostLines is how many lines of a kind the summary shows.
const mostLines = 4

// side is the summary of the form.
type side struct {
	runs    *form.Note
	count   *form.Note // how the number of runs comes about
	figures *fyne.Container
	lists   [4]*list
	scroll  *container.Scroll
	content fyne.CanvasObject
}

// The lists of the summary, in their order.
const (
	mistakes = iota
	warnings
	pairing
	unfit
)

// list is some lines below a title, hidden while there are none.
type list struct {
	lines *fyne.Container
	panel *widgets.Panel
}

func newSide() *side {
	s := &side{runs: form.NewNote(""), count: form.NewNote(""), figures: form.NewStack()}
	s.runs.TextSize = theme.SizeNameHeadingText
	all := form.NewPanels(widgets.NewPanel("", form.NewStack(s.runs, s.count, s.figures)))
	for i, title := range []string{"Before it can be saved", "Please note", "What weakens pairing", "Designs that do not fit"} {
		l := &list{lines: form.NewStack()}
		l.panel = widgets.NewPanel(title, l.lines)
		l.panel.Hide()
		s.lists[i] = l
		all.Add(l.panel)
	}
	s.scroll = container.NewVScroll(all)
	s.content = s.scroll
	s.runs.SetText("…")
	s.count.SetText(" ")
	return s
}

// wait mutes the number of runs, which is that of an earlier form. Everything stays in its place while a person types.
func (s *side) wait() { s.runs.SetText(s.runs.Text()) }

// unknown says that the check failed.
func (s *side) unknown() { s.runs.SetText("Not known") }

// show shows a result.
func (s *side) show(c *Checked) {
	if c.Wrong() {
		s.runs.SetText("Not known yet")
		s.count.SetText("Correct the marked fields first.")
	} else {
		s.runs.Say(engine.Counted(int64(c.Runs), "run", "runs"))
		s.count.SetText(counted(c))
		s.draw(c.Figures)
	}
	s.figures.Hidden = c.Wrong()
	var wrong, notes []string
	for i := range c.Mistakes {
		if m := &c.Mistakes[i]; m.Warning {
			notes = append(notes, line(m))
		} else {
			wrong = append(wrong, line(m))
		}
	}
	if c.OverBudget {
		notes = append([]string{"The forecast cost exceeds the budget. The experiment will stop when it is used up, and can be continued with more."}, notes...)
	}
	s.lists[mistakes].show(wrong, (*form.Note).SetProblem)
	s.lists[warnings].show(notes, (*form.Note).SetWarning)
	s.lists[pairing].show(c.Pairing, (*form.Note).SetText)
	var why []string
	for _, kind := range draft.Kinds() {
		if text := c.Unfit[kind]; text != "" {
			why = append(why, labels[kind]+": "+text+".")
		}
	}
	s.lists[unfit].show(why, (*form.Note).SetText)
	s.scroll.Content.Refresh()
	s.scroll.Refresh()
}

// counted explains the number of runs.
func counted(c *Checked) string {
	text := engine.Counted(int64(c.Points), "point", "points") + " × " + engine.Counted(int64(c.Seeds), "seed", "seeds")
	if c.Done > 0 {
		text += fmt.Sprintf("; %s done already", engine.FormatCount(int64(c.Done)))
	}
	return text
}

// line describes a mistake.
func line(m *draft.Mistake) string {
	if m.Field == "" {
		return fmt.Sprintf("Line %d: %s", m.Line, words.Sentence(m.String()))
	}
	return words.Sentence(m.String())
}

// draw shows the figures.
func (s *side) draw(all []Figure) {
	s.figures.RemoveAll()
	for _, f := range all {
		name := widgets.NewCaption(strings.ToUpper(f.Name[:1]) + f.Name[1:])
		s.figures.Add(container.NewBorder(nil, nil, name, nil, widgets.NewText(f.Text).Align(fyne.TextAlignTrailing)))
	}
}

// show shows lines, and hides the panel if there are none.
func (l *list) show(all []string, say func(n *form.Note, text string)) {
	l.lines.RemoveAll()
	all = slices.Compact(all)
	for i, text := range all {
		n := form.NewNote("")
		if i == mostLines {
			n.SetText(fmt.Sprintf("and %d more", len(all)-i))
			l.lines.Add(n)
			break
		}
		say(n, text)
		l.lines.Add(n)
	}
	l.panel.Hidden = len(all) == 0
}
