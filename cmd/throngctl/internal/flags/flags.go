// Package flags derives the flags of throngctl from the tables of settings, and parses them.
package flags

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

// Groups of flags that derive from the table of settings; see [addFlags]. A flag that is not given is "".
type (
	// Settings are settings that a resumed run can change.
	Settings struct{ kong.Plugins }
	// Fixed are settings of a new run.
	Fixed struct{ kong.Plugins }
	// Database are settings of the results database, except its address.
	Database struct{ kong.Plugins }
	// Telemetry are settings of metrics and traces.
	Telemetry struct{ kong.Plugins }
)

// settingsGroup is the help group of Settings and Fixed.
const settingsGroup = "Run settings"

// settingFlag describes the flag of a setting.
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

// tag returns the struct tag that kong reads.
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

// flagStruct returns a struct with a field per flag.
func flagStruct(flags []settingFlag) reflect.Value {
	fields := make([]reflect.StructField, len(flags))
	for i := range flags {
		f := &flags[i]
		fields[i] = reflect.StructField{Name: "Flag" + strings.ReplaceAll(f.name, "-", "_"), Type: reflect.TypeFor[string](), Tag: f.tag()}
		if f.unit == "on|off" {
			fields[i].Type = reflect.TypeFor[Switch]()
		}
	}
	return reflect.ValueOf(kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()})
}

// NewParser returns a parser for a grammar, whose groups of flags it fills.
func NewParser(grammar any, options ...kong.Option) (*kong.Kong, error) {
	addFlags(reflect.ValueOf(grammar).Elem())
	vars := kong.Vars{"data_folder": dataFolder(), "env_data": about.DataEnv, "env_join": about.JoinEnv, "env_database_url": config.DatabaseEnv, "env_notify": config.NotifyEnv}
	parser, err := kong.New(grammar, append([]kong.Option{kong.Name("throngctl"), vars}, options...)...)
	if err == nil {
		parser.Model.HelpFlag.Help = "Show help."
	}
	return parser, err
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
	case reflect.TypeFor[Settings]():
		v.Field(0).Set(flagStruct(runFlags(false)))
	case reflect.TypeFor[Fixed]():
		v.Field(0).Set(flagStruct(runFlags(true)))
	case reflect.TypeFor[Database]():
		v.Field(0).Set(flagStruct(databaseFlags()))
	case reflect.TypeFor[Telemetry]():
		v.Field(0).Set(flagStruct(telemetrySettings()))
	default:
		if v.Kind() == reflect.Struct {
			for _, field := range v.Fields() {
				addFlags(field)
			}
		}
	}
}

// switchWords are the values of a switch.
var switchWords = []string{"on", "off", "true", "false", "yes", "no", "1", "0"}

// IsSwitch reports whether a word is the value of a switch, in any case.
func IsSwitch(word string) bool { return slices.Contains(switchWords, strings.ToLower(word)) }

// CheckEmpty returns an error for each flag with an empty value, for example --budget "$BUDGET" with an unset variable. The
// user did not mean a run without a budget, or in another store.
func CheckEmpty(command *kong.Context) error {
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

// Switch is a flag that means "on" without a value.
type Switch string

// Decode implements kong.MapperValue. A word that is not a switch value belongs to the next argument.
func (o *Switch) Decode(ctx *kong.DecodeContext) error {
	next := ctx.Scan.Peek()
	word, _ := next.Value.(string)
	if next.Type != kong.FlagValueToken && !IsSwitch(word) {
		*o = "on"
		return nil
	}
	*o = Switch(word)
	ctx.Scan.Pop()
	return nil
}

// Adaptive has short flags for two of the governors.
type Adaptive struct {
	Adaptive *bool `negatable:"" help:"Same as --governor adaptive; --no-adaptive means manual." xor:"governor" group:"Run settings"`
}

// Into adds the selected governor to the given flags.
func (a Adaptive) Into(given map[string]string) map[string]string {
	switch {
	case a.Adaptive == nil:
	case *a.Adaptive:
		given["governor"] = engine.Adaptive
	default:
		given["governor"] = engine.Manual
	}
	return given
}

// Services configures services and mocks. A resumed run keeps values that are not given.
type Services struct {
	MockLatency  string            `enum:",none,local,remote,slow" default:"" placeholder:"PROFILE" help:"Mock latency profile: none, local, remote or slow (default: local)." group:"Services"`
	MockFault    map[string]string `placeholder:"KIND=SHARE" help:"Mock faults: a fraction for rate_limited, server_error, hang, cut or bad_body, and for answers of models that are refused, fenced or empty, or misuse tools (tool_again, tool_unknown, tool_misfit); outage=FROM+FOR; token_requests=N requests until a login token expires; quota=N requests per second; capacity=N concurrent requests before it slows down." group:"Services"`
	MockScarcity bool              `help:"Share the stock of the mock shop among agents; results then depend on timing." group:"Services"`
	Service      map[string]string `placeholder:"NAME=URL" help:"Override the address of a service; URL#MODEL also sets the model." group:"Services"`
	Allow        []string          `placeholder:"HOST:PORT" help:"Address the scenario may call and send its secrets to; remembered for the file. HOST alone means the default port; HOST:PORT/DATABASE means one database." group:"Services"`
}

// ApplyTo sets the given flags in the settings.
func (o *Services) ApplyTo(s *engine.Settings) {
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

// Given returns the given flags, by the names of their settings.
func Given(flags ...kong.Plugins) map[string]string {
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

// Kebab returns the flag name of a field.
func Kebab(name string) string {
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

// Earlier is the ID of a run to resume, or Newest, or "".
type Earlier string

// Newest is the value of a flag without a value.
const Newest Earlier = "newest"

// Decode implements kong.MapperValue. A word that is not a run ID belongs to the next argument.
func (e *Earlier) Decode(ctx *kong.DecodeContext) error {
	next := ctx.Scan.Peek()
	word, _ := next.Value.(string)
	switch {
	case word == "latest" || word == string(Newest):
		*e = Newest
	case next.Type == kong.FlagValueToken || IsRun(word):
		*e = Earlier(word)
	default:
		*e = Newest
		return nil
	}
	ctx.Scan.Pop()
	return nil
}

// IsRun reports whether a text starts like a run ID: 20300301-.
func IsRun(text string) bool {
	day, _, ok := strings.Cut(text, "-")
	return ok && len(day) == len("20300301") && strings.Trim(day, "0123456789") == ""
}
