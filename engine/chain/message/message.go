// Package message addresses and encodes the messages that agents send each other.
package message

import (
	"slices"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/script/value"
)

// Directory finds agents for messages. It is safe for concurrent use.
type Directory interface {
	// Index returns the index of an agent by its id; false if the id is unknown.
	Index(id string) (index int, ok bool, err error)
	// Count returns the number of agents.
	Count() int
}

// maxRecipients is how many agents one message reaches.
const maxRecipients = 10_000

// All is the address of a message to all other agents.
const All = "all"

var shape = value.NewShape("text", "data")

// AppendBody appends the body of a message as JSON; nil and missing parts are null.
func AppendBody(dst []byte, text, said value.Value) ([]byte, error) {
	for _, v := range []*value.Value{&text, &said} {
		if *v == nil || *v == value.Missing {
			*v = starlark.None
		}
	}
	return value.AppendJSON(dst, shape.Of(text, said))
}

// Recipients returns the indexes of the recipients of an agent's message, ascending and without repeats: an id, a list of ids, or all
// others. one makes a list of one.
func Recipients(agents Directory, self int, to value.Value, one func(agent int) []int) ([]int, error) {
	if id, ok := starlark.AsString(to); ok {
		if id == All {
			return others(agents, self)
		}
		index, err := find(agents, id)
		if err != nil {
			return nil, err
		}
		return one(index), nil
	}
	ids, ok := to.(starlark.Iterable)
	if !ok {
		return nil, engine.Fail(engine.Script, "a message is for an id, a list of ids or all, not for %s", value.Shown(to))
	}
	var recipients []int
	iter := ids.Iterate()
	defer iter.Done()
	for v := starlark.Value(nil); iter.Next(&v); {
		id, err := value.Text(v)
		if err != nil {
			return nil, err
		}
		index, err := find(agents, id)
		if err != nil {
			return nil, err
		}
		if len(recipients) == maxRecipients {
			return nil, engine.Fail(engine.Script, "a message for more than %d agents", maxRecipients)
		}
		recipients = append(recipients, index)
	}
	slices.Sort(recipients)
	return slices.Compact(recipients), nil
}

// others returns all agents but one.
func others(agents Directory, self int) ([]int, error) {
	if n := agents.Count() - 1; n > maxRecipients {
		return nil, engine.Fail(engine.Script, "a message to all reaches %d agents; at most %d", n, maxRecipients)
	}
	var all []int
	for i := range agents.Count() {
		if i != self {
			all = append(all, i)
		}
	}
	return all, nil
}

// find returns the index of an agent.
func find(agents Directory, id string) (int, error) {
	index, ok, err := agents.Index(id)
	if err == nil && !ok {
		err = engine.Fail(engine.Script, "a message for %q: no such agent", id)
	}
	return index, err
}
