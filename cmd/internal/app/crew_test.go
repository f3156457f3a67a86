package app

import (
	"errors"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// TestBatchesNeedOneProcess checks that a run with batches is not spread over workers, and that the error says what to change.
func TestBatchesNeedOneProcess(t *testing.T) {
	for _, on := range []string{"on", "off"} {
		text := "title: Ask\nclock: {cycles: 1}\npopulation: {count: 2}\nservices:\n  cheap: {kind: llm, provider: mock, batch: " + on + "}\nchain ask:\n  step say: {kind: llm, service: cheap, prompt: Hello}\n"
		s, err := scenario.Read("ask.yaml", func(string) ([]byte, error) { return []byte(text), nil }, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = Launch{Services: Services{Data: t.TempDir(), Scenario: s, Settings: engine.DefaultSettings()}}.CheckCrew()
		wrong, refused := errors.AsType[*engine.FieldError](err)
		if refused != (on == "on") || refused && (wrong.Field != "fleet" || !strings.Contains(wrong.Problem, "the service cheap has `batch: on`") || !strings.Contains(wrong.Hint, "--fleet")) {
			t.Errorf("batch: %s: %v", on, err)
		}
	}
}
