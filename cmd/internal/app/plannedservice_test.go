package app

import (
	"slices"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

const twoServices = `
services:
  shop: {kind: http, url: "https://shop.example.com", auth: {bearer: "secret:SHOP_TOKEN"}}
  db: {kind: postgres, url: "secret:DB"}
  log: {kind: postgres, url: "postgres://me@log.example.com/x", auth: {password: "secret:SHOP_TOKEN"}}
  local: {kind: http, url: "http://[::1]:8080", auth: {jwt: {secret: "secret:KEY"}}}
chain c: {step a: {kind: http, service: shop, get: /}}
`

func TestPlannedServices(t *testing.T) {
	s, err := scenario.Read("s.yaml", func(string) ([]byte, error) { return []byte(twoServices), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := Launch{
		Services: Services{
			Scenario: s,
			Secrets:  secrets.Finder{Env: func(name string) string { return map[string]string{"SHOP_TOKEN": "x"}[name] }},
		},
		Allow: []string{"other.example.com"},
	}
	all := l.Permits().PlannedServices()
	shop, local := all[0], all[3]
	if want := []string{"shop.example.com"}; !slices.Equal(shop.Away, want) || len(shop.Unallowed) != 1 || shop.Unallowed[0].Address() != "shop.example.com:443" || !slices.Equal(shop.Unallowed[0].Secrets, []string{"SHOP_TOKEN"}) || shop.Replaced || shop.Embedded {
		t.Errorf("got %+v", shop)
	}
	if len(shop.Secrets) != 1 || shop.Secrets[0] != (Secret{Name: "SHOP_TOKEN", Place: secrets.InEnvironment}) {
		t.Errorf("got secrets %+v", shop.Secrets)
	}
	if local.Away != nil || len(local.Unallowed) != 1 || local.Unallowed[0].Address() != "[::1]:8080" || len(local.Secrets) != 1 || local.Secrets[0].Err == nil {
		t.Errorf("got %+v", local)
	}
	if db := all[1]; !db.Hidden || len(db.Secrets) != 1 || db.Secrets[0].Err == nil {
		t.Errorf("a database that is a secret: got %+v", db)
	}
	if log := all[2]; log.Hidden || len(log.Unallowed) != 1 || log.Unallowed[0].Address() != "log.example.com:5432/x" || len(log.Secrets) != 1 || log.Secrets[0].Err != nil {
		t.Errorf("a database: got %+v", log)
	}

	l.Settings = engine.Settings{Services: map[string]string{"shop": "mock:shop", "local": "https://other.example.com"}}
	all = l.Permits().PlannedServices()
	shop, local = all[0], all[3]
	if !shop.Embedded || !shop.Replaced || shop.Secrets != nil || shop.Away != nil {
		t.Errorf("with the mock: got %+v", shop)
	}
	if len(local.Away) != 1 || len(local.Unallowed) > 0 || !local.Replaced || local.Address != "https://other.example.com" {
		t.Errorf("with an allowed host: got %+v", local)
	}
}
