package view

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/workers"
)

// Overhead is where the time of a run went, and what limits its speed: over the newest half minute, or over the whole run
// once it has ended.
type Overhead struct {
	SessionSeconds map[string]float64 `json:"session_seconds"` // of all sessions, by purpose
	Lost           *float64           `json:"lost_ratio"`      // part of these that went to the engine and the journal; null if unknown
	Span           float64            `json:"span_seconds"`    // of the run; the rest is over this time
	Cores          float64            `json:"core_seconds"`    // that the machine had
	Machine        float64            `json:"machine_cpu_seconds"`
	Process        float64            `json:"process_cpu_seconds"`
	Collector      float64            `json:"collector_cpu_seconds"`
	Writer         float64            `json:"journal_writer_seconds"`
	Window         float64            `json:"window_cpu_seconds,omitempty"`
	Barrier        float64            `json:"barrier_seconds"`
	TimerLag       float64            `json:"timer_lag_seconds"` // worst
	CoreWait       float64            `json:"core_wait_p99_seconds"`
	Words          string             `json:"text,omitempty"`
	// Limit is what limits the speed of the run, Why the same with figures, Advice what to do; "" if nothing stands out.
	Limit  string `json:"limited_by,omitempty"`
	Why    string `json:"limited_why,omitempty"`
	Advice string `json:"advice,omitempty"`
}

// NewOverhead returns nil if nothing was measured. limit is the concurrency limit, by the governor that holds it, all the workers of a fleet
// that executes the run now.
func NewOverhead(o *engine.Overhead, late engine.Late, limit int, by string, all ...workers.State) *Overhead {
	if o.Span <= 0 {
		return nil
	}
	b := health.FindFleetBottleneck(o, limit, by, all)
	v := &Overhead{
		SessionSeconds: map[string]float64{}, Lost: finite(o.Times.Lost()), Span: o.Span.Seconds(), Cores: o.Cores.Seconds(),
		Machine: o.Machine.Seconds(), Process: o.Process.Seconds(), Collector: o.Collector.Seconds(), Writer: o.Writer.Seconds(),
		Window: o.Window.Seconds(), Barrier: o.Barrier.Seconds(), TimerLag: late.Tick.Seconds(), CoreWait: late.Core.Seconds(),
		Words: health.DescribeTimes(&o.Times), Limit: b.Kind.String(), Why: b.String(), Advice: b.Advice,
	}
	for _, p := range engine.Purposes() {
		v.SessionSeconds[p.String()] = o.Times[p].Seconds()
	}
	return v
}
