package dash

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/engine"
)

// named is a row with its name in front.
func named(rank int, name string, rest ...span) row {
	return row{append(say(quiet, fmt.Sprintf("%-11s", name)), rest...), rank}
}

// told is a named row with a course behind it, where there is room.
func told(rank int, name, text string, values []float64, width int, most float64) row {
	const figures = 11 + 20
	r := named(rank, name, span{fmt.Sprintf("%-20s", text), plain})
	if room := width - figures - 1; room >= 6 {
		r.line = r.and(plain, " ").and(accent, spark(values, min(room, 60), most))
	}
	return r
}

// run is the first column: how far it is, and how fast.
func (p *picture) run(width int) []row {
	s := p.status
	rows := []row{titled("Run", width)}
	cycle := "cycle " + engine.FormatCount(int64(s.Cycle+1))
	if s.Cycles > 0 {
		cycle = fmt.Sprintf("cycle %s of %s", engine.FormatCount(int64(min(s.Cycle+1, s.Cycles))), engine.FormatCount(int64(s.Cycles)))
	}
	rows = append(rows,
		named(2, "progress", span{fmt.Sprintf("%s, %s of %s in it", cycle, engine.FormatCount(s.CycleDone), engine.FormatCount(s.CycleTotal)), plain}),
		named(5, "time", span{seconds(math.Floor(s.Elapsed)) + " so far" + simulated(s), plain}),
		told(0, "in flight", fmt.Sprintf("%s of %s", engine.FormatCount(int64(s.InFlight)), engine.FormatCount(int64(s.Limit))), p.course.inFlight, width, float64(s.Limit)))
	rows = append(rows, p.steering(width)...)
	rows = append(rows, told(0, "sessions/s", figure(s.PerSecond), p.course.sessions, width, 0))
	if s.Second != nil {
		rows = append(rows, told(3, "requests/s", figure(s.Second.Requests), p.course.requests, width, 0))
	}
	if q := s.Latency; q != nil {
		rows = append(rows,
			told(1, "p95", seconds(q.P95), p.course.p95, width, 0),
			named(4, "p50, p99", span{seconds(q.P50) + ", " + seconds(q.P99), plain}))
	}
	failed := span{engine.FormatCount(s.Failed) + " of " + engine.FormatCount(s.Done), plain}
	if s.Failed > 0 {
		failed.tone = warning
	}
	rows = append(rows, named(0, "failed", failed, span{asked(s), plain}))
	saved := "none yet"
	if s.Checkpoints > 0 {
		saved = engine.FormatCount(int64(s.Checkpoints))
	}
	if !s.LastCheckpoint.IsZero() {
		saved += ", last " + at(s.LastCheckpoint)
	}
	rows = append(rows, named(3, "checkpoints", span{saved, plain}))
	return append(rows, p.bounds()...)
}

// simulated is the time in the simulation; "" where there is none.
func simulated(s *control.Status) string {
	if s.SimTime.Year() < 2 {
		return ""
	}
	return ", simulated " + s.SimTime.Format("2006-01-02 15:04")
}

func asked(s *control.Status) string {
	var parts []string
	if s.Retries > 0 {
		parts = append(parts, engine.FormatCount(s.Retries)+" retries")
	}
	if s.Refused > 0 {
		parts = append(parts, engine.FormatCount(s.Refused)+" 429s")
	}
	if len(parts) == 0 {
		return ""
	}
	return "  " + strings.Join(parts, ", ")
}

// steering says what moves the limit, and why it was moved last.
func (p *picture) steering(width int) (rows []row) {
	s := p.status
	if s.Governor != "" && s.Governor != engine.Manual {
		rows = append(rows, named(3, "governor", span{fmt.Sprintf("%s, %s to %s", s.Governor, engine.FormatCount(int64(s.Floor)), engine.FormatCount(int64(s.Ceiling))), plain}))
	}
	if s.Steered != "" {
		text := harmless(s.Steered)
		if s.SteeredBy != "" {
			text = harmless(s.SteeredBy) + ": " + text
		}
		for i, part := range wrap(text, width-11, 2) {
			name := ""
			if i == 0 {
				name = "moved"
			}
			rows = append(rows, named(5+i, name, span{part, quiet}))
		}
	}
	return rows
}

// bounds are what holds the run back by order: the breaker, a stall, the budget.
func (p *picture) bounds() (rows []row) {
	s := p.status
	if s.Breaker != "" && s.Breaker != engine.BreakerClosed.String() {
		rows = append(rows, named(0, "breaker", span{"✖ " + s.Breaker + ": " + harmless(s.BreakerWhy), bad}))
	}
	if s.Stall != nil {
		rows = append(rows, named(0, "stall", span{"▲ since " + at(s.Stall.Since) + ": " + harmless(s.Stall.Why), warning}))
	}
	if b := s.Budget; b != nil {
		var parts []string
		add := func(so, all string, bound bool) {
			if bound {
				parts = append(parts, so+" of "+all)
			}
		}
		add(dollars(b.SpentDollars), dollars(b.Dollars), b.Dollars > 0)
		add(engine.FormatCount(b.SpentTokens), engine.FormatCount(b.Tokens)+" tokens", b.Tokens > 0)
		add(engine.FormatCount(b.SpentRequest), engine.FormatCount(b.Requests)+" requests", b.Requests > 0)
		add(seconds(math.Floor(s.Elapsed)), seconds(b.WallSeconds), b.WallSeconds > 0)
		rows = append(rows, named(1, "budget", span{strings.Join(parts, ", "), plain}))
	} else if s.Cost > 0 {
		rows = append(rows, named(2, "cost", span{dollars(s.Cost), plain}))
	}
	return rows
}

func dollars(f float64) string { return fmt.Sprintf("$%.2f", f) }

// figure is a rate.
func figure(f float64) string {
	if f >= 100 {
		return engine.FormatCount(int64(math.Round(f)))
	}
	return fmt.Sprintf("%.1f", f)
}

// resources is the second column: the machine, databases, services, and where the time goes.
func (p *picture) resources(width int) []row {
	s := p.status
	rows := []row{titled("Resources", width)}
	if m := s.Second; m != nil {
		rows = append(rows,
			told(0, "CPU", fmt.Sprintf("%.0f %%", m.CPU), p.course.cpu, width, 100),
			told(1, "memory", engine.FormatBytes(int64(m.Memory)), p.course.memory, width, 0),
			named(4, "left", span{engine.FormatBytes(int64(m.MemoryLeft)) + " of " + engine.FormatBytes(int64(m.MemoryAll)), plain}))
	}
	if c := s.Connections; c != nil {
		text := fmt.Sprintf("%d of %d in use", c.InUse, c.Size)
		if c.Waiting > 0 {
			text += fmt.Sprintf(", %d waiting", c.Waiting)
		}
		if c.Server != nil && c.Max != nil {
			text += fmt.Sprintf(", server %d of %d", *c.Server, *c.Max)
		}
		rows = append(rows, named(1, "connections", span{text, plain}))
	}
	if s.Sink != nil {
		t := plain
		if s.Sink.Trouble {
			t = warning
		}
		rows = append(rows, named(2, "results", span{harmless(s.Sink.Words), t}))
	}
	for i := range s.Services {
		rows = append(rows, p.service(&s.Services[i], min(1+i/2, 6))...)
	}
	return append(rows, p.times(width)...)
}

// service is how one does: what is under way, its pace, what it refused.
func (p *picture) service(s *control.Service, rank int) []row {
	text := engine.FormatCount(int64(s.InFlight))
	if s.Bound > 0 {
		text += " of " + engine.FormatCount(int64(s.Bound))
	}
	text += " calls"
	if s.Waiting > 0 {
		text += ", " + engine.FormatCount(int64(s.Waiting)) + " wait"
	}
	if s.Rate > 0 {
		text += fmt.Sprintf(", %.3g/s", s.Rate)
	}
	r := named(rank, short(s.Name, 10), span{text, plain})
	if s.Refused > 0 {
		r.line = r.and(warning, ", "+engine.FormatCount(s.Refused)+" 429s")
	}
	rows := []row{r}
	if s.Breaker != "" && s.Breaker != engine.BreakerClosed.String() {
		rows = append(rows, named(rank, "", span{"✖ breaker " + s.Breaker + ": " + harmless(s.BreakerWhy), bad}))
	}
	if s.Exhausted != "" {
		rows = append(rows, named(rank, "", span{"✖ " + harmless(s.Exhausted), bad}))
	}
	return rows
}

func short(text string, most int) string {
	return strings.TrimRight(say(plain, harmless(text)).fit(most).text(), " ")
}

// times are where the time of the sessions goes, the most first, and what keeps the run from going faster.
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
	for name, took := range o.Seconds {
		parts, sum = append(parts, part{name, took}), sum+took
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Or(cmp.Compare(b.took, a.took), strings.Compare(a.name, b.name)) })
	if sum > 0 {
		rows = append(rows, titled("Where the time goes", width))
		rows[0].rank = 3
	}
	for i, one := range parts {
		if one.took < sum/200 || sum == 0 {
			break
		}
		share := one.took / sum
		rows = append(rows, row{append(append(say(quiet, fmt.Sprintf("%-11s", one.name)), bar(share, max(min(width-18, 40), 4))...), span{fmt.Sprintf(" %3.0f %%", 100*share), plain}), 3 + i})
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
