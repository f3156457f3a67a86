package pace

import (
	"math"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestPaceIsSmooth checks the time left of runs whose cycles end slowly, whose services stall, and whose limit changes: it
// moves by at most half within half a minute, and it follows a lasting change.
func TestPaceIsSmooth(t *testing.T) {
	const total = 200_000
	for name, rate := range map[string]func(second int) int64{
		"steady": func(int) int64 { return 50 },
		"cycles that end slowly": func(s int) int64 {
			if s%40 < 20 {
				return 95
			}
			return 5
		},
		"stalls": func(s int) int64 {
			if s%120 > 105 {
				return 0
			}
			return 60
		},
		"bursts": func(s int) int64 { return int64(250 * (1 - min(s%5, 1))) },
	} {
		t.Run(name, func(t *testing.T) {
			var p Estimate
			var ended int64
			var seen []float64
			for s := range 3600 {
				n := rate(s)
				ended += n
				p.Add(time.Second, time.Duration(s)*time.Second, 0, n, 50)
				if ended < total/20 || total-ended < total/20 {
					continue
				}
				if p.PerSecond() == 0 {
					t.Fatalf("second %d: no estimate after %d sessions", s, ended)
				}
				seen = append(seen, float64(total-ended)/p.PerSecond())
			}
			for i := range len(seen) - 30 {
				if a, b := seen[i], seen[i+30]; math.Max(a/b, b/a) > 1.5 {
					t.Fatalf("the time left goes from %.0f s to %.0f s in half a minute", a, b)
				}
			}
		})
	}
}

func TestPaceFollows(t *testing.T) {
	var p Estimate
	if p.Add(time.Second, 0, 0, 1000, 50); p.PerSecond() != 0 {
		t.Errorf("%v after a second, want no estimate", p.PerSecond())
	}
	p = Estimate{}
	for s := range 300 {
		p.Add(time.Second, time.Duration(s)*time.Second, 0, 20, 50)
	}
	for s := range 120 {
		p.Add(time.Second, time.Duration(300+s)*time.Second, 0, 80, 50)
	}
	if got := p.PerSecond(); got < 60 || got > 80 {
		t.Errorf("two minutes after the limit went up fourfold the estimate is %.0f a second, want nearly 80", got)
	}
}

// TestTimeLeftOfCycles checks the time left of a run of 40 cycles in which most sessions end in the first two of ten seconds, as those of
// idle agents do. It must count down instead of rising while a cycle ends slowly.
func TestTimeLeftOfCycles(t *testing.T) {
	const (
		cycles, each = 40, 10 // seconds
		fast, slow   = 150, 5 // sessions a second
		perCycle     = 2*fast + (each-2)*slow
	)
	var p Estimate
	s := &engine.Snapshot{SessionCounts: engine.SessionCounts{Total: cycles * perCycle}, CycleState: engine.CycleState{CycleTotal: perCycle}}
	for at := range cycles * each {
		if at > 0 && at%each == 0 {
			p.Closed(each*time.Second, time.Duration(at)*time.Second, perCycle, 50)
			s.CycleEnded = 0
		}
		n := int64(slow)
		if at%each < 2 {
			n = fast
		}
		p.Add(time.Second, time.Duration(at)*time.Second, each*time.Second, n, 50)
		s.Ended, s.CycleEnded = s.Ended+n, s.CycleEnded+n
		s.Elapsed, s.CycleTook = time.Duration(at+1)*time.Second, time.Duration(at%each+1)*time.Second
		if at < 2*each {
			continue
		}
		got, want := p.Left(s).Seconds(), float64(cycles*each-at-1)
		if math.Abs(got-want) > 0.03*want+1 {
			t.Errorf("after %d s: %.0f s left, want %.0f s", at+1, got, want)
		}
	}
}

// TestTimeLeftAfterTheLimitRose checks that sessions from before the limit rose do not make the estimate a fifth too high.
func TestTimeLeftAfterTheLimitRose(t *testing.T) {
	const total = 20_000
	var p Estimate
	s := &engine.Snapshot{SessionCounts: engine.SessionCounts{Total: total}}
	for at := range 60 {
		limit := min(50+2*at, 100) // as a governor raises it
		n := int64(limit)          // a second each
		p.Add(time.Second, time.Duration(at)*time.Second, 0, n, limit)
		s.Ended += n
		s.Elapsed = time.Duration(at+1) * time.Second
		if got, want := p.Left(s).Seconds(), float64(total-s.Ended)/100; at >= 30 && got > 1.15*want {
			t.Errorf("after %d s: %.0f s left, want %.0f s", at+1, got, want)
		}
	}
}

// TestTimeLeftOfFewCycles checks that seconds count in a run of few long cycles, so that the estimate follows a change in the first one.
func TestTimeLeftOfFewCycles(t *testing.T) {
	var p Estimate
	s := &engine.Snapshot{SessionCounts: engine.SessionCounts{Total: 3000}, CycleState: engine.CycleState{CycleTotal: 1000}}
	p.Closed(100*time.Second, 100*time.Second, 1000, 50)
	for at := range 100 {
		p.Add(time.Second, time.Duration(100+at)*time.Second, 100*time.Second, 5, 50)
	}
	s.Ended, s.CycleEnded, s.Elapsed, s.CycleTook = 1500, 500, 200*time.Second, 100*time.Second
	if got := p.Left(s); got < 290*time.Second || got > 310*time.Second {
		t.Errorf("%v left, want 5 min", got)
	}
}

// TestScheduledTimeLeft checks that the pace matters only while more sessions are overdue than may run.
func TestScheduledTimeLeft(t *testing.T) {
	for overdue, want := range map[int64]time.Duration{0: 62 * time.Second, 10: 62 * time.Second, 11: time.Hour} {
		s := &engine.Snapshot{LimitState: engine.LimitState{Limit: 10}, Pace: engine.Pace{Overdue: overdue}}
		s.Latency = engine.Quantiles{Count: 5, Mean: 2 * time.Second}
		if got := Scheduled(s, time.Minute, time.Hour); got != want {
			t.Errorf("%d overdue: %v left, want %v", overdue, got, want)
		}
	}
}
