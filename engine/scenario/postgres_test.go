package scenario

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/service"
)

// TestPostgres is what a service of kind postgres says of itself.
func TestPostgres(t *testing.T) {
	for _, tt := range []struct {
		text, url, password string
		limits              service.PoolLimits
	}{
		{"{kind: postgres, url: 'secret:DB_URL'}", "secret:DB_URL", "", service.PoolLimits{}},
		{
			"{kind: postgres, url: 'postgres://app@${params.host}/shop', auth: {password: 'secret:DB'}, limits: {connections: 7, burst: 0, wait: 5s, timeout: 1m}}",
			"postgres://app@db.example/shop", "DB",
			service.PoolLimits{Connections: 7, Burst: -1, Wait: 5 * time.Second, Timeout: time.Minute},
		},
	} {
		s, err := read(minimal("parameters: {host: {default: db.example}}\nservices: {s: "+tt.text+"}"), nil, nil)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := s.Services[0]; got.Kind != "postgres" || got.URL != tt.url || got.Postgres.Password != tt.password || got.Postgres.Limits != tt.limits {
			t.Errorf("%s: %+v, %+v", tt.text, got, got.Postgres)
		}
	}
}
