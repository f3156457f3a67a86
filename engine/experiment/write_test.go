package experiment

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

// bare returns an experiment without what depends on its place in a file.
func bare(e *Experiment) Experiment {
	c := *e
	c.report, c.Of, c.Functions = nil, nil, nil
	c.Factors = append([]Factor(nil), e.Factors...)
	for i := range c.Factors {
		c.Factors[i].at = nil
	}
	return c
}

// TestWriteReads checks that the file that Write returns has the same content.
func TestWriteReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vary, design := someExperiment(t)
		replicates := rapid.SampledFrom([]string{"3", "[4, 2]", "{seeds: 2, until: {half_width: 2.5%, of: acted}}", "{seeds: [9], until: {half_width: 0.125, of: acted, at_most: 7}}"}).Draw(t, "replicates")
		rest := rapid.SampledFrom([]string{"budget: {usd: 1.5, time: 90m}", "parallel: 4", "settings: {warm-up: 'on', batch: 3}", "seed: 12", "title: 'It is: 5%, # or not'", "functions: \"def f(run):\\n    return 1\\n\""}).Draw(t, "rest")
		e := mustRead(t, write(vary, "design: "+design, "replicates: "+replicates, rest))
		text := string(e.Write())
		again, err := read(text)
		if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		if got, want := bare(again), bare(e); !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v\nwant %+v\nin\n%s", got, want, text)
		}
	})
}

// TestWriteForms checks ranges, points and a baseline.
func TestWriteForms(t *testing.T) {
	for _, text := range []string{
		issueExample,
		"scenario: small\nvary: {params.share: {from: 0, to: 1}, params.agents: {log: [1, 50]}, params.word: {at: 2, levels: ['1', 'true', '']}}\ndesign: {morris: 3, levels: 6}\n",
		"scenario: small\ndesign: {points: [{params.share: 0.2, params.word: '5'}, {params.share: 0.7}]}\nbaseline: {params.share: 0.7}\n",
		"scenario: small\nvary: {params.share: [0, 1]}\nbaseline: {params.share: 1}\ndesign: one-at-a-time\n",
	} {
		e := mustRead(t, text)
		again, err := read(string(e.Write()))
		if err != nil {
			t.Errorf("%v:\n%s", err, e.Write())
			continue
		}
		if got, want := bare(again), bare(e); !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v\nin\n%s", got, want, e.Write())
		}
	}
}

// TestSample checks that the sample for each built-in scenario, and for the small one, can be read and planned.
func TestSample(t *testing.T) {
	for name, want := range map[string]string{
		"shopping": "params.eagerness: [0.5, 1, 2]", "conversation": "params.", "world": "params.", "analysis": "settings.cycles: [1, 2]", "small": "params.share: [0.25, 0.5, 1]",
	} {
		s, err := load(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := string(Sample(s, name))
		e, err := read(text)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
			continue
		}
		if !strings.Contains(text, want) || strings.Contains(text, "%!") {
			t.Errorf("%s: the sample lacks %q:\n%s", name, want, text)
		}
		if p, err := e.Plan(engine.DefaultSettings(), 0); err != nil || len(p.Points) < 2 || p.Baseline < 0 {
			t.Errorf("%s: %v", name, err)
		}
		for line := range strings.Lines(text) { // what is commented out must be valid, too
			option, ok := strings.CutPrefix(line, "  # params.")
			if !ok {
				option, ok = strings.CutPrefix(line, "# ")
				if !ok || !strings.HasPrefix(option, "settings:") && !strings.HasPrefix(option, "budget:") && !strings.HasPrefix(option, "parallel:") && !strings.HasPrefix(option, "seed:") {
					continue
				}
			} else {
				option = "  params." + option
			}
			if name == "analysis" && strings.HasPrefix(option, "settings:") { // it varies the cycles
				continue
			}
			if _, err := read(strings.Replace(text, line, option, 1)); err != nil {
				t.Errorf("%s: with %s: %v", name, option, err)
			}
		}
	}
}

// TestReadTheGoldenSample keeps the sample of a built-in scenario readable for people.
func TestReadTheGoldenSample(t *testing.T) {
	s, err := load("shopping", nil)
	if err != nil {
		t.Fatal(err)
	}
	const name = "testdata/shopping.experiment.yaml"
	got := Sample(s, "shopping")
	if *update {
		if err := os.WriteFile(name, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || string(got) != string(want) {
		t.Errorf("%v; the sample is\n%s", err, got)
	}
}
