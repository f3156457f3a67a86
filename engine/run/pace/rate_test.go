package pace

import (
	"testing"
	"time"
)

func TestThroughputOfBurstsIsSteady(t *testing.T) {
	var r Rate
	began := time.Unix(1_700_000_000, 0)
	r.Tick(began)
	if got := r.PerSecond(began.Add(500*time.Millisecond), 0); got != 0 {
		t.Errorf("%v per second before any session", got)
	}
	for second := range 90 {
		at := began.Add(time.Duration(second+1)*time.Second + time.Duration(second%3)*7*time.Millisecond)
		if second%3 == 0 {
			r.Add(372) // a cycle of 3 s begins
		}
		r.Tick(at)
		if got := r.PerSecond(at.Add(300*time.Millisecond), 3*time.Second); second >= 9 && (got < 123 || got > 125) {
			t.Fatalf("after %d s: %v per second, want 124", second, got)
		}
	}
	for second := range 10 {
		r.Tick(began.Add(time.Duration(91+second) * time.Second))
	}
	if got := r.PerSecond(began.Add(101*time.Second), 3*time.Second); got != 0 {
		t.Errorf("%v per second after nothing for 10 s", got)
	}
}
