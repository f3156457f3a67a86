// Package fleet has the parts of the window on the workers of a run: where its sessions are executed, and what each worker does.
package fleet

import (
	"fmt"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Workers are the workers of a fleet.
type Workers interface {
	// Workers returns the workers that have joined, sorted by name. It does not wait.
	Workers() []workers.State
	// Drain lets a worker end its sessions and take no others.
	Drain(name string) error
	// Undrain lets a worker that was drained take sessions again.
	Undrain(name string) error
	// Remove cuts the sessions of a worker, which run again on the others, and ends its part in the fleet.
	Remove(name string) error
	// Limit bounds the sessions in flight of a worker; 0 sets no bound.
	Limit(name string, most int) error
}

// Host lets workers of other computers join before a run starts. Its methods may take long, except for Workers.
type Host interface {
	// Invite lets workers join, and returns what they join with. Errors are *engine.FieldError of the fields of a Plan.
	Invite(p Plan) (join string, err error)
	// Invited returns the plan of an invitation that stands, and what workers join with; "" if there is none. It does not wait.
	Invited() (p Plan, join string)
	// Uninvite ends the connections of the workers. It fails while a run uses them.
	Uninvite() error
	// Workers returns the workers that have joined, sorted by name. It does not wait.
	Workers() []workers.State
}

// Plan says which processes execute the sessions of a run. The zero value is this process.
type Plan struct {
	// Local is the number of worker processes on this computer.
	Local int
	// Listen is the address on which workers of other computers join.
	Listen string
	// Cluster is the URL of a NATS cluster through which they join instead, and Credentials a file with its credentials.
	Cluster, Credentials string
}

// Elsewhere reports whether workers of other computers execute the sessions.
func (p Plan) Elsewhere() bool { return p.Listen != "" || p.Cluster != "" }

// The names of the fields of a Plan in errors.
const (
	LocalField       = "fleet"
	ListenField      = "listen"
	ClusterField     = "nats"
	CredentialsField = "nats-creds"
)

// unknown stands for a figure that a worker does not have.
const unknown = "–"

// status describes a worker's status, its reason, and since when it has it.
func status(w *workers.State, now time.Time) (text string, tone widgets.Tone) {
	text = w.Status.String()
	since := ""
	if !w.Since.IsZero() {
		since = engine.FormatDuration(max(now.Sub(w.Since), 0).Truncate(time.Second))
	}
	switch w.Status {
	case workers.Lost, workers.Refused:
		tone = widgets.Bad
		if since != "" {
			text += " " + since + " ago"
		}
	case workers.Stalled, workers.Draining:
		tone = widgets.Warning
		if since != "" {
			text += " for " + since
		}
	case workers.Ready:
	}
	if w.Why != "" {
		text += ": " + w.Why
	}
	return text, tone
}

// gone reports whether a worker executes nothing, so that it has no figures.
func gone(w *workers.State) bool { return w.Status.Gone() }

// memory formats a size; unknown if it is 0.
func memory(n uint64) string {
	if n == 0 {
		return unknown
	}
	return engine.FormatBytes(int64(n))
}

// lag formats a round trip; unknown if there was none.
func lag(d time.Duration) string {
	if d <= 0 {
		return unknown
	}
	return engine.FormatDuration(d)
}

// cores formats the CPU of a worker, in percent of a core, as a number of its cores.
func cores(cpu float64, of int) string {
	if of <= 0 {
		return fmt.Sprintf("%.1f cores", cpu/100)
	}
	return fmt.Sprintf("%.1f of %s", cpu/100, engine.Counted(int64(of), "core", "cores"))
}

// share formats a worker's share of the limit.
func share(w *workers.State) string {
	if w.MaxLimit > 0 {
		return fmt.Sprintf("%d (max %d)", w.Limit, w.MaxLimit)
	}
	return strconv.Itoa(w.Limit)
}
