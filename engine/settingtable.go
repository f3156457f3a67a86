package engine

import (
	"fmt"
	"strconv"
	"strings"
)

// Names of settings that the engine refers to.
const (
	LimitSetting              = "max-concurrent"
	FloorSetting              = "floor"
	CeilingSetting            = "ceiling"
	GovernorSetting           = "governor"
	PresetSetting             = "preset"
	CycleTimeoutSetting       = "cycle-timeout"
	sessionTimeout            = "session-timeout"
	CheckpointIntervalSetting = "checkpoint-interval"
	unitTime                  = "T"
	groupConcurrency          = "Concurrency"
	groupLength               = "Length and pace"
	groupTimeouts             = "Timeouts and retries"
	groupModels               = "Models"
	groupBudget               = "Budget"
	groupCheckpoints          = "Checkpoints and files"
	groupMachine              = "Machine and services"
	noPreset                  = "none"
	unlimited                 = "unlimited"
	notUsed                   = "not used"
	off                       = "off"
	memoryTitle               = "Memory budget"
	sequentialHelp            = "run one agent after another, in an order drawn from the seed, so that messages arrive immediately"
	parallelOffHelp           = "run the steps of a session one after another, including parallel ones; results stay the same"
	remoteStateHelp           = "also store checkpoint data in the database, so that other machines can fork from it"
	recordHelp                = "store every answer, so that a replay can repeat the run without the services; takes about as much disk as the answers, compressed"
	liveLimitHelp             = "number of sessions in flight, which stays as set until it is automatic again; automatic lets the governor decide"
	resourcesCPUHigh          = "CPU usage of the machine above which the resources governor lowers the limit"
	resourcesCPULow           = "CPU usage of the machine below which the resources governor may double the limit"
	resourcesMemoryHigh       = "memory usage of the machine above which the resources governor lowers the limit; 0: when less than 2 GB is left"
	resourcesMemoryLow        = "memory usage of the machine below which the resources governor raises the limit; 0: when at least 4 GB is left"
)

// SettingTable lists all settings of a run.
var SettingTable = []Setting{
	// Concurrency.
	{
		Name: LimitSetting, Title: "Concurrency limit", Group: groupConcurrency, Unit: "N", Live: true, Env: []string{"SIMULATION_MAX_CONCURRENT", "MAX_WORKERS"},
		Count: "sessions", Help: "sessions in flight, at most; the value at the start, if the highest limit is set as well", field: func(s *Settings) settingValue { return wholeValue(&s.Limit) },
		live: func(s *Settings) settingValue { return limitValue{s} }, LiveHelp: liveLimitHelp,
	},
	{
		Name: GovernorSetting, Title: "Adjusted by", Group: groupConcurrency, Unit: "NAME", Live: true, Help: "what moves the limit, a governor: " + governorNames(),
		field: func(s *Settings) settingValue {
			return choiceValue(&s.Governor, "governor", Manual, func() []string {
				var names []string
				for _, g := range Governors {
					names = append(names, g.Name)
				}
				return names
			})
		},
	},
	{
		Name: FloorSetting, Title: "Lowest limit", Group: groupConcurrency, Unit: "N", Count: "sessions", Live: true, Help: "lowest limit that a governor sets",
		field: func(s *Settings) settingValue { return wholeValue(&s.Floor) },
	},
	{
		Name: CeilingSetting, Title: "Highest limit", Group: groupConcurrency, Unit: "N", Count: "sessions", Live: true, Help: "highest limit that a governor sets",
		field: func(s *Settings) settingValue { return wholeValue(&s.Ceiling) },
	},
	{
		Name: "cpu-high", Title: "CPU high", Group: groupConcurrency, Unit: "PERCENT", Live: true, Help: resourcesCPUHigh,
		field: func(s *Settings) settingValue { return percentValue(&s.CPUHigh) },
	},
	{
		Name: "cpu-low", Title: "CPU low", Group: groupConcurrency, Unit: "PERCENT", Live: true, Help: resourcesCPULow,
		field: func(s *Settings) settingValue { return percentValue(&s.CPULow) },
	},
	{
		Name: "memory-high", Title: "Memory high", Group: groupConcurrency, Unit: "PERCENT", Zero: "automatic", Live: true, Help: resourcesMemoryHigh,
		field: func(s *Settings) settingValue { return percentValue(&s.MemoryHigh) },
	},
	{
		Name: "memory-low", Title: "Memory low", Group: groupConcurrency, Unit: "PERCENT", Zero: "automatic", Live: true, Help: resourcesMemoryLow,
		field: func(s *Settings) settingValue { return percentValue(&s.MemoryLow) },
	},
	{
		Name: PresetSetting, Title: "Preset", Group: groupConcurrency, Unit: "NAME", Help: "a named group of these settings. " + presetsHelp(),
		field: func(s *Settings) settingValue { return presetValue(&s.Preset) },
	},
	{
		Name: "batch", Title: "Agents per wave", Group: groupConcurrency, Unit: "N", Count: "agents", Zero: "one wave", Help: "agents of a cycle that run together; each wave waits for the last; 0: one wave",
		field: func(s *Settings) settingValue { return wholeValue(&s.Batch) },
	},
	{
		Name: "breaker", Title: "Circuit breaker", Group: groupConcurrency, Unit: "MODE", Live: true, Help: "response to too many failed sessions: probe until recovery, wait for a person, or off",
		field: func(s *Settings) settingValue {
			return choiceValue(&s.Breaker, "breaker mode", Breakers[0], func() []string { return Breakers })
		},
	},
	{
		Name: "warm-up", Title: "Warm-up", Group: groupConcurrency, Unit: "SHARES", Fixed: true, Help: "fractions of agents active in the first cycles, such as 0.1,0.5,1; on uses " + warmUpText(DefaultWarmUp),
		field: func(s *Settings) settingValue {
			v := plainValue(&s.WarmUp, func(shares []float64) bool { return len(shares) == 0 })
			v.read, v.show = readWarmUp, warmUpText
			return v
		},
	},
	{
		Name: "sequential", Title: "Sequential agents", Group: groupConcurrency, Unit: "on|off", Fixed: true, EnvNot: []string{"PARALLEL_AGENT_ACTIONS"}, Help: sequentialHelp,
		field: func(s *Settings) settingValue { return switchValue(&s.Sequential) },
	},
	{
		Name: "sequential-steps", Title: "Sequential steps", Group: groupConcurrency, Unit: "on|off", EnvNot: []string{"ENABLE_PARALLEL_STEPS"}, Help: parallelOffHelp,
		field: func(s *Settings) settingValue { return switchValue(&s.SequentialSteps) },
	},

	// Length and pace.
	{
		Name: "cycles", Title: "Cycles", Group: groupLength, Unit: "N", Count: "cycles", Zero: notUsed, Help: "length of the run in cycles; a scenario may have another default",
		field: func(s *Settings) settingValue { return lengthValue{s, wholeValue(&s.Cycles), true} },
	},
	{
		Name: "hours", Title: "Hours", Group: groupLength, Unit: "H", Count: "hours", Zero: notUsed, Help: "length of the run in hours of wall time, in place of cycles",
		field: func(s *Settings) settingValue { return lengthValue{s, numberValue(&s.Hours), false} },
	},
	{
		Name: "time-scale", Title: "Time scale", Group: groupLength, Unit: "X", Count: "times", Zero: "as fast as possible", Help: "simulated time per wall time; 0: as fast as possible",
		field: func(s *Settings) settingValue { return numberValue(&s.TimeScale) },
	},
	{
		Name: "seed", Title: "Random seed", Group: groupLength, Unit: "N", Fixed: true, Help: "same seed, same result",
		field: func(s *Settings) settingValue { return seedValue(&s.Seed) },
	},

	// Timeouts and retries.
	{
		Name: sessionTimeout, Title: "Session timeout", Group: groupTimeouts, Unit: unitTime, Zero: off, Live: true, Timing: true, Help: "time a session may take; 0 disables it",
		field: func(s *Settings) settingValue { return timeValue(&s.SessionTimeout) },
	},
	{
		Name: "chain-timeout", Title: "Chain timeout", Group: groupTimeouts, Unit: unitTime, Zero: off, Live: true, Timing: true, Env: []string{"CHAIN_TIMEOUT_SECONDS"},
		Help: "time a chain may take unless the scenario says otherwise; 0 disables it", field: func(s *Settings) settingValue { return timeValue(&s.ChainTimeout) },
	},
	{
		Name: CycleTimeoutSetting, Title: "Cycle timeout", Group: groupTimeouts, Unit: unitTime, Zero: off, Live: true, Timing: true, Env: []string{"PARALLEL_EXECUTION_TIMEOUT"},
		Help: "time a cycle may take; 0 disables it", field: func(s *Settings) settingValue { return timeValue(&s.CycleTimeout) },
	},
	{
		Name: "retries", Title: "Attempts", Group: groupTimeouts, Unit: "N", Count: "attempts", Help: "attempts per request unless its step says otherwise",
		field: func(s *Settings) settingValue { return wholeValue(&s.Retry.Attempts) },
	},
	{
		Name: "retry-wait", Title: "Retry wait", Group: groupTimeouts, Unit: unitTime, Help: "longest wait before the second attempt; doubles with each one, with full jitter",
		field: func(s *Settings) settingValue { return timeValue(&s.Retry.Wait) },
	},
	{
		Name: "retry-max-wait", Unit: unitTime, field: func(s *Settings) settingValue { return timeValue(&s.Retry.Max) },
	},
	{
		Name: "stall-warning", Title: "Stall warning", Group: groupTimeouts, Unit: unitTime, Zero: off, Live: true, Help: "warn when no session has ended for this long; 0 disables it",
		field: func(s *Settings) settingValue { return timeValue(&s.StallAfter) },
	},

	// Models.
	{
		Name: "max-llm-calls", Title: "Concurrent model calls", Group: groupModels, Unit: "N", Count: "calls", Env: []string{"MAX_CONCURRENT_LLM_CALLS"}, Help: "model calls in flight, over all services",
		field: func(s *Settings) settingValue { return wholeValue(&s.MaxLLMCalls) },
	},
	{
		Name: "llm-rate", Title: "Model calls per second", Group: groupModels, Unit: "R", Count: "per second", Help: "model calls per second at the start, unless the scenario says otherwise",
		field: func(s *Settings) settingValue { return numberValue(&s.LLMRate) },
	},
	{
		Name: "sequential-personas", Title: "Sequential personas", Group: groupModels, Unit: "on|off", EnvNot: []string{"PARALLEL_AGENT_GENERATION"},
		Help: "have the model write the personas of a population one after another", field: func(s *Settings) settingValue { return switchValue(&s.SequentialPersonas) },
	},

	// Budget.
	{
		Name: "budget", Title: "US dollars", Group: groupBudget, Unit: "USD", Count: "USD", Zero: unlimited, Live: true, Help: "budget for model calls in US dollars; 0 is unlimited",
		field: func(s *Settings) settingValue { return numberValue(&s.Budget.Dollars) },
	},
	{
		Name: "max-tokens", Title: "Tokens", Group: groupBudget, Unit: "N", Count: "tokens", Zero: unlimited, Live: true, Help: "budget for model tokens, input and output; 0 is unlimited",
		field: func(s *Settings) settingValue { return countValue(&s.Budget.Tokens) },
	},
	{
		Name: "max-requests", Title: "Requests", Group: groupBudget, Unit: "N", Count: "requests", Zero: unlimited, Live: true, Help: "budget for requests to all services; 0 is unlimited",
		field: func(s *Settings) settingValue { return countValue(&s.Budget.Requests) },
	},
	{
		Name: "max-time", Title: "Time", Group: groupBudget, Unit: unitTime, Zero: unlimited, Live: true, Help: "wall time the run may take, including pauses; 0 is unlimited",
		field: func(s *Settings) settingValue { return timeValue(&s.Budget.Wall) },
	},

	// Checkpoints and files.
	{
		Name: CheckpointIntervalSetting, Title: "Checkpoint interval", Group: groupCheckpoints, Unit: unitTime, Zero: off, Live: true, Env: []string{"SIMULATION_CHECKPOINT_INTERVAL"},
		Help: "longest time between checkpoints; 0 disables it", field: func(s *Settings) settingValue { return timeValue(&s.CheckpointEvery) },
	},
	{
		Name: "checkpoint-cycles", Title: "Checkpoint every", Group: groupCheckpoints, Unit: "N", Count: "cycles", Zero: off,
		Help: "take a checkpoint at the start of every Nth cycle, to fork from or to ask agents at; 0 takes none", field: func(s *Settings) settingValue { return wholeValue(&s.CheckpointCycles) },
	},
	{
		Name: "keep-checkpoints", Title: "Checkpoints kept", Group: groupCheckpoints, Unit: "N", Count: "checkpoints", Help: "checkpoints to keep",
		field: func(s *Settings) settingValue { return wholeValue(&s.KeepCheckpoints) },
	},
	{
		Name: "remote-checkpoints", Title: "Send checkpoints", Group: groupCheckpoints, Unit: "on|off", Help: remoteStateHelp,
		field: func(s *Settings) settingValue { return switchValue(&s.RemoteCheckpoints) },
	},
	{
		Name: "metrics", Title: "Metrics", Group: groupCheckpoints, Unit: "on|off", Env: []string{"COLLECT_PARALLEL_METRICS"}, Help: "record the state of the run and the machine every second",
		field: func(s *Settings) settingValue { return switchValue(&s.Metrics) },
	},
	{
		Name: "keep-share", Title: "Requests stored", Group: groupCheckpoints, Unit: "S", Help: "fraction of sessions whose requests and answers are stored",
		field: func(s *Settings) settingValue { return numberValue(&s.KeepShare) },
	},
	{
		Name: "keep-content", Title: "Content kept", Group: groupCheckpoints, Unit: "SIZE", Zero: "nothing",
		Help:  "prompts, requests and answers to keep for reading, compressed, such as 200MB; 0 keeps none",
		field: func(s *Settings) settingValue { return bytesValue(&s.KeepContent) },
	},
	{
		Name: "record", Title: "Record answers", Group: groupCheckpoints, Unit: "on|off", Fixed: true, Help: recordHelp,
		field: func(s *Settings) settingValue { return switchValue(&s.Record) },
	},

	// Machine and services.
	{
		Name: "memory-budget", Title: memoryTitle, Group: groupMachine, Unit: "M",
		Help: "memory for large answers in flight and for what agents remember: a share of this machine's memory such as 25%, an amount such as 2GB, or off",
		field: func(s *Settings) settingValue {
			return value[MemoryLimit]{of: &s.Memory, read: ParseMemory, show: MemoryLimit.String, out: func(m MemoryLimit) any { return m.String() }, in: readQuoted(ParseMemory)}
		},
	},
	{
		Name: "keep-awake", Title: "Keep awake", Group: groupMachine, Unit: "on|off", Help: "keep the machine from sleeping during the run",
		field: func(s *Settings) settingValue { return switchValue(&s.KeepAwake) },
	},
	{
		Name: "simulation-mode", Title: "X-Simulation-Mode", Group: groupMachine, Unit: "on|off", Env: []string{"SIMULATION_MODE"}, Help: "send X-Simulation-Mode: true to services",
		field: func(s *Settings) settingValue { return switchValue(&s.Simulation) },
	},

	// Settings with their own flags and form fields.
	{Name: "agents", Fixed: true, field: func(s *Settings) settingValue {
		return plainValue(&s.Agents, func(ids []string) bool { return len(ids) == 0 })
	}},
	{Name: "manual-limit", field: func(s *Settings) settingValue { return plainValue(&s.Manual, isZero[bool]) }},
	{Name: "filter", Fixed: true, field: func(s *Settings) settingValue { return plainValue(&s.Filter, isZero[string]) }},
	{Name: "warm-up-cycles", Fixed: true, field: func(s *Settings) settingValue { return plainValue(&s.WarmUpCycles, isZero[int]) }},
	{Name: "services", field: func(s *Settings) settingValue {
		return plainValue(&s.Services, func(m map[string]string) bool { return len(m) == 0 })
	}},
	{Name: "mock-latency", field: func(s *Settings) settingValue { return plainValue(&s.Mock.Profile, isZero[string]) }},
	{Name: "mock-faults", field: func(s *Settings) settingValue {
		return plainValue(&s.Mock.Faults, func(m map[string]string) bool { return len(m) == 0 })
	}},
	{Name: "mock-scarcity", field: func(s *Settings) settingValue { return plainValue(&s.Mock.Scarcity, isZero[bool]) }},
	{Name: "remote", field: func(s *Settings) settingValue { return plainValue(&s.Remote, isZero[bool]) }},
	{Name: "replay-of", Fixed: true, field: func(s *Settings) settingValue { return plainValue(&s.Replay, isZero[RunID]) }},
	{Name: "cleanup-of", Fixed: true, field: func(s *Settings) settingValue { return plainValue(&s.Cleanup, isZero[RunID]) }},
}

func isZero[T comparable](v T) bool {
	var zero T
	return v == zero
}

// lengthValue is one of the two lengths of a run. Setting one resets the other to 0.
type lengthValue struct {
	s *Settings
	settingValue
	cycles bool
}

func (v lengthValue) Set(text string) error {
	err := v.settingValue.Set(text)
	switch {
	case err != nil:
	case v.cycles:
		v.s.Hours = 0
	default:
		v.s.Cycles = 0
	}
	return err
}

// readWarmUp parses fractions of agents, "on" or "off".
func readWarmUp(text string) (shares []float64, err error) {
	if on, err := ParseSwitch(text); err == nil && text != "1" && text != "0" {
		if on {
			return DefaultWarmUp, nil
		}
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		f, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return nil, expected(err, text, "on, off or fractions such as 0.1,0.5,1")
		}
		shares = append(shares, f)
	}
	return shares, nil
}

func warmUpText(shares []float64) string {
	if len(shares) == 0 {
		return "off"
	}
	var all []string
	for _, f := range shares {
		all = append(all, decimal(f))
	}
	return strings.Join(all, ",")
}

// presetValue is the name of a preset. Its values are applied when settings are resolved.
func presetValue(of *string) settingValue {
	v := choiceValue(of, "preset", noPreset, func() []string {
		names := []string{noPreset}
		for _, p := range SettingPresets {
			names = append(names, p.Name)
		}
		return names
	}).(value[string])
	read := v.read
	v.read = func(text string) (string, error) {
		name, err := read(text)
		if name == noPreset {
			name = ""
		}
		return name, err
	}
	return v
}

// presetsHelp lists the presets.
func presetsHelp() string {
	var all []string
	for _, p := range SettingPresets {
		all = append(all, p.Name+": "+p.About)
	}
	return strings.Join(all, "; ")
}

// readQuoted returns a parser for a JSON string whose content read parses.
func readQuoted[T any](read func(string) (T, error)) func([]byte) (T, error) {
	return func(data []byte) (T, error) {
		text, err := strconv.Unquote(string(data))
		if err != nil {
			var none T
			return none, fmt.Errorf("%s is not a string", data)
		}
		return read(text)
	}
}
