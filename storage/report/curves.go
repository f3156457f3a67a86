package report

import (
	"context"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/seconds"
	"github.com/throng-sim/throng/engine/view"
)

// Curves returns the charts of a run over wall time, elapsed time and simulated time.
func Curves(ctx context.Context, src Source, run engine.RunID, clock engine.Clock) (*view.Curves, error) {
	var over overTime
	var p path
	for m, err := range seconds.Shown(src.Metrics(ctx, run, time.Time{})) {
		if err != nil {
			return nil, err
		}
		over.see(m)
		p.see(m)
	}
	c := &view.Curves{Charts: over.shown()}
	if len(c.Charts) == 0 {
		return c, nil
	}
	if clock.Cycle > 0 {
		c.Zone = clock.Start.Location()
	}
	simulated := p.simulated(clock)
	for _, at := range c.Charts[0].Times {
		i, _ := slices.BinarySearch(p.at, at)
		i = min(i, len(p.at)-1)
		c.Elapsed = append(c.Elapsed, p.elapsed[i])
		if c.Zone != nil {
			c.Simulated = append(c.Simulated, simulated[i])
		}
	}
	return c, nil
}

// path is how far a run was at each of its rows.
type path struct {
	at, elapsed []float64 // Unix seconds, and seconds during which a process executed the run
	cycles      []int
	last        time.Time
}

func (p *path) see(m *engine.MetricsRow) {
	since := m.At.Sub(p.last)
	if p.last.IsZero() || since > longestGap {
		since = seconds.Interval(m)
	}
	p.last = m.At
	before := 0.0
	if n := len(p.elapsed); n > 0 {
		before = p.elapsed[n-1]
	}
	p.at, p.elapsed, p.cycles = append(p.at, float64(m.At.UnixMicro())/1e6), append(p.elapsed, before+since.Seconds()), append(p.cycles, m.Cycle)
}

// simulated returns the simulated time of each row in Unix seconds: a cycle passes evenly from its first row to its last.
func (p *path) simulated(clock engine.Clock) []float64 {
	all := make([]float64, len(p.cycles))
	from, began := 0, 0.0
	for from < len(all) {
		end := from
		for end < len(all) && p.cycles[end] == p.cycles[from] {
			end++
		}
		length := p.elapsed[end-1] - began
		start := float64(clock.At(p.cycles[from]).UnixMicro()) / 1e6
		for i := from; i < end; i++ {
			all[i] = start
			if length > 0 {
				all[i] += (p.elapsed[i] - began) / length * clock.Cycle.Seconds()
			}
		}
		from, began = end, p.elapsed[end-1]
	}
	return all
}
