package pace

import (
	"testing"
	"time"
)

func requests(limit, remaining float64, reset time.Duration) Quota {
	return Quota{Requests: Allowance{true, limit, remaining, reset}}
}

// TestWhatIsLeftIsSpread checks that the remaining quota is spread until it is restored.
func TestWhatIsLeftIsSpread(t *testing.T) {
	p := New(Limits{Start: 50, Floor: 1, Ceiling: 50})
	p.Observe(begin, requests(1200, 130, 12*time.Second))
	s := p.State(begin)
	if s.Rate < 10.8 || s.Rate > 10.9 || s.Why != "quota: 130 requests left for 12 s" {
		t.Errorf("%v, %s; want 130 requests in 12 s", s.Rate, s.Why)
	}
	at := starts(p, begin, 200)
	inTime := 0
	for _, a := range at {
		if a.Sub(begin) < 12*time.Second {
			inTime++
		}
	}
	if inTime < 125 || inTime > 131 {
		t.Errorf("%d requests started before the reset, want about 130", inTime)
	}
	if took := at[199].Sub(begin); took > 14*time.Second {
		t.Errorf("after the reset the rate is not there again: 200 took %v", took)
	}
}

// TestTokensAreSpread checks that tokens are spread by the average of a request.
func TestTokensAreSpread(t *testing.T) {
	p := New(Limits{Start: 50, Floor: 1, Ceiling: 50})
	q := Quota{Requests: Allowance{true, 3000, 1000, 20 * time.Second}, Tokens: Allowance{true, 90_000, 40_000, 20 * time.Second}}
	p.Observe(begin, q)
	if s := p.State(begin); s.Rate != 50 {
		t.Errorf("a rate of %v while the cost of requests is unknown, want 50", s.Rate)
	}
	p.Spent(500)
	if s := p.State(begin); s.Rate != 4 || s.Why != "quota: 40000 tokens left for 20 s" {
		t.Errorf("%v, %s; want 80 requests in 20 s", s.Rate, s.Why)
	}
	for range 100 {
		p.Spent(100)
	}
	if s := p.State(begin); s.Rate < 19 || s.Rate > 20 {
		t.Errorf("a rate of %v after cheaper requests, want 20", s.Rate)
	}
}

// TestWhatIsNotSpread checks that quotas that take long to be restored are not spread, nor unknown ones.
func TestWhatIsNotSpread(t *testing.T) {
	for name, q := range map[string]Quota{
		"nothing said":               {},
		"a day":                      requests(10_000, 500, 20*time.Hour),
		"a day, filling up evenly":   requests(10_000, 9999, 8640*time.Millisecond),
		"a day, half of it left":     requests(10_000, 5000, 12*time.Hour),
		"a whole one":                requests(60, 60, 0),
		"a whole one, by the minute": requests(60, 60, time.Minute),
		"one that begins":            requests(60, 58, time.Minute),
		"of tokens, not known":       {Tokens: Allowance{true, 1000, 10, time.Minute}},
		"over":                       requests(60, 0, 0),
	} {
		p := New(Limits{Start: 10, Ceiling: 10})
		p.Observe(begin, q)
		if s := p.State(begin); s.Rate != 10 {
			t.Errorf("%s: %v, %s", name, s.Rate, s.Why)
		}
	}
}

// TestNothingLeft checks that requests continue at the minimum rate, because a quota that refills evenly has some left.
func TestNothingLeft(t *testing.T) {
	p := New(Limits{Start: 10, Floor: 2, Ceiling: 10})
	p.Observe(begin, requests(60, 0, time.Minute))
	if s := p.State(begin); s.Rate != 2 || s.Why != "quota: 0 requests left for 1 min" {
		t.Errorf("%v, %s", s.Rate, s.Why)
	}
	if s := p.State(begin.Add(time.Minute)); s.Rate != 10 {
		t.Errorf("%v after the reset", s.Rate)
	}
}

// TestQuotaInEveryMode checks that quotas are obeyed in every mode with a rate.
func TestQuotaInEveryMode(t *testing.T) {
	for mode, want := range map[Mode]time.Duration{Adaptive: 5 * time.Second, Bucket: 5 * time.Second, Fixed: 5 * time.Second} {
		p := New(Limits{Mode: mode, Start: 50, Burst: 1})
		p.Observe(begin, requests(100, 20, 10*time.Second))
		if got := starts(p, begin, 11)[10].Sub(begin); got < want-time.Second || got > want+time.Second {
			t.Errorf("%v: 11 requests took %v, want %v", mode, got, want)
		}
	}
	p := New(Limits{})
	p.Observe(begin, requests(100, 1, 10*time.Second))
	if got := starts(p, begin, 11)[10]; got != begin {
		t.Errorf("unpaced: 11 requests took %v", got.Sub(begin))
	}
}

// TestExhausted checks that nothing starts until the quota is restored, and that all waiters are woken.
func TestExhausted(t *testing.T) {
	p := New(llm)
	waiting := join(p, begin, 2)
	waiting[0].Ask(begin)
	p.Exhaust(begin, "the quota of the day is used up", begin.Add(time.Hour))
	s := p.State(begin.Add(time.Minute))
	if s.Exhausted != "the quota of the day is used up" || s.Until != begin.Add(time.Hour) || s.Blocked != s.Until {
		t.Errorf("%+v", s)
	}
	p.Accept(begin.Add(time.Minute), begin) // it had left before
	wait := waiting[1].Ask(begin)
	if wait.For != time.Hour || !wait.Refused {
		t.Errorf("the next waits %+v, want an hour", wait)
	}
	if s := p.State(begin.Add(time.Hour)); s.Exhausted != "" || !s.Blocked.IsZero() {
		t.Errorf("after it: %+v", s)
	}
	p.Refuse(begin.Add(2*time.Hour), begin.Add(2*time.Hour), time.Second)
	if s := p.State(begin.Add(2 * time.Hour)); s.Exhausted != "" {
		t.Errorf("a later refusal is an exhaustion: %+v", s)
	}
}

// TestExhaustedWithoutEnd checks that one request a minute starts until one is accepted.
func TestExhaustedWithoutEnd(t *testing.T) {
	p := New(llm)
	p.Exhaust(begin, "nothing left to spend", time.Time{})
	at := starts(p, begin, 3)
	for i, a := range at {
		if want := time.Duration(i+1) * time.Minute; a.Sub(begin) != want {
			t.Errorf("start %d after %v, want %v", i, a.Sub(begin), want)
		}
	}
	now := at[2]
	if s := p.State(now.Add(time.Second)); s.Exhausted == "" || !s.Until.IsZero() {
		t.Errorf("%+v", s)
	}
	turn := p.Join(now, 0)
	wait := turn.Ask(now)
	p.Accept(now.Add(time.Second), now)
	select {
	case <-wait.Changed:
	default:
		t.Error("a waiting caller is not notified of the end")
	}
	if turn.Ask(now.Add(time.Second)).For != 0 || p.State(now).Exhausted != "" {
		t.Error("the exhaustion has not ended")
	}
}

// TestResume checks that a user can resume requests.
func TestResume(t *testing.T) {
	for name, until := range map[string]time.Time{"with an end": begin.Add(time.Hour), "without": {}} {
		p := New(Limits{})
		p.Exhaust(begin, "gone", until)
		turn := p.Join(begin, 0)
		wait := turn.Ask(begin)
		p.Resume(begin.Add(time.Second))
		select {
		case <-wait.Changed:
		default:
			t.Errorf("%s: a waiting caller is not notified", name)
		}
		if turn.Ask(begin.Add(time.Second)).For != 0 || p.State(begin.Add(time.Second)).Exhausted != "" {
			t.Errorf("%s: the exhaustion has not ended", name)
		}
	}
}
