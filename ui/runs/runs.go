// Package runs is the screen "Checkpoints": the runs of the store, their facts and checkpoints, and the actions on them.
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

// refreshTicks is how many ticks are between two reads of the store.
const refreshTicks = 6

// Screen is the list of runs and the chosen run below it.
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
	of          engine.RunID              // the run of these checkpoints
	older       int                       // number of the chosen checkpoint; 0 is the newest
	busy        engine.RunID
	working     map[engine.RunID]string // current operation by run
	visible     bool
	ticks       int
	asked       int  // number of the newest read; results of older ones are dropped
	loading     bool // a read is in progress

	content  fyne.CanvasObject
	trouble  *widgets.Notice
	undo     *undoing
	top      *widgets.Panel // with the list
	table    *widgets.Table
	detail   *detail
	pickPath func(then func(dir string))

	trash   *widget.Button
	prune   *widget.Button
	remote  *widget.Button
	where   *widget.Label // why remote is disabled
	browser *browser      // nil while it is closed
}

// Ways open other screens.
type Ways struct {
	Live    func() // a run was resumed
	Results func(engine.RunID)
	Compare func(engine.RunID) // compares a run with others
	Replay  func(engine.RunID) // opens the history of a run
	// Fork sets up a run that starts at a checkpoint, with the current scenario file if renewed.
	Fork func(run engine.RunID, checkpoint int, renewed bool)
}

// New returns the screen.
func New(desk Desk, win fyne.Window, to Ways) *Screen {
	s := &Screen{desk: desk, win: win, resumed: to.Live, toResults: to.Results, toCompare: to.Compare, toReplay: to.Replay, toFork: to.Fork}
	s.working = map[engine.RunID]string{}
	s.pickPath = func(then func(string)) {
		widgets.PickFolder(win, "Folder for the CSV export", "Export here", then)
	}
	s.trouble = widgets.NewNotice()
	s.table = widgets.NewTable(runColumns, "Loading runs…", 3)
	s.table.OnSelected = func(key string) { s.choose(engine.RunID(key)) }
	s.detail = newDetail(s)
	s.remote = widget.NewButtonWithIcon("From Postgres…", theme.DownloadIcon(), s.browse)
	s.remote.Disable() // until the runs are read
	s.where = widget.NewLabel(noRemote)
	s.where.SizeName, s.where.Importance, s.where.Truncation = theme.SizeNameCaptionText, widget.LowImportance, fyne.TextTruncateEllipsis
	s.trash = widget.NewButtonWithIcon("Trash…", theme.FolderOpenIcon(), s.showTrash)
	s.prune = widget.NewButtonWithIcon("Clean up…", theme.DeleteIcon(), s.CleanUp)
	s.undo = newUndoing(s)
	foot := container.NewBorder(nil, nil, s.remote, container.NewHBox(s.trash, s.prune), s.where)
	s.top = widgets.NewPanel("Runs", container.NewBorder(container.NewVBox(s.trouble, s.undo.bar), foot, nil, nil, s.table))
	split := container.NewVSplit(s.top, s.detail.content)
	split.Offset = 0.4
	s.content = split
	return s
}

// noRemote says why no checkpoints can be fetched.
const noRemote = "To fetch checkpoints of other machines, set a database in Settings."

// Content returns the screen's content.
func (s *Screen) Content() fyne.CanvasObject { return s.content }

// Show is called when the screen becomes visible. It reads the store.
func (s *Screen) Show() {
	s.visible = true
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

// Select chooses a run and its newest checkpoint.
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

// answer is the result of a read of the store.
type answer struct {
	runs        []engine.RunRecord
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
		if err != nil {
			s.table.SetEmpty("")
			s.trouble.Say("Cannot read the store, trying again. The list may be out of date. "+words.Trouble(err), widgets.Bad)
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
		s.table.SetEmpty("No runs yet. Launch one in Setup.")
		s.draw()
	})
}

// look reads the runs, and the checkpoints of one run or, if it does not exist, of the newest run.
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

// draw shows the list. Unchanged parts are not drawn again.
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

// remoteText returns the text next to the button.
func (s *Screen) remoteText() string {
	if s.desk.Remote() == "" {
		return noRemote
	}
	return "Checkpoints of all machines in " + s.desk.Remote()
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
