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
	"github.com/throng-sim/throng/engine/suggest"
)

// RunSettings are the settings that flags, variables, scenarios and the saved settings set by a text.
func RunSettings() []*engine.Setting {
	var all []*engine.Setting
	for i := range engine.SettingTable {
		if t := &engine.SettingTable[i]; t.HasText() {
			all = append(all, t)
		}
	}
	return all
}

// Origin says where a setting's value comes from.
type Origin struct{ Value, From string }

// Layers are the places that a setting can come from, the strongest first. The zero value is the defaults.
type Layers struct {
	Flags map[string]string
	Env   func(name string) string
	Run   *engine.Settings  // of the run to be resumed: all of them; nil for a new run
	File  map[string]string // what the scenario says
	Saved map[string]string
}

// Resolve returns the settings in force and where each comes from. Its errors are *engine.FieldError, joined.
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
		origins[setting.Name] = Origin{From: from}
	}
	capped := origins[engine.LimitSetting].From != "" && origins[engine.CeilingSetting].From == ""
	if capped {
		s.Ceiling, origins[engine.CeilingSetting] = s.Limit, origins[engine.LimitSetting]
	}
	if s.Governor != engine.Manual && s.Governor != "" && s.Limit > 0 && (s.Floor <= s.Ceiling || capped) {
		fit(&s, origins)
		if capped {
			s.Ceiling = s.Limit
		}
	}
	for _, setting := range RunSettings() {
		o := Origin{setting.Show(&s), origins[setting.Name].From}
		if o.From == "" {
			o.From = "default"
			if o.Value != setting.Show(&defaults) {
				o.From = "the run"
			}
		}
		origins[setting.Name] = o
	}
	return s, origins, errors.Join(mistakes...)
}

// env is the value of a variable, without the spaces and carriage returns that files of variables leave at its ends. None,
// as Python writes what is not set, is no value.
func (l Layers) env(name string) string {
	text := strings.TrimSpace(l.Env(name))
	if strings.EqualFold(text, "none") {
		return ""
	}
	return text
}

// find returns the strongest text for a setting and what to call its place; "" is none.
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

// preset returns the value that the preset of a layer has for a setting; "" is none.
func preset(layer map[string]string, name string) string {
	i := slices.IndexFunc(engine.SettingPresets, func(p engine.SettingPreset) bool { return p.Name == layer[engine.PresetSetting] })
	if i < 0 {
		return ""
	}
	return engine.SettingPresets[i].Settings[name]
}

// LoadSaved reads the saved settings; a missing file is no settings.
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
		return nil, fmt.Errorf("the saved settings in %s cannot be read: %w; mend or remove the file", path, err)
	}
	return saved, nil
}

// Save changes saved settings; an empty value forgets one.
func Save(data string, changes map[string]string) error {
	saved, err := LoadSaved(data)
	if err != nil {
		return err
	}
	var mistakes []error
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		setting := engine.FindSetting(name)
		if setting == nil || !setting.HasText() {
			mistakes = append(mistakes, &engine.FieldError{Field: name, Problem: "unknown setting", Hint: strings.TrimSpace(suggest.Hint(name, settingNames()) + " throngctl settings lists all")})
			continue
		}
		if changes[name] == "" {
			delete(saved, name)
			continue
		}
		probe := engine.DefaultSettings()
		err := setting.Set(&probe, changes[name])
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

// settingNames returns the names of all settings that can be saved.
func settingNames() []string {
	names := []string{DatabaseKey, NotifyKey, LogLevelKey}
	for _, s := range RunSettings() {
		names = append(names, s.Name)
	}
	for i := range DatabaseSettings {
		names = append(names, DatabaseSettings[i].Name)
	}
	for i := range TelemetrySettings {
		names = append(names, TelemetrySettings[i].Name)
	}
	return names
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

func wrong(err error, text, want string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q is not %s", text, want)
}

// opposite turns on into off; what is neither stays, and is no setting's text.
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
