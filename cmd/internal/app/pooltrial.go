package app

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// poolTrial is the result of opening all connections of a pool concurrently.
type poolTrial struct {
	wanted, opened int
	took           time.Duration // until the last connection was open
	err            error         // the first one
}

// testPool opens connections concurrently, pings each one, and closes them.
func testPool(ctx context.Context, wanted int, connect func(ctx context.Context) (*pgx.Conn, error)) poolTrial {
	t := poolTrial{wanted: wanted}
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
