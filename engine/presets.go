package engine

import (
	"fmt"
	"math"
	"strconv"
)

// Preset is a suggested number of concurrent simulations for a choice that needs no measurements.
type Preset struct {
	Name      string
	Matches   string // what the preset is for
	Low, High int    // concurrent simulations
	More      bool   // High is not a maximum
}

// Span formats the range of concurrent simulations.
func (p Preset) Span() string {
	text := fmt.Sprintf("%d–%d", p.Low, p.High)
	if p.Low == p.High {
		text = strconv.Itoa(p.Low)
	}
	if p.More {
		text += " and up"
	}
	return text
}

// Systems are the presets by machine, smallest first.
var Systems = []Preset{
	{"laptop", "up to 8 GB, 4 cores", 2, 4, false},
	{"desktop", "16 GB, 8 cores", 4, 8, false},
	{"workstation", "at least 32 GB, 16 cores", 8, 16, false},
	{"server", "larger, or in the cloud", 16, 32, true},
}

// Uses are the presets by use of the machine.
var Uses = []Preset{
	{"development", "development, testing", 2, 4, false},
	{"research", "research", 4, 8, false},
	{"production", "production, batches", 8, 16, true},
	{"large study", "large studies", 16, 32, true},
}

// Deployments are the presets by size of a model deployment; Low and High are concurrent calls.
var Deployments = []Preset{
	{"small", "1 server", 20, 30, false},
	{"medium", "3–5 servers", 50, 50, false},
	{"large", "10 servers and more", 100, 100, false},
}

// SettingPreset is a named set of run settings, as text by flag name.
type SettingPreset struct {
	Name, About string
	Settings    map[string]string
}

// SettingPresets lists all setting presets.
var SettingPresets = []SettingPreset{
	{
		"80/50", "lower the limit above 80% of CPU or memory, raise it below 50%, between 20 and 100 sessions",
		map[string]string{
			"governor": "resources", "cpu-high": "80", "cpu-low": "50", "memory-high": "80", "memory-low": "50", "floor": "20", "ceiling": "100",
		},
	},
}

// RulesOfThumb are shown next to the presets.
var RulesOfThumb = []string{
	"1 to 2 simulations per core if they compute",
	"100 to 500 MB for each one with a Python process",
	"keep 2 to 4 GB of memory free",
	"start low, and double the limit while everything is stable",
	"chain timeouts: simple prompts 60 s, analysis 180 s, long text 300 s, batches 600 s",
}

// PresetsAre states the limits of the presets.
const PresetsAre = "This is a starting point for simulations that compute. Sessions that wait for services allow a much higher limit: calibrate, or see the forecast."

// Suits describes what suits a machine of this preset. machine describes the machine.
func (p Preset) Suits(machine string) string {
	return "This machine, " + machine + ", is a " + p.Name + ": " + p.Span() + " concurrent simulations. " + PresetsAre
}

// least has the minimum of each machine class. A machine between two classes belongs to the smaller one. The memory
// thresholds are lower than the nominal sizes because systems report less than what is installed.
var least = []struct {
	cores       int
	memoryBytes float64
}{{0, 0}, {5, 9e9}, {16, 30e9}, {32, 60e9}}

// PresetFor returns the preset of Systems for a machine with this many cores and bytes of memory; 0 bytes means unknown.
func PresetFor(cores int, memoryBytes uint64) Preset {
	memory := float64(memoryBytes)
	if memoryBytes == 0 {
		memory = math.Inf(1)
	}
	chosen := Systems[0]
	for i, class := range least {
		if cores >= class.cores && memory >= class.memoryBytes {
			chosen = Systems[i]
		}
	}
	return chosen
}

// Within returns the range that suits both a system and a use: the smaller bounds of the two.
func (p Preset) Within(use Preset) (low, high int) {
	return min(p.Low, use.Low), min(p.High, use.High)
}
