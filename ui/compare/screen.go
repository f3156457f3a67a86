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
	// most is how many runs are compared at once, and offered how many can be picked.
	most    = 4
	offered = 100

	noRun = "no other run"

	// pickEms is how wide a pick is at least, in letters' heights: where there is no room for four, two stand above the others.
	pickEms = 15
)

// Screen compares runs.
type Screen struct {
	desk    Desk
	visible bool
	asked   int // numbers what was asked of the desk: the newest answer counts

	runs    []engine.RunRecord
	picks   [most]*widget.Select
	options []string     // of picks, beside noRun
	filling bool         // the picks are being set
	wanted  engine.RunID // to be compared when the runs are read

	content fyne.CanvasObject
	trouble *widgets.Notice
	about   *form.Note
	result  *result
}

// New makes the screen.
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

// letter names a run where there is no room for its id.
func letter(i int) string { return string(rune('A' + i)) }

// Content is what the window shows.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Show looks at the store.
func (s *Screen) Show() {
	s.visible = true
	s.load()
}

// Hide is part of the window's screens.
func (s *Screen) Hide() { s.visible = false }

// Tick is part of the window's screens: what is compared does not change by itself.
func (s *Screen) Tick() {}

// Select chooses the run to compare others with.
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
		s.about.Say("Reading the runs…")
	}
	async.Work(func() ([]engine.RunRecord, error) { return s.desk.Runs(context.Background()) }, func(runs []engine.RunRecord, err error) {
		if asked != s.asked {
			return
		}
		if err != nil {
			s.trouble.Say("The runs could not be read; nothing was changed. Come back to this screen to try again. "+words.Trouble(err), widgets.Bad)
			return
		}
		s.offer(runs)
		s.compare()
	})
}

// offer fills the picks. What was picked stays; else the newest run, or the one that was asked for, is compared with its
// parent or one before it.
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

// pair is a run, or the newest, after what it is compared with unless a person chooses: its parent, or another run of
// its file.
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

// option is what a run is called in the picks.
func option(r *engine.RunRecord) string {
	text := words.Stamp(r.Created) + "  " + r.Title
	if r.Parent != "" {
		text += fmt.Sprintf(", fork at cycle %d", r.ForkCycle)
	}
	return text + "  " + string(r.ID)
}

// chosen are the runs that were picked, each once.
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

// compare asks for the comparison of what is picked.
func (s *Screen) compare() {
	s.asked++
	asked, runs := s.asked, s.chosen()
	if len(runs) < 2 {
		s.trouble.Say("", widgets.Bad)
		s.about.Say("Two runs are needed to compare: pick another, fork one in Checkpoints, or launch one with another seed, parameter or setting in Setup.")
		s.show(nil)
		return
	}
	s.about.Say("Reading " + count(len(runs), "run") + "…")
	async.Work(func() (*Comparison, error) { return s.desk.Compare(context.Background(), runs) }, func(c *Comparison, err error) {
		if asked != s.asked {
			return
		}
		if err != nil {
			s.trouble.Say("These runs cannot be compared; choose others. "+words.Trouble(err), widgets.Bad)
			s.about.Say("")
			s.show(nil)
			return
		}
		s.trouble.Say("", widgets.Bad)
		s.about.Say(about(c))
		s.show(c)
	})
}

// show shows a comparison; nil none.
func (s *Screen) show(c *Comparison) {
	s.result.show(c)
	s.content.Refresh() // what stands above may have more lines, and the result may have been hidden
}

// about says what is compared.
func about(c *Comparison) string {
	lines := []string{fmt.Sprintf("Cycles %d to %d, which all of them have done.", c.From, c.To-1)}
	for i, r := range c.Runs {
		text := letter(i) + ": " + engine.FormatCount(r.Sessions) + " sessions"
		if !r.Exact {
			text += ", inexact"
		}
		switch {
		case i == 0:
		case len(r.Differences) == 0:
			text += ", made like A"
		default:
			text += ", otherwise than A: " + words.Drawn(strings.Join(r.Differences, "; "))
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
