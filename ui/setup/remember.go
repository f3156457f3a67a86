package setup

import (
	"encoding/json"

	"fyne.io/fyne/v2"
)

// chosenKey is what was chosen last among the state of the window, in one text: each write of that state is a file.
const chosenKey = "setup.chosen"

// chosen is a scenario, its parameters and who takes part. The zero value is none.
type chosen struct {
	Scenario string
	Given    map[string]string `json:",omitempty"`
	who
}

// remember stores the chosen scenario for the next start. Forks are not stored.
func remember(x subject, given map[string]string, taking who) {
	if x.isFork() {
		return
	}
	text, err := json.Marshal(chosen{x.scenario, given, taking})
	if err != nil { // texts by text
		panic(err)
	}
	kept := fyne.CurrentApp().Preferences()
	if kept.String(chosenKey) != string(text) {
		kept.SetString(chosenKey, string(text))
	}
}

// remembered returns what was chosen last.
func remembered() chosen {
	var c chosen
	if json.Unmarshal([]byte(fyne.CurrentApp().Preferences().String(chosenKey)), &c) != nil { // by another version
		return chosen{}
	}
	return c
}
