package results

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// pickText returns a run's unique line in the selection.
func pickText(r *engine.RunRecord) string {
	word, _ := words.State(r)
	return fmt.Sprintf("%s, %s, %s (%s)", r.DisplayName(), words.Stamp(r.Created), word, r.ID)
}

// headline describes a run's duration and progress. Its state is shown before it.
func headline(r *engine.RunRecord, t *engine.Totals) string {
	sessions := view.Done{Sessions: t.Ended(), Kept: r.Kept, Planned: r.Total, Survey: view.SurveyOf(r)}.String()
	if r.Kept > 0 {
		sessions += fmt.Sprintf(" (%s kept)", engine.FormatCount(r.Kept))
	}
	switch {
	case r.InProgress:
		return sessions + " so far"
	case t.Peaks.Elapsed > 0:
		sessions = "after " + engine.FormatDuration(t.Peaks.Elapsed) + ", " + sessions
	}
	if why := view.Why(r); why != "" {
		sessions += ": " + why
	}
	return sessions
}

// judged reports whether a run has a verdict, or will not get one.
func judged(r *engine.RunRecord) bool { return !r.InProgress && r.Ending != engine.NotEnded }

// shareText returns a count and its percentage.
func shareText(n, all int64) string {
	text := engine.FormatCount(n)
	if n == 0 || all == 0 {
		return text
	}
	switch percent := 100 * float64(n) / float64(all); {
	case n == all:
		return text + " (100%)"
	case percent < 0.1:
		return text + " (under 0.1%)"
	case percent >= 99.95: // rounded, but not all
		return text + " (over 99.9%)"
	case percent < 10, percent >= 99:
		return fmt.Sprintf("%s (%.1f%%)", text, percent)
	default:
		return fmt.Sprintf("%s (%.0f%%)", text, percent)
	}
}

// doubtRows returns the requests that may have been executed twice.
func doubtRows(u *engine.UnconfirmedList) []widgets.Row {
	rows := make([]widgets.Row, len(u.First))
	for i := range u.First {
		r := &u.First[i]
		rows[i] = widgets.Row{Key: strconv.Itoa(i), Cells: []widgets.Cell{
			{Text: words.Stamp(r.At)}, {Text: strconv.Itoa(r.Cycle)}, {Text: r.AgentName()}, {Text: r.Path}, {Text: r.Request},
		}}
	}
	return rows
}

// exactness describes since when and why a run's result is not exact; "" if the verdict says that it is exact.
func exactness(r *engine.RunRecord, t *engine.Totals) (string, widgets.Tone) {
	m := view.Exactness(r, t)
	if judged(r) && m.Tone == view.Good {
		m.Text = ""
	}
	return m.Text, tones[m.Tone]
}

// cleaned describes the prunings of a run; "" if none.
func cleaned(r *engine.RunRecord) (string, widgets.Tone) {
	tone := widgets.Quiet
	lines := make([]string, len(r.Cleaned))
	for i := range r.Cleaned {
		lines[i] = r.Cleaned[i].Sentence(r.ID, words.Stamp)
	}
	if n := len(lines); n > 0 && !r.Cleaned[n-1].Whole() {
		tone = widgets.Warning
	}
	return strings.Join(lines, "\n"), tone
}

func criteriaRows(verdict []engine.Judgment) []widgets.Row {
	rows := make([]widgets.Row, len(verdict))
	for i := range verdict {
		j := &verdict[i]
		mark := widgets.Cell{Text: "pass", Tone: widgets.Good, Icon: theme.ConfirmIcon()}
		switch {
		case j.Unknown:
			mark = widgets.Cell{Text: "unknown", Tone: widgets.Warning, Icon: theme.QuestionIcon()}
		case !j.Passed:
			mark = widgets.Cell{Text: "FAIL", Tone: widgets.Bad, Icon: theme.CancelIcon()}
		}
		measured := widgets.Cell{Text: j.Shown}
		if mark.Tone == widgets.Bad {
			measured.Tone = widgets.Bad
		}
		rows[i] = widgets.Row{Key: strconv.Itoa(i), Cells: []widgets.Cell{mark, {Text: j.Criterion.Name()}, {Text: j.Criterion.Text}, measured}}
	}
	return rows
}

// histogram is a distribution.
type histogram interface {
	Count() int64
	Quantile(q float64) time.Duration
	Max() time.Duration
}

func latencyRows(t *engine.Totals) []widgets.Row {
	var rows []widgets.Row
	for _, h := range []struct {
		name string
		histogram
	}{{"total", &t.Total}, {"service", &t.Service}, {"throttled", &t.Throttled}, {"queued", &t.Queue}, {"from intended start", &t.Response}} {
		if h.Count() == 0 && len(rows) == 4 { // agents did not arrive over time
			continue
		}
		cells := []widgets.Cell{{Text: h.name}}
		for _, d := range []time.Duration{h.Quantile(0.50), h.Quantile(0.95), h.Quantile(0.99), h.Max()} {
			text := unknown
			if h.Count() > 0 {
				text = engine.FormatDuration(d)
			}
			cells = append(cells, widgets.Cell{Text: text})
		}
		rows = append(rows, widgets.Row{Key: h.name, Cells: cells})
	}
	return rows
}

func errorRows(notes []engine.ErrorNote) []widgets.Row {
	rows := make([]widgets.Row, len(notes))
	for i := range notes {
		n := &notes[i]
		rows[i] = widgets.Row{Key: n.Class.String(), Cells: []widgets.Cell{
			{Text: n.Class.String(), Tone: widgets.Bad}, {Text: engine.FormatCount(n.Count)}, {Text: strconv.Itoa(n.Cycle)}, {Text: n.AgentName()}, {Text: n.Path}, {Text: n.Message},
		}}
	}
	return rows
}

func forecastRows(facts []view.ForecastFact) []widgets.Row {
	rows := make([]widgets.Row, len(facts))
	for i, f := range facts {
		fact := widgets.Cell{Text: known(f.Fact != "", f.Fact)}
		difference := widgets.Cell{Text: known(f.Difference != "", f.Difference)}
		if f.Off {
			difference.Tone = widgets.Warning
		}
		rows[i] = widgets.Row{Key: f.Name, Cells: []widgets.Cell{{Text: f.Name}, {Text: f.Forecast}, fact, difference}}
	}
	return rows
}

// told describes an order of the user with the agent or the message.
func told(c engine.ChangeRow) engine.ChangeRow {
	if words.OfAgent(c.What) {
		c.Why = strings.TrimPrefix(c.Why+"; agent "+c.Old, "; ")
		c.Old, c.New = "", ""
		return c
	}
	i, ok, err := engine.ReadInjection(c.What, c.New)
	var said struct {
		Text *string
		Data json.RawMessage
	}
	if !ok || err != nil || json.Unmarshal(i.Body, &said) != nil {
		return c
	}
	text := string(said.Data)
	if said.Text != nil {
		text = *said.Text
	}
	c.Why = "to " + c.Old + ": " + text
	c.Old, c.New = "", ""
	return c
}

func changeRows(changes []engine.ChangeRow) []widgets.Row {
	rows := make([]widgets.Row, len(changes))
	for i := range changes {
		c := told(changes[i])
		c.Why = words.Drawn(c.Why)
		why := widgets.Cell{Text: c.Why}
		if c.Inexact != nil {
			why = widgets.Cell{Text: strings.TrimPrefix(c.Why+"; the result is inexact from here on", "; "), Tone: widgets.Warning}
		}
		rows[i] = widgets.Row{Key: strconv.Itoa(i), Cells: []widgets.Cell{
			{Text: words.Stamp(c.At)}, {Text: strconv.Itoa(c.Cycle)}, {Text: engine.Subject(c.What)}, {Text: c.Old}, {Text: c.New}, {Text: c.Who}, why,
		}}
	}
	return rows
}
