package app

import (
	"log/slog"
	"strconv"

	"github.com/throng-sim/throng/cmd/internal/telemetry"
)

// Tell holds the receivers of notifications and metrics of a run.
type Tell struct {
	Shown   Shown              // nil disables it
	Sending *telemetry.Sending // nil sends nothing
	// Sent hears at the end of what was sent; nil is the log.
	Sent func(s telemetry.Sent)
	// Hurry is closed to stop waiting until the last notification is sent. It may be nil.
	Hurry <-chan struct{}
}

// Shown receives the start and the end of a run, such as a [telemetry.Endpoint].
type Shown interface {
	Show(r *telemetry.Run)
	Keep(r *telemetry.Run)
}

// sender prepares to send what the run gives; nil if nothing is to be sent.
func (l assembly) sender(j *Job) (*telemetry.Sender, error) {
	if l.Tell.Sending == nil {
		return nil, nil //nolint:nilnil // a nil sender sends nothing
	}
	x, err := telemetry.NewSender(*l.Tell.Sending, l.told(j), func(agent int) string {
		id, err := j.Program.AgentID(agent)
		if err != nil {
			return strconv.Itoa(agent)
		}
		return id
	})
	if err != nil {
		return nil, err
	}
	j.onceClosed(func() error { // a collector that hangs keeps nothing else open
		sent := x.Close(l.Tell.Hurry)
		if l.Tell.Sent != nil {
			l.Tell.Sent(sent)
		} else {
			slog.Info("what was sent of the run", "run", j.Record.ID, "sent", sent.String())
		}
		return nil
	})
	return x, nil
}

// told identifies the run to its receivers.
func (l assembly) told(j *Job) telemetry.Run {
	return telemetry.Run{ID: j.Record.ID, Title: l.Scenario.Title, Seed: l.Settings.Seed, Agents: j.Agents}
}

// tell has others told of the run from now on.
func (l assembly) tell(j *Job, sender *telemetry.Sender) {
	run := l.told(j)
	run.Snapshot = j.Run.Snapshot
	if sender != nil {
		sender.Begin(run.Snapshot)
	}
	if shown := l.Tell.Shown; shown != nil {
		shown.Show(&run)
		j.onClose(func() error { shown.Keep(&run); return nil })
	}
}
