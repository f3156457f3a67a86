package calibrate

import (
	"fmt"
	"time"
)

// Bound is what keeps more sessions at once from ending more of them. The zero value is none.
type Bound string

// The bounds. Nothing within the cap is that throughput still grew at the highest level.
const (
	CPU         Bound = "CPU"
	Memory      Bound = "memory"
	Connections Bound = "connections"
	Provider    Bound = "provider"
	Calls       Bound = "calls at once"
	Backend     Bound = "backend"
	Failures    Bound = "errors"
	Crowd       Bound = "agents"
	Nothing     Bound = "nothing within the cap"
	Unknown     Bound = "something unknown"
)

// What tells that a bound is near, where throughput no longer grows.
const (
	busyCPU      = 80.0 // percent
	othersCPU    = 20.0 // percent
	busyMemory   = 0.80 // share
	busyClients  = 0.83 // share of what the database server takes
	heldBack     = 0.20 // share of the places' time
	refused      = 0.01 // share of the requests
	slower       = 1.25 // times what a request took at the lowest level
	idle         = 0.75 // share of the places that were taken
	nearTheEnd   = 0.80 // share of the highest level: up to there throughput grew
	shownPercent = 100
)

// boundOf names what binds at the recommended level, with the sign of it in words. top is the highest level that is
// sound, over the lowest that is not, or nil.
func boundOf(levels []Level, recommended int, top, over *Level) (Bound, string) {
	first := firstMeasured(levels)
	grew := float64(recommended) >= nearTheEnd*float64(top.Level)
	if first == top && over == nil {
		return Nothing, fmt.Sprintf("only %d was measured", top.Level)
	}
	if grew && over == nil {
		return Nothing, fmt.Sprintf("throughput still grew at %d, the highest level%s", top.Level, soFar(levels, top))
	}
	if grew && over.Over != Failures {
		return over.Over, overWords(over)
	}
	look := top
	if over != nil { // there the signs are clearest
		look = over
	}
	if b, why := signs(first, look); b != "" {
		return b, why
	}
	if over != nil {
		return over.Over, overWords(over)
	}
	return Unknown, fmt.Sprintf("throughput stopped growing by %d, and no figure says why", top.Level)
}

// soFar says that a sweep did not get to its highest level.
func soFar(levels []Level, top *Level) string {
	if top.Level == levels[len(levels)-1].Level {
		return ""
	}
	return " with figures"
}

// signs finds what is scarce at a level, the most certain first.
func signs(first, at *Level) (Bound, string) {
	s := at.total()
	asked := float64(s.Asked + s.Refused)
	switch {
	case s.Refused > 0 && float64(s.Refused) > refused*asked:
		return Provider, fmt.Sprintf("at %d, %.1f %% of the requests were refused (429)", at.Level, shownPercent*float64(s.Refused)/asked)
	case s.Paced > heldBack:
		return Provider, fmt.Sprintf("at %d, sessions spent %.0f %% of their time waiting for the rate of a service", at.Level, shownPercent*s.Paced)
	case s.MaxClients > 0 && float64(s.Clients) > busyClients*float64(s.MaxClients):
		return Connections, fmt.Sprintf("at %d, the database server had %d clients of %d", at.Level, s.Clients, s.MaxClients)
	case s.Bounded > heldBack:
		return Calls, fmt.Sprintf("at %d, sessions spent %.0f %% of their time waiting for a place among a service's calls or connections", at.Level, shownPercent*s.Bounded)
	case at.Over == Failures:
		return Backend, overWords(at)
	case at.CPU > busyCPU:
		return CPU, cpuWords(at)
	case at.Memory > busyMemory:
		return Memory, fmt.Sprintf("at %d, %.0f %% of the memory was taken", at.Level, shownPercent*at.Memory)
	case s.InFlight > 0 && s.InFlight < idle*float64(at.Level):
		return Crowd, fmt.Sprintf("at %d, only %.0f sessions were in flight: a cycle has too few agents to keep more busy", at.Level, s.InFlight)
	}
	one := first.total()
	if one.Service > 0 && float64(s.Service) > slower*float64(one.Service) {
		return Backend, fmt.Sprintf("a request took %s at %d, %s at %d", short(s.Service), at.Level, short(one.Service), first.Level)
	}
	return "", ""
}

// overWords says how a level went beyond a bound.
func overWords(l *Level) string {
	switch l.Over {
	case Failures:
		return fmt.Sprintf("at %d, %.1f %% of the sessions failed, more than %.0f %%", l.Level, shownPercent*l.Errors, shownPercent*MaxErrors)
	case Memory:
		return fmt.Sprintf("at %d, %.0f %% of the memory was taken, more than %.0f %%", l.Level, shownPercent*l.Memory, shownPercent*MaxMemory)
	default:
		return cpuWords(l)
	}
}

// overNotes say it in short.
var overNotes = map[Bound]string{
	Failures: fmt.Sprintf("over %.0f %% failed", shownPercent*MaxErrors),
	CPU:      fmt.Sprintf("CPU above %.0f %%", MaxCPU),
	Memory:   fmt.Sprintf("memory above %.0f %%", shownPercent*MaxMemory),
}

// cpuWords says how busy the CPU was, and who used it where that was somebody else.
func cpuWords(l *Level) string {
	text := fmt.Sprintf("at %d, the CPU was at %.0f %%", l.Level, l.CPU)
	if l.OwnCPU >= 0 && l.CPU-l.OwnCPU > othersCPU {
		text += fmt.Sprintf(", of which others than Throng used %.0f: measure again when they rest", l.CPU-l.OwnCPU)
	}
	return text
}

// total sums up the level's samples: counts add up, shares and times are means, clients the most.
func (l *Level) total() (t Sample) {
	n := float64(len(l.Samples))
	var service time.Duration
	timed := 0
	for i := range l.Samples {
		s := &l.Samples[i]
		t.Asked += s.Asked
		t.Refused += s.Refused
		t.Paced += s.Paced / n
		t.Bounded += s.Bounded / n
		t.InFlight += s.InFlight / n
		t.Clients, t.MaxClients = max(t.Clients, s.Clients), max(t.MaxClients, s.MaxClients)
		if s.Service > 0 {
			service += s.Service
			timed++
		}
	}
	if timed > 0 {
		t.Service = service / time.Duration(timed)
	}
	return t
}

func short(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.3g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.3g s", d.Seconds())
}
