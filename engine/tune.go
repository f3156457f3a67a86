package engine

import (
	"strings"
)

// TimeoutSuffix ends the name of a service's tunable that makes a run inexact.
const TimeoutSuffix = ".timeout" // of a service's tunable that makes a run inexact

// LiveSettings returns the names of the settings that can change while a run is in progress. Changes are journaled
// under these names, so that a resumed run applies them.
func LiveSettings() []string {
	var names []string
	for i := range SettingTable {
		if SettingTable[i].Live {
			names = append(names, SettingTable[i].Name)
		}
	}
	return names
}

// FindLiveSetting returns the setting with this name that can change while a run is in progress, or nil.
func FindLiveSetting(name string) *Setting {
	if t := FindSetting(name); t != nil && t.Live {
		return t
	}
	return nil
}

// Restore applies the changes of an earlier part of the run, by name. They were validated when they were made. Unknown
// names and texts are ignored.
func (s *Settings) Restore(texts map[string]string) {
	for i := range SettingTable {
		t, next := &SettingTable[i], *s
		if text, ok := texts[t.Name]; ok && t.Live && t.Set(&next, text) == nil {
			*s = next
		}
	}
}

// Tunables returns the settings of s that can change while a run is in progress.
func (s *Settings) Tunables() []Tunable {
	var all []Tunable
	for i := range SettingTable {
		if t := &SettingTable[i]; t.Live {
			all = append(all, Tunable{t.Name, t.Title, t.Show(s), t.Help})
		}
	}
	return all
}

// Assignment is a new value for a setting, in the format of its flag.
type Assignment struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Change is a setting whose value changed.
type Change struct {
	Name string `json:"name"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// Trimmed returns the assignment without surrounding blanks.
func (a Assignment) Trimmed() Assignment {
	return Assignment{strings.TrimSpace(a.Name), strings.TrimSpace(a.Value)}
}

// Subject returns the display name of what was changed: the title of a setting, or else the name.
func Subject(name string) string {
	if t := FindSetting(name); t != nil && t.HasText() {
		return t.Title
	}
	return name
}
