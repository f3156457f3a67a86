package scenario

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service"
	"pgregory.net/rapid"
)

const shopping = "../../assets/scenarios/shopping.yaml"

// day is a run of the built-in shoppers against a mock.
type day struct {
	set     map[string]string
	shop    mock.Config
	change  func(*engine.Settings)
	journal engine.Journal
	resume  *engine.Resumption
	ctx     context.Context
}

// run executes the day and then queries the shop for its orders.
func (d day) run(t testing.TB) (run.Result, mock.Orders) {
	t.Helper()
	s, err := Load(shopping, d.set)
	if err != nil {
		t.Fatal(err)
	}
	d.shop.Seed = 7
	shop, err := mock.Start(d.shop)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := shop.Close(); err != nil {
			t.Error(err)
		}
	}()
	client, err := service.NewHTTP("shop", shop.URL(), s.Services[0].Limits, true)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s.Services[0].Simulation = true
	s.Services[0].Connect(client, shop.Secret())
	settings := engine.DefaultSettings()
	settings.Seed, settings.Cycles, settings.Metrics, settings.CheckpointEvery = 7, s.Cycles, false, 0
	settings.Retry.Wait = time.Millisecond
	if d.change != nil {
		d.change(&settings)
	}
	if d.ctx == nil {
		d.ctx = t.Context()
	}
	run, err := run.Start(d.ctx, run.Config{
		ID: "test", Program: s.Program(settings.Seed), Agents: s.Agents, Clock: s.Clock, Settings: settings, Success: s.Success,
		Journal: d.journal, Resume: d.resume,
	})
	if err != nil {
		t.Fatal(err)
	}
	result := run.Wait()
	if result.Ending == engine.EndFinished {
		for _, e := range run.Snapshot().Errors {
			t.Logf("%s × %d: agent %d, step %s: %s", e.Class, e.Count, e.Agent, e.Path, e.Message)
		}
	}
	return result, shop.Orders()
}

func TestShoppersBuyAbandonAndStayHome(t *testing.T) {
	r, orders := day{}.run(t)
	bought, stayed := r.Totals.Acted, r.Totals.Outcomes[engine.Stopped]
	abandoned := r.Totals.Outcomes[engine.OK] - bought
	if bought < 100 || abandoned < 50 || stayed < 1000 {
		t.Errorf("a day of 372 shoppers: %d bought, %d abandoned, %d stayed home", bought, abandoned, stayed)
	}
	if bad := r.Totals.Bad(); bad > 0 {
		t.Errorf("%d sessions failed", bad)
	}
	if orders.Total != bought || orders.DoubledKeys != 0 {
		t.Errorf("the shop has %d orders, %d of them doubled; %d shoppers bought", orders.Total, orders.DoubledKeys, bought)
	}
}

// faulty is a shop with every kind of fault except 429, which would wait in real time.
func faulty() mock.Config {
	return mock.Config{Faults: mock.Faults{ServerError: 0.05, Cut: 0.05, BadBody: 0.05}}
}

// TestSameResultAtAnyConcurrency checks that neither the rows of a day nor the orders depend on the concurrency.
func TestSameResultAtAnyConcurrency(t *testing.T) {
	set := map[string]string{"agents": "20", "eagerness": "10"}
	live := func(t testing.TB, limit int) (string, mock.Orders) {
		t.Helper()
		j := &enginetest.Journal{}
		r, orders := day{set: set, shop: faulty(), journal: j, change: func(s *engine.Settings) {
			s.Limit, s.Ceiling, s.Cycles, s.Retry.Attempts = limit, max(limit, 100), 2, 20
		}}.run(t)
		if r.Totals.Inexact != nil {
			t.Fatalf("limit %d: the run is %s", limit, r.Totals.Inexact)
		}
		if r.Totals.Retries < 10 || r.Totals.Acted < 3 {
			t.Fatalf("limit %d: %d retries, %d orders: too quiet a day", limit, r.Totals.Retries, r.Totals.Acted)
		}
		return enginetest.Results(j.Sessions()), orders
	}
	want, wantOrders := live(t, 1)
	// More concurrent sessions than agents are the same as one for each agent.
	limits := []int{200}
	for limit := 2; limit <= 21; limit++ {
		limits = append(limits, limit)
	}
	for _, limit := range limits {
		got, orders := live(t, limit)
		if got != want {
			t.Fatalf("limit %d differs from limit 1:\n%s", limit, firstDifference(got, want))
		}
		if fmt.Sprint(orders) != fmt.Sprint(wantOrders) {
			t.Fatalf("limit %d: orders %+v, want %+v", limit, orders, wantOrders)
		}
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return " got " + a[i] + "\nwant " + b[i]
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// TestCrashes kills a day several times after random rows of its journal and resumes it each time with the shop's log.
// It checks that the rows equal those of a day without crashes, and so do the orders, none of them made twice.
func TestCrashes(t *testing.T) {
	set := map[string]string{"agents": "10", "eagerness": "10"}
	const cycles = 2
	settings := func(s *engine.Settings) { s.Cycles, s.Retry.Attempts = cycles, 20 }
	calm := &enginetest.Journal{}
	_, wantOrders := day{set: set, shop: faulty(), journal: calm, change: settings}.run(t)
	want, rows := enginetest.Results(calm.Sessions()), len(calm.Rows())
	if rows < 60 || wantOrders.Total < 3 || wantOrders.DoubledKeys != 0 {
		t.Fatalf("%d rows, %+v", rows, wantOrders)
	}
	rapid.Check(t, func(rt *rapid.T) {
		cfg := faulty()
		cfg.Log = filepath.Join(t.TempDir(), "shop.log")
		journal := &enginetest.Journal{}
		deaths := rapid.SliceOfN(rapid.IntRange(1, rows/2), 1, 4).Draw(rt, "rows until each death")
		for _, n := range deaths {
			journal.DieAfter = len(journal.Rows()) + n
			kill(t, day{set: set, shop: cfg, journal: journal, resume: resumption(journal), change: settings}, journal)
			journal = journal.Reopen()
		}
		if res := resumption(journal); res == nil || res.Cycle < cycles {
			_, orders := day{set: set, shop: cfg, journal: journal, resume: res, change: settings}.run(t)
			if fmt.Sprint(orders) != fmt.Sprint(wantOrders) {
				rt.Fatalf("orders %+v, want %+v", orders, wantOrders)
			}
		}
		if got := enginetest.Results(journal.Sessions()); got != want {
			rt.Fatalf("the rows differ:\n%s", firstDifference(got, want))
		}
	})
}

func resumption(j *enginetest.Journal) *engine.Resumption {
	if len(j.Rows()) == 0 {
		return nil
	}
	return j.Resumption()
}

// kill runs a day until its journal fails, and cuts it there, like the process.
func kill(t testing.TB, d day, j *enginetest.Journal) {
	t.Helper()
	ctx, cut := context.WithCancel(t.Context())
	d.ctx = ctx
	died, watched := j.Died(), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-died:
			cut()
		case <-ctx.Done():
		}
	}()
	d.run(t)
	cut()
	<-watched
}

// TestEveryStepOfShoppingIsRecorded checks that each session's row contains each step of the chain's body once, in
// order.
func TestEveryStepOfShoppingIsRecorded(t *testing.T) {
	s, err := Load(shopping, nil)
	if err != nil {
		t.Fatal(err)
	}
	var body []string
	for _, step := range s.Chain.Body.Steps {
		body = append(body, step.Name)
	}
	j := &enginetest.Journal{}
	day{set: map[string]string{"agents": "50", "eagerness": "6"}, journal: j, change: func(s *engine.Settings) { s.Cycles = 3 }}.run(t)
	for _, row := range j.Sessions() {
		var got []string
		var held, service time.Duration
		for _, step := range row.Steps {
			if !strings.Contains(step.Path, ".") {
				got = append(got, step.Path)
			}
			held, service = held+step.Throttled, service+step.Service
		}
		want := body
		if row.Outcome == engine.Stopped {
			want = body[:3]
		}
		if !slices.Equal(got, want) || held != row.Throttled || service != row.Service || held+service > row.Total {
			t.Fatalf("agent %d, %v: steps %v; %s + %s of %s", row.Agent, row.Outcome, got, held, service, row.Total)
		}
	}
}
