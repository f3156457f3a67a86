package view

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func TestLimitNote(t *testing.T) {
	at := time.Date(2030, 3, 1, 12, 0, 3, 0, time.Local)
	automatic := engine.LimitState{Limit: 20, InFlight: 12, Floor: 1, Ceiling: 100, Governor: "adaptive"}
	moved := automatic
	moved.Steer, moved.SteerBy, moved.Steered = "25 → 20: CPU 91% for 3s, above 80%", "resources", at
	manual := engine.LimitState{Limit: 200, InFlight: 150, Floor: 1, Ceiling: 100, Governor: engine.Manual}
	set := func(who, to string) []engine.ChangeRow {
		return []engine.ChangeRow{{What: engine.LimitSetting, Old: engine.Automatic, New: to, Who: who}, {What: engine.StallChange}}
	}
	busy := engine.HostMetrics{CPU: 95, ProcessCPU: 6 * float64(runtime.NumCPU()), MemoryTotal: 16e9, Available: 9e9}
	own := engine.HostMetrics{CPU: 95, ProcessCPU: 90 * float64(runtime.NumCPU()), MemoryTotal: 16e9, Available: 9e9}
	for _, c := range []struct {
		name    string
		limit   engine.LimitState
		host    engine.HostMetrics
		changes []engine.ChangeRow
		oldest  string
		mode    string
		want    string
	}{
		{"automatic", automatic, busy, nil, "", Automatic, "Adaptive, up to 100."},
		{"moved", moved, busy, nil, "", Automatic, "Lowered from 25 to 20 at 12:00:03: CPU 91% for 3s, above 80%."},
		{"by hand", manual, engine.HostMetrics{CPU: 20}, set(User, "200"), "", Manual, "You set 200."},
		{"by hand, and busy", manual, busy, set(User, "200"), "", Manual, "You set 200. Other apps are busy."},
		{"by hand, and busy itself", manual, own, set(User, "200"), "", Manual, "You set 200. Throng uses most of the CPU."},
		{"from a terminal", manual, engine.HostMetrics{}, set("terminal (ann@77)", "200"), "", Manual, "Set to 200 by terminal (ann@77)."},
		{"resumed", manual, engine.HostMetrics{}, nil, "", Manual, "Fixed at 200."},
		{"memory", manual, busy, set(User, "200"), engine.ThrottledByMemory.Text(), Manual, "You set 200. The memory budget holds sessions back."},
		{"files", automatic, busy, nil, engine.ThrottledByFiles.Text(), Automatic, "Adaptive, up to 100. The limit of open files holds sessions back."},
	} {
		s := &engine.Snapshot{LimitState: c.limit, Metrics: engine.MetricsRow{Host: c.host}, Changes: c.changes}
		if c.oldest != "" {
			s.Oldest = []engine.Activity{{ThrottledBy: "a wait"}, {ThrottledBy: c.oldest}}
		}
		if got := LimitNote(s, &engine.Settings{}); got != c.want || LimitMode(s) != c.mode {
			t.Errorf("%s: %s %q, want %s %q", c.name, LimitMode(s), got, c.mode, c.want)
		}
		if why := LimitWhy(s, &engine.Settings{}); !strings.Contains(why, c.mode+": ") || !strings.Contains(why, "To do: ") {
			t.Errorf("%s: %s", c.name, why)
		}
	}
	s := &engine.Snapshot{LimitState: moved, CycleState: engine.CycleState{CycleEnded: 365, CycleTotal: 372}}
	s.Binds = "latency"
	for _, want := range []string{"between 1 and 100", "Decided by: CPU and memory (lowers the limit while the machine is busy)", "Now limited by: Latency", "Sessions left in this cycle: 7."} {
		if why := LimitWhy(s, &engine.Settings{}); !strings.Contains(why, want) {
			t.Errorf("no %q in %s", want, why)
		}
	}
	if got := Active(s); got != "12 of 20 active" {
		t.Errorf("got %q", got)
	}
}

// TestSequentialLimit checks that settings that keep sessions back below the limit are named, and the breaker in words.
func TestSequentialLimit(t *testing.T) {
	s := &engine.Snapshot{LimitState: engine.LimitState{Limit: 50, Governor: engine.Adaptive, Ceiling: 100, Floor: 1, Steer: "60 → 50: 9 of 20 sessions failed", SteerBy: engine.ByBreaker}}
	var sequential, batches, large engine.Settings
	sequential.Sequential, batches.Batch, large.Batch = true, 8, 80
	for of, want := range map[*engine.Settings]string{&sequential: "Agents run one after another.", &batches: "Agents run in batches of 8.", &large: ""} {
		if got := HardLimit(s, of); got != want || !strings.HasSuffix(LimitNote(s, of), want) {
			t.Errorf("got %q in %q, want %q", got, LimitNote(s, of), want)
		}
	}
	if why := LimitWhy(s, &large); !strings.Contains(why, "Decided by: Circuit breaker (") {
		t.Errorf("the reason is %q", why)
	}
}

func TestActive(t *testing.T) {
	for _, c := range []struct {
		inFlight, limit int
		want            string
	}{{48, 50, "48 of 50 active"}, {49, 10, "49 active, limit 10"}, {1200, 2000, "1,200 of 2,000 active"}} {
		s := &engine.Snapshot{LimitState: engine.LimitState{InFlight: c.inFlight, Limit: c.limit}}
		if got := Active(s); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
