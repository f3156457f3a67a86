package wire

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
	"time"

	"github.com/throng-sim/throng/engine"
)

// Setting is one line of the table of run settings: its flag's name, the environment variables that set it, and how
// its text is read into and shown from the settings.
type Setting struct {
	Name string
	Env  []string
	Not  []string // environment variables that say the opposite of a setting which is on or off
	Help string
	Hold string // what stands for the value in a usage text
	Set  func(s *engine.Settings, text string) error
	Show func(s *engine.Settings) string
	// Fork marks what a resumed run cannot change: another value is another run.
	Fork bool
}

// Settings is the one table of run settings.
var Settings = []Setting{
	{
		Name: "max-concurrent", Env: []string{"SIMULATION_MAX_CONCURRENT", "MAX_WORKERS"}, Hold: "N", Help: "sessions in flight, at most; with --ceiling, at the start",
		Set:  whole(func(s *engine.Settings, n int) { s.Limit = n }),
		Show: func(s *engine.Settings) string { return strconv.Itoa(s.Limit) },
	},
	{
		Name: "cycles", Hold: "N", Help: "length of the run in cycles",
		Set:  whole(func(s *engine.Settings, n int) { s.Cycles, s.Hours = n, 0 }),
		Show: func(s *engine.Settings) string { return strconv.Itoa(s.Cycles) },
	},
	{
		Name: "hours", Hold: "H", Help: "length of the run in hours of wall time",
		Set:  number(func(s *engine.Settings, f float64) { s.Hours, s.Cycles = f, 0 }),
		Show: func(s *engine.Settings) string { return decimal(s.Hours) },
	},
	{
		Name: "time-scale", Hold: "X", Help: "simulated time per wall time; 0 is as fast as possible",
		Set:  number(func(s *engine.Settings, f float64) { s.TimeScale = f }),
		Show: func(s *engine.Settings) string { return decimal(s.TimeScale) },
	},
	{
		Name: "seed", Hold: "N", Help: "what all draws depend on", Fork: true,
		Set: func(s *engine.Settings, text string) (err error) {
			s.Seed, err = strconv.ParseUint(text, 10, 64)
			return wrong(err, text, "a whole number, not negative")
		},
		Show: func(s *engine.Settings) string { return strconv.FormatUint(s.Seed, 10) },
	},
	{
		Name: "session-timeout", Hold: "T", Help: "time that a session may use; 0 is none",
		Set:  duration(func(s *engine.Settings, d time.Duration) { s.SessionTimeout = d }),
		Show: func(s *engine.Settings) string { return s.SessionTimeout.String() },
	},
	{
		Name: "chain-timeout", Env: []string{"CHAIN_TIMEOUT_SECONDS"}, Hold: "T", Help: "time that a chain may use, where it does not say",
		Set:  duration(func(s *engine.Settings, d time.Duration) { s.ChainTimeout = d }),
		Show: func(s *engine.Settings) string { return s.ChainTimeout.String() },
	},
	{
		Name: "cycle-timeout", Env: []string{"PARALLEL_EXECUTION_TIMEOUT"}, Hold: "T", Help: "time that a cycle may use; 0 is none",
		Set:  duration(func(s *engine.Settings, d time.Duration) { s.CycleTimeout = d }),
		Show: func(s *engine.Settings) string { return s.CycleTimeout.String() },
	},
	{
		Name: "retries", Hold: "N", Help: "attempts at a request, where its step does not say",
		Set:  whole(func(s *engine.Settings, n int) { s.Retry.Attempts = n }),
		Show: func(s *engine.Settings) string { return strconv.Itoa(s.Retry.Attempts) },
	},
	{
		Name: "retry-wait", Hold: "T", Help: "longest wait before the second attempt; it doubles, with full jitter",
		Set:  duration(func(s *engine.Settings, d time.Duration) { s.Retry.Wait = d }),
		Show: func(s *engine.Settings) string { return s.Retry.Wait.String() },
	},
	{
		Name: "checkpoint-interval", Env: []string{"SIMULATION_CHECKPOINT_INTERVAL"}, Hold: "T", Help: "longest time between checkpoints; 0 takes none by time",
		Set:  duration(func(s *engine.Settings, d time.Duration) { s.CheckpointEvery = d }),
		Show: func(s *engine.Settings) string { return s.CheckpointEvery.String() },
	},
	{
		Name: "keep-checkpoints", Hold: "N", Help: "checkpoints that are kept",
		Set:  whole(func(s *engine.Settings, n int) { s.KeepCheckpoints = n }),
		Show: func(s *engine.Settings) string { return strconv.Itoa(s.KeepCheckpoints) },
	},
	{
		Name: "warm-up", Hold: "SHARES", Help: "shares of agents active in the first cycles, such as 0.1,0.5,1; on for the usual; off", Fork: true,
		Set: setWarmUp,
		Show: func(s *engine.Settings) string {
			if len(s.WarmUp) == 0 {
				return "off"
			}
			var shares []string
			for _, f := range s.WarmUp {
				shares = append(shares, decimal(f))
			}
			return strings.Join(shares, ",")
		},
	},
	{
		Name: "sequential", Not: []string{"PARALLEL_AGENT_ACTIONS"}, Hold: "on|off",
		Help: "one agent acts after the other, in an order drawn from the seed, and messages are there at once", Fork: true,
		Set:  toggle(func(s *engine.Settings) *bool { return &s.Sequential }),
		Show: shown(func(s *engine.Settings) *bool { return &s.Sequential }),
	},
	{
		Name: "keep-share", Hold: "S", Help: "share of sessions whose requests and answers are kept",
		Set:  number(func(s *engine.Settings, f float64) { s.KeepShare = f }),
		Show: func(s *engine.Settings) string { return decimal(s.KeepShare) },
	},
	{
		Name: "record", Hold: "on|off", Help: "keep all answers, so that `throngctl run --replay` can be answered from them; that takes disk, about what the services answer, compressed",
		Set:  toggle(func(s *engine.Settings) *bool { return &s.Record }),
		Show: shown(func(s *engine.Settings) *bool { return &s.Record }),
		Fork: true,
	},
	{
		Name: "metrics", Env: []string{"COLLECT_PARALLEL_METRICS"}, Hold: "on|off", Help: "record the state of the run and the machine every second",
		Set:  toggle(func(s *engine.Settings) *bool { return &s.Metrics }),
		Show: shown(func(s *engine.Settings) *bool { return &s.Metrics }),
	},
	{
		Name: "remote-checkpoints", Hold: "on|off", Help: "send what checkpoints restore to the database as well, so that they can be forked on another machine",
		Set:  toggle(func(s *engine.Settings) *bool { return &s.RemoteCheckpoints }),
		Show: shown(func(s *engine.Settings) *bool { return &s.RemoteCheckpoints }),
	},
	{
		Name: "sequential-steps", Not: []string{"ENABLE_PARALLEL_STEPS"}, Hold: "on|off",
		Help: "run the steps of a session one after another, parallel ones too; the results are the same",
		Set:  toggle(func(s *engine.Settings) *bool { return &s.SequentialSteps }),
		Show: shown(func(s *engine.Settings) *bool { return &s.SequentialSteps }),
	},
	{
		Name: "max-llm-calls", Env: []string{"MAX_CONCURRENT_LLM_CALLS"}, Hold: "N", Help: "calls of models at once, over all services together",
		Set:  whole(func(s *engine.Settings, n int) { s.MaxLLMCalls = n }),
		Show: func(s *engine.Settings) string { return strconv.Itoa(s.MaxLLMCalls) },
	},
	{
		Name: "llm-rate", Hold: "R", Help: "calls of models per second at first, where the scenario does not say",
		Set:  number(func(s *engine.Settings, f float64) { s.LLMRate = f }),
		Show: func(s *engine.Settings) string { return decimal(s.LLMRate) },
	},
	{
		Name: "governor", Hold: "NAME", Help: "what moves the limit: manual, adaptive, resources, success, latency or connections",
		Set:  oneOf(func(s *engine.Settings) *string { return &s.Governor }, governors()),
		Show: func(s *engine.Settings) string { return cmp.Or(s.Governor, engine.Manual) },
	},
	{
		Name: "floor", Hold: "N", Help: "sessions in flight that a governor leaves at least",
		Set:  whole(func(s *engine.Settings, n int) { s.Floor = n }),
		Show: func(s *engine.Settings) string { return strconv.Itoa(s.Floor) },
	},
	{
		Name: "ceiling", Hold: "N", Help: "sessions in flight that a governor allows at most",
		Set:  whole(func(s *engine.Settings, n int) { s.Ceiling = n }),
		Show: func(s *engine.Settings) string { return strconv.Itoa(s.Ceiling) },
	},
	{
		Name: "cpu-high", Hold: "PERCENT", Help: "CPU of the machine above which the resources governor lowers the limit",
		Set:  tuned("cpu-high"),
		Show: func(s *engine.Settings) string { return decimal(s.CPUHigh) },
	},
	{
		Name: "cpu-low", Hold: "PERCENT", Help: "CPU of the machine below which the resources governor may double the limit",
		Set:  tuned("cpu-low"),
		Show: func(s *engine.Settings) string { return decimal(s.CPULow) },
	},
	{
		Name: "memory-high", Hold: "PERCENT", Help: "memory in use on the machine above which the resources governor lowers the limit; 0: when under 2 GB are left",
		Set:  tuned("memory-high"),
		Show: func(s *engine.Settings) string { return decimal(s.MemoryHigh) },
	},
	{
		Name: "memory-low", Hold: "PERCENT", Help: "memory in use on the machine below which the resources governor raises the limit; 0: while 4 GB are left",
		Set:  tuned("memory-low"),
		Show: func(s *engine.Settings) string { return decimal(s.MemoryLow) },
	},
	{
		Name: presetName, Hold: "NAME", Help: "several of these settings under one name. " + presetsHelp(),
		Set:  setPreset,
		Show: func(s *engine.Settings) string { return cmp.Or(s.Preset, noPreset) },
	},
	{
		Name: "batch", Hold: "N", Help: "run the agents of a cycle in waves of N, each after the last of the one before has ended; 0 is one wave",
		Set:  whole(func(s *engine.Settings, n int) { s.Batch = n }),
		Show: func(s *engine.Settings) string { return strconv.Itoa(s.Batch) },
	},
	{
		Name: "sequential-personas", Not: []string{"PARALLEL_AGENT_GENERATION"}, Hold: "on|off",
		Help: "have a model write the personas of a population one after another",
		Set:  toggle(func(s *engine.Settings) *bool { return &s.SequentialPersonas }),
		Show: shown(func(s *engine.Settings) *bool { return &s.SequentialPersonas }),
	},
	{
		Name: "breaker", Hold: "WAY", Help: "what the run does when too much of it fails: probe until it heals, wait for a person, or off",
		Set:  oneOf(func(s *engine.Settings) *string { return &s.Breaker }, engine.Breakers),
		Show: func(s *engine.Settings) string { return cmp.Or(s.Breaker, engine.Breakers[0]) },
	},
	{
		Name: "stall-warning", Hold: "T", Help: "time without any session ending, while some are in flight, that is told of; 0 is never",
		Set:  duration(func(s *engine.Settings, d time.Duration) { s.StallAfter = d }),
		Show: func(s *engine.Settings) string { return s.StallAfter.String() },
	},
	{
		Name: "budget", Hold: "USD", Help: "what calls of models may cost; 0 is any",
		Set:  number(func(s *engine.Settings, f float64) { s.Budget.Dollars = f }),
		Show: func(s *engine.Settings) string { return decimal(s.Budget.Dollars) },
	},
	{
		Name: "max-tokens", Hold: "N", Help: "tokens of models, in and out, that the run may take; 0 is any",
		Set:  whole(func(s *engine.Settings, n int) { s.Budget.Tokens = int64(n) }),
		Show: func(s *engine.Settings) string { return strconv.FormatInt(s.Budget.Tokens, 10) },
	},
	{
		Name: "max-requests", Hold: "N", Help: "requests to all services that the run may make; 0 is any",
		Set:  whole(func(s *engine.Settings, n int) { s.Budget.Requests = int64(n) }),
		Show: func(s *engine.Settings) string { return strconv.FormatInt(s.Budget.Requests, 10) },
	},
	{
		Name: "max-time", Hold: "T", Help: "wall time that the run may take, pauses included; 0 is any",
		Set:  duration(func(s *engine.Settings, d time.Duration) { s.Budget.Wall = d }),
		Show: func(s *engine.Settings) string { return s.Budget.Wall.String() },
	},
	{
		Name: "keep-awake", Hold: "on|off", Help: "keep the machine from sleeping while the run goes on",
		Set:  toggle(func(s *engine.Settings) *bool { return &s.KeepAwake }),
		Show: shown(func(s *engine.Settings) *bool { return &s.KeepAwake }),
	},
	{
		Name: "simulation-mode", Env: []string{"SIMULATION_MODE"}, Hold: "on|off", Help: "send X-Simulation-Mode: true to the services",
		Set:  toggle(func(s *engine.Settings) *bool { return &s.Simulation }),
		Show: shown(func(s *engine.Settings) *bool { return &s.Simulation }),
	},
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
	for _, setting := range Settings {
		text, from := l.find(setting)
		if from != "" {
			if err := setting.Set(&s, text); err != nil {
				mistakes = append(mistakes, &engine.FieldError{Field: from, Problem: err.Error()})
			}
		}
		origins[setting.Name] = Origin{From: from}
	}
	capped := origins["max-concurrent"].From != "" && origins["ceiling"].From == ""
	if capped {
		s.Ceiling, origins["ceiling"] = s.Limit, origins["max-concurrent"]
	}
	if s.Governor != engine.Manual && s.Governor != "" && s.Limit > 0 && (s.Floor <= s.Ceiling || capped) {
		fit(&s, origins)
		if capped {
			s.Ceiling = s.Limit
		}
	}
	for _, setting := range Settings {
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
func (l Layers) find(s Setting) (text, from string) {
	if text := l.Flags[s.Name]; text != "" {
		return text, "--" + s.Name
	}
	if text := preset(l.Flags, s.Name); text != "" {
		return text, "--" + presetName + " " + l.Flags[presetName]
	}
	if l.Env != nil {
		for _, name := range s.Env {
			if text := l.env(name); text != "" {
				return text, name
			}
		}
		for _, name := range s.Not {
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

// presetName is the setting that stands for several others, which are stronger where both are in one place.
const (
	presetName = "preset"
	noPreset   = "none"
)

// preset is what the preset of a layer says of a setting; "" is nothing.
func preset(layer map[string]string, name string) string {
	i := slices.IndexFunc(engine.SettingPresets, func(p engine.SettingPreset) bool { return p.Name == layer[presetName] })
	if i < 0 {
		return ""
	}
	return engine.SettingPresets[i].Settings[name]
}

// setPreset checks the name of a preset; what it stands for is looked up by [Layers.find].
func setPreset(s *engine.Settings, text string) error {
	if text == noPreset {
		s.Preset = ""
		return nil
	}
	var names []string
	for _, p := range engine.SettingPresets {
		if p.Name == text {
			s.Preset = text
			return nil
		}
		names = append(names, p.Name)
	}
	return fmt.Errorf("unknown preset %q; choose %s", text, strings.Join(names, ", "))
}

// savedName is the file of the saved settings in the data folder.
const savedName = "settings.json"

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
		i := slices.IndexFunc(Settings, func(s Setting) bool { return s.Name == name })
		if i < 0 {
			mistakes = append(mistakes, &engine.FieldError{Field: name, Problem: "there is no such setting", Hint: "throngctl settings lists them"})
			continue
		}
		if changes[name] == "" {
			delete(saved, name)
			continue
		}
		probe := engine.DefaultSettings()
		err := Settings[i].Set(&probe, changes[name])
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

func whole(set func(*engine.Settings, int)) func(*engine.Settings, string) error {
	return func(s *engine.Settings, text string) error {
		n, err := strconv.Atoi(text)
		if err == nil {
			set(s, n)
		}
		return wrong(err, text, "a whole number")
	}
}

// tuned reads a setting as the run in progress does that can change it.
func tuned(name string) func(*engine.Settings, string) error {
	return func(s *engine.Settings, text string) error { return s.Read(name, text) }
}

// presetsHelp lists the presets.
func presetsHelp() string {
	var all []string
	for _, p := range engine.SettingPresets {
		all = append(all, p.Name+": "+p.About)
	}
	return strings.Join(all, "; ")
}

func number(set func(*engine.Settings, float64)) func(*engine.Settings, string) error {
	return func(s *engine.Settings, text string) error {
		f, err := strconv.ParseFloat(text, 64)
		if err == nil {
			set(s, f)
		}
		return wrong(err, text, "a number")
	}
}

func duration(set func(*engine.Settings, time.Duration)) func(*engine.Settings, string) error {
	return func(s *engine.Settings, text string) error {
		d, err := engine.ParseTime(text)
		if err == nil {
			set(s, d)
		}
		return err
	}
}

func wrong(err error, text, want string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q is not %s", text, want)
}

// oneOf reads one of some words.
func oneOf(of func(*engine.Settings) *string, words []string) func(*engine.Settings, string) error {
	return func(s *engine.Settings, text string) error {
		if !slices.Contains(words, text) {
			return fmt.Errorf("%q is none of %s", text, strings.Join(words, ", "))
		}
		*of(s) = text
		return nil
	}
}

func governors() []string {
	var names []string
	for _, g := range engine.Governors {
		names = append(names, g.Name)
	}
	return names
}

func toggle(of func(*engine.Settings) *bool) func(*engine.Settings, string) error {
	return func(s *engine.Settings, text string) (err error) {
		*of(s), err = onOff(text)
		return err
	}
}

func shown(of func(*engine.Settings) *bool) func(*engine.Settings) string {
	return func(s *engine.Settings) string {
		if *of(s) {
			return "on"
		}
		return "off"
	}
}

func onOff(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "on", "true", "yes", "1":
		return true, nil
	case "off", "false", "no", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither on nor off", text)
}

// opposite turns on into off; what is neither stays, and is no setting's text.
func opposite(text string) string {
	on, err := onOff(text)
	switch {
	case err != nil:
		return text
	case on:
		return "off"
	}
	return "on"
}

func setWarmUp(s *engine.Settings, text string) error {
	if on, err := onOff(text); err == nil && text != "1" && text != "0" {
		s.WarmUp = nil
		if on {
			s.WarmUp = engine.DefaultWarmUp
		}
		return nil
	}
	var shares []float64
	for part := range strings.SplitSeq(text, ",") {
		f, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return wrong(err, text, "on, off or shares such as 0.1,0.5,1")
		}
		shares = append(shares, f)
	}
	s.WarmUp = shares
	return nil
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
