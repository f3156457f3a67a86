package scenario

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
)

// Cleanup names what removes what the agents of a run made at services.
type Cleanup struct {
	Chain  string   // is run once for each agent that made something
	Events []string // that say what was made; empty is all
}

// cleanup reads the chain that removes what agents made, and the events that say what that is.
func (r *reader) cleanup(n *doc.Node, chains []string) {
	if n == nil {
		return
	}
	c := &Cleanup{}
	at := cleaning(n)
	if n.Kind() == doc.Map {
		n.Fields("chain", "events")
		n.Require("chain")
		if events := n.Get("events"); events != nil && events.Kind() == doc.Scalar {
			c.Events = []string{events.Text()}
		} else {
			for _, e := range events.List() {
				c.Events = append(c.Events, e.Text())
			}
		}
	}
	c.Chain = at.Text()
	if slices.Contains(chains, c.Chain) {
		r.s.Cleanup = c
		return
	}
	at.Guess(oneOfChains(c.Chain, chains)).Errorf("there is no chain %s", c.Chain)
}

// cleaning returns the node that names the chain of a cleanup.
func cleaning(n *doc.Node) *doc.Node {
	if n.Kind() == doc.Map {
		return n.Get("chain")
	}
	return n
}

// CleanupName is what the payload of a cleanup is called among the files of its run.
const CleanupName = "cleanup.jsonl"

// ReadCleanup reads the cleanup of a scenario as it was kept with a run: its chain, to be run once, with a row of made for
// each agent.
func ReadCleanup(src engine.Source, made []byte) (*Scenario, error) {
	whole, err := ReadKept(src)
	if err != nil {
		return nil, err
	}
	x := kept(src)
	x.Chain, x.Payload = whole.Cleanup.Chain, &Payload{Name: CleanupName, Text: made}
	s, err := readKept(src, x)
	if err == nil {
		s.Title = "Cleanup of " + s.Title
		s.Source.Path = src.Path
	}
	return s, err
}

// ReadKept reads a scenario from files as they are kept with a run, whatever their hash was.
func ReadKept(src engine.Source) (*Scenario, error) { return readKept(src, kept(src)) }

// readKept reads a scenario from the files that are kept with a run.
func readKept(src engine.Source, x Extras) (*Scenario, error) {
	r := &reader{name: src.Name, given: src.Parameters, kept: true, extras: x}
	return r.scenario(func(path string) ([]byte, error) {
		text, ok := src.Files[path]
		if !ok {
			return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
		}
		return text, nil
	})
}
