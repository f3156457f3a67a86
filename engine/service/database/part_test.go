package database

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// TestDivide checks that the parts of a pool have as many connections together as the undivided pool, and each at least one.
func TestDivide(t *testing.T) {
	config, err := pgxpool.ParseConfig("postgres://user@127.0.0.1:1/none")
	if err != nil {
		t.Fatal(err)
	}
	for _, limits := range []Limits{{Connections: 50, Burst: 10}, {Connections: 5, Burst: 3}, {Connections: 7, Burst: -1}} {
		for parts := 1; parts <= 5; parts++ {
			kept, all := 0, 0
			for i := range parts {
				p, err := NewPool(config, limits.WithDefaults())
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				if err := p.Divide(i, parts); err != nil {
					t.Fatal(err)
				}
				keep, burst := p.Sizes()
				if n, _, _ := p.Limit.State(); n != keep+burst {
					t.Errorf("limit %d, want %d and %d", n, keep, burst)
				}
				kept, all = kept+keep, all+keep+burst
				if err := p.Divide(i, limits.Connections+1); err == nil || !strings.Contains(err.Error(), "workers cannot share") {
					t.Errorf("more parts than connections: %v", err)
				}
				if after, _ := p.Sizes(); after != keep || keep < 1 {
					t.Errorf("%d connections, and %d after an error", keep, after)
				}
				p.Allow(parts) // what other clients leave
				if n, _, _ := p.Limit.State(); n != 1 {
					t.Errorf("%d connections of %d that are left for %d parts", n, parts, parts)
				}
				p.Allow(0)
				p.SetConnections(2 * limits.Connections)
				if twice, _ := p.Sizes(); twice < 2*keep-1 || twice > 2*keep+1 {
					t.Errorf("%d connections, and %d of twice as many", keep, twice)
				}
				if !p.Settled() {
					t.Error("a pool without connections is not settled")
				}
			}
			if want := limits.Connections + max(limits.Burst, 0); kept != limits.Connections || all != want {
				t.Errorf("%d parts have %d connections, %d with the burst; want %d, %d", parts, kept, all, limits.Connections, want)
			}
		}
	}
}
