package chain

import (
	"slices"

	"github.com/throng-sim/throng/engine/chain/odds"
)

// Requests is the expected number of a session's requests to a service, computed from the file before a run. Retries
// are not counted, nor the effect of failing steps.
type Requests struct {
	Service *Service
	Least   int64
	Most    int64   // without those of Loops; Endless means unknown
	Mean    float64 // if the file says how likely each is, and there are no Loops; else NaN
	// Loops are loops whose number of passes is known only at run time.
	Loops []odds.Loop
	// More is how many further loops there are.
	More bool
}

// join adds the loops of another.
func (r *Requests) join(other Requests) {
	all := slices.Concat(r.Loops, other.Loops)
	r.Loops, r.More = all[:min(len(all), maxLoops)], r.More || other.More || len(all) > maxLoops
}

// times scales requests by the odds of their step.
func (r Requests) times(o odds.Odds) Requests {
	r.Least, r.Most, r.Mean = r.Least*o.Least, r.Most*o.Most, r.Mean*o.Mean
	if o.Most == 0 {
		r.Mean, r.Loops, r.More = 0, nil, false
	}
	r.Loops = odds.Scaled(r.Loops, o.Least)
	return r
}

// under prefixes the paths of loops.
func (r Requests) under(prefix string) Requests {
	r.Loops = slices.Clone(r.Loops)
	for i := range r.Loops {
		r.Loops[i].Path = prefix + r.Loops[i].Path
	}
	return r
}
