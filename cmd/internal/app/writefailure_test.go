package app_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine/scenario"
)

// modelThat starts a model server with the given answers.
func modelThat(t *testing.T, answers func(prompt string, w http.ResponseWriter)) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked struct {
			Messages []struct{ Content string }
		}
		if err := json.Unmarshal(body, &asked); err != nil || len(asked.Messages) < 2 {
			http.Error(w, "what?", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		answers(asked.Messages[1].Content, w)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func says(w io.Writer, answer string) {
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"role": "assistant", "content": answer}, "finish_reason": "stop"}},
		"usage":   map[string]int{"prompt_tokens": 10, "completion_tokens": 5},
	})
}

const aPersona = `{"name": "Ann", "age": 30, "traits": [], "home": {"street": "Quay"}}`

// TestSequentialPersonas checks that sequential-personas has one model call in flight at a time.
func TestSequentialPersonas(t *testing.T) {
	var inFlight, most atomic.Int64
	url := modelThat(t, func(_ string, w http.ResponseWriter) {
		n := inFlight.Add(1)
		defer inFlight.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		says(w, aPersona)
	})
	d := newTown(t)
	job, err := d.launch(d.read(harbour, nil), func(l *app.Launch) {
		l.Settings.SequentialPersonas = true
		l.Settings.Services = map[string]string{"model": url + "#writer"}
	})
	if err != nil {
		t.Fatal(err)
	}
	if job.Run.Wait(); job.Written == nil || job.Written.New != 12 || most.Load() != 1 {
		t.Errorf("%+v, with up to %d concurrent calls", job.Written, most.Load())
	}
	if err := job.Close(); err != nil {
		t.Error(err)
	}
}

// TestPersonasThatFail checks that the error lists missing personas, and that the next launch requests only these.
func TestPersonasThatFail(t *testing.T) {
	d := newTown(t)
	mended := atomic.Bool{}
	url := modelThat(t, func(prompt string, w http.ResponseWriter) {
		d.requests.Add(1)
		switch {
		case mended.Load():
			says(w, aPersona)
		case strings.Contains(prompt, "number 3,"):
			says(w, `{"name": "Bob"}`)
		case strings.Contains(prompt, "number 7,"):
			http.Error(w, `{"error": {"message": "broken"}}`, http.StatusInternalServerError)
		default:
			says(w, aPersona)
		}
	})
	there := func(l *app.Launch) {
		l.Settings.Services = map[string]string{"model": url + "#m"}
		l.Settings.Retry.Attempts = 2
	}
	_, err := d.launch(d.read(harbour, nil), there)
	unwritten, ok := errors.AsType[*app.UnwrittenError](err)
	if !ok || unwritten.Done != 10 || len(unwritten.Failed) != 2 || unwritten.Cause != nil {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"10 of 12 personas are written and stored; launch the scenario again to write the others", "; persona 3: ", "age", "; persona 7: status 500"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
	mended.Store(true)
	d.requests.Store(0)
	got, asked, job := d.run(d.read(harbour, nil), there)
	if asked != 2 || job.Written.Kept != 10 {
		t.Errorf("%d requests: %s", asked, job.Written)
	}
	if text := got[scenario.PersonasName]; strings.Count(text, `"age":30,"traits":[],"home":{"street":"Quay"}`) != 12 {
		t.Errorf("personas:\n%s", text)
	}
	if want := "12 personas written by model, 10 of them earlier; 2 requests, 30 tokens, $0"; job.Written.String() != want {
		t.Errorf("got %q, want %q", job.Written, want)
	}
}

// TestAModelThatIsDown checks that writing stops after a few failures.
func TestAModelThatIsDown(t *testing.T) {
	d := newTown(t)
	url := modelThat(t, func(_ string, w http.ResponseWriter) {
		d.requests.Add(1)
		http.Error(w, "no such key", http.StatusUnauthorized)
	})
	_, err := d.launch(d.read(harbour, map[string]string{"count": "500"}), func(l *app.Launch) {
		l.Settings.Services, l.Settings.MaxLLMCalls = map[string]string{"model": url + "#m"}, 1
	})
	if err == nil || !strings.Contains(err.Error(), "0 of 500") || !strings.Contains(err.Error(), "the other 495 were not requested: too many failed") {
		t.Errorf("got %v", err)
	}
	if n := d.requests.Load(); n != 5 {
		t.Errorf("%d requests", n)
	}
}

// TestAttributesThatFailCostNothingTwice checks that personas are stored even if an attribute cannot be computed.
func TestAttributesThatFailCostNothingTwice(t *testing.T) {
	d := newTown(t)
	_, err := d.launch(d.read(strings.Replace(harbour, "agent.age > 40", "agent.age + agent.name", 1), nil), nil)
	mistakes, ok := errors.AsType[*scenario.Mistakes](err)
	if !ok || mistakes.Count() != 1 || !strings.Contains(err.Error(), "harbour.yaml:12:21: the first agent: the attribute old") {
		t.Fatalf("got %v", err)
	}
	if _, asked, _ := d.run(d.read(harbour, nil), nil); asked != 0 {
		t.Errorf("%d requests after the correction", asked)
	}
}
