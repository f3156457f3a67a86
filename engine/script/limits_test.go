package script

import (
	"errors"
	"sync"
	"testing"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script/meter"
)

func TestStop(t *testing.T) {
	done := make(chan struct{})
	var once sync.Once
	env, err := New(Config{
		Functions: &Source{"test.star", "def f():\n  for i in range(1 << 60):\n    if i == 1000:\n      print('far enough')\n"},
		Limits:    meter.Limits{Steps: 1 << 62},
		Print:     func(string) { once.Do(func() { close(done) }) },
	})
	if err != nil {
		t.Fatal(err)
	}
	x := mustExpr(t, env, "f() or agent")
	if _, err := x.Eval(&Context{Done: done}); !errors.Is(err, meter.ErrStopped) {
		t.Errorf("got error %v, want %v", err, meter.ErrStopped)
	}
}

func TestLimitsAreConfigurable(t *testing.T) {
	env, err := New(Config{Limits: meter.Limits{Steps: 1000, Bytes: 10_000}})
	if err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]error{
		"[0 for x in range(100)] and agent":              nil,
		"[0 for x in range(1000) if x < 0] and agent":    meter.ErrTooLong,
		"'x' * 9000 and agent":                           nil,
		"'x' * 11000 and agent":                          meter.ErrTooBig,
		"any([x == y for x in [1] for y in range(500)])": meter.ErrTooLong,
	} {
		if _, err := mustExpr(t, env, src).Eval(&Context{Names: session(t)}); !errors.Is(err, want) || (want == nil) != (err == nil) {
			t.Errorf("%s: got error %v, want %v", src, err, want)
		}
	}
}

// TestConcurrentEvaluation shares everything that may be shared between goroutines; run it with -race.
func TestConcurrentEvaluation(t *testing.T) {
	env := mustEnv(t, shopFunctions+"\ndef draws(n):\n    return [uniform(0, 1) for _ in range(n)]\n")
	x := mustExpr(t, env, "[choose(agent, steps.browse.products), CATEGORIES, {k: PRICES[k] for k in PRICES}, draws(3), agent]")
	tmpl, err := env.Template("${agent.name} ${pick(CATEGORIES)} ${visits()}", scope)
	if err != nil {
		t.Fatal(err)
	}
	names := session(t)
	want := make([]string, 20)
	for i := range want {
		want[i] = concurrentResult(t, x, tmpl, names, i)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for round := range 10 {
				for i := range want {
					if got := concurrentResult(t, x, tmpl, names, i); got != want[i] {
						t.Errorf("round %d, agent %d: got %s, want %s", round, i, got, want[i])
					}
				}
			}
		})
	}
	wg.Wait()
}

func concurrentResult(t *testing.T, x *Expr, tmpl *Template, names Names, agent int) string {
	c := &Context{Names: names, Key: draw.Key{}.Int(uint64(agent)), Field: "f"}
	v, err := x.Eval(c)
	if err != nil {
		t.Error(err)
		return ""
	}
	w, err := tmpl.Eval(c)
	if err != nil {
		t.Error(err)
		return ""
	}
	return v.String() + w.String()
}
