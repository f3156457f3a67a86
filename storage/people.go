package storage

import (
	"context"
	"math"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/outcomes"
)

// People are the agents of a run.
type People struct {
	Attributes []string // their names, in the order of the population
	// Each calls next for each agent of the run, in ascending order, with the JSON texts of the attributes. An attribute that the agent
	// does not have is nil.
	Each func(ctx context.Context, next func(agent int, attributes [][]byte) error) error
}

// peopleTable is the file of agents, whose columns depend on the population.
const peopleTable = "agents"

const peopleAbout = "One row for each agent of the run, with its attributes. Nothing in it depends on timing."

// peopleCells are the columns of agents before those of their attributes.
var peopleCells = placeCells[1:]

// described returns the columns of the attributes. Their types need all agents.
func (p *People) described(ctx context.Context) (*fieldColumns, error) {
	f := newFieldColumns(peopleCells, fieldWords{"attribute_", "Attribute %s of the agent.", math.MaxInt})
	keys := p.keys()
	for i := range keys {
		f.see(keys[i], nil)
	}
	err := p.Each(ctx, func(_ int, values [][]byte) error {
		for i := range values {
			f.see(keys[i], values[i])
		}
		return nil
	})
	return f, err
}

func (p *People) keys() [][]byte {
	keys := make([][]byte, len(p.Attributes))
	for i, name := range p.Attributes {
		keys[i] = []byte(name)
	}
	return keys
}

// people writes one row for each agent to a table that start creates from its columns.
func (n *Names) people(ctx context.Context, start func([]column) (*table, error)) error {
	f, err := n.People.described(ctx)
	if err != nil {
		return err
	}
	t, err := start(append(columnsOf(peopleCells), f.columns()...))
	if err != nil {
		return err
	}
	row := flatEvent{Fields: outcomes.Fields{Keys: n.People.keys()}}
	err = n.People.Each(ctx, func(agent int, values [][]byte) error {
		name, err := n.Agent(agent)
		if err != nil {
			return err
		}
		for i := range peopleCells {
			peopleCells[i].add(t, &record{SessionRow: &engine.SessionRow{Place: engine.Place{Agent: agent}}, agent: name})
		}
		row.Values = values
		f.add(t, &row)
		return t.next()
	})
	if err != nil {
		return err
	}
	return t.flush()
}
