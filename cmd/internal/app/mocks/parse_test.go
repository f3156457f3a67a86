package mocks

import (
	"errors"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func TestMockTexts(t *testing.T) {
	cfg, err := Parse(engine.Mock{Profile: "slow", Faults: map[string]string{"hang": "0.1", "outage": "30s+10s"}, Scarcity: true})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Profile.String() != "slow" || cfg.Faults.Hang != 0.1 || cfg.Faults.OutageFrom != 30*time.Second || cfg.Faults.OutageFor != 10*time.Second || !cfg.Scarcity {
		t.Errorf("read as %+v", cfg)
	}
	for _, r := range []engine.Mock{
		{Profile: "fast"},
		{Faults: map[string]string{"fire": "1"}},
		{Faults: map[string]string{"hang": "x"}},
		{Faults: map[string]string{"hang": "2"}},
		{Faults: map[string]string{"outage": "soon"}},
	} {
		var field *engine.FieldError
		if _, err := Parse(r); !errors.As(err, &field) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}
