package editor

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// drafts keeps one draft after the other: an older one is left out where a newer is to be kept.
type drafts struct {
	mu     sync.Mutex // held while one is kept
	newest atomic.Int64
}

// next returns what keeps a draft; that may wait.
func (d *drafts) next(desk Desk, o Order) func(ctx context.Context) error {
	this := d.newest.Add(1)
	return func(ctx context.Context) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.newest.Load() != this {
			return nil
		}
		return desk.Keep(ctx, o)
	}
}

// Save writes what was edited in place of the files; a built-in scenario is saved elsewhere.
func (s *Screen) Save() { s.save(false, nil) }

// save writes what was edited; then, if set, is called when that is done.
func (s *Screen) save(over bool, then func()) {
	switch {
	case s.doc == nil:
		return
	case s.doc.BuiltIn:
		s.saveAs(then)
		return
	case s.saving: // its answer tells what the files are then
		s.later = func() { s.save(over, then) }
		return
	}
	var files []File
	for _, sh := range s.sheets {
		if sh.edited() {
			files = append(files, File{sh.Name, sh.text(), sh.Stamp})
		}
	}
	doc := s.doc
	s.saving = true
	async.Work(func() ([]File, error) { return s.desk.Save(context.Background(), doc.Name, files, over) }, func(saved []File, err error) {
		later := s.later
		s.saving, s.later = false, nil
		if s.doc != doc {
			return
		}
		if conflict, ok := errors.AsType[*Conflict](err); ok {
			s.notice.ask(conflict.Error()+" since it was opened here. Nothing was saved.",
				option{"Save over it", func() { s.save(true, then) }}, option{"Show the other", func() { s.reload(conflict.Files) }}, option{"Not now", nil})
			return
		}
		if err != nil {
			s.failed("Nothing was saved; the edits are kept here and as a draft", err)
			return
		}
		for _, f := range saved {
			if sh := s.sheet(f.Name); sh != nil {
				sh.File = f // what was typed meanwhile stays an edit
			}
		}
		s.notice.hide()
		s.check() // which forgets the draft
		s.ways.Saved(doc.Name)
		if then != nil {
			then()
		}
		if later != nil {
			later()
		}
	})
}

// failed says what did not work, in the way.
func (s *Screen) failed(what string, err error) {
	widgets.Complain(s.win, errors.New(what+": "+err.Error()))
}

// saveAs asks for a folder and writes the scenario there; then, if set, is called when that is done.
func (s *Screen) saveAs(then func()) {
	if s.doc == nil {
		return
	}
	widgets.PickFolder(s.win, "Save "+s.sheets[0].Name+" and its files in a folder", "Save here", func(dir string) { s.saveIn(dir, false, then) })
}

// saveIn writes the scenario into a folder and goes on with it there, and with what was typed meanwhile.
func (s *Screen) saveIn(dir string, over bool, then func()) {
	doc, o, sheets := s.doc, s.order(), s.sheets
	written := make([][]byte, len(sheets))
	for i, sh := range sheets {
		written[i] = sh.text()
	}
	async.Work(func() (string, error) { return s.desk.SaveAs(context.Background(), o, dir, over) }, func(name string, err error) {
		if s.doc != doc {
			return
		}
		if conflict, ok := errors.AsType[*Conflict](err); ok {
			text := words.NewParagraph(s.win, "In "+dir+" there is already: "+strings.Join(conflict.Files, ", ")+".")
			ask := dialog.NewCustomConfirm("Replace files?", "Replace", "Cancel", text, func(yes bool) {
				if yes {
					s.saveIn(dir, true, then)
				}
			}, s.win)
			widgets.Ask(s.win, ask, ask.Confirm)
			return
		}
		if err != nil {
			s.failed("It was not saved in "+filepath.Base(dir)+"; the edits are kept here and as a draft", err)
			return
		}
		s.drop()
		s.load(name, func() {
			for i, text := range written {
				called := sheets[i].Name
				if i == 0 {
					called = filepath.Base(name) // the scenario's own file, which may be called otherwise there
				}
				if sh := s.sheet(called); sh != nil && !bytes.Equal(sheets[i].text(), text) {
					sh.put(sheets[i].text())
					s.changed()
				}
			}
			s.ways.Saved(name)
			if then != nil {
				then()
			}
		})
	})
}

// drop forgets the draft of what is open.
func (s *Screen) drop() {
	s.stop()
	keep := s.drafts.next(s.desk, Order{Name: s.doc.Name})
	async.Work(func() (struct{}, error) { return struct{}{}, keep(context.Background()) }, func(struct{}, error) {})
}

// revert asks, and shows the files as they are saved.
func (s *Screen) revert() {
	if !s.Edited() {
		return
	}
	text := widget.NewLabel("All files are shown as they are saved. Undo in a file brings its edits back.")
	ask := dialog.NewCustomConfirm("Take all edits back?", "Take back", "Cancel", text, func(yes bool) {
		if !yes {
			return
		}
		for _, sh := range s.sheets {
			if sh.edited() {
				sh.put(sh.Text)
			}
		}
		s.check()
	}, s.win)
	widgets.Ask(s.win, ask, ask.Confirm)
}

// restore shows edits that were kept and never saved.
func (s *Screen) restore(d *Draft) {
	for name, text := range d.Texts {
		sh := s.sheet(name)
		if sh == nil {
			sh = s.add(File{Name: name})
		}
		sh.put(text)
	}
	s.kept = true
	text := "These edits of " + words.Stamp(d.At) + " were not saved."
	if d.Outdated {
		text += " The files were changed since by another program."
	}
	s.notice.ask(text, option{"Keep them", nil}, option{"Discard them", func() {
		for _, sh := range s.sheets {
			sh.put(sh.Text)
		}
		s.check()
	}})
}

// leaveScreen goes back to Setup.
func (s *Screen) leaveScreen() { s.leave("go back", s.ways.Leave) }

// Leave asks what is to become of edits that are not saved before something that would leave them, such as closing the
// window; then is called if the person agrees. It reports whether it asks: else nothing is unsaved, or the person has agreed
// to leave it so.
func (s *Screen) Leave(then func()) bool {
	if !s.Edited() || s.agreed {
		return false
	}
	s.leave("close", then)
	return true
}

func (s *Screen) leave(what string, then func()) {
	if !s.Edited() {
		then()
		return
	}
	if s.asking {
		return
	}
	s.asking = true
	text := words.NewParagraph(s.win, "The edits of "+base(s.doc.Name)+" are not saved.\nUnsaved, they stay as a draft and are here when the scenario is edited again.")
	ask := dialog.NewCustomWithoutButtons("Save before you "+what+"?", text, s.win)
	button := func(text string, do func()) *widget.Button {
		return widget.NewButton(text, func() {
			ask.Hide()
			if do != nil {
				do()
			}
		})
	}
	save := button("Save", func() { s.save(false, then) })
	save.Importance = widget.HighImportance
	draft := button("Keep as a draft", func() { s.keep(then) })
	ask.SetButtons([]fyne.CanvasObject{button("Stay", nil), draft, save})
	widgets.Ask(s.win, ask, widgets.Pressing(save))
	ask.SetOnClosed(func() { s.asking = false })
}

// closeTime is how long the last edits may take to be kept when the program ends.
const closeTime = 3 * time.Second

// Close keeps the edits that are not saved, also those of the last moment: a signal that ends the program does not ask.
func (s *Screen) Close() error {
	s.stop()
	if s.doc == nil || !s.Edited() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return s.drafts.next(s.desk, s.order())(ctx)
}

// keep keeps the draft at once, and goes on when that is done.
func (s *Screen) keep(then func()) {
	keep := s.drafts.next(s.desk, s.order())
	async.Work(func() (struct{}, error) { return struct{}{}, keep(context.Background()) }, func(_ struct{}, err error) {
		if err != nil {
			s.failed("The draft cannot be kept, so nothing was left", err)
			return
		}
		s.kept, s.agreed = true, true
		then()
	})
}

// Put shows values in their places in the scenario's file, as edits that are still to be saved.
func (s *Screen) Put(name string, v Values) {
	s.Open(name, func() {
		doc, o := s.doc, s.order()
		o.Given = nil
		type put struct {
			file string
			text []byte
		}
		async.Work(func() (p put, err error) {
			p.file, p.text, err = s.desk.Put(context.Background(), o, v)
			return p, err
		}, func(p put, err error) {
			if s.doc != doc {
				return
			}
			if err != nil {
				s.failed("The values cannot be put into the file; it is as it was", err)
				return
			}
			if sh := s.sheet(p.file); sh != nil {
				sh.put(p.text)
				s.choose(sh)
			}
			s.notice.ask("The values of the form stand in the file. Save it to keep them.", option{"Save", s.Save}, option{"Not yet", nil})
			s.check()
		})
	})
}
