package setup

import (
	"encoding/json"

	"fyne.io/fyne/v2"
)

// chosenKey is the preference with the last choice. It is one text because each write of the preferences writes a file.
const chosenKey = "setup.chosen"

// chosen is a scenario, its parameters and its active agents. The zero value means that nothing is chosen.
type chosen struct {
	Scenario string
	Given    map[string]string `json:",omitempty"`
	selection
}

// remember stores the choice for the next start of the program. Forks are not stored.
func remember(name string, given map[string]string, taking selection) {
	if _, fork := ParseFork(name); fork {
		return
	}
	text, err := json.Marshal(chosen{name, given, taking})
	if err != nil { // strings always encode
		panic(err)
	}
	kept := fyne.CurrentApp().Preferences()
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
