// Package note is where a person writes of a run, in their own words. What is written is kept as it is written.
package note

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Keep keeps the note of a run in place of what was there. It may take long.
type Keep func(ctx context.Context, run engine.RunID, text string) error

// flushTime is how long the last words may take to be kept when the program ends.
const flushTime = 3 * time.Second

// Editor shows the note of one run at a time. Every change is handed over at once; of those that come while one is being
// kept, the last follows it.
type Editor struct {
	widget.BaseWidget
	keep    Keep
	kept    func(run engine.RunID, text string)
	run     engine.RunID
	told    string // what the store said last of it
	filling bool   // not by a person
	saving  bool
	entry   *widget.Entry
	said    *widgets.Text
	box     fyne.CanvasObject

	keeping sync.Mutex // one note at a time
	mu      sync.Mutex
	pending map[engine.RunID]string // what a person wrote that is not kept yet
}

// NewEditor makes an editor; rows is how many lines are in view. kept, if set, hears, on the UI goroutine, of a note that
// was kept.
func NewEditor(rows int, keep Keep, kept func(run engine.RunID, text string)) *Editor {
	e := &Editor{keep: keep, kept: kept, entry: widget.NewMultiLineEntry(), said: widgets.NewCaption(""), pending: map[engine.RunID]string{}}
	e.entry.Wrapping = fyne.TextWrapWord
	e.entry.SetPlaceHolder("What is worth remembering of this run")
	e.entry.SetMinRowsVisible(rows)
	e.entry.OnChanged = e.wrote
	head := container.NewHBox(widgets.NewHeading("Note"), container.NewCenter(e.said))
	e.box = container.NewBorder(head, nil, nil, nil, e.entry)
	e.ExtendBaseWidget(e)
	return e
}

// Open shows the note of a run as the store says; what a person wrote and is not kept yet goes before it.
func (e *Editor) Open(run engine.RunID, text string) {
	written, unkept := e.written(run)
	switch {
	case run != e.run:
		e.run, e.told = run, text
		e.said.SetText("")
		if unkept {
			text = written
		}
	case text == e.told: // or an answer from before it was kept
		return
	default:
		if e.told = text; unkept {
			return
		}
	}
	e.filling = true
	e.entry.SetText(text)
	e.filling = false
}

// Focus has the next keys go to the note.
func (e *Editor) Focus() {
	if c := fyne.CurrentApp().Driver().CanvasForObject(e.entry); c != nil {
		c.Focus(e.entry)
	}
}

func (e *Editor) written(run engine.RunID) (text string, unkept bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text, unkept = e.pending[run]
	return text, unkept
}

// unkept lists the runs whose notes are not kept yet.
func (e *Editor) unkept() []engine.RunID {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.pending))
}

// wrote hears of every change.
func (e *Editor) wrote(text string) {
	if e.filling || e.run == "" {
		return
	}
	e.mu.Lock()
	e.pending[e.run] = text
	e.mu.Unlock()
	e.save()
}

func (e *Editor) save() {
	waiting := e.unkept()
	if e.saving || len(waiting) == 0 {
		return
	}
	run := waiting[0]
	e.saving = true
	async.Work(func() (string, error) { return e.keepNewest(context.Background(), run) }, func(text string, err error) {
		e.saving = false
		if err != nil { // what comes next takes it along
			e.said.SetText("Not kept yet, and not lost while this window is open. " + words.Trouble(err))
			return
		}
		if run == e.run {
			e.told = text
			e.said.SetText("Kept with the run")
		}
		if e.kept != nil {
			e.kept(run, text)
		}
		e.save()
	})
}

// keepNewest keeps what was written last of a run.
func (e *Editor) keepNewest(ctx context.Context, run engine.RunID) (text string, err error) {
	e.keeping.Lock()
	defer e.keeping.Unlock()
	text, unkept := e.written(run)
	if !unkept { // Flush was faster
		return text, nil
	}
	if err := e.keep(ctx, run, text); err != nil {
		return text, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pending[run] == text {
		delete(e.pending, run)
	}
	return text, nil
}

// Flush keeps what is not kept yet, and waits for it, for a few seconds at most: the program is ending.
func (e *Editor) Flush() error {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	var errs []error
	for _, run := range e.unkept() {
		_, err := e.keepNewest(ctx, run)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Parts is what it shows.
func (e *Editor) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{e.box} }

// CreateRenderer implements [fyne.Widget].
func (e *Editor) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(e.box) }
