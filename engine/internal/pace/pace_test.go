package pace

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var begin = time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)

// starts asks for n places one after another, each as soon as the one before began, and returns when they began.
func starts(p *Pacer, now time.Time, n int) []time.Time {
	var at []time.Time
	for range n {
		now = now.Add(p.Reserve(now))
		at = append(at, now)
	}
	return at
}

func TestRateDoublesUpToItsCeiling(t *testing.T) {
	p := New(Limits{Start: 10, Floor: 1, Ceiling: 50})
	at := starts(p, begin, 500)
	perSecond := map[int]int{}
	for _, a := range at {
		perSecond[int(a.Sub(begin)/time.Second)]++
	}
	for second, want := range []int{10, 20, 40, 50, 50} {
		if got := perSecond[second]; got < want-1 || got > want+1 {
			t.Errorf("%d requests in second %d, want %d", got, second, want)
		}
	}
	if p.Rate() != 50 {
		t.Errorf("a rate of %v, want the ceiling", p.Rate())
	}
}

func TestAnUnusedRateDoesNotGrow(t *testing.T) {
	p := New(Limits{Start: 10, Floor: 1, Ceiling: 50})
	for i := range 20 {
		p.Reserve(begin.Add(time.Duration(i) * 2 * time.Second))
	}
	if p.Rate() != 10 {
		t.Errorf("a rate of %v after one request every two seconds, want 10", p.Rate())
	}
}

func TestRefusalBlocksAndShrinksOnce(t *testing.T) {
	p := New(Limits{Start: 10, Floor: 1, Ceiling: 50})
	p.Reserve(begin)
	for range 5 { // of requests that had all left
		p.Refuse(begin.Add(50*time.Millisecond), 20*time.Second)
	}
	if p.Rate() != 8 {
		t.Errorf("a rate of %v after one episode, want 8", p.Rate())
	}
	if got := p.Blocked(begin.Add(10 * time.Second)); got != 10*time.Second+50*time.Millisecond {
		t.Errorf("blocked for %v, want 10.05s", got)
	}
	if got := p.Reserve(begin.Add(time.Second)); got != 19*time.Second+50*time.Millisecond {
		t.Errorf("the next waits %v, want 19.05s", got)
	}
	p.Refuse(begin.Add(21*time.Second), time.Second)
	if got := p.Rate(); got != 8*shrink {
		t.Errorf("a rate of %v after a second episode, want %v", got, 8*shrink)
	}
}

func TestGrowsSlowlyAfterARefusal(t *testing.T) {
	p := New(Limits{Start: 10, Floor: 1, Ceiling: 50})
	p.Refuse(begin, 0)
	starts(p, begin, 8*14)
	if p.Rate() != 8 {
		t.Errorf("a rate of %v within the cool-down, want 8", p.Rate())
	}
	starts(p, begin.Add(coolDown), 20)
	if got := p.Rate(); got <= 8 || got > 10 {
		t.Errorf("a rate of %v after it, want a little above 8", got)
	}
}

// TestNeverFasterThanTheCeiling: however requests and refusals come, no window has more starts than the ceiling
// allows, nothing starts while it is blocked, and the rate stays within its limits.
func TestNeverFasterThanTheCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{Start: rapid.Float64Range(1, 20).Draw(t, "start"), Floor: 1, Ceiling: 40}
		p, now := New(l), begin
		var last, blocked time.Time
		for range rapid.IntRange(1, 200).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "ms")) * time.Millisecond)
			if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
				wait := time.Duration(rapid.IntRange(0, 5).Draw(t, "wait")) * time.Second
				p.Refuse(now, wait)
				if until := now.Add(wait); until.After(blocked) {
					blocked = until
				}
				continue
			}
			at := now.Add(p.Reserve(now))
			if at.Before(blocked) {
				t.Fatalf("a start at %v, blocked until %v", at, blocked)
			}
			if !last.IsZero() && at.Sub(last) < time.Second/41 {
				t.Fatalf("two starts %v apart", at.Sub(last))
			}
			last = at
			if r := p.Rate(); r < l.Floor || r > l.Ceiling {
				t.Fatalf("a rate of %v", r)
			}
		}
	})
}
