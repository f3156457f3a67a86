package service

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// BenchmarkStatements is statements of one session, of which 50 are under way at once, to a server on this machine.
func BenchmarkStatements(b *testing.B) {
	address := pgtest.New(b, pgtest.Options{MaxConnections: 100}).Database(b)
	d, err := ParseDatabase(address, "")
	if err != nil {
		b.Fatal(err)
	}
	p, err := NewPostgres("db", d, PoolLimits{})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for _, query := range []string{"select $1::int a", "insert into t values ($1)"} {
		q, err := ParseQuery(query)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(query[:6], func(b *testing.B) {
			run, err := run.Start(b.Context(), run.Config{
				ID: "run", Agents: 1, Settings: engine.DefaultSettings(), Journal: &enginetest.Journal{},
				Program: program(func(s *engine.Session) {
					s.Row.Outcome = engine.OK
					s.Clock() // the first to ask for it must be alone
					ask := func(path, arg string) error {
						_, err := p.Do(callOf(s, path), Statement{Query: q, Args: [][]byte{[]byte(arg)}})
						return err
					}
					if !q.Reads() {
						create, _ := ParseQuery("create table if not exists t (x int)")
						if _, err := p.Do(callOf(s, "create"), Statement{Query: create}); err != nil {
							b.Error(err)
						}
					}
					var n atomic.Int64
					b.SetParallelism(25) // times the cores
					b.ResetTimer()
					b.RunParallel(func(pb *testing.PB) {
						for pb.Next() {
							i := n.Add(1)
							if err := ask(fmt.Sprint("step", i), fmt.Sprint(i%1000)); err != nil {
								b.Error(err)
							}
						}
					})
				}),
			})
			if err != nil {
				b.Fatal(err)
			}
			run.Wait()
		})
	}
}
