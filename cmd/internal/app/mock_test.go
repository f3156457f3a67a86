package app

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/mock"
)

// TestInexactBecause checks which mocks make results depend on timing.
func TestInexactBecause(t *testing.T) {
	shop, model := &Job{Shop: &mock.Shop{}}, &Job{Model: &mock.Model{}}
	outage, quota := map[string]string{"outage": "5s+100s"}, map[string]string{"quota": "20"}
	for _, tt := range []struct {
		name string
		job  *Job
		r    engine.Mock
		says string
	}{
		{"a shop with an outage", shop, engine.Mock{Faults: outage}, "an outage that depends on wall time"},
		{"models with an outage", model, engine.Mock{Faults: outage}, "an outage that depends on wall time"},
		{"real services", &Job{}, engine.Mock{Faults: outage, Scarcity: true}, ""},
		{"a shop with scarcity", shop, engine.Mock{Scarcity: true}, "stock"},
		{"models have no stock", model, engine.Mock{Scarcity: true}, ""},
		{"a quota is handled by the rate limiter", model, engine.Mock{Faults: quota}, ""},
	} {
		if got := inexactBecause(tt.job, tt.r); !strings.Contains(got, tt.says) || (got == "") != (tt.says == "") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.says)
		}
	}
}
