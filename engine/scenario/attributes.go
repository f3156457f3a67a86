package scenario

import (
	"slices"

	"github.com/throng-sim/throng/engine/chain/memory"
	"github.com/throng-sim/throng/engine/script/value"
)

// Attributes returns the names of the agents' attributes, in the order of the population: those of its rows, then those with an
// expression.
func (p *Program) Attributes() []string {
	a := newAgent(&p.s.population, p.seed, 0, memory.New(nil))
	return slices.DeleteFunc(a.Names(), func(name string) bool { return slices.Contains(ownNames, name) })
}

// Values returns the attributes of an agent as JSON texts; nil for one that the agent does not have, or whose expression fails.
func (p *Program) Values(index int, attributes []string) [][]byte {
	a := newAgent(&p.s.population, p.seed, index, memory.New(nil))
	all := make([][]byte, len(attributes))
	for i, name := range attributes {
		v, err := a.Field(name)
		if err != nil || v == nil || v == value.Missing {
			continue
		}
		if text, err := value.AppendJSON(nil, v); err == nil {
			all[i] = text
		}
	}
	return all
}
