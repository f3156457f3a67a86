package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
)

// PickFolder asks for a folder; title says what for, and confirm is what the button that takes it says.
func PickFolder(win fyne.Window, title, confirm string, then func(dir string)) {
	pick := dialog.NewFolderOpen(func(dir fyne.ListableURI, err error) {
		switch {
		case err != nil:
			dialog.ShowError(err, win)
		case dir != nil:
			then(dir.Path())
		}
	}, win)
	pick.SetTitleText(title)
	pick.SetConfirmText(confirm)
	pick.Show()
	FitPicker(win, pick)
}

// FitPicker gives a picker most of the window. It must be shown: before, the toolkit has nothing to resize.
func FitPicker(win fyne.Window, pick *dialog.FileDialog) {
	room := win.Canvas().Size()
	pick.Resize(fyne.NewSize(room.Width*0.8, room.Height*0.8))
}
