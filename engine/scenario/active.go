package scenario

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/memory"
	"github.com/throng-sim/throng/engine/script/value"
)

// Active is [Program.Choose] for a run: if no agent is left of some, the error says which filter matches none, and what values the
// attributes in it have.
func (p *Program) Active(ctx context.Context, s *engine.Settings) ([]int, error) {
	chosen, err := p.Choose(ctx, s)
	if err != nil || chosen == nil || len(chosen) > 0 || p.s.Agents == 0 {
		return chosen, err
	}
	wrong, err := p.unmatched(ctx, s)
	if err != nil {
		return nil, err
	}
	return nil, wrong
}

// unmatched describes filters that are valid and match no agent.
func (p *Program) unmatched(ctx context.Context, s *engine.Settings) (*engine.FieldError, error) {
	var among []int // nil for all
	of := "matches none of " + engine.Counted(int64(p.s.Agents), "agent", "agents")
	if len(s.Agents) > 0 {
		named, err := p.Find(s.Agents)
		if err != nil {
			return nil, err
		}
		among, of = named, "matches none of the "+engine.Counted(int64(len(named)), "chosen agent", "chosen agents")
	}
	f := p.s.population.filter
	if f != nil {
		left, err := (finder{p}).sift(ctx, []*filter{f}, among)
		if err != nil {
			return nil, err
		}
		if len(left) > 0 {
			among, of, f = left, "matches none of the "+engine.Counted(int64(len(left)), "agent", "agents")+" that the filter of the scenario leaves", nil
		}
	}
	wrong := &engine.FieldError{Field: "filter"}
	if f == nil {
		var err error
		if f, err = p.s.population.runFilter(s.Filter); err != nil {
			return nil, err
		}
	} else {
		line, col := f.at.Position()
		wrong.Problem = fmt.Sprintf("%s:%d:%d: ", f.at.File(), line, col)
	}
	wrong.Problem += quoted(strings.TrimSpace(f.expr.Source())) + " " + strings.Replace(of, "matches none of the 1 ", "does not match the ", 1)
	var err error
	wrong.Hint, err = p.valuesOf(ctx, f, among)
	return wrong, err
}

// valuesOf says which values the attributes in a filter have among agents; nil is all.
func (p *Program) valuesOf(ctx context.Context, f *filter, among []int) (string, error) {
	var names []string
	for _, ref := range f.expr.Refs("agent").Fields {
		if !slices.Contains(names, ref.Name) {
			names = append(names, ref.Name)
		}
	}
	found := make([]values, len(names))
	n := len(among)
	if among == nil {
		n = p.s.Agents
	}
	for i := range n {
		index := i
		if among != nil {
			index = among[i]
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		a := newAgent(&p.s.population, p.seed, index, memory.New(nil))
		for k, name := range names {
			if v, err := a.Field(name); err == nil {
				found[k].add(v)
			}
		}
	}
	var list []string
	for k, name := range names {
		if text := found[k].String(); text != "" {
			list = append(list, "agent."+name+" is "+text)
		}
	}
	return strings.Join(list, "; "), nil
}

// values are those of an attribute, of several agents.
type values struct {
	numbers   int
	low, high value.Value
	texts     []string // different ones, in the order of agents
	known     map[string]bool
	more      int  // texts that are not kept
	absent    bool // an agent has no value
}

const (
	shownValues = 5
	keptValues  = 10_000
)

func (v *values) add(one value.Value) {
	switch one := one.(type) {
	case nil, starlark.NoneType:
		v.absent = true
	case starlark.Int, starlark.Float:
		if v.numbers++; v.numbers == 1 {
			v.low, v.high = one, one
			return
		}
		if less, err := starlark.Compare(syntax.LT, one, v.low); err == nil && less {
			v.low = one
		}
		if less, err := starlark.Compare(syntax.LT, v.high, one); err == nil && less {
			v.high = one
		}
	default:
		if one == value.Missing {
			v.absent = true
			return
		}
		text := value.Shown(one)
		if v.known[text] {
			return
		}
		if len(v.known) == keptValues {
			v.more++
			return
		}
		if v.known == nil {
			v.known = map[string]bool{}
		}
		v.known[text] = true
		v.texts = append(v.texts, text)
	}
}

// String returns "18 to 90", or the first of the texts.
func (v *values) String() string {
	var list []string
	if v.numbers > 0 {
		low, high := figure(v.low), figure(v.high)
		if low != high {
			low = "from " + low + " to " + high
		}
		list = append(list, low)
	}
	shown := v.texts[:min(len(v.texts), shownValues)]
	list = append(list, shown...)
	switch more := len(v.texts) - len(shown); {
	case v.more > 0:
		list = append(list, "one of many others")
	case more > 0:
		list = append(list, "one of "+engine.FormatCount(int64(more))+" more")
	}
	if v.absent {
		list = append(list, "absent")
	}
	if last := len(list) - 1; last > 0 {
		return strings.Join(list[:last], ", ") + " or " + list[last]
	}
	return strings.Join(list, "")
}

// figure formats a number with up to four digits after the point.
func figure(v value.Value) string {
	if f, ok := v.(starlark.Float); ok {
		text := strconv.FormatFloat(float64(f), 'f', 4, 64)
		return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return value.Shown(v)
}
