package desk

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/history"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/internal/app/surveys"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/agreement"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/survey"
	"github.com/throng-sim/throng/engine/survey/questionnaire"
	"github.com/throng-sim/throng/engine/validation"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/voices"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/ui/study"
)

// studyDesk serves the tabs for studies, and the dialog for surveys.
type studyDesk struct{ *Desk }

var _ study.Desk = studyDesk{}

// RealData compares a run with a file, or with the one that its scenario names.
func (d studyDesk) RealData(ctx context.Context, run engine.RunID, path string, pairs []string) (*validation.Result, error) {
	var with review.RealData
	if path == "" {
		r, err := d.store.Run(ctx, run)
		if err != nil {
			return nil, err
		}
		s, err := restore(&r)
		if err != nil || s.Against == nil {
			return nil, err
		}
	} else {
		var err error
		if with, err = review.ReadRealData(path); err != nil {
			return nil, err
		}
	}
	with.Measures = pairs
	return review.Validate(ctx, d.store, run, with)
}

// Voices measures how different the answers of models are.
func (d studyDesk) Voices(ctx context.Context, run engine.RunID) (*voices.Crowd, error) {
	people, err := history.LoadAgents(ctx, d.store, run)
	if err != nil {
		return nil, err
	}
	return review.Voices(ctx, people)
}

// Agreement measures how often models and rules answered the same.
func (d studyDesk) Agreement(ctx context.Context, run engine.RunID) (*agreement.Result, error) {
	return review.Agreement(ctx, d.store, run)
}

// SaveTable writes a table as a CSV file.
func (d studyDesk) SaveTable(_ context.Context, path string, table findings.Sheet) error {
	var text bytes.Buffer
	if err := storage.WriteSheet(&text, &table, storage.CSV); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

// Surveys lists the surveys among the agents of a run.
func (d studyDesk) Surveys(ctx context.Context, run engine.RunID) ([]engine.RunRecord, error) {
	return surveys.List(ctx, d.store, run)
}

// Answers counts the answers of a survey.
func (d studyDesk) Answers(ctx context.Context, run engine.RunID) (*survey.Result, error) {
	return surveys.Results(ctx, d.store, run)
}

// Subject describes the run whose agents can be asked.
func (d studyDesk) Subject(ctx context.Context, run engine.RunID) (*survey.Subject, error) {
	return surveys.Subject(ctx, d.store, run)
}

// ReadQuestions reads a file of questions.
func (d studyDesk) ReadQuestions(_ context.Context, path string) (*survey.Survey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return questionnaire.Read(filepath.Base(path), text)
}

// WriteQuestions writes a file of questions.
func (d studyDesk) WriteQuestions(_ context.Context, path string, s *survey.Survey) error {
	return os.WriteFile(path, s.File(), 0o644)
}

// ForecastSurvey checks an order, and says what it takes.
func (d studyDesk) ForecastSurvey(ctx context.Context, o survey.Order) (string, error) {
	l, err := d.questions(ctx, o)
	if err != nil {
		return "", err
	}
	f, agents, err := d.forecast(ctx, l)
	if err != nil {
		return "", err
	}
	if busy := d.InProgress(); busy != "" && !d.paused() {
		return "", errors.New(busy + " Pause or stop it, or wait for its end, then ask")
	}
	return "Asks " + engine.Counted(int64(agents), "agent", "agents") + ": " + view.WorkSummary(f.Length, f.Calls, f.Input.Plus(f.Output), f.Cost, engine.Estimate{}) + ".", nil
}

// questions turns an order into a launch of app.
func (d studyDesk) questions(ctx context.Context, o survey.Order) (app.Launch, error) {
	if _, err := questionnaire.Read("questions.yaml", o.Survey.File()); err != nil {
		return app.Launch{}, plain(err)
	}
	l, err := surveys.Launch(ctx, d.store, d.data, o, app.Order{Env: os.Getenv})
	return l, plain(err)
}

// plain removes positions in the text that was made of a form from mistakes.
func plain(err error) error {
	m, ok := errors.AsType[*scenario.Mistakes](err)
	if !ok {
		return err
	}
	first := m.Problems()[0]
	return &engine.FieldError{Problem: first.Text, Hint: first.Hint}
}

// Ask starts a survey.
func (d studyDesk) Ask(ctx context.Context, o survey.Order) (engine.RunID, error) {
	l, err := d.questions(ctx, o)
	if err != nil {
		return "", err
	}
	l.Remote = d.remote
	if err := permitted(l); err != nil {
		return "", err
	}
	if d.paused() {
		return d.askAside(ctx, l)
	}
	if err := d.start(ctx, l, nil); err != nil {
		return "", err
	}
	return d.Job().ID(), nil
}
