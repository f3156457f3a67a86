package live

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestFiguresOfModels(t *testing.T) {
	st := perform(t, running())
	st.tick()
	st.hides(t, "model calls")
	st.run.change(func(s *engine.Snapshot) {
		s.Usage = engine.Usage{Calls: 1234, Input: 56_000, Output: 12_000, Cost: 12_300_000, Hits: 300}
	})
	st.tick()
	st.shows(t, "$0.0123, 1,234 calls")
	st.pick(t, "More", "Run details…")
	if top := st.win.Canvas().Overlays().Top(); !uitest.Shows(top, "1,234, 56,000 tokens in, 12,000 out, $0.0123 · 300 answers from the cache") {
		t.Errorf("got %q", uitest.Texts(top))
	}
}

func TestFiguresAndAdvice(t *testing.T) {
	st := perform(t, running())
	st.run.second(func(m *engine.MetricsRow) {})
	st.tick()
	for i, want := range [][3]string{
		{"Throughput", "84/s", "6,912 of 8,928 sessions"}, {"Latency p95", "810 ms", "all sessions"}, {"Failures", "12", "0.2% of sessions"}, {"Active", "48", "limit 50"},
	} {
		tile := st.tiles.all[i]
		if got := [3]string{st.tiles.shown[i].Caption, tile.Value(), tile.Note()}; got != want {
			t.Errorf("a tile shows %q, want %q", got, want)
		}
	}
	for name, want := range map[string]string{"Requests": "34,560, 412/s", "Retries": "12", "429s": "0", "CPU": "42%, Throng", "Memory left": "9.4 GB"} {
		if got := st.figure(t, name); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if st.list("Figures"); uitest.Shows(st.lists.content, "Database connections") {
		t.Error("a run without a database has connections")
	}
	st.shows(t, "all figures are within their thresholds", "failed sessions: fewer than 5% fail")
	if help := st.Help(); help != "" {
		t.Errorf("help with nothing wrong is %q", help)
	}

	st.run.second(func(m *engine.MetricsRow) { m.Host.CPU, m.Host.Available = 75, 1e9 })
	st.tick()
	if text, worst := advice(st.feed); worst != health.Critical || !strings.HasPrefix(text, "Memory left: 1 GB. ") || !strings.Contains(text, "CPU: 75%, 60% by other programs. Lower the limit, or close other programs.") {
		t.Errorf("the advice is %q", text)
	}
	st.shows(t, "Memory left: 1 GB. ", "CPU 75%, ")
	if help := st.Help(); help != "07-dashboard.md#memory-left" {
		t.Errorf("help is %q", help)
	}
	st.run.change(func(s *engine.Snapshot) { s.Phase = engine.Ended })
	st.tick()
	st.shows(t, "figures at the end of the run")
	for _, word := range []string{"critical", "healthy"} { // the bands of a chart keep theirs
		if uitest.Shows(st.tiles.content, word) {
			t.Errorf("the figures of a run that has ended say %q", word)
		}
	}
}

func TestTonesOfLevels(t *testing.T) {
	for level, want := range map[health.Level]struct {
		word string
		tone widgets.Tone
	}{
		health.Unknown: {"", widgets.Quiet}, health.Good: {"healthy", widgets.Good}, health.Healthy: {"healthy", widgets.Good},
		health.Warning: {"warning", widgets.Warning}, health.Critical: {"critical", widgets.Bad},
	} {
		if word(level) != want.word || tone(level) != want.tone {
			t.Errorf("level %d: %q in tone %v", level, word(level), tone(level))
		}
	}
}
