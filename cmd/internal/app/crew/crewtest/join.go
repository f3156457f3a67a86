// Package crewtest has workers for tests.
package crewtest

import (
	"context"
	"log/slog"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/crew"
)

// Join lets a worker of this process, named rack, join with a join line until the test ends.
func Join(t *testing.T, line string) {
	ctx, leave := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- crew.Work(ctx, crew.WorkerConfig{Join: line, Name: "rack", Data: t.TempDir(), Say: func(string) {}, Log: slog.New(slog.DiscardHandler)})
	}()
	t.Cleanup(func() {
		leave()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
