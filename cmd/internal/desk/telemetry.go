package desk

import (
	"context"
	"log/slog"
	"sync"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/telemetry"
)

// outlets are the metrics endpoint and the collector of the window's runs.
type outlets struct {
	mu       sync.Mutex
	endpoint *telemetry.Endpoint // nil if it is disabled
	address  string              // the address of the endpoint
	run      *telemetry.Run      // the newest run; nil if none
}

// openOutlets opens the endpoint if it is enabled. Errors become a notice, because runs do not need the endpoint.
func (d *Desk) openOutlets() (notice string) {
	t, _, err := config.TelemetryHere(d.data)
	if err == nil {
		err = d.outlets.listen(t)
	}
	if err == nil {
		return d.outlets.openly()
	}
	slog.Warn("cannot serve metrics for Prometheus", "error", err)
	return "Prometheus cannot collect metrics: " + secrets.Redact(err.Error()) + ". Runs are not affected. To change the address, set metrics-listen in Settings."
}

// listen opens the endpoint at an address and closes the old one. On an error the old one stays open.
func (o *outlets) listen(t config.Telemetry) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if t.Listen == o.address {
		return nil
	}
	next, err := t.Open(context.Background())
	if err != nil {
		return err
	}
	was := o.endpoint
	o.endpoint, o.address = next, t.Listen
	if next != nil {
		slog.Info("metrics endpoint opened", "at", next.URL())
		if o.run != nil {
			next.Show(o.run)
		}
	}
	if was == nil {
		return nil
	}
	return was.Close()
}

// openly warns that other machines can reach the endpoint; "" if they cannot.
func (o *outlets) openly() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.endpoint == nil {
		return ""
	}
	return o.endpoint.Open()
}

// Show shows a run at the current endpoint and later ones.
func (o *outlets) Show(r *telemetry.Run) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.run = r
	if o.endpoint != nil {
		o.endpoint.Show(r)
	}
}

// Keep keeps the last state of a run at the endpoint.
func (o *outlets) Keep(r *telemetry.Run) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.run != r {
		return
	}
	o.run = r.Kept()
	if o.endpoint != nil {
		o.endpoint.Show(o.run)
	}
}

func (o *outlets) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.endpoint == nil {
		return nil
	}
	return o.endpoint.Close()
}

// elsewhere returns where a new run sends its telemetry.
func (d *Desk) elsewhere() telemetry.Receivers {
	tell := telemetry.Receivers{Endpoint: &d.outlets, Abort: d.hurried}
	t, _, err := config.TelemetryHere(d.data)
	if err == nil {
		tell.Sending, err = t.Sending()
	}
	if err != nil {
		slog.Warn("cannot send telemetry to the collector", "error", secrets.Redact(err.Error()))
		tell.Sending = nil
	}
	if tell.Sending != nil {
		tell.Sending.Warn = func(text string) { slog.Warn(secrets.Redact(text)) }
	}
	return tell
}
