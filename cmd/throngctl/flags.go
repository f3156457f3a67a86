package main

import (
	"reflect"

	"github.com/throng-sim/throng/engine"
)

// settingFlags are the flags of wire.Settings, read as texts: the table knows their forms. A flag left out is "".
type settingFlags struct {
	MaxConcurrent      string `placeholder:"N" help:"Sessions in flight, at most." group:"Run settings"`
	Cycles             string `placeholder:"N" help:"Length of the run in cycles." xor:"length" group:"Run settings"`
	Hours              string `placeholder:"H" help:"Length of the run in hours of wall time." xor:"length" group:"Run settings"`
	TimeScale          string `placeholder:"X" help:"Simulated time per wall time; 0 is as fast as possible." group:"Run settings"`
	SessionTimeout     string `placeholder:"T" help:"Time that a session may use; 0 is none." group:"Run settings"`
	ChainTimeout       string `placeholder:"T" help:"Time that a chain may use, where it does not say." group:"Run settings"`
	CycleTimeout       string `placeholder:"T" help:"Time that a cycle may use; 0 is none." group:"Run settings"`
	Retries            string `placeholder:"N" help:"Attempts at a request, where its step does not say." group:"Run settings"`
	RetryWait          string `placeholder:"T" help:"Longest wait before the second attempt; it doubles." group:"Run settings"`
	CheckpointInterval string `placeholder:"T" help:"Longest time between checkpoints; 0 takes none by time." group:"Run settings"`
	KeepCheckpoints    string `placeholder:"N" help:"Checkpoints that are kept." group:"Run settings"`
	KeepShare          string `placeholder:"S" help:"Share of sessions whose requests and answers are kept." group:"Run settings"`
	Metrics            string `placeholder:"on|off" help:"Record the run and the machine every second." group:"Run settings"`
	SimulationMode     string `placeholder:"on|off" help:"Send X-Simulation-Mode: true to the services." group:"Run settings"`
}

// newFlags are those that only a new run can have.
type newFlags struct {
	Seed   string `placeholder:"N" help:"What all draws depend on." group:"Run settings"`
	WarmUp string `placeholder:"SHARES" help:"Shares of agents active in the first cycles, such as 0.1,0.5,1; on for the usual." group:"Run settings"`
}

// outsideFlags say what the run talks to; a resumed run keeps what is not given.
type outsideFlags struct {
	Rehearsal string            `enum:",none,local,remote,slow" default:"" placeholder:"PROFILE" help:"Latency of the rehearsal: none, local, remote or slow." group:"Services"`
	Fault     map[string]string `placeholder:"KIND=SHARE" help:"Faults of the rehearsal: rate_limited, server_error, hang, cut, bad_body; outage=FROM+FOR." group:"Services"`
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
