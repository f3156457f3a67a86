package calibrate

import (
	"fmt"
	"time"
)

// Bound is the bottleneck that keeps more concurrent sessions from raising the throughput. The zero value is unset.
type Bound string

// The bounds. Nothing means that throughput still grew at the highest level.
const (
	CPU         Bound = "CPU"
	Coordinator Bound = "the coordinator"
	Memory      Bound = "memory"
	Connections Bound = "connections"
	Provider    Bound = "provider"
	Calls       Bound = "concurrent calls"
	Backend     Bound = "backend"
	Failures    Bound = "errors"
	Crowd       Bound = "agents"
	Nothing     Bound = "nothing within the cap"
	Unknown     Bound = "an unknown cause"
)

// Signs of a bottleneck, once throughput no longer grows.
const (
	busyCPU      = 80.0 // percent
	othersCPU    = 20.0 // percent
	busyMemory   = 0.80 // fraction
	busyClients  = 0.83 // fraction of the database server's connections
	throttled    = 0.20 // fraction of the slots' time
	refused      = 0.01 // fraction of the requests
	slower       = 1.25 // times the duration of a request at the lowest level
	idle         = 0.75 // fraction of the slots in use
	nearTheEnd   = 0.80 // fraction of the highest level up to which throughput grew
	shownPercent = 100
)

// boundOf returns the bottleneck at the recommended level, and its sign in words. top is the highest sound level; over is the lowest
// level beyond a bound, or nil.
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
		return over.bound(), overWords(over)
	}
	look := top
	if over != nil { // the signs are clearest there
		look = over
	}
	if b, why := signs(first, look); b != "" {
		return b, why
	}
	if over != nil {
		return over.bound(), overWords(over)
	}
	return Unknown, fmt.Sprintf("throughput stopped growing by %d, and no measured figure explains why", top.Level)
}

// soFar qualifies the highest level of a sweep that was stopped early.
func soFar(levels []Level, top *Level) string {
	if top.Level == levels[len(levels)-1].Level {
		return ""
	}
	return " that was measured"
}

// signs returns the bottleneck at a level, the most certain one first.
func signs(first, at *Level) (Bound, string) {
	s := at.total()
	asked := float64(s.Asked + s.Refused)
	switch {
	case s.Refused > 0 && float64(s.Refused) > refused*asked:
		return Provider, fmt.Sprintf("at %d, %.1f%% of the requests were refused (429)", at.Level, shownPercent*float64(s.Refused)/asked)
	case s.Paced > throttled:
		return Provider, fmt.Sprintf("at %d, sessions spent %.0f%% of their time waiting for the rate of a service", at.Level, shownPercent*s.Paced)
	case s.MaxClients > 0 && float64(s.Clients) > busyClients*float64(s.MaxClients):
		return Connections, fmt.Sprintf("at %d, the database server had %d clients of %d", at.Level, s.Clients, s.MaxClients)
	case s.Bounded > throttled:
		return Calls, fmt.Sprintf("at %d, sessions spent %.0f%% of their time waiting for a slot among a service's calls or connections", at.Level, shownPercent*s.Bounded)
	case at.Over == Failures:
		return Backend, overWords(at)
	case at.CPU > busyCPU:
		return at.cpuBound(), cpuWords(at)
	case at.Memory > busyMemory:
		return Memory, fmt.Sprintf("at %d, %.0f%% of the memory was in use", at.Level, shownPercent*at.Memory)
	case s.InFlight > 0 && s.InFlight < idle*float64(at.Level):
		return Crowd, fmt.Sprintf("at %d, only %.0f sessions were in flight: a cycle has too few agents to keep more busy", at.Level, s.InFlight)
	}
	one := first.total()
	if one.Service > 0 && float64(s.Service) > slower*float64(one.Service) {
		return Backend, fmt.Sprintf("a request took %s at %d, %s at %d", short(s.Service), at.Level, short(one.Service), first.Level)
	}
	return "", ""
}

// overWords describes how a level exceeded a bound.
func overWords(l *Level) string {
	switch l.Over {
	case Failures:
		return fmt.Sprintf("at %d, %.1f%% of the sessions failed, more than %.0f%%", l.Level, shownPercent*l.Errors, shownPercent*MaxErrors)
	case Memory:
		return fmt.Sprintf("at %d, %.0f%% of the memory was in use, more than %.0f%%", l.Level, shownPercent*l.Memory, shownPercent*MaxMemory)
	default:
		return cpuWords(l)
	}
}

// overNotes are short forms of overWords.
var overNotes = map[Bound]string{
	Failures: fmt.Sprintf("more than %.0f%% failed", shownPercent*MaxErrors),
	CPU:      fmt.Sprintf("CPU above %.0f%%", MaxCPU),
	Memory:   fmt.Sprintf("memory above %.0f%%", shownPercent*MaxMemory),
}

// bound returns the bound that the level exceeded.
func (l *Level) bound() Bound {
	if l.Over == CPU {
		return l.cpuBound()
	}
	return l.Over
}

// cpuBound is the coordinator if the CPU is busy and it uses more of it than its workers.
func (l *Level) cpuBound() Bound {
	if workers := l.total().WorkersCPU; workers > 0 && l.OwnCPU > 2*workers {
		return Coordinator
	}
	return CPU
}

// cpuWords describes the CPU load, its parts in a fleet, and the part of other programs if that is large.
func cpuWords(l *Level) string {
	text := fmt.Sprintf("at %d, the CPU was at %.0f%%", l.Level, l.CPU)
	if workers := l.total().WorkersCPU; workers > 0 && l.OwnCPU >= workers {
		text += fmt.Sprintf(", the coordinator used %.0f and the workers %.0f", l.OwnCPU-workers, workers)
	}
	if l.OwnCPU >= 0 && l.CPU-l.OwnCPU > othersCPU {
		text += fmt.Sprintf("; other programs used %.0f: close them and measure again", l.CPU-l.OwnCPU)
	}
	return text
}

// total sums up the level's samples: counts are added, shares and times are averaged, clients are the maximum.
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
		t.WorkersCPU += s.WorkersCPU / n
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
