package arrivals

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// everyone returns the agents 0 to n-1.
func everyone(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

func plans() *rapid.Generator[*Plan] {
	return rapid.Custom(func(t *rapid.T) *Plan {
		p := &Plan{Poisson: rapid.Bool().Draw(t, "poisson")}
		switch rapid.IntRange(0, 3).Draw(t, "shape") {
		case 0:
		case 1:
			p.Over = time.Duration(rapid.Int64Range(int64(MinTime), int64(time.Hour)).Draw(t, "over"))
		case 2:
			p.Stages = Constant(rapid.Float64Range(MinRate, 1e4).Draw(t, "rate"))
		default:
			for range rapid.IntRange(1, 4).Draw(t, "stages") {
				p.Stages = append(p.Stages, Stage{
					time.Duration(rapid.Int64Range(int64(MinTime), int64(time.Minute)).Draw(t, "for")),
					rapid.Float64Range(0, 50).Draw(t, "from"), rapid.Float64Range(0.01, 50).Draw(t, "to"),
				})
			}
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		return p
	})
}

// TestStartsFollowFromTheAgent checks that the schedule has every agent once, in the order of the starts, and that a resumed cycle keeps
// the starts of the agents that are left.
func TestStartsFollowFromTheAgent(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p, n := plans().Draw(r, "plan"), rapid.IntRange(1, 300).Draw(r, "agents")
		seed, cycle := rapid.Uint64().Draw(r, "seed"), rapid.IntRange(0, 5).Draw(r, "cycle")
		s := p.New(seed, cycle, everyone(n), nil, time.Minute)
		starts, length := map[int32]time.Duration{}, p.Length(n, time.Minute)
		last := time.Duration(-1)
		for i, agent := range s.Order {
			at := s.At(i)
			if at < last || at < 0 || at > length {
				r.Fatalf("start %d of %d is %v after %v, of at most %v", i, n, at, last, length)
			}
			starts[agent], last = at, at
		}
		if len(starts) != n || s.Last() != last {
			r.Fatalf("%d of %d agents, the last at %v, want %v", len(starts), n, s.Last(), last)
		}
		var done []int
		var left []int32
		reached := time.Duration(0)
		for agent := range n {
			if rapid.Bool().Draw(r, "done") {
				done, reached = append(done, agent), max(reached, starts[int32(agent)])
			} else {
				left = append(left, int32(agent))
			}
		}
		left = rapid.Permutation(left).Draw(r, "order")
		next := p.New(seed, cycle, left, done, time.Minute)
		if next.Reached != reached {
			r.Fatalf("reached %v, want %v", next.Reached, reached)
		}
		for i, agent := range next.Order {
			if got := next.At(i); got != starts[agent] {
				r.Fatalf("agent %d starts at %v after a resume, at %v before", agent, got, starts[agent])
			}
		}
	})
}

func TestDueCountsStarts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := plans().Draw(r, "plan").New(rapid.Uint64().Draw(r, "seed"), 0, everyone(rapid.IntRange(0, 50).Draw(r, "agents")), nil, time.Second)
		at := time.Duration(rapid.Int64Range(0, int64(s.Last()+1)).Draw(r, "at"))
		n := s.Due(0, at)
		if n > 0 && s.At(n-1) > at || n < len(s.Order) && s.At(n) <= at {
			r.Fatalf("%d are due at %v", n, at)
		}
	})
}

// TestProfileIsTheIntegral compares the number of arrivals with a sum over small steps of the rate.
func TestProfileIsTheIntegral(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := plans().Filter(func(p *Plan) bool { return len(p.Stages) > 0 && p.Stages[0].For > 0 }).Draw(r, "plan")
		p.Poisson = false
		const step = time.Millisecond
		sum, at := 0.0, time.Duration(0)
		s := p.New(1, 0, everyone(2000), nil, 0)
		for i := range p.Stages {
			g := &p.Stages[i]
			for t := time.Duration(0); t < g.For; t += step {
				h := min(step, g.For-t)
				sum += (g.From + (g.To-g.From)*float64(t+h/2)/float64(g.For)) * h.Seconds()
			}
			at += g.For
		}
		at += 10 * time.Second
		sum += p.Stages[len(p.Stages)-1].To * 10
		if got := float64(s.Due(0, at)); sum < 1999 && math.Abs(got-sum) > 1.01 {
			r.Fatalf("%v arrivals of %v in %v", got, sum, at)
		}
	})
}

// TestEvenArrivals checks the exact starts: the k-th agent after k times the interval.
func TestEvenArrivals(t *testing.T) {
	for _, p := range []*Plan{{Over: time.Minute}, {Stages: Constant(10)}, {}} {
		s := p.New(7, 3, everyone(600), nil, time.Minute)
		for i := range s.Order {
			if got, want := s.At(i), time.Duration(i)*100*time.Millisecond; (got - want).Abs() > time.Microsecond {
				t.Fatalf("%v: start %d at %v, want %v", p, i, got, want)
			}
		}
		if slices.IsSorted(s.Order) {
			t.Errorf("%v: agents arrive by their index", p)
		}
	}
}

// TestPoissonIntervals checks what sets a Poisson process apart: intervals with an exponential distribution, and numbers in disjoint
// windows whose variance is their mean.
func TestPoissonIntervals(t *testing.T) {
	const n, rate = 100_000, 50.0
	p := &Plan{Poisson: true, Stages: Constant(rate)}
	s := p.New(42, 0, everyone(n), nil, 0)
	var sum, squares float64
	longer := 0
	for i := 1; i < n; i++ {
		d := (s.At(i) - s.At(i-1)).Seconds()
		sum, squares = sum+d, squares+d*d
		if d > 1/rate {
			longer++
		}
	}
	mean := sum / (n - 1)
	cv := math.Sqrt(squares/(n-1)-mean*mean) / mean
	if math.Abs(mean*rate-1) > 0.01 || math.Abs(cv-1) > 0.02 {
		t.Errorf("intervals: mean %v, want %v; coefficient of variation %v, want 1", mean, 1/rate, cv)
	}
	if got := float64(longer) / (n - 1); math.Abs(got-math.Exp(-1)) > 0.01 {
		t.Errorf("%v of the intervals are longer than the mean, want %v", got, math.Exp(-1))
	}
	counts := make([]float64, 2000) // windows of a second
	for i := range n {
		counts[int(s.At(i).Seconds())]++
	}
	variance := 0.0
	for _, c := range counts {
		variance += (c - rate) * (c - rate) / float64(len(counts))
	}
	if r := variance / rate; r < 0.9 || r > 1.1 {
		t.Errorf("variance over mean of arrivals in a second is %v, want 1", r)
	}
}

// TestOrderDiffersByCycle checks that neither a cycle nor a seed repeats the order of another.
func TestOrderDiffersByCycle(t *testing.T) {
	p := &Plan{Over: time.Minute}
	of := func(seed uint64, cycle int) []int32 { return p.New(seed, cycle, everyone(100), nil, 0).Order }
	if !slices.Equal(of(1, 0), of(1, 0)) {
		t.Error("the order does not repeat")
	}
	if slices.Equal(of(1, 0), of(1, 1)) || slices.Equal(of(1, 0), of(2, 0)) {
		t.Error("two cycles or seeds have the same order")
	}
}

func TestDescriptions(t *testing.T) {
	for _, c := range []struct {
		plan *Plan
		want string
	}{
		{nil, ""},
		{&Plan{}, "evenly over the time of a cycle"},
		{&Plan{Over: time.Minute}, "evenly over 1 min"},
		{&Plan{Poisson: true, Stages: Constant(10)}, "Poisson, 10/s"},
		{&Plan{Stages: Constant(0.5)}, "evenly, 30/min"},
		{&Plan{Stages: []Stage{{30 * time.Second, 2, 2}, {time.Minute, 2, 20}}}, "2/s for 30 s, 2/s to 20/s in 1 min"},
		{&Plan{Poisson: true, Stages: []Stage{{30 * time.Second, 0, 2}}}, "Poisson, 0/s to 2/s in 30 s"},
	} {
		if got := c.plan.String(); got != c.want {
			t.Errorf("%+v is %q, want %q", c.plan, got, c.want)
		}
	}
}

func TestRates(t *testing.T) {
	for text, want := range map[string]float64{"10/s": 10, "90/min": 1.5, "1800/h": 0.5, "2.5": 2.5, "6 / minute": 0.1, "0": 0} {
		if got, err := ParseRate(text); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "/s", "10/", "10/week", "-1/s", "NaN/s", "1e9/s", "ten"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q is a rate of %v", text, got)
		}
	}
}

func TestProfilesThatNeverEnd(t *testing.T) {
	for _, p := range []*Plan{
		{Stages: []Stage{{time.Second, 5, 0}}},
		{Stages: Constant(0)},
		{Stages: []Stage{{0, 1, 1}, {time.Second, 1, 1}}},
	} {
		if p.Validate() == nil {
			t.Errorf("%v is valid", p)
		}
	}
}

// BenchmarkNew creates the schedule of a cycle with a million agents.
func BenchmarkNew(b *testing.B) {
	p, all := &Plan{Poisson: true, Over: time.Minute}, everyone(1_000_000)
	for b.Loop() {
		p.New(1, 0, all, nil, 0)
	}
}

func BenchmarkAt(b *testing.B) {
	p := &Plan{Poisson: true, Stages: []Stage{{time.Minute, 0, 100}, {time.Minute, 100, 200}, {time.Minute, 200, 10}}}
	s := p.New(1, 0, everyone(10_000), nil, 0)
	for i := 0; b.Loop(); i++ {
		s.At(i % 10_000)
	}
}
