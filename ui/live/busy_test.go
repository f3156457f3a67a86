package live

import (
	"testing"

	"github.com/throng-sim/throng/engine"
)

func TestBusyKeepsTheLastMinute(t *testing.T) {
	var b busy
	if b.of("shop") != nil {
		t.Error("a service without samples has a line")
	}
	for i := range 100 {
		b.add([]engine.ServiceState{{Name: "shop", InFlight: i}})
	}
	line := b.of("shop")
	if n := len(line.Values); n != busySeconds || line.Values[0] != 40 || line.Values[n-1] != 99 {
		t.Errorf("%d values from %v to %v, want 60 from 40 to 99", n, line.Values[0], line.Values[n-1])
	}
	if b.of("shop") != line {
		t.Error("the line was replaced within a second")
	}
	b.add([]engine.ServiceState{{Name: "shop", InFlight: 5}, {Name: "model"}})
	if b.of("shop") == line || line.Values[busySeconds-1] != 99 {
		t.Error("a line that is shown changed")
	}
	if got := len(b.of("model").Values); got != 1 {
		t.Errorf("a new service has %d values", got)
	}
}

// TestServicesHaveLines follows the figures of a service from the snapshot to the sparkline in its cell.
func TestServicesHaveLines(t *testing.T) {
	st := perform(t, running())
	st.run.change(func(s *engine.Snapshot) { s.Services = []engine.ServiceState{{Name: "shop", InFlight: 7, Bound: 200}} })
	for range 3 {
		st.run.second(func(*engine.MetricsRow) {})
		st.Collect()
	}
	rows := st.lists.services(st.feed)
	if line := rows[0].Cells[2].Spark; line == nil || len(line.Values) != 3 || line.Values[2] != 7 {
		t.Errorf("the line is %+v", line)
	}
}
