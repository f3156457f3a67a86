// Package questionnaire reads files of questions.
package questionnaire

import (
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
