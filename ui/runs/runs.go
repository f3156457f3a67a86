// Package runs is the screen "Checkpoints": the runs in the store, what each was made from, the points that were kept
// of it, and what can be done with it.
package runs

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Doomed is what goes when a run is deleted.
type Doomed struct {
	Sessions, Events int64
	Checkpoints      int
	Bytes            int64
}

// Desk is what the screen asks for. But for Busy and Remote its methods may take long.
type Desk interface {
	// Runs returns all runs, newest first.
	Runs(ctx context.Context) ([]engine.RunRecord, error)
	// Checkpoints returns a run's, newest first.
	Checkpoints(ctx context.Context, run engine.RunID) ([]engine.CheckpointRecord, error)
	Doomed(ctx context.Context, run engine.RunID) (Doomed, error)
	Delete(ctx context.Context, run engine.RunID) error
	// Resume goes on with a run from the journal's end, with another limit if it is above 0, and with another bound, as
	// written, of the kind that it ran out of, if that is not "".
	Resume(ctx context.Context, run engine.RunID, limit int, bound string) error
	// Export writes what a run gave into a new folder inside dir and returns its path.
	Export(ctx context.Context, run engine.RunID, dir string) (string, error)
	// Busy is the run that this process works on; "" none. It does not wait.
	Busy() engine.RunID
	// Send hands a run's results to the configured database too.
	Send(ctx context.Context, run engine.RunID) error
	// Remote names that database; "" none. It does not wait.
	Remote() string
}

// refreshTicks is how many ticks are between two looks at the store.
const refreshTicks = 6

// Screen is the list of runs with the chosen one below.
type Screen struct {
	desk      Desk
	win       fyne.Window
	resumed   func()
	toResults func(engine.RunID)

	runs        []engine.RunRecord
	chosen      engine.RunID
	checkpoints []engine.CheckpointRecord // of the chosen run
	of          engine.RunID              // whose checkpoints these are
	older       int                       // the number of the chosen checkpoint; 0 is the newest, whichever that is
	busy        engine.RunID
	working     map[engine.RunID]string // what is being done to runs
	visible     bool
	ticks       int
	asked       int  // numbers the looks at the store: an answer counts if nothing was asked since
	loading     bool // an answer is awaited

	content  fyne.CanvasObject
	trouble  *widgets.Notice
	table    *widgets.Table
	detail   *detail
	pickPath func(then func(dir string))
}

// New makes the screen. resumed is called when a run goes on, toResults when a person wants to see a run's results.
func New(desk Desk, win fyne.Window, resumed func(), toResults func(engine.RunID)) *Screen {
	s := &Screen{desk: desk, win: win, resumed: resumed, toResults: toResults, working: map[engine.RunID]string{}}
	s.pickPath = func(then func(string)) {
		widgets.PickFolder(win, "Export CSV: a new folder is made in this one", "Export here", then)
	}
	s.trouble = widgets.NewNotice()
	s.table = widgets.NewTable(runColumns, "Reading the runs…", 3)
	s.table.OnSelected = func(key string) { s.choose(engine.RunID(key)) }
	s.detail = newDetail(s)
	top := widgets.NewPanel("Runs", container.NewBorder(s.trouble, nil, nil, nil, s.table))
	split := container.NewVSplit(top, s.detail.content)
	split.Offset = 0.4
	s.content = split
	return s
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

// Select chooses a run; the newest checkpoint with it.
func (s *Screen) Select(run engine.RunID) {
	s.choose(run)
	s.table.Select(string(run))
}

func (s *Screen) choose(run engine.RunID) {
	if s.chosen != run {
		s.chosen, s.older = run, 0
		s.detail.note("", widgets.Neutral)
	}
	s.draw()
	if s.visible {
		s.load()
	}
}

// answer is what a look at the store brought.
type answer struct {
	runs        []engine.RunRecord
	of          engine.RunID
	checkpoints []engine.CheckpointRecord
}

// load looks at the store.
func (s *Screen) load() {
	s.ticks, s.loading = 0, true
	s.asked++
	asked, run := s.asked, s.chosen
	async.Work(func() (answer, error) { return look(context.Background(), s.desk, run) }, func(a answer, err error) {
		if asked != s.asked {
			return
		}
		s.loading = false
		if err != nil {
			s.table.SetEmpty("")
			s.trouble.Say("The store could not be read; what is shown may be out of date. "+err.Error(), widgets.Bad)
			return
		}
		s.trouble.Say("", widgets.Bad)
		if a.of != s.chosen {
			s.chosen, s.older = a.of, 0
		}
		s.runs, s.of, s.checkpoints = a.runs, a.of, a.checkpoints
		if s.checkpoint() == nil { // it was pruned
			s.older = 0
		}
		s.table.SetEmpty("No run yet. Choose a scenario in Setup.")
		s.draw()
	})
}

// look reads the runs and the checkpoints of one; of the newest, where that is not there.
func look(ctx context.Context, desk Desk, run engine.RunID) (answer, error) {
	runs, err := desk.Runs(ctx)
	if err != nil || len(runs) == 0 {
		return answer{}, err
	}
	a := answer{runs: runs, of: runs[0].ID}
	for i := range runs {
		if runs[i].ID == run {
			a.of = run
		}
	}
	a.checkpoints, err = desk.Checkpoints(ctx, a.of)
	return a, err
}

// draw shows what is known; what has not changed is not drawn again.
func (s *Screen) draw() {
	s.busy = s.desk.Busy()
	s.table.SetRows(runRows(s.runs))
	s.table.Select(string(s.chosen))
	s.detail.draw()
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

// checkpoint returns the chosen run's chosen checkpoint; nil without one.
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
