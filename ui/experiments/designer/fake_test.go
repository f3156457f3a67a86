package designer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine/experiment/draft"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

// fake is a desk that counts the points of grids of lists.
type fake struct {
	mu      sync.Mutex
	loadErr error
	saveErr error
	checks  int
	saved   map[string]draft.Draft
}

const pricesFile = "/experiments/prices.experiment.yaml"

func (f *fake) Scenarios(context.Context) ([]Scenario, error) {
	return []Scenario{{Name: "shopping", Title: "Marketplace shoppers"}, {Name: "/my/shop.throng.yaml", Title: "My shop"}}, nil
}

func choices() draft.Choices {
	return draft.Choices{
		Factors: []draft.Choice{
			{Name: "params.eagerness", Title: "How readily a session buys", About: "0.1 to 5; usually 1", Usual: "1"},
			{Name: "params.llm_share", Title: "Fraction of sessions that ask a model", About: "0 to 1; usually 0", Usual: "0"},
			{Name: "params.provider", Title: "Model service", About: "one of mock, openai, openrouter, lambda, ollama, lmstudio, vllm; usually mock", Usual: "mock"},
		},
		Further:  []string{"settings.max-concurrent", "settings.warm-up", "service.shop.url"},
		Measures: []string{"acted", "events.abandoned", "events.order", "error_rate", "latency_p95", "cost", "events.abandoned.value.mean", "outcomes.failed"},
		Usual:    []string{"acted", "events.abandoned", "events.order", "error_rate"},
		Cycles:   "24",
	}
}

func (f *fake) Suggest(_ context.Context, of string) (*Form, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.loadErr != nil {
		return nil, f.loadErr
	}
	return &Form{Scenario: of, Choices: choices(), Draft: draft.Draft{
		Title: "Experiment with " + of, Scenario: of,
		Factors: []draft.Factor{
			{Name: "params.eagerness", Varied: true, Levels: "0.5, 1, 2", Baseline: "1"},
			{Name: "params.llm_share", Levels: "0, 1"},
			{Name: "params.provider", Levels: "mock, openai, openrouter, lambda, ollama, lmstudio, vllm"},
		},
		Design: draft.Design{Kind: "grid"}, Seeds: "10", Measures: []string{"acted", "events.order", "latency_p95"},
	}}, nil
}

func (f *fake) Load(_ context.Context, path string) (*Form, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &Form{Path: path, Text: []byte("scenario: shopping\n"), Choices: choices(), Draft: draft.Draft{
		Title: "Does eagerness pay?", Scenario: "shopping",
		Factors: []draft.Factor{{Name: "params.eagerness", Varied: true, Levels: "0 to 5", Baseline: "1"}, {Name: "params.provider", Levels: "mock, openai"}},
		Design:  draft.Design{Kind: "lhs", N: "40"}, Until: draft.Until{HalfWidth: "5%", Of: "acted"}, Settings: []draft.Setting{{Name: "warm-up", Value: "on"}}, Budget: draft.Budget{USD: "20"},
	}}, f.loadErr
}

func (f *fake) Check(_ context.Context, form Form) (*Checked, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.checks++
	c := &Checked{
		Points: 1, Seeds: 10, Unfit: map[string]string{"morris": "params.eagerness: has one level only, and the design morris changes every factor (add a level, or set the value outside of `vary`)"},
		Pairing: []string{"The prompt of ask_model contains params.eagerness, so models answer differently at each point."},
		Figures: []Figure{{"time", "about 12 min"}, {"requests", "120,000"}, {"tokens", "1,400,000"}, {"cost", "$1.40"}, {"disk", "44 MB"}},
	}
	wrong := func(field, text, hint string) {
		c.Mistakes = append(c.Mistakes, draft.Mistake{Field: field, Problem: view.Problem{Line: 7, Text: text, Hint: hint}})
	}
	for _, factor := range form.Draft.Factors {
		levels := strings.Split(factor.Levels, ",")
		switch {
		case !factor.Varied:
		case strings.TrimSpace(factor.Levels) == "":
			wrong("vary."+factor.Name, factor.Name+" has no level", "such as [1, 2]")
		case strings.Contains(factor.Levels, " to ") && form.Draft.Design.Kind == "grid":
			wrong("vary."+factor.Name, factor.Name+": a range has no levels for the design grid", "list the levels, or give `step` or `points`")
			c.Unfit["grid"] = factor.Name + ": a range has no levels for the design grid"
		default:
			c.Points *= len(levels)
		}
	}
	if form.Draft.Until.AtMost == "few" {
		wrong("replicates.until", "`at_most` must be a whole number, found `few`", "")
	}
	if form.Draft.Budget.USD == "0.01" {
		c.OverBudget = true
	}
	if slices.Contains(form.Draft.Measures, "luck") {
		wrong("measures", "there is no measure luck", "measures: acted, outcomes, tokens")
	}
	c.Runs = c.Points * c.Seeds
	return c, nil
}

func (f *fake) Save(_ context.Context, path string, form Form) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.saveErr == nil {
		f.saved[path] = form.Draft
	}
	return f.saveErr
}

// stage is the dialog in a window.
type stage struct {
	*Designer
	t     *testing.T
	q     *uitest.Queue
	desk  *fake
	went  []string
	asked []string // names that file dialogs proposed
	to    string   // the file that they choose
}

func newStage(t *testing.T) *stage {
	t.Helper()
	st := &stage{t: t, q: uitest.Start(t), desk: &fake{saved: map[string]draft.Draft{}}, to: "/mine/new"}
	win := test.NewTempWindow(t, container.NewWithoutLayout(form.Keeper()))
	win.Resize(fyne.NewSize(1280, 800))
	st.Designer = New(st.desk, win, Ways{
		Saved: func(path string) { st.went = append(st.went, "saved "+path) }, Text: func(path string) { st.went = append(st.went, "text "+path) },
	})
	widgets.UseDialogs(st)
	t.Cleanup(func() { widgets.UseDialogs(nil) })
	return st
}

func (st *stage) Folder(context.Context, string) (string, error) {
	return "", errors.New("not expected")
}

func (st *stage) File(context.Context, string, []string) (string, error) {
	return "", errors.New("not expected")
}

func (st *stage) Save(_ context.Context, _, name string) (string, error) {
	st.desk.mu.Lock()
	defer st.desk.mu.Unlock()
	st.asked = append(st.asked, name)
	return st.to, nil
}

// top is the dialog that is open on top.
func (st *stage) top() fyne.CanvasObject {
	st.t.Helper()
	top := st.win.Canvas().Overlays().Top()
	if top == nil {
		st.t.Fatal("no dialog is open")
	}
	return top
}

func (st *stage) until(text string) {
	st.t.Helper()
	st.q.Until(fmt.Sprintf("showing %q", text), func() bool { return uitest.Shows(st.top(), text) })
}

// settled waits until what was typed is checked.
func (st *stage) settled() {
	st.t.Helper()
	st.q.Until("checked", func() bool { return st.checked != nil })
}

// create opens a new experiment.
func (st *stage) create() {
	st.t.Helper()
	st.Create()
	st.settled()
}

// key types a key the way a window does: first for the dialog, then for the focused widget.
func (st *stage) key(name fyne.KeyName) {
	c := st.win.Canvas()
	if f := c.Focused(); !widgets.Key(c, name) && f != nil {
		f.TypedKey(&fyne.KeyEvent{Name: name})
	}
	st.q.Drain()
}
