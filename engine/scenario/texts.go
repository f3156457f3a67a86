package scenario

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
)

// Texts are parts of another file that speak of the agents of a scenario.
type Texts struct {
	Prompts    []*doc.Node // texts that a model reads
	Attributes []*doc.Node // names of attributes
}

// Check reports the mistakes in texts about a scenario that was kept with its run, at their places. The error is that of the scenario.
func (t Texts) Check(src engine.Source, given map[string]string) error {
	x := kept(src)
	x.also = func(r *reader) {
		for _, n := range t.Prompts {
			r.chains.Template(n, []string{"agent", "session", "now"})
		}
		known := r.s.population.fields // nil if they are unknown
		for _, n := range t.Attributes {
			if known != nil && !slices.Contains(known, n.Text()) {
				n.Guess(r.chains.Near(n.Text(), slices.Clone(known), "they have "+strings.Join(known, ", "))).Errorf("agents have no attribute %s", n.Text())
			}
		}
	}
	_, err := reread(src, x, given)
	return err
}
