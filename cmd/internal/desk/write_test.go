package desk

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/setup"
)

// TestGivingUpTheWritingOfAPopulation checks that a launch whose model does not answer can be stopped: by its context, by
// Stop and by closing the window.
func TestGivingUpTheWritingOfAPopulation(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client disconnects
		<-r.Context().Done()
	}))
	defer model.Close()
	path := filepath.Join(t.TempDir(), "town.yaml")
	text := "population: {count: 3, write: {service: model, prompt: who, answer: {name: string}}}\n" +
		"services: {model: {kind: llm, model: m, url: \"" + model.URL + "\"}}\nchain c: {step a: {kind: stop}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, end := range map[string]struct {
		do   func(d *Desk, giveUp context.CancelFunc) error
		says string
	}{
		"context": {func(_ *Desk, giveUp context.CancelFunc) error { giveUp(); return nil }, "the other 3 were not requested: it was stopped"},
		"stop":    {func(d *Desk, _ context.CancelFunc) error { return d.Stop(false) }, "the other 3 were not requested: the window is being closed"},
		"close":   {func(d *Desk, _ context.CancelFunc) error { return d.Close() }, "the other 3 were not requested: the window is being closed"},
	} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			d, err := Open(data)
			if err != nil {
				t.Fatal(err)
			}
			ctx, giveUp := context.WithCancel(t.Context())
			defer giveUp()
			order := setup.Order{Scenario: path, Settings: engine.DefaultSettings(), Allow: []string{strings.TrimPrefix(model.URL, "http://")}}
			writing, launched := make(chan [2]int, 10), make(chan error, 1)
			go func() {
				launched <- setupDesk{d}.Launch(ctx, order, func(done, total int) {
					writing <- [2]int{done, total}
				})
			}()
			select {
			case got := <-writing:
				if got != [2]int{0, 3} {
					t.Errorf("got %v", got)
				}
			case err := <-launched:
				t.Fatalf("not launched: %v", err)
			}
			if err := end.do(d, giveUp); err != nil {
				t.Error(err)
			}
			err = <-launched
			if _, ok := errors.AsType[*app.UnwrittenError](err); !ok || !strings.Contains(err.Error(), end.says) {
				t.Errorf("got %v, want %s", err, end.says)
			}
			<-d.Settled()
			if runsDesk.Busy(runsDesk{d}) != "" {
				t.Error("the desk is still busy")
			}
			if name != "close" {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestActiveAgentsOfAWrittenPopulation checks that active agents are counted once the personas are written, and that an
// unknown number does not block a launch.
func TestActiveAgentsOfAWrittenPopulation(t *testing.T) {
	d := open(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "town.yaml")
	const text = "population: {count: 12, write: {service: model, prompt: \"who ${index}\", answer: {age: int}}}\n" +
		"services: {model: {kind: llm, url: \"mock:model\"}}\nchain c: {step a: {kind: stop}}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := setup.Order{Scenario: path, Settings: engine.DefaultSettings()}
	o.Settings.Cycles, o.Settings.Mock.Profile = 1, "none"
	if n, err := (setupDesk{d}).Choose(t.Context(), o); n != 12 || err != nil {
		t.Errorf("all agents: got %d, %v", n, err)
	}
	o.Settings.Filter = "agent.age > 40"
	_, err := (setupDesk{d}).Choose(t.Context(), o)
	if _, mistake := errors.AsType[*engine.FieldError](err); err == nil || mistake {
		t.Errorf("before the personas are written: %v", err)
	}
	if err := (setupDesk{d}).Launch(t.Context(), o, nil); err != nil {
		t.Fatal(err)
	}
	<-d.Settled()
	n, err := setupDesk{d}.Choose(t.Context(), o)
	if job := (liveDesk{d}).Job(); err != nil || n != job.Agents || n == 0 || n == 12 {
		t.Errorf("got %d, %v; %d agents were active", n, err, job.Agents)
	}
}
