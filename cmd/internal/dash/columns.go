package dash

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// nameWidth is the width of the names of figures.
const nameWidth = 12

// named returns a row that starts with a name.
func named(rank int, name string, rest ...span) row {
	return row{append(say(quiet, fmt.Sprintf("%-*s", nameWidth, name)), rest...), rank}
}

// graphed returns a named row followed by a sparkline, if that fits.
func graphed(rank int, name, text string, values []float64, width int, most float64) row {
	const figures, least = 14, 6
	r := named(rank, name, span{fmt.Sprintf("%-*s", figures, text), plain})
	if room := width - r.width() - 1; room >= least {
		r.line = r.and(plain, " ").and(accent, spark(values, min(room, 60), most))
	}
	return r
}

// wrapped returns named rows for a text of at most this many lines.
func wrapped(rank int, name, text string, t tone, width, most int) (rows []row) {
	for i, part := range wrap(text, width-nameWidth, most) {
		if i > 0 {
			name = ""
		}
		rows = append(rows, named(rank+3*i, name, span{part, t}))
	}
	return rows
}

// run is the first column: progress and speed.
func (p *picture) run(width int) []row {
	s := p.status
	rows := []row{titled("Run", width)}
	if s.Survey == nil {
		rows = append(rows,
			named(2, "progress", span{view.CyclesDone(s.Cycle, s.Cycles), plain}),
			named(4, fmt.Sprintf("cycle %d", s.Cycle), span{fmt.Sprintf("%s of %s", engine.FormatCount(s.CycleEnded), engine.Counted(s.CycleTotal, "session", "sessions")), plain}))
	} else {
		rows = append(rows, wrapped(2, "progress", s.Done().String(), plain, width, 2)...)
	}
	rows = append(rows,
		named(5, "time", span{seconds(math.Floor(s.Elapsed)) + " so far", plain}))
	if s.Origin != "" {
		rows = append(rows, wrapped(4, "origin", s.Origin, plain, width, 2)...)
	}
	if s.SimTime.Year() > 1 {
		rows = append(rows, named(6, "simulated", span{s.SimTime.Format("2006-01-02 15:04"), plain}))
	}
	rows = append(rows,
		graphed(0, "in flight", fmt.Sprintf("%s of %s", engine.FormatCount(int64(s.InFlight)), engine.FormatCount(int64(s.Limit))), p.recent.inFlight, width, float64(s.Limit)))
	rows = append(rows, p.steering(width)...)
	if of := s.Schedule; of != nil {
		text, late := of.Keeping()
		t := plain
		if late {
			t = warning
		}
		rows = append(rows, named(1, "schedule", span{text, t}))
	}
	rows = append(rows, graphed(0, "sessions/s", figure(s.SessionRate), p.recent.sessions, width, 0))
	if s.LastSecond != nil {
		rows = append(rows, graphed(3, "requests/s", figure(s.LastSecond.RequestRate), p.recent.requests, width, 0),
			named(4, "writes/s", span{figure(s.LastSecond.WriteRate), plain}))
	}
	if s.Survey == nil {
		rows = append(rows, named(3, "cycle time", span{cycleTime(s), plain}))
	}
	if q := s.Latency; q != nil {
		rows = append(rows,
			graphed(1, "p95", seconds(q.P95), p.recent.p95, width, 0),
			named(3, "mean", span{seconds(q.Mean) + ", p50 " + seconds(q.P50) + ", p99 " + seconds(q.P99), plain}))
	}
	failed := span{engine.FormatCount(s.Failed) + " of " + engine.FormatCount(s.Sessions), plain}
	if s.Failed > 0 {
		failed.tone = warning
	}
	rows = append(rows, named(0, "failed", failed), named(2, "requests", span{engine.FormatCount(s.Requests) + asked(s), plain}))
	saved := "none yet"
	if s.Checkpoints > 0 {
		saved = engine.FormatCount(int64(s.Checkpoints))
	}
	if !s.LastCheckpoint.IsZero() {
		saved += ", last " + at(s.LastCheckpoint)
	}
	rows = append(rows, named(3, "checkpoints", span{saved, plain}))
	rows = append(rows, p.bounds(width)...)
	return append(append(rows, p.slowest(width)...), p.oldest(width)...)
}

// cycleTime returns the time of the current cycle and of the one before.
func cycleTime(s *view.Status) string {
	text := seconds(s.CycleSeconds) + " so far"
	if s.LastCycle != nil {
		text += ", last " + seconds(s.LastCycle.Seconds)
	}
	return text
}

// Rows of these ranks are shown only if space is left.
const (
	spare  = 30
	sparer = 50
)

// slowest lists the steps that took the most time.
func (p *picture) slowest(width int) (rows []row) {
	for i, s := range slowestFirst(p.status.Steps) {
		if s.Latency == nil || i == 8 {
			break
		}
		if i == 0 {
			rows = append(rows, blank(), row{titled("Slowest steps", width).line, spare})
		}
		name := max(width-20, 10)
		r := say(plain, cell(s.Path, name)).and(quiet, " p95 ").and(plain, fmt.Sprintf("%-8s", seconds(s.Latency.P95)))
		if s.Errors > 0 {
			r = r.and(warning, engine.FormatCount(s.Errors)+" ✖")
		}
		rows = append(rows, row{r, spare + i})
	}
	return rows
}

// oldest lists the sessions that have been in flight the longest.
func (p *picture) oldest(width int) (rows []row) {
	for i := range p.status.Oldest[:min(len(p.status.Oldest), 8)] {
		d := &p.status.Oldest[i]
		if i == 0 {
			rows = append(rows, blank(), row{titled("Longest in flight", width).line, sparer})
		}
		rows = append(rows, row{say(plain, cell(cmp.Or(d.Name, fmt.Sprint(d.Agent)), 16)).and(plain, fmt.Sprintf(" %8s ", rough(p.status.At.Sub(d.Began).Seconds()))).
			and(quiet, d.Path).and(warning, " "+d.ThrottledBy), sparer + i})
	}
	return rows
}

// blank returns an empty row between parts.
func blank() row { return row{say(plain, ""), sparer + 10} }

func asked(s *view.Status) string {
	var parts []string
	if s.Retries > 0 {
		parts = append(parts, engine.FormatCount(s.Retries)+" retries")
	}
	if s.RateLimited > 0 {
		parts = append(parts, engine.FormatCount(s.RateLimited)+" 429s")
	}
	return strings.Join(append([]string{""}, parts...), ", ")
}

// steering shows the governor and the reason of its last change.
func (p *picture) steering(width int) (rows []row) {
	s := p.status
	if !p.governed() {
		return append(rows, named(3, "concurrency", span{"manual", plain}))
	}
	rows = append(rows, named(3, "concurrency", span{fmt.Sprintf("automatic (%s), %s to %s", s.Governor, engine.FormatCount(int64(s.Floor)), engine.FormatCount(int64(s.Ceiling))), plain}))
	if s.Steered != "" {
		text := s.Steered
		if s.SteeredBy != "" {
			text = s.SteeredBy + ": " + text
		}
		rows = append(rows, wrapped(5, "moved", text, quiet, width, 3)...)
	}
	return rows
}

// bounds shows the breaker, a stall, and the budget.
func (p *picture) bounds(width int) (rows []row) {
	s := p.status
	if s.Breaker != "" && s.Breaker != engine.BreakerClosed.String() {
		rows = append(rows, wrapped(0, "breaker", "✖ "+s.Breaker+": "+s.BreakerWhy, bad, width, 2)...)
	}
	if s.Stall != nil {
		rows = append(rows, wrapped(0, "stall", "▲ since "+at(s.Stall.Since)+": "+s.Stall.Why, warning, width, 2)...)
	}
	if b := s.Budget; b != nil {
		var parts []string
		add := func(so, all string, bound bool) {
			if bound {
				parts = append(parts, so+" of "+all)
			}
		}
		add(dollars(b.Spent.Cost), dollars(b.Limit.Cost), b.Limit.Cost > 0)
		add(engine.FormatCount(b.Spent.Tokens), engine.FormatCount(b.Limit.Tokens)+" tokens", b.Limit.Tokens > 0)
		add(engine.FormatCount(b.Spent.Requests), engine.FormatCount(b.Limit.Requests)+" requests", b.Limit.Requests > 0)
		add(seconds(math.Floor(s.Elapsed)), seconds(b.Limit.Seconds), b.Limit.Seconds > 0)
		rows = append(rows, named(1, "budget", span{strings.Join(parts, ", "), plain}))
	} else if s.Cost > 0 {
		rows = append(rows, named(2, "cost", span{dollars(s.Cost), plain}))
	}
	return rows
}

func dollars(f float64) string { return fmt.Sprintf("$%.2f", f) }

// figure formats a rate.
func figure(f float64) string {
	if f >= 100 {
		return engine.FormatCount(int64(math.Round(f)))
	}
	return fmt.Sprintf("%.1f", f)
}

// resources is the second column: machine, databases, services, and where the time goes.
func (p *picture) resources(width int) []row {
	s := p.status
	rows := []row{titled("Resources", width)}
	if m := s.LastSecond; m != nil {
		rows = append(rows,
			graphed(0, "CPU", fmt.Sprintf("%.0f%%, Throng %s", m.CPU, cores(m.ProcessCPU)), p.recent.cpu, width, 100),
			graphed(1, "memory", engine.FormatBytes(int64(m.Memory)), p.recent.memory, width, 0),
			named(4, "left", span{engine.FormatBytes(int64(m.MemoryLeft)) + " of " + engine.FormatBytes(int64(m.MachineTotal)), plain}))
	}
	if c := s.Connections; c != nil {
		text := fmt.Sprintf("%d/%d", c.InUse, c.Size)
		if c.Server != nil && c.Max != nil {
			text += fmt.Sprintf(", server %d/%d", *c.Server, *c.Max)
		}
		if c.Waiting > 0 {
			text += fmt.Sprintf(", %d wait", c.Waiting)
		}
		rows = append(rows, named(1, "connections", span{text, plain}))
	}
	if s.Workers != "" {
		rows = append(rows, wrapped(2, "workers", s.Workers, plain, width, 2)...)
	}
	if s.Sink != nil {
		t := plain
		if s.Sink.Trouble {
			t = warning
		}
		rows = append(rows, wrapped(2, "results", s.Sink.Words, t, width, 3)...)
	}
	for i := range s.Services {
		rows = append(rows, p.service(&s.Services[i], min(1+i/2, 6), width)...)
	}
	return append(rows, p.times(width)...)
}

// cores formats CPU use; 100% is one core.
func cores(percent float64) string { return fmt.Sprintf("%.0f%%", percent) }

// service shows a service: calls in flight, rate, and refusals.
func (p *picture) service(s *engine.ServiceState, rank, width int) []row {
	text := engine.FormatCount(int64(s.InFlight))
	if s.Bound > 0 {
		text += "/" + engine.FormatCount(int64(s.Bound))
	}
	if s.Waiting > 0 {
		text += ", " + engine.FormatCount(int64(s.Waiting)) + " wait"
	}
	if s.Rate > 0 {
		text += ", " + engine.FormatRate(s.Rate)
	}
	r := named(rank, short(s.Name, nameWidth-1), span{text, plain})
	if s.Refused > 0 {
		r.line = r.and(warning, ", "+engine.FormatCount(s.Refused)+" 429s")
	}
	rows := []row{r}
	if text := view.Batches(s.Batches); text != "" {
		rows = append(rows, wrapped(rank, "", text, plain, width, 2)...)
	}
	if s.Breaker != engine.BreakerClosed {
		rows = append(rows, wrapped(rank, "", "✖ breaker "+s.Breaker.String()+": "+s.BreakerWhy, bad, width, 2)...)
	}
	if s.Exhausted != "" {
		rows = append(rows, wrapped(rank, "", "✖ "+s.Exhausted, bad, width, 2)...)
	}
	return rows
}

func short(text string, most int) string {
	return strings.TrimRight(say(plain, text).fit(most).text(), " ")
}

// times shows where the time of sessions goes, largest share first, and the bottleneck.
func (p *picture) times(width int) (rows []row) {
	o := p.status.Overhead
	if o == nil {
		return nil
	}
	type part struct {
		name string
		took float64
	}
	var parts []part
	sum := 0.0
	for name, took := range o.SessionSeconds {
		parts, sum = append(parts, part{name, took}), sum+took
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(b.took, a.took), strings.Compare(a.name, b.name)) })
	if sum > 0 {
		rows = append(rows, blank(), row{titled("Where the time goes", width).line, 3})
	}
	for i, one := range parts {
		if one.took < sum/200 || sum == 0 {
			break
		}
		share := one.took / sum
		rows = append(rows, row{append(append(say(quiet, fmt.Sprintf("%-*s", nameWidth, one.name)), bar(share, max(min(width-nameWidth-7, 40), 4))...), span{fmt.Sprintf(" %3.0f%%", 100*share), plain}), 3 + i})
	}
	if o.Why != "" {
		t := plain
		if o.Limit == "this machine" || o.Limit == "other programs" || o.Limit == "the journal" {
			t = warning
		}
		for i, text := range wrap(o.Why, width, 3) {
			rows = append(rows, row{say(t, text), 4 + i})
		}
		for i, text := range wrap(o.Advice, width, 2) {
			rows = append(rows, row{say(quiet, text), 7 + i})
		}
	}
	return rows
}
