package engine

import (
	"strings"
)

// TimeoutSuffix ends the name of a service's tunable that makes a run inexact.
const TimeoutSuffix = ".timeout" // of a service's tunable that makes a run inexact

// LiveSettings are the names of the settings that can change while a run is in progress. A change of one is journaled
// under its name, so that a resumed run has it.
func LiveSettings() []string {
	var names []string
	for i := range SettingTable {
		if SettingTable[i].Live {
			names = append(names, SettingTable[i].Name)
		}
	}
	return names
}

// FindLiveSetting returns a setting that can change while a run is in progress; nil if no such setting has that name.
func FindLiveSetting(name string) *Setting {
	if t := FindSetting(name); t != nil && t.Live {
		return t
	}
	return nil
}

// Restore sets what changes of a run left behind, by name. They were checked together when each was made. A name or a text
// that is unknown here changes nothing.
func (s *Settings) Restore(texts map[string]string) {
	for i := range SettingTable {
		t, next := &SettingTable[i], *s
		if text, ok := texts[t.Name]; ok && t.Live && t.Set(&next, text) == nil {
			*s = next
		}
	}
}

// Tunables are the settings of s that can change while a run is in progress.
func (s *Settings) Tunables() []Tunable {
	var all []Tunable
	for i := range SettingTable {
		if t := &SettingTable[i]; t.Live {
			all = append(all, Tunable{t.Name, t.Title, t.Show(s), t.Help})
		}
	}
	return all
}

// Assignment gives a setting another value, as a flag takes it.
type Assignment struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Change is a setting that has another value now.
type Change struct {
	Name string `json:"name"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Trimmed returns the assignment without blanks around its name and value.
func (a Assignment) Trimmed() Assignment {
	return Assignment{strings.TrimSpace(a.Name), strings.TrimSpace(a.Value)}
}

// Subject names what a change is of, for people: the title of a setting, else the name.
func Subject(name string) string {
	if t := FindSetting(name); t != nil && t.HasText() {
		return t.Title
	}
	return name
}
