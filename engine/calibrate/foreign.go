package calibrate

import (
	"fmt"
	"math"
)

// Percentages of the machine's CPU that other programs use.
const (
	MaxForeign  = 25.0 // from which they distort a measurement
	CalmForeign = 12.0 // up to which the machine counts as free again
)

// foreign finds the samples that other programs distorted. Services on the same machine are not foreign: their use of the CPU follows the
// throughput.
type foreign struct {
	mix     work
	before  float64 // CPU percentage before the sweep
	perRate float64 // CPU percentage of such services for a session per second, at most
}

func foreignIn(samples []Sample, before float64) foreign {
	f := foreign{mix: mixOf(samples), before: before, perRate: math.Inf(1)}
	for i := range samples {
		s := &samples[i]
		if rate := f.mix.rate(s); rate > 0 && s.CPU >= 0 {
			f.perRate = min(f.perRate, max(s.CPU-s.OwnCPU-before, 0)/rate)
		}
	}
	return f
}

// load returns the CPU percentage that other programs used during a sample; 0 if unknown.
func (f *foreign) load(s *Sample) float64 {
	rate := f.mix.rate(s)
	if rate == 0 || s.CPU < 0 {
		return 0
	}
	return max(s.CPU-s.OwnCPU-f.perRate*rate, 0)
}

// calm returns the samples that other programs did not distort, and the highest load by other programs during any sample.
func (f *foreign) calm(samples []Sample) (kept []Sample, load float64) {
	for i := range samples {
		now := f.load(&samples[i])
		if load = max(load, now); now < MaxForeign {
			kept = append(kept, samples[i])
		}
	}
	return kept, load
}

// undisturbed returns the samples to evaluate, and the highest load by other programs. ok is false if they used the machine before the
// sweep, or all the time that a level was measured; all samples are evaluated then.
func undisturbed(samples []Sample, before float64) (kept []Sample, load float64, ok bool) {
	f := foreignIn(samples, before)
	kept, load = f.calm(samples)
	load = max(load, before)
	missing := map[int]bool{}
	for i := range samples {
		missing[samples[i].Level] = true
	}
	for i := range kept {
		delete(missing, kept[i].Level)
	}
	if before >= MaxForeign || len(missing) > 0 {
		return samples, load, false
	}
	return kept, load, true
}

// ForeignLoad describes how much other programs use the CPU.
func ForeignLoad(percent float64) string {
	return fmt.Sprintf("other programs use %.0f%% of the CPU", percent)
}

// distrust takes back the recommendation of a sweep under the load of other programs.
func (r *Result) distrust() {
	r.Level, r.Low, r.High, r.PerSecond, r.Bound = 0, 0, 0, 0, ""
	r.Why = fmt.Sprintf("measured under load, other programs used up to %.0f%% of the CPU; close them, then calibrate again", r.Foreign)
}
