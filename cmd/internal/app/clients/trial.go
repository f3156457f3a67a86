package clients

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Trial is the result of opening all connections of a pool concurrently.
type Trial struct {
	Wanted, Opened int
	Took           time.Duration // until the last connection was open
	Err            error         // the first one
}

// TryPool opens connections concurrently, pings each one, and closes them.
func TryPool(ctx context.Context, wanted int, connect func(ctx context.Context) (*pgx.Conn, error)) Trial {
	t := Trial{Wanted: wanted}
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
				t.Opened++
			} else if t.Err == nil {
				t.Err = err
			}
		})
	}
	wait.Wait()
	t.Took = time.Since(began)
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
