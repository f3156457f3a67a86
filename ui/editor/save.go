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

// drafts stores drafts one at a time. A draft is skipped if a newer one is waiting.
type drafts struct {
	mu     sync.Mutex // held while a draft is stored
	newest atomic.Int64
}

// next returns a function that stores a draft. It may wait.
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

// Save saves the edits. A built-in scenario is saved as a copy.
func (s *Screen) Save() { s.save(false, nil) }

// save saves the edits, then calls then if that is set.
func (s *Screen) save(over bool, then func()) {
	switch {
	case s.doc == nil:
		return
	case s.doc.BuiltIn:
		s.saveAs(then)
		return
	case s.saving: // its result shows the state of the files
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
			s.notice.ask(conflict.Error()+" since it was opened here. Your edits are not saved.",
				option{"Overwrite", func() { s.save(true, then) }}, option{"Load from disk", func() { s.reload(conflict.Files) }}, option{"Not now", nil})
			return
		}
		if err != nil {
			s.failed("Cannot save. Your edits are kept here and as a draft", err)
			return
		}
		for _, f := range saved {
			if sh := s.sheet(f.Name); sh != nil {
				sh.File = f // text typed since then remains an edit
			}
		}
		s.notice.hide()
		s.check() // also deletes the draft
		s.ways.Saved(doc.Name)
		if then != nil {
			then()
		}
		if later != nil {
			later()
		}
	})
}

// failed shows an error in a dialog.
func (s *Screen) failed(what string, err error) {
	widgets.Complain(s.win, errors.New(what+": "+err.Error()))
}

// ending is the end of the names of scenario files, which open in Throng.
const ending = ".throng.yaml"

// saveAs asks for a name and saves the scenario there, then calls then if that is set.
func (s *Screen) saveAs(then func()) {
	if s.doc == nil {
		return
	}
	name := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(filepath.Base(s.sheets[0].Name), ".yml"), ".yaml"), ".throng") + ending
	widgets.PickSave(s.win, "Save the scenario as", name, func(path string) {
		if filepath.Ext(path) == "" {
			path += ending
		}
		s.saveTo(path, false, then)
	})
}

// saveTo saves the scenario in a file, with its other files in the same folder, and opens the copy, with text typed since then.
func (s *Screen) saveTo(path string, over bool, then func()) {
	doc, o, sheets := s.doc, s.order(), s.sheets
	written := make([][]byte, len(sheets))
	for i, sh := range sheets {
		written[i] = sh.text()
	}
	async.Work(func() (string, error) { return s.desk.SaveAs(context.Background(), o, path, over) }, func(name string, err error) {
		if s.doc != doc {
			return
		}
		if conflict, ok := errors.AsType[*Conflict](err); ok {
			text := words.NewParagraph(s.win, "The folder "+filepath.Dir(path)+" already contains: "+strings.Join(conflict.Files, ", ")+".")
			ask := dialog.NewCustomConfirm("Replace files?", "Replace", "Cancel", text, func(yes bool) {
				if yes {
					s.saveTo(path, true, then)
				}
			}, s.win)
			widgets.Ask(s.win, ask, ask.Confirm)
			return
		}
		if err != nil {
			s.failed("Cannot save in "+filepath.Base(filepath.Dir(path))+". Your edits are kept here and as a draft", err)
			return
		}
		s.drop()
		s.load(name, func() {
			for i, text := range written {
				called := sheets[i].Name
				if i == 0 {
					called = filepath.Base(name) // the scenario's own file may have another name there
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

// drop deletes the draft of the open document.
func (s *Screen) drop() {
	s.stop()
	keep := s.drafts.next(s.desk, Order{Name: s.doc.Name})
	async.Work(func() (struct{}, error) { return struct{}{}, keep(context.Background()) }, func(struct{}, error) {})
}

// revert asks, and then shows the saved files.
func (s *Screen) revert() {
	if !s.Edited() {
		return
	}
	text := widget.NewLabel("This reverts all files to their saved state. Undo in a file restores its edits.")
	ask := dialog.NewCustomConfirm("Revert all edits?", "Revert", "Cancel", text, func(yes bool) {
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

// restore shows edits that were never saved.
func (s *Screen) restore(d *Draft) {
	for name, text := range d.Texts {
		sh := s.sheet(name)
		if sh == nil {
			sh = s.add(File{Name: name})
		}
		sh.put(text)
	}
	s.kept = true
	text := "Edits of " + words.Stamp(d.At) + " were restored. They are not saved yet."
	if d.Outdated {
		text += " Another program has changed the files since."
	}
	s.notice.ask(text, option{"Keep", nil}, option{"Discard", func() {
		for _, sh := range s.sheets {
			sh.put(sh.Text)
		}
		s.check()
	}})
}

// leaveScreen returns to Setup.
func (s *Screen) leaveScreen() { s.leave("go back", s.ways.Leave) }

// Leave asks about unsaved edits before an action that closes them, such as closing the window, and calls then if the user agrees. It
// returns false without asking if there are none or if the user has already agreed.
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
	text := words.NewParagraph(s.win, "Your edits of "+s.named()+" are not saved.\nYou can keep them as a draft, which is shown the next time you edit the scenario.")
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

// closeTime is the maximum time for storing the last edits when the program ends.
const closeTime = 3 * time.Second

// Close stores the unsaved edits as a draft, because a signal ends the program without asking.
func (s *Screen) Close() error {
	s.stop()
	if s.doc == nil || !s.Edited() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return s.drafts.next(s.desk, s.order())(ctx)
}

// keep stores the draft immediately, then calls then.
func (s *Screen) keep(then func()) {
	keep := s.drafts.next(s.desk, s.order())
	async.Work(func() (struct{}, error) { return struct{}{}, keep(context.Background()) }, func(_ struct{}, err error) {
		if err != nil {
			s.failed("Cannot keep a draft, so the editor stays open", err)
			return
		}
		s.kept, s.agreed = true, true
		then()
	})
}

// Put writes values into the scenario's file, as unsaved edits.
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
				s.failed("Cannot write the values; the file is not changed", err)
				return
			}
			if sh := s.sheet(p.file); sh != nil {
				sh.put(p.text)
				s.choose(sh)
			}
			s.notice.ask("The values of the form are in the file. Save it to keep them.", option{"Save", s.Save}, option{"Not yet", nil})
			s.check()
		})
	})
}
