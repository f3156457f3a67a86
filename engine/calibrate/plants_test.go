package calibrate

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"
)

// machine models what a sweep measures: sessions think, then queue for one of a service's workers, and use the CPU. Throughput is that of
// the closed queueing network, by exact mean value analysis (M. Reiser and S. S. Lavenberg, Mean-Value Analysis of Closed Multichain
// Queuing Networks, JACM 27(2), 1980). Several workers are modeled as one faster worker and a delay (Seidmann's approximation).
type machine struct {
	think, serve time.Duration
	workers      int
	compute      time.Duration // CPU time of a session, over all cores of this machine
	quota        float64       // requests per second that a provider admits; 0 is unlimited
	noise        float64
	rng          *rand.Rand
}

// at returns sessions per second with n concurrent sessions, and the time that a session's request takes.
func (m *machine) at(n int) (perSecond, request float64) {
	workers := float64(max(m.workers, 1))
	line, cpu := m.serve.Seconds()/workers, m.compute.Seconds()
	delay := m.think.Seconds() + m.serve.Seconds()*(workers-1)/workers
	var inLine, onCPU float64
	for k := 1; k <= n; k++ {
		waits, computes := line*(1+inLine), cpu*(1+onCPU)
		perSecond = float64(k) / (delay + waits + computes)
		inLine, onCPU = perSecond*waits, perSecond*computes
		request = waits + m.serve.Seconds()*(workers-1)/workers
	}
	if m.quota > 0 {
		perSecond = min(perSecond, m.quota)
	}
	return perSecond, request
}

func (m *machine) measure(_ context.Context, n int) (Sample, error) {
	x, request := m.at(n)
	free, _ := (&machine{think: m.think, serve: m.serve, workers: m.workers, compute: m.compute}).at(n)
	got := x * (1 + m.noise*m.rng.NormFloat64())
	s := sample(n, 0, got, func(s *Sample) {
		s.Asked, s.Service = s.Ended, time.Duration(request*1e9)
		s.CPU = min(100*x*m.compute.Seconds()+3, 100)
		s.OwnCPU = s.CPU - 3
		s.Paced = 1 - x/free
	})
	return s, nil
}

// best returns the smallest level, at most most, with 95% of the best throughput.
func (m *machine) best(most int) (level int, perSecond float64) {
	for n := 1; n <= most; n++ {
		x, _ := m.at(n)
		perSecond = max(perSecond, x)
	}
	for level = 1; ; level++ {
		if x, _ := m.at(level); x >= enough*perSecond {
			return level, perSecond
		}
	}
}

// TestSweepsOfMachines sweeps over models with a knee, which the law only approximates. It checks that the
// recommendation has nearly the throughput of the best level without being far above it, and that the bound is right.
func TestSweepsOfMachines(t *testing.T) {
	for _, tt := range []struct {
		name    string
		machine machine
		most    int // highest level within the bounds
		bound   Bound
	}{
		{"a service with one worker", machine{think: 95 * time.Millisecond, serve: 5 * time.Millisecond, workers: 1}, 64, Backend},
		{"a service with eight workers", machine{think: 20 * time.Millisecond, serve: 30 * time.Millisecond, workers: 8}, 64, Backend},
		{"a service with ample capacity", machine{think: 50 * time.Millisecond, serve: 10 * time.Millisecond, workers: 1000}, 64, Nothing},
		{"a machine that saturates", machine{think: 40 * time.Millisecond, serve: 10 * time.Millisecond, workers: 1000, compute: 4 * time.Millisecond}, 8, CPU},
		{"a provider with a quota", machine{think: 50 * time.Millisecond, serve: 50 * time.Millisecond, workers: 1000, quota: 100}, 64, Provider},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want, top := tt.machine.best(tt.most)
			worst, highest := 1.0, 0
			const sweeps = 8
			bounds := map[Bound]int{}
			for seed := range uint64(sweeps) {
				m := tt.machine
				m.noise, m.rng = 0.03, rand.New(rand.NewPCG(seed, 4))
				r, err := Sweep(t.Context(), Plan{Seed: seed}, m.measure, nil)
				if err != nil {
					t.Fatal(err)
				}
				x, _ := m.at(r.Level)
				worst, highest = min(worst, x/top), max(highest, r.Level)
				bounds[r.Bound]++
			}
			t.Logf("best is %d; recommended up to %d, which give at least %.3f of the best; bounds %v", want, highest, worst, bounds)
			if worst < 0.94 || highest > 2*want+4 {
				t.Errorf("recommendations give down to %.3f of the best, and go up to %d where %d is best", worst, highest, want)
			}
			if bounds[tt.bound] < sweeps*9/10 {
				t.Errorf("the bounds are %v, want %s", bounds, tt.bound)
			}
		})
	}
}
