package storage

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func TestExportChanges(t *testing.T) {
	at := time.Date(2030, 3, 1, 12, 0, 0, 500_000_000, time.UTC)
	var out strings.Builder
	r := crowd()
	r.changes = []engine.ChangeRow{
		{At: at, Cycle: 2, What: engine.LimitSetting, Old: "25", New: "20", Who: "resources", Why: "25 → 20: CPU 91% for 3 s, above 80%"},
		{At: at.Add(time.Second), Cycle: 3, What: engine.PhaseChange, Old: "running", New: "paused", Who: "terminal (ann@7)", Why: "=1+1"},
	}
	err := Export(t.Context(), &out, CSV, "changes", r, "r", names)
	want := `time,cycle,what,old,new,who,why
2030-03-01T12:00:00.500000Z,2,max-concurrent,25,20,resources,"25 → 20: CPU 91% for 3 s, above 80%"
2030-03-01T12:00:01.500000Z,3,phase,running,paused,terminal (ann@7),'=1+1
`
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, out.String())
	}
}
