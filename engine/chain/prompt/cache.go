package prompt

import (
	"fmt"

	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
)

// Cache holds the names of a cache. A prompt sees nothing else, so the answer does not depend on which session asks
// first.
type Cache struct {
	Names []string
	exprs []*script.Expr
}

// ReadCache reads the names of a cache, whose expressions are compiled by in.
func ReadCache(in *expr.Compiler, n *doc.Node) *Cache {
	c := &Cache{}
	if n.Kind() != doc.Map {
		n.Errorf("`{frequency: agent.shopping_frequency, day: now.weekday}`", "a cache is a map of the names that its prompt can use")
		return c
	}
	for _, e := range n.Entries() {
		expr.CheckName(e.Key, e.Key.Text(), "a cache's value")
		c.Names = append(c.Names, e.Key.Text())
		c.exprs = append(c.exprs, in.Expression(e.Value))
	}
	return c
}

// Eval evaluates the names for a step, and returns the context for a prompt that sees nothing else.
func (c *Cache) Eval(t expr.Contexts) (expr.Contexts, error) {
	s := &seen{step: t, values: make(map[string]value.Value, len(c.Names))}
	for i, e := range c.exprs {
		v, err := e.Eval(t.Context("cache." + c.Names[i]))
		if err == nil {
			v, err = value.Data(v)
		}
		if err != nil {
			return nil, fmt.Errorf("cache %s: %w", c.Names[i], err)
		}
		s.values[c.Names[i]] = v
	}
	return s, nil
}

// seen holds the values of a cache under the names that the prompt uses.
type seen struct {
	step   expr.Contexts
	values map[string]value.Value
	view   script.Context
}

// Context implements expr.Contexts. Without a field, draws are errors.
func (s *seen) Context(field string) *script.Context {
	s.view = *s.step.Context(field)
	s.view.Names, s.view.Field = s, ""
	return &s.view
}

// Lookup implements script.Names.
func (s *seen) Lookup(name string) (value.Value, error) {
	if v, ok := s.values[name]; ok {
		return v, nil
	}
	return nil, fmt.Errorf("%s is not known here", name)
}
