package widgets

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/async"
)

// FileDialogs are file dialogs of the operating system. Methods wait for the user, and return "" if the user cancels.
type FileDialogs interface {
	// Folder asks for a folder.
	Folder(ctx context.Context, title string) (string, error)
	// File asks for an existing file with one of some extensions, such as ".yaml".
	File(ctx context.Context, title string, extensions []string) (string, error)
	// Save asks for the name of a file to write, and before it replaces one. name is the proposed name.
	Save(ctx context.Context, title, name string) (string, error)
}

// system are the dialogs of the operating system; nil uses the toolkit's.
var system FileDialogs

// UseDialogs sets the file dialogs; nil uses the toolkit's. Call it before the windows are shown.
func UseDialogs(d FileDialogs) { system = d }

// bySystem asks with a dialog of the system, or if that fails in another way.
func bySystem(ask func(ctx context.Context) (string, error), otherwise func(), then func(path string)) {
	if system == nil {
		otherwise()
		return
	}
	async.Work(func() (string, error) { return ask(context.Background()) }, func(path string, err error) {
		switch {
		case err != nil: // the system's program may have been removed, or have no display
			otherwise()
		case path != "":
			then(path)
		}
	})
}

// PickFolder asks for a folder. title is the dialog's title, and confirm the text of its button.
func PickFolder(win fyne.Window, title, confirm string, then func(dir string)) {
	bySystem(func(ctx context.Context) (string, error) { return system.Folder(ctx, title) }, func() {
		Pick(win, func() *dialog.FileDialog {
			d := dialog.NewFolderOpen(func(dir fyne.ListableURI, err error) {
				switch {
				case err != nil:
					Complain(win, err)
				case dir != nil:
					then(dir.Path())
				}
			}, win)
			d.SetTitleText(title)
			d.SetConfirmText(confirm)
			return d
		})
	}, then)
}

// PickFile asks for a file with one of some extensions.
func PickFile(win fyne.Window, title, confirm string, extensions []string, then func(path string)) {
	bySystem(func(ctx context.Context) (string, error) { return system.File(ctx, title, extensions) }, func() {
		Pick(win, func() *dialog.FileDialog {
			d := dialog.NewFileOpen(func(file fyne.URIReadCloser, err error) {
				switch {
				case err != nil:
					Complain(win, err)
				case file != nil:
					path := file.URI().Path()
					if err := file.Close(); err != nil {
						Complain(win, err)
						return
					}
					then(path)
				}
			}, win)
			d.SetTitleText(title)
			d.SetConfirmText(confirm)
			d.SetFilter(storage.NewExtensionFileFilter(extensions))
			return d
		})
	}, then)
}

// PickSave asks for the name of a file to write. It has asked before it replaces a file. name is the proposed name. A new file does not
// exist yet when then is called.
func PickSave(win fyne.Window, title, name string, then func(path string)) {
	bySystem(func(ctx context.Context) (string, error) { return system.Save(ctx, title, name) }, func() {
		Pick(win, func() *dialog.FileDialog {
			d := dialog.NewFileSave(func(to fyne.URIWriteCloser, err error) {
				if err != nil {
					Complain(win, err)
					return
				}
				if to == nil {
					return
				}
				path := to.URI().Path()
				if err := errors.Join(to.Close(), removeEmpty(path)); err != nil {
					Complain(win, err)
					return
				}
				then(path)
			}, win)
			d.SetTitleText(title)
			d.SetConfirmText("Save")
			d.SetFileName(name)
			return d
		})
	}, then)
}

// removeEmpty removes the empty file that the toolkit's dialog creates.
func removeEmpty(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().IsRegular() && info.Size() == 0:
		return os.Remove(path)
	}
	return nil
}

// PickSaveAs is like [PickSave] for files whose names end in ending, such as ".experiment.yaml". It completes a name without it, and
// asks before it replaces the file with the completed name.
func PickSaveAs(win fyne.Window, title, name, ending string, then func(path string)) {
	PickSave(win, title, name, func(path string) {
		to := completed(path, ending)
		if to == path {
			then(to)
			return
		}
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			then(to)
			return
		}
		text := widget.NewLabel(to + " already exists.")
		text.Wrapping = fyne.TextWrapBreak
		ask := dialog.NewCustomConfirm("Replace the file?", "Replace", "Cancel", text, func(yes bool) {
			if yes {
				then(to)
			}
		}, win)
		Ask(win, ask, ask.Confirm)
	})
}

// completed returns a path with an ending. The path may already have the last part of the ending.
func completed(path, ending string) string {
	if strings.HasSuffix(path, ending) {
		return path
	}
	return strings.TrimSuffix(path, filepath.Ext(ending)) + ending
}

// Pick shows a dialog of the toolkit for a file or a folder, in most of the window.
func Pick(win fyne.Window, make func() *dialog.FileDialog) {
	d := make()
	Ask(win, d, nil)
	// The toolkit can resize the dialog only after it is shown.
	room := win.Canvas().Size()
	d.Resize(fyne.NewSize(room.Width*0.8, room.Height*0.8))
	on := win.Canvas().Overlays().Top()
	a := asked[on]
	a.anew = func() (show func()) {
		d.Hide()
		return func() { Pick(win, make) }
	}
	asked[on] = a
}

// Resized calls change, which changes the text size, and rebuilds open pickers in their folders, because the toolkit's pickers panic if
// file names grow larger than their lines.
func Resized(change func()) {
	var show []func()
	for _, a := range asked {
		if a.anew != nil {
			show = append(show, a.anew())
		}
	}
	change()
	for _, s := range show {
		s()
	}
}
