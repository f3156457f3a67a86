package storetest

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// injected returns the row of an injected message for sessions from a cycle on.
func injected(cycle int, text string) engine.ChangeRow {
	return engine.ChangeRow{
		At: at(cycle), Cycle: max(cycle-1, 0), What: engine.InjectChange, Old: "all", New: fmt.Sprintf(`{"cycle":%d,"to":[1,3],"said":%q}`, cycle, text), Who: "user",
		Inexact: &engine.Inexact{Cycle: cycle, Why: "by hand"},
	}
}

// testInjected checks that injected messages are restored once, from the checkpoint or the rows after it, and in a fork up
// to its cycle.
func testInjected(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	letter := func(cycle int, text string) engine.Injection {
		return engine.Injection{Cycle: cycle, To: []int{1, 3}, Body: fmt.Appendf(nil, "%q", text)}
	}
	check := func(when string, run engine.RunID, want ...engine.Injection) {
		t.Helper()
		r, err := f.Resume(t.Context(), run)
		must(t, err)
		if !reflect.DeepEqual(r.Injected, want) {
			t.Errorf("%s: got %+v, want %+v", when, r.Injected, want)
		}
	}
	check("nothing", "r")
	f.commit(injected(0, "before"), injected(1, "in the first cycle"))
	check("without a checkpoint", "r", letter(0, "before"), letter(1, "in the first cycle"))
	f.commit(engine.BarrierRow{Cycle: 0, At: at(1)}, injected(2, "in the second"), engine.CheckpointRow{At: at(2), Cycle: 1, State: engine.State{
		Injected: []engine.Injection{letter(0, "before"), letter(1, "in the first cycle")},
	}})
	all := []engine.Injection{letter(0, "before"), letter(1, "in the first cycle"), letter(2, "in the second")}
	check("after a checkpoint", "r", all...)
	f.commit(engine.BarrierRow{Cycle: 1, At: at(3)}, injected(3, "last"))
	f.reopen()
	check("reopened", "r", append(all, letter(3, "last"))...)
	if r := f.resume(); r.State.Totals.Inexact.String() != "inexact since cycle 0: by hand" || r.AtBarrier.Inexact == nil {
		t.Errorf("the run is %v", r.State.Totals.Inexact)
	}
	must(t, f.Fork(t.Context(), childOf("r", 1), storage.Fork{Checkpoint: 1}))
	check("in a fork", "child", letter(0, "before"), letter(1, "in the first cycle"))
}
