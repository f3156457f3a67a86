package setup

import (
	"encoding/json"

	"fyne.io/fyne/v2"
)

// What is kept among the state of the window: the scenario used last and its parameters.
const (
	scenarioKey   = "setup.scenario"
	parametersKey = "setup.parameters"
)

// remember keeps what was chosen for the next start.
func remember(name string, given map[string]string) {
	text, err := json.Marshal(given)
	if err != nil { // texts by text
		panic(err)
	}
	kept := fyne.CurrentApp().Preferences()
	kept.SetString(scenarioKey, name)
	kept.SetString(parametersKey, string(text))
}

// remembered returns what was chosen last; an empty name is nothing.
func remembered() (name string, given map[string]string) {
	kept := fyne.CurrentApp().Preferences()
	if json.Unmarshal([]byte(kept.String(parametersKey)), &given) != nil { // by another version: the defaults
		given = nil
	}
	return kept.String(scenarioKey), given
}
