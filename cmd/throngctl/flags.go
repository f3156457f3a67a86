package main

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/internal/wire"
	"github.com/throng-sim/throng/engine"
)

// settingFlags are the flags of wire.Settings, read as texts: the table knows their forms and explains them. A flag
// left out is "".
type settingFlags struct {
	MaxConcurrent      string `group:"Run settings"`
	Cycles             string `xor:"length" group:"Run settings"`
	Hours              string `xor:"length" group:"Run settings"`
	TimeScale          string `group:"Run settings"`
	SessionTimeout     string `group:"Run settings"`
	ChainTimeout       string `group:"Run settings"`
	CycleTimeout       string `group:"Run settings"`
	Retries            string `group:"Run settings"`
	RetryWait          string `group:"Run settings"`
	CheckpointInterval string `group:"Run settings"`
	KeepCheckpoints    string `group:"Run settings"`
	KeepShare          string `group:"Run settings"`
	MaxLlmCalls        string `group:"Run settings"`
	LlmRate            string `group:"Run settings"`
	SequentialSteps    onOff  `group:"Run settings"`
	Metrics            onOff  `group:"Run settings"`
	Governor           string `xor:"governor" group:"Run settings"`
	Floor              string `group:"Run settings"`
	Ceiling            string `group:"Run settings"`
	CpuHigh            string `group:"Run settings"`
	CpuLow             string `group:"Run settings"`
	MemoryHigh         string `group:"Run settings"`
	MemoryLow          string `group:"Run settings"`
	Preset             string `group:"Run settings"`
	Batch              string `group:"Run settings"`
	SequentialPersonas onOff  `group:"Run settings"`
	Breaker            string `group:"Run settings"`
	StallWarning       string `group:"Run settings"`
	Budget             string `group:"Run settings"`
	MaxTokens          string `group:"Run settings"`
	MaxRequests        string `group:"Run settings"`
	MaxTime            string `group:"Run settings"`
	MemoryBudget       string `group:"Run settings"`
	KeepAwake          onOff  `group:"Run settings"`
	RemoteCheckpoints  onOff  `group:"Run settings"`
	SimulationMode     onOff  `group:"Run settings"`
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
			mistakes = append(mistakes, &engine.FieldError{Field: "--" + f.Name, Problem: "nothing is given for it", Hint: "leave it out, or give it a value"})
		}
	}
	return errors.Join(mistakes...)
}

// settingsGroup is that of the flags of [settingFlags] and [newFlags].
const settingsGroup = "Run settings"

// onOff is a flag that is on where it stands alone.
type onOff string

// Decode implements kong.MapperValue. A word that is none of a switch is left to what follows.
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
	Adaptive *bool `negatable:"" help:"The same as --governor adaptive; --no-adaptive is manual." xor:"governor" group:"Run settings"`
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

// newFlags are those that only a new run can have.
type newFlags struct {
	Seed       string `group:"Run settings"`
	WarmUp     string `group:"Run settings"`
	Sequential onOff  `group:"Run settings"`
	Record     onOff  `group:"Run settings"`
}

// outsideFlags say what the run talks to; a resumed run keeps what is not given.
type outsideFlags struct {
	Rehearsal string            `enum:",none,local,remote,slow" default:"" placeholder:"PROFILE" help:"Latency of the rehearsal: none, local, remote or slow." group:"Services"`
	Fault     map[string]string `placeholder:"KIND=SHARE" help:"Faults of the rehearsal: rate_limited, server_error, hang, cut, bad_body; outage=FROM+FOR; token_requests=N, after which the token of a login expires; quota=N requests a second; capacity=N at once, past which it slows down." group:"Services"`
	Scarcity  bool              `help:"Shoppers of the rehearsal share its stock; the result then depends on timing." group:"Services"`
	Service   map[string]string `placeholder:"NAME=URL" help:"Address to use instead of the scenario's; of a model service, URL#MODEL names the model." group:"Services"`
	Allow     []string          `placeholder:"HOST:PORT" help:"Address that the scenario may call, with the secrets that its services name; kept for the file. HOST alone is its usual port; HOST:PORT/DATABASE is one database." group:"Services"`
}

// apply writes the flags that were given into the settings.
func (o *outsideFlags) apply(s *engine.Settings) {
	if o.Rehearsal != "" {
		s.Rehearsal.Profile = o.Rehearsal
	}
	if o.Fault != nil {
		s.Rehearsal.Faults = o.Fault
	}
	if o.Scarcity {
		s.Rehearsal.Scarcity = true
	}
	if o.Service != nil {
		s.Services = o.Service
	}
}

// explained says what the flags of wire.Settings, wire.TelemetrySettings and wire.DatabaseSettings are, from these tables.
// It writes into the flags: as variables, each of these texts would be gone through anew for each flag.
func explained() kong.Option {
	return kong.OptionFunc(func(k *kong.Kong) error {
		vars := kong.Vars{"env_data": wire.DataEnv, "env_database_url": wire.DatabaseEnv, "env_notify": wire.NotifyEnv}
		return errors.Join(vars.Apply(k), kong.PostBuild(explainSettings).Apply(k))
	})
}

func explainSettings(k *kong.Kong) error {
	type text struct{ hold, help string }
	tables := map[string]text{}
	add := func(name, hold, help, rest string) {
		tables[name] = text{hold, strings.ToUpper(help[:1]) + help[1:] + rest}
	}
	for _, s := range wire.Settings {
		add(s.Name, s.Hold, s.Help, ".")
	}
	for _, s := range wire.TelemetrySettings {
		add(s.Name, s.Hold, s.Help, "; else "+s.Env+".")
	}
	for _, s := range wire.DatabaseSettings {
		add(s.Name, s.Hold, s.Help, "; else "+s.Env+".")
	}
	return kong.Visit(k.Model, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok && flag.Help == "" {
			flag.PlaceHolder, flag.Help = tables[flag.Name].hold, tables[flag.Name].help
		}
		return next(nil)
	})
}

// texts returns the flags that were given, by the names of their settings.
func texts(flags ...any) map[string]string {
	given := map[string]string{}
	for _, f := range flags {
		v := reflect.ValueOf(f)
		for i := range v.NumField() {
			if text := v.Field(i).String(); text != "" {
				given[kebab(v.Type().Field(i).Name)] = text
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
