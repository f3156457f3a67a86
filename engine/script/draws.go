package script

import (
	"fmt"
	"math"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

// The draws use the evaluation's own stream, in the order of the script's calls. Products have an explicit conversion
// so that the compiler does not fuse them with a sum: results are the same on every architecture.

// numbers reads the arguments of a draw.
func numbers(name string, a args, kw kwargs, out ...*float64) error {
	if len(kw) > 0 {
		return fmt.Errorf("%s takes its arguments by position", name)
	}
	if len(a) != len(out) {
		return fmt.Errorf("%s: got %d arguments, want %d", name, len(a), len(out))
	}
	for i, v := range a {
		f, ok := starlark.AsFloat(v)
		if !ok {
			return fmt.Errorf("%s: got %s, want a number", name, v.Type())
		}
		if err := value.CheckFloat(f); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		*out[i] = f
	}
	return nil
}

// chance is True with probability p.
func chance(m *machine, a args, kw kwargs) (value.Value, error) {
	var p float64
	if err := numbers("chance", a, kw, &p); err != nil {
		return nil, err
	}
	if p < 0 || p > 1 {
		return nil, value.NewError(fmt.Sprintf("chance: %v is not a probability", p), "between 0 and 1")
	}
	s, err := m.draws()
	if err != nil {
		return nil, err
	}
	return starlark.Bool(s.Float64() < p), nil
}

// uniform draws a float from [from, to).
func uniform(m *machine, a args, kw kwargs) (value.Value, error) {
	var from, to float64
	if err := numbers("uniform", a, kw, &from, &to); err != nil {
		return nil, err
	}
	if from > to || math.IsInf(to-from, 0) {
		return nil, value.NewError(fmt.Sprintf("uniform: no range from %v to %v", from, to), "the smaller number comes first")
	}
	s, err := m.draws()
	if err != nil {
		return nil, err
	}
	return starlark.Float(from + float64((to-from)*s.Float64())), nil
}

// normal draws from the normal distribution.
func normal(m *machine, a args, kw kwargs) (value.Value, error) {
	var mean, deviation float64
	if err := numbers("normal", a, kw, &mean, &deviation); err != nil {
		return nil, err
	}
	if deviation < 0 {
		return nil, fmt.Errorf("normal: the deviation %v is negative", deviation)
	}
	s, err := m.draws()
	if err != nil {
		return nil, err
	}
	return starlark.Float(mean + float64(deviation*s.Normal())), nil
}

// lognormal draws from the distribution whose logarithm is normal, with the deviation sigma around that of median.
func lognormal(m *machine, a args, kw kwargs) (value.Value, error) {
	var median, sigma float64
	if err := numbers("lognormal", a, kw, &median, &sigma); err != nil {
		return nil, err
	}
	if median <= 0 || sigma < 0 {
		return nil, value.NewError(
			fmt.Sprintf("lognormal: median %v, sigma %v", median, sigma),
			"the median is positive, sigma not negative",
		)
	}
	s, err := m.draws()
	if err != nil {
		return nil, err
	}
	return starlark.Float(median * math.Exp(sigma*s.Normal())), nil
}

// choices returns the list to choose from.
func choices(name string, v value.Value) (starlark.Indexable, error) {
	if elements := value.AsList(v); elements != nil {
		return elements, nil
	}
	list, ok := v.(starlark.Indexable)
	if _, isText := v.(starlark.String); !ok || isText {
		hint := ""
		if _, ok := mapping(v); ok {
			hint = "weighted(x) picks a key by its weight"
		}
		return nil, value.NewError(fmt.Sprintf("%s: got %s, want a list", name, v.Type()), hint)
	}
	return list, nil
}

// pick draws one element of a list with equal probability.
func pick(m *machine, a args, kw kwargs) (value.Value, error) {
	v, err := one("pick", a, kw)
	if err != nil {
		return nil, err
	}
	list, err := choices("pick", v)
	if err != nil {
		return nil, err
	}
	if list.Len() == 0 {
		return nil, fmt.Errorf("pick: the list is empty")
	}
	s, err := m.draws()
	if err != nil {
		return nil, err
	}
	return list.Index(s.IntN(list.Len())), nil
}

// weighted draws a key of a dict or a field name of a record, with probabilities proportional to the values.
func weighted(m *machine, a args, kw kwargs) (value.Value, error) {
	v, err := one("weighted", a, kw)
	if err != nil {
		return nil, err
	}
	table, ok := mapping(v)
	if !ok {
		return nil, value.NewError(fmt.Sprintf("weighted: got %s, want a dict", v.Type()), `write weighted({"a": 2, "b": 1})`)
	}
	n := starlark.Len(table)
	keys, sums := make([]value.Value, 0, min(n, 64)), make([]float64, 0, min(n, 64))
	total := 0.0
	err = m.Each(table, func(k value.Value) error {
		w, _, err := table.Get(k)
		if err != nil {
			return err
		}
		weight, ok := starlark.AsFloat(w)
		if !ok || value.CheckFloat(weight) != nil || weight < 0 {
			return value.NewError(fmt.Sprintf("weighted: the weight of %s is %s", value.Shown(k), value.Shown(w)), "a number of at least 0")
		}
		total += weight
		keys, sums = append(keys, k), append(sums, total)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !(total > 0) || math.IsInf(total, 0) {
		return nil, value.NewError(fmt.Sprintf("weighted: the weights add up to %v", total), "one of them must be above 0")
	}
	s, err := m.draws()
	if err != nil {
		return nil, err
	}
	at := s.Float64() * total
	last := 0
	for i, sum := range sums {
		if i == 0 && sum > 0 || i > 0 && sum > sums[i-1] { // has a weight
			last = i
			if at < sum {
				break
			}
		}
	}
	return keys[last], nil
}

// drawn returns a copy of a list that the caller may reorder.
func drawn(m *meter.Meter, name string, v value.Value) ([]value.Value, error) {
	if _, err := choices(name, v); err != nil {
		return nil, err
	}
	seq, err := iterable(name, v)
	if err != nil {
		return nil, err
	}
	return m.Collect(seq, meter.ElemSize)
}

// sample draws n different elements, in the order drawn.
func sample(m *machine, a args, kw kwargs) (value.Value, error) {
	if len(a) != 2 || len(kw) > 0 {
		return nil, value.NewError("sample takes a list and a count", "write sample(list, 3)")
	}
	n, err := starlark.AsInt32(a[1])
	if err != nil {
		return nil, fmt.Errorf("sample: count: %w", err)
	}
	elems, err := drawn(&m.Meter, "sample", a[0])
	if err != nil {
		return nil, err
	}
	if n < 0 || n > len(elems) {
		return nil, value.NewError(
			fmt.Sprintf("sample: cannot draw %d of %d elements", n, len(elems)),
			"use min(n, len(list)) where the list may be short",
		)
	}
	s, err := m.draws()
	if err != nil {
		return nil, err
	}
	for i := range n { // Fisher-Yates, for the first n elements only
		j := i + s.IntN(len(elems)-i)
		elems[i], elems[j] = elems[j], elems[i]
	}
	return starlark.NewList(elems[:n:n]), nil
}

// shuffle returns the elements in random order; the list itself does not change.
func shuffle(m *machine, a args, kw kwargs) (value.Value, error) {
	v, err := one("shuffle", a, kw)
	if err != nil {
		return nil, err
	}
	elems, err := drawn(&m.Meter, "shuffle", v)
	if err != nil {
		return nil, err
	}
	s, err := m.draws()
	if err != nil {
		return nil, err
	}
	s.Shuffle(len(elems), func(i, j int) { elems[i], elems[j] = elems[j], elems[i] })
	return starlark.NewList(elems), nil
}
