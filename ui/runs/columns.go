package runs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// The columns of the runs.
const (
	columnStar = iota
	columnName
	columnState
	columnWhen
	columnProgress
	columnOutcome
	columnChanges
	columnTags
	columnSize
)

var runColumns = []widgets.Column{
	columnStar:     {Title: "", Sample: "m"},
	columnName:     {Title: "Name", Sample: "Marketplace shoppers", Weight: 1},
	columnState:    {Title: "State", Sample: "mmout of budget"},
	columnWhen:     {Title: "Started", Sample: "Yesterday, 00:00"},
	columnProgress: {Title: "Progress", Sample: "100,000 (100%)", Align: fyne.TextAlignTrailing, Drop: 1},
	columnOutcome:  {Title: "Outcome", Sample: "1,240 orders, no fail", Weight: 6, Drop: 2},
	columnChanges:  {Title: "Changes", Sample: "Shoppers 500, cyc", Weight: 2, Drop: 3},
	columnTags:     {Title: "Tags", Sample: "prices b2b", Weight: 1, Drop: 4},
	columnSize:     {Title: "Size", Sample: "1000 kB", Align: fyne.TextAlignTrailing, Drop: 5},
}

// orders compare runs by a column.
var orders = []func(s *Screen, a, b *engine.RunRecord) int{
	columnStar:  func(_ *Screen, a, b *engine.RunRecord) int { return cmp.Compare(starred(a), starred(b)) },
	columnName:  byText(func(r *engine.RunRecord) string { return strings.ToLower(r.DisplayName()) }),
	columnState: byText(func(r *engine.RunRecord) string { return r.State() }),
	columnWhen:  func(_ *Screen, a, b *engine.RunRecord) int { return a.Created.Compare(b.Created) },
	columnProgress: func(_ *Screen, a, b *engine.RunRecord) int {
		return cmp.Or(cmp.Compare(portion(a), portion(b)), cmp.Compare(a.Done, b.Done))
	},
	columnOutcome: byText(view.Outcome),
	columnChanges: byText(view.DifferencesText),
	columnTags:    byText(func(r *engine.RunRecord) string { return strings.Join(r.Tags, " ") }),
	columnSize:    func(s *Screen, a, b *engine.RunRecord) int { return cmp.Compare(s.sizes[a.ID], s.sizes[b.ID]) },
}

func byText(text func(*engine.RunRecord) string) func(*Screen, *engine.RunRecord, *engine.RunRecord) int {
	return func(_ *Screen, a, b *engine.RunRecord) int { return strings.Compare(text(a), text(b)) }
}

func starred(r *engine.RunRecord) int {
	if r.Star {
		return 1
	}
	return 0
}

// portion returns the completed share of a run; 0 if its length is unknown.
func portion(r *engine.RunRecord) float64 { return view.DoneOf(r).Share() }

// parentName returns the name of the run that a fork continues; "" if it is not in the list.
func parentName(r *engine.RunRecord, all []engine.RunRecord) string {
	if r.Parent == "" {
		return ""
	}
	if i := slices.IndexFunc(all, func(o engine.RunRecord) bool { return o.ID == r.Parent }); i >= 0 {
		return all[i].DisplayName()
	}
	return ""
}

// runRows returns the rows of runs. all also has the runs that the list does not show.
func runRows(runs, all []engine.RunRecord, sizes map[engine.RunID]int64) []widgets.Row {
	rows := make([]widgets.Row, len(runs))
	now := time.Now()
	for i := range runs {
		r := &runs[i]
		word, tone := words.State(r)
		size := ""
		if n := sizes[r.ID]; n > 0 {
			size = engine.FormatBytes(n)
		}
		rows[i] = widgets.Row{Key: string(r.ID), Cells: []widgets.Cell{
			columnStar:     starCell(r),
			columnName:     {Text: titled(r), Tip: nameTip(r, parentName(r, all))},
			columnState:    {Text: word, Tone: tone, Badge: true, Icon: words.Glyph(r), Tip: because(r)},
			columnWhen:     {Text: when(r.Created, now), Tip: span(r)},
			columnProgress: {Text: view.DoneOf(r).Brief(), Tip: progressTip(r)},
			columnOutcome:  {Text: view.Outcome(r), Tone: outcomeTone(r)},
			columnChanges:  {Text: view.DifferencesText(r), Tone: widgets.Quiet, Tip: changesTip(r)},
			columnTags:     {Text: strings.Join(r.Tags, " "), Tone: widgets.Quiet},
			columnSize:     {Text: size, Tone: widgets.Quiet},
		}}
	}
	return rows
}

func starCell(r *engine.RunRecord) widgets.Cell {
	if r.Star {
		return widgets.Cell{Icon: widgets.StarIcon(true), Tone: widgets.Accent, Tip: "Remove the star"}
	}
	return widgets.Cell{Icon: widgets.StarIcon(false), Tone: widgets.Quiet, Tip: "Add a star"}
}

// outcomeTone marks results that miss a criterion or depend on timing.
func outcomeTone(r *engine.RunRecord) widgets.Tone {
	if r.Inexact != nil {
		return widgets.Warning
	}
	for i := range r.Verdict {
		if !r.InProgress && !r.Verdict[i].Passed && !r.Verdict[i].Unknown {
			return widgets.Warning
		}
	}
	return widgets.Neutral
}

// titled returns the name of a run, and what else tells it apart from others of its scenario.
func titled(r *engine.RunRecord) string {
	title := r.DisplayName()
	if state := r.CleanedState(); state != "" {
		title += " (" + state + ")"
	}
	return title
}

// nameTip explains the name of a run.
func nameTip(r *engine.RunRecord, parent string) string {
	lines := []string{r.DisplayName()}
	if r.Name != "" && r.Name != r.Title {
		lines = append(lines, r.Title)
	}
	lines = append(lines, "Run "+string(r.ID))
	if origin := view.OriginSentence(r, parent); origin != "" {
		lines = append(lines, origin)
	}
	if r.Note != "" {
		lines = append(lines, r.Note)
	}
	return strings.Join(lines, "\n")
}

// changesTip lists the differences from the scenario.
func changesTip(r *engine.RunRecord) string {
	all := view.Differences(r)
	if len(all) == 0 {
		return ""
	}
	return "Changed from " + r.Source.Name + ":\n" + strings.Join(all, "\n")
}

// span says when a run started and ended.
func span(r *engine.RunRecord) string {
	text := "Started " + words.Stamp(r.Created)
	if !r.Ended.IsZero() && !r.InProgress {
		text += "\nEnded " + words.Stamp(r.Ended)
	}
	return text
}

// when formats a moment as briefly as today's date allows.
func when(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	days := func(t time.Time) int {
		return int(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / 86400)
	}
	switch days(now) - days(at) {
	case 0:
		return "Today, " + at.Format("15:04")
	case 1:
		return "Yesterday, " + at.Format("15:04")
	}
	if at.Year() == now.Year() {
		return at.Format("Jan 2, 15:04")
	}
	return at.Format("Jan 2, 2006")
}

// at formats the time of a checkpoint of the chosen run, with seconds if another checkpoint has the same minute.
func (s *Screen) at(c *engine.CheckpointRecord) string {
	return pointTime(c, s.checkpoints, time.Now())
}

func pointTime(c *engine.CheckpointRecord, all []engine.CheckpointRecord, now time.Time) string {
	text := moment(c.At, now)
	for i := range all {
		if o := &all[i]; o.Number != c.Number && moment(o.At, now) == text {
			return text + c.At.Local().Format(":05")
		}
	}
	return text
}

// moment formats the time of a checkpoint: without the date if it is that of today.
func moment(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format("15:04")
	}
	if at.Year() == now.Year() {
		return at.Format("Jan 2, 15:04")
	}
	return at.Format("Jan 2, 2006, 15:04")
}

var checkpointColumns = []widgets.Column{
	{Title: "Checkpoint", Sample: "10 newest"},
	{Title: "Time", Sample: "2026-12-28 00:00:00"},
	{Title: "Cycle", Sample: "1000", Align: fyne.TextAlignTrailing},
	{Title: "Done", Sample: "100,000 (10.0%)", Align: fyne.TextAlignTrailing},
	{Title: "Kind", Sample: "at a pause", Drop: 1},
	{Title: "Reason", Sample: "interval", Weight: 1, Drop: 2},
	{Title: "Size", Sample: "1000 kB", Align: fyne.TextAlignTrailing, Drop: 3},
	{Title: "Took", Sample: "1000 ms", Align: fyne.TextAlignTrailing, Drop: 4},
}

// checkpointRows returns the rows of the checkpoints of a run that took over kept sessions.
func checkpointRows(all []engine.CheckpointRecord, kept int64) []widgets.Row {
	rows := make([]widgets.Row, len(all))
	for i := range all {
		c := &all[i]
		number := widgets.Cell{Text: strconv.Itoa(c.Number)}
		if c.Newest {
			number = widgets.Cell{Text: number.Text + " newest", Tone: widgets.Accent, Badge: true}
		}
		kind, took := widgets.Cell{Text: c.Kind()}, ""
		if c.Emergency() {
			kind.Tone = widgets.Warning
		}
		if c.Took > 0 {
			took = engine.FormatDuration(c.Took)
		}
		rows[i] = widgets.Row{Key: strconv.Itoa(c.Number), Cells: []widgets.Cell{
			number,
			{Text: words.Stamp(c.At)},
			{Text: strconv.Itoa(c.Cycle)},
			{Text: view.Done{Sessions: c.Done, Kept: kept, Planned: c.Total}.Brief()},
			kind,
			{Text: c.Reason},
			{Text: engine.FormatBytes(c.SizeBytes)},
			{Text: took},
		}}
	}
	return rows
}

// progressTip explains the progress of a run.
func progressTip(r *engine.RunRecord) string {
	text := view.DoneOf(r).WithCycles(r.Cycle, r.Cycles)
	if r.Kept > 0 {
		text += "\n" + engine.FormatCount(r.Kept) + " of them kept from the run that it continues"
	}
	return text
}
