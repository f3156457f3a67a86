package experiment

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/draft"
)

// TestSuggest checks that the suggestion for each scenario can be read and planned, and so can every factor and measure that is offered.
func TestSuggest(t *testing.T) {
	for name, want := range map[string]string{
		"shopping": "params.eagerness: [0.5, 1, 2]", "conversation": "params.", "world": "params.", "analysis": "settings.cycles: [1, 2]", "small": "params.share: [0.25, 0.5, 1]",
	} {
		s, err := load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, choices := Suggest(s, name)
		e, err := read(string(d.YAML()))
		if err != nil || !strings.Contains(string(d.YAML()), want) {
			t.Errorf("%s: %v in\n%s", name, err, d.YAML())
			continue
		}
		if p, err := e.Plan(engine.DefaultSettings(), 0); err != nil || len(p.Points) < 2 || p.Baseline < 0 {
			t.Errorf("%s: %v", name, err)
		}
		for i := range d.Factors {
			d.Factors[i].Varied = true
		}
		d.Measures, d.Design.Kind = choices.Measures, "one-at-a-time"
		if _, err := read(string(d.YAML())); err != nil {
			t.Errorf("%s, with everything: %v in\n%s", name, err, d.YAML())
		}
		if !slices.Contains(choices.Further, "settings.max-concurrent") || len(choices.Usual) == 0 {
			t.Errorf("%s: the choices are %+v", name, choices)
		}
	}
}

func TestSuggestedMeasures(t *testing.T) {
	s, err := load("shopping", nil)
	if err != nil {
		t.Fatal(err)
	}
	d, choices := Suggest(s, "shopping")
	if want := []string{"acted", "events.abandoned", "events.order", "error_rate", "latency_p95", "cost"}; !slices.Equal(d.Measures, want) {
		t.Errorf("measures: %v", d.Measures)
	}
	for _, want := range []string{"events.abandoned.value.mean", "request_p95", "tokens", "outcomes.failed"} {
		if !slices.Contains(choices.Measures, want) {
			t.Errorf("%s is missing in %v", want, choices.Measures)
		}
	}
	if f := choices.Factor("params.eagerness"); f.Usual != "1" || !strings.Contains(f.About, "usually 1") || choices.Factor("params.x") != (draft.Choice{}) {
		t.Errorf("eagerness: %+v", f)
	}
}

func TestUnfit(t *testing.T) {
	factor := func(name, levels string) draft.Factor { return draft.Factor{Name: name, Levels: levels, Varied: true} }
	for _, c := range []struct {
		name    string
		factors []draft.Factor
		want    []string
	}{
		{"lists", []draft.Factor{factor("params.a", "1, 2"), factor("params.b", "x, y")}, nil},
		{"a range", []draft.Factor{factor("params.a", "1 to 2"), factor("params.b", "x, y")}, []string{"grid", "zip"}},
		{"lists of different lengths", []draft.Factor{factor("params.a", "1, 2, 3"), factor("params.b", "x, y")}, []string{"zip"}},
		{"one level", []draft.Factor{factor("params.a", "1")}, []string{"morris"}},
		{"nothing", []draft.Factor{{Name: "params.a", Levels: "1, 2"}}, []string{"halton", "lhs", "morris", "one-at-a-time", "random", "sobol", "zip"}},
		{"a mistake", []draft.Factor{factor("params.a", "1, 1")}, nil},
	} {
		var got []string
		for kind, why := range Unfit(&draft.Draft{Factors: c.factors}) {
			if got = append(got, kind); why.Error() == "" {
				t.Errorf("%s: %s has no reason", c.name, kind)
			}
		}
		slices.Sort(got)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v do not fit; want %v", c.name, got, c.want)
		}
	}
}
