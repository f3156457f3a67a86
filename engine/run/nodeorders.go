package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/suggest"
)

// apply changes several settings: all or none. It first makes the changes outside the core, and undoes them if any part is
// refused.
func (n *node) apply(wanted []engine.Assignment, who, why string) (changes []engine.Change, err error) {
	own, others, err := n.split(wanted)
	if err != nil {
		return nil, err
	}
	was := n.core.cfg.Settings
	next, limit, err := n.core.limit.resolve(own)
	if err != nil {
		return nil, err
	}
	if err := n.updateGovernor(&was, &next); err != nil {
		return nil, err
	}
	if next.Budget != was.Budget {
		if err := n.r.setBudget(next.Budget); err != nil {
			return nil, errors.Join(err, n.updateGovernor(&next, &was))
		}
	}
	tuned, err := n.tuneAll(others)
	if err != nil {
		if next.Budget != was.Budget {
			n.r.ledger.SetBudget(was.Budget)
		}
		return nil, errors.Join(err, n.updateGovernor(&next, &was))
	}
	named := slices.ContainsFunc(own, func(a engine.Assignment) bool { return a.Name == engine.LimitSetting })
	n.step(setOrder{next, limit, named, tuned, who, why})
	return n.changes, nil
}

// split splits an order into run settings and tunables of services. It rejects unknown names and duplicates.
func (n *node) split(wanted []engine.Assignment) (own, others []engine.Assignment, err error) {
	var mistakes []error
	seen := map[string]bool{}
	for _, a := range wanted {
		a = a.Trimmed()
		switch {
		case seen[a.Name]:
			mistakes = append(mistakes, &engine.FieldError{Field: a.Name, Problem: "given twice", Hint: ""})
		case engine.FindLiveSetting(a.Name) != nil:
			own = append(own, a)
		case n.serviceOf(a.Name) != nil:
			others = append(others, a)
		default:
			mistakes = append(mistakes, &engine.FieldError{Field: a.Name, Problem: "cannot be changed while a run is in progress", Hint: strings.TrimSpace(suggest.Hint(a.Name, n.tunableNames()) + " choose " + engine.OrList(n.tunableNames()))})
		}
		seen[a.Name] = true
	}
	if len(wanted) == 0 {
		mistakes = append(mistakes, &engine.FieldError{Field: "set", Problem: "no setting is given", Hint: "write name=value, such as " + engine.LimitSetting + "=50"})
	}
	return own, others, errors.Join(mistakes...)
}

// updateGovernor passes changed settings to the governor if they affect it.
func (n *node) updateGovernor(was, next *engine.Settings) error {
	if n.cfg.Governor == nil || next.Steering == was.Steering {
		return nil
	}
	return n.cfg.Governor.Use(next.Steering)
}

// tuneAll changes tunables of services: all or none.
func (n *node) tuneAll(wanted []engine.Assignment) (changes []engine.ChangeRow, err error) {
	for _, a := range wanted {
		s := n.serviceOf(a.Name)
		old, err := s.Tune(a.Name, a.Value)
		if err != nil {
			for _, c := range slices.Backward(changes) {
				if _, back := n.serviceOf(c.What).Tune(c.What, c.Old); back != nil {
					err = errors.Join(err, fmt.Errorf("%s stays %s: %w", c.What, c.New, back))
				}
			}
			return nil, err
		}
		c := engine.ChangeRow{What: a.Name, Old: old, New: a.Value}
		if strings.HasSuffix(a.Name, engine.TimeoutSuffix) && old != a.Value {
			c.Inexact = n.core.timeoutInexact(a.Name)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// restore sets services to the values that people chose in earlier processes. It ignores values that a service no longer
// knows or accepts.
func (n *node) restore(tuned []engine.Tunable) {
	for _, t := range tuned {
		if s := n.serviceOf(t.Name); s != nil {
			_, _ = s.Tune(t.Name, t.Value)
		}
	}
}

// serviceOf returns the service that has a tunable of that name, or nil.
func (n *node) serviceOf(name string) engine.Service {
	for _, s := range n.cfg.Services {
		if slices.ContainsFunc(s.Tunables(), func(t engine.Tunable) bool { return t.Name == name }) {
			return s
		}
	}
	return nil
}

func (n *node) tunableNames() []string {
	names := engine.LiveSettings()
	for _, s := range n.cfg.Services {
		for _, t := range s.Tunables() {
			names = append(names, t.Name)
		}
	}
	return names
}
