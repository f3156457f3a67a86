package service

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest/proxy"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// TestLostAnswers checks that a statement whose answer is lost counts as possibly executed, whatever the driver reports
// about the connection. One that must be sent at most once is not sent again; others are labeled.
func TestLostAnswers(t *testing.T) {
	server := pgtest.Shared(t)
	for _, once := range []bool{true, false} {
		for _, limited := range []bool{true, false} {
			address := server.Database(t)
			execute(t, address, "create table t (x int)")
			line := proxy.NewLine(t, server.Address())
			d, err := database.Parse(strings.Replace(address, server.Address(), line.Addr().String(), 1), "")
			if err != nil {
				t.Fatal(err)
			}
			p, err := NewPostgres("db", d, database.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			p.ask(t, stage{}, sql(t, "select 1"), nil)
			p.ownLimit.Store(!limited) // with a time limit the statement is not alone in its round trip
			line.Be(proxy.Trouble{ResetAt: [2]string{proxy.ToClient: "INSERT 0 1"}})
			row, _ := p.ask(t, stage{}, sql(t, "insert into t values (1)"), func(c *Call) {
				c.Once, c.Retry.Attempts = once, 2
			})
			want, label := 2, engine.Unconfirmed
			if once {
				want, label = 1, engine.NotRepeated
			}
			got := row.Steps[0]
			if n := number(t, address, "select count(*) from t"); n != want || got.Attempts != want || got.Label != label {
				t.Errorf("once %t, limited %t: carried out %d times in %d attempts, %v; want %d: %s", once, limited, n, got.Attempts, got.Label, want, row.Error)
			}
		}
	}
}
