package engine

import (
	"fmt"
	"math"
	"strconv"
)

// Preset is a starting point for a choice that a person can make without figures: how many simulations at once.
type Preset struct {
	Name      string
	Matches   string // in words: what it is for
	Low, High int    // simulations at once
	More      bool   // and up
}

// Span writes how many at once.
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

// Systems are the machines that there are presets for, the smallest first.
var Systems = []Preset{
	{"laptop", "up to 8 GB, 4 cores", 2, 4, false},
	{"desktop", "16 GB, 8 cores", 4, 8, false},
	{"workstation", "from 32 GB and 16 cores on", 8, 16, false},
	{"server", "more, or in the cloud", 16, 32, true},
}

// Uses are what a machine is used for.
var Uses = []Preset{
	{"development", "development, testing", 2, 4, false},
	{"research", "research", 4, 8, false},
	{"production", "production, batches", 8, 16, true},
	{"large study", "large studies", 16, 32, true},
}

// Deployments are sizes of what answers calls of models; Low and High are calls at once.
var Deployments = []Preset{
	{"small", "1 server", 20, 30, false},
	{"medium", "3–5 servers", 50, 50, false},
	{"large", "10 servers and more", 100, 100, false},
}

// SettingPreset is a set of run settings under one name, as texts by the names of their flags.
type SettingPreset struct {
	Name, About string
	Settings    map[string]string
}

// SettingPresets are all of them.
var SettingPresets = []SettingPreset{
	{
		"80/50", "give way above 80% of CPU or memory, grow below 50%, between 20 and 100 sessions at once",
		map[string]string{
			"governor": "resources", "cpu-high": "80", "cpu-low": "50", "memory-high": "80", "memory-low": "50", "floor": "20", "ceiling": "100",
		},
	},
}

// RulesOfThumb stand beside the presets.
var RulesOfThumb = []string{
	"1 to 2 simulations per core where they compute",
	"100 to 500 MB for each where it holds a Python process",
	"2 to 4 GB of memory kept free",
	"start low, and double while all is stable",
	"chain timeouts: simple prompts 60 s, analysis 180 s, long text 300 s, batches 600 s",
}

// PresetsAre says what presets are worth.
const PresetsAre = "A starting point, for simulations that compute. Sessions that wait for services bear far more: calibrate, or look at the forecast."

// Suits says what suits a machine of this preset, which is described in words.
func (p Preset) Suits(machine string) string {
	return "This machine, " + machine + ", is a " + p.Name + ": " + p.Span() + " at once. " + PresetsAre
}

// What a machine of a class has at least: those between two classes are of the smaller one. Machines of 16 GB tell of
// somewhat less.
var least = []struct {
	cores       int
	memoryBytes float64
}{{0, 0}, {5, 9e9}, {16, 30e9}, {32, 60e9}}

// PresetFor is the preset of Systems for a machine with so many cores and bytes of memory; 0 bytes are not known.
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

// Within is how many at once suit a system and a use of it: no more than either bears.
func (p Preset) Within(use Preset) (low, high int) {
	return min(p.Low, use.Low), min(p.High, use.High)
}
