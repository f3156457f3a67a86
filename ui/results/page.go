package results

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/note"
	"github.com/throng-sim/throng/ui/internal/picture"
	"github.com/throng-sim/throng/ui/internal/steptable"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// mostChanges is the maximum number of visible changes.
const mostChanges = 10

// page shows the results of a run.
type page struct {
	win     fyne.Window
	run     engine.RunID
	content *fyne.Container

	badge    *widgets.Badge
	verdict  *widget.Label // the answer in one sentence
	headline *widgets.Notice
	exact    *widgets.Notice
	cleaned  *widgets.Notice

	outcomes *widgets.Shares
	note     *note.Editor
	checks   *runChecks
	criteria *widgets.Sheet
	foreseen [2]*widgets.Sheet // side by side
	fact     *widgets.Panel    // of both tables
	basis    *form.Note        // the basis of the forecast
	totals   *board
	models   *board
	waits    *board
	held     *widgets.Panel
	resumed  *board
	recorded *board
	latency  *widgets.Sheet
	time     *spent
	peaks    *board
	graphs   *graphs
	errors   *widgets.Sheet
	latest   [][]engine.ErrorNote
	failed   *widgets.Notice
	doubts   *widgets.Sheet
	doubtful *widgets.Notice
	doubted  *widgets.Panel
	changes  *widgets.Table

	emitted     *emitted
	over        *gallery
	overTime    *widgets.Panel
	steps       *widgets.Sheet
	stepLines   *steptable.Steps
	services    *widgets.Sheet
	cycles      *widgets.Sheet
	cycled      *widgets.Panel
	made        *pairs
	diagnostics *fold
	inputs      *fold
}

func newPage(win fyne.Window, checks *runChecks, note *note.Editor) *page {
	p := &page{win: win, checks: checks, note: note, outcomes: widgets.NewShares(), badge: widgets.NewBadge("", widgets.Neutral), headline: widgets.NewNotice(), exact: widgets.NewNotice(), cleaned: widgets.NewNotice()}
	p.verdict = widget.NewLabelWithStyle("", fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	p.verdict.Wrapping = fyne.TextWrapWord
	keep := picture.Keep(func() string { return string(p.run) }, p.headline.Say)
	p.emitted, p.over = newEmitted(keep), newGallery(keep)
	p.steps = widgets.NewSheet(steptable.Columns(), "", nil)
	p.stepLines = steptable.New(p.steps)
	p.steps.OnSort = p.stepLines.Sort
	p.services, p.cycles = newTextSheet(view.ServiceTable(&engine.Totals{}, nil).Head), newTextSheet(cycleHead)
	p.made = newPairs()
	const count, clock = "1,000,000", "59 min 59 s"
	end := fyne.TextAlignTrailing
	p.criteria = widgets.NewSheet([]widgets.Column{
		{Title: "Verdict", Sample: "mmunknown"},
		{Title: "Metric", Sample: "checkpoint_gap", Weight: 1},
		{Title: "Target", Sample: ">= 100%"},
		{Title: "Measured", Sample: "unknown", Align: end},
	}, "", nil)
	for i := range p.foreseen {
		p.foreseen[i] = widgets.NewSheet([]widgets.Column{
			{Title: "Figure", Sample: "db connections", Weight: 1},
			{Title: "Forecast", Sample: "32 MB–1,290 MB", Align: end},
			{Title: "Actual", Sample: count, Align: end},
			{Title: "Difference", Sample: "as forecast", Align: end},
		}, "", nil)
	}
	p.basis = form.NewNote("")
	p.latency = widgets.NewSheet([]widgets.Column{
		{Title: "Sessions", Sample: "queued", Weight: 1},
		{Title: "p50", Sample: clock, Align: end},
		{Title: "p95", Sample: clock, Align: end},
		{Title: "p99", Sample: clock, Align: end},
		{Title: "Longest", Sample: clock, Align: end},
	}, "", nil)
	p.errors = widgets.NewSheet([]widgets.Column{
		{Title: "Class", Sample: "server_error"},
		{Title: "Sessions", Sample: count, Align: end},
		{Title: "Last in cycle", Sample: "1000", Align: end, Drop: 3},
		{Title: "Agent", Sample: "shopper-1000", Drop: 1},
		{Title: "Step", Sample: "fill_cart.add", Weight: 1, Drop: 2},
		{Title: "Message", Sample: "connection refused", Weight: 3},
	}, "No sessions failed.", p.showError)
	p.doubtful = widgets.NewNotice()
	p.doubts = widgets.NewSheet([]widgets.Column{
		{Title: "Time", Sample: "2026-12-28 00:00:00", Drop: 2},
		{Title: "Cycle", Sample: "1000", Align: end, Drop: 1},
		{Title: "Agent", Sample: "shopper-1000"},
		{Title: "Step", Sample: "fill_cart.add", Weight: 1},
		{Title: "Request", Sample: "POST /api/orders", Weight: 2},
	}, "", nil)
	p.changes = widgets.NewTable([]widgets.Column{
		{Title: "Time", Sample: "2026-12-28 00:00:00", Drop: 3},
		{Title: "Cycle", Sample: "1000", Align: end, Drop: 4},
		{Title: "Setting", Sample: "Concurrency limit"},
		{Title: "Old", Sample: "connections", Drop: 2},
		{Title: "New", Sample: "connections"},
		{Title: "Who", Sample: "governor", Drop: 1},
		{Title: "Why", Sample: "the success rate fell", Weight: 1},
	}, "No changes during the run.", 1)
	p.failed = widgets.NewNotice()
	p.graphs = newGraphs(p.showError)
	p.totals = newBoard(totalFigures)
	p.models = newBoard(modelFigures)
	p.waits = newBoard(waitFigures)
	p.resumed = newBoard(resumedFigures)
	p.recorded = newBoard(recordedFigures)
	p.peaks = newBoard(peakFigures)
	p.time = newSpent()
	p.layOut()
	p.hide()
	return p
}

// columnEms is the minimum width of a column, in text heights.
const columnEms = 34

func (p *page) layOut() {
	gap := theme.Padding()
	said := form.NewStack(container.NewBorder(nil, nil, p.badge, nil, p.verdict),
		container.New(layout.NewCustomPaddedLayout(gap, gap, 0, 0), p.outcomes), p.headline, p.exact, p.cleaned)
	head := form.NewColumns(columnEms, said, p.note)
	p.fact = widgets.NewPanel("Forecast and actual", form.NewStack(form.NewColumns(columnEms, p.foreseen[0], p.foreseen[1]), p.basis))
	totals := widgets.NewPanel("Totals", form.NewStack(p.totals.content, p.models.content, p.resumed.content, p.recorded.content))
	p.held = widgets.NewPanel("Throttled time, all requests", p.waits.content)
	most := form.NewPanels(widgets.NewPanel("Peaks", p.peaks.content), p.held)
	p.doubted = widgets.NewPanel("Unconfirmed requests", form.NewStack(p.doubtful, p.doubts))
	p.cycled = widgets.NewPanel("Cycles", p.cycles)
	p.overTime = widgets.NewPanel("", widgets.NewHeading("Over time"))
	p.diagnostics = newFold("Diagnostics", p.checks.summary, form.NewPanels(
		p.checks.panel, p.time.panel, form.NewColumns(columnEms, totals, most), p.graphs.content, p.fact, p.cycled,
	))
	p.inputs = newFold("Inputs", nil, p.made.content)
	p.content = form.NewPanels(
		widgets.NewPanel("", head),
		p.emitted.content,
		form.NewColumns(columnEms, widgets.NewPanel("Criteria", p.criteria), widgets.NewPanel("Latency", p.latency)),
		p.overTime, p.over.content,
		widgets.NewPanel("Steps", form.NewStack(p.steps, p.services)),
		widgets.NewPanel("Errors by class", form.NewStack(p.errors, p.failed)),
		p.doubted,
		widgets.NewPanel("Changes during the run", p.changes),
		p.diagnostics.content, p.inputs.content,
	)
}

func (p *page) hide() {
	if p.content.Visible() {
		p.content.Hide()
	}
}

// show shows a run. Unchanged parts are not drawn again.
func (p *page) show(r *engine.RunRecord, f *figures) {
	p.run = r.ID
	p.badge.Set(words.State(r))
	m := view.Verdict(r, &f.totals)
	if importance := importances[m.Tone]; p.verdict.Text != m.Text || p.verdict.Importance != importance {
		p.verdict.Importance = importance
		p.verdict.SetText(m.Text)
	}
	p.headline.Say(headline(r, &f.totals), widgets.Quiet)
	p.outcomes.Set(outcomeShares(&f.totals))
	p.note.Open(r.ID, r.Note)
	p.exact.Say(exactness(r, &f.totals))
	p.cleaned.Say(cleaned(r))
	if judged(r) {
		p.criteria.SetEmpty("No criteria.")
		p.criteria.SetRows(criteriaRows(r.Verdict))
	} else {
		p.criteria.SetEmpty("Evaluated at the end of the run.")
		p.criteria.SetRows(nil)
	}
	p.showForecast(r, f)
	p.totals.show(&f.totals)
	p.models.show(&f.totals)
	p.models.content.Hidden = !calledModels(&f.totals)
	p.waits.show(&f.totals)
	p.held.Hidden = !waited(&f.totals)
	p.resumed.show(&f.totals)
	p.resumed.content.Hidden = !resumed(&f.totals)
	p.recorded.show(&f.totals)
	p.recorded.content.Hidden = !replayed(&f.totals)
	p.latency.SetRows(latencyRows(&f.totals))
	p.peaks.show(&f.totals)
	p.time.show(r, &f.totals)
	p.graphs.show(r.ID, f)
	p.latest = f.latest
	p.errors.SetRows(errorRows(f.errors))
	failed := ""
	if f.failed != "" {
		failed = "Failed agents: " + f.failed + "."
	}
	p.failed.Say(failed, widgets.Quiet)
	p.showDoubts(&f.doubts)
	p.showDetails(f.details)
	p.changes.SetLeast(min(max(len(f.changes), 1), mostChanges))
	p.changes.SetRows(changeRows(f.changes))
	p.over.mark(f.changes)
	if !p.content.Visible() {
		p.content.Show()
	}
}

// mostDoubts is the maximum number of listed unconfirmed requests.
const mostDoubts = 100

// showDoubts shows the requests that may have been executed twice.
func (p *page) showDoubts(u *engine.UnconfirmedList) {
	p.doubted.Hidden = u.All == 0
	text := ""
	if u.All > 0 {
		text = u.Sentence() + ". To do: " + engine.UnconfirmedAdvice + "."
	}
	p.doubtful.Say(text, widgets.Warning)
	p.doubts.SetRows(doubtRows(u))
}

// showForecast compares the forecast with the actual values.
func (p *page) showForecast(r *engine.RunRecord, f *figures) {
	if r.Forecast == nil {
		p.fact.Hide()
		return
	}
	p.fact.Show()
	rows := forecastRows(view.CompareForecast(r, &f.totals))
	half := (len(rows) + 1) / 2
	p.foreseen[0].SetRows(rows[:half])
	p.foreseen[1].SetRows(rows[half:])
	p.basis.SetText("Basis of the forecast: " + view.ForecastBasis(r.Forecast) + ".")
}

// showError shows the latest errors of a class in full.
func (p *page) showError(class string) {
	for _, notes := range p.latest {
		if notes[0].Class.String() == class {
			words.ShowErrors(p.win, notes)
		}
	}
}
