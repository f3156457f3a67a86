package run

import (
	"math"
	"testing"
	"time"
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
			var p pace
			var ended int64
			var seen []float64
			for s := range 3600 {
				n := rate(s)
				ended += n
				p.add(time.Second, time.Duration(s)*time.Second, 0, n)
				if ended < total/20 || total-ended < total/20 {
					continue
				}
				if p.perSecond() == 0 {
					t.Fatalf("second %d: no estimate after %d sessions", s, ended)
				}
				seen = append(seen, float64(total-ended)/p.perSecond())
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
	var p pace
	if p.add(time.Second, 0, 0, 1000); p.perSecond() != 0 {
		t.Errorf("%v after a second, want no estimate", p.perSecond())
	}
	p = pace{}
	for s := range 300 {
		p.add(time.Second, time.Duration(s)*time.Second, 0, 20)
	}
	for s := range 120 {
		p.add(time.Second, time.Duration(300+s)*time.Second, 0, 80)
	}
	if got := p.perSecond(); got < 60 || got > 80 {
		t.Errorf("two minutes after the limit went up fourfold the estimate is %.0f a second, want nearly 80", got)
	}
}
