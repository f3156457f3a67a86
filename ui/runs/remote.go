package runs

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// RemoteRun is a run in the configured database.
type RemoteRun struct {
	engine.RunRecord
	Machine     string // the run's machine; "" if unknown
	Checkpoints int    // number of checkpoints that can be fetched
}

var remoteColumns = []widgets.Column{
	{Title: "Started", Sample: "2026-12-28 00:00:00"},
	{Title: "Title", Sample: "A day of shoppers", Weight: 1},
	{Title: "Machine", Sample: "a-machine-of-mine"},
	{Title: "State", Sample: "out of budget"},
	{Title: "Done", Sample: "100,000 (100%)", Align: fyne.TextAlignTrailing},
	{Title: "Checkpoints", Sample: "Checkpoints", Align: fyne.TextAlignTrailing},
	{Title: "Run", Sample: "20261228-000000-mmmm"},
}

func remoteRows(runs []RemoteRun) []widgets.Row {
	rows := make([]widgets.Row, len(runs))
	for i := range runs {
		r := &runs[i]
		state := widgets.Cell{Text: "in progress", Tone: widgets.Quiet, Badge: true}
		if r.Ending != engine.NotEnded {
			state.Text, state.Tone = words.State(&r.RunRecord)
		}
		machine := widgets.Cell{Text: r.Machine}
		if r.Machine == "" {
			machine = widgets.Cell{Text: "unknown", Tone: widgets.Quiet}
		}
		rows[i] = widgets.Row{Key: string(r.ID), Cells: []widgets.Cell{
			{Text: words.Stamp(r.Created)},
			{Text: r.Title},
			machine, state,
			{Text: view.DoneOf(&r.RunRecord).Brief()},
			{Text: strconv.Itoa(r.Checkpoints)},
			{Text: string(r.ID), Tone: widgets.Quiet},
		}}
	}
	return rows
}

// browser is the dialog for checkpoints in the database. Closing it cancels its requests.
type browser struct {
	screen *Screen
	ctx    context.Context //nolint:containedctx // the dialog's own
	end    context.CancelFunc
	dialog dialog.Dialog

	runs     []RemoteRun
	chosen   engine.RunID
	number   int      // of the chosen checkpoint; 0: none
	asked    int      // number of the newest request; results of older ones are dropped
	fetching bool     // disables everything else
	here     progress // of fetching

	table       *widgets.Table
	checkpoints *widgets.Table
	notice      *widgets.Notice
	bar         *widget.ProgressBar
	fetch       *widget.Button
	close       *widget.Button
}

// progress is set by the goroutine that fetches and read by the screen.
type progress struct{ done, total atomic.Int64 }

// browse opens the dialog.
func (s *Screen) browse() {
	b := &browser{screen: s, notice: widgets.NewNotice(), bar: widget.NewProgressBar()}
	b.ctx, b.end = context.WithCancel(context.Background())
	b.table = widgets.NewTable(remoteColumns, "", 5)
	b.table.OnSelected = func(key string) { b.choose(engine.RunID(key)) }
	b.checkpoints = widgets.NewTable(checkpointColumns, "", 4)
	b.checkpoints.OnSelected = func(key string) {
		b.number, _ = strconv.Atoi(key)
		b.draw()
	}
	b.fetch = &widget.Button{Text: "Fetch", Icon: theme.DownloadIcon(), Importance: widget.HighImportance, OnTapped: b.take}
	b.close = widget.NewButton("Close", func() { b.dialog.Hide() })
	b.bar.Hide()
	foot := container.NewVBox(b.bar, b.notice, container.NewHBox(layout.NewSpacer(), b.close, b.fetch))
	lists := container.NewVSplit(b.table, b.checkpoints)
	lists.Offset = 0.55
	b.dialog = dialog.NewCustomWithoutButtons("Checkpoints in "+s.desk.Remote(), container.NewBorder(nil, foot, nil, nil, lists), s.win)
	b.dialog.SetOnClosed(func() {
		b.end()
		s.browser = nil
	})
	s.browser = b
	widgets.Ask(s.win, b.dialog, widgets.Pressing(b.fetch))
	b.dialog.Resize(within(s.win.Canvas().Size(), fyne.NewSize(1100, 620)))
	b.draw()
	b.look()
}

// within limits a size to a share of the window.
func within(window, size fyne.Size) fyne.Size {
	return fyne.NewSize(min(size.Width, window.Width*0.95), min(size.Height, window.Height*0.9))
}

// look requests the runs.
func (b *browser) look() {
	b.table.SetEmpty("Loading runs…")
	answers(b, func(ctx context.Context) ([]RemoteRun, error) { return b.screen.desk.RemoteRuns(ctx) }, func(runs []RemoteRun, err error) {
		b.table.SetEmpty("")
		switch {
		case err != nil:
			b.notice.Say("Cannot read the database. "+words.Trouble(err), widgets.Bad)
		case len(runs) == 0:
			b.table.SetEmpty("No runs in the database yet.")
		default:
			b.runs = runs
			b.table.SetRows(remoteRows(runs))
			b.choose(runs[0].ID)
		}
	})
}

// choose requests the checkpoints of a run.
func (b *browser) choose(run engine.RunID) {
	if b.fetching {
		b.table.Select(string(b.chosen))
		return
	}
	b.chosen, b.number = run, 0
	b.table.Select(string(run))
	b.notice.Say("", widgets.Neutral)
	b.checkpoints.SetRows(nil)
	b.checkpoints.SetEmpty("Loading checkpoints…")
	b.draw()
	answers(b, func(ctx context.Context) ([]engine.CheckpointRecord, error) {
		return b.screen.desk.RemoteCheckpoints(ctx, run)
	}, func(all []engine.CheckpointRecord, err error) {
		b.checkpoints.SetEmpty("")
		switch {
		case err != nil:
			b.notice.Say("Cannot read the database. "+words.Trouble(err), widgets.Bad)
		case len(all) == 0:
			b.checkpoints.SetEmpty("No checkpoints to fetch.")
		default:
			b.number = all[0].Number
			b.checkpoints.SetRows(checkpointRows(all, 0))
			b.checkpoints.Select(strconv.Itoa(b.number))
		}
		b.draw()
	})
}

// answers calls ask in the background. It drops the result if there is a newer request or the dialog was closed.
func answers[T any](b *browser, ask func(context.Context) (T, error), then func(T, error)) {
	b.asked++
	asked := b.asked
	async.Work(func() (T, error) { return ask(b.ctx) }, func(answer T, err error) {
		if asked == b.asked && b.ctx.Err() == nil {
			then(answer, err)
		}
	})
}

// take fetches the chosen checkpoint.
func (b *browser) take() {
	run, number := b.chosen, b.number
	b.fetching = true
	b.here.done.Store(0)
	b.here.total.Store(0)
	b.bar.SetValue(0)
	b.draw()
	answers(b, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, b.screen.desk.Fetch(ctx, run, number, func(done, total int) {
			b.here.total.Store(int64(total))
			b.here.done.Store(int64(done))
		})
	}, func(_ struct{}, err error) {
		b.fetching = false
		b.draw()
		if err != nil {
			b.notice.Say("The checkpoint was not fetched. "+words.Trouble(err), widgets.Bad)
			return
		}
		s := b.screen
		b.dialog.Hide()
		s.Select(run)
		s.say(run, fmt.Sprintf("Fetched checkpoint %d. Resume continues from it as your own run. The results of this run stay in %s.", number, s.desk.Remote()), widgets.Good)
	})
}

// draw updates the dialog.
func (b *browser) draw() {
	enable(b.fetch, b.number > 0 && !b.fetching)
	if b.fetching != b.bar.Visible() {
		b.bar.Hidden = !b.fetching
		b.bar.Refresh()
	}
	b.close.SetText("Close")
	if b.fetching {
		b.close.SetText("Cancel")
	}
	b.tick()
}

// tick shows the progress of fetching.
func (b *browser) tick() {
	if !b.fetching {
		return
	}
	done, total := b.here.done.Load(), b.here.total.Load()
	text := "Fetching…"
	if total > 0 {
		b.bar.SetValue(float64(done) / float64(total))
		text = fmt.Sprintf("Fetching the memory of %s agents, %s done.", engine.FormatCount(total), engine.FormatCount(done))
	}
	b.notice.Say(text, widgets.Neutral)
}
