package scenario

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
	"pgregory.net/rapid"
)

// meddled is a village in which a person sends a message to two agents once, in the third cycle.
type meddled struct {
	*Program
	run     chan *run.Run
	journal *enginetest.Journal
	message engine.Message
}

func (m *meddled) Session(s *engine.Session) {
	if s.Cycle == 2 && s.Agent == 3 && !m.told() {
		run := <-m.run
		m.run <- run
		_ = run.Inject(context.Background(), m.message, "two", "test") // where the journal died, the next process does it
	}
	m.Program.Session(s)
}

// told reports whether the journal contains the message.
func (m *meddled) told() bool {
	return slices.ContainsFunc(m.journal.Rows(), func(r engine.Row) bool {
		c, ok := r.(engine.ChangeRow)
		return ok && c.What == engine.InjectChange
	})
}

func meddle(t testing.TB, order string, limit int, j *enginetest.Journal, resume *engine.Resumption) {
	t.Helper()
	s, err := Read("world.yaml", files("world.yaml", village+"order: "+order+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	settings := engine.DefaultSettings()
	settings.Seed, settings.Cycles, settings.Metrics, settings.CheckpointEvery, settings.Limit = 3, s.Cycles, false, 0, limit
	settings.Sequential = s.Sequential
	j.Settings = settings
	p := &meddled{Program: s.Program(settings.Seed), run: make(chan *run.Run, 1), journal: j}
	if p.message, err = p.Message([]string{"villager-5", "villager-1"}, "a storm is coming", `{"wind": 9}`); err != nil {
		t.Fatal(err)
	}
	ctx, cut := context.WithCancel(t.Context())
	defer cut()
	run, err := run.Start(ctx, run.Config{
		ID: "test", Program: p, Agents: s.Agents, Clock: s.Clock, Settings: settings, Journal: j, Resume: resume,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.run <- run
	if j.DieAfter > 0 {
		go func() {
			select {
			case <-j.Died():
				cut()
			case <-run.Done():
			}
		}()
	}
	run.Wait()
}

// TestInjectedLettersAreTheSameAtAnyConcurrency checks that messages from outside arrive in the same way at any
// concurrency limit. It also kills the run after random rows and resumes it.
func TestInjectedLettersAreTheSameAtAnyConcurrency(t *testing.T) {
	for _, order := range []string{"parallel", "sequential"} {
		t.Run(order, func(t *testing.T) {
			calm := &enginetest.Journal{}
			meddle(t, order, 1, calm, nil)
			want, rows := enginetest.Results(calm.Sessions()), len(calm.Rows())
			if n := strings.Count(want, `"sender":null,"cycle":3,"text":"a storm is coming","data":{"wind":9}`); n < 2 {
				t.Fatalf("%d agents received the storm:\n%s", n, want)
			}
			rapid.Check(t, func(rt *rapid.T) {
				j := &enginetest.Journal{}
				limit := rapid.SampledFrom([]int{1, 7, 100}).Draw(rt, "limit")
				for _, n := range rapid.SliceOfN(rapid.IntRange(1, rows), 0, 3).Draw(rt, "rows until each death") {
					if res := resumption(j); res != nil && res.Cycle >= 6 {
						break
					}
					j.DieAfter = len(j.Rows()) + n
					meddle(t, order, limit, j, resumption(j))
					j = j.Reopen()
				}
				j.DieAfter = 0
				if res := resumption(j); res == nil || res.Cycle < 6 {
					meddle(t, order, limit, j, res)
				}
				if got := enginetest.Results(j.Sessions()); got != want {
					rt.Fatalf("limit %d differs from limit 1:\n%s", limit, firstDifference(got, want))
				}
			})
		})
	}
}

func TestMessageByHand(t *testing.T) {
	s, err := Read("world.yaml", files("world.yaml", village), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Program(1)
	for _, c := range []struct {
		ids        []string
		text, data string
		want       string // the body or the error
	}{
		{nil, "hello", "", `{"text":"hello","data":null}`},
		{[]string{"villager-6", "villager-0"}, "", `[1, 2]`, `{"text":null,"data":[1,2]}`},
		{nil, "", "", "nothing to say"},
		{[]string{"villager-9"}, "hello", "{", "data"},
		{[]string{"villager-9"}, "hello", "{", "no such agent: villager-9"},
	} {
		m, err := p.Message(c.ids, c.text, c.data)
		if err != nil {
			if _, ok := errors.AsType[*engine.FieldError](err); !ok || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v %q %q: %v, want %s", c.ids, c.text, c.data, err, c.want)
			}
			continue
		}
		if string(m.Body) != c.want || len(m.To) != len(c.ids) || !slices.IsSorted(m.To) {
			t.Errorf("%v %q %q: %s for %v, want %s", c.ids, c.text, c.data, m.Body, m.To, c.want)
		}
	}
}
