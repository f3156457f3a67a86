package config

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/suggest"
)

// Scope says what a setting applies to.
type Scope uint8

// The scopes of settings.
const (
	RunScope       Scope = iota // runs; see [engine.SettingTable]
	MachineScope                // the program on this machine
	DatabaseScope               // the database that results go to
	TelemetryScope              // metrics and traces
)

// Setting is one row of [Settings].
type Setting struct {
	Scope   Scope
	Name    string // of the flag, and in the saved settings
	Title   string // label in the settings screen; "" if the setting is not in its list
	Group   string // heading in the settings screen and in the help of flags
	Unit    string // placeholder of the value
	Help    string // a phrase
	Default string // "" if there is none
	Fixed   bool   // a resumed run keeps its value

	Env    []string // variables that set it; the first one wins
	EnvNot []string // variables that set the opposite of a switch

	database  *databaseField // in DatabaseScope, except for the address
	telemetry *telemetryField
}

// Words formats a value for people: with its unit, or what 0 means.
func (s *Setting) Words(value string) string {
	t := engine.FindSetting(s.Name)
	switch n, err := strconv.ParseFloat(strings.TrimRight(value, "%s"), 64); {
	case err != nil: // a word or a duration
	case t == nil && s.Unit == "PERCENT":
		return value + "%"
	case t == nil:
	case n == 0 && t.Zero != "":
		return t.Zero
	case n == 1 && strings.HasSuffix(t.Count, "s"):
		return value + " " + strings.TrimSuffix(t.Count, "s")
	case t.Count != "":
		return value + " " + t.Count
	}
	return value
}

// Settings is the table of all settings. Flags, environment variables, the saved settings, the settings screen, shell
// completion and the manual page derive from it.
var Settings = slices.Concat(runSettings(), databaseSettings, telemetrySettings, machineSettings)

// runSettings returns the run settings that can be set as text.
func runSettings() (all []Setting) {
	for _, s := range RunSettings() {
		all = append(all, Setting{
			Scope: RunScope, Name: s.Name, Title: s.Title, Group: s.Group, Unit: s.Unit, Help: s.Help, Default: s.Standard(), Fixed: s.Fixed,
			Env: append([]string{s.Variable()}, s.Env...), EnvNot: s.EnvNot,
		})
	}
	return all
}

// machineSettings are the settings of the program on this machine.
var machineSettings = []Setting{
	{Scope: MachineScope, Name: notifyKey, Env: []string{NotifyEnv}, Unit: "URL", Help: "webhook for notifications of the end, pauses, breakers, budgets and stalls; the address is in the keychain"},
	{Scope: MachineScope, Name: LogLevelKey, Unit: "LEVEL", Default: defaultLevel, Help: "log level: error, warning, info or debug"},
}

// FindSetting returns the setting with a name; nil if there is none.
func FindSetting(name string) *Setting {
	if i := slices.IndexFunc(Settings, func(s Setting) bool { return s.Name == name }); i >= 0 {
		return &Settings[i]
	}
	return nil
}

// Sources are the places that settings come from. Env is the environment of the process if it is nil.
type Sources struct {
	Data  string            // data folder with the saved settings
	Flags map[string]string // by name
	Env   func(string) string
	File  map[string]string // settings of a scenario
	Debug bool              // the flag --debug
}

// InForce returns the value and the source of every setting, by name. Errors are joined *engine.FieldError values; the
// settings without errors are valid.
func (s Sources) InForce() (map[string]Origin, error) {
	if s.Env == nil {
		s.Env = os.Getenv
	}
	saved, err := LoadSaved(s.Data)
	if err != nil {
		return nil, err
	}
	_, all, runErr := Layers{Flags: s.Flags, Env: s.Env, File: s.File, Saved: saved}.Resolve()
	db, databaseOrigins, databaseErr := FindDatabaseSettings(s.Flags, s.Env, s.Data)
	t, telemetryOrigins, telemetryErr := FindTelemetry(s.Flags, s.Env, s.Data)
	for i := range Settings {
		row := &Settings[i]
		switch row.Scope {
		case DatabaseScope:
			all[row.Name] = row.ofDatabase(db, databaseOrigins)
		case TelemetryScope:
			all[row.Name] = Origin{Value: row.telemetry.show(&t), From: cmp.Or(telemetryOrigins[row.Name], "default")}
		case RunScope, MachineScope:
		}
	}
	notify, notifyErr := FindNotify(s.Flags[notifyKey], s.Env, s.Data)
	all[notifyKey] = notify.Origin()
	all[LogLevelKey], _ = FindLogLevel(s.Debug, s.Data)
	return all, errors.Join(runErr, databaseErr, telemetryErr, notifyErr)
}

// Save saves settings by name; an empty value deletes one. Errors are joined *engine.FieldError values. Settings of runs are
// saved only if all of them are valid.
func Save(data string, changes map[string]string) error {
	run := map[string]string{}
	var mistakes []error
	for name, value := range changes {
		row := FindSetting(name)
		switch {
		case row == nil:
			mistakes = append(mistakes, unknownSetting(name))
		case row.Scope == RunScope:
			run[name] = value
		}
	}
	if err := errors.Join(append(mistakes, saveRunSettings(data, run))...); err != nil {
		return err
	}
	for i := range Settings {
		row := &Settings[i]
		value, changed := changes[row.Name]
		if !changed || row.Scope == RunScope {
			continue
		}
		mistakes = append(mistakes, row.save(data, value))
	}
	return errors.Join(mistakes...)
}

// save saves a setting outside of RunScope.
func (s *Setting) save(data, value string) error {
	switch {
	case s.Name == notifyKey:
		return saveNotifyText(data, value)
	case s.Name == LogLevelKey:
		return saveLogLevel(data, value)
	case s.Scope == TelemetryScope:
		return s.saveTelemetry(data, value)
	}
	return s.saveDatabase(data, value)
}

func unknownSetting(name string) error {
	var names []string
	for i := range Settings {
		names = append(names, Settings[i].Name)
	}
	return &engine.FieldError{Field: name, Problem: "unknown setting", Hint: strings.TrimSpace(suggest.Hint(name, names) + " throngctl settings lists all")}
}
