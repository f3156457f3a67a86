package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
)

// Flags that are made from the tables of settings; see [addFlags]. A flag that is not given is "".
type (
	settingFlags   struct{ kong.Plugins } // of a run that a resumed run can change
	newFlags       struct{ kong.Plugins } // of a new run
	databaseParts  struct{ kong.Plugins } // of the results database, but its address
	telemetryFlags struct{ kong.Plugins }
)

// settingsGroup is that of settingFlags and newFlags in the help.
const settingsGroup = "Run settings"

// settingFlag is a flag for a setting.
type settingFlag struct{ name, unit, help, group, standard, variable, xor string }

// exclusive maps flags to groups; only one flag of a group can be given.
var exclusive = map[string]string{"cycles": "length", "hours": "length", engine.GovernorSetting: engine.GovernorSetting}

// runFlags are the flags of settings that a resumed run keeps, if fixed, or can change.
func runFlags(fixed bool) []settingFlag {
	return scopeFlags(config.RunScope, settingsGroup, func(s *config.Setting) bool { return s.Fixed == fixed })
}

func databaseFlags() []settingFlag {
	return scopeFlags(config.DatabaseScope, "Results", func(s *config.Setting) bool { return s.Name != config.DatabaseKey })
}

func telemetrySettings() []settingFlag {
	return scopeFlags(config.TelemetryScope, "Telemetry", func(*config.Setting) bool { return true })
}

// scopeFlags returns the flags of the settings of a scope.
func scopeFlags(scope config.Scope, group string, has func(s *config.Setting) bool) (all []settingFlag) {
	for i := range config.Settings {
		if s := &config.Settings[i]; s.Scope == scope && has(s) {
			all = append(all, settingFlag{s.Name, s.Unit, s.Help, group, s.Default, s.Env[0], exclusive[s.Name]})
		}
	}
	return all
}

// tag describes a flag to kong.
func (f *settingFlag) tag() reflect.StructTag {
	help := strings.ToUpper(f.help[:1]) + f.help[1:]
	var notes []string
	if f.standard != "" {
		notes = append(notes, "default: "+f.standard)
	}
	if f.variable != "" {
		notes = append(notes, "env: "+f.variable)
	}
	if len(notes) > 0 {
		help += " (" + strings.Join(notes, "; ") + ")"
	}
	tag := fmt.Sprintf("name:%q placeholder:%q help:%q group:%q", f.name, f.unit, help+".", f.group)
	if f.xor != "" {
		tag += fmt.Sprintf(" xor:%q", f.xor)
	}
	return reflect.StructTag(tag)
}

// flagStruct has a field for each flag.
func flagStruct(flags []settingFlag) reflect.Value {
	fields := make([]reflect.StructField, len(flags))
	for i := range flags {
		f := &flags[i]
		fields[i] = reflect.StructField{Name: "Flag" + strings.ReplaceAll(f.name, "-", "_"), Type: reflect.TypeFor[string](), Tag: f.tag()}
		if f.unit == "on|off" {
			fields[i].Type = reflect.TypeFor[onOff]()
		}
	}
	return reflect.ValueOf(kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()})
}

// newParser reads a command line of the grammar. It gives every command that takes settings their flags.
func newParser(grammar any, options ...kong.Option) (*kong.Kong, error) {
	addFlags(reflect.ValueOf(grammar).Elem())
	vars := kong.Vars{"data_folder": dataFolder(), "env_data": about.DataEnv, "env_database_url": config.DatabaseEnv, "env_notify": config.NotifyEnv}
	return kong.New(grammar, append([]kong.Option{kong.Name("throngctl"), vars}, options...)...)
}

// dataFolder returns the standard data folder as the help shows it.
func dataFolder() string {
	dir, err := config.DataFolder()
	if err != nil {
		return "none"
	}
	if home, err := os.UserHomeDir(); err == nil {
		if rest, ok := strings.CutPrefix(dir, home+string(filepath.Separator)); ok {
			return filepath.Join("~", rest)
		}
	}
	return dir
}

func addFlags(v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[settingFlags]():
		v.Field(0).Set(flagStruct(runFlags(false)))
	case reflect.TypeFor[newFlags]():
		v.Field(0).Set(flagStruct(runFlags(true)))
	case reflect.TypeFor[databaseParts]():
		v.Field(0).Set(flagStruct(databaseFlags()))
	case reflect.TypeFor[telemetryFlags]():
		v.Field(0).Set(flagStruct(telemetrySettings()))
	default:
		if v.Kind() == reflect.Struct {
			for _, field := range v.Fields() {
				addFlags(field)
			}
		}
	}
}

// switchWords are what a switch may be set to.
var switchWords = []string{"on", "off", "true", "false", "yes", "no", "1", "0"}

// isSwitch reports whether a word says what a switch is set to, in any case.
func isSwitch(word string) bool { return slices.Contains(switchWords, strings.ToLower(word)) }

// unsaid is a mistake for each flag that was given nothing, as --budget "$BUDGET" is where that variable is not set: a run
// without its bound, or in another store, is not what was meant.
func unsaid(command *kong.Context) error {
	var mistakes []error
	for _, part := range command.Path {
		f := part.Flag
		if f == nil || f.Target.Kind() != reflect.String || f.Target.String() != "" {
			continue
		}
		if f.Group != nil && f.Group.Key == settingsGroup || slices.Contains([]string{"data", "log-file", "export", "replay"}, f.Name) {
			mistakes = append(mistakes, &engine.FieldError{Field: "--" + f.Name, Problem: "has no value", Hint: "give it a value, or leave it out"})
		}
	}
	return errors.Join(mistakes...)
}

// onOff is a flag that is on where it stands alone.
type onOff string

// Decode implements kong.MapperValue. It leaves a word that is not a switch value to the next argument.
func (o *onOff) Decode(ctx *kong.DecodeContext) error {
	next := ctx.Scan.Peek()
	word, _ := next.Value.(string)
	if next.Type != kong.FlagValueToken && !isSwitch(word) {
		*o = "on"
		return nil
	}
	*o = onOff(word)
	ctx.Scan.Pop()
	return nil
}

// adaptiveFlag are the shortest words for two of the governors.
type adaptiveFlag struct {
	Adaptive *bool `negatable:"" help:"Same as --governor adaptive; --no-adaptive means manual." xor:"governor" group:"Run settings"`
}

// into adds the governor that was named to the flags that were given.
func (a adaptiveFlag) into(given map[string]string) map[string]string {
	switch {
	case a.Adaptive == nil:
	case *a.Adaptive:
		given["governor"] = engine.Adaptive
	default:
		given["governor"] = engine.Manual
	}
	return given
}

// outsideFlags say what the run talks to; a resumed run keeps what is not given.
type outsideFlags struct {
	MockLatency  string            `enum:",none,local,remote,slow" default:"" placeholder:"PROFILE" help:"Mock latency profile: none, local, remote or slow (default: local)." group:"Services"`
	MockFault    map[string]string `placeholder:"KIND=SHARE" help:"Mock faults: a fraction for rate_limited, server_error, hang, cut or bad_body; outage=FROM+FOR; token_requests=N requests until a login token expires; quota=N requests per second; capacity=N concurrent requests before it slows down." group:"Services"`
	MockScarcity bool              `help:"Share the stock of the mock shop among agents; results then depend on timing." group:"Services"`
	Service      map[string]string `placeholder:"NAME=URL" help:"Override the address of a service; URL#MODEL also sets the model." group:"Services"`
	Allow        []string          `placeholder:"HOST:PORT" help:"Address the scenario may call and send its secrets to; remembered for the file. HOST alone means the default port; HOST:PORT/DATABASE means one database." group:"Services"`
}

// apply writes the flags that were given into the settings.
func (o *outsideFlags) apply(s *engine.Settings) {
	if o.MockLatency != "" {
		s.Mock.Profile = o.MockLatency
	}
	if o.MockFault != nil {
		s.Mock.Faults = o.MockFault
	}
	if o.MockScarcity {
		s.Mock.Scarcity = true
	}
	if o.Service != nil {
		s.Services = o.Service
	}
}

// texts returns the flags that were given, by the names of their settings.
func texts(flags ...kong.Plugins) map[string]string {
	given := map[string]string{}
	for _, group := range flags {
		for _, f := range group {
			v := reflect.ValueOf(f).Elem()
			for i := range v.NumField() {
				if text := v.Field(i).String(); text != "" {
					given[v.Type().Field(i).Tag.Get("name")] = text
				}
			}
		}
	}
	return given
}

// kebab writes a field's name as its flag is called.
func kebab(name string) string {
	var flag []rune
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				flag = append(flag, '-')
			}
			r += 'a' - 'A'
		}
		flag = append(flag, r)
	}
	return string(flag)
}
