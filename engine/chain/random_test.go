package chain

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/script/value"
)

// randomStep is a step of a random block. It takes some seconds, writes to the memory, emits an event, and then may
// fail.
type randomStep struct {
	member    bool
	deps      []int // of its group
	takes     time.Duration
	fails     bool
	continues bool
	when      bool // false is skipped
	panics    bool
}

// randomBlock draws a block whose edges form no cycle: in each group they follow a hidden order.
func randomBlock(r *rapid.T) []randomStep {
	block := make([]randomStep, rapid.IntRange(1, 9).Draw(r, "steps"))
	rank := rapid.Permutation(indexes(len(block))).Draw(r, "ranks")
	for i := range block {
		block[i] = randomStep{
			member:    rapid.IntRange(0, 5).Draw(r, "member") > 0,
			takes:     time.Duration(rapid.IntRange(0, 4).Draw(r, "takes")) * time.Second,
			fails:     rapid.IntRange(0, 6).Draw(r, "fails") == 0,
			continues: rapid.IntRange(0, 2).Draw(r, "continues") == 0,
			when:      rapid.IntRange(0, 6).Draw(r, "when") > 0,
			panics:    rapid.IntRange(0, 20).Draw(r, "panics") == 0,
		}
	}
	for i := range block {
		if !block[i].member {
			continue
		}
		for j := range block {
			if rank[j] < rank[i] && together(block, i, j) && rapid.IntRange(0, 2).Draw(r, "edge") == 0 {
				block[i].deps = append(block[i].deps, j)
			}
		}
	}
	return block
}

func indexes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// together reports whether two steps belong to the same group.
func together(block []randomStep, i, j int) bool {
	for k := min(i, j); k <= max(i, j); k++ {
		if !block[k].member {
			return false
		}
	}
	return true
}

// yamlOf returns the block as YAML.
func yamlOf(block []randomStep) string {
	var b strings.Builder
	for i, s := range block {
		fmt.Fprintf(&b, "step s%d: {kind: python, call: 1", i)
		if s.member {
			deps := make([]string, len(s.deps))
			for k, j := range s.deps {
				deps[k] = fmt.Sprintf("s%d", j)
			}
			fmt.Fprintf(&b, ", depends_on: [%s]", strings.Join(deps, ", "))
		}
		if s.continues {
			b.WriteString(", on_error: continue")
		}
		if !s.when {
			b.WriteString(", when: false")
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// model computes the expected result of a block. A step's own result is a function of the steps it depends on. If
// several steps end the session, the first one in the file counts.
type model struct {
	block   []randomStep
	results []engine.StepStatus
	ends    []bool
	began   []time.Duration // if nothing above ends the session
	ended   []time.Duration
	known   []bool
}

func newModel(block []randomStep) *model {
	n := len(block)
	m := &model{
		block, make([]engine.StepStatus, n), make([]bool, n), make([]time.Duration, n), make([]time.Duration, n), make([]bool, n),
	}
	var since time.Duration
	for i := 0; i < n; {
		to := i + 1
		for block[i].member && to < n && block[to].member {
			to++
		}
		var end time.Duration
		for ; i < to; i++ {
			m.settle(i, since)
			end = max(end, m.ended[i])
		}
		since = end
	}
	return m
}

// settle computes the result of a step whose segment begins at the given time.
func (m *model) settle(i int, since time.Duration) {
	if m.known[i] {
		return
	}
	m.known[i] = true
	s := m.block[i]
	begin, spoiled := since, false
	for _, j := range s.deps {
		m.settle(j, since)
		begin = max(begin, m.ended[j])
		spoiled = spoiled || m.ends[j] || m.results[j] == engine.StepSkipped && m.began[j] < 0
	}
	m.began[i], m.ended[i] = begin, begin
	switch {
	case spoiled: // it never began
		m.results[i], m.began[i] = engine.StepSkipped, -1
	case !s.when:
		m.results[i] = engine.StepSkipped
	default:
		m.ended[i] += s.takes
		if s.panics || s.fails {
			m.results[i], m.ends[i] = engine.StepFailed, s.panics || !s.continues
		}
	}
}

// records formats the step records of the row.
func (m *model) records() string {
	var b strings.Builder
	bad := slices.Index(m.ends, true)
	for i, s := range m.block {
		status := m.results[i]
		if bad >= 0 && i > bad {
			status = engine.StepCanceled
		}
		fmt.Fprintf(&b, " s%d:%v", i, status)
		switch {
		case status != engine.StepFailed:
		case s.panics:
			b.WriteString(":panic")
		default:
			b.WriteString(":script")
		}
	}
	return strings.TrimSpace(b.String())
}

// watched is the action of a step in a random block. It records when the step began and ended.
type watched struct {
	randomStep
	at    int
	times *times
}

// times are the virtual times at which steps began and ended; -1 means never.
type times struct {
	mu           sync.Mutex
	start        time.Time
	began, ended []time.Duration
}

func (ts *times) note(of []time.Duration, at int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	of[at] = time.Since(ts.start)
}

func (w watched) run(t *turn) (value.Value, error) {
	w.times.note(w.times.began, w.at)
	defer w.times.note(w.times.ended, w.at)
	name := fmt.Sprintf("m%d", w.at%3)
	t.x.in.Memory.Keep(name, value.Missing)
	at := []byte(itoa(w.at))
	t.x.in.Memory.Write(&engine.Delta{Set: []engine.Field{{Name: name, Value: at}}, Notes: [][]byte{at}})
	t.x.row.Events = append(t.x.row.Events, engine.Event{Path: t.path, Name: "e"})
	if _, err := (&wait{fixed: w.takes}).run(t); err != nil {
		return nil, err
	}
	switch {
	case w.panics:
		panic("at random")
	case w.fails:
		return nil, engine.Fail(engine.Script, "at random")
	}
	return value.Missing, nil
}

// TestRandomGraphs checks that a step never begins before its dependencies have ended, that a block takes exactly as
// long as its critical path, that its result equals the model's, and that both modes write the same rows.
func TestRandomGraphs(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		block := randomBlock(r)
		want := newModel(block)
		var rows [2]string
		for k, mode := range modes {
			synctest.Test(t, func(t *testing.T) {
				ts := &times{start: time.Now(), began: never(len(block)), ended: never(len(block))}
				row := stage{steps: yamlOf(block), change: mode.change, before: func(c *Chain) {
					for i, s := range c.Body.Steps {
						s.action = watched{block[i], i, ts}
					}
				}}.one(t)
				if got := steps(&row); got != want.records() {
					r.Errorf("%s\nsteps\n got %s\nwant %s", mode.name, got, want.records())
				}
				rows[k] = enginetest.Results([]engine.SessionRow{row})
				checkTimes(r, want, ts, row.Total, mode.change != nil)
			})
		}
		if rows[0] != rows[1] {
			r.Errorf("parallel\n%s\nsequential\n%s", rows[0], rows[1])
		}
	})
}

func never(n int) []time.Duration {
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = -1
	}
	return all
}

// checkTimes compares the start times of steps and the duration of the block with the model.
func checkTimes(r *rapid.T, want *model, ts *times, total time.Duration, sequential bool) {
	var critical time.Duration
	well := !slices.Contains(want.ends, true)
	for i, s := range want.block {
		for _, j := range s.deps {
			if ts.began[i] >= 0 && ts.began[i] < ts.ended[j] {
				r.Errorf("s%d began at %v, s%d ended at %v", i, ts.began[i], j, ts.ended[j])
			}
		}
		if well && s.when && !sequential && ts.began[i] != want.began[i] {
			r.Errorf("s%d began at %v, want %v", i, ts.began[i], want.began[i])
		}
		critical = max(critical, want.ended[i])
	}
	if well && !sequential && total != critical {
		r.Errorf("took %v, the critical path is %v", total, critical)
	}
}
