package wire

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/rehearsal"
)

// TestInexactBecause is which rehearsals a result depends on the timing of.
func TestInexactBecause(t *testing.T) {
	shop, model := &Job{Shop: &rehearsal.Shop{}}, &Job{Model: &rehearsal.Model{}}
	outage, quota := map[string]string{"outage": "5s+100s"}, map[string]string{"quota": "20"}
	for _, tt := range []struct {
		name string
		job  *Job
		r    engine.Rehearsal
		says string
	}{
		{"a shop with an outage", shop, engine.Rehearsal{Faults: outage}, "outage by wall time"},
		{"models with an outage", model, engine.Rehearsal{Faults: outage}, "outage by wall time"},
		{"services of others", &Job{}, engine.Rehearsal{Faults: outage, Scarcity: true}, ""},
		{"a shop with scarcity", shop, engine.Rehearsal{Scarcity: true}, "share the stock"},
		{"models have no stock", model, engine.Rehearsal{Scarcity: true}, ""},
		{"a quota is paced away", model, engine.Rehearsal{Faults: quota}, ""},
	} {
		if got := inexactBecause(tt.job, tt.r); !strings.Contains(got, tt.says) || (got == "") != (tt.says == "") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.says)
		}
	}
}
