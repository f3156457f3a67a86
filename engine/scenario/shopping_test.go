package scenario

import (
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/rehearsal"
	"github.com/throng-sim/throng/engine/service"
)

// runShopping runs the built-in shoppers against a rehearsal shop, without a journal.
func runShopping(t *testing.T, set map[string]string, change func(*engine.Settings)) engine.Result {
	t.Helper()
	s, err := Load("../../assets/scenarios/shopping.yaml", set)
	if err != nil {
		t.Fatal(err)
	}
	shop, err := rehearsal.Start(rehearsal.Config{Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shop.Close() })
	client, err := service.NewHTTP("shop", shop.URL(), service.Limits{}, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	s.Services[0].Connect(client, shop.Secret())
	settings := engine.DefaultSettings()
	settings.Seed, settings.Cycles = 7, s.Cycles
	if change != nil {
		change(&settings)
	}
	run, err := engine.Start(t.Context(), engine.Config{
		ID: "test", Program: s.Program(settings.Seed), Agents: s.Agents, Clock: s.Clock, Settings: settings, Success: s.Success,
	})
	if err != nil {
		t.Fatal(err)
	}
	result := run.Wait()
	for _, e := range run.Snapshot().Errors {
		t.Logf("%s × %d: agent %d, step %s: %s", e.Class, e.Count, e.Agent, e.Path, e.Message)
	}
	return result
}

func TestShoppersBuyAbandonAndStayHome(t *testing.T) {
	r := runShopping(t, nil, nil)
	t.Logf("%v acted %d events %d requests %d", r.Totals.Outcomes, r.Totals.Acted, r.Totals.Events, r.Totals.Requests)
	bought, stayed := r.Totals.Acted, r.Totals.Outcomes[engine.Stopped]
	abandoned := r.Totals.Outcomes[engine.OK] - bought
	if bought < 100 || abandoned < 50 || stayed < 1000 {
		t.Errorf("a day of 372 shoppers: %d bought, %d abandoned, %d stayed home", bought, abandoned, stayed)
	}
	if bad := r.Totals.Bad(); bad > 0 {
		t.Errorf("%d sessions failed", bad)
	}
}
