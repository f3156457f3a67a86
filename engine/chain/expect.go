package chain

import (
	"math"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/chain/tools"
	"github.com/throng-sim/throng/engine/script"
)

// Requests is the expected number of a session's requests to a service, computed from the file before a run. Retries
// are not counted, nor the effect of failing steps.
type Requests = odds.Requests[*Service]

// tally counts requests along a path of steps.
type tally = odds.Tally[*Service]

// Expect returns the services that a session of the chain uses, in the order of first use.
func (c *Chain) Expect() []Requests {
	e := expecting{known: map[*Chain]*tally{}}
	return e.chain(c).List
}

// ExpectWrites is Expect restricted to requests that change something at a service that is not a model.
func (c *Chain) ExpectWrites() []Requests {
	e := expecting{known: map[*Chain]*tally{}, writes: true}
	return e.chain(c).List
}

// sender is an action that sends requests: to the first service, with the others as fallbacks.
type sender interface {
	// asks returns how often the first service is asked when the step runs.
	asks() (services []*Service, often odds.Odds)
}

// expecting counts the requests of chains, each chain once.
type expecting struct {
	known  map[*Chain]*tally
	writes bool // count only these
}

func (e *expecting) chain(c *Chain) *tally {
	t, ok := e.known[c]
	if !ok {
		t = &tally{Reaches: odds.Surely}
		e.known[c] = t // a chain that runs itself is an error, and is not counted
		*t = e.block(c.Body, "")
	}
	return t
}

func (e *expecting) block(b *Block, prefix string) tally {
	all := tally{Reaches: odds.Surely}
	if b == nil {
		return all
	}
	for _, s := range b.Steps {
		runs := likely(s.when).And(all.Reaches)
		of := e.step(s, prefix)
		for _, r := range of.List {
			all.Add(r.Times(runs))
		}
		all.Reaches = all.Reaches.And(likely(s.when).And(of.Reaches.Not()).Not())
	}
	return all
}

// step counts the requests of a step.
func (e *expecting) step(s *Step, prefix string) tally {
	switch a := s.action.(type) {
	case *stop:
		return tally{Reaches: odds.Impossible}
	case *branch:
		return odds.Either(likely(a.condition), e.block(a.then, prefix+s.Name+"."), e.block(a.otherwise, prefix+s.Name+"."))
	case *loop:
		return a.expect(e.block(a.do, prefix+s.Name+"."), prefix+s.Name)
	case *while:
		most := int64(a.limit)
		if likely(a.condition) == odds.Impossible {
			most = 0
		}
		return odds.Repeated(e.block(a.do, prefix+s.Name+"."), 0, most)
	case *subchain:
		if a.chain == nil {
			break
		}
		inner := e.chain(a.chain)
		t := tally{Reaches: inner.Reaches}
		for _, r := range inner.List {
			t.Add(r.Under(prefix + s.Name + "."))
		}
		return t
	case *completion:
		if a.tools == nil {
			return e.requests(a)
		}
		most := int64(a.tools.rounds())
		t := odds.Repeated(e.requests(a), 1, 1+most)
		for _, b := range a.blocks() {
			uses := odds.Repeated(e.block(b, prefix+s.Name+"."), 0, most*tools.MostCalls)
			t.Reaches = t.Reaches.And(uses.Reaches)
			for _, r := range uses.List {
				t.Add(r)
			}
		}
		return t
	case sender:
		return e.requests(a)
	}
	return tally{Reaches: odds.Surely}
}

// requests counts the requests of a step that sends them itself.
func (e *expecting) requests(a sender) tally {
	t := tally{Reaches: odds.Surely}
	if action, ok := a.(action); e.writes && ok && !writes(action) {
		return t
	}
	services, often := a.asks()
	for i, service := range services {
		if i > 0 {
			often = odds.Perhaps.And(often)
		}
		t.Add(Requests{Service: service, Least: often.Least, Most: often.Most, Mean: often.Mean})
	}
	return t
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

// expect counts a for loop. The number of passes is known if its list is constant.
func (l *loop) expect(pass tally, path string) tally {
	if v, always := l.each.Const(); l.each != nil && always {
		n := int64(max(starlark.Len(v), 0))
		return odds.Repeated(pass, n, n)
	}
	if l.limit > 0 {
		return odds.Repeated(pass, 0, int64(l.limit))
	}
	each := ""
	if l.each != nil {
		each = strings.TrimSpace(l.each.Source())
	}
	t := tally{Reaches: odds.Repeated(pass, 0, 1).Reaches}
	for _, r := range pass.List {
		r.Loops = odds.Nested(r.Loops)
		if r.Most > 0 && len(r.Loops) < odds.MaxLoops {
			r.Loops = append([]odds.Loop{{Path: path, As: l.as, Each: each, Least: r.Least, Most: r.Most}}, r.Loops...)
		} else if r.Most > 0 {
			r.More = true
		}
		r.Least, r.Most, r.Mean = 0, 0, math.NaN()
		t.Add(r)
	}
	return t
}
