package scenario

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/memory"
	"github.com/throng-sim/throng/engine/script/value"
)

// Graph returns the chain as people see it.
func (p *Program) Graph() engine.Graph { return p.s.Chain.Graph() }

// Persona returns the attributes of an agent: texts as they are, all else as JSON.
func (p *Program) Persona(index int) ([]engine.Fact, error) {
	a := newAgent(&p.s.population, p.seed, index, memory.New(nil))
	var facts []engine.Fact
	for _, name := range a.Names() {
		if slices.Contains(ownNames, name) {
			continue
		}
		v, err := a.Field(name)
		switch {
		case err != nil:
			return nil, err
		case v == nil || v == value.Missing:
			continue
		}
		text, isText := starlark.AsString(v)
		if !isText {
			data, err := value.AppendJSON(nil, v)
			if err != nil {
				return nil, err
			}
			text = string(data)
		}
		facts = append(facts, engine.Fact{Name: name, Value: text})
	}
	return facts, nil
}

// Search returns the indexes of agents, ascending, up to a maximum; more reports that there are others. A text that
// looks like an expression finds the agents for which it is true: `segment == "loyal" and age > 40`, with or without
// agent. before the attributes. Any other text finds agents whose id contains it, ignoring case. An error in an
// expression is a *engine.FieldError. Search may evaluate every agent; ctx cancels it.
func (p *Program) Search(ctx context.Context, text string, most int) (found []int, more bool, err error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, false, nil
	}
	if p.s.population.table.unwritten() {
		return nil, false, errUnwritten
	}
	asks := isQuestion(text)
	if asks {
		f, err := p.s.population.question(text)
		if err == nil {
			return (finder{p}).ask(ctx, f, most)
		}
		if found, more, called := (finder{p}).withID(ctx, text, most); called != nil || len(found) > 0 {
			return found, more, called
		}
		return nil, false, err
	}
	if found, more, err = (finder{p}).withID(ctx, text, most); err != nil || len(found) > 0 || !slices.Contains(p.s.population.fields, text) {
		return found, more, err
	}
	f, err := p.s.population.question(text) // such as vip
	if err != nil {
		return nil, false, err
	}
	return (finder{p}).ask(ctx, f, most)
}

// finder finds agents of a program.
type finder struct{ *Program }

// ask returns the agents for which an expression is true. An agent whose expression fails does not match, unless it
// fails for all.
func (p finder) ask(ctx context.Context, f *filter, most int) (found []int, more bool, err error) {
	var mistake error
	found, more, err = p.first(ctx, most, func(index int) (bool, error) {
		in, err := p.admit(ctx, []*filter{f}, index)
		if err != nil && ctx.Err() == nil {
			mistake = cmp.Or(mistake, err)
			return false, nil
		}
		return in, err
	})
	if len(found) == 0 && err == nil {
		err = mistake
	}
	return found, more, err
}

// isQuestion reports whether a text looks like an expression rather than like a part of an id.
func isQuestion(text string) bool {
	if strings.ContainsAny(text, `=<>()[]"'`) || strings.HasPrefix(text, "agent.") {
		return true
	}
	return slices.ContainsFunc(strings.Fields(text), func(word string) bool { return slices.Contains([]string{"and", "or", "not", "in"}, word) })
}

// withID finds agents by a part of their ids.
func (p finder) withID(ctx context.Context, text string, most int) (found []int, more bool, err error) {
	text = strings.ToLower(text)
	return p.first(ctx, most, func(index int) (bool, error) {
		id, err := p.AgentID(index)
		return strings.Contains(strings.ToLower(id), text), err
	})
}

// first returns the first agents that are meant.
func (p finder) first(ctx context.Context, most int, isMeant func(index int) (bool, error)) (found []int, more bool, err error) {
	for i := range p.s.Agents {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		is, err := isMeant(i)
		switch {
		case err != nil:
			return nil, false, err
		case is && len(found) == most:
			return found, true, nil
		case is:
			found = append(found, i)
		}
	}
	return found, false, nil
}
