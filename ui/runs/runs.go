// Package runs is the screen "Runs": the library of all runs, with their names, outcomes and checkpoints, and the actions on them.
package runs

import (
	"cmp"
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/marks"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/export"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// The times between two reads of the store, in ticks, and between two measurements of the runs, in reads.
const (
	refreshTicks = 6
	measureReads = 20
)

// Screen is the list of runs and the chosen run below it.
type Screen struct {
	desk Desk
	win  fyne.Window
	to   Ways

	runs        []engine.RunRecord
	sizes       map[engine.RunID]int64 // in the store; missing ones are unknown
	chosen      engine.RunID
	checkpoints []engine.CheckpointRecord // of the chosen run
	of          engine.RunID              // the run of these checkpoints
	older       int                       // number of the chosen checkpoint; 0 is the newest
	busy        engine.RunID
	working     map[engine.RunID]string // current operation by run
	visible     bool
	ticks       int
	reads       int
	asked       int  // number of the newest read; results of older ones are dropped
	loading     bool // a read is in progress

	content  fyne.CanvasObject
	queue    *queueStrip
	list     *list
	undo     *undoing
	detail   *detail
	pickPath func(title string, then func(dir string)) // asks for a folder
	pickFile func(then func(path string))              // asks for a bundle
	browser  *browser                                  // nil while it is closed
	workers  *fleet.Question                           // the newest; nil before the first
}

// Ways open other screens.
type Ways struct {
	Setup   func()
	Live    func() // a run was resumed
	Results func(engine.RunID)
	Compare func(runs ...engine.RunID)
	Replay  func(engine.RunID) // opens the history of a run
	Ask     func(engine.RunID) // asks the agents of a run questions; nil hides the button
	// Renamed is called when a run has a new name; nil ignores it.
	Renamed func(run engine.RunID, name string)
	// Fork sets up a run that starts at a checkpoint, with the current scenario file if renewed.
	Fork func(run engine.RunID, checkpoint int, renewed bool)
}

// New returns the screen.
func New(desk Desk, win fyne.Window, to Ways) *Screen {
	s := &Screen{desk: desk, win: win, to: to, working: map[engine.RunID]string{}}
	s.pickPath = func(title string, then func(string)) { widgets.PickFolder(win, title, "Save here", then) }
	s.pickFile = func(then func(string)) {
		widgets.PickFile(win, "Open a bundle", "Open", []string{export.BundleEnding}, then)
	}
	s.undo = newUndoing(s)
	s.list = newList(s)
	s.detail = newDetail(s)
	split := container.NewVSplit(s.list.panel, s.detail.content)
	split.Offset = 0.45
	s.queue = newQueueStrip(s)
	s.content = form.NewHeaded(s.queue.panel, split)
	return s
}

// Content returns the screen's content.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Show is called when the screen becomes visible. It reads the store.
func (s *Screen) Show() {
	s.visible, s.reads = true, 0
	s.win.Canvas().AddShortcut(&fyne.ShortcutUndo{}, func(fyne.Shortcut) { s.Undo() })
	s.load()
}

// Hide is called when the screen becomes hidden.
func (s *Screen) Hide() {
	s.visible = false
	s.win.Canvas().RemoveShortcut(&fyne.ShortcutUndo{})
}

// Close stores the last note and waits for it. Call it before the program ends.
func (s *Screen) Close() error { return s.detail.note.Flush() }

// Tick reads the store from time to time.
func (s *Screen) Tick() {
	if s.browser != nil {
		s.browser.tick()
	}
	if s.workers != nil {
		s.workers.Tick(time.Now())
	}
	if s.desk.Busy() != s.busy {
		s.draw()
		s.load()
		return
	}
	s.ticks++
	if s.ticks >= refreshTicks && !s.loading {
		s.load()
	}
}

// Select chooses a run and its newest checkpoint. It shows all runs if the run is filtered out.
func (s *Screen) Select(run engine.RunID) {
	if r := s.record(run); r != nil && !s.list.wants(r) {
		s.list.showAll()
	}
	s.choose(run)
	s.list.table.Select(string(run))
}

// Chosen returns the chosen run; "" before the runs are read.
func (s *Screen) Chosen() engine.RunID { return s.chosen }

func (s *Screen) choose(run engine.RunID) {
	if s.chosen != run {
		s.chosen, s.older = run, 0
		s.list.say("", widgets.Neutral)
	}
	s.draw()
	if s.visible {
		s.load()
	}
}

// answer is the result of a read of the store.
type answer struct {
	runs        []engine.RunRecord
	waiting     []Waiting
	of          engine.RunID
	checkpoints []engine.CheckpointRecord
}

// load reads the store.
func (s *Screen) load() {
	s.ticks, s.loading = 0, true
	s.asked++
	asked, run := s.asked, s.chosen
	async.Work(func() (answer, error) { return look(context.Background(), s.desk, run) }, func(a answer, err error) {
		if asked != s.asked {
			return
		}
		s.loading = false
		s.list.unreadable(err)
		if err != nil {
			return
		}
		if a.of != s.chosen {
			s.chosen, s.older = a.of, 0
		}
		s.queue.show(a.waiting)
		s.runs, s.of, s.checkpoints = a.runs, a.of, a.checkpoints
		if s.checkpoint() == nil { // it was pruned
			s.older = 0
		}
		if s.reads%measureReads == 0 {
			s.measure()
		}
		s.reads++
		s.list.loaded = true
		s.draw()
	})
}

// measure requests the sizes of the runs.
func (s *Screen) measure() {
	async.Work(func() (map[engine.RunID]int64, error) { return s.desk.Sizes(context.Background()) }, func(sizes map[engine.RunID]int64, err error) {
		if err == nil { // otherwise the list of runs cannot be read either
			s.sizes = sizes
			s.list.draw()
		}
	})
}

// look reads the runs, and the checkpoints of one run or, if it does not exist, of the newest run.
func look(ctx context.Context, desk Desk, run engine.RunID) (answer, error) {
	waiting, err := desk.Waiting(ctx)
	if err != nil {
		return answer{}, err
	}
	runs, err := desk.Runs(ctx)
	if err != nil || len(runs) == 0 {
		return answer{waiting: waiting}, err
	}
	a := answer{runs: runs, waiting: waiting, of: runs[0].ID}
	for i := range runs {
		if runs[i].ID == run {
			a.of = run
		}
	}
	a.checkpoints, err = desk.Checkpoints(ctx, a.of)
	return a, err
}

// draw shows the list and the chosen run. Unchanged parts are not drawn again.
func (s *Screen) draw() {
	s.busy = s.desk.Busy()
	s.list.draw()
	s.detail.draw()
}

// run returns the chosen run, or nil.
func (s *Screen) run() *engine.RunRecord { return s.record(s.chosen) }

// record returns a run, or nil.
func (s *Screen) record(id engine.RunID) *engine.RunRecord {
	for i := range s.runs {
		if s.runs[i].ID == id {
			return &s.runs[i]
		}
	}
	return nil
}

// checkpoint returns the chosen run's chosen checkpoint, or nil.
func (s *Screen) checkpoint() *engine.CheckpointRecord {
	if s.of != s.chosen {
		return nil
	}
	for i := range s.checkpoints {
		c := &s.checkpoints[i]
		if c.Number == s.older || s.older == 0 && c.Newest {
			return c
		}
	}
	return nil
}

// change stores what the user wrote on a run, and shows it before it is stored. failed is called if it cannot be stored.
func (s *Screen) change(run engine.RunID, show func(*engine.RunRecord), store func(ctx context.Context) error, failed func()) {
	s.asked++ // a read that has begun does not know it
	s.loading = false
	for i := range s.runs {
		if s.runs[i].ID == run {
			show(&s.runs[i])
		}
	}
	s.draw()
	async.Work(func() (struct{}, error) { return struct{}{}, store(context.Background()) }, func(_ struct{}, err error) {
		if err != nil {
			s.say(run, words.Trouble(err), widgets.Bad)
			failed()
		}
		s.load()
	})
}

// star sets or removes the star of a run.
func (s *Screen) star(run engine.RunID) {
	r := s.record(run)
	if r == nil {
		return
	}
	star := !r.Star
	s.change(run, func(r *engine.RunRecord) { r.Star = star }, func(ctx context.Context) error { return s.desk.Star(ctx, run, star) }, func() {})
}

// rename stores the name of a run.
func (s *Screen) rename(run engine.RunID, name string) {
	name, err := marks.CheckName(name)
	r := s.record(run)
	switch {
	case err != nil:
		s.say(run, words.Trouble(err), widgets.Bad)
		return
	case r == nil || name == r.DisplayName():
		return
	case name == r.Title:
		name = ""
	}
	report := func(name string) {
		if s.to.Renamed != nil {
			s.to.Renamed(run, name)
		}
	}
	former := r.DisplayName()
	s.change(run, func(r *engine.RunRecord) { r.Name = name }, func(ctx context.Context) error { return s.desk.Rename(ctx, run, name) }, func() { report(former) })
	report(cmp.Or(name, r.Title))
}

// tag stores the tags of a run.
func (s *Screen) tag(run engine.RunID, text string) {
	tags, err := marks.ParseTags(text)
	r := s.record(run)
	if err != nil {
		s.say(run, words.Trouble(err), widgets.Bad)
		return
	}
	if r == nil {
		return
	}
	add, remove := missing(tags, r.Tags), missing(r.Tags, tags)
	if len(add)+len(remove) == 0 {
		return
	}
	s.change(run, func(r *engine.RunRecord) { r.Tags = tags }, func(ctx context.Context) error { return s.desk.Tag(ctx, run, add, remove) }, func() {})
}
