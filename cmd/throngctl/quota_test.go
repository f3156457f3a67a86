package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestLatencyChangesNoResult compares the results of runs with and without quotas, limited capacity and latency in the
// mock: for the shop, without a rate limiter, and for the model, with one.
func TestLatencyChangesNoResult(t *testing.T) {
	for name, run := range map[string]func(string, ...string) []string{"shop": day, "model": chat} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			results := func(more ...string) string {
				data := t.TempDir()
				out := filepath.Join(data, "out")
				code, stdout, stderr := ctl(t, run(data, append(more, "--no-dashboard", "--export", out)...)...)
				if code != 0 || strings.Contains(stdout, "inexact") {
					t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
				}
				return read(t, out, "sessions.csv") + read(t, out, "events.csv")
			}
			want := results()
			got := results("--mock-fault", "quota=250", "--mock-fault", "capacity=2", "--mock-latency", "local")
			if got != want {
				t.Errorf("the results differ\n%s", difference(want, got))
			}
		})
	}
}
