package experiment

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/script/value"
)

func plan(t interface {
	Helper()
	Fatal(args ...any)
}, text string,
) (*Experiment, *Plan) {
	t.Helper()
	e := mustRead(t, text)
	p, err := e.Plan(engine.DefaultSettings(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return e, p
}

// ids returns the IDs of a plan's runs, by point and seed.
func ids(e *Experiment, p *Plan) map[string]string {
	all := map[string]string{}
	for i := range p.Points {
		for k, seed := range p.Seeds {
			all[fmt.Sprint(e.Label(p.Points[i].Values), seed)] = p.Run(i, k)
		}
	}
	return all
}

// someExperiment draws lines of the keys of an experiment and of its vary.
func someExperiment(t *rapid.T) (vary []string, design string) {
	all := map[string]string{
		"params.share": "[0.1, 0.5, 0.9]", "params.agents": "[2, 3]", "params.mood": "[calm, angry]", "params.loud": "[true, false]",
		"settings.retries": "[1, 2]", "settings.max-concurrent": "[10, 20, 30]", "service.model.model": "[a, small]", "population.filter": "['', 'agent.age > 30']",
		"params.later": "[x, y, z]", "params.word": "{at: 3, levels: [x, y]}", "settings.cycles": "[4, 6, 9]",
	}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(all))), 1, 3, rapid.ID).Draw(t, "factors")
	for _, name := range names {
		vary = append(vary, "  "+name+": "+all[name])
	}
	return vary, rapid.SampledFrom([]string{"grid", "one-at-a-time", "{random: 7}", "{lhs: 6}", "{halton: 5}", "{morris: 3}", "{sobol: 4}"}).Draw(t, "design")
}

func write(vary []string, keys ...string) string {
	return "scenario: small\nvary:\n" + strings.Join(vary, "\n") + "\n" + strings.Join(keys, "\n") + "\n"
}

// TestIdentityOfContent checks that identities do not depend on order, layout or comments, and that a fork always comes
// after its parent and every run is there once.
func TestIdentityOfContent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vary, design := someExperiment(t)
		e, p := plan(t, write(vary, "design: "+design, "replicates: 3", "measures: [acted]"))
		turned := rapid.Permutation(vary).Draw(t, "order")
		for i := range turned {
			turned[i] += "   # why"
		}
		text := "# a comment\nmeasures: [error_rate, acted]\nreplicates: {seeds: [1, 2, 3]}\ndesign: " + design + "\nvary:\n" + strings.Join(turned, "\n\n") + "\nscenario: 'small'\ntitle: Another\n"
		e2, p2 := plan(t, text)
		if !reflect.DeepEqual(p.Runs, p2.Runs) || !reflect.DeepEqual(ids(e, p), ids(e2, p2)) {
			t.Fatalf("%s\nhas other runs than\n%s", text, write(vary, design))
		}
		seen := map[string]bool{}
		for _, r := range p.Runs {
			if seen[r.ID] || len(r.ID) != 64 {
				t.Fatalf("the run %s is there twice", r.ID)
			}
			if r.Parent != "" && !seen[r.Parent] || (r.Parent == "") != (r.ForkCycle == 0) {
				t.Fatalf("%+v comes before the run that it forks", r)
			}
			seen[r.ID] = true
		}
		for i := range p.Points {
			for k := range p.Seeds {
				if !seen[p.Run(i, k)] {
					t.Fatalf("point %d has no run with seed %d", i, p.Seeds[k])
				}
			}
		}
	})
}

// TestBalance checks that in any prefix of the runs, no point has two replicates more than another.
func TestBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vary, design := someExperiment(t)
		_, p := plan(t, write(vary, "design: "+design, "replicates: 4"))
		hashes := map[string]int{}
		for i := range p.Points {
			hashes[p.Points[i].Hash] = 0
		}
		for _, r := range p.Runs {
			if r.Point < 0 {
				continue
			}
			hashes[p.Points[r.Point].Hash]++
			counts := slices.Sorted(maps.Values(hashes))
			if counts[len(counts)-1]-counts[0] > 1 {
				t.Fatalf("after %d runs of point %d: %v", r.Replicate, r.Point, counts)
			}
		}
	})
}

// TestShuffledOrder checks that seeds have different orders, which the experiment's seed changes.
func TestShuffledOrder(t *testing.T) {
	order := func(seed int) (all [2]string) {
		_, p := plan(t, write([]string{"  params.share: {from: 0, to: 1, step: 0.1}"}, "replicates: 2", fmt.Sprint("seed: ", seed)))
		for _, r := range p.Runs {
			all[r.Replicate] += fmt.Sprint(r.Point, " ")
		}
		return all
	}
	a, again, b := order(1), order(1), order(2)
	if a[0] == a[1] || a != again || a == b {
		t.Errorf("orders: %q, again %q, with another seed %q", a, again, b)
	}
}

// TestExtension checks that further points, seeds, measures and factors at their defaults keep the runs there are.
func TestExtension(t *testing.T) {
	base := []string{"  params.share: [0.1, 0.9]", "  params.word: {at: 3, levels: [x]}"}
	_, p := plan(t, write(base, "replicates: 3", "measures: [acted]"))
	for name, text := range map[string]string{
		"a level":                     write([]string{"  params.share: [0.1, 0.3, 0.9]", base[1]}, "replicates: 3"),
		"seeds":                       write(base, "replicates: 5"),
		"a measure":                   write(base, "replicates: 3", "measures: [acted, cost]"),
		"a factor at its default":     write(append([]string{"  params.mood: [calm, angry]", "  settings.retries: [5, 4]", "  service.model.model: [small, x]", "  population.filter: ['', 'True']"}, base...), "replicates: 3"),
		"a setting of speed":          write(base, "replicates: 3", "settings: {max-concurrent: 7, checkpoint-interval: 1m}"),
		"a setting at its default":    write(base, "replicates: 3", "settings: {cycles: 10}"),
		"another title and a budget":  write(base, "replicates: 3", "title: x", "budget: {usd: 1}", "parallel: 3"),
		"another seed of the order":   write(base, "replicates: 3", "seed: 9"),
		"the same values with a zero": write([]string{"  params.share: [0.10, 0.90]", base[1]}, "replicates: 3"),
	} {
		_, more := plan(t, text)
		for _, r := range p.Runs {
			if !slices.ContainsFunc(more.Runs, func(other Run) bool { return other.ID == r.ID }) {
				t.Errorf("%s: the run of point %d with seed %d is missing", name, r.Point, r.Seed)
			}
		}
		done := map[string]bool{}
		for _, r := range p.Runs {
			done[r.ID] = true
		}
		if left := more.Missing(func(id string) bool { return done[id] }); len(left)+len(p.Runs) != len(more.Runs) {
			t.Errorf("%s: %d runs are missing of %d, and %d are done", name, len(left), len(more.Runs), len(p.Runs))
		}
	}
	for name, text := range map[string]string{
		"a setting":          write(base, "replicates: 3", "settings: {cycles: 11}"),
		"a setting of speed": write(append([]string{"  settings.max-concurrent: [10, 20]"}, base...), "replicates: 3"),
	} {
		_, other := plan(t, text)
		for _, r := range other.Runs {
			if r.Point >= 0 && slices.ContainsFunc(p.Runs, func(x Run) bool { return x.ID == r.ID }) { // a prefix may be the same
				t.Errorf("%s: the run of point %d is the same", name, r.Point)
			}
		}
	}
}

// TestIdentityHasTheValuesInForce checks that a point's parameters are those of the scenario that its setup reads.
func TestIdentityHasTheValuesInForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vary, design := someExperiment(t)
		e, p := plan(t, write(vary, "design: "+design, "replicates: 1"))
		for _, x := range p.Points {
			setup, err := e.Setup(x.Values)
			if err != nil {
				t.Fatal(err)
			}
			s, err := setup.Scenario()
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range x.Values {
				switch f := &e.Factors[i]; f.Kind {
				case Parameter:
					if got := s.Source.Parameters[f.Path[0]]; got != v.JSON {
						t.Fatalf("%s: got %s, want %s", f.Name, got, v.JSON)
					}
				case Service:
					if got := s.Service("model").Models; !slices.Contains(got, v.Text) {
						t.Fatalf("models: got %v, want %s", got, v.Text)
					}
				case RunSetting:
					if !slices.Contains(setup.Settings, engine.Assignment{Name: f.Path[0], Value: v.Text}) {
						t.Fatalf("settings: got %v, want %s", setup.Settings, v.Text)
					}
				case Filter:
					if setup.Filter != v.Text || !setup.Filters {
						t.Fatalf("filter: got %q, want %q", setup.Filter, v.Text)
					}
				}
			}
		}
	})
}

// TestScenarioChangesIdentity checks that another scenario has other runs.
func TestScenarioChangesIdentity(t *testing.T) {
	of := func(text string) string {
		s, err := scenario.Read("small.yaml", only("small.yaml", text), nil)
		if err != nil {
			t.Fatal(err)
		}
		e, err := Read("x", only("x", "scenario: s\n"), func(string, map[string]string) (*scenario.Scenario, error) { return s, nil })
		if err != nil {
			t.Fatal(err)
		}
		p, err := e.Plan(engine.DefaultSettings(), 1)
		if err != nil {
			t.Fatal(err)
		}
		return p.Runs[0].ID
	}
	if of(small) == of(strings.Replace(small, "Say", "Tell", 1)) {
		t.Error("another prompt has the same run")
	}
	if of(small) == of(strings.Replace(small, "default: 3,", "default: 4,", 1)) {
		t.Error("another default has the same run")
	}
}

// TestAt checks that a factor with a cycle forks the baseline: a point if there is one, else a prefix.
func TestAt(t *testing.T) {
	e, p := plan(t, write([]string{"  params.word: {at: 3, levels: [hello, x, y]}"}, "replicates: 2"))
	if len(p.Runs) != 6 {
		t.Fatalf("got %d runs, want 6", len(p.Runs))
	}
	for _, r := range p.Runs {
		switch r.Values[0].Text {
		case "hello":
			if r.Parent != "" || !slices.Equal(r.Checkpoints, []int{3}) {
				t.Errorf("the baseline: got %+v", r)
			}
		default:
			if r.Parent != p.Run(0, r.Replicate) || r.ForkCycle != 3 {
				t.Errorf("%s: got %+v", e.Label(r.Values), r)
			}
		}
	}

	e, p = plan(t, write([]string{"  params.word: {at: 3, levels: [x, y]}", "  params.loud: {at: 5, levels: [true]}"}, "replicates: 1"))
	var prefixes, forks []Run
	for _, r := range p.Runs {
		if r.Point < 0 {
			prefixes = append(prefixes, r)
		} else {
			forks = append(forks, r)
		}
	}
	// Both points change their word at 3 and get loud at 5: they fork at 5 from prefixes of 5 cycles with their word, which
	// fork at 3 from one prefix of 3 cycles.
	if len(forks) != 2 || len(prefixes) != 3 || forks[0].ForkCycle != 5 || forks[1].ForkCycle != 5 || forks[0].Parent == forks[1].Parent {
		t.Errorf("prefixes %+v, forks %+v", prefixes, forks)
	}
	if r := p.Runs[0]; r.Point != -1 || r.Cycles != 3 || !slices.Equal(r.Checkpoints, []int{3}) {
		t.Errorf("the first run: got %+v", r)
	}
	setup, err := e.SetupRun(&p.Runs[0])
	if want := []engine.Assignment{{Name: "seed", Value: "1"}, {Name: "cycles", Value: "3"}}; err != nil || !slices.Equal(setup.Settings, want) || setup.Parameters["word"] != "hello" {
		t.Errorf("the setup of the first run: got %+v, %v", setup, err)
	}
	if left := p.Missing(func(id string) bool { return id == forks[0].ID }); len(left) != 3 {
		t.Errorf("got %d missing runs, want the other fork and its two prefixes", len(left))
	}
	if left := p.Missing(func(id string) bool { return id == forks[0].ID || id == forks[1].ID }); len(left) != 0 {
		t.Errorf("got %d missing runs, want none", len(left))
	}
}

// TestSharedPrefixes checks that points that differ only from a cycle on fork one run.
func TestSharedPrefixes(t *testing.T) {
	_, p := plan(t, write([]string{"  params.later: [x, y, z]", "  params.share: [0.1, 0.9]"}, "replicates: 1"))
	forks := map[string]int{}
	for _, r := range p.Runs {
		if r.Parent != "" {
			forks[r.Parent]++
			if r.ForkCycle != 4 {
				t.Errorf("got %+v, want a fork at the intervention in cycle 4", r)
			}
		}
	}
	if len(forks) != 2 {
		t.Errorf("got forks of %d runs, want one for each share", len(forks))
	}

	e, p := plan(t, write([]string{"  settings.cycles: [9, 3, 6]"}, "replicates: 1"))
	var got []string
	for _, r := range p.Runs {
		got = append(got, fmt.Sprint(e.Label(r.Values), " from ", r.ForkCycle, " checkpoints ", r.Checkpoints))
	}
	if want := "settings.cycles=3 from 0 checkpoints [2]; settings.cycles=6 from 2 checkpoints [5]; settings.cycles=9 from 5 checkpoints []"; strings.Join(got, "; ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "; "), want)
	}
}

// TestComputedCycles checks that runs do not fork after their end if a parameter decides how long they are.
func TestComputedCycles(t *testing.T) {
	text := strings.Replace(small, "cycles: 10", "cycles: '${params.agents}'", 1)
	loader := func(string, map[string]string) (*scenario.Scenario, error) {
		return scenario.Read("small.yaml", only("small.yaml", text), nil)
	}
	e, err := Read("x", only("x", "scenario: s\nvary: {params.later: [x, y], params.agents: [3, 4, 5, 8]}\n"), loader)
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.Plan(engine.DefaultSettings(), 1)
	if err != nil {
		t.Fatal(err)
	}
	forks := map[string]int{}
	for _, r := range p.Runs {
		forks[r.Values[0].Text] += r.ForkCycle // of agents
	}
	if want := map[string]int{"3": 0, "4": 0, "5": 4, "8": 4}; !maps.Equal(forks, want) {
		t.Errorf("forks by length: got %v, want %v", forks, want)
	}
	if _, err = Read("x", only("x", "scenario: s\nvary: {params.word: {at: 4, levels: [x]}, params.agents: [3, 8]}\n"), loader); err == nil || !strings.Contains(err.Error(), "there are runs with 3 cycles") {
		t.Errorf("got %v", err)
	}
}

// TestNoSharedPrefixes checks that runs do not share a prefix if something else uses the parameter, or if agents change
// something that a fork cannot take back.
func TestNoSharedPrefixes(t *testing.T) {
	for name, text := range map[string]string{
		"another use":      strings.Replace(small, "be ${params.mood}", "be ${params.later}", 1),
		"in a function":    strings.Replace(small, "chain c:", "functions: |\n  p = params\n  q = p.later\nchain c:", 1),
		"all parameters":   strings.Replace(small, "be ${params.mood}", "be ${json.encode(params)}", 1),
		"a real service":   strings.Replace(strings.Replace(small, "mock:shop", "'https://shop.example.com'", 1), "get: /api", "post: /api", 1),
		"the first cycle":  strings.Replace(small, "{cycle: 4,", "{cycle: 0,", 1),
		"no interventions": strings.Replace(small, "${params.later}", "hello", 1),
	} {
		e, err := Read("x", only("x", "scenario: s\nvary: {params.later: [x, y]}\n"), func(string, map[string]string) (*scenario.Scenario, error) {
			return scenario.Read("small.yaml", only("small.yaml", text), nil)
		})
		if err != nil {
			t.Fatal(name, err)
		}
		p, err := e.Plan(engine.DefaultSettings(), 2)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, r := range p.Runs {
			if r.Parent != "" || len(r.Checkpoints) > 0 {
				t.Errorf("%s: got %+v", name, r)
			}
		}
	}
}

// TestPoints checks a list of points, which name their factors themselves.
func TestPoints(t *testing.T) {
	e, p := plan(t, "scenario: small\ndesign: {points: [{params.share: 0.2, params.mood: angry}, {params.share: 0.7}, {params.share: 0.2, params.mood: angry}]}\nbaseline: {params.share: 0.3}\n")
	var got []string
	for _, x := range p.Points {
		got = append(got, e.Label(x.Values))
	}
	want := "params.mood=angry, params.share=0.2; params.mood=calm, params.share=0.7; params.mood=calm, params.share=0.3"
	if strings.Join(got, "; ") != want || p.Baseline != 2 {
		t.Errorf("got %s, baseline %d, want %s", strings.Join(got, "; "), p.Baseline, want)
	}
}

// TestMorrisKeepsItsPoints checks that repeated points of a structured design stay, and share their runs.
func TestMorrisKeepsItsPoints(t *testing.T) {
	_, p := plan(t, write([]string{"  params.loud: [false, true]"}, "design: {morris: 6}", "replicates: 2"))
	if len(p.Points) != 12 || len(p.Runs) != 4 {
		t.Errorf("got %d points and %d runs, want 12 and 4", len(p.Points), len(p.Runs))
	}
}

func TestTooManyRuns(t *testing.T) {
	e := mustRead(t, write([]string{"  params.share: {from: 0, to: 1, step: 0.001}"}))
	if _, err := e.Plan(engine.DefaultSettings(), 1000); err == nil || !strings.Contains(err.Error(), "1001000 runs, more than 1000000") {
		t.Errorf("got %v", err)
	}
}

// TestInvalidSettings checks that a plan refuses settings that contradict each other, and names the point.
func TestInvalidSettings(t *testing.T) {
	e := mustRead(t, write([]string{"  settings.max-concurrent: [10, -1]"}))
	if _, err := e.Plan(engine.DefaultSettings(), 1); err == nil || !strings.Contains(err.Error(), "settings.max-concurrent=-1") {
		t.Errorf("got %v", err)
	}
}

// TestSettingsAreClassified checks that each setting is known to change results or known not to, so that a new one is
// decided on.
func TestSettingsAreClassified(t *testing.T) {
	others := []string{
		"max-concurrent", "governor", "floor", "ceiling", "cpu-high", "cpu-low", "memory-high", "memory-low", "preset", "batch", "breaker", "sequential-steps",
		"seed", "retry-wait", "retry-max-wait", "stall-warning", "max-llm-calls", "llm-rate", "sequential-personas", "checkpoint-interval", "checkpoint-cycles", "keep-checkpoints",
		"remote-checkpoints", "metrics", "keep-share", "keep-content", "record", "memory-budget", "keep-awake", "manual-limit", "mock-latency", "remote", "cleanup-of",
	}
	for i := range engine.SettingTable {
		name := engine.SettingTable[i].Name
		if slices.Contains(resultSettings, name) == slices.Contains(others, name) {
			t.Errorf("decide whether %s can change results", name)
		}
	}
	if n := len(resultSettings) + len(others); n != len(engine.SettingTable) {
		t.Errorf("%d names, and %d settings", n, len(engine.SettingTable))
	}
}

// TestCanonicalParameters checks that a value has the same JSON as in a run's source.
func TestCanonicalParameters(t *testing.T) {
	s, err := load("small", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Parameters {
		p := &s.Parameters[i]
		text, _ := value.Text(p.Default)
		v, err := parameterValue(p, text)
		if err != nil || v.JSON != s.Source.Parameters[p.Name] {
			t.Errorf("%s: got %+v, %v, want %s", p.Name, v, err, s.Source.Parameters[p.Name])
		}
	}
}

// BenchmarkPlan plans a large Sobol design.
func BenchmarkPlan(b *testing.B) {
	e := mustRead(b, write([]string{"  params.share: {from: 0, to: 1}", "  params.agents: {from: 1, to: 100}", "  service.model.limits.concurrent: {from: 1, to: 100}", "  settings.retries: [1, 2, 3]"}, "design: {sobol: 4096}", "replicates: 4"))
	for b.Loop() {
		p, err := e.Plan(engine.DefaultSettings(), 0)
		if err != nil || len(p.Points) != 4096*6 {
			b.Fatal(err)
		}
	}
}
