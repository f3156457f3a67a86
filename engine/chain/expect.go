package chain

import (
	"math"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/script"
)

// Requests is the expected number of a session's requests to a service, computed from the file before a run. Retries
// are not counted, nor the effect of failing steps.
type Requests struct {
	Service *Service
	Least   int64
	Most    int64   // without those of Loops; Endless means unknown
	Mean    float64 // if the file says how likely each is, and there are no Loops; else NaN
	// Loops are loops whose number of passes is known only at run time.
	Loops []LoopRequests
	// More is how many further loops there are.
	More bool
}

// LoopRequests is how many requests one pass of a loop makes, excluding loops inside it.
type LoopRequests struct {
	Path        string // of the step, without iterations
	As          string // the loop's variable
	Each        string // the expression for its list
	Least, Most int64
	Nested      bool // it is inside another loop
}

const (
	// Endless means an unlimited number of requests.
	Endless = 100_000_000_000
	// maxLoops is how many loops are listed for a service.
	maxLoops = 20
)

// Expect returns the services that a session of the chain uses, in the order of first use.
func (c *Chain) Expect() []Requests {
	e := expecting{known: map[*Chain]*tally{}}
	return e.chain(c).list
}

// ExpectWrites is Expect restricted to requests that change something at a service that is not a model.
func (c *Chain) ExpectWrites() []Requests {
	e := expecting{known: map[*Chain]*tally{}, writes: true}
	return e.chain(c).list
}

// sender is an action that sends requests: to the first service, with the others as fallbacks.
type sender interface {
	// asks returns how often the first service is asked when the step runs.
	asks() (services []*Service, often odds)
}

// odds are the odds of an event: never, always or between; mean is NaN if unknown.
type odds struct {
	least, most int64
	mean        float64
}

var (
	surely     = odds{1, 1, 1}
	impossible = odds{0, 0, 0}
	perhaps    = odds{0, 1, math.NaN()}
)

func (o odds) and(p odds) odds {
	if o.most*p.most == 0 {
		return impossible // independent of the other
	}
	return odds{o.least * p.least, 1, o.mean * p.mean}
}

func (o odds) not() odds { return odds{1 - o.most, 1 - o.least, 1 - o.mean} }

// chanceOf returns the odds of an event with a probability.
func chanceOf(p float64) odds { return odds{int64(p), int64(math.Ceil(p)), p} }

// tally counts requests along a path of steps, and how likely its end is reached, because a session may stop earlier.
type tally struct {
	list    []Requests
	reaches odds
}

// expecting counts the requests of chains, each chain once.
type expecting struct {
	known  map[*Chain]*tally
	writes bool // count only these
}

func (e *expecting) chain(c *Chain) *tally {
	t, ok := e.known[c]
	if !ok {
		t = &tally{reaches: surely}
		e.known[c] = t // a chain that runs itself is an error, and is not counted
		*t = e.block(c.Body, "")
	}
	return t
}

func (e *expecting) block(b *Block, prefix string) tally {
	all := tally{reaches: surely}
	if b == nil {
		return all
	}
	for _, s := range b.Steps {
		runs := likely(s.when).and(all.reaches)
		of := e.step(s, prefix)
		for _, r := range of.list {
			all.add(r.times(runs))
		}
		all.reaches = all.reaches.and(likely(s.when).and(of.reaches.not()).not())
	}
	return all
}

// step counts the requests of a step.
func (e *expecting) step(s *Step, prefix string) tally {
	switch a := s.action.(type) {
	case *stop:
		return tally{reaches: impossible}
	case *branch:
		return either(likely(a.condition), e.block(a.then, prefix+s.Name+"."), e.block(a.otherwise, prefix+s.Name+"."))
	case *loop:
		return a.expect(e.block(a.do, prefix+s.Name+"."), prefix+s.Name)
	case *while:
		most := int64(a.limit)
		if likely(a.condition) == impossible {
			most = 0
		}
		return repeated(e.block(a.do, prefix+s.Name+"."), 0, most)
	case *subchain:
		if a.chain == nil {
			break
		}
		inner := e.chain(a.chain)
		t := tally{reaches: inner.reaches}
		for _, r := range inner.list {
			t.add(r.under(prefix + s.Name + "."))
		}
		return t
	case sender:
		t := tally{reaches: surely}
		if e.writes && !writes(a) {
			break
		}
		services, often := a.asks()
		for i, service := range services {
			if i > 0 {
				often = perhaps.and(often)
			}
			t.add(Requests{Service: service, Least: often.least, Most: often.most, Mean: often.mean})
		}
		return t
	}
	return tally{reaches: surely}
}

// likely returns how likely a condition holds; nil always holds.
func likely(e *script.Expr) odds {
	if e == nil {
		return surely
	}
	v, always := e.Const()
	switch {
	case !always:
		return perhaps
	case bool(v.Truth()):
		return surely
	}
	return impossible
}

// either combines two alternative branches.
func either(first odds, a, b tally) tally {
	switch first {
	case surely:
		return a
	case impossible:
		return b
	}
	t := tally{reaches: odds{a.reaches.least * b.reaches.least, max(a.reaches.most, b.reaches.most), math.NaN()}}
	if a.reaches == surely && b.reaches == surely {
		t.reaches = surely
	}
	for _, r := range a.list {
		other := b.of(r.Service)
		r.Least, r.Most = min(r.Least, other.Least), max(r.Most, other.Most)
		if r.Mean != other.Mean || len(other.Loops) > 0 {
			r.Mean = math.NaN()
		}
		r.join(other)
		r.Loops = scaled(r.Loops, 0)
		t.list = append(t.list, r)
	}
	for _, r := range b.list {
		if a.of(r.Service).Service == nil {
			r.Least, r.Mean, r.Loops = 0, math.NaN(), scaled(r.Loops, 0)
			t.list = append(t.list, r)
		}
	}
	return t
}

// expect counts a for loop. The number of passes is known if its list is constant.
func (l *loop) expect(pass tally, path string) tally {
	if v, always := l.each.Const(); l.each != nil && always {
		n := int64(max(starlark.Len(v), 0))
		return repeated(pass, n, n)
	}
	if l.limit > 0 {
		return repeated(pass, 0, int64(l.limit))
	}
	each := ""
	if l.each != nil {
		each = strings.TrimSpace(l.each.Source())
	}
	t := tally{reaches: repeated(pass, 0, 1).reaches}
	for _, r := range pass.list {
		r.Loops = nested(r.Loops)
		if r.Most > 0 && len(r.Loops) < maxLoops {
			r.Loops = append([]LoopRequests{{Path: path, As: l.as, Each: each, Least: r.Least, Most: r.Most}}, r.Loops...)
		} else if r.Most > 0 {
			r.More = true
		}
		r.Least, r.Most, r.Mean = 0, 0, math.NaN()
		t.add(r)
	}
	return t
}

// repeated counts passes, unless one of them stops the session.
func repeated(pass tally, least, most int64) tally {
	t := tally{reaches: surely}
	switch {
	case most == 0:
		return t
	case pass.reaches == impossible && least > 0:
		t.reaches, least, most = impossible, 1, 1
	case pass.reaches != surely:
		t.reaches, least = perhaps, min(least, 1)
	}
	for _, r := range pass.list {
		if least == most {
			r.Mean *= float64(least)
		} else {
			r.Mean = math.NaN()
		}
		r.Least, r.Most, r.Loops = product(r.Least, least), product(r.Most, most), nested(r.Loops)
		t.add(r)
	}
	return t
}

// of counts the requests to a service; the zero value means zero requests.
func (t *tally) of(s *Service) Requests {
	for _, r := range t.list {
		if r.Service == s {
			return r
		}
	}
	return Requests{}
}

// add adds requests that follow.
func (t *tally) add(more Requests) {
	i := slices.IndexFunc(t.list, func(r Requests) bool { return r.Service == more.Service })
	if i < 0 {
		t.list = append(t.list, more)
		return
	}
	r := &t.list[i]
	r.Least, r.Most, r.Mean = min(r.Least+more.Least, Endless), min(r.Most+more.Most, Endless), r.Mean+more.Mean
	r.join(more)
}

// join adds the loops of another.
func (r *Requests) join(other Requests) {
	all := slices.Concat(r.Loops, other.Loops)
	r.Loops, r.More = all[:min(len(all), maxLoops)], r.More || other.More || len(all) > maxLoops
}

// times scales requests by the odds of their step.
func (r Requests) times(o odds) Requests {
	r.Least, r.Most, r.Mean = r.Least*o.least, r.Most*o.most, r.Mean*o.mean
	if o.most == 0 {
		r.Mean, r.Loops, r.More = 0, nil, false
	}
	r.Loops = scaled(r.Loops, o.least)
	return r
}

// nested marks loops as inside another.
func nested(loops []LoopRequests) []LoopRequests {
	loops = slices.Clone(loops)
	for i := range loops {
		loops[i].Nested = true
	}
	return loops
}

// scaled multiplies the passes of loops.
func scaled(loops []LoopRequests, least int64) []LoopRequests {
	if least == 1 {
		return loops
	}
	loops = slices.Clone(loops)
	for i := range loops {
		loops[i].Least *= least
	}
	return loops
}

// under prefixes the paths of loops.
func (r Requests) under(prefix string) Requests {
	r.Loops = slices.Clone(r.Loops)
	for i := range r.Loops {
		r.Loops[i].Path = prefix + r.Loops[i].Path
	}
	return r
}

// product multiplies, up to Endless.
func product(a, b int64) int64 {
	if a > 0 && b > Endless/a {
		return Endless
	}
	return a * b
}
