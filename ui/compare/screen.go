package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

const (
	// maximum number of compared runs, and of runs in the selection
	most    = 4
	offered = 100

	noRun = "none"

	// pickEms is the minimum width of a selection, in text heights. If the width is too small for four, they take two lines.
	pickEms = 15
)

// Screen compares runs.
type Screen struct {
	desk    Desk
	visible bool
	asked   int // number of the newest request; results of older ones are dropped

	runs    []engine.RunRecord
	picks   [most]*widget.Select
	options []string     // of the selections, in addition to noRun
	filling bool         // the program sets the selections
	wanted  engine.RunID // the run to compare after the runs were read

	content fyne.CanvasObject
	trouble *widgets.Notice
	about   *form.Note
	result  *result
}

// New returns the screen.
func New(desk Desk) *Screen {
	s := &Screen{desk: desk, trouble: widgets.NewNotice(), about: form.NewNote(""), result: newResult()}
	var picks [most]fyne.CanvasObject
	for i := range s.picks {
		s.picks[i] = widget.NewSelect(nil, func(string) { s.picked() })
		s.picks[i].PlaceHolder = noRun
		title := widgets.NewCaption("Compare run " + letter(i))
		if i > 0 {
			title = widgets.NewCaption("with run " + letter(i))
		}
		picks[i] = container.NewBorder(title, nil, nil, nil, form.NewFrame(s.picks[i]))
	}
	all := form.NewColumns(2*pickEms, form.NewColumns(pickEms, picks[:2]...), form.NewColumns(pickEms, picks[2:]...))
	s.content = form.NewHeaded(widgets.NewPanel("", form.NewStack(all, s.trouble, s.about)), s.result.content)
	return s
}

// letter returns the letter that stands for a run.
func letter(i int) string { return string(rune('A' + i)) }

// Content returns the screen's content.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Show is called when the screen becomes visible. It reads the store.
func (s *Screen) Show() {
	s.visible = true
	s.load()
}

// Hide is called when the screen becomes hidden.
func (s *Screen) Hide() { s.visible = false }

// Tick does nothing: a comparison does not change.
func (s *Screen) Tick() {}

// Select chooses the baseline.
func (s *Screen) Select(run engine.RunID) {
	s.wanted = run
	if s.visible {
		s.load()
	}
}

// load reads the runs.
func (s *Screen) load() {
	s.asked++
	asked := s.asked
	if s.runs == nil {
		s.about.Say("Loading runs…")
	}
	async.Work(func() ([]engine.RunRecord, error) { return s.desk.Runs(context.Background()) }, func(runs []engine.RunRecord, err error) {
		if asked != s.asked {
			return
		}
		if err != nil {
			s.trouble.Say("Cannot read the runs. Reopen this screen to try again. "+words.Trouble(err), widgets.Bad)
			return
		}
		s.offer(runs)
		s.compare()
	})
}

// offer fills the selections. It keeps the chosen runs; otherwise it compares the wanted or the newest run with its parent or a similar
// earlier run.
func (s *Screen) offer(runs []engine.RunRecord) {
	before := s.chosen()
	s.runs = runs[:min(len(runs), offered)]
	s.options = s.options[:0]
	for i := range s.runs {
		s.options = append(s.options, option(&s.runs[i]))
	}
	if s.wanted != "" || len(before) < 2 {
		before = s.pair(s.wanted)
		s.wanted = ""
	}
	s.filling = true
	for i, p := range s.picks {
		p.Options = append([]string{noRun}, s.options...)
		p.ClearSelected()
		if i < len(before) {
			p.SetSelected(s.optionOf(before[i]))
		}
	}
	s.filling = false
}

// pair returns a run, or the newest, preceded by its default baseline: its parent, or another run of the same file.
func (s *Screen) pair(run engine.RunID) []engine.RunID {
	i := max(slices.IndexFunc(s.runs, func(r engine.RunRecord) bool { return r.ID == run }), 0)
	if i >= len(s.runs) {
		return nil
	}
	r := &s.runs[i]
	other := slices.IndexFunc(s.runs, func(o engine.RunRecord) bool { return o.ID == r.Parent })
	if other < 0 {
		other = slices.IndexFunc(s.runs, func(o engine.RunRecord) bool { return o.ID != r.ID && o.Source.Name == r.Source.Name })
	}
	if other < 0 {
		return []engine.RunID{r.ID}
	}
	return []engine.RunID{s.runs[other].ID, r.ID}
}

func (s *Screen) optionOf(run engine.RunID) string {
	if i := slices.IndexFunc(s.runs, func(r engine.RunRecord) bool { return r.ID == run }); i >= 0 {
		return s.options[i]
	}
	return ""
}

// option returns the name of a run in the selections.
func option(r *engine.RunRecord) string {
	text := words.Stamp(r.Created) + "  " + r.Title
	if r.Parent != "" {
		text += fmt.Sprintf(", fork at cycle %d", r.ForkCycle)
	}
	return text + "  " + string(r.ID)
}

// chosen returns the chosen runs without duplicates.
func (s *Screen) chosen() (runs []engine.RunID) {
	for _, p := range s.picks {
		if i := slices.Index(s.options, p.Selected); i >= 0 && !slices.Contains(runs, s.runs[i].ID) {
			runs = append(runs, s.runs[i].ID)
		}
	}
	return runs
}

func (s *Screen) picked() {
	if !s.filling {
		s.compare()
	}
}

// compare requests the comparison of the chosen runs.
func (s *Screen) compare() {
	s.asked++
	asked, runs := s.asked, s.chosen()
	if len(runs) < 2 {
		s.trouble.Say("", widgets.Bad)
		s.about.Say("A comparison needs two runs. Choose another one, fork a run in Checkpoints, or launch one with another seed, parameter or setting in Setup.")
		s.show(nil)
		return
	}
	s.about.Say("Reading " + count(len(runs), "run") + "…")
	async.Work(func() (*Comparison, error) { return s.desk.Compare(context.Background(), runs) }, func(c *Comparison, err error) {
		if asked != s.asked {
			return
		}
		if err != nil {
			s.trouble.Say("These runs cannot be compared. Choose others. "+words.Trouble(err), widgets.Bad)
			s.about.Say("")
			s.show(nil)
			return
		}
		s.trouble.Say("", widgets.Bad)
		s.about.Say(about(c))
		s.show(c)
	})
}

// show shows a comparison; nil hides it.
func (s *Screen) show(c *Comparison) {
	s.result.show(c)
	s.content.Refresh() // the height of the heading or the visibility of the result may have changed
}

// about describes a comparison.
func about(c *Comparison) string {
	lines := []string{fmt.Sprintf("Cycles %d to %d, which all runs have completed.", c.From, c.To-1)}
	for i, r := range c.Runs {
		text := letter(i) + ": " + engine.FormatCount(r.Sessions) + " sessions"
		if !r.Exact {
			text += ", inexact"
		}
		switch {
		case i == 0:
		case len(r.Differences) == 0:
			text += ", same setup as A"
		default:
			text += ", different from A: " + words.Drawn(strings.Join(r.Differences, "; "))
		}
		lines = append(lines, text+".")
	}
	return strings.Join(lines, "\n")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
