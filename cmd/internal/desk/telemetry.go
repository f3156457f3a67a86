package desk

import (
	"context"
	"log/slog"
	"os"
	"sync"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/telemetry"
)

// outlets are where the runs of the window tell others of themselves.
type outlets struct {
	mu       sync.Mutex
	endpoint *telemetry.Endpoint // nil answers nobody
	address  string              // that it was opened for
	run      *telemetry.Run      // the newest that an endpoint was told of; nil is none
}

// openOutlets opens the endpoint, if there is to be one, and returns what a person should know of it: a window is there for
// its runs, also where nobody can be told of them.
func (d *Desk) openOutlets() (notice string) {
	t, _, err := config.TelemetryHere(d.data)
	if err == nil {
		err = d.outlets.listen(t)
	}
	if err == nil {
		return d.outlets.openly()
	}
	slog.Warn("Prometheus gets no metrics", "error", err)
	return "Prometheus gets no metrics: " + secrets.Redact(err.Error()) + ". Runs go on without; Settings, metrics-listen, is where to change it."
}

// listen has the endpoint at an address from now on, and nowhere else. Where the new one cannot be opened the old one stays.
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
		slog.Info("Prometheus can scrape metrics", "at", next.URL())
		if o.run != nil {
			next.Show(o.run)
		}
	}
	if was == nil {
		return nil
	}
	return was.Close()
}

// openly says what it means that others can reach the endpoint; "" is that they cannot.
func (o *outlets) openly() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.endpoint == nil {
		return ""
	}
	return o.endpoint.Open()
}

// Show has the endpoint that is open now, and any that will be, tell of a run.
func (o *outlets) Show(r *telemetry.Run) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.run = r
	if o.endpoint != nil {
		o.endpoint.Show(r)
	}
}

// Keep has them go on telling how the run stands now.
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

// elsewhere is where a run that begins now tells others of itself.
func (d *Desk) elsewhere() app.Telemetry {
	tell := app.Telemetry{Endpoint: &d.outlets, Abort: d.hurried}
	t, _, err := config.TelemetryHere(d.data)
	if err == nil {
		tell.Sending, err = t.Sending()
	}
	if err != nil {
		slog.Warn("nothing is sent to a collector", "error", secrets.Redact(err.Error()))
		tell.Sending = nil
	}
	if tell.Sending != nil {
		tell.Sending.Warn = func(text string) { slog.Warn(secrets.Redact(text)) }
	}
	return tell
}

// saveSetting saves a setting. Another address of the endpoint takes effect immediately, and is saved only if it can be
// opened; other settings of telemetry take effect with the next run.
func (d *Desk) saveSetting(name, value string) error {
	if name == config.ListenKey && os.Getenv(config.ListenEnv) == "" {
		t, err := config.ListenOn(value)
		if err == nil {
			err = d.outlets.listen(t)
		}
		if err != nil {
			return err
		}
	}
	return config.Save(d.data, map[string]string{name: value})
}
