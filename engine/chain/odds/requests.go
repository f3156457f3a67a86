package odds

import (
	"math"
	"slices"
)

// MaxLoops is how many loops are listed for a service.
const MaxLoops = 20

// Requests is the expected number of a session's requests to a service of type S, computed from the file before a run. Retries
// are not counted, nor the effect of failing steps.
type Requests[S comparable] struct {
	Service S
	Least   int64
	Most    int64   // without those of Loops; Endless means unknown
	Mean    float64 // if the file says how likely each is, and there are no Loops; else NaN
	// Loops are loops whose number of passes is known only at run time.
	Loops []Loop
	// More is how many further loops there are.
	More bool
}

// join adds the loops of another.
func (r *Requests[S]) join(other Requests[S]) {
	all := slices.Concat(r.Loops, other.Loops)
	r.Loops, r.More = all[:min(len(all), MaxLoops)], r.More || other.More || len(all) > MaxLoops
}

// Times scales requests by the odds of their step.
func (r Requests[S]) Times(o Odds) Requests[S] {
	r.Least, r.Most, r.Mean = r.Least*o.Least, r.Most*o.Most, r.Mean*o.Mean
	if o.Most == 0 {
		r.Mean, r.Loops, r.More = 0, nil, false
	}
	r.Loops = Scaled(r.Loops, o.Least)
	return r
}

// Under prefixes the paths of loops.
func (r Requests[S]) Under(prefix string) Requests[S] {
	r.Loops = slices.Clone(r.Loops)
	for i := range r.Loops {
		r.Loops[i].Path = prefix + r.Loops[i].Path
	}
	return r
}

// Tally counts requests along a path of steps, and how likely its end is reached, because a session may stop earlier.
type Tally[S comparable] struct {
	List    []Requests[S]
	Reaches Odds
}

// Either combines two alternative branches.
func Either[S comparable](first Odds, a, b Tally[S]) Tally[S] {
	switch first {
	case Surely:
		return a
	case Impossible:
		return b
	}
	t := Tally[S]{Reaches: Odds{Least: a.Reaches.Least * b.Reaches.Least, Most: max(a.Reaches.Most, b.Reaches.Most), Mean: math.NaN()}}
	if a.Reaches == Surely && b.Reaches == Surely {
		t.Reaches = Surely
	}
	for _, r := range a.List {
		other := b.Of(r.Service)
		r.Least, r.Most = min(r.Least, other.Least), max(r.Most, other.Most)
		if r.Mean != other.Mean || len(other.Loops) > 0 {
			r.Mean = math.NaN()
		}
		r.join(other)
		r.Loops = Scaled(r.Loops, 0)
		t.List = append(t.List, r)
	}
	for _, r := range b.List {
		if !a.has(r.Service) {
			r.Least, r.Mean, r.Loops = 0, math.NaN(), Scaled(r.Loops, 0)
			t.List = append(t.List, r)
		}
	}
	return t
}

// Repeated counts passes, unless one of them stops the session.
func Repeated[S comparable](pass Tally[S], least, most int64) Tally[S] {
	t := Tally[S]{Reaches: Surely}
	switch {
	case most == 0:
		return t
	case pass.Reaches == Impossible && least > 0:
		t.Reaches, least, most = Impossible, 1, 1
	case pass.Reaches != Surely:
		t.Reaches, least = Perhaps, min(least, 1)
	}
	for _, r := range pass.List {
		if least == most {
			r.Mean *= float64(least)
		} else {
			r.Mean = math.NaN()
		}
		r.Least, r.Most, r.Loops = Product(r.Least, least), Product(r.Most, most), Nested(r.Loops)
		t.Add(r)
	}
	return t
}

// Of counts the requests to a service; the zero value means zero requests.
func (t *Tally[S]) Of(s S) Requests[S] {
	for _, r := range t.List {
		if r.Service == s {
			return r
		}
	}
	return Requests[S]{}
}

// Add adds requests that follow.
func (t *Tally[S]) Add(more Requests[S]) {
	i := slices.IndexFunc(t.List, func(r Requests[S]) bool { return r.Service == more.Service })
	if i < 0 {
		t.List = append(t.List, more)
		return
	}
	r := &t.List[i]
	r.Least, r.Most, r.Mean = min(r.Least+more.Least, Endless), min(r.Most+more.Most, Endless), r.Mean+more.Mean
	r.join(more)
}

func (t *Tally[S]) has(s S) bool {
	return slices.ContainsFunc(t.List, func(r Requests[S]) bool { return r.Service == s })
}
