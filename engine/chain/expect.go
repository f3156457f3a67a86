package chain

import (
	"math"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/script"
)

const (
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
	asks() (services []*Service, often odds.Odds)
}

// tally counts requests along a path of steps, and how likely its end is reached, because a session may stop earlier.
type tally struct {
	list    []Requests
	reaches odds.Odds
}

// expecting counts the requests of chains, each chain once.
type expecting struct {
	known  map[*Chain]*tally
	writes bool // count only these
}

func (e *expecting) chain(c *Chain) *tally {
	t, ok := e.known[c]
	if !ok {
		t = &tally{reaches: odds.Surely}
		e.known[c] = t // a chain that runs itself is an error, and is not counted
		*t = e.block(c.Body, "")
	}
	return t
}

func (e *expecting) block(b *Block, prefix string) tally {
	all := tally{reaches: odds.Surely}
	if b == nil {
		return all
	}
	for _, s := range b.Steps {
		runs := likely(s.when).And(all.reaches)
		of := e.step(s, prefix)
		for _, r := range of.list {
			all.add(r.times(runs))
		}
		all.reaches = all.reaches.And(likely(s.when).And(of.reaches.Not()).Not())
	}
	return all
}

// step counts the requests of a step.
func (e *expecting) step(s *Step, prefix string) tally {
	switch a := s.action.(type) {
	case *stop:
		return tally{reaches: odds.Impossible}
	case *branch:
		return either(likely(a.condition), e.block(a.then, prefix+s.Name+"."), e.block(a.otherwise, prefix+s.Name+"."))
	case *loop:
		return a.expect(e.block(a.do, prefix+s.Name+"."), prefix+s.Name)
	case *while:
		most := int64(a.limit)
		if likely(a.condition) == odds.Impossible {
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
		t := tally{reaches: odds.Surely}
		if e.writes && !writes(s.action) {
			break
		}
		services, often := a.asks()
		for i, service := range services {
			if i > 0 {
				often = odds.Perhaps.And(often)
			}
			t.add(Requests{Service: service, Least: often.Least, Most: often.Most, Mean: often.Mean})
		}
		return t
	}
	return tally{reaches: odds.Surely}
}

// likely returns how likely a condition holds; nil always holds.
func likely(e *script.Expr) odds.Odds {
	if e == nil {
		return odds.Surely
	}
	v, always := e.Const()
	switch {
	case !always:
		return odds.Perhaps
	case bool(v.Truth()):
		return odds.Surely
	}
	return odds.Impossible
}

// either combines two alternative branches.
func either(first odds.Odds, a, b tally) tally {
	switch first {
	case odds.Surely:
		return a
	case odds.Impossible:
		return b
	}
	t := tally{reaches: odds.Odds{Least: a.reaches.Least * b.reaches.Least, Most: max(a.reaches.Most, b.reaches.Most), Mean: math.NaN()}}
	if a.reaches == odds.Surely && b.reaches == odds.Surely {
		t.reaches = odds.Surely
	}
	for _, r := range a.list {
		other := b.of(r.Service)
		r.Least, r.Most = min(r.Least, other.Least), max(r.Most, other.Most)
		if r.Mean != other.Mean || len(other.Loops) > 0 {
			r.Mean = math.NaN()
		}
		r.join(other)
		r.Loops = odds.Scaled(r.Loops, 0)
		t.list = append(t.list, r)
	}
	for _, r := range b.list {
		if a.of(r.Service).Service == nil {
			r.Least, r.Mean, r.Loops = 0, math.NaN(), odds.Scaled(r.Loops, 0)
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
		r.Loops = odds.Nested(r.Loops)
		if r.Most > 0 && len(r.Loops) < maxLoops {
			r.Loops = append([]odds.Loop{{Path: path, As: l.as, Each: each, Least: r.Least, Most: r.Most}}, r.Loops...)
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
	t := tally{reaches: odds.Surely}
	switch {
	case most == 0:
		return t
	case pass.reaches == odds.Impossible && least > 0:
		t.reaches, least, most = odds.Impossible, 1, 1
	case pass.reaches != odds.Surely:
		t.reaches, least = odds.Perhaps, min(least, 1)
	}
	for _, r := range pass.list {
		if least == most {
			r.Mean *= float64(least)
		} else {
			r.Mean = math.NaN()
		}
		r.Least, r.Most, r.Loops = odds.Product(r.Least, least), odds.Product(r.Most, most), odds.Nested(r.Loops)
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
	r.Least, r.Most, r.Mean = min(r.Least+more.Least, odds.Endless), min(r.Most+more.Most, odds.Endless), r.Mean+more.Mean
	r.join(more)
}
