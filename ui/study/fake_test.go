package study

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/agreement"
	"github.com/throng-sim/throng/engine/decision"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/survey"
	"github.com/throng-sim/throng/engine/validation"
	"github.com/throng-sim/throng/engine/voices"
	"github.com/throng-sim/throng/ui/uitest"
)

// fake has the figures of a study, and records orders.
type fake struct {
	mu       sync.Mutex
	same     bool // all agents say the same
	surveys  []engine.RunRecord
	result   *survey.Result
	subject  survey.Subject
	compared []string
	saved    map[string]findings.Sheet
	written  *survey.Survey
	order    survey.Order
	refuse   error
	stopped  []engine.RunID
}

func newFake() *fake {
	return &fake{saved: map[string]findings.Sheet{}, subject: survey.Subject{
		Run: "study", Title: "A study", Attributes: []string{"name", "region"}, Models: []string{"model"},
		Moments: []survey.Moment{{Cycle: 2, At: time.Date(2026, 3, 4, 18, 0, 0, 0, time.UTC)}, {Cycle: 1}},
	}}
}

func (f *fake) RealData(_ context.Context, run engine.RunID, path string, pairs []string) (*validation.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.compared = append(f.compared, fmt.Sprint(run, " ", path, " ", pairs))
	switch path {
	case "":
		return nil, nil //nolint:nilnil // the scenario names no file
	case "/broken.csv":
		return nil, errors.New("the file has no rows")
	}
	nan := math.NaN()
	none := validation.Test{Statistic: nan, P: nan, Adjusted: nan}
	share := validation.Row{
		Measure: validation.Measure{Column: "region", Figure: "agent.region", Kind: validation.Category, Per: validation.PerAgent},
		Real:    validation.Side{N: 10, Mean: nan, SD: nan}, Run: validation.Side{N: 20, Mean: nan, SD: nan}, Smirnov: none,
		ChiSquare: validation.Test{Statistic: 20, P: 0.001, Adjusted: 0.002}, Wasserstein: nan, JensenShannon: 0.3,
		Bins:  []validation.Bin{{Name: "north", Real: 9, Run: 4}, {Name: "south", Real: 1, Run: 16}},
		Notes: []string{"Column region has no value for 1 of 11 rows; they are left out."},
	}
	share.Mean.Adjusted = nan
	missing := validation.Row{Measure: validation.Measure{Column: "price", Figure: "memory.price", Kind: validation.Number}, Smirnov: none, ChiSquare: none, Problem: "The run has no values."}
	missing.Mean.Adjusted = nan
	return &validation.Result{File: path, Digest: "0123456789abcdef", Rows: []validation.Row{share, missing}}, nil
}

// Agreement has a step with a choice and a number over four cycles, and one with a number only.
func (f *fake) Agreement(context.Context, engine.RunID) (*agreement.Result, error) {
	var c agreement.Collector
	for i := range 200 {
		row := &engine.SessionRow{}
		row.Agent, row.Cycle = i, i%4
		both := &decision.Pair{Used: decision.Model, Model: fmt.Appendf(nil, `{"buys":%t,"price":%d}`, i%3 > 0, i), Rule: fmt.Appendf(nil, `{"buys":%t,"price":%d}`, i%2 > 0, i+5)}
		row.Steps = append(row.Steps, engine.StepRecord{Path: "offer", Decision: both})
		c.Add(row)
	}
	return c.Result(), nil
}

func (f *fake) Voices(context.Context, engine.RunID) (*voices.Crowd, error) {
	var c voices.Collector
	for i := range 20 {
		text := fmt.Sprintf("agent%d likes place%d with friend%d more than home%d", i, i*i, 2*i, 3*i)
		if f.same {
			text = "I like the new product a lot"
		}
		c.Add(voices.Answer{Agent: i, Step: "opinion", Text: text})
	}
	return c.Crowd(func(agent int) ([]engine.Fact, error) {
		return []engine.Fact{{Name: "region", Value: []string{"north", "south"}[agent%2]}}, nil
	})
}

func (f *fake) SaveTable(_ context.Context, path string, table findings.Sheet) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.saved[path] = table
	return f.refuse
}

func (f *fake) Surveys(context.Context, engine.RunID) ([]engine.RunRecord, error) {
	return f.surveys, nil
}

func (f *fake) StopSurvey(_ context.Context, run engine.RunID) error {
	if f.stopped = append(f.stopped, run); len(f.stopped) > 1 {
		return errors.New("it is not in progress here")
	}
	return nil
}

func (f *fake) Answers(context.Context, engine.RunID) (*survey.Result, error) { return f.result, nil }

func (f *fake) Subject(context.Context, engine.RunID) (*survey.Subject, error) {
	return &f.subject, nil
}

func (f *fake) ReadQuestions(_ context.Context, path string) (*survey.Survey, error) {
	if path == "/broken.yaml" {
		return nil, errors.New("it has no questions")
	}
	return questions(), nil
}

func (f *fake) WriteQuestions(_ context.Context, _ string, s *survey.Survey) error {
	f.written = s
	return nil
}

func (f *fake) ForecastSurvey(_ context.Context, o survey.Order) (string, error) {
	if o.Agents == "agent.nothing" {
		return "", &engine.FieldError{Field: "agents", Problem: "agents have no nothing"}
	}
	return fmt.Sprintf("Asks 20 agents %d questions.", len(o.Survey.Questions)), nil
}

func (f *fake) Ask(_ context.Context, o survey.Order) (engine.RunID, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.order = o
	return "asked", f.refuse
}

// questions are a survey with all kinds of questions.
func questions() *survey.Survey {
	return &survey.Survey{Title: "After a day", Segments: []string{"region"}, Separate: true, Questions: []survey.Question{
		{Name: "buy", Ask: "Would you buy it?", Kind: survey.Choice, Options: []string{"yes, today", "no"}},
		{Name: "content", Ask: "How content are you?", Kind: survey.Scale, Low: 1, High: 3},
		{Name: "pay", Ask: "How much would you pay?", Kind: survey.Number},
		{Name: "why", Ask: "Why?", Kind: survey.Text},
	}}
}

// answered returns a survey with its counts: agents of the north buy.
func answered(t *testing.T) *survey.Result {
	t.Helper()
	r, err := questions().Tally(func(yield func(*engine.SessionRow, error) bool) {
		for i := range 20 {
			data := fmt.Sprintf(`{"region": "north", "buy": "yes, today", "content": %d, "pay": %d, "why": "It is number %d."}`, 1+i%3, i, i)
			if i%2 == 1 {
				data = fmt.Sprintf(`{"region": "south", "buy": "no", "content": %d, "pay": %d, "why": "It is number %d."}`, 1+i%3, i, i)
			}
			if !yield(&engine.SessionRow{Place: engine.Place{Agent: i}, Events: []engine.Event{{Name: survey.Event, Data: []byte(data)}}}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func record(id engine.RunID) *engine.RunRecord {
	return &engine.RunRecord{ID: id, Title: "After a day: A study", Created: time.Date(2026, 1, 2, 15, 4, 5, 0, time.Local), Ending: engine.EndFinished, Done: 20, Total: 20}
}

// start shows an object in a window.
func start(t *testing.T, make func(win fyne.Window) fyne.CanvasObject) *uitest.Queue {
	t.Helper()
	q := uitest.Start(t)
	win := test.NewTempWindow(t, nil)
	win.SetContent(make(win))
	win.Resize(fyne.NewSize(1100, 700))
	return q
}

func wantShown(t *testing.T, o fyne.CanvasObject, wanted ...string) {
	t.Helper()
	for _, text := range wanted {
		if !uitest.Shows(o, text) {
			t.Errorf("%q is not shown in %q", text, uitest.Texts(o))
		}
	}
}
