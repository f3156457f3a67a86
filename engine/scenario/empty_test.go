package scenario

import (
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

// TestEmptyPopulations checks that an empty population is valid, and that its attributes are still known.
func TestEmptyPopulations(t *testing.T) {
	for name, population := range map[string]string{
		"a count of 0":         "{count: 0, attributes: {age: '${1 / 0}'}}",
		"a parameter":          "{count: '${params.n}', attributes: {age: 7}}",
		"a file with a header": "{from: people.csv}",
		"none of its rows":     "{from: full.csv, count: 0}",
	} {
		t.Run(name, func(t *testing.T) {
			text := "title: x\nparameters: {n: 0}\npopulation: " + population + "\nchain c: {step a: {kind: python, call: agent.age}}\n"
			s, err := read(text, map[string]string{"people.csv": "id,age\n", "full.csv": "age\n1\n2\n"}, nil)
			if err != nil {
				t.Fatal(told(err))
			}
			if s.Agents != 0 {
				t.Fatalf("%d agents", s.Agents)
			}
			settings := engine.DefaultSettings()
			settings.Filter = "agent.age > 3"
			chosen, err := s.Program(1).Choose(t.Context(), &settings)
			if err != nil || len(chosen) != 0 {
				t.Fatalf("chosen are %v, %v", chosen, err)
			}
			settings.Filter, settings.Agents = "", []string{"ann"}
			if _, err := s.Program(1).Choose(t.Context(), &settings); err == nil || err.Error() != "agents: no such agent: ann (there are no agents)" {
				t.Errorf("an unknown agent: %v", err)
			}
			r, err := run.Start(t.Context(), run.Config{ID: "r", Program: s.Program(1), Chosen: chosen, Clock: s.Clock, Settings: engine.DefaultSettings()})
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Wait(); got.Ending != engine.EndFinished || got.Reason == "" {
				t.Errorf("%v: %s", got.Ending, got.Reason)
			}
		})
	}
}
