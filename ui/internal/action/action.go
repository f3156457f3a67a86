// Package action is what a person can have a screen do, as the menus, the shortcuts and the list of these know it.
package action

import "fyne.io/fyne/v2"

// Action is one thing that can be done. Its functions are called on the UI goroutine and do not wait.
type Action struct {
	Name     string // what its button says
	Menu     string // which menu it stands in: File, Run, View, Window or Help
	Key      fyne.KeyName
	Modifier fyne.KeyModifier
	Do       func()
	Enabled  func() bool // nil is always
}
