package report

import (
	"context"
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/seconds"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage"
)

// page is the data of the template. Empty parts are left out.
type page struct {
	Style   template.CSS
	Version string
	summary
	Outcomes outcomesView
	Real     *realData // nil without real data
	Voices   voicesView
	Rules    rulesView
	performance
	problems
	events
	inputs

	Against    *against
	Forecast   *forecast
	Transcript transcript
}

// summary is the run at a glance.
type summary struct {
	Title    string
	Run      engine.RunID
	State    mark
	When     string
	Headline string
	Verdict  mark
	Exact    mark
	Origin   string // of a fork
	Note     string
	Audit    *mark
	Criteria []criterion
	Figures  []figure
}

// performance is the run over time, and the times of its parts.
type performance struct {
	Charts        []chartView
	NoMetrics     bool
	Gaps          string // in the time of the charts
	Latency       histogramView
	Times         [][]string // of sessions: name, p50, p95, p99, longest
	Steps         table
	Services      table
	Cycles        table
	EarlierCycles string // how many cycles Cycles leaves out, and where they are
	Spent         spent
}

// problems are errors, anomalies and unconfirmed requests.
type problems struct {
	Errors      []errorClass
	Failed      string
	Unconfirmed unconfirmed
	Anomalies   []anomaly
}

// events are interventions during and after the run.
type events struct {
	Cleaned []mark
	Changes []change
	Moves   string // summary of the governors' changes of the limit
}

// inputs are the scenario, the settings and the parameters of the run.
type inputs struct {
	Facts    [][2]string
	Settings [][2]string
	Params   [][2]string
	Files    []file
	// Population describes how the agents were drawn from a file; nil if they were not.
	Population *view.Population
}

// mark is a word with a tone: good, bad, warn or plain.
type mark struct{ Tone, Text string }

// figure is a key figure with a remark.
type figure struct{ Name, Value, About string }

// table is a table of texts.
type table = view.Table

// newPage collects the data of the page.
func newPage(ctx context.Context, src Source, run engine.RunID, extras *Extras) (*page, error) {
	r, err := src.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	t, err := src.Totals(ctx, run)
	if err != nil {
		return nil, err
	}
	changes, err := changesOf(ctx, src, run, extras)
	if err != nil {
		return nil, err
	}
	errs, err := src.LatestErrors(ctx, run, latestErrors)
	if err != nil {
		return nil, err
	}
	p := &page{
		Style:   template.CSS(styleText), //nolint:gosec // our own
		Version: extras.Version,
		summary: summary{
			Title: r.Title, Run: r.ID, State: state(&r), When: when(&r), Headline: headline(&r, &t), Verdict: toned(view.Verdict(&r, &t)), Exact: toned(view.Exactness(&r, &t)), Note: r.Note,
			Criteria: criteriaOf(&r), Figures: figuresOf(&r, &t),
		},
		performance: performance{Latency: newHistogram(t.Latency()), Times: timesOf(&t), Steps: view.StepTable(stepLines(&t, extras.Calls)), Services: view.ServiceTable(&t, extras.Calls), Spent: newSpent(&r, &t)},
		Forecast:    newForecast(&r, &t),
		inputs:      inputs{Population: extras.Population},
	}
	if err := p.seconds(ctx, src, &r, changes); err != nil {
		return nil, err
	}
	if p.Errors, err = errorsOf(errs, extras.Agent); err != nil {
		return nil, err
	}
	if p.Unconfirmed, err = unconfirmedOf(ctx, src, run, extras.Agent); err != nil {
		return nil, err
	}
	barriers, err := src.Barriers(ctx, run)
	if err != nil {
		return nil, err
	}
	p.Cycles, p.EarlierCycles = view.CycleTable(barriers)
	if p.Outcomes, err = emittedOf(ctx, src, run, extras); err != nil {
		return nil, err
	}
	if p.Failed, err = failedOf(&t, extras.Agent); err != nil {
		return nil, err
	}
	if p.Origin, err = origin(ctx, src, &r); err != nil {
		return nil, err
	}
	p.Cleaned = cleanedOf(&r)
	p.compared(&r, &t, extras)
	if err := p.addTranscript(ctx, extras); err != nil {
		return nil, err
	}
	return p, p.made(&r, &t)
}

// compared adds what the run is compared with: its recomputed figures, another run, and real data.
func (p *page) compared(r *engine.RunRecord, t *engine.Totals, extras *Extras) {
	if a := extras.Audit; a != nil {
		p.Audit = &mark{tone(a.Equal), a.Summary}
	}
	if extras.Against != nil {
		p.Against = newAgainst(r, t, extras.Against)
	}
	p.Real, p.Voices, p.Rules = newRealData(extras.Real), newVoices(extras.Voices), newRules(extras.Agreement)
}

// changesOf returns the changes of a run, with its restarts if they are known.
func changesOf(ctx context.Context, src Source, run engine.RunID, extras *Extras) ([]engine.ChangeRow, error) {
	if extras.Timeline != nil {
		return view.WithRestarts(extras.Timeline, time.Time{}), nil
	}
	return src.Changes(ctx, run)
}

// cleanedOf describes the cleanups of a run.
func cleanedOf(r *engine.RunRecord) (all []mark) {
	for i := range r.Cleaned {
		c := &r.Cleaned[i]
		all = append(all, mark{map[bool]string{true: "plain", false: "warn"}[c.Whole()], c.Sentence(r.ID, func(t time.Time) string { return stamp(t) + " UTC" })})
	}
	return all
}

// seconds reads the metrics for charts, anomalies, and the times of changes.
func (p *page) seconds(ctx context.Context, src Source, r *engine.RunRecord, changes []engine.ChangeRow) error {
	x := &axis{}
	odd := health.NewAnomalies(r, changes)
	for m, err := range seconds.Shown(src.Metrics(ctx, r.ID, time.Time{})) {
		if err != nil {
			return err
		}
		x.see(m.At)
		odd.See(m)
	}
	p.changes(r, x, changes)
	p.Anomalies = anomaliesOf(odd)
	if x.length() == 0 {
		p.NoMetrics = true
		return nil
	}
	all := newCharts(x)
	for m, err := range seconds.Shown(src.Metrics(ctx, r.ID, time.Time{})) {
		if err != nil {
			return err
		}
		if m.At.After(x.last) {
			break // the run is in progress
		}
		all.see(m)
	}
	p.Charts, p.Gaps = all.views(marksOf(x, changes)), x.gaps()
	return nil
}

func tone(good bool) string {
	if good {
		return "good"
	}
	return "bad"
}

func state(r *engine.RunRecord) mark {
	switch {
	case r.InProgress:
		return mark{"plain", r.State()}
	case r.Ending == engine.EndFinished:
		return mark{"good", r.State()}
	case r.Ending == engine.EndFailed, r.Ending == engine.EndHopeless, r.Ending == engine.EndOutOfBudget:
		return mark{"bad", r.State()}
	default:
		return mark{"warn", r.State()}
	}
}

// stamp formats a time in UTC, so that a report does not depend on the machine that writes it.
func stamp(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05") }

func when(r *engine.RunRecord) string {
	text := stamp(r.Created)
	if !r.Ended.IsZero() {
		end := stamp(r.Ended)
		if day := r.Created.UTC().Format("2 Jan 2006, "); strings.HasPrefix(end, day) {
			end = strings.TrimPrefix(end, day)
		}
		text += " to " + end
	}
	return text + " UTC"
}

// headline describes the progress of the run.
func headline(r *engine.RunRecord, t *engine.Totals) string {
	done := view.Done{Sessions: t.Ended(), Kept: r.Kept, Planned: r.Total, Survey: view.SurveyOf(r)}
	text := done.String()
	if r.Cycles > 0 {
		text = done.WithCycles(r.Cycle, r.Cycles)
	}
	if r.Kept > 0 {
		text += fmt.Sprintf(" (%s kept from the run that it continues)", engine.Counted(r.Kept, "session", "sessions"))
	}
	if t.Peaks.Elapsed > 0 {
		text += ", " + engine.FormatDuration(t.Peaks.Elapsed)
	}
	switch {
	case r.InProgress:
		text += "; the run is in progress"
	case view.Why(r) != "":
		text += "; " + view.Why(r)
	}
	return text + "."
}

func toned(m view.Mark) mark { return mark{string(m.Tone), m.Text} }

// origin describes where a fork comes from. Its parent may be deleted.
func origin(ctx context.Context, src Source, r *engine.RunRecord) (string, error) {
	if r.Parent == "" {
		return "", nil
	}
	parent, err := src.Run(ctx, r.Parent)
	switch {
	case err == nil:
		return view.OriginSentence(r, fmt.Sprintf("%s (run %s)", parent.DisplayName(), parent.ID)), nil
	case isGone(err):
		return view.OriginSentence(r, ""), nil
	}
	return "", err
}

// made adds the inputs of the run, without possible secrets.
func (p *page) made(r *engine.RunRecord, t *engine.Totals) error {
	s, err := storage.Summarize(r, t)
	if err != nil {
		return err
	}
	p.Facts = [][2]string{{"Run", string(r.ID)}, {"Scenario", r.Source.Name}, {"Hash", r.Source.Hash}, {"Seed", fmt.Sprint(r.Settings.Seed)}}
	if alone := r.Source.Alone(); alone != "" {
		p.Facts = append(p.Facts, [2]string{"Only chain", alone})
	}
	if names := r.Source.Mocked(); len(names) > 0 {
		p.Facts = append(p.Facts, [2]string{"Not defined", strings.Join(names, ", ") + ": the mock answered in their place"})
	}
	if p.Settings, err = flatten(s.Settings); err != nil {
		return err
	}
	p.Params, err = flatten(s.Parameters)
	p.Files = filesOf(&r.Source)
	return err
}
