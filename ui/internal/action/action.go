// Package action describes actions of screens for the menus, the shortcuts and the list of shortcuts.
package action

import "fyne.io/fyne/v2"

// Action is an action of a screen. Its functions are called on the UI goroutine and do not wait.
type Action struct {
	Name     string // the text of its button
	Menu     string // File, Edit, Run, Agent, View or Help
	Sub      string // the submenu; "" for none
	Key      fyne.KeyName
	Modifier fyne.KeyModifier
	Do       func()
	Enabled  func() bool // nil: always
}
