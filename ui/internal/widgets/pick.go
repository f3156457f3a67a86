package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/storage"
)

// PickFolder asks for a folder; title says what for, and confirm is what the button that takes it says.
func PickFolder(win fyne.Window, title, confirm string, then func(dir string)) {
	pick := dialog.NewFolderOpen(func(dir fyne.ListableURI, err error) {
		switch {
		case err != nil:
			Complain(win, err)
		case dir != nil:
			then(dir.Path())
		}
	}, win)
	pick.SetTitleText(title)
	pick.SetConfirmText(confirm)
	Ask(win, pick, nil)
	FitPicker(win, pick)
}

// PickFile asks for a file of some kinds, by their extensions.
func PickFile(win fyne.Window, title string, kinds []string, then func(path string)) {
	pick := dialog.NewFileOpen(func(file fyne.URIReadCloser, err error) {
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
	pick.SetTitleText(title)
	pick.SetFilter(storage.NewExtensionFileFilter(kinds))
	Ask(win, pick, nil)
	FitPicker(win, pick)
}

// FitPicker gives a picker most of the window. It must be shown: before, the toolkit has nothing to resize.
func FitPicker(win fyne.Window, pick *dialog.FileDialog) {
	room := win.Canvas().Size()
	pick.Resize(fyne.NewSize(room.Width*0.8, room.Height*0.8))
}
