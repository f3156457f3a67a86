// Package config resolves settings from flags, the environment, scenario files and the data folder, and saves them.
package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// RunSettings returns the settings of runs that flags, variables, scenarios and saved settings can set.
func RunSettings() []*engine.Setting {
	var all []*engine.Setting
	for i := range engine.SettingTable {
		if t := &engine.SettingTable[i]; t.HasText() {
			all = append(all, t)
		}
	}
	return all
}

// Origin is the value of a setting and its source. If another setting moved the value, By is the name of
// that setting, and Own is the value from the source, which is not in force; otherwise both are empty.
type Origin struct{ Value, From, Own, By string }

// Why says which setting moved the value, such as "limited by the highest limit"; "" if none did.
func (o Origin) Why() string {
	if o.By == "" {
		return ""
	}
	how, by := "limited by the ", engine.FindSetting(o.By)
	own, _ := strconv.Atoi(o.Own)
	if now, _ := strconv.Atoi(o.Value); now > own {
		how = "raised to the "
	}
	return how + strings.ToLower(by.Title)
}

// Source returns where the value in force comes from, for the terminal.
func (o Origin) Source() string {
	if o.By == "" {
		return o.From
	}
	return o.From + ", " + o.Why()
}

// Layers are the sources of run settings, in decreasing precedence. The zero value has only defaults.
type Layers struct {
	Flags map[string]string
	Env   func(name string) string
	Run   *engine.Settings  // all settings of the run to resume; nil for a new run
	File  map[string]string // settings of the scenario
	Saved map[string]string
}

// Resolve returns the settings in force and the source of each. Errors are joined *engine.FieldError values.
func (l Layers) Resolve() (engine.Settings, map[string]Origin, error) {
	defaults := engine.DefaultSettings()
	s := defaults
	if l.Run != nil {
		s = *l.Run
	}
	origins := map[string]Origin{}
	var mistakes []error
	for _, setting := range RunSettings() {
		text, from := l.find(setting)
		if from != "" {
			if err := setting.Set(&s, text); err != nil {
				mistakes = append(mistakes, &engine.FieldError{Field: from, Problem: err.Error()})
			}
		}
		origins[setting.Name] = Origin{From: from, Own: setting.Show(&s)}
	}
	if origins[engine.GovernorSetting].From != "" {
		s.Manual = false // another governor than that of the run to resume
	}
	capped := origins[engine.LimitSetting].From != "" && origins[engine.CeilingSetting].From == "" && !s.Manual && s.Limit > 0
	if capped {
		s.Ceiling = s.Limit
		moved(origins, engine.CeilingSetting, engine.LimitSetting)
	}
	if s.Governed() && s.Limit > 0 && (s.Floor <= s.Ceiling || capped) {
		fit(&s, origins)
		if capped {
			s.Ceiling = s.Limit
		}
	}
	for _, setting := range RunSettings() {
		o := origins[setting.Name]
		o.Value = setting.Show(&s)
		if o.By == "" || o.Own == o.Value {
			o.By, o.Own = "", ""
		}
		if o.From == "" {
			o.From = "default"
			if cmp.Or(o.Own, o.Value) != setting.Show(&defaults) {
				o.From = "the run"
			}
		}
		origins[setting.Name] = o
	}
	return s, origins, errors.Join(mistakes...)
}

// moved notes that another setting moved the value of a setting.
func moved(origins map[string]Origin, name, by string) {
	o := origins[name]
	o.By = by
	origins[name] = o
}

// env returns the value of a variable, without spaces and carriage returns at its ends. The value None, which Python writes
// for unset variables, counts as unset.
func (l Layers) env(name string) string {
	text := strings.TrimSpace(l.Env(name))
	if strings.EqualFold(text, "none") {
		return ""
	}
	return text
}

// find returns the text with the highest precedence for a setting, and its source; "" if there is none.
func (l Layers) find(s *engine.Setting) (text, from string) {
	if text := l.Flags[s.Name]; text != "" {
		return text, "--" + s.Name
	}
	if text := preset(l.Flags, s.Name); text != "" {
		return text, "--" + engine.PresetSetting + " " + l.Flags[engine.PresetSetting]
	}
	if l.Env != nil {
		for _, name := range append([]string{s.Variable()}, s.Env...) {
			if text := l.env(name); text != "" {
				return text, name
			}
		}
		for _, name := range s.EnvNot {
			if text := l.env(name); text != "" {
				return opposite(text), name
			}
		}
	}
	if l.Run != nil {
		return "", ""
	}
	if text := l.File[s.Name]; text != "" {
		return text, fromScenario
	}
	if text := cmp.Or(l.Saved[s.Name], preset(l.Saved, s.Name)); text != "" {
		return text, fromSaved
	}
	return "", ""
}

// preset returns the value of a setting in the preset of a layer; "" if it has none.
func preset(layer map[string]string, name string) string {
	i := slices.IndexFunc(engine.SettingPresets, func(p engine.SettingPreset) bool { return p.Name == layer[engine.PresetSetting] })
	if i < 0 {
		return ""
	}
	return engine.SettingPresets[i].Settings[name]
}

// LoadSaved reads the saved settings. A missing file has none.
func LoadSaved(data string) (map[string]string, error) {
	saved := map[string]string{}
	path := filepath.Join(data, savedName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return saved, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, fmt.Errorf("the saved settings in %s cannot be read: %w; correct or remove the file", path, err)
	}
	return saved, nil
}

// saveRunSettings saves settings of runs; an empty value deletes one. It saves nothing if one of them is invalid.
func saveRunSettings(data string, changes map[string]string) error {
	if len(changes) == 0 {
		return nil
	}
	saved, err := LoadSaved(data)
	if err != nil {
		return err
	}
	var mistakes []error
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		if changes[name] == "" {
			delete(saved, name)
			continue
		}
		probe := engine.DefaultSettings()
		err := engine.FindSetting(name).Set(&probe, changes[name])
		if err == nil {
			err = probe.Validate()
		}
		if err != nil {
			mistakes = append(mistakes, &engine.FieldError{Field: name, Problem: err.Error()})
		}
		saved[name] = changes[name]
	}
	if err := errors.Join(mistakes...); err != nil {
		return err
	}
	return store(data, saved)
}

// store writes the saved settings.
func store(data string, saved map[string]string) error {
	text, err := json.MarshalIndent(saved, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	path := filepath.Join(data, savedName)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// opposite inverts a switch. It returns other texts unchanged, which are then rejected.
func opposite(text string) string {
	on, err := engine.ParseSwitch(text)
	switch {
	case err != nil:
		return text
	case on:
		return "off"
	}
	return "on"
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
