package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/storage"
)

// PickFolder asks for a folder. title is the dialog's title, and confirm the text of its button.
func PickFolder(win fyne.Window, title, confirm string, then func(dir string)) {
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
}

// PickFile asks for a file with one of some extensions.
func PickFile(win fyne.Window, title, confirm string, kinds []string, then func(path string)) {
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
		d.SetFilter(storage.NewExtensionFileFilter(kinds))
		return d
	})
}

// Pick shows a dialog for a file or a folder, in most of the window.
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
