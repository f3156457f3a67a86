package survey_test

import (
	"errors"
	"iter"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/survey"
	"github.com/throng-sim/throng/engine/survey/questionnaire"
)

const questions = `title: After a day
segments: [region]
questions:
  move: {ask: "Would you move, ${agent.name}?", answer: ["yes", "no", unsure]}
  content: {ask: How content are you?, answer: {from: 1, to: 5}}
  pay: {ask: How much would you pay?, answer: number}
  because: Why?
`

func read(t *testing.T, text string) *survey.Survey {
	t.Helper()
	s, err := questionnaire.Read("q.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestRead(t *testing.T) {
	want := &survey.Survey{Title: "After a day", Segments: []string{"region"}, Questions: []survey.Question{
		{Name: "move", Ask: "Would you move, ${agent.name}?", Kind: survey.Choice, Options: []string{"yes", "no", "unsure"}},
		{Name: "content", Ask: "How content are you?", Kind: survey.Scale, Low: 1, High: 5},
		{Name: "pay", Ask: "How much would you pay?", Kind: survey.Number},
		{Name: "because", Ask: "Why?", Kind: survey.Text},
	}}
	if got := read(t, questions); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// TestFile checks that a file that is written reads as the same survey.
func TestFile(t *testing.T) {
	want := read(t, questions)
	want.Separate, want.System, want.Service = true, "You are ${agent.name}: \"a\"\nb", "model"
	if got := read(t, string(want.File())); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v from\n%s", got, want.File())
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"title: x":      "questions",
		"questions: {}": "there are 0 questions",
		"questions: {a: {ask: x, answer: maybe}}":                           `"maybe" is not a kind of answer`,
		"questions: {a: {ask: x, answer: [one]}}":                           "a choice has 2 to",
		"questions: {a: {ask: x, answer: [one, one]}}":                      "listed twice",
		"questions: {a: {ask: x, answer: {from: 5, to: 1}}}":                "has no steps",
		"questions: {a: {answer: text}}":                                    "ask",
		"questions: {9a: x}":                                                "not the name of a question",
		"segments: [region]\nquestions: {region: x}":                        "already the name",
		"segments: [region, region]\nquestions: {a: x}":                     "named twice",
		"questions: {a: {ask: x, answer: {from: 1, to: 2, step: 3}}, b: y}": "step",
	} {
		_, err := questionnaire.Read("q.yaml", []byte(text))
		var mistakes *scenario.Mistakes
		if !errors.As(err, &mistakes) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

const town = `title: A town
parameters: {people: 20}
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 3, arrivals: {even: 60s}}
population:
  count: ${params.people}
  attributes: {region: "${pick(['north', 'south'])}", name: "P${agent.index}"}
services:
  shop: {kind: http, url: mock:shop}
  model: {kind: llm, provider: mock}
functions: |
  def f(x):
      return x
chain live:
  step note: {kind: remember, note: "hour ${now.hour}"}
  step buy: {kind: http, service: shop, get: /api/products/search}
acted: bought
success: {error_rate: < 1%}
`

func source(text string) engine.Source {
	return engine.Source{Name: "town.yaml", Files: map[string][]byte{"town.yaml": []byte(text)}}
}

// TestScenario checks that the scenario of a survey can be read, keeps the population, and asks as the survey says.
func TestScenario(t *testing.T) {
	for _, separate := range []bool{false, true} {
		s := read(t, questions)
		s.Separate = separate
		src, err := s.Scenario(source(town), "A town")
		if err != nil {
			t.Fatal(err)
		}
		got, err := scenario.Reread(src, map[string]string{"people": "30"})
		if err != nil {
			t.Fatalf("%v\n%s", err, src.Files["town.yaml"])
		}
		if got.Title != "After a day: A town" || got.Agents != 30 || got.Clock.Arrivals != nil || len(got.Success) != 0 {
			t.Errorf("title %q, %d agents, arrivals %v, success %v", got.Title, got.Agents, got.Clock.Arrivals, got.Success)
		}
		text := string(src.Files["town.yaml"])
		if strings.Contains(text, "mock:shop") || strings.Contains(text, "chain live") {
			t.Errorf("it still has the services or the chain of the run:\n%s", text)
		}
		again := survey.Of(got.Source)
		if again == nil || !reflect.DeepEqual(again.Questions, s.Questions) || !reflect.DeepEqual(again.Segments, s.Segments) {
			t.Errorf("separate %v: read back as %+v", separate, again)
		}
	}
	if survey.Of(source(town)) != nil {
		t.Error("a run that asks nothing is a survey")
	}
}

func TestService(t *testing.T) {
	for name, c := range map[string]struct{ service, services, want string }{
		"none":    {"", "{shop: {kind: http, url: mock:shop}}", "has no service of kind llm"},
		"several": {"", "{a: {kind: llm, provider: mock}, b: {kind: llm, provider: mock}}", "name one of a, b"},
		"unknown": {"c", "{a: {kind: llm, provider: mock}}", "its models are a"},
		"chosen":  {"b", "{a: {kind: llm, provider: mock}, b: {kind: llm, provider: mock}}", ""},
	} {
		s := read(t, "questions: {a: Why?}")
		s.Service = c.service
		_, err := s.Scenario(source("title: T\nservices: "+c.services+"\nchain x:\n  step s: {kind: stop}\n"), "T")
		var field *engine.FieldError
		if (err == nil) != (c.want == "") || err != nil && (!errors.As(err, &field) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// rows are sessions with answers; "" is one that failed.
func rows(answers ...string) iter.Seq2[*engine.SessionRow, error] {
	return func(yield func(*engine.SessionRow, error) bool) {
		for i, a := range answers {
			row := &engine.SessionRow{Place: engine.Place{Agent: i}}
			if a != "" {
				row.Events = []engine.Event{{Name: survey.Event, Data: []byte(a)}}
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// TestTally counts answers. The intervals of the shares 1 and 2 of 3 are those of R: prop.test(1, 3, correct = FALSE).
func TestTally(t *testing.T) {
	r, err := read(t, questions).Tally(rows(
		`{"region": "north", "move": "yes", "content": 1, "pay": 2.5, "because": "So."}`,
		`{"region": "north", "move": "no", "content": 5, "pay": 7.5, "because": "No."}`,
		`{"region": "south", "move": "yes", "content": 3, "pay": null, "because": "Hm."}`, ""))
	if err != nil {
		t.Fatal(err)
	}
	move := r.Questions[0].Groups
	if r.Asked != 4 || len(move) != 3 || move[0].Asked != 4 || move[0].Answered != 3 || move[1].Value != "north" || move[1].Answered != 2 || move[2].Answered != 1 {
		t.Fatalf("asked %d, groups %+v", r.Asked, move)
	}
	near := func(got *float64, want float64) bool { return got != nil && math.Abs(*got-want) < 0.0005 }
	if o := move[0].Options; o[0].Count != 2 || !near(o[0].Low, 0.2077) || !near(o[0].High, 0.9385) || o[1].Count != 1 || !near(o[1].Low, 0.0615) || !near(o[1].High, 0.7923) || o[2].Count != 0 || !near(o[2].Low, 0) {
		t.Errorf("options %+v", o)
	}
	if c := r.Questions[1].Groups[0]; !near(c.Mean, 3) || !near(c.Low, 3-4.9683) || !near(c.High, 3+4.9683) || len(c.Options) != 5 || c.Options[4].Count != 1 {
		t.Errorf("scale %+v", c)
	}
	if p := r.Questions[2].Groups[0]; p.Answered != 2 || !near(p.Mean, 5) {
		t.Errorf("number %+v", p)
	}
	if w := r.Questions[3].Groups; len(w[0].Texts) != 3 || w[2].Texts[0] != "Hm." {
		t.Errorf("texts %+v", w)
	}
	if _, err := read(t, questions).Tally(rows("{")); err == nil {
		t.Error("damaged answers are counted")
	}
}
