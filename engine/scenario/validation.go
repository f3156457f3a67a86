package scenario

import (
	"slices"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/validation"
)

// readValidation reads the real data that runs are compared with.
func readValidation(r *reader, n *doc.Node) {
	if n == nil || r.s.Chain == nil || r.extras.Chain != "" {
		return
	}
	r.s.Against = validation.Read(n, r.chains.Open, r.s.Figures(), r.report)
}

// Figures returns the names of what agents have and do, for comparisons with real data.
func (s *Scenario) Figures() *validation.Known {
	k := &validation.Known{Acted: s.Acted}
	for _, name := range s.population.fields {
		if !slices.Contains(ownNames, name) {
			k.Attributes = append(k.Attributes, name)
		}
	}
	k.Events, k.AllEvents = s.Chain.Events()
	slices.Sort(k.Events)
	k.Events = slices.Compact(k.Events)
	k.Memory = remembered(doc.Parse(s.Source.Name, s.Source.Files[s.Source.Name], &doc.Report{}))
	return k
}

// With returns real data that the scenario does not name, for measures as COLUMN=FIGURE; see [validation.Load]. Without any, the measures
// are those of the scenario if it has some. The error is a *Mistakes or a *engine.FieldError.
func (s *Scenario) With(name string, text []byte, pairs []string) (*validation.Against, error) {
	report := &doc.Report{}
	var against *validation.Against
	var err error
	if len(pairs) == 0 && s.Against != nil {
		against, err = s.Against.Instead(name, text, report)
	} else {
		against, err = validation.Load(name, text, pairs, s.Figures(), report)
	}
	if err == nil && report.Err() != nil {
		err = &Mistakes{report}
	}
	return against, err
}

// remembered lists the fields that steps of the kind remember set.
func remembered(n *doc.Node) (all []string) {
	if kind := n.Get("kind"); kind.Kind() == doc.Scalar && kind.Text() == "remember" || n.Get("type").Kind() == doc.Scalar && n.Get("type").Text() == "remember" {
		if set := n.Get("set"); set.Kind() == doc.Map {
			for _, e := range set.Entries() {
				all = append(all, e.Key.Text())
			}
		}
	}
	switch n.Kind() {
	case doc.Map:
		for _, e := range n.Entries() {
			all = append(all, remembered(e.Value)...)
		}
	case doc.List:
		for _, item := range n.List() {
			all = append(all, remembered(item)...)
		}
	default:
	}
	slices.Sort(all)
	return slices.Compact(all)
}
