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
	"github.com/throng-sim/throng/engine/compare"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

const (
	// maximum number of compared runs, and of runs in the selection
	most    = 4
	offered = 100

	noRun  = "none"
	anyRun = "All experiments"

	// pickEms is the minimum width of a selection, in text heights. If the width is too small for four, they take two lines.
	pickEms = 15
)

// Screen compares runs.
type Screen struct {
	desk    Desk
	visible bool
	asked   int // number of the newest request; results of older ones are dropped

	read    []engine.RunRecord // all runs
	within  *widget.Select     // the experiment whose runs are offered; hidden without experiments
	runs    []engine.RunRecord // as offered
	picks   [most]*widget.Select
	options []string       // of the selections, in addition to noRun
	filling bool           // the program sets the selections
	wanted  []engine.RunID // the runs to compare after the runs were read

	pinned *widget.Check // keeps run A when another run is compared
	seeds  *widget.Check // compares each run together with the other seeds of its setup
	auto   bool          // the program chose the runs

	content fyne.CanvasObject
	empty   *empty
	trouble *widgets.Notice
	about   *form.Note
	result  *result
}

// New returns the screen.
func New(desk Desk) *Screen {
	s := &Screen{desk: desk, trouble: widgets.NewNotice(), about: form.NewNote("")}
	s.result = newResult(func(runs []engine.RunID, then func([]*view.Curves, error)) {
		async.Work(func() ([]*view.Curves, error) { return s.desk.Curves(context.Background(), runs) }, then)
	})
	var picks [most]fyne.CanvasObject
	for i := range s.picks {
		s.picks[i] = widget.NewSelect(nil, func(string) { s.picked() })
		s.picks[i].PlaceHolder = noRun
		title := widgets.NewCaption("Run " + letter(i))
		if i == 0 {
			title = widgets.NewCaption("Run A, the baseline")
		}
		picks[i] = container.NewBorder(title, nil, nil, nil, form.NewFrame(widgets.NewWhole(s.picks[i])))
	}
	all := form.NewColumns(2*pickEms, form.NewColumns(pickEms, picks[:2]...), form.NewColumns(pickEms, picks[2:]...))
	s.empty, s.pinned = newEmpty(), widget.NewCheck("Pin baseline", nil)
	s.seeds = widget.NewCheck("All seeds", func(bool) { s.compare() })
	s.within = widget.NewSelect([]string{anyRun}, func(string) {
		if s.read != nil {
			s.offer(s.read)
			s.compare()
		}
	})
	s.within.Selected, s.within.Hidden = anyRun, true
	about := container.NewBorder(nil, nil, nil, container.NewVBox(s.within, s.pinned, s.seeds), s.about)
	s.content = form.NewHeaded(widgets.NewPanel("", form.NewStack(all, s.trouble, about)), container.NewStack(s.result.content, s.empty.content))
	return s
}

// Lead sets the way to Setup, where runs are launched; nil hides its button.
func (s *Screen) Lead(setup func()) { s.empty.lead(setup) }

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

// Select chooses runs, the baseline first. With one, the screen chooses another.
func (s *Screen) Select(runs ...engine.RunID) {
	s.wanted = runs
	if s.visible {
		s.load()
	}
}

// load reads the runs.
func (s *Screen) load() {
	s.asked++
	asked := s.asked
	if s.read == nil {
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
	before := s.Chosen()
	s.read = runs
	s.offerExperiments()
	s.runs = nil
	for i := range runs {
		if len(s.runs) < offered && s.belongs(&runs[i]) {
			s.runs = append(s.runs, runs[i])
		}
	}
	before = slices.DeleteFunc(before, func(run engine.RunID) bool { return s.record(run) == nil })
	s.options = s.options[:0]
	for i := range s.runs {
		s.options = append(s.options, option(&s.runs[i]))
	}
	switch {
	case len(s.wanted) > 1:
		before, s.auto = s.wanted, false
	case len(s.wanted) == 1:
		before, s.auto = s.pair(s.wanted[0], before), true
	case len(before) < 2:
		before, s.auto = s.pair("", before), true
	}
	s.wanted = nil
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

// pair returns a run preceded by its baseline: the pinned one, its parent, or another run of the same file. Without a wanted
// run it returns the two newest runs that can be compared; with fewer than two, none.
func (s *Screen) pair(wanted engine.RunID, before []engine.RunID) []engine.RunID {
	if s.pinned.Checked && len(before) > 0 && wanted != "" && before[0] != wanted {
		return []engine.RunID{before[0], wanted}
	}
	for i := range s.runs {
		r := &s.runs[i]
		if wanted != "" && r.ID != wanted {
			continue
		}
		for _, fits := range []func(o *engine.RunRecord) bool{
			func(o *engine.RunRecord) bool { return o.ID == r.Parent },
			func(o *engine.RunRecord) bool { return o.Source.Name == r.Source.Name },
			func(*engine.RunRecord) bool { return wanted == "" },
		} {
			for k := range s.runs {
				if o := &s.runs[k]; o.ID != r.ID && fits(o) && comparable(o, r) {
					return []engine.RunID{o.ID, r.ID}
				}
			}
		}
		if wanted != "" {
			return []engine.RunID{r.ID}
		}
	}
	return nil
}

// comparable reports whether two runs have completed a common cycle.
func comparable(a, b *engine.RunRecord) bool {
	from, to := compare.Common([]engine.RunRecord{*a, *b})
	return from < to && a.Damage == "" && b.Damage == ""
}

func (s *Screen) optionOf(run engine.RunID) string {
	if r := s.record(run); r != nil {
		return option(r)
	}
	return ""
}

// record returns an offered run, or nil.
func (s *Screen) record(run engine.RunID) *engine.RunRecord {
	if i := slices.IndexFunc(s.runs, func(r engine.RunRecord) bool { return r.ID == run }); i >= 0 {
		return &s.runs[i]
	}
	return nil
}

// offerExperiments offers the experiments of the runs. Wanted runs that do not belong to the chosen one are offered with all others.
func (s *Screen) offerExperiments() {
	names := []string{anyRun}
	for i := range s.read {
		if name := s.read[i].Experiment; name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names[1:])
	chosen := s.within.Selected
	for i := range s.read {
		if slices.Contains(s.wanted, s.read[i].ID) && !s.belongs(&s.read[i]) {
			chosen = anyRun
		}
	}
	if !slices.Contains(names, chosen) {
		chosen = anyRun
	}
	s.within.Options, s.within.Selected, s.within.Hidden = names, chosen, len(names) == 1
	s.within.Refresh()
}

// belongs reports whether a run belongs to the chosen experiment.
func (s *Screen) belongs(r *engine.RunRecord) bool {
	return s.within.Selected == anyRun || r.Experiment == s.within.Selected
}

// option returns the name of a run in the selections.
func option(r *engine.RunRecord) string {
	text := words.Stamp(r.Created) + "  " + r.DisplayName()
	if r.Parent != "" {
		text += fmt.Sprintf(", fork at cycle %d", r.ForkCycle)
	}
	return text + "  " + string(r.ID)
}

// Chosen returns the chosen runs without duplicates.
func (s *Screen) Chosen() (runs []engine.RunID) {
	for _, p := range s.picks {
		if i := slices.Index(s.options, p.Selected); i >= 0 && !slices.Contains(runs, s.runs[i].ID) {
			runs = append(runs, s.runs[i].ID)
		}
	}
	return runs
}

func (s *Screen) picked() {
	if !s.filling {
		s.auto = false
		s.compare()
	}
}

// compare requests the comparison of the chosen runs.
func (s *Screen) compare() {
	s.asked++
	asked, runs, seeds := s.asked, s.Chosen(), s.seeds.Checked
	s.trouble.Say("", widgets.Bad)
	if len(runs) < 2 {
		s.about.Say("")
		s.empty.say(s.missing(runs))
		s.show(nil)
		return
	}
	s.empty.say("", "")
	s.about.Say("Reading " + count(len(runs), "run") + "…")
	async.Work(func() (*Comparison, error) { return s.desk.Compare(context.Background(), runs, seeds) }, func(c *Comparison, err error) {
		if asked != s.asked {
			return
		}
		if err != nil {
			s.about.Say("")
			if s.auto {
				s.empty.say("Nothing to compare yet", "The two newest runs cannot be compared. Choose others above, or launch another run in Setup.")
			} else {
				s.trouble.Say("These runs cannot be compared. Choose others. "+words.Trouble(err), widgets.Warning)
			}
			s.show(nil)
			return
		}
		s.trouble.Say("", widgets.Bad)
		s.about.Say(about(c))
		s.show(c)
	})
}

// missing says what a comparison needs.
func (s *Screen) missing(chosen []engine.RunID) (title, text string) {
	switch {
	case len(chosen) == 1 && len(s.runs) > 1:
		return "Choose a second run", "Choose run B above, or launch one with another seed, parameter or setting in Setup."
	case len(s.runs) == 1:
		return "One run so far", "Launch another in Setup, with another seed, parameter or setting. Both appear here next to each other."
	case len(s.runs) > 1:
		return "Nothing to compare yet", "Two runs must have completed a common cycle. Choose runs above, or launch one in Setup."
	default:
		return "No runs yet", "Launch two runs in Setup. They appear here next to each other, with what differs between them."
	}
}

// show shows a comparison; nil hides it.
func (s *Screen) show(c *Comparison) {
	s.result.show(c)
	s.content.Refresh() // the height of the heading or the visibility of the result may have changed
}

// about describes a comparison.
func about(c *Comparison) string {
	lines := []string{fmt.Sprintf("%s (%d to %d), which all runs have completed.", count(c.To-c.From, "cycle"), c.From, c.To-1)}
	for i, r := range c.Runs {
		text := letter(i) + ": " + r.Name + ", " + engine.Counted(r.Sessions, "session", "sessions")
		if r.Seeds > 1 {
			text += fmt.Sprintf(" of %d seeds", r.Seeds)
		}
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
