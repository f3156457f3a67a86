package experiment

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// FuzzRead reads arbitrary bytes as an experiment. The result is an experiment that can be written, read again and
// planned, or mistakes with positions.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"", "scenario: small\n", issueExample,
		"scenario: small\nvary: {params.share: {from: 0, to: 1}, params.agents: {log: [1, 50]}, params.word: {at: 2, levels: ['1', 'true', '']}}\ndesign: {morris: 3, levels: 6}\n",
		"scenario: small\ndesign: {points: [{params.share: 0.2, params.word: '5'}, {params.share: 0.7}]}\nbaseline: {params.share: 0.7}\n",
		"scenario: small\nvary: {params.share: [0, 1], settings.cycles: [4, 5], population.filter: ['agent.age > 3'], service.model.limits.concurrent: 4}\nreplicates: {seeds: [3, 4], until: {half_width: 5%, of: acted}}\n",
		"scenario: small\nfunctions: |\n  def f(run):\n      return 1\nmeasures: [f, outcomes, memory.spent.p5, request_p95.shop]\nbudget: {usd: 1, time: 1h}\nparallel: 2\nseed: 3\nsettings: {cycles: 4, warm-up: on}\n",
		"scenario: small\nvary: {params.agents: {from: 1, to: 9, step: 0.0001}}\ndesign: {sobol: 100000}\n",
		"scenario: [a]\nvary: [b]\ndesign: [c]\nreplicates: {seeds: {}}\nbaseline: []\nmeasures: {}\nfunctions: []\nsettings: []\nbudget: []\nparallel: []\nseed: []\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		begun := time.Now()
		e, err := read(string(text))
		if took := time.Since(begun); took > 20*time.Second {
			t.Fatalf("reading took %s", took)
		}
		if mistakes, ok := errors.AsType[*scenario.Mistakes](err); ok {
			if err := mistakes.Print(new(bytes.Buffer)); err != nil {
				t.Fatal(err)
			}
			for _, p := range mistakes.Problems() {
				if p.Line < 1 || p.Col < 1 || p.Text == "" {
					t.Fatalf("a mistake without a position: %+v", p)
				}
			}
			return
		}
		if err != nil {
			t.Fatalf("an error of another kind: %v", err)
		}
		files := []string{}
		if name := e.functions; name != "" && !strings.ContainsAny(name, "\n(){}=") {
			return // a file that is not there is a mistake
		}
		again, err := read(string(e.Write()), files...)
		if err != nil || !reflect.DeepEqual(bare(again), bare(e)) {
			t.Fatalf("%v: the experiment\n%s\nwas written as\n%s", err, text, e.Write())
		}
		if len(e.Factors) > 3 || e.Design.N > 50 { // a plan may be large
			return
		}
		p, err := e.Plan(engine.DefaultSettings(), 1)
		if err != nil {
			return // settings that contradict each other
		}
		seen := map[string]bool{}
		for _, r := range p.Runs {
			if seen[r.ID] || r.Parent != "" && !seen[r.Parent] {
				t.Fatalf("the run %+v is there twice, or before its parent", r)
			}
			seen[r.ID] = true
		}
	})
}
