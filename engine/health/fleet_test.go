package health_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/workers"
)

// team returns workers with four cores, by the CPU that they use in percent of a core.
func team(cpu ...float64) (all []workers.State) {
	for i, used := range cpu {
		all = append(all, workers.State{Name: []string{"rack-1", "rack-2", "rack-3", "rack-4", "rack-5"}[i], Cores: 4, CPU: used})
	}
	return all
}

func TestWorkersAreJudged(t *testing.T) {
	now := time.Date(2030, 3, 1, 12, 0, 0, 0, time.UTC)
	lost := func(all []workers.State, at ...int) []workers.State {
		for _, i := range at {
			all[i].Status, all[i].Why, all[i].Since = workers.Lost, "its connection ended", now.Add(-2*time.Second)
		}
		return all
	}
	stalled := team(10, 10)
	stalled[1].Status, stalled[1].Why = workers.Stalled, "no session ended for 10 s"
	long := lost(team(10, 10), 0)
	long[0].Since = now.Add(-6 * time.Minute)
	refused := team(10, 10)
	refused[0].Status = workers.Refused
	for _, c := range []struct {
		name   string
		all    []workers.State
		metric health.Metric
		want   health.Level
		value  string
		says   string // part of the advice
	}{
		{"well", team(100, 200), health.MetricWorkers, health.Healthy, "2 workers", ""},
		{"one lost", lost(team(1, 1, 1, 1), 2), health.MetricWorkers, health.Warning, "4 workers, 1 lost", "rack-3 was lost: its connection ended. Its sessions run again"},
		{"two lost", lost(team(1, 1, 1), 0, 2), health.MetricWorkers, health.Warning, "3 workers, 2 lost", "rack-3 was lost: its connection ended. Their sessions"},
		{"all lost", lost(team(1, 1), 0, 1), health.MetricWorkers, health.Critical, "2 workers, 2 lost", "the run waits until a worker joins"},
		{"lost long ago", long, health.MetricWorkers, health.Healthy, "2 workers, 1 lost", ""},
		{"refused", refused, health.MetricWorkers, health.Healthy, "2 workers, 1 refused", ""},
		{"stalled", stalled, health.MetricWorkers, health.Warning, "2 workers, 1 stalled", "rack-2 is stalled: no session ended for 10 s"},
		{"idle cores", team(100, 359), health.MetricWorkerCPU, health.Healthy, "at most 90%, rack-2", ""},
		{"one busy", team(100, 360), health.MetricWorkerCPU, health.Warning, "at most 90%, rack-2", "the cores of rack-2 are busy"},
		{"all busy", team(400, 380), health.MetricWorkerCPU, health.Critical, "at most 100%, rack-1", "the cores of rack-1 and rack-2 are busy"},
		{"many busy", team(400, 380, 380, 380, 380), health.MetricWorkerCPU, health.Critical, "at most 100%, rack-1", "rack-1, rack-2, rack-3 and 2 more workers"},
		{"a lost one is not busy", lost(team(100, 400), 1), health.MetricWorkerCPU, health.Healthy, "at most 25%, rack-1", ""},
	} {
		f := health.Find(health.JudgeWorkers(c.all, now), c.metric)
		if f.Level != c.want || f.Value != c.value || !strings.Contains(f.Advice, c.says) || (c.says == "") != (f.Advice == "") {
			t.Errorf("%s: %v %q: %q", c.name, f.Level, f.Value, f.Advice)
		}
	}
	if all := health.JudgeWorkers(nil, now); all != nil {
		t.Errorf("without a fleet: %v", all)
	}
}

func TestBottlenecksOfAFleet(t *testing.T) {
	o := engine.Overhead{Span: time.Minute, Cores: 2 * time.Minute, Machine: 40 * time.Second, Process: 30 * time.Second, Requests: 1000}
	o.Times = engine.Times{engine.ForServices: time.Minute, engine.ForEngine: 10 * time.Second}
	busy := o
	busy.Machine, busy.Process = 117*time.Second, 110*time.Second
	elsewhere := busy // the coordinator's machine also has the workers
	elsewhere.Process = 20 * time.Second
	elsewhere.Times[engine.ForEngine] = 2 * time.Minute
	for _, c := range []struct {
		name  string
		o     engine.Overhead
		all   []workers.State
		want  health.Bound
		says  string
		helps string
	}{
		{"the workers", o, team(400, 360), health.BoundByWorkers, "The workers are the limit: 95% of their cores are in use, most at rack-1 and rack-2", "start more workers"},
		{"the only worker", o, team(380), health.BoundByWorkers, "The worker rack-1 is the limit: 95% of its 4 cores are in use", "start more workers"},
		{"one of two", o, team(100, 400), health.BoundByServices, "", ""},
		{"the coordinator", busy, team(100, 100), health.BoundByMachine, "The coordinator is the limit: 98% of its 2 cores are in use", "more workers do not help"},
		{"no other programs", elsewhere, team(200, 200), health.Unbound, "", ""},
		{"no fleet", busy, nil, health.BoundByMachine, "This machine is the limit", "lower the limit"},
	} {
		b := health.FindFleetBottleneck(&c.o, 50, "", c.all)
		if b.Kind != c.want || !strings.HasPrefix(b.What, c.says) || !strings.Contains(b.Advice, c.helps) {
			t.Errorf("%s: %v, %q, %q", c.name, b.Kind, b.What, b.Advice)
		}
	}
	if !health.BoundByWorkers.IsHere() || health.BoundByWorkers.String() != "the workers" || health.BoundByWorkers.Short() != "workers" {
		t.Error("the limit of workers describes the backend")
	}
}
