// Package runs is the screen "Checkpoints": the runs in the store, what each was made from, the points that were kept
// of it, and what can be done with it.
package runs

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// refreshTicks is how many ticks are between two looks at the store.
const refreshTicks = 6

// Screen is the list of runs with the chosen one below.
type Screen struct {
	desk      Desk
	win       fyne.Window
	resumed   func()
	toResults func(engine.RunID)
	toCompare func(engine.RunID)
	toReplay  func(engine.RunID)
	toFork    func(run engine.RunID, checkpoint int, renewed bool)

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
	undo     *undoing
	top      *widgets.Panel // with the list
	table    *widgets.Table
	detail   *detail
	pickPath func(then func(dir string))

	bin     *widget.Button
	prune   *widget.Button
	remote  *widget.Button
	where   *widget.Label // why remote cannot be
	browser *browser      // nil while it is closed
}

// Ways are where a person goes from here.
type Ways struct {
	Live    func() // a run goes on
	Results func(engine.RunID)
	Compare func(engine.RunID) // with others
	Replay  func(engine.RunID) // how it went, moment by moment
	// Fork sets up a run that begins at a checkpoint; with the scenario's file as it is now if renewed.
	Fork func(run engine.RunID, checkpoint int, renewed bool)
}

// New makes the screen.
func New(desk Desk, win fyne.Window, to Ways) *Screen {
	s := &Screen{desk: desk, win: win, resumed: to.Live, toResults: to.Results, toCompare: to.Compare, toReplay: to.Replay, toFork: to.Fork}
	s.working = map[engine.RunID]string{}
	s.pickPath = func(then func(string)) {
		widgets.PickFolder(win, "Export CSV: a new folder is made in this one", "Export here", then)
	}
	s.trouble = widgets.NewNotice()
	s.table = widgets.NewTable(runColumns, "Reading the runs…", 3)
	s.table.OnSelected = func(key string) { s.choose(engine.RunID(key)) }
	s.detail = newDetail(s)
	s.remote = widget.NewButtonWithIcon("From Postgres…", theme.DownloadIcon(), s.browse)
	s.remote.Disable() // until the runs are read
	s.where = widget.NewLabel(noRemote)
	s.where.SizeName, s.where.Importance, s.where.Truncation = theme.SizeNameCaptionText, widget.LowImportance, fyne.TextTruncateEllipsis
	s.bin = widget.NewButtonWithIcon("Bin…", theme.FolderOpenIcon(), s.showTrash)
	s.prune = widget.NewButtonWithIcon("Clean up…", theme.DeleteIcon(), s.CleanUp)
	s.undo = newUndoing(s)
	foot := container.NewBorder(nil, nil, s.remote, container.NewHBox(s.bin, s.prune), s.where)
	s.top = widgets.NewPanel("Runs", container.NewBorder(container.NewVBox(s.trouble, s.undo.bar), foot, nil, nil, s.table))
	split := container.NewVSplit(s.top, s.detail.content)
	split.Offset = 0.4
	s.content = split
	return s
}

// noRemote says why nothing can be fetched.
const noRemote = "A database in Settings brings checkpoints of other machines here."

// Content is what the window shows.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Show looks at the store.
func (s *Screen) Show() {
	s.visible = true
	s.win.Canvas().AddShortcut(&fyne.ShortcutUndo{}, func(fyne.Shortcut) { s.Undo() })
	s.load()
}

// Hide ends looking at the store.
func (s *Screen) Hide() {
	s.visible = false
	s.win.Canvas().RemoveShortcut(&fyne.ShortcutUndo{})
}

// Close keeps what was written last, and waits for it; the program is ending.
func (s *Screen) Close() error { return s.detail.note.Flush() }

// Tick looks at the store again from time to time.
func (s *Screen) Tick() {
	if s.browser != nil {
		s.browser.tick()
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

// Select chooses a run; the newest checkpoint with it.
func (s *Screen) Select(run engine.RunID) {
	s.choose(run)
	s.table.Select(string(run))
}

func (s *Screen) choose(run engine.RunID) {
	if s.chosen != run {
		s.chosen, s.older = run, 0
		s.detail.say("", widgets.Neutral)
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
			s.trouble.Say("The store could not be read; what is shown may be out of date, and it is tried again. "+words.Trouble(err), widgets.Bad)
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
	enable(s.remote, s.desk.Remote() != "")
	if text := s.remoteText(); s.where.Text != text {
		s.where.SetText(text)
	}
	s.table.SetRows(runRows(s.runs))
	s.table.Select(string(s.chosen))
	s.detail.draw()
}

// remoteText is what stands beside the button.
func (s *Screen) remoteText() string {
	if s.desk.Remote() == "" {
		return noRemote
	}
	return "Checkpoints of any machine in " + s.desk.Remote()
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
