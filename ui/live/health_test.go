package live

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func TestThresholds(t *testing.T) {
	host := func(change func(h *engine.Host)) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { change(&s.Metrics.Host) }
	}
	server := func(n, most int) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { s.Metrics.ServerConnections, s.Metrics.ServerMax = n, most }
	}
	failed := func(n int64) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { s.Outcomes = map[engine.Outcome]int64{engine.Failed: 12 + n} }
	}
	mean := func(d time.Duration) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { s.Metrics.Total.Mean = d }
	}
	saved := func(ago time.Duration) func(*engine.Snapshot) {
		return func(s *engine.Snapshot) { s.LastCheckpoint = s.At.Add(-ago) }
	}
	for _, c := range []struct {
		name   string
		check  int
		change func(s *engine.Snapshot)
		want   health
	}{
		{"69 %", checkCPU, host(func(h *engine.Host) { h.CPU = 69 }), healthy},
		{"71 %", checkCPU, host(func(h *engine.Host) { h.CPU = 71 }), warning},
		{"91 %", checkCPU, host(func(h *engine.Host) { h.CPU = 91 }), critical},
		{"5 of 16 GB left", checkMemoryLeft, host(func(h *engine.Host) { h.Available = 5e9 }), healthy},
		{"3 of 16 GB left", checkMemoryLeft, host(func(h *engine.Host) { h.Available = 3e9 }), warning},
		{"1 of 16 GB left", checkMemoryLeft, host(func(h *engine.Host) { h.Available = 1e9 }), critical},
		{"3 of 8 GB left", checkMemoryLeft, host(func(h *engine.Host) { h.Available, h.MemoryTotal = 3e9, 8e9 }), healthy},
		{"memory not known", checkMemoryLeft, host(func(h *engine.Host) { h.MemoryTotal = 0 }), unknown},
		{"7 of 16 GB own", checkOwnMemory, host(func(h *engine.Host) { h.Memory = 7e9 }), healthy},
		{"9 of 16 GB own", checkOwnMemory, host(func(h *engine.Host) { h.Memory = 9e9 }), warning},
		{"13 of 16 GB own", checkOwnMemory, host(func(h *engine.Host) { h.Memory = 13e9 }), critical},
		{"0.9s", checkLatency, mean(900 * time.Millisecond), healthy},
		{"1.5s", checkLatency, mean(1500 * time.Millisecond), warning},
		{"3s", checkLatency, mean(3 * time.Second), critical},
		{"4 failed", checkFailed, failed(4), healthy},
		{"5 failed", checkFailed, failed(5), warning},
		{"20 failed", checkFailed, failed(20), warning},
		{"21 failed", checkFailed, failed(21), critical},
		{"49 of 60", checkConnections, server(49, 60), healthy},
		{"51 of 60", checkConnections, server(51, 60), warning},
		{"56 of 60", checkConnections, server(56, 60), critical},
		{"no server", checkConnections, server(-1, -1), unknown},
		{"saved 7m ago", checkSaved, saved(7 * time.Minute), healthy},
		{"saved 8m ago", checkSaved, saved(8 * time.Minute), warning},
		{"saved 11m ago", checkSaved, saved(11 * time.Minute), critical},
		{"never saved", checkSaved, func(s *engine.Snapshot) { s.LastCheckpoint = time.Time{} }, unknown},
		{"paused", checkSaved, func(s *engine.Snapshot) { saved(time.Hour)(s); s.Phase = engine.Paused }, unknown},
		{"ended", checkCPU, func(s *engine.Snapshot) { s.Phase, s.Metrics.Host.CPU = engine.Ended, 99 }, unknown},
	} {
		f, next := seconds(t)
		next(c.change)
		job := jobOf(newFakeRun(running()))
		if got := checks[c.check].judge(job, f); got != c.want {
			t.Errorf("%s, %s: %q, want %q", checks[c.check].name, c.name, got, c.want)
		}
	}
}

func TestManyOfFewFailing(t *testing.T) {
	s := running()
	s.CycleTotal = 40
	f := newFeed(jobOf(newFakeRun(s)))
	s.Outcomes = map[engine.Outcome]int64{engine.Failed: 18}
	f.collect(&s)
	if got := checks[checkFailed].judge(jobOf(newFakeRun(s)), f); got != critical {
		t.Errorf("6 of 40 failed: %q", got)
	}
}

func TestRefusals(t *testing.T) {
	f, next := seconds(t)
	job := jobOf(newFakeRun(running()))
	total := int64(100) // of earlier processes
	during := func(perSecond int64, seconds int, want health) {
		t.Helper()
		for range seconds {
			total += perSecond
			next(func(s *engine.Snapshot) { s.Metrics.RateLimited = total })
		}
		if got := checks[checkRefused].judge(job, f); got != want {
			t.Errorf("after %d s of %d a second: %q, want %q", seconds, perSecond, got, want)
		}
	}
	during(0, 40, healthy)
	during(1, 20, warning)
	during(5, 25, critical)
	during(1, 30, warning)
	during(0, 70, healthy)
}

func TestFiguresOfModels(t *testing.T) {
	st := perform(t, running())
	st.tick()
	st.hides(t, "model calls")
	high := st.figures.content.MinSize().Height
	st.run.change(func(s *engine.Snapshot) {
		s.Usage = engine.Usage{Calls: 1234, Input: 56_000, Output: 12_000, Cost: 12_300_000, Hits: 300}
	})
	st.tick()
	st.shows(t, "model calls 1,234, 56,000 tokens in, 12,000 out, $0.0123 · 300 answers from the cache")
	if got := st.figures.content.Size().Height; got <= high {
		t.Errorf("the panel is %v high, as without the line: %v", got, high)
	}
}

func TestFiguresAndAdvice(t *testing.T) {
	st := perform(t, running())
	st.run.second(func(m *engine.MetricsRow) {})
	st.tick()
	for tile, want := range map[string][2]string{
		st.figures.sessions.Value() + "|" + st.figures.sessions.Note():       {"84/s", "6,912 ended"},
		st.figures.latency.Value() + "|" + st.figures.latency.Note():         {"810ms", "healthy"},
		st.figures.failed.Value() + "|" + st.figures.failed.Note():           {"12", "healthy, 0.2 %"},
		st.figures.requests.Value() + "|" + st.figures.requests.Note():       {"34,560", "412/s"},
		st.figures.retries.Value() + "|" + st.figures.retries.Note():         {"12", "< 0.1 %"},
		st.figures.refused.Value() + "|" + st.figures.refused.Note():         {"0", "healthy"},
		st.figures.cpu.Value() + "|" + st.figures.cpu.Note():                 {"42 %", "healthy"},
		st.figures.memory.Value() + "|" + st.figures.memory.Note():           {"9.4 GB", "healthy"},
		st.figures.connections.Value() + "|" + st.figures.connections.Note(): {"2", "to the store"},
	} {
		if tile != want[0]+"|"+want[1] {
			t.Errorf("a tile shows %q, want %q", tile, want)
		}
	}
	st.shows(t, "no figure is beyond its threshold")

	st.run.second(func(m *engine.MetricsRow) { m.Host.CPU, m.Host.Available = 75, 1e9 })
	st.tick()
	if text, worst := advice(st.job, st.feed); worst != critical || !strings.HasPrefix(text, "memory left critical: ") || !strings.Contains(text, "CPU warning: ") {
		t.Errorf("the advice is %q", text)
	}
	st.shows(t, "memory left critical", "CPU warning")
	st.run.change(func(s *engine.Snapshot) { s.Phase = engine.Ended })
	st.tick()
	st.shows(t, "figures as of the run's end")
	st.hides(t, "critical", "healthy")
}
