package draft_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/draft"
	"github.com/throng-sim/throng/engine/view"
)

// some draws a draft as a person would fill the form.
func some(t *rapid.T) draft.Draft {
	pick := func(name string, from ...string) string { return rapid.SampledFrom(from).Draw(t, name) }
	d := draft.Draft{
		Title: pick("title", "", "Prices", "It is: 5%, # or not", "12"), Scenario: pick("scenario", "shopping", "../a b/c.yaml"),
		Seeds: pick("seeds", "", "3", "1, 2, 7", "[5]"), Parallel: pick("parallel", "", "2"),
		Budget: draft.Budget{USD: pick("usd", "", "1.5"), Time: pick("time", "", "8h", "90")},
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"params.a", "params.b_c", "settings.max-concurrent", "service.model.model", "population.filter"}), 0, 4, rapid.ID).Draw(t, "names") {
		d.Factors = append(d.Factors, draft.Factor{
			Name: name, Varied: true,
			Levels: pick("levels", "0.5, 1, 2", "0 to 1", "0 to 1 step 0.25", "1 to 1000 log", "1 to 1000 log 7 points", "-1 to 2.5 5 points from cycle 3", "small, large", "true, false", `"1", "a, b", ""`,
				"yes, no from cycle 2", `"hi" said, b`, "${x}, a: b"),
			Baseline: pick("baseline", "", "1", "small", `"a, b"`),
		})
	}
	switch kind := pick("design", append([]string{""}, draft.Kinds()...)...); {
	case slices.Contains(draft.Counted(), kind):
		d.Design = draft.Design{Kind: kind, N: pick("n", "8", "40", "x")}
		if kind == "morris" {
			d.Design.Levels = pick("morris levels", "", "6")
		}
	default:
		d.Design.Kind = kind
	}
	if rapid.Bool().Draw(t, "until") {
		d.Until = draft.Until{HalfWidth: pick("half width", "5%", "0.02"), Of: pick("of", "acted", "events.order"), AtMost: pick("at most", "", "40")}
	}
	if rapid.Bool().Draw(t, "measured") {
		d.Measures = rapid.SliceOfDistinct(rapid.SampledFrom([]string{"acted", "events.order.final_total.mean", "cost"}), rapid.ID).Draw(t, "measures")
	}
	for _, name := range []string{"cycles", "warm-up"} {
		if v := pick("setting", "", "24", "on"); v != "" {
			d.Set(name, v)
		}
	}
	return d
}

// TestYAMLReads checks that the file of a draft has the same draft, and that other drafts written into it are the drafts that it then has.
func TestYAMLReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, other := some(t), some(t)
		text := d.YAML()
		if got, err := draft.Read("e", text); err != nil || !reflect.DeepEqual(got, d) {
			t.Fatalf("%v\ngot  %+v\nwant %+v\nin\n%s", err, got, d, text)
		}
		if same, err := d.Edit("e", text); err != nil || string(same) != string(text) {
			t.Fatalf("an untouched draft changed, %v:\n%s\n%s", err, text, same)
		}
		edited, err := other.Edit("e", text)
		if err != nil {
			t.Fatalf("%v\nin\n%s", err, text)
		}
		got, err := draft.Read("e", edited)
		byName := func(a, b draft.Factor) int { return strings.Compare(a.Name, b.Name) }
		slices.SortFunc(got.Factors, byName)
		slices.SortFunc(other.Factors, byName)
		slices.SortFunc(got.Settings, func(a, b draft.Setting) int { return strings.Compare(a.Name, b.Name) })
		if err != nil || !reflect.DeepEqual(got, other) {
			t.Fatalf("%v\ngot  %+v\nwant %+v\nin\n%s\nfrom\n%s", err, got, other, edited, text)
		}
	})
}

// commented is a file with all that a form does not show.
const commented = `# why
title: Prices   # a title
scenario: shopping
vary: # what varies
  params.eagerness: [0.5, 1,  2] # so
  params.llm_share: {from: 0, to: 1, step: 0.25, at: 3}
  # params.agents: [10]
design: {points: [{params.eagerness: 1}]} # listed
replicates: 4
baseline: {params.eagerness: 1} # compared

measures:
  - acted # first
  - cost
functions: |
  def f(run):
      return 1
seed: 7
# the end
`

// TestEditKeepsTheRest edits one thing after another. All other lines stay as they are.
func TestEditKeepsTheRest(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(d *draft.Draft)
		old, new string
	}{
		{"nothing", func(*draft.Draft) {}, "", ""},
		{"levels", func(d *draft.Draft) { d.Factors[0].Levels = "1, 3" }, "[0.5, 1,  2] # so", "[1, 3] # so"},
		{"a range", func(d *draft.Draft) { d.Factors[1].Levels = "0 to 1" }, "{from: 0, to: 1, step: 0.25, at: 3}", "{from: 0, to: 1}"},
		{"not varied", func(d *draft.Draft) { d.Factors[1].Varied = false }, "  params.llm_share: {from: 0, to: 1, step: 0.25, at: 3}\n", ""},
		{"varied", func(d *draft.Draft) {
			d.Factors = append(d.Factors, draft.Factor{Name: "settings.cycles", Levels: "1, 2", Varied: true})
		}, "at: 3}\n", "at: 3}\n  settings.cycles: [1, 2]\n"},
		{"the design", func(d *draft.Draft) { d.Design.Kind = "grid" }, "{points: [{params.eagerness: 1}]} # listed", "grid # listed"},
		{"seeds", func(d *draft.Draft) { d.Seeds = "9" }, "replicates: 4", "replicates: 9"},
		{"until", func(d *draft.Draft) { d.Until = draft.Until{HalfWidth: "5%", Of: "acted"} }, "replicates: 4", "replicates: {seeds: 4, until: {half_width: 5%, of: acted}}"},
		{"no baseline", func(d *draft.Draft) { d.Factors[0].Baseline = "" }, "baseline: {params.eagerness: 1} # compared\n", ""},
		{"the title", func(d *draft.Draft) { d.Title = "5% more" }, "Prices   #", `"5% more"   #`},
		{"a budget", func(d *draft.Draft) { d.Budget = draft.Budget{USD: "20", Time: "8h"} }, "# the end\n", "# the end\nbudget:\n  usd: 20\n  time: 8h\n"},
	} {
		d, err := draft.Read("e", []byte(commented))
		if err != nil {
			t.Fatal(err)
		}
		c.change(&d)
		got, err := d.Edit("e", []byte(commented))
		if want := strings.Replace(commented, c.old, c.new, 1); err != nil || string(got) != want {
			t.Errorf("%s: %v, got\n%s", c.name, err, got)
		}
	}
}

// TestTheSampleReads checks a file as the program writes it.
func TestTheSampleReads(t *testing.T) {
	text, err := os.ReadFile("../testdata/shopping.experiment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := draft.Read("e", text)
	if err != nil || len(d.Factors) != 2 || d.Factors[0] != (draft.Factor{Name: "params.eagerness", Varied: true, Levels: "0.5, 1, 2", Baseline: "1"}) || d.Seeds != "10" || d.Design.Kind != "grid" {
		t.Errorf("%v: %+v", err, d)
	}
	if got, err := d.Edit("e", text); err != nil || string(got) != string(text) {
		t.Errorf("%v: it became\n%s", err, got)
	}
	if _, err := draft.Read("e", []byte("a: [")); err == nil {
		t.Error("a file that is not YAML can be read")
	}
}

// TestMistakesAreLocated writes mistakes into fields, and finds the fields from where they are in the file.
func TestMistakesAreLocated(t *testing.T) {
	valid := draft.Draft{Scenario: "x", Factors: []draft.Factor{{Name: "params.a", Varied: true, Levels: "1, 2", Baseline: "1"}, {Name: "params.b", Varied: true, Levels: "1, 2"}}, Measures: []string{"acted"}}
	for _, c := range []struct {
		field  string
		change func(d *draft.Draft)
	}{
		{"vary.params.a", func(d *draft.Draft) { d.Factors[0].Levels = "1, 1" }},
		{"vary.params.b", func(d *draft.Draft) { d.Factors[1].Levels = "" }},
		{"vary.params.b", func(d *draft.Draft) { d.Factors[1].Levels = "2 to 1" }},
		{"design", func(d *draft.Draft) { d.Design.Kind = "lhs" }},
		{"design", func(d *draft.Draft) { d.Design = draft.Design{Kind: "lhs", N: "many"} }},
		{"replicates.seeds", func(d *draft.Draft) { d.Seeds = "0" }},
		{"replicates.until", func(d *draft.Draft) { d.Until = draft.Until{HalfWidth: "5%", Of: "cost"} }},
		{"baseline.params.a", func(d *draft.Draft) { d.Factors[0].Baseline = "7" }},
		{"measures", func(d *draft.Draft) { d.Measures = []string{"luck"} }},
		{"settings.luck", func(d *draft.Draft) { d.Set("luck", "1") }},
		{"budget.usd", func(d *draft.Draft) { d.Budget.USD = "much" }},
		{"budget.time", func(d *draft.Draft) { d.Budget.Time = "long" }},
		{"parallel", func(d *draft.Draft) { d.Parallel = "0" }},
		{"", func(d *draft.Draft) { d.Scenario = "" }},
	} {
		d := valid.Clone()
		c.change(&d)
		text := d.YAML()
		_, err := experiment.Read("e", func(string) ([]byte, error) { return text, nil }, nil)
		problems, ok := err.(interface{ Problems() []view.Problem })
		if !ok {
			t.Errorf("%s: %v in\n%s", c.field, err, text)
			continue
		}
		found := draft.Locate("e", text, problems.Problems())
		if c.field != "" && found[0].Field != c.field {
			t.Errorf("%s: found %+v in\n%s", c.field, found, text)
		}
	}
}
