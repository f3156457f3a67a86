package main

import (
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
	MaxConcurrent      string `placeholder:"${hold_max_concurrent}" help:"${help_max_concurrent}" group:"Run settings"`
	Cycles             string `placeholder:"${hold_cycles}" help:"${help_cycles}" xor:"length" group:"Run settings"`
	Hours              string `placeholder:"${hold_hours}" help:"${help_hours}" xor:"length" group:"Run settings"`
	TimeScale          string `placeholder:"${hold_time_scale}" help:"${help_time_scale}" group:"Run settings"`
	SessionTimeout     string `placeholder:"${hold_session_timeout}" help:"${help_session_timeout}" group:"Run settings"`
	ChainTimeout       string `placeholder:"${hold_chain_timeout}" help:"${help_chain_timeout}" group:"Run settings"`
	CycleTimeout       string `placeholder:"${hold_cycle_timeout}" help:"${help_cycle_timeout}" group:"Run settings"`
	Retries            string `placeholder:"${hold_retries}" help:"${help_retries}" group:"Run settings"`
	RetryWait          string `placeholder:"${hold_retry_wait}" help:"${help_retry_wait}" group:"Run settings"`
	CheckpointInterval string `placeholder:"${hold_checkpoint_interval}" help:"${help_checkpoint_interval}" group:"Run settings"`
	KeepCheckpoints    string `placeholder:"${hold_keep_checkpoints}" help:"${help_keep_checkpoints}" group:"Run settings"`
	KeepShare          string `placeholder:"${hold_keep_share}" help:"${help_keep_share}" group:"Run settings"`
	MaxLlmCalls        string `placeholder:"${hold_max_llm_calls}" help:"${help_max_llm_calls}" group:"Run settings"`
	LlmRate            string `placeholder:"${hold_llm_rate}" help:"${help_llm_rate}" group:"Run settings"`
	SequentialSteps    onOff  `placeholder:"${hold_sequential_steps}" help:"${help_sequential_steps}" group:"Run settings"`
	Metrics            onOff  `placeholder:"${hold_metrics}" help:"${help_metrics}" group:"Run settings"`
	Governor           string `placeholder:"${hold_governor}" help:"${help_governor}" xor:"governor" group:"Run settings"`
	Floor              string `placeholder:"${hold_floor}" help:"${help_floor}" group:"Run settings"`
	Ceiling            string `placeholder:"${hold_ceiling}" help:"${help_ceiling}" group:"Run settings"`
	Breaker            string `placeholder:"${hold_breaker}" help:"${help_breaker}" group:"Run settings"`
	StallWarning       string `placeholder:"${hold_stall_warning}" help:"${help_stall_warning}" group:"Run settings"`
	Budget             string `placeholder:"${hold_budget}" help:"${help_budget}" group:"Run settings"`
	MaxTokens          string `placeholder:"${hold_max_tokens}" help:"${help_max_tokens}" group:"Run settings"`
	MaxRequests        string `placeholder:"${hold_max_requests}" help:"${help_max_requests}" group:"Run settings"`
	MaxTime            string `placeholder:"${hold_max_time}" help:"${help_max_time}" group:"Run settings"`
	KeepAwake          onOff  `placeholder:"${hold_keep_awake}" help:"${help_keep_awake}" group:"Run settings"`
	RemoteCheckpoints  onOff  `placeholder:"${hold_remote_checkpoints}" help:"${help_remote_checkpoints}" group:"Run settings"`
	SimulationMode     onOff  `placeholder:"${hold_simulation_mode}" help:"${help_simulation_mode}" group:"Run settings"`
}

// switchWords are what a switch may be set to.
var switchWords = []string{"on", "off", "true", "false", "yes", "no", "1", "0"}

// onOff is a flag that is on where it stands alone.
type onOff string

// Decode implements kong.MapperValue. A word that is none of a switch is left to what follows.
func (o *onOff) Decode(ctx *kong.DecodeContext) error {
	next := ctx.Scan.Peek()
	word, _ := next.Value.(string)
	if next.Type != kong.FlagValueToken && !slices.Contains(switchWords, word) {
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
	Seed       string `placeholder:"${hold_seed}" help:"${help_seed}" group:"Run settings"`
	WarmUp     string `placeholder:"${hold_warm_up}" help:"${help_warm_up}" group:"Run settings"`
	Sequential onOff  `placeholder:"${hold_sequential}" help:"${help_sequential}" group:"Run settings"`
	Record     onOff  `placeholder:"${hold_record}" help:"${help_record}" group:"Run settings"`
}

// outsideFlags say what the run talks to; a resumed run keeps what is not given.
type outsideFlags struct {
	Rehearsal string            `enum:",none,local,remote,slow" default:"" placeholder:"PROFILE" help:"Latency of the rehearsal: none, local, remote or slow." group:"Services"`
	Fault     map[string]string `placeholder:"KIND=SHARE" help:"Faults of the rehearsal: rate_limited, server_error, hang, cut, bad_body; outage=FROM+FOR; token_requests=N, after which the token of a login expires; quota=N requests a second; capacity=N at once, past which it slows down." group:"Services"`
	Scarcity  bool              `help:"Shoppers of the rehearsal share its stock; the result then depends on timing." group:"Services"`
	Service   map[string]string `placeholder:"NAME=URL" help:"Address to use instead of the scenario's." group:"Services"`
	Allow     []string          `placeholder:"HOST" help:"Host beside this machine that may be called." group:"Services"`
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

// explained are the texts of wire.Settings, wire.TelemetrySettings and wire.DatabaseSettings for the flags.
func explained() kong.Vars {
	vars := kong.Vars{"env_data": wire.DataEnv, "env_database_url": wire.DatabaseEnv, "env_notify": wire.NotifyEnv}
	for _, s := range wire.Settings {
		name := strings.ReplaceAll(s.Name, "-", "_") // kong knows no other
		vars["hold_"+name] = s.Hold
		vars["help_"+name] = strings.ToUpper(s.Help[:1]) + s.Help[1:] + "."
	}
	for _, s := range wire.TelemetrySettings {
		name := strings.ReplaceAll(s.Name, "-", "_")
		vars["hold_"+name] = s.Hold
		vars["help_"+name] = strings.ToUpper(s.Help[:1]) + s.Help[1:] + "; else " + s.Env + "."
	}
	for _, s := range wire.DatabaseSettings {
		name := strings.ReplaceAll(s.Name, "-", "_")
		vars["hold_"+name] = s.Hold
		vars["help_"+name] = strings.ToUpper(s.Help[:1]) + s.Help[1:] + "; else " + s.Env + "."
	}
	return vars
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
