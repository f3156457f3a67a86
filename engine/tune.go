package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tunable is a setting that can be changed while a run is in progress.
type tunable struct {
	name, help string
	show       func(s *Settings) string
	set        func(s *Settings, text string) error
	// timing says that another value may change which sessions fail.
	timing bool
}

// tunables is the one table of the settings that can be changed while a run is in progress.
var tunables = []tunable{
	{
		LimitChange, "sessions in flight, at most; with a governor the ceiling too", func(s *Settings) string { return strconv.Itoa(s.Limit) },
		whole(func(s *Settings, n int) { s.Limit = n }), false,
	},
	{
		"governor", "what moves the limit: manual, adaptive, resources, success, latency or connections",
		func(s *Settings) string { return cmp.Or(s.Governor, Manual) }, word(func(s *Settings) *string { return &s.Governor }), false,
	},
	{
		"floor", "sessions in flight that a governor leaves at least", func(s *Settings) string { return strconv.Itoa(s.Floor) },
		whole(func(s *Settings, n int) { s.Floor = n }), false,
	},
	{
		CeilingChange, "sessions in flight that a governor allows at most", func(s *Settings) string { return strconv.Itoa(s.Ceiling) },
		whole(func(s *Settings, n int) { s.Ceiling = n }), false,
	},
	{
		"cpu-high", "CPU of the machine above which the resources governor lowers the limit",
		func(s *Settings) string { return decimal(s.CPUHigh) }, percentage(func(s *Settings) *float64 { return &s.CPUHigh }), false,
	},
	{
		"cpu-low", "CPU of the machine below which the resources governor may double the limit",
		func(s *Settings) string { return decimal(s.CPULow) }, percentage(func(s *Settings) *float64 { return &s.CPULow }), false,
	},
	{
		"memory-high", "memory in use on the machine above which the resources governor lowers the limit; 0: when under 2 GB are left",
		func(s *Settings) string { return decimal(s.MemoryHigh) }, percentage(func(s *Settings) *float64 { return &s.MemoryHigh }), false,
	},
	{
		"memory-low", "memory in use on the machine below which the resources governor raises the limit; 0: while 4 GB are left",
		func(s *Settings) string { return decimal(s.MemoryLow) }, percentage(func(s *Settings) *float64 { return &s.MemoryLow }), false,
	},
	{
		"breaker", "what the run does when too much of it fails: probe until it heals, wait for a person, or off",
		func(s *Settings) string { return cmp.Or(s.Breaker, Breakers[0]) }, word(func(s *Settings) *string { return &s.Breaker }), false,
	},
	{
		"stall-warning", "time without any session ending, while some are in flight, that is told of; 0 is never",
		func(s *Settings) string { return s.StallAfter.String() }, duration(func(s *Settings) *time.Duration { return &s.StallAfter }), false,
	},
	{
		"session-timeout", "time that a session may use; 0 is none",
		func(s *Settings) string { return s.SessionTimeout.String() }, duration(func(s *Settings) *time.Duration { return &s.SessionTimeout }), true,
	},
	{
		"chain-timeout", "time that a chain may use, where it does not say",
		func(s *Settings) string { return s.ChainTimeout.String() }, duration(func(s *Settings) *time.Duration { return &s.ChainTimeout }), true,
	},
	{
		cycleTimeout, "time that a cycle may use; 0 is none",
		func(s *Settings) string { return s.CycleTimeout.String() }, duration(func(s *Settings) *time.Duration { return &s.CycleTimeout }), true,
	},
	{
		"budget", "what calls of models may cost; 0 is any",
		func(s *Settings) string { return decimal(s.Budget.Dollars) }, func(s *Settings, text string) (err error) {
			s.Budget.Dollars, err = strconv.ParseFloat(text, 64)
			return wrongText(err, text, "a number")
		}, false,
	},
	{
		"max-tokens", "tokens of models, in and out, that the run may take; 0 is any",
		func(s *Settings) string { return strconv.FormatInt(s.Budget.Tokens, 10) }, whole(func(s *Settings, n int) { s.Budget.Tokens = int64(n) }), false,
	},
	{
		"max-requests", "requests to all services that the run may make; 0 is any",
		func(s *Settings) string { return strconv.FormatInt(s.Budget.Requests, 10) }, whole(func(s *Settings, n int) { s.Budget.Requests = int64(n) }), false,
	},
	{
		"max-time", "wall time that the run may take, pauses included; 0 is any",
		func(s *Settings) string { return s.Budget.Wall.String() }, duration(func(s *Settings) *time.Duration { return &s.Budget.Wall }), false,
	},
	{
		"checkpoint-interval", "longest time between checkpoints; 0 takes none by time",
		func(s *Settings) string { return s.CheckpointEvery.String() }, duration(func(s *Settings) *time.Duration { return &s.CheckpointEvery }), false,
	},
}

const (
	cycleTimeout = "cycle-timeout"
	timeoutTail  = ".timeout" // of a service's tunable that makes a run inexact
)

// TunableNames are the settings that can be changed while a run is in progress. A change of one is journaled under its
// name, and so comes back.
func TunableNames() []string {
	var names []string
	for i := range tunables {
		names = append(names, tunables[i].name)
	}
	return names
}

// Tune changes a setting by its name; the text is as a flag takes it. Mistakes are *FieldError, and change nothing.
func (s *Settings) Tune(name, text string) error {
	i := slices.IndexFunc(tunables, func(t tunable) bool { return t.name == name })
	if i < 0 {
		return &FieldError{name, "nothing of that name can be changed while a run is in progress", strings.Join(TunableNames(), ", ")}
	}
	next := *s
	if err := tunables[i].set(&next, strings.TrimSpace(text)); err != nil {
		return &FieldError{name, err.Error(), tunables[i].help}
	}
	checked := next
	if next.Limit == 0 { // as only a run in progress may be
		checked.Limit = 1
	}
	if err := checked.Validate(); err != nil {
		return err
	}
	*s = next
	return nil
}

// Read sets what Tune can change, and leaves to Validate whether it fits the others.
func (s *Settings) Read(name, text string) error {
	i := slices.IndexFunc(tunables, func(t tunable) bool { return t.name == name })
	if i < 0 {
		return &FieldError{name, "nothing of that name can be changed", strings.Join(TunableNames(), ", ")}
	}
	return tunables[i].set(s, strings.TrimSpace(text))
}

// Retune sets what changes of a run left behind, by name. That they go together was looked at when each was made; a name
// or a text that means nothing here changes nothing.
func (s *Settings) Retune(texts map[string]string) {
	for i := range tunables {
		t, next := &tunables[i], *s
		if text, ok := texts[t.name]; ok && t.set(&next, text) == nil {
			*s = next
		}
	}
}

// Tunables are the settings of s that can be changed while a run is in progress.
func (s *Settings) Tunables() []Tunable {
	all := make([]Tunable, len(tunables))
	for i := range tunables {
		all[i] = Tunable{tunables[i].name, tunables[i].show(s), tunables[i].help}
	}
	return all
}

// Tunables are what Set can change now, those of services after the run's own.
func (r *Run) Tunables() []Tunable {
	all := r.settings.Load().Tunables()
	for _, s := range r.services {
		all = append(all, s.Tunables()...)
	}
	return all
}

// Set changes one of Tunables while the run goes on; who and why are journaled with it. Mistakes are *FieldError, and
// change nothing. Another timeout makes the run inexact: sessions that begin from then on go by it, cycle-timeout counts
// from the next cycle.
func (r *Run) Set(name, value, who, why string) error {
	if name == LimitChange {
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil {
			return &FieldError{name, fmt.Sprintf("%q is not a whole number", value), ""}
		}
		return r.SetLimit(n, who, why)
	}
	return r.order(func(l *loop) error { return l.set(name, value, who, why) })
}

func whole(set func(*Settings, int)) func(*Settings, string) error {
	return func(s *Settings, text string) error {
		n, err := strconv.Atoi(text)
		if err == nil {
			set(s, n)
		}
		return wrongText(err, text, "a whole number")
	}
}

// percentage reads a share of 100, with or without its sign.
func percentage(of func(*Settings) *float64) func(*Settings, string) error {
	return func(s *Settings, text string) error {
		f, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(text, "%")), 64)
		if err == nil {
			*of(s) = f
		}
		return wrongText(err, text, "a percentage")
	}
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// word reads a name; whether there is such a one is for Validate to say.
func word(of func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, text string) error {
		if text == "" {
			return errors.New("no name is given")
		}
		*of(s) = text
		return nil
	}
}

func duration(of func(*Settings) *time.Duration) func(*Settings, string) error {
	return func(s *Settings, text string) error {
		d, err := ParseTime(text)
		if err == nil {
			*of(s) = d
		}
		return err
	}
}

func wrongText(err error, text, want string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q is not %s", text, want)
}
