package questionnaire

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/survey"
)

// TestCheck checks that mistakes about the agents are reported at the lines of the questions.
func TestCheck(t *testing.T) {
	const surveyed = "title: x\nparameters: {concept: tea}\npopulation: {count: 2, attributes: {region: north}}\nservices: {model: {kind: llm, provider: mock}}\nchain c: {step e: {kind: emit, event: e}}\n"
	s, err := scenario.Read("run.yaml", func(path string) ([]byte, error) {
		if path != "run.yaml" {
			return nil, fs.ErrNotExist
		}
		return fstest.MapFS{path: {Data: []byte(surveyed)}}.ReadFile(path)
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"segments: [region]\nquestions: {why: 'Why ${params.concept}, ${agent.region}, at ${session.cycle} on ${now.weekday}?'}": "",
		"segments: [regoin]\nquestions: {why: Why?}":                              "q.yaml:1:12: agents have no attribute regoin (did you mean `region`?)",
		"segments: [wealth]\nquestions: {why: Why?}":                              "q.yaml:1:12: agents have no attribute wealth (they have id, index, region)",
		"questions:\n  why: Why?\n  how: {ask: 'How, ${agent.regin}?'}":           "q.yaml:3:28: agent has no regin here (did you mean `region`?)",
		"system: |\n  You are\n  ${agent.regin}.\nquestions:\n  why: Why?":        "q.yaml:3:11: agent has no regin here (did you mean `region`?)",
		"questions:\n  why: 'Why, ${steps.a}?'":                                   "q.yaml:2:16: undefined: steps",
		"questions:\n  why: 'Why ${params.concpt}?'\n  how: 'How, ${agent.nam'\n": "q.yaml:2:22: params has no concpt",
	} {
		q, err := Read("q.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		o := survey.Order{Survey: q, From: survey.Written{Name: "q.yaml", Text: []byte(text)}}
		err = Check(o, s.Source, nil)
		_, ok := errors.AsType[*scenario.Mistakes](err)
		if want == "" && err != nil || want != "" && (!ok || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
		if o.From = (survey.Written{}); want != "" && Check(o, s.Source, nil) == nil {
			t.Errorf("%q from a form: no mistake", text)
		}
	}
	if err := Check(survey.Order{Survey: &survey.Survey{}}, engine.Source{}, nil); err == nil {
		t.Error("a run without a scenario: no error")
	}
}
