package live

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

var serviceColumns = []widgets.Column{
	{Title: "Service", Sample: "  POST /api/orders"},
	{Title: "In flight", Sample: "200 of 200", Align: fyne.TextAlignTrailing},
	{Title: "Last 60 s", Sample: "mmmm", Drop: 5},
	{Title: "Queued", Sample: "10,000", Align: fyne.TextAlignTrailing, Drop: 4},
	{Title: "Rate", Sample: "12.5/s of 50/s", Align: fyne.TextAlignTrailing, Drop: 1},
	{Title: "429s", Sample: "10,000", Align: fyne.TextAlignTrailing, Drop: 3},
	{Title: "Failures", Sample: "10,000", Align: fyne.TextAlignTrailing},
	{Title: "Breaker", Sample: "half-open", Drop: 2},
	{Title: "Why", Sample: "after a 429 at 10:02:03", Weight: 1},
}

// services returns the table of services. Their sparklines show the calls in flight.
func (l *lists) services(f *feed) []widgets.Row {
	s, busy := f.snap, &l.orders.screen.feed.busy
	var rows []widgets.Row
	for i := range s.Services {
		v := &s.Services[i]
		rows = append(rows, widgets.Row{Key: v.Name, Cells: []widgets.Cell{
			{Text: v.Name},
			{Text: fmt.Sprintf("%d of %d", v.InFlight, v.Bound)},
			{Spark: busy.of(v.Name)},
			{Text: engine.FormatCount(int64(v.Waiting))},
			{Text: paced(v.Rate, v.MaxRate)},
			{Text: engine.FormatCount(v.Refused), Tone: tonedIf(v.Refused > 0, widgets.Warning)},
			{Text: engine.FormatCount(v.Failures), Tone: tonedIf(v.Failures > 0, widgets.Warning)},
			{Text: v.Breaker.String(), Tone: tonedIf(v.Breaker != engine.BreakerClosed, widgets.Bad)},
			{Text: serviceWhy(v), Tone: widgets.Quiet},
		}})
		for j := range v.Buckets {
			rows = append(rows, bucketRow(v.Name, &v.Buckets[j], s.At))
		}
	}
	return rows
}

// bucketRow returns the row of one rate limiter of a service.
func bucketRow(service string, b *engine.BucketState, now time.Time) widgets.Row {
	why := b.RateWhy
	switch {
	case b.Exhausted != "":
		why = b.Exhausted
	case b.Blocked.After(now):
		why = "a 429: next request at " + b.Blocked.Local().Format(time.TimeOnly)
	}
	return widgets.Row{Key: service + " " + b.Name, Cells: []widgets.Cell{
		{Text: "  " + b.Name, Tone: widgets.Quiet},
		{},
		{},
		{Text: engine.FormatCount(int64(b.Waiting))},
		{Text: paced(b.Rate, b.MaxRate)},
		{Text: engine.FormatCount(b.Refused), Tone: tonedIf(b.Refused > 0, widgets.Warning)},
		{},
		{},
		{Text: words.Drawn(why), Tone: widgets.Quiet},
	}}
}

// paced returns the rate of requests per second, and its maximum.
func paced(perSecond, most float64) string {
	switch {
	case perSecond <= 0:
		return "unlimited"
	case most > perSecond:
		return rate(perSecond) + " of " + rate(most)
	}
	return rate(perSecond)
}

func tonedIf(is bool, tone widgets.Tone) widgets.Tone {
	if is {
		return tone
	}
	return widgets.Neutral
}

// serviceWhy explains a service's state, the most important fact first.
func serviceWhy(v *engine.ServiceState) string {
	var parts []string
	for _, text := range []string{v.Exhausted, view.Batches(v.Batches), v.BreakerWhy, v.RateWhy} {
		if text != "" {
			parts = append(parts, words.Drawn(text))
		}
	}
	return strings.Join(parts, "  ·  ")
}

var oldestColumns = []widgets.Column{
	{Title: "Agent", Sample: "shopper-1000"},
	{Title: "In flight for", Sample: "10 min 30 s", Align: fyne.TextAlignTrailing},
	{Title: "Step", Sample: "fill_cart[2].add_cart", Weight: 2},
	{Title: "Service", Sample: "shop-service", Drop: 2},
	{Title: "Throttled", Sample: "limit on model calls", Weight: 1, Drop: 1},
	{Title: "Since", Sample: "10 min 30 s", Align: fyne.TextAlignTrailing, Drop: 3},
}

// inFlight returns the table of the oldest sessions.
func (l *lists) inFlight(f *feed) []widgets.Row {
	s := f.snap
	rows := make([]widgets.Row, len(s.Oldest))
	for i := range s.Oldest {
		d := &s.Oldest[i]
		rows[i] = widgets.Row{Key: strconv.Itoa(d.Agent), Cells: []widgets.Cell{
			{Text: who(d)}, {Text: since(s.At, d.Began)}, {Text: orDash(d.Path)}, {Text: orDash(d.Service)}, {Text: orDash(d.ThrottledBy)}, {Text: since(s.At, d.Since)},
		}}
	}
	return rows
}

func who(d *engine.Activity) string {
	if d.Name == "" {
		return strconv.Itoa(d.Agent)
	}
	return d.Name
}

func since(now, then time.Time) string {
	if then.IsZero() {
		return "–"
	}
	return roughly(now.Sub(then))
}

func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// changed describes a change.
func changed(c *engine.ChangeRow) string {
	switch {
	case c.What == engine.InjectChange:
		return "to " + c.Old
	case words.OfAgent(c.What):
		return c.Old
	case c.Old == "":
		return c.New
	}
	return c.Old + " to " + c.New
}
