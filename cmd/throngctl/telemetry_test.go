package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zalando/go-keyring"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/telemetry"
)

// TestMetricsCommand checks that all metrics are listed, and that the dashboard is printed unchanged.
func TestMetricsCommand(t *testing.T) {
	code, out, stderr := ctl(t, "metrics", "--data", t.TempDir())
	if code != exitDone || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, m := range telemetry.Metrics() {
		if !strings.Contains(out, m.Name+" ") || !strings.Contains(out, m.Help) {
			t.Errorf("%s is missing", m.Name)
		}
	}
	if code, out, _ := ctl(t, "metrics", "dashboard", "--data", t.TempDir()); code != exitDone || out != string(assets.Dashboard()) {
		t.Errorf("exit code %d, a dashboard of %d bytes", code, len(out))
	}
}

// TestTelemetryOfARun checks the metrics address printed at the start and the summary of sent data at the end. If the port is in
// use, no command starts anything.
func TestTelemetryOfARun(t *testing.T) {
	keyring.MockInit()
	data := filepath.Join(t.TempDir(), "data")
	args := []string{"run", "shopping", "--set", "agents=5", "--cycles", "1", "--mock-latency", "none", "--no-dashboard", "--data", data}
	taken, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // until the test ends
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	for _, command := range [][]string{args, {"calibrate", "shopping", "--set", "agents=5", "--data", data}} {
		code, out, stderr := ctl(t, append(command, "--metrics-listen", taken.Addr().String())...)
		if code != exitUsage || !strings.Contains(stderr, "is in use by another program") || !strings.Contains(stderr, "another port") {
			t.Errorf("%s: exit code %d\n%s%s", command[0], code, out, stderr)
		}
	}
	if runs, _ := filepath.Glob(filepath.Join(data, "mock", "*")); len(runs) > 0 {
		t.Errorf("something was started: %v", runs)
	}
	away := "http://" + taken.Addr().String() // which takes connections and says nothing
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := ctl(t, append(args, "--metrics-listen", "127.0.0.1:0", "--otlp", away, "--trace-share", "1")...)
	if code != exitDone || !strings.Contains(stderr, "metrics for Prometheus: http://127.0.0.1:") || strings.Contains(out, "Prometheus") {
		t.Errorf("exit code %d\n%s%s", code, out, stderr)
	}
	if strings.Count(stderr, "sent to "+away) != 1 || strings.Count(stderr, "connection refused") != 1 || !strings.Contains(stderr, "spans were dropped") {
		t.Errorf("an unreachable collector: got %s", stderr)
	}
	if code, _, stderr := ctl(t, append(args, "--metrics-listen", "0.0.0.0:0")...); code != exitDone || !strings.Contains(stderr, "without a password") {
		t.Errorf("exit code %d, an open address: got %s", code, stderr)
	}
}

// TestTelemetryIsSaved checks that telemetry settings are saved and shown with their source, and that invalid ones are
// rejected.
func TestTelemetryIsSaved(t *testing.T) {
	for _, name := range []string{config.ListenEnv, "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"} {
		t.Setenv(name, "")
	}
	data := t.TempDir()
	if code, _, stderr := ctl(t, "settings", "metrics-listen=127.0.0.1:9464", "trace-share=0.2", "retries=3", "--data", data); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
	_, out, _ := ctl(t, "settings", "--data", data)
	for _, want := range [][]string{{"metrics-listen", "127.0.0.1:9464", "saved"}, {"otlp", "http://127.0.0.1:4318", "OTEL_EXPORTER_OTLP_ENDPOINT"}, {"trace-share", "0.2", "saved"}} {
		found := false
		for line := range strings.SplitSeq(out, "\n") {
			words := strings.Fields(line)
			found = found || len(words) > 3 && words[0] == want[0] && words[1] == want[1] && words[2] == want[2]
		}
		if !found {
			t.Errorf("no line with %v in\n%s", want, out)
		}
	}
	if code, _, stderr := ctl(t, "settings", "otlp=localhost", "--data", data); code != exitUsage || !strings.Contains(stderr, "not the address of a collector") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if text, err := os.ReadFile(filepath.Join(data, "settings.json")); err != nil || strings.Contains(string(text), "4318") {
		t.Errorf("a value of the environment was saved: %s, %v", text, err)
	}
}
