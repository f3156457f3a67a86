package pace

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRateDoublesUpToItsCeiling(t *testing.T) {
	p := New(llm)
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
	if s := p.State(at[499]); s.Rate != 50 || s.Why != "50/s: at the ceiling" {
		t.Errorf("a rate of %v (%s), want the ceiling", s.Rate, s.Why)
	}
}

func TestAnUnusedRateDoesNotGrow(t *testing.T) {
	p := New(llm)
	for i := range 20 {
		starts(p, begin.Add(time.Duration(i)*2*time.Second), 1)
	}
	if s := p.State(begin); s.Rate != 10 || s.Why != "10/s: to begin with" {
		t.Errorf("a rate of %v (%s) after one request every two seconds, want 10", s.Rate, s.Why)
	}
}

// TestRefusalBlocksAndShrinksOnce checks that a refusal shrinks the rate once per episode. Refusals of requests that
// were sent before the episode began do not shrink it again, but one that was sent later does.
func TestRefusalBlocksAndShrinksOnce(t *testing.T) {
	p := New(llm)
	starts(p, begin, 1)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	for i := range 5 { // of requests that had all left
		p.Refuse(at(50+i), at(i), 20*time.Second)
	}
	s := p.State(at(1000))
	if s.Rate != 8 || s.Why != "8/s: after a 429 at 08:00:00 shrunk from 10/s" || s.Blocked != at(20_054) {
		t.Errorf("%+v after one episode, want 8/s, blocked until 20.054 s", s)
	}
	for came, want := range map[int]bool{0: true, 54: true, 55: false} {
		if got := p.Recalled(at(1000), at(came)); got != want {
			t.Errorf("a request whose turn came at %d ms is recalled: %v", came, got)
		}
	}
	if p.Recalled(at(20_054), at(0)) {
		t.Error("a request is recalled after the wait")
	}
	turn := p.Join(at(1000), 0)
	if got := turn.Ask(at(1000)); got.For != 19_054*time.Millisecond || !got.Refused {
		t.Errorf("the next waits %+v, want 19.054 s", got)
	}
	turn.Leave()
	p.Refuse(at(21_000), at(20_500), time.Second)
	if s := p.State(at(21_000)); s.Rate != 8*shrink {
		t.Errorf("a rate of %v after a second episode, want %v", s.Rate, 8*shrink)
	}
	for i := range 20 {
		p.Refuse(at(22_000+2*i), at(22_000+2*i), 0)
	}
	if s := p.State(at(23_000)); s.Rate != 1 {
		t.Errorf("a rate of %v after many, want the floor", s.Rate)
	}
}

// TestGrowthAfterARefusal checks slow growth: none during the cool-down, a twentieth per second up to the wall, and much slower
// near it.
func TestGrowthAfterARefusal(t *testing.T) {
	p := New(Limits{Start: 20, Floor: 1, Ceiling: 50})
	p.Refuse(begin, begin, 0)
	at := starts(p, begin, 16*15-1)
	if s := p.State(begin); s.Rate != 16 {
		t.Errorf("a rate of %v within the cool-down, want 16", s.Rate)
	}
	rates := map[int]float64{}
	for now := at[len(at)-1]; now.Before(begin.Add(2 * time.Minute)); {
		now = starts(p, now, 1)[0]
		rates[int(now.Sub(begin)/time.Second)] = p.State(now).Rate
	}
	for second, want := range map[int][2]float64{15: {16.5, 17}, 16: {17, 18}, 20: {19, 19}, 36: {19, 19}, 45: {19.9, 20}, 70: {20.9, 21}, 82: {22, 29}, 100: {35, 50}} {
		if got := rates[second]; got < want[0] || got > want[1] {
			t.Errorf("a rate of %v in second %d, want %v", got, second, want)
		}
	}
}

// TestTroubleStopsGrowth checks that failures stop growth without shrinking the rate.
func TestTroubleStopsGrowth(t *testing.T) {
	p, now := New(llm), begin
	for range 50 {
		now = starts(p, now, 5)[4]
		p.Trouble(now)
	}
	if s := p.State(now); s.Rate != 10 {
		t.Errorf("a rate of %v with failures all the time, want 10", s.Rate)
	}
	now = starts(p, now, 15)[14]
	if s := p.State(now); s.Rate != 20 {
		t.Errorf("a rate of %v after a second without, want 20", s.Rate)
	}
}

// TestMoves checks that every important change is reported with its reason.
func TestMoves(t *testing.T) {
	p := New(llm)
	at := starts(p, begin, 80)
	now := at[len(at)-1]
	p.Refuse(now, now, time.Second)
	starts(p, now, 4000)
	var said []string
	for _, m := range p.Moves() {
		said = append(said, perSecond(m.Old)+" "+m.Why)
	}
	got := strings.Join(said, "\n")
	want := `10/s 20/s: doubled, no 429 came yet
20/s 40/s: doubled, no 429 came yet
40/s 50/s: at the ceiling
50/s 40/s: after a 429 at 08:00:03 shrunk from 50/s
40/s 49.9/s: grown, no 429 came
49.9/s 50/s: at the ceiling`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if more := p.Moves(); more != nil {
		t.Errorf("reported twice: %v", more)
	}
	for range 3 * maxMoves {
		now = now.Add(time.Hour)
		p.SetLimits(now, Limits{Start: 40, Floor: 1, Ceiling: 50})
		p.Refuse(now.Add(time.Second), now.Add(time.Second), 0)
		p.SetLimits(now, Limits{Start: 30, Floor: 1, Ceiling: 50})
	}
	if moves := p.Moves(); len(moves) != maxMoves || !moves[maxMoves-1].At.Equal(now.Add(time.Second)) {
		t.Errorf("%d moves are kept, want the last %d", len(moves), maxMoves)
	}
}

// TestLimitsByHand checks that a new rate applies immediately, and that new bounds limit the adaptive rate.
func TestLimitsByHand(t *testing.T) {
	p := New(llm)
	starts(p, begin, 200)
	for _, c := range []struct {
		limits Limits
		rate   float64
		why    string
	}{
		{Limits{Start: 10, Floor: 1, Ceiling: 30}, 30, "30/s: set by hand at 08:00:00"},
		{Limits{Start: 25, Floor: 1, Ceiling: 30}, 25, "25/s: set by hand at 08:00:00"},
		{Limits{Start: 25, Ceiling: 80}, 25, "25/s: set by hand at 08:00:00"},
		{Limits{Start: 0.5, Floor: 1, Ceiling: 2}, 0.5, "0.5/s: set by hand at 08:00:00"},
		{Limits{}, 0, ""},
		{Limits{Mode: Fixed, Start: 3}, 3, "3/s: set by hand at 08:00:00"},
		{Limits{Mode: Bucket, Start: 3, Burst: 9}, 3, "3/s: set by hand at 08:00:00"},
	} {
		p.SetLimits(begin, c.limits)
		if s := p.State(begin); s.Rate != c.rate || s.Why != c.why || s.Limits.Ceiling < s.Limits.Start || s.Limits.Mode != c.limits.Mode || p.Limits() != c.limits {
			t.Errorf("%+v: %+v, want a rate of %v", c.limits, s, c.rate)
		}
	}
	if moves := New(llm).Moves(); moves != nil {
		t.Errorf("moves by hand are not the rate limiter's: %v", moves)
	}
}

// TestOtherModesKeepTheirRate checks that the other modes wait after a refusal, but do not change the rate.
func TestOtherModesKeepTheirRate(t *testing.T) {
	for _, mode := range []Mode{Bucket, Fixed} {
		p := New(Limits{Mode: mode, Start: 10, Ceiling: 50})
		p.Refuse(begin, begin, time.Second)
		if at := starts(p, begin, 1)[0]; at.Sub(begin) != time.Second {
			t.Errorf("%v: started after %v, want 1s", mode, at.Sub(begin))
		}
		starts(p, begin.Add(time.Minute), 1000)
		if s := p.State(begin); s.Rate != 10 || s.Why != "10/s: as set" || p.Moves() != nil {
			t.Errorf("%v: %+v", mode, s)
		}
	}
}

// TestNeverFasterThanTheCeiling checks that for any order of requests and refusals no window has more starts than the
// ceiling allows, nothing starts while blocked, and the rate stays within its limits.
func TestNeverFasterThanTheCeiling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{Start: rapid.Float64Range(1, 20).Draw(t, "start"), Floor: 1, Ceiling: 40}
		p, now := New(l), begin
		var last, blocked time.Time
		for range rapid.IntRange(1, 200).Draw(t, "events") {
			now = now.Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "ms")) * time.Millisecond)
			if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
				wait := time.Duration(rapid.IntRange(0, 5).Draw(t, "wait")) * time.Second
				p.Refuse(now, now, wait)
				if until := now.Add(wait); until.After(blocked) {
					blocked = until
				}
				continue
			}
			at := starts(p, now, 1)[0]
			if at.Before(blocked) {
				t.Fatalf("a start at %v, blocked until %v", at, blocked)
			}
			if !last.IsZero() && at.Sub(last) < time.Second/41 {
				t.Fatalf("two starts %v apart", at.Sub(last))
			}
			last, now = at, at
			if r := p.State(now).Rate; r < l.Floor || r > l.Ceiling {
				t.Fatalf("a rate of %v", r)
			}
		}
	})
}
