// Package note is the field for the user's note on a run. It stores the note while it is being written.
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

// Keep stores the note of a run. It may take long.
type Keep func(ctx context.Context, run engine.RunID, text string) error

// flushTime is the maximum time for storing the last note when the program ends.
const flushTime = 3 * time.Second

// Editor shows the note of one run at a time. It stores every change immediately; of the changes while one is being stored, only the last
// is stored next.
type Editor struct {
	widget.BaseWidget
	keep    Keep
	kept    func(run engine.RunID, text string)
	run     engine.RunID
	told    string // the note in the store
	filling bool   // the program sets the text
	saving  bool
	entry   *widget.Entry
	said    *widgets.Text
	box     fyne.CanvasObject

	keeping sync.Mutex // held while a note is stored
	mu      sync.Mutex
	pending map[engine.RunID]string // notes that are not stored yet
}

// NewEditor returns an editor; rows is the number of visible lines. kept, if set, is called on the UI goroutine after a note was stored.
func NewEditor(rows int, keep Keep, kept func(run engine.RunID, text string)) *Editor {
	e := &Editor{keep: keep, kept: kept, entry: widget.NewMultiLineEntry(), said: widgets.NewCaption(""), pending: map[engine.RunID]string{}}
	e.entry.Wrapping = fyne.TextWrapWord
	e.entry.SetPlaceHolder("Notes on this run")
	e.entry.SetMinRowsVisible(rows)
	e.entry.OnChanged = e.wrote
	head := container.NewHBox(widgets.NewHeading("Note"), container.NewCenter(e.said))
	e.box = container.NewBorder(head, nil, nil, nil, e.entry)
	e.ExtendBaseWidget(e)
	return e
}

// Open shows the note of a run from the store, or the user's newer text that is not stored yet.
func (e *Editor) Open(run engine.RunID, text string) {
	written, unkept := e.written(run)
	switch {
	case run != e.run:
		e.run, e.told = run, text
		e.said.SetText("")
		if unkept {
			text = written
		}
	case text == e.told: // or an answer from before it was stored
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

// Focus focuses the note.
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

// unkept lists the runs whose notes are not stored yet.
func (e *Editor) unkept() []engine.RunID {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Sorted(maps.Keys(e.pending))
}

// wrote handles a change by the user.
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
		if err != nil { // the next change stores it too
			e.said.SetText("Not saved yet. Keep this window open. " + words.Trouble(err))
			return
		}
		if run == e.run {
			e.told = text
			e.said.SetText("Saved")
		}
		if e.kept != nil {
			e.kept(run, text)
		}
		e.save()
	})
}

// keepNewest stores the newest note of a run.
func (e *Editor) keepNewest(ctx context.Context, run engine.RunID) (text string, err error) {
	e.keeping.Lock()
	defer e.keeping.Unlock()
	text, unkept := e.written(run)
	if !unkept { // Flush has stored it
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

// Flush stores the remaining notes and waits for that, at most for some seconds. Call it before the program ends.
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

// Parts returns the parts of the editor.
func (e *Editor) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{e.box} }

// CreateRenderer implements [fyne.Widget].
func (e *Editor) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(e.box) }
