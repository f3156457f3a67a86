package experiment

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/design"
	"github.com/throng-sim/throng/engine/experiment/draft"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/scenario"
)

// Suggest returns an experiment with a scenario to begin with, like [Sample], and what a form can offer for it. All parameters that have
// different values to propose are factors; the first ones vary. name is the scenario as the file names it.
func Suggest(s *scenario.Scenario, name string) (draft.Draft, draft.Choices) {
	w := &writer{}
	varied, others := sampleFactors(s)
	w.line("title: %s\nscenario: %s\ndesign: grid\nreplicates: {seeds: %d}", doc.Format("Experiment with "+s.Title), doc.Format(name), DefaultReplicates)
	w.line("measures: [%s]", strings.Join(sampleMeasures(s), ", "))
	var c draft.Choices
	w.line("vary:")
	if len(varied) == 0 {
		w.line("  settings.cycles: [1, 2]")
		c.Factors = append(c.Factors, draft.Choice{Name: "settings.cycles", Title: "Cycles", About: "of each run"})
	}
	for _, f := range append(varied, others...) {
		w.line("  params.%s: %s", f.name, f.levels)
		c.Factors = append(c.Factors, choice(parameter(s, f.name), f.usual))
	}
	if len(varied) > 0 {
		w.line("baseline: {params.%s: %s}", varied[0].name, varied[0].usual)
	}
	d, err := draft.Read(name, []byte(w.text.String()))
	if err != nil { // every text in it is quoted
		panic(err)
	}
	for i := range d.Factors {
		d.Factors[i].Varied = i < max(len(varied), 1)
	}
	r := &reader{e: &Experiment{Of: s}, facts: newFacts(s)}
	for _, one := range (factorReader{r}).factorNames() {
		if c.Factor(one).Name == "" {
			c.Further = append(c.Further, one)
		}
	}
	c.Measures, c.Usual = offeredMeasures(r, d.Measures)
	if settings, err := r.e.Effective(engine.DefaultSettings(), nil); err == nil && settings.Cycles > 0 {
		c.Cycles = strconv.Itoa(settings.Cycles)
	}
	return d, c
}

// choice describes a parameter.
func choice(p *scenario.Parameter, usual string) draft.Choice {
	c := draft.Choice{Name: "params." + p.Name, Title: p.Title, Usual: usual}
	low, high := !math.IsInf(p.Min, 0), !math.IsInf(p.Max, 0)
	switch {
	case len(p.Choices) > 0:
		c.About = "one of " + strings.Join(p.Choices, ", ")
	case low && high:
		c.About = decimal(p.Min) + " to " + decimal(p.Max)
	case low:
		c.About = "at least " + decimal(p.Min)
	case high:
		c.About = "at most " + decimal(p.Max)
	}
	if c.About != "" {
		c.About += "; "
	}
	c.About += "usually " + usual
	return c
}

// offeredMeasures lists the measures that a form offers: the suggested ones first, and the usual ones.
func offeredMeasures(r *reader, suggested []string) (offered, usual []string) {
	m := measureReader{r}
	m.usualMeasures()
	for i := range r.e.Measures {
		usual = append(usual, r.e.Measures[i].Name)
	}
	offered = append(offered, suggested...)
	add := func(names ...string) {
		for _, name := range names {
			if !slices.Contains(offered, name) {
				offered = append(offered, name)
			}
		}
	}
	add(usual...)
	add(eventFields(doc.Parse(r.e.Of.Source.Name, r.e.Of.Source.Files[r.e.Of.Source.Name], &doc.Report{}))...)
	add("outcomes.failed")
	if len(r.facts.requests) > 0 {
		add("latency_p95", "request_p95", "request_error_rate")
	}
	if slices.Contains(offered, "cost") {
		add("tokens")
	}
	for _, f := range r.facts.memory {
		add("memory." + f + ".mean")
	}
	return offered, usual
}

// eventFields lists the means of the fields of events that may be numbers: those that a step of the kind emit computes.
func eventFields(n *doc.Node) (all []string) {
	switch n.Kind() {
	case doc.Map:
		event, data := n.Get("event"), n.Get("data")
		if kind := n.Get("kind"); kind.Kind() == doc.Scalar && kind.Text() == "emit" && event.Kind() == doc.Scalar && data.Kind() == doc.Map && !strings.Contains(event.Text(), "${") {
			for _, f := range data.Entries() {
				if v := f.Value; v.Kind() == doc.Scalar && strings.HasPrefix(v.Text(), "${") && strings.HasSuffix(v.Text(), "}") {
					all = append(all, fmt.Sprintf("events.%s.%s.mean", event.Text(), f.Key.Text()))
				}
			}
		}
		for _, e := range n.Entries() {
			all = append(all, eventFields(e.Value)...)
		}
	case doc.List:
		for _, item := range n.List() {
			all = append(all, eventFields(item)...)
		}
	case doc.Absent, doc.Null, doc.Scalar:
	}
	return all
}

// usualN are the numbers of designs for which it is checked whether factors fit.
const usualN = 2

// Unfit returns why the factors of a draft do not fit designs, by kind. Designs that fit, or whose fit is not known because of mistakes in
// the factors, are missing.
func Unfit(d *draft.Draft) map[string]*design.Error {
	why := map[string]*design.Error{}
	if d.Varied() == 0 {
		for _, kind := range draft.Kinds()[1:] {
			why[kind] = &design.Error{Problem: "nothing varies"}
		}
		return why
	}
	bare := draft.Draft{Scenario: "any", Factors: slices.Clone(d.Factors)}
	for i := range bare.Factors {
		bare.Factors[i].Baseline = ""
	}
	text := append(bare.YAML(), "design: {points: [{}]}\n"...) // which fits everything
	e, err := Read("draft", func(string) ([]byte, error) { return text, nil }, nil)
	if err != nil {
		return why
	}
	for _, kind := range draft.Kinds() {
		e.Design = Design{Kind: DesignKind(kind), N: usualN, Levels: defaultMorrisLevels}
		if _, err := e.designPoints(); err != nil {
			if of, ok := errors.AsType[*design.Error](err); ok {
				why[kind] = of
			}
		}
	}
	return why
}
