package surrogate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/internal/draw"
)

// planted returns answers that depend on age and frequency, and the expected accuracy of a prediction that knows how.
func planted(seed uint64, agents, each int) (all []Example, best float64) {
	hits := 0.0
	for agent := range agents {
		s := draw.Key{}.Text("planted").Int(seed).Int(uint64(agent)).Source()
		age, frequency := float64(20+s.IntN(41)), []string{"frequent", "rare"}[s.IntN(2)]
		score := 0.09 * (age - 40)
		if frequency == "frequent" {
			score += 1.5
		} else {
			score -= 1.5
		}
		p := 1 / (1 + math.Exp(-score))
		hits += max(p, 1-p)
		for range each {
			answer := `{"shop":false}`
			if s.Float64() < p {
				answer = `{"shop":true}`
			}
			all = append(all, Example{Agent: agent, Answer: answer, Known: map[string]any{
				"agent.age": age, "agent.frequency": frequency, "agent.noise": s.Float64(), "agent.name": fmt.Sprint("agent ", agent), "agent.kind": "person",
			}})
		}
	}
	return all, hits / float64(agents)
}

func TestFindsAPlantedRule(t *testing.T) {
	for seed := range uint64(5) {
		all, best := planted(seed, 1500, 1)
		r, err := Learn(all, Options{Step: "decide"})
		if err != nil {
			t.Fatal(err)
		}
		s := &r.Learned.HeldOut
		if math.Abs(s.Accuracy-best) > 0.08 { // 3 standard errors of 300 answers
			t.Errorf("seed %d: accuracy %.3f, the planted rule has %.3f", seed, s.Accuracy, best)
		}
		if s.Accuracy < s.BaselineAccuracy+0.1 || !s.Beats() || s.Drawn < s.BaselineDrawn+0.05 {
			t.Errorf("seed %d: it does not beat the baseline: %+v", seed, *s)
		}
		if got := strings.Join(r.Names(), " "); got != "agent.age agent.frequency agent.noise" {
			t.Errorf("fields %s", got)
		}
		young, err := r.Odds(known{"agent.age": 20.0, "agent.frequency": "rare", "agent.noise": 0.5}.get)
		old, err2 := r.Odds(known{"agent.age": "60", "agent.frequency": "frequent", "agent.noise": 0.5}.get)
		if err := errors.Join(err, err2); err != nil || young[1] > 0.15 || old[1] < 0.85 {
			t.Errorf("seed %d: a young rare shopper shops with %.2f, an old frequent one with %.2f, %v", seed, young[1], old[1], err)
		}
	}
}

type known map[string]any

func (k known) get(name string) (any, error) { return k[name], nil }

// TestNoiseHasNoRule checks that a rule for answers that depend on nothing does not beat the baseline.
func TestNoiseHasNoRule(t *testing.T) {
	gain, better := 0.0, 0
	const seeds = 5
	for seed := range uint64(seeds) {
		all, _ := planted(seed, 800, 1)
		for i := range all {
			all[i].Answer = `{"shop":true}`
			if (draw.Key{}).Int(seed).Int(uint64(i)).Source().Float64() < 0.4 {
				all[i].Answer = `{"shop":false}`
			}
		}
		for _, o := range []Options{{}, {Kind: Table, Fields: []string{"agent.frequency"}}} {
			r, err := Learn(all, o)
			if err != nil {
				t.Fatal(err)
			}
			s := &r.Learned.HeldOut
			if s.Accuracy > s.BaselineAccuracy+0.04 {
				better++
			}
			gain += (s.BaselineLogLoss - s.LogLoss) / (2 * seeds)
		}
	}
	if better > 0 || gain > 0.005 {
		t.Errorf("rules for noise beat the baseline %d times, by %.4f nats on average", better, gain)
	}
}

func TestTableHasSharesOfSegments(t *testing.T) {
	all, _ := planted(1, 2000, 2)
	r, err := Learn(all, Options{Kind: Table, Fields: []string{"agent.frequency", "agent.age"}, Step: "decide", Run: "r1"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := r.Text()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	at := known{"agent.age": 58.0, "agent.frequency": "frequent"}
	odds, err := again.Odds(at.get)
	if err != nil || odds[1] < 0.85 {
		t.Errorf("an old frequent shopper shops with %v, %v", odds, err)
	}
	if len(r.Cells) != 8 || !r.Learned.HeldOut.Beats() || r.Learned.Agents != 2000 || r.Learned.Answers != 4000 {
		t.Errorf("%d cells, %+v", len(r.Cells), r.Learned)
	}
	stranger, err := again.Odds(known{"agent.age": 58.0, "agent.frequency": "never"}.get)
	if err != nil || math.Abs(stranger[0]-r.Answers[0].Share) > 1e-12 {
		t.Errorf("an unknown segment has %v, %v", stranger, err)
	}
	if _, err := again.Odds(known{"agent.age": 58.0}.get); err == nil || !strings.Contains(err.Error(), "agent.frequency is missing") {
		t.Errorf("a missing field: %v", err)
	}
}

func TestNumbersComeFromExamples(t *testing.T) {
	all, _ := planted(3, 300, 1)
	for i := range all {
		all[i].Answer = strings.Replace(all[i].Answer, "}", fmt.Sprintf(`,"price":%d}`, i), 1)
	}
	r, err := Learn(all, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Answers) != 2 || string(r.Answers[1].Value) != `{"shop":true}` || len(r.Answers[1].Examples) != mostExamples {
		t.Fatalf("answers %+v", r.Answers)
	}
	var drawn struct {
		Shop  bool
		Price *float64
	}
	if err := json.Unmarshal(r.Draw([]float64{0.3, 0.7}, 0.31, 0.5), &drawn); err != nil || !drawn.Shop || drawn.Price == nil {
		t.Errorf("drew %+v, %v", drawn, err)
	}
	if err := json.Unmarshal(r.Likely([]float64{0.7, 0.3}, 0.99), &drawn); err != nil || drawn.Shop {
		t.Errorf("most likely is %+v, %v", drawn, err)
	}
	for i := range all {
		all[i].Answer = fmt.Sprintf(`{"price":%d}`, i)
	}
	if r, err = Learn(all, Options{}); err != nil || len(r.Answers) != 5 || math.Abs(r.Answers[2].Share-0.2) > 0.01 {
		t.Errorf("prices alone: %v, %v", r, err)
	}
}

func TestMissingValuesAreLearned(t *testing.T) {
	all, _ := planted(4, 400, 1)
	for i := range all {
		if all[i].Agent%3 == 0 {
			delete(all[i].Known, "agent.age")
			delete(all[i].Known, "agent.frequency")
			all[i].Answer = `{"shop":true}`
		}
	}
	for _, o := range []Options{{}, {Kind: Table, Fields: []string{"agent.age", "agent.frequency"}}} {
		r, err := Learn(all, o)
		if err != nil {
			t.Fatal(err)
		}
		odds, err := r.Odds(known{"agent.noise": 0.5}.get)
		if err != nil || odds[1] < 0.9 {
			t.Errorf("%s: an agent without fields shops with %v, %v", r.Kind, odds, err)
		}
	}
}

func TestLearnMistakes(t *testing.T) {
	good, _ := planted(1, 100, 1)
	change := func(f func(i int, e *Example)) []Example {
		all, _ := planted(1, 100, 1)
		for i := range all {
			f(i, &all[i])
		}
		return all
	}
	for _, c := range []struct {
		all  []Example
		o    Options
		want string
	}{
		{good[:10], Options{Step: "decide"}, "10 answers of the model to decide"},
		{change(func(_ int, e *Example) { e.Agent %= 5 }), Options{}, "only 5 agents"},
		{change(func(_ int, e *Example) { e.Answer = `{"shop":true}` }), Options{}, `all 100 answers to  are {"shop":true}`},
		{change(func(i int, e *Example) { e.Answer = fmt.Sprintf(`"%d"`, i) }), Options{}, "100 different answers"},
		{good, Options{Fields: []string{"agent.agee"}}, "did you mean"},
		{good, Options{Fields: []string{"agent.name"}}, "100 different values"},
		{good, Options{Fields: []string{"agent.kind"}}, "all agents have the same value"},
		{good, Options{Kind: Table}, "a table needs 1 to 3 fields"},
		{change(func(_ int, e *Example) { e.Known = nil }), Options{}, "no field"},
	} {
		_, err := Learn(c.all, c.o)
		if _, ok := errors.AsType[*Mistake](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}

func TestParseMistakes(t *testing.T) {
	all, _ := planted(1, 200, 1)
	r, err := Learn(all, Options{})
	if err != nil {
		t.Fatal(err)
	}
	good, err := r.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, now, want string }{
		{`"throng_rule": 1`, `"throng_rule": 2`, "format is 2"},
		{`"kind": "logistic"`, `"kind": "tree"`, `kind is "tree"`},
		{`"weights": [`, `"weights": [[1],`, "weights of 3 answers"},
		{`"kind": "logistic"`, `"kind": "logistic", "more": 1`, "unknown field"},
		{`"agent.age"`, `""`, "neither a number nor a category"},
		{`{`, `[`, "not a rule"},
	} {
		if _, err := Parse([]byte(strings.Replace(string(good), c.old, c.now, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.now, err, c.want)
		}
	}
	again, err := Learn(all, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := again.Text(); err != nil || string(text) != string(good) {
		t.Errorf("a second fit differs, %v", err)
	}
}

// TestWarning checks that a rule which is not better than the most frequent answer is said to be so, with both accuracies.
func TestWarning(t *testing.T) {
	for _, tt := range []struct {
		score Score
		want  string
	}{
		{Score{Accuracy: 0.8, BaselineAccuracy: 0.5, LogLoss: 0.4, BaselineLogLoss: 0.7}, ""},
		{
			Score{Accuracy: 0.2, BaselineAccuracy: 0.2 + 1e-12, LogLoss: 1.9, BaselineLogLoss: 2},
			"the rule is not better than the most frequent answer: it is right in 20.0% of cases, the most frequent answer in 20.0%. Its probabilities are better",
		},
		{
			Score{Accuracy: 0.15, BaselineAccuracy: 0.2, LogLoss: 2.1, BaselineLogLoss: 2},
			"the rule is worse than the most frequent answer: it is right in 15.0% of cases, the most frequent answer in 20.0%. Its probabilities are not better",
		},
		{Score{Accuracy: 0.6, BaselineAccuracy: 0.5, LogLoss: 0.7, BaselineLogLoss: 0.7}, "the rule is better than the most frequent answer: it is right in 60.0%"},
	} {
		if got := tt.score.Warning(); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: got %q, want %q", tt.score, got, tt.want)
		}
	}
}
