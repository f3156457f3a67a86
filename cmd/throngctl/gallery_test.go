package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/assets"
)

// TestGallery runs every built-in scenario, with models if it uses any, at limits of 1, 7 and 100. The results must be
// equal and not empty, and all criteria must pass.
func TestGallery(t *testing.T) {
	t.Parallel()
	limits := []string{"1", "7", "100"}
	small := map[string][]string{
		"shopping.yaml":     {"--set", "agents=60", "--set", "eagerness=5", "--set", "llm_share=0.5", "--cycles", "2"},
		"conversation.yaml": {"--set", "pairs=6"},
		"world.yaml":        {"--set", "hours=6"},
		"analysis.ai":       {},
		"study.yaml":        {"--set", "people=60"},
	}
	events := map[string]string{
		"shopping.yaml": "order", "conversation.yaml": "conversation", "world.yaml": "said", "analysis.ai": "analysis", "study.yaml": "opinion",
	}
	for _, name := range assets.Gallery {
		t.Run(name, func(t *testing.T) {
			var first string
			for _, limit := range limits {
				data := t.TempDir()
				out := filepath.Join(data, "out")
				args := append([]string{"run", name, "--data", data, "--mock-latency", "none", "--seed", "7", "--max-concurrent", limit, "--export", out}, small[name]...)
				code, said, stderr := ctl(t, args...)
				if code != exitDone || !strings.Contains(said, "result         exact") || strings.Contains(said, "FAIL") || !strings.Contains(said, "model calls") {
					t.Fatalf("with %s in flight: exit code %d\n%s%s", limit, code, said, stderr)
				}
				results := read(t, out, "sessions.csv") + read(t, out, "events.csv")
				if !strings.Contains(results, ","+events[name]+",") {
					t.Errorf("no event %s:\n%s", events[name], results)
				}
				if first == "" {
					first = results
				}
				if results != first {
					t.Errorf("with %s in flight: %s", limit, difference(first, results))
				}
			}
		})
	}
}

// TestGalleryWithoutParallelSteps checks that the analysis chain has the same results with sequential steps.
func TestGalleryWithoutParallelSteps(t *testing.T) {
	var first string
	for mode, ran := range map[string]string{"off": " 5 in parallel", "on": " 0 in parallel"} {
		data := t.TempDir()
		out := filepath.Join(data, "out")
		code, said, stderr := ctl(t, "run", "analysis.ai", "--data", data, "--mock-latency", "none", "--sequential-steps", mode, "--export", out)
		if code != exitDone || !strings.Contains(said, ran) {
			t.Fatalf("sequential steps %s: exit code %d\n%s%s", mode, code, said, stderr)
		}
		results := read(t, out, "events.csv")
		if first == "" {
			first = results
		}
		if results != first {
			t.Errorf("sequential steps %s: %s", mode, difference(first, results))
		}
	}
}
