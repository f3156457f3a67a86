package view

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Modes of the concurrency limit, in the order of their control.
const (
	Automatic = "Automatic"
	Manual    = "Manual"
)

// LimitMode returns what sets the limit: Automatic or Manual.
func LimitMode(s *engine.Snapshot) string {
	if s.Governor == "" || s.Governor == engine.Manual {
		return Manual
	}
	return Automatic
}

// Active formats the sessions in flight and the limit. Like the charts and their legends, it shows the sessions in flight
// of the latest second, so that they agree. After the limit was lowered, more are in flight until some end.
func Active(s *engine.Snapshot) string {
	if n := InFlight(s); n > s.Limit {
		return engine.FormatCount(int64(n)) + " active, limit " + engine.FormatCount(int64(s.Limit))
	}
	return fmt.Sprintf("%s of %s active", engine.FormatCount(int64(InFlight(s))), engine.FormatCount(int64(s.Limit)))
}

// InFlight returns the sessions in flight of the latest second.
func InFlight(s *engine.Snapshot) int {
	if s.Metrics.At.IsZero() || s.Phase == engine.Ended {
		return s.InFlight
	}
	return s.Metrics.InFlight
}

// LimitNote says in a line what sets the limit, and what else holds sessions back. of are the settings of the run.
func LimitNote(s *engine.Snapshot, of *engine.Settings) string {
	var parts []string
	if LimitMode(s) == Manual {
		parts = append(parts, byHand(s))
	} else {
		parts = append(parts, governed(s))
	}
	if hard := HardLimit(s, of); hard != "" {
		parts = append(parts, hard)
	} else if LimitMode(s) == Manual {
		if busy := pressure(s); busy != "" {
			parts = append(parts, busy)
		}
	}
	return strings.Join(parts, " ")
}

// byHand says who set the limit.
func byHand(s *engine.Snapshot) string {
	n := engine.FormatCount(int64(s.Limit))
	for i := len(s.Changes) - 1; i >= 0; i-- {
		c := &s.Changes[i]
		if c.What != engine.LimitSetting {
			continue
		}
		switch {
		case c.New != strconv.Itoa(s.Limit):
		case c.Who == User:
			return "You set " + n + "."
		default:
			return "Set to " + n + " by " + c.Who + "."
		}
		break
	}
	return "Fixed at " + n + "."
}

// User is the author of the changes that are made in the window.
const User = "user"

// governed describes the last move of the governor.
func governed(s *engine.Snapshot) string {
	name := GovernorTitle(s.Governor)
	if s.Steer == "" {
		return fmt.Sprintf("%s, up to %s.", name, engine.FormatCount(int64(s.Ceiling)))
	}
	moves, reason, ok := strings.Cut(s.Steer, ": ")
	from, to, ok2 := strings.Cut(moves, " → ")
	if !ok || !ok2 {
		return name + ": " + s.Steer
	}
	a, _ := strconv.Atoi(from)
	b, _ := strconv.Atoi(to)
	verb := "Raised"
	if b < a {
		verb = "Lowered"
	}
	text := fmt.Sprintf("%s from %s to %s", verb, from, to)
	if !s.Steered.IsZero() {
		text += " at " + s.Steered.Local().Format(time.TimeOnly)
	}
	return text + ": " + strings.ReplaceAll(reason, " → ", " to ") + "."
}

// GovernorTitle returns the title of a governor.
func GovernorTitle(name string) string {
	for _, g := range engine.Governors {
		if g.Name == name {
			return g.Title
		}
	}
	return name
}

// HardLimit names what keeps sessions back although the limit allows them; "" if nothing is known to.
func HardLimit(s *engine.Snapshot, of *engine.Settings) string {
	switch {
	case of.Sequential:
		return "Agents run one after another."
	case of.Batch > 0 && of.Batch < s.Limit:
		return fmt.Sprintf("Agents run in batches of %s.", engine.FormatCount(int64(of.Batch)))
	}
	for i := range s.Oldest {
		switch s.Oldest[i].ThrottledBy {
		case engine.ThrottledByMemory.Text():
			return "The memory budget holds sessions back."
		case engine.ThrottledByFiles.Text():
			return "The limit of open files holds sessions back."
		}
	}
	return ""
}

// Shares of the machine from which it counts as busy.
const (
	busyCPU   = 74.
	mostlyOwn = 0.5
)

// pressure says what fills the machine; "" if nothing does.
func pressure(s *engine.Snapshot) string {
	h := &s.Metrics.Host
	own := h.ProcessCPU / float64(runtime.NumCPU())
	switch {
	case h.MemoryTotal > 0 && float64(h.Available) < min(2e9, float64(h.MemoryTotal)/8):
		return "Little memory is left."
	case h.CPU < busyCPU:
		return ""
	case own < mostlyOwn*h.CPU:
		return "Other apps are busy."
	}
	return "Throng uses most of the CPU."
}

// LimitWhy explains the limit: what sets it, why it has its value, and what to do.
func LimitWhy(s *engine.Snapshot, of *engine.Settings) string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if LimitMode(s) == Manual {
		say("Manual: %s It stays until you change it or return to automatic.", byHand(s))
		if busy := pressure(s); busy != "" {
			say("%s CPU %.0f%%, %s of memory left. Latencies may read high.", busy, s.Metrics.Host.CPU, engine.FormatBytes(int64(s.Metrics.Host.Available)))
		}
	} else {
		say("Automatic: the governor %s sets the limit between %s and %s.", GovernorTitle(s.Governor), engine.FormatCount(int64(s.Floor)), engine.FormatCount(int64(s.Ceiling)))
		if s.Steer != "" {
			say("%s", governed(s))
			say("Decided by: %s.", decider(s.SteerBy))
		}
		if s.Binds != "" && s.Binds != s.Governor && s.Binds != s.SteerBy {
			say("Now limited by: %s.", decider(s.Binds))
		}
	}
	if hard := HardLimit(s, of); hard != "" {
		say("%s", hard)
	}
	if left := s.CycleTotal - s.CycleEnded; s.CycleTotal > 0 && left < int64(s.Limit) {
		say("Sessions left in this cycle: %s.", engine.FormatCount(left))
	}
	if LimitMode(s) == Manual {
		say("To do: drag the slider, or choose Automatic.")
	} else {
		say("To do: drag the slider to set the limit yourself, or choose another governor or maximum with Adjust… in the More menu.")
	}
	return strings.Join(parts, "\n\n")
}

// decider names a part of a governor with its description.
func decider(name string) string {
	for _, g := range engine.Governors {
		if g.Name == name && g.Name != engine.Manual {
			return g.Title + " (" + g.About + ")"
		}
	}
	if name == engine.ByBreaker {
		return "Circuit breaker (starts few sessions while too many fail)"
	}
	return name
}
