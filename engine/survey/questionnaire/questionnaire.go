// Package questionnaire reads files of questions.
package questionnaire

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/survey"
)

// Read reads a file of questions. The error is a *scenario.Mistakes with everything that is wrong.
func Read(file string, text []byte) (*survey.Survey, error) {
	r := &doc.Report{}
	s := survey.Parse(doc.Parse(file, text, r))
	if r.Err() != nil {
		return nil, scenario.NewMistakes(r)
	}
	return s, nil
}

// Check returns the mistakes in questions about the agents of a run, by the lines of their file: a *scenario.Mistakes, or nil if the
// questions fit. src and given are the scenario of the run and its parameters.
func Check(o survey.Order, src engine.Source, given map[string]string) error {
	file := o.From
	if file.Name == "" {
		file = survey.Written{Name: "questions.yaml", Text: o.Survey.File()}
	}
	r := &doc.Report{}
	root := doc.Parse(file.Name, file.Text, r)
	t := scenario.Texts{Attributes: root.Get("segments").List()}
	if n := root.Get("system"); n != nil {
		t.Prompts = append(t.Prompts, n)
	}
	for _, e := range root.Get("questions").Entries() {
		ask := e.Value
		if ask.Kind() == doc.Map {
			ask = ask.Get("ask")
		}
		t.Prompts = append(t.Prompts, ask)
	}
	if err := t.Check(src, given); err != nil {
		return err
	}
	if r.Err() != nil {
		return scenario.NewMistakes(r)
	}
	return nil
}
