package scenario

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
	"pgregory.net/rapid"
)

// neighbours are the rows of a population file.
const neighbours = "id,age,city\nann,30,Ulm\nbob,41,Bonn\ncay,,Ulm\ndan,55,Ulm\neve,18,Bonn\n"

func choose(s *Scenario, filter string, ids ...string) ([]int, error) {
	return s.Program(7).Choose(context.Background(), &engine.Settings{Selection: engine.Selection{Filter: filter, Agents: ids}})
}

func TestChoose(t *testing.T) {
	tests := []struct {
		population, run, agents, want string
	}{
		{"", "", "", "[]"}, // nil: all
		{"", " ", "", "[]"},
		{"", "", "eve,ann", "[0 4]"},
		{"", "agent.city == 'Ulm'", "", "[0 2 3]"},
		{"", "agent.city == 'Ulm'", "eve,ann", "[0]"},
		{"agent.city == 'Ulm'", "", "", "[0 2 3]"},
		{"agent.city == 'Ulm'", "get(agent, 'age', 99) > 50", "", "[2 3]"},
		{"agent.city == 'Ulm'", "get(agent, 'age', 99) > 50", "bob,cay", "[2]"},
		{"agent.age", "", "", "[0 1 3 4]"},
		{"old(agent)", "", "", "[1 3]"},
		{"", "old(agent)", "", "[1 3]"},
		{"", "agent.age and agent.double > 2 * params.age", "", "[1 3]"},
		{"agent.id in ['bob', 'eve']", "agent.index > 1", "", "[4]"},
		{"", "agent.age and\n  not old(agent) # young", "", "[0 4]"},
		{"true", "True", "", "[0 1 2 3 4]"},
		{"", "agent.city == 'Rome'", "", "[] empty"},
		{"agent.city == 'Ulm'", "agent.city == 'Bonn'", "", "[] empty"},
		{"", "agent.city == 'Ulm'", "bob", "[] empty"},
	}
	for _, tt := range tests {
		t.Run(tt.population+"|"+tt.run+"|"+tt.agents, func(t *testing.T) {
			lines := "  from: people.csv\n  attributes: {double: \"${agent.age * 2 if agent.age else 0}\"}\n"
			if tt.population != "" {
				lines += "  filter: " + tt.population + "\n"
			}
			s, err := read(minimal("parameters: {age: 35}\nfunctions: |\n  def old(a): return a.age and a.age > params.age\npopulation:\n"+lines),
				map[string]string{"people.csv": neighbours}, nil)
			if err != nil {
				t.Fatal(told(err))
			}
			var ids []string
			if tt.agents != "" {
				ids = strings.Split(tt.agents, ",")
			}
			if got, err := choose(s, tt.run, ids...); err != nil || chosen(got) != tt.want {
				t.Errorf("got %v, %v, want %s", got, err, tt.want)
			}
			if tt.want == "[]" {
				if got, _ := choose(s, tt.run, ids...); got != nil {
					t.Errorf("all are %v, want nil", got)
				}
			}
		})
	}
}

// chosen formats a selection. An empty selection differs from the selection of all.
func chosen(agents []int) string {
	if agents != nil && len(agents) == 0 {
		return "[] empty"
	}
	return fmt.Sprint(agents)
}

func TestChooseMistakes(t *testing.T) {
	tests := []struct{ population, run, agents, want string }{
		{"", "agent.age >", "", `filter: the expression ends too early, at column 12 of "agent.age >"`},
		{"", "agent.agee > 3", "", `filter: agent has no agee here, at column 7 of "agent.agee > 3" (did you mean age?)`},
		{"", "agent.memory.x", "", `filter: agent has no memory here, at column 7 of "agent.memory.x" (there are id, index, age, city)`},
		{"", "agent.x and\nagent.y", "", "filter: agent has no x here, at line 1, column 7 of \"agent.x and\\nagent.y\" (there are id, index, age, city)\nfilter: agent has no y here, at line 2, column 7 of"},
		{"", "aged(agent)", "", `filter: undefined: aged, at column 1 of "aged(agent)"`},
		{"", "steps.a", "", `filter: undefined: steps, at column 1 of "steps.a"`},
		{"", "${agent.age}", "", `filter: the whole of it is an expression: "${agent.age}" (write it without ${ })`},
		{"", "agent.age > 3", "", "filter: \"agent.age > 3\", agent cay: 1:11: missing > int not implemented (the output of a step that did not run is missing"},
		{"", "peek(agent)", "", "the filter cannot depend on the agent's memory, which changes"},
		{"agent.age > 3", "", "", "filter: test.yaml:6:11: agent cay: test.yaml:6:21: missing > int"},
		{"", "", "zoe", "agents: no such agent: zoe (the first of 5 is ann)"},
		{"", "agent.x", "zoe", "agent has no x here, at column 7 of \"agent.x\" (there are id, index, age, city)\nagents: no such agent: zoe"},
	}
	for _, tt := range tests {
		t.Run(tt.population+"|"+tt.run+"|"+tt.agents, func(t *testing.T) {
			lines := "  from: people.csv\n"
			if tt.population != "" {
				lines += "  filter: " + tt.population + "\n"
			}
			s, err := read(minimal("title: x\nfunctions: |\n  def peek(a): return a.memory\npopulation:\n"+lines), map[string]string{"people.csv": neighbours}, nil)
			if err != nil {
				t.Fatal(told(err))
			}
			var ids []string
			if tt.agents != "" {
				ids = strings.Split(tt.agents, ",")
			}
			_, err = choose(s, tt.run, ids...)
			if _, ok := errors.AsType[*engine.FieldError](err); !ok || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got\n%v\nwant %s", err, tt.want)
			}
		})
	}
}

// TestChooseEndsEarly checks that a selection from many agents ends when its caller cancels it.
func TestChooseEndsEarly(t *testing.T) {
	s, err := read(minimal("population: {count: 10000000}"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if got, err := s.Program(1).Choose(ctx, &engine.Settings{Selection: engine.Selection{Filter: "agent.index >= 0"}}); !errors.Is(err, why) {
		t.Errorf("got %d, %v", len(got), err)
	}
}

// TestFiltersDraw checks that a draw in a filter depends only on the seed, the agent and the kind of filter.
func TestFiltersDraw(t *testing.T) {
	s, err := read(minimal("population: {count: 1000, attributes: {filter: \"${chance(0.5)}\"}}"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	both, err := read(minimal("population: {count: 1000, filter: chance(0.5)}"), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	size := func(s *Scenario, seed uint64, filter string) int {
		t.Helper()
		got, err := s.Program(seed).Choose(t.Context(), &engine.Settings{Selection: engine.Selection{Filter: filter}})
		if err != nil {
			t.Fatal(err)
		}
		return len(got)
	}
	if a, b := size(s, 1, "chance(0.5)"), size(s, 1, "chance(0.5)"); a != b || a < 400 || a > 600 {
		t.Errorf("a half of 1000 is %d, then %d", a, b)
	}
	for _, n := range []int{size(both, 1, "chance(0.5)"), size(s, 1, "chance(0.5) and agent.filter")} {
		if n < 180 || n > 320 {
			t.Errorf("a quarter of 1000 is %d: the draws hang together", n)
		}
	}
}

// TestChooseIsAnIntersection checks that IDs and filters select only agents that match both.
func TestChooseIsAnIntersection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		modulus := rapid.SliceOfN(rapid.IntRange(1, 4), 2, 2).Draw(t, "modulus")
		n := rapid.IntRange(1, 60).Draw(t, "agents")
		ids := rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 20).Draw(t, "ids")
		s, err := read(minimal(fmt.Sprintf("population: {count: %d, filter: 'agent.index %% %d == 0'}", n, modulus[0])), nil, nil)
		if err != nil {
			t.Fatal(told(err))
		}
		named, settings := map[int]bool{}, engine.Settings{Selection: engine.Selection{Filter: fmt.Sprintf("agent.index %% %d == 0", modulus[1])}}
		for _, i := range ids {
			named[i] = true
			settings.Agents = append(settings.Agents, fmt.Sprintf("agent-%d", i+1))
		}
		var want []int
		for i := range n {
			if i%modulus[0] == 0 && i%modulus[1] == 0 && (len(ids) == 0 || named[i]) {
				want = append(want, i)
			}
		}
		got, err := s.Program(1).Choose(context.Background(), &settings)
		if err != nil || got == nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
	})
}

// TestFilteredPeopleAtAnyConcurrency checks that a run of a filtered population file has the same rows at any
// concurrency.
func TestFilteredPeopleAtAnyConcurrency(t *testing.T) {
	const seed = 20261120
	draw := rand.New(rand.NewPCG(seed, 0))
	var csvText, jsonText strings.Builder
	csvText.WriteString("id,age,city,budget\n")
	for i := range 300 {
		age, city, budget := 18+draw.IntN(60), []string{"Ulm", "Bonn", "Köln"}[draw.IntN(3)], draw.Float64()
		fmt.Fprintf(&csvText, "p%d,%d,%s,%v\n", i, age, city, budget)
		fmt.Fprintf(&jsonText, "{\"id\": \"p%d\", \"age\": %d, \"city\": %q, \"budget\": %v}\n", i, age, city, budget)
	}
	live := func(t testing.TB, file string, limit int) string {
		t.Helper()
		s, err := read(`
population: {from: `+file+`, filter: agent.age > 30, attributes: {mood: "${uniform(0, agent.budget)}"}}
chain c:
  step a: {kind: emit, event: e, data: {age: "${agent.age}", city: "${agent.city}", mood: "${agent.mood}", again: "${agent.index}"}}
  step b: {kind: stop, when: chance(agent.budget), because: "${agent.city}"}
`, map[string]string{"people.csv": csvText.String(), "people.jsonl": jsonText.String()}, nil)
		if err != nil {
			t.Fatal(told(err))
		}
		settings, j := engine.DefaultSettings(), &enginetest.Journal{}
		settings.Seed, settings.Cycles, settings.Metrics, settings.CheckpointEvery = 7, 3, false, 0
		settings.Limit, settings.Ceiling, settings.Filter = limit, max(limit, 100), "agent.city != 'Bonn'"
		chosen, err := s.Program(7).Choose(t.Context(), &settings)
		if err != nil || len(chosen) < 100 || len(chosen) > 250 {
			t.Fatalf("%d chosen, %v", len(chosen), err)
		}
		run, err := run.Start(t.Context(), run.Config{
			ID: "test", Program: s.Program(7), Agents: s.Agents, Chosen: chosen, Clock: s.Clock, Settings: settings, Journal: j,
		})
		if err != nil {
			t.Fatal(err)
		}
		if r := run.Wait(); r.Totals.Ended() != int64(3*len(chosen)) || r.Totals.Bad() > 0 || r.Totals.Inexact != nil {
			t.Fatalf("%d sessions of %d agents, %d bad", r.Totals.Ended(), len(chosen), r.Totals.Bad())
		}
		return enginetest.Results(j.Sessions())
	}
	want := live(t, "people.csv", 1)
	if got := live(t, "people.jsonl", 1); got != want {
		t.Fatalf("JSON differs from CSV:\n%s", firstDifference(got, want))
	}
	rapid.Check(t, func(rt *rapid.T) {
		file, limit := rapid.SampledFrom([]string{"people.csv", "people.jsonl"}).Draw(rt, "file"), rapid.IntRange(2, 200).Draw(rt, "limit")
		if got := live(t, file, limit); got != want {
			rt.Fatalf("limit %d differs from limit 1:\n%s", limit, firstDifference(got, want))
		}
	})
}
