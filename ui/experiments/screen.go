package experiments

import (
	"context"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/nearest"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/picture"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Ways are the ways to other screens and programs.
type Ways struct {
	Results func(run engine.RunID) // opens a run in Results
	Create  func()                 // makes a new experiment
	Edit    func(path string)      // edits an experiment in a form
	Text    func(path string)      // opens a file in the system's editor
}

// Screen shows experiments. Call its methods on the UI goroutine.
type Screen struct {
	desk    Desk
	win     fyne.Window
	ways    Ways
	visible bool

	entries []Entry
	chosen  string // path; "" if none
	shown   *shown // nil until the chosen one is read
	changed uint64 // of the desk, at the last read
	asked   int    // number of the newest read; results of older ones are dropped
	reading bool
	again   bool // something changed during a read
	ordered string
	saved   string // the folder of the last export or report

	adder   *adder
	list    *list
	head    *head
	tabs    *widgets.Segments
	pages   [5]page
	trouble *widgets.Notice // reading failed
	faults  *faults
	empty   *empty
	main    *fyne.Container
	filled  fyne.CanvasObject
	content fyne.CanvasObject
}

// shown is what is known of the chosen experiment. It is immutable.
type shown struct {
	details    *Details
	comparison *findings.Comparison // nil if the file has mistakes
	sentences  []findings.Sentence
	real       *nearest.Result // nil without real data
}

// page is a tab.
type page interface {
	object() fyne.CanvasObject
	// show shows an experiment.
	show(x *shown)
}

var tabNames = []string{"Findings", "Response", "Factors", "Runs", "Design"}

// New returns the screen.
func New(desk Desk, win fyne.Window, ways Ways) *Screen {
	s := &Screen{desk: desk, win: win, ways: ways, trouble: widgets.NewNotice()}
	s.adder = &adder{win, s.Select, ways.Create}
	s.list = newList(s.Select, s.adder)
	s.head = newHead(s)
	s.faults = newFaults(s.asText, s.read)
	s.empty = newEmpty(s.adder)
	measures := &measures{}
	found, response, factors, runs := newFindingsPage(measures), newResponsePage(measures), newFactorsPage(measures), newRunsPage(s)
	s.pages = [...]page{found, response, factors, runs, newDesignPage()}
	keep := picture.Keep(s.name, s.say)
	for _, p := range []interface{ Keep(chart.Keep) }{found.effects, found.real.distances, response.curves, factors.rows, factors.screening, runs.matrix} {
		p.Keep(keep)
	}
	s.tabs = widgets.NewSegments(tabNames, func(int) { s.turn() })
	s.main = container.NewStack()
	for _, p := range s.pages { // also hidden ones take on another look
		s.main.Add(p.object())
	}
	below := form.NewHeaded(container.NewVBox(s.tabs), container.NewStack(s.main, s.faults.content))
	right := form.NewHeaded(widgets.NewPanel("", s.head.content), below)
	s.filled = container.NewBorder(nil, nil, s.list.content, nil, right)
	s.content = form.NewHeaded(s.trouble, container.NewStack(s.filled, s.empty.content))
	s.filled.Hide()
	s.turn()
	return s
}

// Content returns the screen's content.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Chosen returns the path of the chosen experiment; "" if none.
func (s *Screen) Chosen() string { return s.chosen }

// Show is called when the screen becomes visible.
func (s *Screen) Show() {
	s.visible = true
	s.read()
}

// Hide is called when the screen becomes hidden.
func (s *Screen) Hide() { s.visible = false }

// Tick reads again if something has changed.
func (s *Screen) Tick() {
	if s.desk.Changed() != s.changed {
		s.read()
	}
}

// Select shows an experiment, also one that is not in the list yet.
func (s *Screen) Select(path string) {
	if s.chosen == path {
		return
	}
	s.chosen, s.shown, s.again = path, nil, false
	s.reading = false // the result of a read in progress is about another experiment
	s.say("", widgets.Neutral)
	if s.visible {
		s.read()
	}
}

// answer is the result of a read.
type answer struct {
	entries []Entry
	shown   *shown
	err     error // of the chosen experiment
}

// read reads the list and the chosen experiment. At most one read of the same experiment is in progress.
func (s *Screen) read() {
	if s.reading {
		s.again = true
		return
	}
	s.reading = true
	if s.asked == 0 {
		s.trouble.Say("Loading experiments…", widgets.Neutral)
	}
	s.asked++
	asked, path := s.asked, s.chosen
	s.changed = s.desk.Changed()
	async.Work(func() (answer, error) { return s.fetch(path) }, func(a answer, err error) {
		if asked != s.asked {
			return
		}
		s.reading = false
		s.take(a, err)
		if s.again {
			s.again = false
			s.read()
		}
	})
}

// fetch reads on a goroutine of its own. The list is read after the experiment, because opening adds it.
func (s *Screen) fetch(path string) (a answer, err error) {
	ctx := context.Background()
	if path != "" {
		a.shown, a.err = s.open(ctx, path)
	}
	a.entries, err = s.desk.List(ctx)
	return a, err
}

func (s *Screen) open(ctx context.Context, path string) (*shown, error) {
	d, err := s.desk.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	x := &shown{details: d}
	if slices.ContainsFunc(d.Mistakes, isMistake) && !d.Continues {
		return x, nil
	}
	t, err := s.desk.Findings(ctx, path)
	if err != nil {
		return nil, err
	}
	x.comparison = findings.Compare(t)
	x.comparison.InPercent()
	x.sentences = x.comparison.Sentences()
	x.real = nearest.Rank(t)
	return x, nil
}

// take shows the result of a read.
func (s *Screen) take(a answer, err error) {
	if err != nil {
		s.trouble.Say("Cannot read the experiments. Reopen this screen to try again. "+words.Trouble(err), widgets.Bad)
		return
	}
	s.entries = a.entries
	if s.chosen == "" && len(s.entries) > 0 {
		s.chosen = s.entries[0].Path
		s.again = true
	}
	switch {
	case a.err != nil:
		s.trouble.Say("Cannot read "+s.chosen+". "+words.Trouble(a.err), widgets.Bad)
	case a.shown != nil && a.shown.details.Continues:
		s.trouble.Say("The experiment continues as it was before its file had mistakes. Correct the file: "+located(a.shown.details.Mistakes), widgets.Warning)
	default:
		s.trouble.Say("", widgets.Neutral)
	}
	if s.shown = a.shown; s.shown != nil && s.shown.details.Path != "" {
		s.chosen = s.shown.details.Path // as the list names it
	}
	s.draw()
}

// entry returns the chosen experiment, or nil.
func (s *Screen) entry() *Entry {
	i := slices.IndexFunc(s.entries, func(e Entry) bool { return e.Path == s.chosen })
	if i < 0 {
		return nil
	}
	return &s.entries[i]
}

// draw shows the experiments and the chosen one.
func (s *Screen) draw() {
	some := len(s.entries) > 0
	visible(s.empty.content, !some)
	visible(s.filled, some)
	s.list.show(s.entries, s.chosen)
	if e := s.entry(); e != nil {
		var d *Details
		if s.shown != nil {
			d = s.shown.details
		}
		s.head.show(e, d, s.ordered != "")
	}
	broken := s.shown != nil && s.shown.comparison == nil
	visible(s.faults.content, broken)
	visible(s.tabs, !broken)
	visible(s.main, !broken && s.shown != nil)
	if broken {
		s.faults.show(s.shown.details.Mistakes)
	} else {
		s.turn()
	}
	s.content.Refresh()
}

// turn shows the chosen tab.
func (s *Screen) turn() {
	p := s.pages[s.tabs.Chosen()]
	for _, other := range s.pages {
		visible(other.object(), other == p)
	}
	if s.shown != nil && s.shown.comparison != nil {
		p.show(s.shown)
	}
	s.main.Refresh()
}

// visible shows or hides an object.
func visible(o fyne.CanvasObject, is bool) {
	switch {
	case is && !o.Visible():
		o.Show()
	case !is && o.Visible():
		o.Hide()
	}
}
