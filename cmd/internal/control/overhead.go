package control

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
)

// Overhead is where the time of a run went: in the newest half minute, or in all of it once it has ended.
type Overhead struct {
	Seconds map[string]float64 `json:"seconds"`        // of its sessions together, by what for
	Lost    *float64           `json:"lost,omitempty"` // the part of these that went to the engine and the journal
	// Parts of the time that the machine's cores had, of the run's time, and of one core.
	Machine float64 `json:"machine_cpu,omitempty"`
	Process float64 `json:"process_cpu,omitempty"`
	Writer  float64 `json:"journal_writer,omitempty"`
	Window  float64 `json:"window_cpu,omitempty"`
	Late    float64 `json:"late_seconds,omitempty"` // by which times may be too long, at worst
	Words   string  `json:"words,omitempty"`
	// Limit is what keeps the run from going faster, Why says it with figures, Advice what to do; "" is that nothing stands
	// out.
	Limit  string `json:"limit,omitempty"`
	Why    string `json:"why,omitempty"`
	Advice string `json:"advice,omitempty"`
}

// NewOverhead is nil where nothing is known. limit is that of the sessions, and by the governor that holds it.
func NewOverhead(o *engine.Overhead, late engine.Late, limit int, by string) *Overhead {
	if o.Span <= 0 {
		return nil
	}
	share := func(part, whole float64) float64 {
		if whole <= 0 {
			return 0
		}
		return part / whole
	}
	span, cores := o.Span.Seconds(), o.Cores.Seconds()
	to := &Overhead{
		Seconds: map[string]float64{}, Words: health.DescribeTimes(&o.Times), Late: max(late.Tick, late.Core).Seconds(),
		Machine: share(o.Machine.Seconds(), cores), Process: share(o.Process.Seconds(), cores),
		Writer: share(o.Writer.Seconds(), span), Window: share(o.Window.Seconds(), span),
	}
	for _, p := range engine.Purposes() {
		to.Seconds[p.String()] = o.Times[p].Seconds()
	}
	if o.Times.Sum() > 0 {
		lost := o.Times.Lost()
		to.Lost = &lost
	}
	b := health.FindBottleneck(o, limit, by)
	to.Limit, to.Why, to.Advice = b.Kind.String(), b.String(), b.Advice
	return to
}
