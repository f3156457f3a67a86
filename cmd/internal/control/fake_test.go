package control

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const runID engine.RunID = "20300301-120000-abcd"

// fakeRun records the orders it receives.
type fakeRun struct {
	mu     sync.Mutex
	snap   engine.Snapshot
	values map[string]string
	asked  []string
	fail   error
	wait   bool          // checkpoints wait until they are canceled
	begun  chan struct{} // closed when a checkpoint waits
}

func newFakeRun() *fakeRun {
	return &fakeRun{
		snap:   engine.Snapshot{Run: runID, Phase: engine.Running, Pace: engine.Pace{Remaining: -1}},
		values: map[string]string{engine.LimitSetting: "50", "model.rate": "10", "floor": "1", "ceiling": "100"}, begun: make(chan struct{}),
	}
}

func (r *fakeRun) note(format string, args ...any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, fmt.Sprintf(format, args...))
	return r.fail
}

// heard returns the orders received since the last call, with W for the name of the client.
func (r *fakeRun) heard() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := strings.ReplaceAll(strings.Join(r.asked, "; "), myself(), "W")
	r.asked = nil
	return text
}

func (r *fakeRun) change(f func(s *engine.Snapshot)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.snap)
}

func (r *fakeRun) ID() engine.RunID { return runID }

func (r *fakeRun) Snapshot() *engine.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.snap
	return &s
}

func (r *fakeRun) Settings() *engine.Settings {
	s := engine.DefaultSettings()
	return &s
}

func (r *fakeRun) Tunables() []engine.Tunable {
	r.mu.Lock()
	defer r.mu.Unlock()
	return []engine.Tunable{
		{Name: engine.LimitSetting, Value: r.values[engine.LimitSetting], Help: "sessions in flight"},
		{Name: "ceiling", Value: r.values["ceiling"]},
		{Name: "floor", Value: r.values["floor"]},
		{Name: "model.rate", Value: r.values["model.rate"]},
	}
}

func (r *fakeRun) Apply(wanted []engine.Assignment, who, why string) (changes []engine.Change, err error) {
	if err := r.note("apply %v by %s because %s", wanted, who, why); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range wanted {
		old, ok := r.values[a.Name]
		if !ok {
			return nil, &engine.FieldError{Field: a.Name, Problem: "unknown"}
		}
		r.values[a.Name] = a.Value
		changes = append(changes, engine.Change{Name: a.Name, Old: old, New: a.Value})
	}
	return changes, nil
}

func (r *fakeRun) Pause(who, why string) error { return r.note("pause by %s because %s", who, why) }
func (r *fakeRun) Resume(who string) error     { return r.note("resume by %s", who) }
func (r *fakeRun) Stop(who, why string) error  { return r.note("stop by %s because %s", who, why) }

func (r *fakeRun) Checkpoint(ctx context.Context, reason string) error {
	if r.wait {
		close(r.begun)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return r.note("checkpoint because %s", reason)
}

func (r *fakeRun) Retire(_ context.Context, agent int, who string) error {
	return r.note("retire %d by %s", agent, who)
}

func (r *fakeRun) Requeue(_ context.Context, agent int, who string) error {
	return r.note("requeue %d by %s", agent, who)
}

// job returns a run with two agents, ann and bob.
func (r *fakeRun) job() Job {
	return Job{
		Run: r, Title: "Hamlet",
		Find: func(agents []string) ([]int, error) {
			var all []int
			for _, a := range agents {
				i := map[string]int{"ann": 1, "bob": 2}[a]
				if i == 0 {
					return nil, &engine.FieldError{Field: "agents", Problem: "no such agent: " + a}
				}
				all = append(all, i-1)
			}
			return all, nil
		},
		Broadcast: func(_ context.Context, ids []string, text, who string) error {
			return r.note("broadcast %s %q by %s", ids, text, who)
		},
	}
}

// serve serves a run in its own folder.
func serve(t *testing.T, r *fakeRun) (data string, stop func()) {
	t.Helper()
	data = shortDir(t)
	end, err := Serve(r.job(), data)
	if err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	stop = func() {
		once.Do(func() {
			if err := end(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(stop)
	return data, stop
}

// shortDir returns a folder whose path is short enough for a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "t") //nolint:usetesting // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func dial(t *testing.T, data string) *Client {
	t.Helper()
	c, err := Dial(t.Context(), data, runID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}
