package pace

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// starts requests n turns in sequence, each after the previous one has come, and returns their times.
func starts(p *Limiter, now time.Time, n int) []time.Time {
	var at []time.Time
	for range n {
		turn := p.Join(now, 0)
		for wait := turn.Ask(now); wait.For > 0; wait = turn.Ask(now) {
			now = now.Add(wait.For)
		}
		at = append(at, now)
	}
	return at
}

// drain polls all turns until they have come, and returns their times by turn. It acts like goroutines: each waits as
// long as Ask says, or until it is woken.
func drain(now time.Time, turns []*Turn) []time.Time {
	came := make([]time.Time, len(turns))
	next := make([]time.Time, len(turns))
	for i := range next {
		next[i] = now
	}
	for {
		for changed := true; changed; {
			changed = false
			for i, turn := range turns {
				select {
				case <-turn.wake:
					next[i] = now
				default:
				}
				if !came[i].IsZero() || next[i].After(now) {
					continue
				}
				changed = true
				wait := turn.Ask(now)
				if wait.For == 0 {
					came[i] = now
				}
				next[i] = now.Add(wait.For)
			}
		}
		var soon time.Time
		for i := range turns {
			if came[i].IsZero() && (soon.IsZero() || next[i].Before(soon)) {
				soon = next[i]
			}
		}
		if soon.IsZero() {
			return came
		}
		now = soon
	}
}

func join(p *Limiter, now time.Time, n int) []*Turn {
	var turns []*Turn
	for range n {
		turns = append(turns, p.Join(now, 0))
	}
	return turns
}

// TestTurnsComeInOrder checks that turns come in the order in which they joined, however they ask, evenly spaced.
func TestTurnsComeInOrder(t *testing.T) {
	p := New(Limits{Mode: Fixed, Start: 10})
	turns := join(p, begin, 30)
	slices.Reverse(turns) // the last ask first
	came := drain(begin, turns)
	slices.Reverse(came)
	for i, at := range came {
		if want := time.Duration(i) * 100 * time.Millisecond; at.Sub(begin) != want {
			t.Errorf("turn %d came after %v, want %v", i, at.Sub(begin), want)
		}
	}
}

// TestWaitingTurnsSeeANewRate checks that 60 requests that wait at 10 per second have started after 3 s when the rate
// becomes 20.
func TestWaitingTurnsSeeANewRate(t *testing.T) {
	for _, mode := range []Mode{Adaptive, Bucket, Fixed} {
		p := New(Limits{Mode: mode, Start: 10, Ceiling: 10, Burst: 1})
		turns := join(p, begin, 61)
		if wait := turns[0].Ask(begin); wait.For != 0 {
			t.Fatalf("the first waits %v", wait.For)
		}
		wait := turns[1].Ask(begin)
		if wait.For != 100*time.Millisecond || turns[60].Ask(begin).For != aWhile {
			t.Errorf("%v: the next waits %v, want 100 ms", mode, wait.For)
		}
		p.SetLimits(begin, Limits{Mode: mode, Start: 20, Burst: 1})
		select {
		case <-wait.Changed:
		default:
			t.Errorf("%v: it does not get the new rate", mode)
		}
		came := drain(begin, turns[1:])
		if took := came[59].Sub(begin); took < 3*time.Second-time.Millisecond || took > 3*time.Second+time.Millisecond {
			t.Errorf("%v: all had started after %v, want 3s", mode, took)
		}
	}
}

// TestALeftTurnLeavesNoHole checks that the other turns move up when one leaves.
func TestALeftTurnLeavesNoHole(t *testing.T) {
	p := New(Limits{Mode: Fixed, Start: 10})
	turns := join(p, begin, 10)
	turns[0].Ask(begin)
	second := turns[2].Ask(begin)
	turns[1].Leave()
	turns[5].Leave()
	turns[5].Leave() // a second call does nothing
	select {
	case <-second.Changed:
	default:
		t.Error("the next caller is not notified that it is first")
	}
	came := drain(begin, slices.Concat(turns[2:5], turns[6:]))
	for i, at := range came {
		if want := time.Duration(i+1) * 100 * time.Millisecond; at.Sub(begin) != want {
			t.Errorf("turn %d came after %v, want %v", i, at.Sub(begin), want)
		}
	}
	if p.State(begin).Waiting != 0 {
		t.Error("somebody waits still")
	}
}

// TestAGivenBackTurnIsTheNext checks that a request that did not start uses up no turn.
func TestAGivenBackTurnIsTheNext(t *testing.T) {
	for _, mode := range []Mode{Bucket, Fixed} {
		p := New(Limits{Mode: mode, Start: 10, Burst: 1})
		turns := join(p, begin, 3)
		turns[0].Ask(begin)
		p.GiveBack()
		came := drain(begin, turns[1:])
		if came[0] != begin || came[1].Sub(begin) != 100*time.Millisecond {
			t.Errorf("%v: the others came after %v and %v, want 0 and 100 ms", mode, came[0].Sub(begin), came[1].Sub(begin))
		}
	}
}

// TestRefusedRequestsComeFirst checks that a refused request with its old ticket is ahead of those that came later.
func TestRefusedRequestsComeFirst(t *testing.T) {
	p := New(Limits{Mode: Fixed, Start: 10})
	first := p.Join(begin, 0)
	first.Ask(begin)
	later := join(p, begin, 5)
	p.Refuse(begin.Add(time.Millisecond), begin, time.Second)
	again := p.Join(begin.Add(time.Millisecond), first.Ticket)
	came := drain(begin.Add(time.Millisecond), append(later, again))
	if got, want := came[5].Sub(begin), 1001*time.Millisecond; got != want {
		t.Errorf("the refused request started again after %v, want %v", got, want)
	}
	if got, want := came[0].Sub(begin), 1101*time.Millisecond; got != want {
		t.Errorf("the next came after %v, want %v", got, want)
	}
}

// TestALateTimerCostsNothing checks that a late timer does not delay later requests, and that the requests missed
// during an hour's standstill are not sent together.
func TestALateTimerCostsNothing(t *testing.T) {
	p := New(Limits{Mode: Fixed, Start: 100})
	turns := join(p, begin, 300)
	now := begin
	for _, turn := range turns[:100] {
		for wait := turn.Ask(now); wait.For > 0; wait = turn.Ask(now) {
			now = now.Add(wait.For + 3*time.Millisecond)
		}
	}
	if took := now.Sub(begin); took < 990*time.Millisecond || took > 1005*time.Millisecond {
		t.Errorf("100 turns took %v, want about 990 ms", took)
	}
	now = now.Add(time.Hour)
	came := drain(now, turns[100:])
	together := 0
	for _, at := range came {
		if at.Equal(now) {
			together++
		}
	}
	if together > 11 {
		t.Errorf("%d started together after an hour, want those of 100 ms", together)
	}
}

// TestABucket starts as many requests together as the bucket holds, and the others at its rate.
func TestABucket(t *testing.T) {
	p := New(Limits{Mode: Bucket, Start: 10, Burst: 5})
	at := starts(p, begin, 25)
	if at[4] != begin || at[24].Sub(begin).Round(time.Millisecond) != 2*time.Second {
		t.Errorf("the fifth started after %v and the last after %v, want 0 and 2s", at[4].Sub(begin), at[24].Sub(begin))
	}
	at = starts(p, at[24].Add(time.Minute), 6)
	if !at[4].Equal(at[0]) || at[5].Equal(at[0]) {
		t.Errorf("after a minute: %v", at)
	}
	if whole := New(Limits{Mode: Bucket, Start: 7}).State(begin).Limits.Burst; whole != 7 {
		t.Errorf("a burst of %d, want a second's worth", whole)
	}
}

// TestUnpaced starts requests immediately. After a refusal, waiting requests are spread over a quarter of the wait.
func TestUnpaced(t *testing.T) {
	p := New(Limits{})
	for _, at := range starts(p, begin, 1000) {
		if at != begin {
			t.Fatal("somebody waited")
		}
	}
	p.Refuse(begin, begin, 40*time.Second)
	turns := join(p, begin, 100)
	if wait := turns[3].Ask(begin); !wait.Refused || wait.For != 40*time.Second {
		t.Errorf("the others wait %+v", wait)
	}
	came := drain(begin, turns)
	if first, last := came[0].Sub(begin), came[99].Sub(begin); first != 40*time.Second || last < 49*time.Second || last > 50*time.Second {
		t.Errorf("they started again from %v to %v, want 40 s to 50s", first, last)
	}
	if s := p.State(begin.Add(41 * time.Second)); s.Rate != 10 || s.Why == "" {
		t.Errorf("meanwhile: %+v", s)
	}
	later := begin.Add(51 * time.Second)
	if at := starts(p, later, 100); at[99] != later || p.State(later).Rate != 0 {
		t.Error("requests are still throttled")
	}
}

// TestNoTurnWaitsForever checks that for any requests and refusals turns come in order, and that no turn waits longer
// than the turns ahead of it take at the lowest rate, plus the waits that the service requested.
func TestNoTurnWaitsForever(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := Mode(rapid.IntRange(0, 2).Draw(t, "mode"))
		p, now := New(Limits{Mode: mode, Start: rapid.Float64Range(2, 20).Draw(t, "start"), Floor: 2, Ceiling: 40}), begin
		var turns []*Turn
		var joined []time.Time
		blocked := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			switch rapid.IntRange(0, 9).Draw(t, "kind") {
			case 0:
				wait := time.Duration(rapid.IntRange(0, 5).Draw(t, "wait")) * time.Second
				p.Refuse(now, now, wait)
				blocked += wait
			case 1:
				if n := len(turns); n > 0 {
					gone := rapid.IntRange(0, n-1).Draw(t, "gone")
					turns[gone].Leave()
					turns, joined = slices.Delete(turns, gone, gone+1), slices.Delete(joined, gone, gone+1)
				}
			case 2:
				p.SetLimits(now, Limits{Mode: mode, Start: rapid.Float64Range(2, 20).Draw(t, "rate"), Floor: 2, Ceiling: 40})
			default:
				turns, joined = append(turns, p.Join(now, 0)), append(joined, now)
			}
		}
		came := drain(now, turns)
		for i, at := range came {
			if i > 0 && at.Before(came[i-1]) {
				t.Fatalf("turn %d came before one that had come before", i)
			}
			if most := blocked + time.Duration(float64(i+1)/2*float64(time.Second)); at.Sub(joined[i]) > most {
				t.Fatalf("turn %d waited %v, at most %v is right", i, at.Sub(joined[i]), most)
			}
		}
	})
}

func BenchmarkUnpaced(b *testing.B) {
	p := New(Limits{})
	for b.Loop() {
		p.Try(begin)
	}
}
