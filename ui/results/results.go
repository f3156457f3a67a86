// Package results is the screen "Results": the criteria and figures of a run.
package results

import (
	"context"
	"errors"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/note"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
	"github.com/throng-sim/throng/ui/study"
)

// Desk is what the screen needs from the application. Its methods may take long.
type Desk interface {
	// Runs returns all runs, newest first.
	Runs(ctx context.Context) ([]engine.RunRecord, error)
	// Totals returns a run's figures so far.
	Totals(ctx context.Context, run engine.RunID) (engine.Totals, error)
	// Changes returns the changes during a run, by time.
	Changes(ctx context.Context, run engine.RunID) ([]engine.ChangeRow, error)
	// LatestErrors returns the classes of errors, each with at most most of its latest occurrences, newest first.
	LatestErrors(ctx context.Context, run engine.RunID, most int) ([][]engine.ErrorNote, error)
	// Unconfirmed returns the first requests of a run that may have been executed twice, with the names of their agents.
	Unconfirmed(ctx context.Context, run engine.RunID, most int) (engine.UnconfirmedList, error)
	// Checks checks a run after its end.
	Checks(ctx context.Context, run engine.RunID) ([]engine.Check, error)
	// Send starts sending rows that have not arrived in the configured database.
	Send(ctx context.Context, run engine.RunID) error
	// Note stores the user's note on a run.
	Note(ctx context.Context, run engine.RunID, text string) error
	// Failed names the agents with failed or timed-out sessions; "" if none.
	Failed(ctx context.Context, run engine.RunID, t *engine.Totals) (string, error)
	// Speakers opens the transcript of a run.
	Speakers(ctx context.Context, run engine.RunID) (Source, error)
	// Details returns what the report shows of a run in addition to its record and totals. It reads all sessions.
	Details(ctx context.Context, run engine.RunID) (*view.Details, error)
	// ExportAs writes a run's results into a new folder inside dir, or a report or bundle into a new file there, and returns the path. The
	// format is one of the package export.
	ExportAs(ctx context.Context, run engine.RunID, dir, format string) (string, error)
	// Audit recalculates a run's figures from its journal. It returns a summary in one line, and whether all figures are equal.
	Audit(ctx context.Context, run engine.RunID) (summary string, equal bool, err error)
}

const (
	// ticks between two reads of the runs, and of the figures of a run in progress, which cost more
	refreshTicks = 6
	figuresTicks = 15

	// latest is the number of occurrences shown for each class of errors.
	latest = 3

	// offered is the maximum number of runs in the selection. Runs lists all runs.
	offered = 50
)

// Screen shows the results of one run.
type Screen struct {
	desk    Desk
	studies study.Desk // nil hides the tabs for studies
	win     fyne.Window
	to      Ways

	runs      []engine.RunRecord
	chosen    engine.RunID
	figures   figures                 // of the chosen run
	of        mark                    // the state of the run at the time of these figures
	exporting map[engine.RunID]string // the message during an export
	auditing  map[engine.RunID]bool
	visible   bool
	ticks     int
	since     int  // ticks since the figures were read
	byHand    bool // the user chose the run since the screen is visible, so no other takes its place
	asked     int  // number of the newest read; results of older ones are dropped
	loading   bool // a read is in progress

	content  fyne.CanvasObject
	pick     *widget.Select
	picks    []engine.RunID // by option
	export   *widget.Button
	reveal   *widget.Button
	saved    string // the last export, which Reveal opens
	audit    *widget.Button
	replay   *widget.Button
	compare  *widget.Button
	ask      *widget.Button
	bar      *widgets.Bar // the buttons
	empty    *empty
	scroll   *container.Scroll
	said     *widgets.Notice // result of the last export or audit
	trouble  *widgets.Notice
	page     *page
	talk     *talk
	pickPath func(title, confirm string, then func(dir string))
}

// New returns the screen. Without a desk for studies it has no tabs for them.
func New(desk Desk, studies study.Desk, win fyne.Window) *Screen {
	s := &Screen{desk: desk, studies: studies, win: win, exporting: map[engine.RunID]string{}, auditing: map[engine.RunID]bool{}, said: widgets.NewNotice(), trouble: widgets.NewNotice()}
	s.pickPath = func(title, confirm string, then func(string)) { widgets.PickFolder(win, title, confirm, then) }
	s.pick = widget.NewSelect(nil, func(string) { s.picked() })
	s.pick.PlaceHolder = "Loading runs…"
	s.export = widget.NewButtonWithIcon("Export…", theme.DownloadIcon(), s.openExports)
	s.export.Importance = widget.HighImportance
	s.export.Disable()
	s.reveal = widget.NewButtonWithIcon("Open folder", theme.FolderOpenIcon(), s.showSaved)
	s.reveal.Hide()
	s.audit = widget.NewButtonWithIcon("Audit", theme.ConfirmIcon(), s.startAudit)
	s.audit.Disable()
	s.replay = widget.NewButtonWithIcon("History", theme.MediaReplayIcon(), func() { s.to.Replay(s.chosen) })
	s.compare = widget.NewButtonWithIcon("Compare…", theme.GridIcon(), func() { s.to.Compare(s.chosen) })
	s.ask = widget.NewButtonWithIcon("Ask agents…", theme.QuestionIcon(), func() { s.to.Ask(s.chosen) })
	s.bar = widgets.NewBar(s.export, s.replay, s.compare, s.ask, s.audit)
	s.empty = newEmpty(s)
	s.page = newPage(win, newRunChecks(s.mend), note.NewEditor(2, desk.Note, s.noted))
	s.Lead(Ways{})
	s.scroll = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 0, 0, theme.ScrollBarSize()), s.page.content))
	for _, g := range []*gallery{s.page.over, s.page.emitted.over[0], s.page.emitted.over[1]} {
		g.group.Within(s.scroll)
	}
	top := container.NewGridWithColumns(2, form.NewFrame(widgets.NewWhole(s.pick)), s.bar)
	s.talk = newTalk(s)
	s.content = container.NewBorder(container.NewVBox(top, container.NewHBox(s.talk.choice), container.NewBorder(nil, nil, nil, s.reveal, s.said), s.trouble), nil, nil, nil,
		container.NewStack(s.scroll, s.talk.content, s.empty.content))
	return s
}

// Close stores the last note and waits for it. Call it before the program ends.
func (s *Screen) Close() error { return s.page.note.Flush() }

// noted updates the run after a note was stored.
func (s *Screen) noted(run engine.RunID, text string) {
	for i := range s.runs {
		if s.runs[i].ID == run {
			s.runs[i].Note = text
		}
	}
}

// Content returns the screen's content.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Show is called when the screen becomes visible. It reads the store.
func (s *Screen) Show() {
	s.visible = true
	s.load()
}

// Hide is called when the screen becomes hidden.
func (s *Screen) Hide() { s.visible, s.byHand = false, false }

// Tick reads the store from time to time.
func (s *Screen) Tick() {
	s.ticks++
	s.since++
	if s.ticks >= refreshTicks && !s.loading {
		s.load()
	}
	s.talk.draw()
}

// Select chooses the run to show.
func (s *Screen) Select(run engine.RunID) {
	if s.chosen == run {
		return
	}
	s.chosen = run
	s.say("", widgets.Good)
	s.draw()
	if s.visible {
		s.load()
	}
}

// ShowSurvey shows the answers to a survey.
func (s *Screen) ShowSurvey(run engine.RunID) {
	s.Select(run)
	s.talk.choice.Pick(surveysTab)
}

// Chosen returns the run to show; "" before the runs are read.
func (s *Screen) Chosen() engine.RunID { return s.chosen }

// picked handles the user's choice of a run.
func (s *Screen) picked() {
	if i := s.pick.SelectedIndex(); i >= 0 {
		s.byHand = true
		s.Select(s.picks[i])
	}
}

// figures are the data of a run in addition to its record.
type figures struct {
	totals  engine.Totals
	changes []engine.ChangeRow
	errors  []engine.ErrorNote   // the latest of each class
	latest  [][]engine.ErrorNote // of each class, newest first
	failed  string               // agents
	doubts  engine.UnconfirmedList
	details *view.Details // nil until they are read
}

// mark identifies a state of a run.
type mark struct {
	run        engine.RunID
	done       int64
	ending     engine.Ending
	inProgress bool
}

func markOf(r *engine.RunRecord) mark { return mark{r.ID, r.Done, r.Ending, r.InProgress} }

// question is what to read from the store.
type question struct {
	run  engine.RunID
	runs []engine.RunRecord // shown so far; nil at first, and while the user's choice stays
	have mark               // the state of the shown figures
	due  bool               // read the figures of a run in progress
}

// follow chooses a run that was launched, resumed or ended since the last read.
func (q *question) follow(runs []engine.RunRecord) {
	if q.runs == nil {
		return
	}
	for i := range runs {
		r := &runs[i]
		was := slices.IndexFunc(q.runs, func(o engine.RunRecord) bool { return o.ID == r.ID })
		if was < 0 && r.Created.After(q.runs[0].Created) || was >= 0 && r.InProgress != q.runs[was].InProgress {
			q.run = r.ID
			return
		}
	}
}

// readDetails reads the charts and outcomes of the chosen run, which takes longer than its figures.
func (s *Screen) readDetails() {
	of := s.of
	async.Work(func() (*view.Details, error) { return s.desk.Details(context.Background(), of.run) }, func(d *view.Details, err error) {
		switch {
		case s.of.run != of.run:
		case err != nil:
			s.trouble.Say("Cannot read the sessions of the run. "+words.Trouble(err), widgets.Bad)
		default:
			s.figures.details = d
			s.draw()
		}
	})
}

// answer is the result of a read of the store.
type answer struct {
	runs    []engine.RunRecord
	of      mark
	figures *figures // nil if the shown figures are still valid
}

// load reads the store.
func (s *Screen) load() {
	s.ticks, s.loading = 0, true
	s.asked++
	asked, q := s.asked, question{s.chosen, s.runs, s.of, s.since >= figuresTicks}
	if s.byHand {
		q.runs = nil
	}
	async.Work(func() (answer, error) { return look(context.Background(), s.desk, q) }, func(a answer, err error) {
		if asked != s.asked {
			return
		}
		s.loading = false
		if err != nil {
			s.trouble.Say("Cannot read all of the store, trying again. The figures may be out of date. "+words.Trouble(err), widgets.Bad)
		} else {
			s.trouble.Say("", widgets.Bad)
		}
		if a.runs == nil && err != nil {
			return
		}
		s.runs, s.chosen = a.runs, a.of.run
		if a.figures != nil {
			if s.of.run == a.of.run { // keep the charts until the new ones are read
				a.figures.details = s.figures.details
			}
			s.figures, s.of, s.since = *a.figures, a.of, 0
			s.readDetails()
		}
		s.draw()
	})
}

// look reads the runs and, if they have changed, the figures of one run or, if it does not exist, of the newest run. With an error it
// returns no figures, but possibly runs.
func look(ctx context.Context, desk Desk, q question) (answer, error) {
	runs, err := desk.Runs(ctx)
	if err != nil || len(runs) == 0 {
		return answer{}, err
	}
	q.follow(runs)
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

// draw shows the run. Unchanged parts are not drawn again.
func (s *Screen) draw() {
	s.drawPick()
	r := s.run()
	s.drawAudit(r)
	if s.empty.content.Hidden = len(s.runs) > 0 || s.loading; s.empty.content.Hidden {
		s.scroll.Show()
	} else {
		s.scroll.Hide()
	}
	s.talk.draw()
	enable(s.replay, r != nil)
	enable(s.compare, r != nil)
	enable(s.ask, r != nil)
	s.drawExport(r)
	if r == nil {
		s.page.hide()
		return
	}
	if s.of.run != r.ID { // its figures are on their way
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

// drawPick updates the selection of runs.
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
	none := "No runs yet. Launch one in Setup."
	if slices.Equal(s.pick.Options, options) && s.pick.Selected == selected && s.pick.PlaceHolder == none {
		return
	}
	s.pick.Options, s.pick.Selected, s.pick.PlaceHolder = options, selected, none
	s.pick.Refresh()
}

// run returns the chosen run, or nil.
func (s *Screen) run() *engine.RunRecord {
	for i := range s.runs {
		if s.runs[i].ID == s.chosen {
			return &s.runs[i]
		}
	}
	return nil
}
