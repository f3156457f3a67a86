package setup

import (
	"encoding/json"

	"fyne.io/fyne/v2"
)

// chosenKey is the preference with the last choice. It is one text because each write of the preferences writes a file.
const chosenKey = "setup.chosen"

// chosen is a scenario, its parameters and its active agents, and what else was changed in the form. The zero value means that nothing is
// chosen.
type chosen struct {
	Scenario string
	Given    map[string]string `json:",omitempty"`
	selection
	Typed typed `json:",omitempty"`
}

// remember stores the chosen scenario with everything that was typed, for the next start. Forks are not stored.
func remember(kept fyne.Preferences, x subject, given map[string]string, taking selection, t typed) {
	if x.isFork() {
		return
	}
	text, err := json.Marshal(chosen{x.scenario, given, taking, t})
	if err != nil { // texts by text
		panic(err)
	}
	if kept.String(chosenKey) != string(text) {
		kept.SetString(chosenKey, string(text))
	}
}

// remembered returns the last choice.
func remembered() chosen {
	var c chosen
	if json.Unmarshal([]byte(fyne.CurrentApp().Preferences().String(chosenKey)), &c) != nil { // written by another version
		return chosen{}
	}
	return c
}
