package fleet

import (
	"testing"
	"time"
)

func TestSkew(t *testing.T) {
	begin := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	answer := func(s *skew, after, trip, ahead time.Duration) {
		sent := begin.Add(after)
		s.learn(sent, sent.Add(trip/2+ahead), sent.Add(trip))
	}
	var s skew
	if answer(&s, 0, 10*time.Millisecond, 4*time.Millisecond); s.get() != 0 {
		t.Errorf("a skew of %v, which the round trip explains", s.get())
	}
	if answer(&s, time.Second, 8*time.Millisecond, time.Hour); s.get() != time.Hour {
		t.Errorf("a skew of %v, want an hour", s.get())
	}
	if answer(&s, 2*time.Second, 300*time.Millisecond, time.Hour+100*time.Millisecond); s.get() != time.Hour {
		t.Errorf("a skew of %v after a slow answer, want an hour as before", s.get())
	}
	if answer(&s, 2*time.Minute, 300*time.Millisecond, 2*time.Hour); s.get() != 2*time.Hour {
		t.Errorf("a skew of %v after a minute without fast answers, want two hours", s.get())
	}
}

func TestCycleClock(t *testing.T) {
	begin := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	var c cycleClock
	c.start(begin, true)
	for _, step := range []struct {
		at, want time.Duration
		pause    bool
	}{
		{time.Second, 0, false},
		{3 * time.Second, 2 * time.Second, true},
		{9 * time.Second, 2 * time.Second, true},
		{10 * time.Second, 2 * time.Second, false},
		{11 * time.Second, 3 * time.Second, false},
	} {
		at := begin.Add(step.at)
		if got := c.elapsed(at); got != step.want {
			t.Errorf("after %v the clock has run %v, want %v", step.at, got, step.want)
		}
		c.pause(at, step.pause)
	}
}
