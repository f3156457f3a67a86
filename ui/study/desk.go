// Package study shows what studies with personas ask of a run: how it compares with real data, how different the answers of its agents
// are, how often models and rules agree, and surveys among the agents.
package study

import (
	"context"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/agreement"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/survey"
	"github.com/throng-sim/throng/engine/validation"
	"github.com/throng-sim/throng/engine/voices"
)

// Desk is what the tabs need from the application. Its methods may take long.
type Desk interface {
	// RealData compares a run with a file of real data. pairs are COLUMN=FIGURE; none takes the measures of the scenario, or columns with
	// names of figures. Without a path it takes the file that the scenario names, and returns nil if there is none.
	RealData(ctx context.Context, run engine.RunID, path string, pairs []string) (*validation.Result, error)
	// Voices measures how different the answers of models are.
	Voices(ctx context.Context, run engine.RunID) (*voices.Crowd, error)
	// Agreement measures how often models and rules answered the same.
	Agreement(ctx context.Context, run engine.RunID) (*agreement.Result, error)
	// SaveTable writes a table as a CSV file.
	SaveTable(ctx context.Context, path string, table findings.Sheet) error
	// Surveys returns the surveys among the agents of a run or, of a survey, those among the same agents; newest first.
	Surveys(ctx context.Context, run engine.RunID) ([]engine.RunRecord, error)
	// StopSurvey stops a survey that is in progress in this window.
	StopSurvey(ctx context.Context, run engine.RunID) error
	// Answers counts the answers of a survey, which may be in progress.
	Answers(ctx context.Context, run engine.RunID) (*survey.Result, error)
	Asking
}

// Asking is what the dialog for a survey needs.
type Asking interface {
	// Subject describes the run whose agents can be asked: a run itself or, of a survey, the run that it was among.
	Subject(ctx context.Context, run engine.RunID) (*survey.Subject, error)
	// ReadQuestions reads a file of questions, and WriteQuestions writes one.
	ReadQuestions(ctx context.Context, path string) (*survey.Survey, error)
	WriteQuestions(ctx context.Context, path string, s *survey.Survey) error
	// ForecastSurvey checks an order, and says how many agents it asks and what that takes. Mistakes are errors.
	ForecastSurvey(ctx context.Context, o survey.Order) (string, error)
	// Ask starts a survey, and returns its run.
	Ask(ctx context.Context, o survey.Order) (engine.RunID, error)
}
