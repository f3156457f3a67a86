package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing/fstest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
)

//go:embed peers/waiting.py
var waitingPy string

// waitingRow compares steps that wait with the time that the gate allows, N/gate × step, and with goroutines that only
// sleep: what these take longer is the machine's.
func waitingRow() row {
	const sessions, step = 1000, 20 * time.Millisecond
	type level struct{ gate, times int }
	levels := []level{{10, 3}, {50, 9}, {100, 15}}
	r := row{
		name: "3",
		what: fmt.Sprintf("%d steps of %v that wait", sessions, step),
		note: "Points are hundredths of the ideal time, N/gate × step. Throng runs a scenario's wait step, and in turn with it, " +
			"in the same process, as many goroutines as the gate sleep with time.Sleep; the start and the end of a run count. The median of 3, 9 and 15 times.",
	}
	name := func(who string, gate int) string { return fmt.Sprintf("%s at %d", who, gate) }
	r.sides = []side{
		{name: "Throng", run: func(ctx context.Context, _ env) (figures, error) {
			f := figures{}
			for _, l := range levels {
				ideal := step * sessions / time.Duration(l.gate)
				var ours, sleeping []float64
				for range l.times {
					o, err := waitSteps(ctx, sessions, l.gate, step)
					if err != nil {
						return nil, err
					}
					s, err := elapsed(func() error { sleepers(sessions, l.gate, step); return nil })
					if err != nil {
						return nil, err
					}
					ours, sleeping = append(ours, points(o, ideal)), append(sleeping, points(s, ideal))
				}
				f[name("points", l.gate)], f[name("goroutines", l.gate)] = spreadOf(ours).median, spreadOf(sleeping).median
			}
			return f, nil
		}},
		{name: "asyncio", prepare: python, run: func(ctx context.Context, _ env) (figures, error) {
			return script(ctx, "python3", "-c", waitingPy, fmt.Sprint(sessions), fmt.Sprint(step.Seconds()))
		}},
	}
	for _, l := range levels {
		ours, sleeping := name("points", l.gate), name("goroutines", l.gate)
		r.shown = append(r.shown, ours)
		r.ratios = append(r.ratios, ratio{
			name: fmt.Sprintf("points over goroutines at gate %d", l.gate), must: 0.5, aim: 0.2, less: true,
			of: func(all []figures) (float64, bool) {
				_, ok := all[0][ours]
				return all[0][ours] - all[0][sleeping], ok
			},
		})
	}
	for _, l := range levels {
		r.shown = append(r.shown, name("goroutines", l.gate))
	}
	return r
}

// overnightRow is a cycle of a crowd of the size that the design has in mind.
func overnightRow() row {
	const agents, gate, step = 372, 50, 2 * time.Second
	return row{
		name: "4",
		what: fmt.Sprintf("%d agents of %v at gate %d", agents, step, gate),
		note: "The ideal is 16.0 s. Goroutines that only sleep do the same in the same process at the same time.",
		sides: []side{{name: "Throng", run: func(ctx context.Context, _ env) (f figures, err error) {
			var sleeping time.Duration
			var both sync.WaitGroup
			both.Go(func() {
				sleeping, _ = elapsed(func() error { sleepers(agents, gate, step); return nil })
			})
			ours, err := waitSteps(ctx, agents, gate, step)
			both.Wait()
			return figures{"s": ours.Seconds(), "s of goroutines": sleeping.Seconds()}, err
		}}},
		shown:  []string{"s", "s of goroutines"},
		ratios: []ratio{{name: "s", must: 16.2, aim: 16.05, less: true, of: plain("s")}},
	}
}

// besideRow is what steps beside each other gain.
func besideRow() row {
	const steps, step = 5, 2 * time.Second
	return row{
		name: "5",
		what: fmt.Sprintf("A chain of %d independent steps of %v", steps, step),
		note: "The steps ask a server on loopback, which answers after that time. The same chain with its steps one after another runs at the same time.",
		sides: []side{{name: "Throng", run: func(ctx context.Context, _ env) (figures, error) {
			address, stop, err := slowServer(ctx, step)
			if err != nil {
				return nil, err
			}
			defer stop()
			var apart time.Duration
			var failed error
			var both sync.WaitGroup
			both.Go(func() {
				apart, failed = elapsed(func() error { return askSteps(ctx, address, steps, false) })
			})
			beside, err := elapsed(func() error { return askSteps(ctx, address, steps, true) })
			both.Wait()
			return figures{"s beside each other": beside.Seconds(), "s one after another": apart.Seconds()}, errors.Join(err, failed)
		}}},
		shown:  []string{"s beside each other", "s one after another"},
		ratios: []ratio{{name: "times as fast", must: 4.95, aim: 4.99, of: over(0, "s one after another", 0, "s beside each other")}},
	}
}

// points are how many hundredths of the ideal time more was taken.
func points(took, ideal time.Duration) float64 { return 100 * (float64(took)/float64(ideal) - 1) }

func elapsed(work func() error) (time.Duration, error) {
	began := time.Now()
	err := work()
	return time.Since(began), err
}

// waitSteps is how long a run takes of a scenario whose chain is a step that waits, from its start to its end.
func waitSteps(ctx context.Context, agents, gate int, d time.Duration) (time.Duration, error) {
	s, err := scenarioOf(fmt.Sprintf("population: {count: %d}\nchain c:\n  step a: {kind: wait, for: %v}\n", agents, d))
	if err != nil {
		return 0, err
	}
	return elapsed(func() error {
		_, err := toEnd(ctx, bare(agents, gate, s.Program(1)))
		return err
	})
}

// askSteps runs a session whose steps each ask a service once.
func askSteps(ctx context.Context, address string, steps int, beside bool) error {
	var text strings.Builder
	fmt.Fprintf(&text, "population: {count: 1}\nservices: {slow: {kind: http, url: %q}}\nchain c:\n", address)
	for i := range steps {
		fmt.Fprintf(&text, "  step s%d: {kind: http, service: slow, get: /, parallel: %v}\n", i, beside)
	}
	s, err := scenarioOf(text.String())
	if err != nil {
		return err
	}
	client, err := service.NewHTTP("slow", address, s.Services[0].Limits, false)
	if err != nil {
		return err
	}
	defer client.Close()
	s.Services[0].Connect(client, "")
	_, err = toEnd(ctx, bare(1, 1, s.Program(1)))
	return err
}

func scenarioOf(text string) (*scenario.Scenario, error) {
	return scenario.Read("bench.yaml", scenario.FS(fstest.MapFS{"bench.yaml": {Data: []byte(text)}}), nil)
}

// slowServer answers every request after a time.
func slowServer(ctx context.Context, after time.Duration) (address string, stop func(), err error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		timer := time.NewTimer(after)
		defer timer.Stop()
		select {
		case <-timer.C:
			w.WriteHeader(http.StatusNoContent)
		case <-r.Context().Done():
		}
	})}
	go func() { _ = s.Serve(l) }()
	return "http://" + l.Addr().String(), func() { _ = s.Close() }, nil
}

// sleepers has as many goroutines as the gate sleep until all sleeps are done.
func sleepers(sleeps, gate int, d time.Duration) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range gate {
		all.Go(func() {
			for next.Add(1) <= int64(sleeps) {
				time.Sleep(d)
			}
		})
	}
	all.Wait()
}

// sliderRow is the time from a call that raises the limit to the start of a session that could not start before.
func sliderRow() row {
	const raises = 30
	r := row{
		name: "10",
		what: fmt.Sprintf("Slider to effect: the limit raised %d times", raises),
		note: "From the call until a session starts that could not before. The workers that compute take every core.",
		sides: []side{{name: "Throng", run: func(ctx context.Context, _ env) (figures, error) {
			f := figures{}
			for name, work := range map[string]func(*engine.Session, <-chan struct{}){"waiting": waitOn, "computing": compute} {
				took, err := raiseOften(ctx, raises, work)
				if err != nil {
					return nil, err
				}
				f["usual ms, "+name], f["slowest ms, "+name] = took.median, took.most
			}
			return f, nil
		}}},
		shown: []string{"usual ms, waiting", "slowest ms, waiting", "usual ms, computing", "slowest ms, computing"},
	}
	for _, name := range []string{"waiting", "computing"} {
		r.ratios = append(r.ratios, ratio{
			name: "ms at the slowest, workers " + name, must: 100, aim: 10, less: true, of: plain("slowest ms, " + name),
		})
	}
	return r
}

func waitOn(s *engine.Session, leave <-chan struct{}) {
	select {
	case <-leave:
	case <-s.Clock().Context().Done():
	}
}

func compute(*engine.Session, <-chan struct{}) {
	for began := time.Now(); time.Since(began) < time.Millisecond; {
		continue
	}
}

// raiseOften raises the limit by one, sees how long that takes to have effect, in ms, lowers it, and again.
func raiseOften(ctx context.Context, times int, work func(*engine.Session, <-chan struct{})) (spread, error) {
	const limit = 8
	var known sync.Map // a session that is not known is of a new worker
	began, leave := make(chan time.Time, 1), make(chan struct{})
	r, err := run.Start(ctx, bare(1<<30, limit, programFunc(func(s *engine.Session) {
		if _, is := known.LoadOrStore(s, true); !is {
			select {
			case began <- time.Now():
			default:
			}
		}
		work(s, leave)
		s.Row.Outcome = engine.OK
	})))
	if err != nil {
		return spread{}, err
	}
	var took []float64
	for range times {
		for r.Snapshot().InFlight != limit {
			time.Sleep(time.Millisecond)
		}
		for len(began) > 0 {
			<-began
		}
		start := time.Now()
		if err := r.SetLimit(limit+1, "bench", ""); err != nil {
			return spread{}, err
		}
		took = append(took, float64((<-began).Sub(start))/1e6)
		if err := r.SetLimit(limit, "bench", ""); err != nil {
			return spread{}, err
		}
		select {
		case leave <- struct{}{}: // a session that waits makes room
		case <-time.After(2 * time.Millisecond):
		}
	}
	for range 2 {
		if err := r.Stop("bench", ""); err != nil {
			return spread{}, err
		}
	}
	r.Wait()
	return spreadOf(took), nil
}
