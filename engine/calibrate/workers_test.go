package calibrate

import "testing"

// spreadOf returns sweeps with a recommendation each, in ascending order of their workers.
func spreadOf(perSecond ...float64) (all []Spread) {
	for i, x := range perSecond {
		r := &Result{Level: 10 * (i + 1), PerSecond: x, Bound: CPU, Why: "at 64, the CPU was at 95%"}
		if x == 0 {
			r = &Result{Why: "measured under load"}
		}
		all = append(all, Spread{i, r})
	}
	return all
}

// TestChoose checks that the fewest workers with almost the best throughput are recommended, with the reason.
func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		name      string
		perSecond []float64
		workers   int
		level     int
		why       string
	}{
		{"it still grew", []float64{100, 150, 210}, 2, 30, "Best: 2 workers with a limit of 30, about 210 sessions per second, 2.1 times as many as one process with a limit of 10. Throughput still grew: measure more workers."},
		{"a plateau", []float64{100, 196, 200, 199}, 1, 20, "Best: 1 worker with a limit of 20, about 196 sessions per second, 1.96 times as many as one process with a limit of 10. More are not worth it: 3 workers had 199 per second, limited by CPU: at 64, the CPU was at 95%."},
		{"one process is best", []float64{100, 80, 60}, 0, 10, "Best: one process with a limit of 10, about 100 sessions per second. More are not worth it: 2 workers had 60 per second, limited by CPU: at 64, the CPU was at 95%."},
		{"one number", []float64{100}, 0, 10, "Best: one process with a limit of 10, about 100 sessions per second."},
		{"one was disturbed", []float64{0, 80, 0}, 1, 20, "Best: 1 worker with a limit of 20, about 80 sessions per second."},
		{"all were disturbed", []float64{0, 0}, 0, 0, "No recommendation: every measurement was disturbed or failed."},
		{"nothing was measured", nil, 0, 0, "No recommendation: every measurement was disturbed or failed."},
	} {
		got := Choose(spreadOf(tt.perSecond...))
		if got.Workers != tt.workers || got.Level != tt.level || got.Why != tt.why {
			t.Errorf("%s: got %+v\nwant %s", tt.name, got, tt.why)
		}
	}
}

// TestCoordinatorIsTheBound checks that a busy CPU is the coordinator's if it uses more of it than the workers.
func TestCoordinatorIsTheBound(t *testing.T) {
	for _, tt := range []struct {
		own, workers float64
		bound        Bound
		why          string
	}{
		{90, 0, CPU, "at 32, the CPU was at 95%"},
		{90, 60, CPU, "at 32, the CPU was at 95%, the coordinator used 30 and the workers 60"},
		{90, 20, Coordinator, "at 32, the CPU was at 95%, the coordinator used 70 and the workers 20"},
	} {
		var samples []Sample
		for _, n := range []int{8, 16, 32} {
			s := Sample{Level: n, Round: 1, Span: 1e9, Ended: int64(10 * n), CPU: 40, OwnCPU: 35, Memory: -1, InFlight: float64(n)}
			if n == 32 {
				s.CPU, s.OwnCPU, s.WorkersCPU = 95, tt.own, tt.workers
			}
			samples = append(samples, s)
		}
		if r := Evaluate(Plan{Levels: []int{8, 16, 32}}, samples); r.Bound != tt.bound || r.Why != tt.why {
			t.Errorf("own %v, workers %v: got %s: %s", tt.own, tt.workers, r.Bound, r.Why)
		}
	}
}
