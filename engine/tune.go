package engine

import (
	"errors"
	"strings"
)

const timeoutTail = ".timeout" // of a service's tunable that makes a run inexact

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

// findLive returns a setting that can change while a run is in progress; nil if there is none of that name.
func findLive(name string) *Setting {
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

// Tunables are what Apply can change now: live settings, then those of services.
func (r *Run) Tunables() []Tunable {
	all := r.settings.Load().Tunables()
	for _, s := range r.services {
		all = append(all, s.Tunables()...)
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

// Apply changes tunables while the run is in progress: all of them or, with *FieldError, joined, none. who and why are
// journaled. It returns what changed, which may be more than was ordered: under a governor max-concurrent sets the ceiling,
// and the floor where that is higher; the limit follows at once if it stood at the old ceiling or is above the new one. A
// limit of 0 lets sessions in flight end and starts no other; no governor raises it.
//
// Another timeout makes the run inexact: sessions that begin from then on have it, cycle-timeout counts from the next cycle.
func (r *Run) Apply(wanted []Assignment, who, why string) (changes []Change, err error) {
	err = errors.Join(r.order(func(n *node) { changes, err = n.apply(wanted, who, why) }), err)
	return changes, err
}

// Set is Apply of one setting.
func (r *Run) Set(name, value, who, why string) error {
	_, err := r.Apply([]Assignment{{name, value}}, who, why)
	return err
}

// clean is an assignment without blanks around it.
func (a Assignment) clean() Assignment {
	return Assignment{strings.TrimSpace(a.Name), strings.TrimSpace(a.Value)}
}

// Subject names what a change is of, for people: the title of a setting, else the name.
func Subject(name string) string {
	if t := FindSetting(name); t != nil && t.HasText() {
		return t.Title
	}
	return name
}
