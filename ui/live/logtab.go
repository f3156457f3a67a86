package live

import (
	"context"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

var logColumns = []widgets.Column{
	{Title: "Time", Sample: "10:02:03"},
	{Title: "Level", Sample: "WARN"},
	{Title: "Message", Sample: "a session failed", Weight: 2},
	{Title: "Values", Sample: "agent shopper-1000, cycle 1000", Weight: 3},
}

// logTab lists the lines that the log has about the run, the newest first.
type logTab struct {
	content fyne.CanvasObject
	table   *widgets.Table
	level   *widgets.Segments
	find    *form.Entry

	job     *Job
	lines   []LogLine
	until   time.Time // of the shown moment; zero is now
	read    time.Time
	phase   engine.Phase
	reading bool
}

// The levels of lines to choose from.
const (
	everyLevel = iota
	warnings
)

func newLogTab() *logTab {
	t := &logTab{table: widgets.NewTable(logColumns, "The log has no lines about this run", leastRows), find: form.NewEntry()}
	t.level = widgets.NewSegments([]string{"All", "Warnings"}, func(int) { t.show() })
	t.find.SetPlaceHolder("Find in the log")
	t.find.OnChanged = func(string) { t.show() }
	bar := container.NewBorder(nil, nil, container.NewHBox(t.level), nil, form.NewCompact(t.find))
	t.content = widgets.NewPanel("", container.NewBorder(bar, nil, nil, nil, t.table))
	return t
}

func (t *logTab) begin(job *Job) {
	t.job, t.lines, t.read = job, nil, time.Time{}
	t.show()
}

// draw reads the log again if it may have more lines.
func (t *logTab) draw(f *feed) {
	job := t.job
	if until := f.until(); !t.until.Equal(until) {
		t.until = until
		t.show()
	}
	ended := f.snap.Phase == engine.Ended && t.phase != engine.Ended
	t.phase = f.snap.Phase
	if job == nil || job.Log == nil || t.reading || !t.read.IsZero() && !ended && (f.snap.Phase == engine.Ended || time.Since(t.read) < readEvery) {
		return
	}
	t.reading = true
	async.Work(func() ([]LogLine, error) { return job.Log(context.Background()) }, func(lines []LogLine, err error) {
		t.reading, t.read = false, time.Now()
		if t.job != job {
			return
		}
		if err != nil {
			t.table.SetEmpty("Cannot read the log: " + err.Error())
			return
		}
		t.lines = lines
		t.show()
	})
}

// show shows the lines that match the filter.
func (t *logTab) show() {
	var rows []widgets.Row
	for i := len(t.lines) - 1; i >= 0; i-- {
		l := &t.lines[i]
		if !t.until.IsZero() && l.At.After(t.until) {
			continue
		}
		tone := widgets.Neutral
		switch l.Level {
		case "ERROR":
			tone = widgets.Bad
		case "WARN":
			tone = widgets.Warning
		default:
			if t.level.Chosen() == warnings {
				continue
			}
		}
		r := widgets.Row{Key: strconv.Itoa(i), Cells: []widgets.Cell{
			{Text: l.At.Local().Format(time.TimeOnly)}, {Text: strings.ToLower(l.Level), Tone: tone}, {Text: words.Drawn(l.Text), Tone: tone}, {Text: words.Drawn(l.More), Tone: widgets.Quiet},
		}}
		if r.Contains(t.find.Text) {
			rows = append(rows, r)
		}
	}
	t.table.SetRows(rows)
}
