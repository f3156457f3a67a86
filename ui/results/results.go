// Package results is the screen "Results": how a run went, against its criteria and in figures.
package results

import (
	"context"
	"errors"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/note"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Desk is what the screen asks for. Its methods may take long.
type Desk interface {
	// Runs returns all runs, newest first.
	Runs(ctx context.Context) ([]engine.RunRecord, error)
	// Totals returns a run's figures so far.
	Totals(ctx context.Context, run engine.RunID) (engine.Totals, error)
	// Changes returns what was changed mid-run, in order of time.
	Changes(ctx context.Context, run engine.RunID) ([]engine.ChangeRow, error)
	// LatestErrors returns the classes of errors, each with its latest occurrences, newest first and at most so many.
	LatestErrors(ctx context.Context, run engine.RunID, most int) ([][]engine.ErrorNote, error)
	// Unconfirmed returns the changing requests of a run that may have been carried out twice, the first most of them, with
	// the names of their agents.
	Unconfirmed(ctx context.Context, run engine.RunID, most int) (engine.UnconfirmedList, error)
	// Checks looks at a run after its end.
	Checks(ctx context.Context, run engine.RunID) ([]engine.Check, error)
	// Send hands what has not arrived to the configured database.
	Send(ctx context.Context, run engine.RunID) error
	// Note keeps a person's own words of a run.
	Note(ctx context.Context, run engine.RunID, text string) error
	// Failed names the agents that had a session which failed or timed out; "" is that nobody did.
	Failed(ctx context.Context, run engine.RunID, t *engine.Totals) (string, error)
	// Export writes what a run gave into a new folder inside dir and returns its path.
	Export(ctx context.Context, run engine.RunID, dir string) (string, error)
	// ExportParquet is like Export, with the rows as Parquet.
	ExportParquet(ctx context.Context, run engine.RunID, dir string) (string, error)
	// Report writes a page about a run, as one HTML file, into dir and returns its path.
	Report(ctx context.Context, run engine.RunID, dir string) (string, error)
	// Audit recomputes a run's figures from its journal, says in a line what it found, and whether all are equal.
	Audit(ctx context.Context, run engine.RunID) (summary string, equal bool, err error)
}

const (
	// refreshTicks is how many ticks are between two looks at the runs, figuresTicks between two at the figures of a
	// run in progress, which cost more.
	refreshTicks = 6
	figuresTicks = 15

	// latest is how many occurrences of each class of errors are told.
	latest = 3

	// offered is how many runs can be picked from here; there are others in Checkpoints.
	offered = 50
)

// Screen shows one run's results.
type Screen struct {
	desk Desk
	win  fyne.Window
	to   Ways

	runs      []engine.RunRecord
	chosen    engine.RunID
	figures   figures                 // of the chosen run
	of        mark                    // what these figures are of
	exporting map[engine.RunID]string // what is said meanwhile
	auditing  map[engine.RunID]bool
	visible   bool
	ticks     int
	since     int  // ticks since the figures were read
	asked     int  // numbers the looks at the store: an answer counts if nothing was asked since
	loading   bool // an answer is awaited

	content  fyne.CanvasObject
	pick     *widget.Select
	picks    []engine.RunID // by option
	export   *widget.Button
	report   *widget.Button
	audit    *widget.Button
	replay   *widget.Button
	compare  *widget.Button
	bar      *widgets.Bar // of these
	empty    *empty
	scroll   *container.Scroll
	said     *widgets.Notice // what came of the last export, or audit
	trouble  *widgets.Notice
	page     *page
	pickPath func(title, confirm string, then func(dir string))
}

// New makes the screen.
func New(desk Desk, win fyne.Window) *Screen {
	s := &Screen{desk: desk, win: win, exporting: map[engine.RunID]string{}, auditing: map[engine.RunID]bool{}, said: widgets.NewNotice(), trouble: widgets.NewNotice()}
	s.pickPath = func(title, confirm string, then func(string)) { widgets.PickFolder(win, title, confirm, then) }
	s.pick = widget.NewSelect(nil, func(string) { s.picked() })
	s.pick.PlaceHolder = "Reading the runs…"
	s.export = widget.NewButtonWithIcon("Export CSV…", theme.DownloadIcon(), s.askExport)
	s.export.Importance = widget.HighImportance
	s.export.Disable()
	s.report = widget.NewButtonWithIcon("Report…", theme.DocumentIcon(), s.askReport)
	s.report.Disable()
	s.audit = widget.NewButtonWithIcon("Audit", theme.ConfirmIcon(), s.startAudit)
	s.audit.Disable()
	s.replay = widget.NewButtonWithIcon("History", theme.MediaReplayIcon(), func() { s.to.Replay(s.chosen) })
	s.compare = widget.NewButtonWithIcon("Compare…", theme.GridIcon(), func() { s.to.Compare(s.chosen) })
	s.bar = widgets.NewBar(s.export, s.report, s.replay, s.compare, s.audit)
	s.empty = newEmpty(s)
	s.page = newPage(win, newChecklist(s.mend), note.NewEditor(2, desk.Note, s.noted))
	s.Lead(Ways{})
	s.scroll = container.NewVScroll(s.page.content)
	top := container.NewGridWithColumns(2, form.NewFrame(s.pick), s.bar)
	s.content = container.NewBorder(container.NewVBox(top, s.said, s.trouble), nil, nil, nil,
		container.NewStack(s.scroll, s.empty.content))
	return s
}

// Close keeps what was written last, and waits for it; the program is ending.
func (s *Screen) Close() error { return s.page.note.Flush() }

// noted brings the run up to date with a note that was kept.
func (s *Screen) noted(run engine.RunID, text string) {
	for i := range s.runs {
		if s.runs[i].ID == run {
			s.runs[i].Note = text
		}
	}
}

// Content is what the window shows.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Show looks at the store.
func (s *Screen) Show() {
	s.visible = true
	s.load()
}

// Hide ends looking at the store.
func (s *Screen) Hide() { s.visible = false }

// Tick looks at the store again from time to time.
func (s *Screen) Tick() {
	s.ticks++
	s.since++
	if s.ticks >= refreshTicks && !s.loading {
		s.load()
	}
}

// Select chooses the run to show.
func (s *Screen) Select(run engine.RunID) {
	if s.chosen == run {
		return
	}
	s.chosen = run
	s.said.Say("", widgets.Good)
	s.draw()
	if s.visible {
		s.load()
	}
}

// picked hears of the select.
func (s *Screen) picked() {
	if i := s.pick.SelectedIndex(); i >= 0 {
		s.Select(s.picks[i])
	}
}

// figures are what is read of a run beside its record.
type figures struct {
	totals  engine.Totals
	changes []engine.ChangeRow
	errors  []engine.ErrorNote   // the last of each class
	latest  [][]engine.ErrorNote // of each class, newest first
	failed  string               // agents
	doubts  engine.UnconfirmedList
}

// mark tells states of a run apart.
type mark struct {
	run        engine.RunID
	done       int64
	ending     engine.Ending
	inProgress bool
}

func markOf(r *engine.RunRecord) mark { return mark{r.ID, r.Done, r.Ending, r.InProgress} }

// question is what a look at the store is to find out.
type question struct {
	run  engine.RunID
	have mark // of the figures that are shown
	due  bool // the figures of a run in progress
}

// answer is what a look at the store brought.
type answer struct {
	runs    []engine.RunRecord
	of      mark
	figures *figures // nil: those that are shown still hold
}

// load looks at the store.
func (s *Screen) load() {
	s.ticks, s.loading = 0, true
	s.asked++
	asked, q := s.asked, question{s.chosen, s.of, s.since >= figuresTicks}
	async.Work(func() (answer, error) { return look(context.Background(), s.desk, q) }, func(a answer, err error) {
		if asked != s.asked {
			return
		}
		s.loading = false
		if err != nil {
			s.trouble.Say("Not everything could be read of the store. Nothing of it is changed; what is shown may be out of date, and it is tried again. "+words.Trouble(err), widgets.Bad)
		} else {
			s.trouble.Say("", widgets.Bad)
		}
		if a.runs == nil && err != nil {
			return
		}
		s.runs, s.chosen = a.runs, a.of.run
		if a.figures != nil {
			s.figures, s.of, s.since = *a.figures, a.of, 0
		}
		s.draw()
	})
}

// look reads the runs and, where they have changed, the figures of one; of the newest, where that is not there. An error
// comes without figures, but perhaps with runs.
func look(ctx context.Context, desk Desk, q question) (answer, error) {
	runs, err := desk.Runs(ctx)
	if err != nil || len(runs) == 0 {
		return answer{}, err
	}
	chosen := max(slices.IndexFunc(runs, func(r engine.RunRecord) bool { return r.ID == q.run }), 0)
	a := answer{runs: runs, of: markOf(&runs[chosen])}
	if a.of == q.have || a.of.run == q.have.run && a.of.inProgress && q.have.inProgress && !q.due {
		return a, nil
	}
	var f figures
	var errs [4]error
	f.totals, errs[0] = desk.Totals(ctx, a.of.run)
	f.changes, errs[1] = desk.Changes(ctx, a.of.run)
	f.latest, errs[2] = desk.LatestErrors(ctx, a.of.run, latest)
	f.doubts, errs[3] = desk.Unconfirmed(ctx, a.of.run, mostDoubts)
	for _, notes := range f.latest {
		f.errors = append(f.errors, notes[0])
	}
	if err := errors.Join(errs[:]...); err != nil {
		return a, err
	}
	if f.failed, err = desk.Failed(ctx, a.of.run, &f.totals); err != nil {
		return a, err
	}
	a.figures = &f
	return a, nil
}

// draw shows what is known; what has not changed is not drawn again.
func (s *Screen) draw() {
	s.drawPick()
	r := s.run()
	s.drawAudit(r)
	if s.empty.content.Hidden = len(s.runs) > 0 || s.loading; s.empty.content.Hidden {
		s.scroll.Show()
	} else {
		s.scroll.Hide()
	}
	enable(s.replay, r != nil)
	enable(s.compare, r != nil)
	s.drawExport(r)
	if r == nil {
		s.page.hide()
		return
	}
	if s.of.run != r.ID { // on their way
		s.page.hide()
		return
	}
	s.page.show(r, &s.figures)
	s.drawChecks(r)
}

func enable(b *widget.Button, enabled bool) {
	switch {
	case enabled && b.Disabled():
		b.Enable()
	case !enabled && !b.Disabled():
		b.Disable()
	}
}

// drawPick offers the newest runs, and the chosen one.
func (s *Screen) drawPick() {
	var options []string
	selected := ""
	s.picks = s.picks[:0]
	for i := range s.runs {
		r := &s.runs[i]
		if i >= offered && r.ID != s.chosen {
			continue
		}
		text := pickText(r)
		options, s.picks = append(options, text), append(s.picks, r.ID)
		if r.ID == s.chosen {
			selected = text
		}
	}
	none := "No run yet. Choose a scenario in Setup."
	if slices.Equal(s.pick.Options, options) && s.pick.Selected == selected && s.pick.PlaceHolder == none {
		return
	}
	s.pick.Options, s.pick.Selected, s.pick.PlaceHolder = options, selected, none
	s.pick.Refresh()
}

// run returns the chosen run; nil without one.
func (s *Screen) run() *engine.RunRecord {
	for i := range s.runs {
		if s.runs[i].ID == s.chosen {
			return &s.runs[i]
		}
	}
	return nil
}
