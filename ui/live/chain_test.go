package live

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/graph"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

// shop is the chain of the fake runs.
var shop = engine.Graph{Name: "shop", Segments: [][]engine.GraphStep{
	{{Path: "browse", Name: "browse", Label: "Browse", Kind: "http", Service: "shop", Endpoint: "GET /products/{}"}},
	{{Path: "fill", Name: "fill", Label: "Fill the cart", Kind: "for", Controls: "item in choose(agent)", Inner: []engine.Graph{
		{Name: "do", Segments: [][]engine.GraphStep{{{Path: "fill.add", Name: "add", Label: "Add", Kind: "http", Service: "shop", Endpoint: "POST /carts/{}/items"}}}},
	}}},
	{{Path: "order", Name: "order", Label: "Order", Kind: "emit"}},
}}

// figuresOf returns the figures of a step that was executed n times and took d each time.
func figuresOf(path string, ok, failed, requests int64, took time.Duration) engine.StepFigures {
	f := engine.StepFigures{Path: path, Requests: requests}
	f.Statuses[engine.StepOK], f.Statuses[engine.StepFailed] = ok, failed
	f.Service = engine.Quantiles{Count: ok + failed, Mean: took, P50: took, P95: 2 * took, P99: 3 * took, Max: 3 * took}
	f.Sum = time.Duration(ok+failed) * took
	return f
}

func TestTheChainAsAGraph(t *testing.T) {
	st := perform(t, running())
	st.shows(t, "Steps", "Throughput")
	st.hides(t, "Fill the cart")
	st.graph()
	st.shows(t, "Overview", "Browse", "Fill the cart", "4 steps")

	st.run.change(func(s *engine.Snapshot) {
		s.Steps = []engine.StepFigures{
			figuresOf("browse", 990, 10, 1000, 120*time.Millisecond), figuresOf("fill", 900, 0, 0, time.Second),
			figuresOf("fill.add", 80, 20, 130, 1234*time.Microsecond),
		}
	})
	st.tick()
	st.shows(t, "240 ms · 1.0% failed", "2.5 ms · 20% failed", "for · 900 times", "not yet")
	st.view("Overview")
	st.hides(t, "Fill the cart")
}

// TestStepsAreSorted sorts the table of steps by a click on a title.
func TestStepsAreSorted(t *testing.T) {
	s := running()
	s.Steps = []engine.StepFigures{
		figuresOf("browse", 990, 10, 1000, 120*time.Millisecond), figuresOf("fill", 900, 0, 0, time.Second), figuresOf("fill.add", 80, 20, 130, 1234*time.Microsecond),
	}
	st := perform(t, s)
	st.view("Steps")
	order := func() string {
		var all []string
		for _, text := range uitest.Texts(st.steps.table) {
			if path := text[strings.LastIndex(text, " ")+1:]; slices.Contains([]string{"browse", "fill", "fill.add"}, path) {
				all = append(all, path)
			}
		}
		return strings.Join(all, " ")
	}
	if got := order(); got != "fill browse fill.add" {
		t.Errorf("the slowest first: got %s", got)
	}
	st.steps.all.Sort(view.StepP95)
	if got := order(); got != "fill.add browse fill" {
		t.Errorf("the fastest first: got %s", got)
	}
	st.steps.all.Sort(view.StepFailures)
	if got := order(); got != "fill.add browse fill" {
		t.Errorf("most failures first: got %s", got)
	}
	st.steps.all.Sort(view.StepPath)
	if got := order(); got != "browse fill fill.add" {
		t.Errorf("by name: got %s", got)
	}
	st.shows(t, "p95", "p99", "Size", "240 ms", "12/s", "20")
}

// TestAnotherRunHasAChainOfItsOwn checks that a new run clears the figures of the previous one.
func TestAnotherRunHasAChainOfItsOwn(t *testing.T) {
	s := running()
	s.Steps = []engine.StepFigures{figuresOf("browse", 10, 0, 10, time.Second)}
	st := perform(t, s)
	st.graph()
	st.shows(t, "p95 2 s")
	next := running()
	next.Run = "20300301-130000-efgh"
	st.desk.job = jobOf(newFakeRun(next))
	st.tick()
	st.hides(t, "p95 2 s")
	st.shows(t, "Browse", "http · shop")
}

// TestTheChainOfARunThatHasEnded checks that the figures of an ended run are shown without further updates.
func TestTheChainOfARunThatHasEnded(t *testing.T) {
	s := running()
	s.Phase, s.Steps = engine.Ended, []engine.StepFigures{figuresOf("browse", 10, 0, 10, time.Second)}
	st := perform(t, s)
	st.graph()
	st.shows(t, "p95 2 s", "not yet")
}

func TestAHiddenChainIsNotDrawn(t *testing.T) {
	st := perform(t, running())
	st.run.change(func(s *engine.Snapshot) { s.Steps = []engine.StepFigures{figuresOf("browse", 10, 0, 10, time.Second)} })
	st.tick()
	if st.chain.steps != nil {
		t.Error("the chain was colored behind the charts")
	}
	if n := st.charts.feed; n == nil {
		t.Error("the charts were not drawn")
	}
}

func TestStepsAreJudged(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		figures    engine.StepFigures
		tone       widgets.Tone
		by         []string
	}{
		{"healthy", "http", figuresOf("a", 96, 4, 100, 900*time.Millisecond), widgets.Good, nil},
		{"slow", "http", figuresOf("a", 100, 0, 100, 1500*time.Millisecond), widgets.Warning, []string{"latency warning"}},
		{"very slow", "http", figuresOf("a", 100, 0, 100, 2500*time.Millisecond), widgets.Bad, []string{"latency critical"}},
		{"a model takes its time", "llm", figuresOf("a", 100, 0, 100, 9*time.Second), widgets.Good, nil},
		{"thinking takes time", "wait", figuresOf("a", 100, 0, 0, 9*time.Second), widgets.Good, nil},
		{"failing", "python", figuresOf("a", 93, 7, 0, 0), widgets.Warning, []string{"failed warning"}},
		{"failing often, and slow", "http", figuresOf("a", 80, 20, 100, 1500*time.Millisecond), widgets.Bad, []string{"latency warning", "failed critical"}},
		{"never carried out", "http", engine.StepFigures{}, widgets.Neutral, nil},
	} {
		step := &engine.GraphStep{Kind: c.kind}
		if got := stepState(step, &c.figures, 0).Tone; got != c.tone {
			t.Errorf("%s: tone %d, want %d", c.name, got, c.tone)
		}
		if _, by := judgeStep(step, &c.figures); !slices.Equal(by, c.by) {
			t.Errorf("%s: by %q, want %q", c.name, by, c.by)
		}
	}
	limited := figuresOf("a", 100, 0, 100, 0)
	limited.RateLimited = 3
	if _, by := judgeStep(&engine.GraphStep{}, &limited); !slices.Equal(by, []string{"429s warning"}) {
		t.Errorf("429s are judged %q", by)
	}
}

func TestStepWords(t *testing.T) {
	step := &engine.GraphStep{Kind: "http"}
	f := figuresOf("a", 1200, 34, 1500, 123456*time.Microsecond)
	f.Statuses[engine.StepSkipped], f.Retries, f.RateLimited = 5, 266, 7
	for _, c := range []struct{ got, want string }{
		{stepLine(step, &f), "250 ms · 2.8% failed"},
		{stepMore(step, &f), "429s warning\n1,200 ok, 34 failed, 5 skipped\np50 120 ms, p95 250 ms, p99 370 ms\n1,500 requests, 266 retries, 7 429s"},
		{stepLine(step, &engine.StepFigures{}), "not yet"},
		{stepLine(step, &engine.StepFigures{Statuses: [5]int64{engine.StepSkipped: 3}}), "skipped"},
		{stepLine(&engine.GraphStep{Kind: "emit"}, &engine.StepFigures{Statuses: [5]int64{3}}), "3 times"},
		{stepLine(&engine.GraphStep{Kind: "emit"}, &engine.StepFigures{Statuses: [5]int64{1}}), "once"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// TestTheSlowestStepIsTheDarkest checks that steps are shaded relative to the slowest step without inner steps, because
// a loop takes as long as all its steps.
func TestTheSlowestStepIsTheDarkest(t *testing.T) {
	uitest.Start(t)
	c := newChain()
	c.begin(&Job{Graph: shop})
	c.steps = []engine.StepFigures{
		figuresOf("browse", 9, 0, 9, 50*time.Millisecond), figuresOf("fill", 9, 0, 0, time.Second), figuresOf("fill.add", 9, 0, 9, 100*time.Millisecond),
	}
	if got := c.slowest(); got != 200*time.Millisecond {
		t.Fatalf("the slowest takes %s", got)
	}
	want := map[string]uint8{"browse": graph.Shades / 2, "fill": 0, "fill.add": graph.Shades}
	shop.Walk(func(s *engine.GraphStep) {
		if f, ok := c.find(s.Path); ok {
			if got := stepState(s, f, c.slowest()).Shade; got != want[s.Path] {
				t.Errorf("%s has shade %d, want %d", s.Path, got, want[s.Path])
			}
		}
	})
}

// TestCriticalPathIsShown checks the critical path if some sessions skip a step, and if a step is repeated.
func TestCriticalPathIsShown(t *testing.T) {
	s := running()
	s.Ended = 1000
	s.Steps = []engine.StepFigures{
		figuresOf("browse", 1000, 0, 1000, 100*time.Millisecond), figuresOf("fill", 1000, 0, 0, 0), figuresOf("fill.add", 3000, 0, 3000, 200*time.Millisecond),
	}
	st := perform(t, s)
	st.graph()
	st.shows(t, "critical path 700 ms of 700 ms in an average session: Browse, Fill the cart")
	st.run.change(func(s *engine.Snapshot) {
		s.Steps = []engine.StepFigures{figuresOf("browse", 500, 0, 500, 3*time.Second)}
	})
	st.tick()
	st.shows(t, "critical path 1.5 s of 1.5 s in an average session: Browse")
}

// TestAStepOpensInTheGraph clicks a row of the table: the graph shows that step.
func TestAStepOpensInTheGraph(t *testing.T) {
	s := running()
	s.Steps = []engine.StepFigures{figuresOf("browse", 990, 10, 1000, 120*time.Millisecond), figuresOf("fill", 900, 0, 0, 0), figuresOf("fill.add", 80, 20, 130, time.Millisecond)}
	st := perform(t, s)
	st.view("Steps")
	st.steps.table.OnOpened("fill.add")
	if got := st.steps.chain.graph.Selected(); st.steps.way.Chosen() != stepGraph || got != "fill.add" {
		t.Errorf("a click opens %q", got)
	}
}

// TestStepsThatTakeTime shows the p95 of a step that waits, and how often a step ran that takes none.
func TestStepsThatTakeTime(t *testing.T) {
	think, set := figuresOf("think", 293, 0, 0, 1600*time.Millisecond), figuresOf("set", 293, 0, 0, 0)
	if got := stepLine(&engine.GraphStep{Kind: "wait"}, &think); got != "p95 3.2 s" {
		t.Errorf("a wait shows %q", got)
	}
	if got := stepLine(&engine.GraphStep{Kind: "set"}, &set); got != "293 times" {
		t.Errorf("a step that takes no time shows %q", got)
	}
}
