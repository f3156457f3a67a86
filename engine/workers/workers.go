// Package workers describes the workers of a fleet to people.
package workers

import (
	"fmt"
	"strings"
	"time"
)

// Status says whether a worker of a fleet executes sessions.
type Status uint8

// The statuses of a worker.
const (
	Ready Status = iota
	Draining
	Stalled
	Lost
	Refused
)

func (s Status) String() string {
	return [...]string{Ready: "ready", Draining: "draining", Stalled: "stalled", Lost: "lost", Refused: "refused"}[s]
}

// Gone reports whether a worker with this status executes nothing.
func (s Status) Gone() bool { return s == Lost || s == Refused }

// MarshalText returns the name of the state.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// State is the state of a worker.
type State struct {
	Name        string    `json:"name"`
	Version     string    `json:"version,omitempty"` // of Throng
	System      string    `json:"system,omitempty"`  // such as linux/amd64
	Cores       int       `json:"cores,omitempty"`
	MemoryLimit int64     `json:"memory_limit,omitempty"` // bytes; 0 is unlimited
	Status      Status    `json:"status"`
	Why         string    `json:"why,omitempty"` // reason of the status
	Since       time.Time `json:"since,omitzero"`
	Here        bool      `json:"-"` // on the coordinator's machine

	Limit     int           `json:"limit"`               // its share of the concurrency limit
	MaxLimit  int           `json:"max_limit,omitempty"` // by hand; 0 is unlimited
	InFlight  int           `json:"in_flight"`
	Queued    int           `json:"queued"` // sessions that it has and that have not started
	Ended     int64         `json:"ended"`  // sessions in this process of the run
	PerSecond float64       `json:"sessions_per_second"`
	CPU       float64       `json:"cpu_percent"`  // of one core
	Memory    uint64        `json:"memory_bytes"` // resident
	Lag       time.Duration `json:"lag_ns"`       // round trip to the coordinator
}

// Summary counts workers by status, such as "4 workers, 1 lost".
func Summary(all []State) string {
	text := fmt.Sprintf("%d workers", len(all))
	if len(all) == 1 {
		text = "1 worker"
	}
	counts := map[Status]int{}
	for i := range all {
		counts[all[i].Status]++
	}
	for s := Draining; s <= Refused; s++ {
		if n := counts[s]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, s)
		}
	}
	return text
}

// Waits says why a run with these workers has to wait, such as "no worker takes sessions: rack is draining, desk was refused"; "" if
// one takes sessions, or if there are no workers.
func Waits(all []State) string {
	var parts []string
	for i := range all {
		switch w := &all[i]; w.Status {
		case Ready:
			return ""
		case Draining, Stalled:
			parts = append(parts, w.Name+" is "+w.Status.String())
		default:
			parts = append(parts, w.Name+" was "+w.Status.String())
		}
	}
	const most = 3
	if n := len(parts) - most; n > 1 {
		parts = append(parts[:most], fmt.Sprintf("and %d others", n))
	}
	if len(parts) == 0 {
		return ""
	}
	return "no worker takes sessions: " + strings.Join(parts, ", ")
}

// UnmarshalText reads the name of a status.
func (s *Status) UnmarshalText(text []byte) error {
	for *s = Ready; *s <= Refused; *s++ {
		if s.String() == string(text) {
			return nil
		}
	}
	return fmt.Errorf("no status of workers is named %q", text)
}
