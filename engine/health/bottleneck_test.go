package health_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
)

// minute is a minute of a run on two cores that spent most of its time on services.
func minute(change func(o *engine.Overhead)) *engine.Overhead {
	o := &engine.Overhead{
		Span: time.Minute, Cores: 2 * time.Minute, Machine: 40 * time.Second, Process: 30 * time.Second, Requests: 1000,
		Times: engine.Times{engine.ForServices: 40 * time.Second, engine.ForEngine: 10 * time.Second},
	}
	change(o)
	return o
}

func TestBottlenecks(t *testing.T) {
	share := func(p engine.Purpose, part float64) func(*engine.Overhead) {
		return func(o *engine.Overhead) {
			o.Times = engine.Times{engine.ForServices: time.Duration((1 - part) * float64(time.Minute))}
			o.Times[p] = time.Duration(part * float64(time.Minute))
		}
	}
	machine := func(all, own time.Duration) func(*engine.Overhead) {
		return func(o *engine.Overhead) { o.Machine, o.Process = all*time.Second, own*time.Second }
	}
	both := func(all ...func(*engine.Overhead)) func(*engine.Overhead) {
		return func(o *engine.Overhead) {
			for _, change := range all {
				change(o)
			}
		}
	}
	refused := func(part, waits float64) func(*engine.Overhead) {
		return func(o *engine.Overhead) {
			share(engine.ForRefusals, part)(o)
			o.Times[engine.ForEngine] = time.Duration(waits * float64(time.Minute))
			o.Times[engine.ForServices] = 0
		}
	}
	for _, c := range []struct {
		name   string
		change func(o *engine.Overhead)
		limit  int
		by     string
		want   health.Bound
		says   string // part of the text
		helps  string // part of the advice
	}{
		{"busy cores", machine(117, 110), 50, "", health.BoundByMachine, "This machine is the limit: 98% of its 2 cores are in use; services answered in 40 ms, 20% engine overhead", "lower the limit"},
		{"just so", machine(108, 54), 50, "", health.BoundByMachine, "90%", ""},
		{"not quite", machine(107, 100), 50, "", health.BoundByServices, "", ""},
		{"by others", both(machine(117, 50), share(engine.ForEngine, 0.5)), 50, "", health.BoundByOthers, "Other programs are the limit: 98% of this machine's 2 cores are in use, by Throng 42%, and sessions waited for a core 50% of their time", "close other programs"},
		{"others at work, but no waiting for a core", machine(117, 2), 50, "", health.BoundByServices, "The backend is the limit", "slowest step"},
		{"others at work, and the limit is full", both(machine(117, 2), func(o *engine.Overhead) { o.Full = time.Minute }), 50, "", health.BoundByLimit, "The concurrency limit is 50 sessions", ""},
		{"others at work, and sessions wait more for services", both(machine(117, 2), share(engine.ForEngine, 0.4)), 50, "", health.BoundByServices, "", ""},
		{"others at work, and 429s", both(machine(117, 2), refused(0.4, 0.5)), 50, "", health.BoundByRefusals, "", ""},
		{"others at work, and a quota", both(machine(117, 2), share(engine.ForPacing, 0.6)), 50, "", health.BoundByPacing, "", ""},
		{"others at work, and no cycle is due", both(machine(117, 2), share(engine.ForEngine, 0.9), func(o *engine.Overhead) { o.Idle = 48 * time.Second }), 50, "", health.BoundBySchedule, "", ""},
		{"others at work, and nothing ended", both(machine(117, 2), func(o *engine.Overhead) { o.Times = engine.Times{} }), 50, "", health.Unbound, "", ""},
		{"the cores are taken, and 429s", both(machine(117, 110), share(engine.ForRefusals, 0.4)), 50, "", health.BoundByRefusals, "", ""},
		{"the cores are taken, and a quota", both(machine(117, 110), share(engine.ForPacing, 0.6)), 50, "", health.BoundByPacing, "", ""},
		{"by garbage", func(o *engine.Overhead) { machine(117, 110)(o); o.Collector = 60 * time.Second }, 50, "", health.BoundByMachine, "", "garbage collection takes 55%"},
		{"by scripts on all cores", func(o *engine.Overhead) { machine(117, 110)(o); share(engine.ForScripts, 0.4)(o) }, 50, "", health.BoundByMachine, "", "less in python"},
		{"the machine before the limit", func(o *engine.Overhead) { machine(117, 110)(o); o.Full = time.Minute }, 50, "", health.BoundByMachine, "", ""},
		{"intents and full queues", share(engine.ForJournal, 0.25), 50, "", health.BoundByJournal, "25% of the sessions' time", "faster disk"},
		{"a slow barrier", func(o *engine.Overhead) { o.Barrier = 20 * time.Second }, 50, "", health.BoundByJournal, "33% of the run between cycles", ""},
		{"429s", share(engine.ForRefusals, 0.3), 50, "", health.BoundByRefusals, "The backend is the limit: 30%", "lower the limit or the rate"},
		{"the rate", share(engine.ForPacing, 0.5), 50, "", health.BoundByPacing, "throttled 50%", "raise the rates"},
		{"the schedule", func(o *engine.Overhead) { o.Idle = 48 * time.Second }, 50, "", health.BoundBySchedule, "no further session was due 80% of the time", "time scale"},
		{"the schedule, whatever sessions wait for", func(o *engine.Overhead) { share(engine.ForJournal, 0.4)(o); o.Idle = 48 * time.Second }, 50, "", health.BoundBySchedule, "80%", "time scale"},
		{"the limit", func(o *engine.Overhead) { o.Full = 57 * time.Second }, 50, "manual", health.BoundByLimit, "The concurrency limit is 50 sessions, and all slots were in use 95%", "raise the limit"},
		{"a limit of one", func(o *engine.Overhead) { o.Full = 57 * time.Second }, 1, "", health.BoundByLimit, "The concurrency limit is 1 session", ""},
		{"a limit for the backend", func(o *engine.Overhead) { o.Full = 57 * time.Second }, 20, "latency", health.BoundByLimit, "The backend is the limit: the governor (latency) holds the concurrency limit at 20", "slowest step"},
		{"a limit for the machine", func(o *engine.Overhead) { o.Full = 57 * time.Second }, 20, "resources", health.BoundByLimit, "The concurrency limit is 20 sessions", ""},
		{"scripts", share(engine.ForScripts, 0.6), 50, "", health.BoundByScripts, "python steps took 60%", "less in python"},
		{"services", share(engine.ForEngine, 0.1), 50, "", health.BoundByServices, "The backend is the limit: services took 90%", "slowest step"},
		{"think time", share(engine.ForThinking, 0.7), 50, "", health.BoundByThinking, "70%", "shorter"},
		{"nothing stands out", share(engine.ForEngine, 0.6), 50, "", health.Unbound, "", ""},
		{"too early to tell", func(o *engine.Overhead) { o.Span = time.Second }, 50, "", health.Unbound, "", ""},
		{"nothing ended", func(o *engine.Overhead) { o.Times = engine.Times{} }, 50, "", health.Unbound, "", ""},
	} {
		got := health.FindBottleneck(minute(c.change), c.limit, c.by)
		if got.Kind != c.want || !strings.Contains(got.String(), c.says) || !strings.Contains(got.Advice, c.helps) {
			t.Errorf("%s: %v: %s (%s), want %v: %s (%s)", c.name, got.Kind, got, got.Advice, c.want, c.says, c.helps)
		}
		if (got.String() == "") != (got.Kind == health.Unbound) || (got.Advice == "") != (got.Kind == health.Unbound) {
			t.Errorf("%s: %q, %q", c.name, got, got.Advice)
		}
		here := got.Kind == health.BoundByMachine || got.Kind == health.BoundByOthers || got.Kind == health.BoundByJournal
		if got.Kind.IsHere() != here {
			t.Errorf("%s: here %v", c.name, got.Kind.IsHere())
		}
	}
}

// TestEngineOverheadIsJudged checks that a machine that is the bottleneck causes a warning with advice during the run.
func TestEngineOverheadIsJudged(t *testing.T) {
	second := func(machine, process float64) func(s *engine.Snapshot) {
		return func(s *engine.Snapshot) {
			o := &s.Metrics.Overhead
			o.Span += time.Second
			o.Cores += 4 * time.Second
			o.Machine += time.Duration(machine * float64(time.Second))
			o.Process += time.Duration(process * float64(time.Second))
			o.Times[engine.ForServices] += 3 * time.Second
			o.Times[engine.ForEngine] += time.Second
		}
	}
	p := newPatient().live(40, second(3.9, 3.8))
	if f := p.find(health.MetricLost); f.Level != health.Warning || f.Value != "25%, limited by this machine" || f.Advice == "" {
		t.Errorf("%+v", f)
	}
	p.live(40, second(1, 0.5))
	if f := p.find(health.MetricLost); f.Level != health.Healthy || f.Value != "25%" {
		t.Errorf("with room again: %+v", f)
	}
	if o, _ := p.vitals.Overhead(&p.Snapshot); o.Span != 30*time.Second || o.Cores != 2*time.Minute {
		t.Errorf("the newest half minute is %v, %v of the cores", o.Span, o.Cores)
	}
	if f := newPatient().live(5, nil).find(health.MetricLost); f.Level != health.Unknown {
		t.Errorf("where nothing is known: %+v", f)
	}
}
