package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service"
)

// TestRuntimeErrorsNameTheStepsPlace checks that the stored error of a session starts with the file and line of its
// step, or of the expression in it.
func TestRuntimeErrorsNameTheStepsPlace(t *testing.T) {
	shop, err := mock.Start(mock.Config{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shop.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct{ name, steps, path, place, says string }{
		{"template", "  step a: {kind: emit, event: x, data: \"${[1][7]}\"}\n", "a", "world.yaml:7:", "out of range"},
		{"condition", "  step a:\n    kind: emit\n    event: x\n    when: \"1 < None\"\n", "a", "world.yaml:10:", "None"},
		{"status", "  step a: {kind: http, service: shop, get: /nothing}\n", "a", "world.yaml:7: ", "status 404"},
		{"expected status", "  step a:\n    kind: http\n    service: shop\n    get: /api/stores\n    expect: 201\n", "a", "world.yaml:7: ", "status 200"},
		{"after another step", "  step a: {kind: emit, event: x}\n  step b: {kind: http, service: shop, get: /nothing}\n", "b", "world.yaml:8: ", "status 404"},
		{"iteration", "  step a:\n    kind: for\n    each: range(2)\n    as: i\n    do:\n      step b: {kind: http, service: shop, get: /nothing}\n", "a[0].b", "world.yaml:12: ", "status 404"},
		{"timeout", "  step a: {kind: wait, for: 1h, timeout: 1ms}\n", "a", "world.yaml:7: ", "1 ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := "title: Errors\npopulation: {count: 1, id: x}\nclock: {cycle: 1h, cycles: 1}\nservices:\n  shop: {kind: http, url: 'mock:shop'}\nchain main:\n" + c.steps
			s, err := Read("world.yaml", files("world.yaml", text), nil)
			if err != nil {
				t.Fatal(err)
			}
			client, err := service.NewHTTP("shop", shop.URL(), s.Services[0].Limits, true)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			s.Services[0].Connect(client, shop.Secret())
			settings := engine.DefaultSettings()
			settings.Cycles, settings.Metrics, settings.CheckpointEvery = s.Cycles, false, 0
			settings.Retry.Attempts, settings.Retry.Wait = 1, time.Millisecond
			j := &enginetest.Journal{}
			run, err := run.Start(t.Context(), run.Config{
				ID: "test", Program: s.Program(1), Agents: s.Agents, Clock: s.Clock, Settings: settings, Journal: j,
			})
			if err != nil {
				t.Fatal(err)
			}
			run.Wait()
			rows := j.Sessions()
			if len(rows) != 1 || rows[0].Path != c.path || !strings.HasPrefix(rows[0].Error, c.place) || !strings.Contains(rows[0].Error, c.says) {
				t.Fatalf("got %d sessions, the first %+v; want an error of step %s at %s with %q", len(rows), rows[0], c.path, c.place, c.says)
			}
		})
	}
}
