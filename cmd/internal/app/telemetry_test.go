package app

import (
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/telemetry"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// startShoppers starts a small run of the built-in shoppers. Some requests fail at first.
func startShoppers(t *testing.T, tell telemetry.Receivers, change func(l *Launch)) *Job {
	t.Helper()
	s, err := authoring.Load("shopping", map[string]string{"agents": "40", "eagerness": "8"})
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	store, err := sqlite.Open(data, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	l := Launch{Services: Services{Data: data, Scenario: s, Settings: engine.DefaultSettings()}, Store: store, Trusted: true, Telemetry: tell}
	l.Settings.Cycles, l.Settings.Seed, l.Settings.Mock.Profile = 2, 7, "none"
	l.Settings.Mock.Faults = map[string]string{"server_error": "0.05"}
	l.Settings.Retry.Wait = time.Millisecond
	if change != nil {
		change(&l)
	}
	job, err := l.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// TestFindTelemetry checks the precedence: flags, environment, saved settings.
func TestFindTelemetry(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for name, value := range map[string]string{config.ListenKey: "127.0.0.1:9464", config.OTLPKey: "http://127.0.0.1:4318", config.TraceKey: "0.5"} {
		if err := config.Save(data, map[string]string{name: value}); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{}
	for _, tt := range []struct {
		name       string
		flags, env map[string]string
		want       config.Telemetry
		mistake    string
	}{
		{"saved", nil, nil, config.Telemetry{Listen: "127.0.0.1:9464", OTLP: "http://127.0.0.1:4318", Share: 0.5}, ""},
		{"flags", map[string]string{config.ListenKey: "off", config.OTLPKey: "https://otel.example.com/x", config.TraceKey: "0"}, map[string]string{config.ListenEnv: "127.0.0.1:1"}, config.Telemetry{OTLP: "https://otel.example.com/x"}, ""},
		{"environment", nil, map[string]string{config.ListenEnv: "[::1]:0", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:5"}, config.Telemetry{Listen: "[::1]:0", OTLP: "http://127.0.0.1:5", FromEnv: true, Share: 0.5}, ""},
		{"one kind", map[string]string{config.OTLPKey: ""}, map[string]string{telemetry.Endpoints[1]: "http://127.0.0.1:6"}, config.Telemetry{Listen: "127.0.0.1:9464", OTLP: "http://127.0.0.1:4318", Share: 0.5}, ""},
		{"always", nil, map[string]string{"OTEL_TRACES_SAMPLER": "parentbased_always_on"}, config.Telemetry{Listen: "127.0.0.1:9464", OTLP: "http://127.0.0.1:4318", Share: 1}, ""},
		{"ratio", nil, map[string]string{"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.25"}, config.Telemetry{Listen: "127.0.0.1:9464", OTLP: "http://127.0.0.1:4318", Share: 0.25}, ""},
		{"grpc", nil, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, config.Telemetry{}, "grpc is not supported"},
		{"no address", map[string]string{config.ListenKey: "9464"}, nil, config.Telemetry{}, "address to listen on"},
		{"a name", map[string]string{config.ListenKey: "db.example.com:9464"}, nil, config.Telemetry{}, "address to listen on"},
		{"a password", map[string]string{config.OTLPKey: "http://me:quiet@127.0.0.1:4318"}, nil, config.Telemetry{}, "has parts other than"},
		{"more than all", map[string]string{config.TraceKey: "2"}, nil, config.Telemetry{}, "is not a fraction"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clear(env)
			maps.Copy(env, tt.env)
			got, _, err := config.FindTelemetry(tt.flags, func(name string) string { return env[name] }, data)
			switch {
			case tt.mistake == "" && (err != nil || got != tt.want):
				t.Errorf("%+v, %v; want %+v", got, err, tt.want)
			case tt.mistake != "" && (err == nil || !strings.Contains(err.Error(), tt.mistake) || strings.Contains(err.Error(), "quiet")):
				t.Errorf("%v; want %q", err, tt.mistake)
			}
		})
	}
	if err := config.Save(data, map[string]string{config.TraceKey: "many"}); err == nil {
		t.Error("a trace share above 1 was saved")
	}
	if err := config.Save(data, map[string]string{"color": "red"}); err == nil {
		t.Error("an unknown color was accepted")
	}
}
