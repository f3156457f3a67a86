package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/cmd/internal/telemetry"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/flags"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
)

// openTelemetry starts the exporters that flags, variables and saved settings select, and prints their addresses. They run
// until closeAll, so that the last metrics of a run are available.
func openTelemetry(ctx context.Context, t *terminal, f flags.Telemetry) (tell telemetry.Receivers, closeAll func() error, err error) {
	closeAll = func() error { return nil }
	found, _, err := config.FindTelemetry(flags.Given(f.Plugins), os.Getenv, t.data)
	if err != nil {
		return tell, closeAll, err
	}
	if tell.Sending, err = found.Sending(); err != nil {
		return tell, closeAll, err
	}
	if tell.Sending != nil {
		tell.Sending.Warn = func(text string) { t.hear(errors.New(secrets.Redact(text))) }
		tell.Sent = func(s telemetry.Sent) { t.hear(errors.New(secrets.Redact(s.String()))) }
	}
	endpoint, err := found.Open(ctx)
	if err != nil || endpoint == nil {
		return tell, closeAll, err
	}
	fmt.Fprintf(t.err, "metrics for Prometheus: %s\n", endpoint.URL())
	if open := endpoint.Open(); open != "" {
		fmt.Fprintf(t.err, "note: %s\n", open)
	}
	tell.Endpoint = endpoint
	return tell, endpoint.Close, nil
}

// metricsCmd lists the exported metrics, or prints a Grafana dashboard.
type metricsCmd struct {
	What string `arg:"" optional:"" enum:"list,dashboard" default:"list" help:"list prints the metrics, dashboard a Grafana dashboard to import."`
	jsonFlag
}

// Run is called by kong.
func (c *metricsCmd) Run(t *terminal) error {
	if c.What == "dashboard" {
		_, err := t.out.Write(assets.Dashboard())
		return err
	}
	if t.json {
		all := []answer.Metric{}
		for _, m := range telemetry.Metrics() {
			all = append(all, answer.Metric{Name: m.Name, Kind: m.Kind.String(), Labels: append([]string{}, m.Labels...), Help: m.Help})
		}
		return t.print(all)
	}
	w := show.NewTable(t.out)
	fmt.Fprintln(w, "METRIC\tKIND\tLABELS\tMEANING")
	all := telemetry.Metrics()
	for i := range all {
		m := &all[i]
		show.Row(w, "%s\t%s\t%s\t%s\n", m.Name, m.Kind, strings.Join(m.Labels, ", "), m.Help)
	}
	return w.Flush()
}
