package app

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// trial is what came of opening the connections of a pool all at once.
type trial struct {
	wanted, opened int
	took           time.Duration // until the last was there
	err            error         // the first of those that failed
}

// tryPool opens connections, all of them at once, asks each something, and closes them.
func tryPool(ctx context.Context, wanted int, connect func(ctx context.Context) (*pgx.Conn, error)) trial {
	t := trial{wanted: wanted}
	began := time.Now()
	var mu sync.Mutex // guards t and all
	var all []*pgx.Conn
	var wait sync.WaitGroup
	for range wanted {
		wait.Go(func() {
			conn, err := connect(ctx)
			if err == nil {
				err = conn.Ping(ctx)
			}
			mu.Lock()
			defer mu.Unlock()
			if conn != nil {
				all = append(all, conn)
			}
			if err == nil {
				t.opened++
			} else if t.err == nil {
				t.err = err
			}
		})
	}
	wait.Wait()
	t.took = time.Since(began)
	for _, conn := range all {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = conn.Close(ctx)
		})
	}
	wait.Wait()
	return t
}
