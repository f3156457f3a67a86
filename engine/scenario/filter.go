package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/suggest"
)

// filtering is what an agent is asked while a filter looks at it. No attribute is called so.
const filtering = ".filter"

// filter selects the active agents.
type filter struct {
	expr  *script.Expr
	at    *doc.Node // where it stands in the scenario; nil for a run's
	field string    // of its draws
}

// filter reads that of a population.
func (r populationReader) filter(n *doc.Node, p *population) {
	if e := r.chains.Expr(n, agentNames); e != nil {
		p.filter = &filter{expr: e, at: n, field: "population"}
	}
}

// runFilter compiles that of a run. Its mistakes are *engine.FieldError, joined.
func (p *population) runFilter(text string) (*filter, error) {
	return p.compileFilter(text, agentNames)
}

// CheckFilter reports the mistakes of a filter of a run, without evaluating it. They are *engine.FieldError, joined.
func (s *Scenario) CheckFilter(text string) error {
	_, err := s.population.runFilter(text)
	return err
}

// question compiles an expression about agents during a run, where attributes are also available under their own
// names.
func (p *population) question(text string) (*filter, error) {
	return p.compileFilter(text, append(slices.Clone(agentNames), p.fields...))
}

func (p *population) compileFilter(text string, names []string) (*filter, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "${") {
		return nil, &engine.FieldError{Field: "filter", Problem: "the whole of it is an expression: " + quoted(text), Hint: "write it without ${ }"}
	}
	if number := strings.TrimSpace(text); number != "" {
		if _, err := strconv.ParseFloat(number, 64); err == nil {
			return nil, &engine.FieldError{Field: "filter", Problem: number + " is a number, not a condition", Hint: "for example agent.index < " + number}
		}
	}
	e, err := p.env.Expr(text, names)
	var mistakes []error
	wrong := func(line, col int, problem, hint string) {
		place := fmt.Sprintf("column %d", col)
		if strings.Contains(strings.TrimSpace(text), "\n") {
			place = fmt.Sprintf("line %d, column %d", line, col)
		}
		mistakes = append(mistakes, &engine.FieldError{Field: "filter", Problem: fmt.Sprintf("%s, at %s of %s", problem, place, quoted(text)), Hint: hint})
	}
	var found script.Errors
	switch {
	case errors.As(err, &found):
		for _, m := range found {
			wrong(m.Line, m.Col, m.Problem, m.Hint)
		}
		return nil, errors.Join(mistakes...)
	case err != nil:
		return nil, &engine.FieldError{Field: "filter", Problem: err.Error()}
	}
	for _, f := range e.Refs("agent").Fields {
		if slices.Contains(p.fields, f.Name) {
			continue
		}
		hint := "there are " + strings.Join(p.fields, ", ")
		if near := suggest.Nearest(f.Name, p.fields); near != "" {
			hint = "did you mean " + near + "?"
		}
		wrong(f.Line, f.Col, "agent has no "+f.Name+" here", hint)
	}
	return &filter{expr: e, field: "run"}, errors.Join(mistakes...)
}

// admits reports whether an agent passes the filter.
func (f *filter) admits(a *agent) (bool, error) {
	asking := a.asking
	a.asking = filtering
	v, err := f.expr.Eval(a.Context(f.field))
	a.asking = asking
	if err != nil {
		return false, err
	}
	return bool(v.Truth()), nil
}

// mistake returns the error of the filter for an agent.
func (f *filter) mistake(a *agent, err error) error {
	if id, idErr := a.id(); idErr == nil {
		err = fmt.Errorf("agent %s: %w", id, err)
	}
	wrong := &engine.FieldError{Field: "filter", Problem: quoted(f.expr.Source()) + ", " + err.Error()}
	if f.at != nil {
		wrong.Problem = err.Error()
		line, col := f.at.Position()
		wrong.Problem = fmt.Sprintf("%s:%d:%d: %s", f.at.File(), line, col, wrong.Problem)
	}
	return wrong
}

// Choose returns the indexes of the active agents, ascending: nil for all, and an empty slice for none. These are the
// agents named by the run settings that pass the filters of the population and of the settings. It computes the
// attributes that the filters use, for every agent; ctx cancels it. Errors are *engine.FieldError, joined.
func (p *Program) Choose(ctx context.Context, s *engine.Settings) ([]int, error) {
	var filters []*filter
	var chosen []int
	var mistakes error
	if f := p.s.population.filter; f != nil {
		filters = append(filters, f)
	}
	if strings.TrimSpace(s.Filter) != "" {
		f, err := p.s.population.runFilter(s.Filter)
		filters, mistakes = append(filters, f), err
	}
	if len(s.Agents) > 0 {
		found, err := p.Find(s.Agents)
		chosen, mistakes = found, errors.Join(mistakes, err)
	}
	if mistakes != nil || len(filters) == 0 {
		return chosen, mistakes
	}
	if p.s.population.table.unwritten() {
		return nil, errUnwritten
	}
	return (finder{p}).sift(ctx, filters, chosen)
}

// sift returns those of the chosen, nil is all, whom every filter admits.
func (p finder) sift(ctx context.Context, filters []*filter, chosen []int) ([]int, error) {
	among := len(chosen)
	if chosen == nil {
		among = p.s.Agents
	}
	left := []int{}
	for i := range among {
		index := i
		if chosen != nil {
			index = chosen[i]
		}
		in, err := p.admit(ctx, filters, index)
		if err != nil {
			return nil, err
		}
		if in {
			left = append(left, index)
		}
	}
	return left, nil
}

// admit reports whether all filters admit an agent.
func (p finder) admit(ctx context.Context, filters []*filter, index int) (bool, error) {
	a := newAgent(&p.s.population, p.seed, index, nil)
	a.done = ctx.Done()
	for _, f := range filters {
		in, err := f.admits(a)
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case err != nil:
			return false, f.mistake(a, err)
		case !in:
			return false, nil
		}
	}
	return true, nil
}
