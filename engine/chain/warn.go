package chain

import (
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/internal/doc"
)

// checks is the one table of checks for likely mistakes in a valid chain. Unordered changing requests are found in
// groups (groupAt.warn).
func checks() []func(r *Reader, c *Chain) {
	return []func(r *Reader, c *Chain){(*Reader).warnAlone, (*Reader).warnTimeouts, (*Reader).warnLost}
}

// modelKind is the kind of steps that call a model.
const modelKind = "llm"

// ShortForModels is the timeout below which many model calls do not complete.
const ShortForModels = 10 * time.Second

// warnAlone reports parallel steps that wait for another parallel step and run concurrently with nothing.
func (r *Reader) warnAlone(c *Chain) {
	if c.Body != nil {
		r.eachBlock(c.Body, func(b *Block) {
			for i := range b.segments {
				if b.segments[i].grouped() {
					r.warnGroup(b, &b.segments[i])
				}
			}
		})
	}
}

func (r *Reader) eachBlock(b *Block, f func(b *Block)) {
	f(b)
	for _, s := range b.Steps {
		if nest, ok := s.action.(nest); ok {
			for _, inner := range nest.blocks() {
				r.eachBlock(inner, f)
			}
		}
	}
}

func (r *Reader) warnGroup(b *Block, seg *segment) {
	for i := seg.from; i < seg.to; i++ {
		s := b.Steps[i]
		if !r.declaredParallel(s) || !seg.alone(b, i) {
			continue
		}
		var named []string
		for _, j := range s.node.waits {
			if r.declaredParallel(b.Steps[j]) {
				named = append(named, b.Steps[j].Name)
			}
		}
		if len(named) > 0 {
			r.places[s].Body.Only("parallel").Key.Warnf("remove `parallel` here, or `depends_on`",
				"%s says parallel and waits for %s: they never run together", s.Name, strings.Join(named, ", "))
		}
	}
}

// alone reports whether every other step of a group depends on step i, or step i on it.
func (seg *segment) alone(b *Block, i int) bool {
	for j := seg.from; j < seg.to; j++ {
		if j != i && !b.Steps[i].node.before.Has(j-seg.from) && !b.Steps[j].node.before.Has(i-seg.from) {
			return false
		}
	}
	return true
}

func (r *Reader) declaredParallel(s *Step) bool {
	at := r.places[s].Body.Only("parallel").Value
	return at != nil && at.Bool()
}

// warnTimeouts reports chain and step timeouts that are too short for model calls.
func (r *Reader) warnTimeouts(c *Chain) {
	if c.Timeout > 0 && c.Timeout < ShortForModels {
		if s := asksModel(c.Body); s != nil {
			warnShort(r.timeouts[c], c.Timeout, s)
		}
	}
	c.Walk(func(_ string, s *Step) {
		own := r.places[s].Body.Get("timeout")
		if own == nil || s.timeout >= ShortForModels {
			return
		}
		if inner := asksModel(&Block{Steps: []*Step{s}}); inner != nil {
			warnShort(own, s.timeout, inner)
		}
	})
}

func warnShort(at *doc.Node, limit time.Duration, s *Step) {
	at.Warnf("60s, for example; it counts the service's time, not waits in Throng",
		"%s for the model that %s asks: many answers take longer", limit, s.Name)
}

// asksModel returns the first step of a block that calls a model, including those of the chains that it runs, or nil.
func asksModel(b *Block) *Step {
	var found *Step
	(&Chain{Body: b}).everywhere(func(s *Step) {
		if found == nil && s.Kind == modelKind {
			found = s
		}
	})
	return found
}
