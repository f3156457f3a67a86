package agreement

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/decision"
	"github.com/throng-sim/throng/engine/internal/draw"
)

// agents is how many agents there are: each session has one of its own.
var agents int

// add adds n sessions of a cycle with the same answers.
func add(c *Collector, cycle, n int, used decision.By, model, rule string) {
	for range n {
		agents++
		c.Add(&engine.SessionRow{Place: engine.Place{Cycle: cycle, Agent: agents}, Steps: []engine.StepRecord{
			{Path: "other"}, {Path: "loop[1].decide", Decision: &decision.Pair{Model: []byte(model), Rule: []byte(rule), Used: used}},
		}})
	}
}

// TestByHand compares the figures with those computed by hand.
func TestByHand(t *testing.T) {
	var c Collector
	const yes, no = `{"shop":true}`, `{"shop":false}`
	add(&c, 0, 20, decision.Model, yes, yes)
	add(&c, 0, 5, decision.Rule, yes, no)
	add(&c, 1, 10, decision.Rule, no, yes)
	add(&c, 1, 15, decision.Rule, no, no)
	add(&c, 1, 3, decision.Model, no, "")
	c.Add(&engine.SessionRow{Steps: []engine.StepRecord{{Path: "loop[2].decide", Decision: &decision.Pair{Rule: []byte(no), Used: decision.Rule, Failed: "timeout"}}}})
	r := c.Result()
	if len(r.Steps) != 1 {
		t.Fatalf("steps %+v", r.Steps)
	}
	s := r.Steps[0]
	if s.Step != "loop.decide" || s.Pairs != 50 || s.ByModel != 20 || s.ByRule != 30 || s.Alone != 3 || s.Unanswered["timeout"] != 1 {
		t.Errorf("%+v", s)
	}
	if s.Agree.Count != 35 || s.Agree.Share != 0.7 || math.Abs(s.Agree.Low-0.5625) > 1e-3 || math.Abs(s.Agree.High-0.8090) > 1e-3 {
		t.Errorf("agreement %+v, want 0.7 [0.5625, 0.8090] (Wilson)", *s.Agree)
	}
	if s.Model.Share != 1 || s.Rule.Share != 0.5 {
		t.Errorf("by model %+v, by rule %+v", *s.Model, *s.Rule)
	}
	// Of Cohen's example: 20, 5, 10, 15 have the observed agreement 0.7, by chance 0.5, and kappa 0.4.
	k := s.Fields[0].Kappa
	if math.Abs(k.Value-0.4) > 1e-12 || math.Abs(k.High-k.Low-2*1.96*math.Sqrt(0.7*0.3/50)/0.5) > 1e-4 {
		t.Errorf("kappa %+v, want 0.4", *k)
	}
	if got := fmt.Sprint(s.Fields[0].Table.Answers, s.Fields[0].Table.Counts); got != "[true false] [[20 5] [10 15]]" && got != "[false true] [[15 10] [5 20]]" {
		t.Errorf("table %s", got)
	}
	// 20 of 25 in the first cycle, 15 of 25 in the second. The score is -2.5; its variance by agents is (35 * 0.3^2 + 15 * 0.7^2) / 4.
	if d := s.Drift; d == nil || math.Abs(d.Z+1.5430) > 1e-3 || math.Abs(d.P-0.1228) > 1e-3 || math.Abs(d.Difference+0.2) > 1e-12 || d.Low > -0.2 || d.High < 0 {
		t.Errorf("drift %+v", d)
	}
	if got := strings.Join(s.Remarks(), "\n"); !strings.Contains(got, "does not change detectably over 2 cycles") || !strings.Contains(got, "but 50.0%") || !strings.Contains(got, "timeout 1") || !strings.Contains(got, "3 answers of the model without") {
		t.Errorf("remarks:\n%s", got)
	}
}

// TestDriftIsFound plants a trend in the agreement, and none. The test for it errs in about 5% of the cases without one.
func TestDriftIsFound(t *testing.T) {
	found := func(seed uint64, slope float64) bool {
		var c Collector
		s := draw.Key{}.Text("drift").Int(seed).Source()
		for cycle := range 10 {
			for range 20 {
				rule := "1"
				if s.Float64() > 0.9-slope*float64(cycle) {
					rule = "2"
				}
				add(&c, cycle, 1, decision.Rule, `{"n":1}`, `{"n":`+rule+`}`)
			}
		}
		return c.Result().Steps[0].Drift.P < 0.05
	}
	const seeds = 200
	with, without := 0, 0
	for seed := range uint64(seeds) {
		if found(seed, 0.04) {
			with++
		}
		if found(seed, 0) {
			without++
		}
	}
	if with < 180 || without > 21 {
		t.Errorf("a trend was found in %d of %d runs with one, in %d of those without", with, seeds, without)
	}
}

// TestDecisionsOfOneAgent checks that decisions which repeat those of the same agent do not make intervals narrower.
func TestDecisionsOfOneAgent(t *testing.T) {
	figures := func(repeated int) Step {
		var c Collector
		for agent := range 40 {
			rule := `"no"`
			if agent%4 > 0 {
				rule = `"yes"`
			}
			for cycle := range repeated {
				c.Add(&engine.SessionRow{Place: engine.Place{Cycle: cycle, Agent: agent}, Steps: []engine.StepRecord{
					{Path: "a", Decision: &decision.Pair{Model: []byte(`"yes"`), Rule: []byte(rule)}},
				}})
			}
		}
		return c.Result().Steps[0]
	}
	once, often := figures(1), figures(10)
	if a, b := once.Agree, often.Agree; b.Of != 400 || a.Share != b.Share || math.Abs(a.Low-b.Low) > 0.01 || math.Abs(a.High-b.High) > 0.01 {
		t.Errorf("once %+v, ten times %+v", *a, *b)
	}
	if k := often.Fields[0].Kappa; k == nil || k.High-k.Low < once.Fields[0].Kappa.High-once.Fields[0].Kappa.Low-0.1 {
		t.Errorf("kappa %+v, once %+v", k, once.Fields[0].Kappa)
	}
}

func TestNumbersAndSeveralFields(t *testing.T) {
	var c Collector
	for i := range 40 {
		add(&c, 0, 1, decision.Rule, fmt.Sprintf(`{"mood":{"now":"good"},"price":%d}`, 10+i), fmt.Sprintf(`{"mood":{"now":"bad"},"price":%d}`, 8+i+i%2))
	}
	s := c.Result().Steps[0]
	if len(s.Fields) != 2 || s.Fields[0].Name != "mood.now" || s.Fields[0].Agree.Count != 0 || s.Agree.Of != 40 || s.Drift != nil {
		t.Fatalf("%+v", s)
	}
	n := s.Fields[1].Numbers
	if n == nil || n.Pairs != 40 || math.Abs(n.Difference-1.5) > 1e-9 || n.Low == nil || *n.Low > 1.5 || *n.High < 1.5 || *n.High-*n.Low > 0.5 || *n.Correlation < 0.99 {
		t.Errorf("price %+v", n)
	}
	if rows := s.Rows(); len(rows) != 2 || rows[1][0] != "  mood.now" {
		t.Errorf("rows %q", rows)
	}
	var same Collector
	add(&same, 0, 5, decision.Model, `"yes"`, `"yes"`)
	s = same.Result().Steps[0]
	if s.Fields[0].Name != "" || s.Fields[0].Kappa != nil || s.Fields[0].Table.Answers[0] != "yes" || s.Rows()[0][0] != "loop.decide" {
		t.Errorf("%+v", s)
	}
}

func TestRareAnswersAreOneInTheTable(t *testing.T) {
	var c Collector
	for i := range 30 {
		add(&c, 0, 30-i, decision.Model, fmt.Sprintf(`"%d"`, i), `"0"`)
	}
	table := c.Result().Steps[0].Fields[0].Table
	total := 0
	for _, row := range table.Counts {
		for _, n := range row {
			total += n
		}
	}
	if len(table.Answers) != mostAnswers || table.Answers[mostAnswers-1] != otherAnswer || total != 465 {
		t.Errorf("%d pairs of %q", total, table.Answers)
	}
}

// TestRatingsAreInOrder checks that a table of numbers has them in ascending order, however often they were answered.
func TestRatingsAreInOrder(t *testing.T) {
	var c Collector
	for rating, n := range map[int]int{4: 9, 5: 7, 1: 5, 3: 3, 2: 1} {
		text := fmt.Sprint(rating)
		add(&c, 0, n, decision.Model, text, text)
	}
	if got := c.Result().Steps[0].Fields[0].Table; strings.Join(got.Answers, " ") != "1 2 3 4 5" || got.Counts[3][3] != 9 {
		t.Errorf("%+v", got)
	}
}
