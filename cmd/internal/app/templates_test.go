package app_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app"
)

// TestTemplatesRun runs each template for new scenarios on the mocks, with a few agents.
func TestTemplatesRun(t *testing.T) {
	a, err := app.Open(app.Options{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	for _, name := range assets.Templates {
		t.Run(name, func(t *testing.T) {
			text, err := fs.ReadFile(assets.Scenarios(), name)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), "\n"); n < 20 || n > 40 || strings.Count(string(text), "# ") < 2 {
				t.Errorf("it has %d lines", n)
			}
			few := map[string]string{}
			for _, p := range []string{"agents", "pairs", "reviews", "commuters"} {
				if strings.Contains(string(text), "count: ${params."+p+"}") {
					few[p] = "4"
				}
			}
			l, err := a.New(app.Order{File: name, Parameters: few, Settings: map[string]string{"mock-latency": "none"}})
			if err != nil {
				t.Fatal(err)
			}
			s := l.Scenario
			if s.Title == "" || s.About == "" || len(s.Warnings()) > 0 || s.Agents > 6 {
				t.Errorf("%q, %q, %d agents, warnings %v", s.Title, s.About, s.Agents, s.Warnings())
			}
			job, err := a.Start(t.Context(), l)
			if err == nil {
				err = job.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			result := job.Run.Wait()
			if want := int64(s.Agents * max(s.Cycles, 1)); result.Totals.Ended() != want || !result.Passed() {
				t.Errorf("%d sessions, want %d; passed: %v", result.Totals.Ended(), want, result.Passed())
			}
		})
	}
}
