package chain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/decision"
	"github.com/throng-sim/throng/engine/enginetest"
)

// pairs formats what models and rules answered.
func pairs(rows []engine.SessionRow) string {
	rows = slices.SortedFunc(slices.Values(rows), func(a, b engine.SessionRow) int {
		return cmp.Or(cmp.Compare(a.Cycle, b.Cycle), cmp.Compare(a.Agent, b.Agent))
	})
	var b strings.Builder
	for i := range rows {
		for k := range rows[i].Steps {
			s := &rows[i].Steps[k]
			if p := s.Decision; p != nil {
				used := "model"
				if p.Used == decision.Rule {
					used = "rule"
				}
				fmt.Fprintf(&b, "%d/%d %s %s: %s, %s %s%s\n", rows[i].Cycle, rows[i].Agent, s.Path, used, p.Model, p.Rule, p.Failed, p.Seen)
			}
		}
	}
	return b.String()
}

// shops is a decision with a rule. Its oracle says yes to agents with an odd index.
const shops = `
step shop:
  kind: llm
  service: model
  prompt: "Shop, ${agent.id}?"
  answer: {shop: bool, why?: string}
  share: SHARE
  shadow: SHADOW
  otherwise: '{"shop": agent.index % 4 == 1, "why": "it is drawn " + str(uniform(0, 1))}'
step keep: {kind: remember, set: {was: "${steps.shop.shop}"}}
step state: {kind: emit, event: state, data: "${[steps.shop, uniform(0, 1)]}"}
`

func shopping(share, shadow string) string {
	return strings.NewReplacer("SHARE", share, "SHADOW", shadow).Replace(shops)
}

func askingOdd() *oracle {
	return &oracle{answer: func(q asking) (int, string) {
		last := q.last()
		return 200, fmt.Sprintf(`{"shop": %v, "why": "said"}`, (last[len(last)-2]-'0')%2 == 1)
	}}
}

// TestShadowChangesNothing checks that a shadow sample asks the model for as many sessions of each cycle as it says, and that the run and
// its draws are those of a run without it, at any concurrency.
func TestShadowChangesNothing(t *testing.T) {
	const agents, cycles, n = 40, 3, 7
	run := func(shadow string, limit int) (rows []engine.SessionRow, asked int) {
		o := askingOdd()
		st := stage{steps: shopping("0", shadow), agents: agents, more: o.models(t), change: func(s *engine.Settings) { s.Cycles, s.Limit = cycles, limit }}
		rows = st.run(t)
		return rows, len(o.asked())
	}
	plain, none := run("0", 8)
	want := enginetest.Results(plain)
	if none != 0 || pairs(plain) != "" {
		t.Errorf("without a shadow sample, the model was asked %d times\n%s", none, pairs(plain))
	}
	first := ""
	for _, limit := range []int{1, 64} {
		rows, asked := run(fmt.Sprint(n), limit)
		if got := enginetest.Results(rows); got != want {
			t.Fatalf("a shadow sample changes the run at a limit of %d:\n%s\nwant\n%s", limit, got, want)
		}
		got := pairs(rows)
		if asked != n*cycles || strings.Count(got, " rule: ") != n*cycles {
			t.Errorf("asked %d times, want %d\n%s", asked, n*cycles, got)
		}
		if first == "" {
			first = got
		}
		if got != first {
			t.Errorf("another sample at a limit of %d:\n%s\nwant\n%s", limit, got, first)
		}
		for i := range rows {
			if d := rows[i].Steps[0].Decision; d != nil {
				odd, rule := rows[i].Agent%2 == 1, rows[i].Agent%4 == 1
				if string(d.Model) != fmt.Sprintf(`{"shop":%v}`, odd) || string(d.Rule) != fmt.Sprintf(`{"shop":%v}`, rule) {
					t.Errorf("agent %d: %s and %s", rows[i].Agent, d.Model, d.Rule)
				}
				if seen := string(d.Seen); (rows[i].Cycle == 0) != (seen == "") || seen != "" && seen != fmt.Sprintf(`{"was":%v}`, rule) {
					t.Errorf("agent %d in cycle %d remembers %s", rows[i].Agent, rows[i].Cycle, seen)
				}
				if u := rows[i].Steps[0].Usage; u == nil || u.Calls != 1 || rows[i].Steps[0].Attempts != 1 {
					t.Errorf("agent %d: usage %+v", rows[i].Agent, u)
				}
			}
		}
	}
}

// TestBothAnswersOfTheModelsAgents checks that the rule is evaluated where the model decides, at no cost.
func TestBothAnswersOfTheModelsAgents(t *testing.T) {
	o := askingOdd()
	rows := stage{steps: shopping("1", "3"), agents: 8, more: o.models(t)}.run(t)
	if got := pairs(rows); strings.Count(got, " model: ") != 8 || !strings.Contains(got, `0/3 shop model: {"shop":true}, {"shop":false}`) || len(o.asked()) != 8 {
		t.Errorf("asked %d times:\n%s", len(o.asked()), got)
	}
	same := stage{steps: strings.Replace(shopping("1", "3"), "agent.index % 4 == 1", "[][0]", 1), agents: 8, more: askingOdd().models(t)}.run(t)
	if got := enginetest.Results(same); got != enginetest.Results(rows) {
		t.Errorf("a rule that fails changes the run:\n%s", got)
	}
}

// TestShadowFailures checks that a model that does not answer leaves the session as it is.
func TestShadowFailures(t *testing.T) {
	for _, tt := range []struct{ name, keys, answer, failed string }{
		{"refused", "", "401 no", "client_error"},
		{"broken", "retry: {attempts: 2, wait: 0}", "503,503,404", "server_error"},
		{"does not fit", "retry: {attempts: 2, wait: 0}", `{"shop": 3}`, "bad_answer"},
		{"hangs", "timeout: 50ms", "hang", "timeout"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := says(strings.Split(tt.answer, ",")...)
			if tt.answer == "hang" {
				o = &oracle{answer: func(asking) (int, string) {
					<-t.Context().Done()
					return 200, ""
				}}
			}
			steps := strings.Replace(shopping("0", "1"), "  answer:", "  "+tt.keys+"\n  answer:", 1)
			journal := &enginetest.Journal{}
			row := stage{steps: steps, more: o.models(t), journal: journal}.one(t)
			d := row.Steps[0].Decision
			if row.Outcome != engine.OK || row.Steps[0].Class != engine.NoError || d == nil || d.Failed != tt.failed || len(d.Model) > 0 {
				t.Errorf("%v %+v, %+v", row.Outcome, row.Steps[0], d)
			}
			for _, c := range enginetest.Of[engine.ChangeRow](journal) {
				if c.Inexact != nil {
					t.Errorf("the run is inexact: %+v", c.Inexact)
				}
			}
		})
	}
}

func TestShadowMistakes(t *testing.T) {
	for _, tt := range []struct{ keys, want string }{
		{"shadow: 5", "all agents ask the model already"},
		{"share: 0.1, shadow: 5, otherwise: 'None', private: true, answer: {a: bool}", "private are not compared"},
		{"share: 0.1, shadow: 5, otherwise: 'None', answer: {why: string}", "free texts"},
		{"share: 0.1, shadow: 5, otherwise: 'None', tools: [look]", "may change something"},
		{"share: 0.1, shadow: -1, otherwise: 'None'", "shadow is from 0 to"},
		{"share: 0.1, otherwise: {learn: rule.json}", "did you mean `learned`"},
		{"share: 0.1, otherwise: {learned: none.json}", "cannot read the rule: there is no file none.json"},
		{"share: 0.1, otherwise: {learned: rule.json}", "rule.json: not a rule that was learned"},
		{"share: 0.1, otherwise: {learned: rule.json, answer: best}", "draw, likely"},
	} {
		st := stage{steps: "step a: {kind: llm, service: model, prompt: x, " + tt.keys + "}", more: says("x").models(t), files: map[string]string{"rule.json": "[]"}}
		_, report, _ := st.read(t)
		if err := report.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.keys, err, tt.want)
		}
	}
}
