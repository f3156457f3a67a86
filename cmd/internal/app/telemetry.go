package app

import (
	"log/slog"
	"strconv"

	"github.com/throng-sim/throng/cmd/internal/telemetry"
)

// sender prepares to send traces and metrics to a collector; nil if none is configured.
func (l assembly) sender(j *Job) (*telemetry.Sender, error) {
	if l.Telemetry.Sending == nil {
		return nil, nil //nolint:nilnil // a nil sender sends nothing
	}
	x, err := telemetry.NewSender(*l.Telemetry.Sending, l.telemetryRun(j), func(agent int) string {
		id, err := j.Program.AgentID(agent)
		if err != nil {
			return strconv.Itoa(agent)
		}
		return id
	})
	if err != nil {
		return nil, err
	}
	j.afterClose(func() error { // a collector that hangs must not keep anything else open
		sent := x.Close(l.Telemetry.Abort)
		if l.Telemetry.Sent != nil {
			l.Telemetry.Sent(sent)
		} else {
			slog.Info("telemetry sent", "run", j.Record.ID, "sent", sent.String())
		}
		return nil
	})
	return x, nil
}

// telemetryRun identifies the run to receivers.
func (l assembly) telemetryRun(j *Job) telemetry.Run {
	return telemetry.Run{ID: j.Record.ID, Title: l.Scenario.Title, Seed: l.Settings.Seed, Agents: j.Agents}
}

// startTelemetry publishes the run to its receivers until it is closed.
func (l assembly) startTelemetry(j *Job, sender *telemetry.Sender) {
	run := l.telemetryRun(j)
	run.Snapshot = j.Run.Snapshot
	if sender != nil {
		sender.Begin(run.Snapshot)
	}
	if endpoint := l.Telemetry.Endpoint; endpoint != nil {
		endpoint.Show(&run)
		j.onClose(func() error { endpoint.Keep(&run); return nil })
	}
}
